"""Change one thing in the source, and see whether the quick tests notice: ``python tools/mutate.py --sample 100``.

A mutant has one operator, comparison or constant of ``metrics``, ``ordering`` or ``transfer`` changed, in memory only.
Each runs in a fork of a process that has collected the quick tests, and only those that reach its statement, by a
first run with coverage: the file of its module first, then its package, then the others. A test that fails, or takes
too long, kills it. What is worked out at import has to be imported anew, which takes longer, and is tried on the tests
of its package. Survivors are listed with their line: each is a test that is wanting, or a change that makes no
difference. ``--tests tests`` takes all quick tests instead of those of the three packages.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib.abc
import importlib.util
import math
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import coverage
import pytest

HERE = Path(__file__).resolve().parent.parent
PACKAGES = ("metrics", "ordering", "transfer")
QUICK = ["-q", "-s", "-n", "0", "-m", "not slow", "-p", "no:cacheprovider", "-o", "timeout=0", "--no-header"]
MEMORY = 8 << 30
"""Bytes of address space of a mutant, which may ask for any number of rows."""

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr}
CHOICES = {ast.And: ast.Or, ast.Or: ast.And}


class Mutant(NamedTuple):
    """A module, the number of the place that is changed, its line, and the lines of its statement."""

    path: Path
    place: int
    line: int
    statement: range

    @property
    def said(self) -> str:
        """Where it is, and the line before and after."""
        plain = ast.unparse(ast.parse(self.path.read_text(encoding="utf-8"))).splitlines()
        pairs = zip(plain, ast.unparse(changed(self.path, self.place)).splitlines(), strict=False)
        lines = next((f"{one.strip()}  ->  {two.strip()}" for one, two in pairs if one != two), "nothing")
        return f"{self.where} | {lines[:200]}"

    @property
    def where(self) -> str:
        return f"{self.path.relative_to(HERE)}:{self.line}"

    @property
    def code(self) -> CodeType:
        return compile(changed(self.path, self.place), str(self.path), "exec")

    @property
    def package(self) -> Path:
        return HERE / "tests" / self.path.parent.name

    @property
    def own(self) -> Path:
        """The file of tests of the module, which need not exist."""
        return self.package / f"test{self.path.stem}.py"


class Places(ast.NodeTransformer):
    """Counts what can be changed; changes the one of that number. Messages and annotations are left alone."""

    def __init__(self, wanted: int = -1) -> None:
        self.wanted, self.found, self.statement = wanted, [], range(0)

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.arg | ast.AnnAssign | ast.Import | ast.ImportFrom):
            return node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return node
        if not isinstance(node, ast.stmt):
            return super().visit(node)
        before, body = self.statement, getattr(node, "body", None)
        # Of a statement with a body, what stands above it.
        self.statement = range(node.lineno, body[0].lineno if body else node.end_lineno + 1)
        node = super().visit(node)
        self.statement = before
        return node

    def _here(self, node: Any) -> bool:
        self.found.append((node.lineno, self.statement))
        return len(self.found) - 1 == self.wanted

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.body = [self.visit(each) for each in node.body]
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        for number, one in enumerate(node.ops):
            if type(one) in COMPARISONS and self._here(node):
                node.ops[number] = COMPARISONS[type(one)]()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        if type(node.op) in OPERATORS and self._here(node):
            node.op = OPERATORS[type(node.op)]()
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if type(node.op) in OPERATORS and self._here(node):
            node.op = OPERATORS[type(node.op)]()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        if self._here(node):
            node.op = CHOICES[type(node.op)]()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not | ast.USub) and self._here(node):
            return node.operand
        return node

    def visit_Constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, bool | int | float) and self._here(node):
            changed = not node.value if isinstance(node.value, bool) else node.value + 1
            return ast.copy_location(ast.Constant(changed), node)
        return node


def changed(path: Path, place: int) -> ast.Module:
    """Return a module with the place of that number changed."""
    return ast.fix_missing_locations(Places(place).visit(ast.parse(path.read_text(encoding="utf-8"))))


def modules() -> dict[Path, str]:
    """Return the modules that are changed, by their files."""
    files = [path for package in PACKAGES for path in sorted((HERE / "src/xorder" / package).glob("_[!_]*.py"))]
    return {path: ".".join(path.relative_to(HERE / "src").with_suffix("").parts) for path in files}


def all_mutants() -> list[Mutant]:
    """Return a mutant for each place."""
    found = []
    for path in modules():
        places = Places()
        places.visit(ast.parse(path.read_text(encoding="utf-8")))
        found += [Mutant(path, number, *place) for number, place in enumerate(places.found)]
    return found


def forked(work: Callable[[], Any], *, quiet: bool = True) -> Any:
    """Return what a function returns in a process of its own; None if that ends otherwise."""
    with tempfile.TemporaryFile() as answer:
        child = os.fork()
        if not child:
            try:
                nothing = os.open(os.devnull, os.O_RDWR)
                for stream in (0, 1, 2) if quiet else ():
                    os.dup2(nothing, stream)
                answer.write(pickle.dumps(work()))
                answer.flush()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        answer.seek(0)
        content = answer.read()
    return pickle.loads(content) if content else None


def counting() -> coverage.Coverage:
    """Return what counts the lines of the packages."""
    files = [str(HERE / "src/xorder" / package / "*") for package in PACKAGES]
    return coverage.Coverage(data_file=None, config_file=False, include=files)


def lines_at_import() -> dict[str, set[int]]:
    """Return the lines of each file that run when it is imported."""
    counted = counting()
    with counted.collect():
        for name in modules().values():
            importlib.import_module(name)
    return {file: set(counted.get_data().lines(file) or ()) for file in counted.get_data().measured_files()}


def bounded(seconds: float) -> None:
    """Let this process end when its next step takes far longer than it should: it may loop, or wait for itself."""
    signal.setitimer(signal.ITIMER_PROF, 5 + 10 * seconds)
    signal.setitimer(signal.ITIMER_REAL, 300 + 20 * seconds)


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from a source that is no file."""

    def __init__(self, mutant: Mutant) -> None:
        self.name, self.code, self.origin = modules()[mutant.path], mutant.code, str(mutant.path)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(name, self, origin=self.origin) if name == self.name else None

    def exec_module(self, module: Any) -> None:
        exec(self.code, module.__dict__)


def imported(mutant: Mutant) -> int | None:
    """Import a mutant and run the tests of its package; return pytest's code."""
    files = sorted(mutant.package.glob("test_*.py"), key=lambda path: path != mutant.own)

    def tests() -> int:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        bounded(20)
        sys.meta_path.insert(0, Loader(mutant))
        return int(pytest.main([*QUICK, "-x", *map(str, files)]))

    return forked(tests)


def told(mutant: Mutant, fate: str) -> str:
    print(f"{fate} | {mutant.said}", flush=True)
    return fate


class Trial:
    """A plugin that runs the tests once, and then some of them for each mutant, each time in a fork."""

    def __init__(self, mutants: list[Mutant], most: float) -> None:
        self.mutants, self.most = mutants, most
        self.fates: Counter[str] = Counter()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for name in modules().values():
            importlib.import_module(name)
        learnt = forked(lambda: self._reached(session))
        if learnt is not None:
            self.reached, self.seconds = learnt
            self.fates["killed"] = 0
            for mutant in self.mutants:
                fate = forked(lambda mutant=mutant: self._fate(session, mutant)) or "killed: no end"
                self.fates[told(mutant, fate)] += 1
        return True

    def _run(self, session: pytest.Session, items: list[pytest.Item]) -> pytest.Item | None:
        """Run tests until one fails; return that."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            bounded(self.seconds.get(item.nodeid, 60))
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return item
        return None

    def _reached(self, session: pytest.Session) -> Any:
        """Return the tests that reach each line of each file, and the time that each takes; None if one fails."""
        counted, seconds = counting(), {}
        with counted.collect():
            for item, following in zip(session.items, [*session.items[1:], None], strict=True):
                counted.switch_context(item.nodeid)
                began = time.process_time()
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                seconds[item.nodeid] = time.process_time() - began
        if session.testsfailed:
            return None
        return {str(path): counted.get_data().contexts_by_lineno(str(path)) for path in modules()}, seconds

    def _fate(self, session: pytest.Session, mutant: Mutant) -> str:
        """Change the code of the functions of a module, wherever they are held, and run the tests that reach it."""
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        codes: dict[Any, CodeType] = {}

        def collect(code: CodeType) -> None:
            codes[code.co_qualname, code.co_firstlineno] = code
            for inner in code.co_consts:
                if isinstance(inner, CodeType):
                    collect(inner)

        collect(mutant.code)
        for function in gc.get_objects():
            if isinstance(function, FunctionType) and function.__code__.co_filename == str(mutant.path):
                code = function.__code__
                function.__code__ = codes.get((code.co_qualname, code.co_firstlineno), code)
        contexts = self.reached[str(mutant.path)]
        reaching = {name for line in mutant.statement for name in contexts.get(line, ())}
        items = [item for item in session.items if item.nodeid in reaching and self.seconds[item.nodeid] <= self.most]
        if not items:
            return "survived: never reached"
        total: defaultdict[Path, float] = defaultdict(float)
        for item in items:
            total[item.path] += self.seconds[item.nodeid]

        def rank(item: pytest.Item) -> Any:
            path = item.path
            return path != mutant.own, path.parent != mutant.package, total[path], path, self.seconds[item.nodeid]

        failed = self._run(session, sorted(items, key=rank))
        if failed is None:
            return "survived"
        return "killed" if failed.path.parent == mutant.package else "killed: elsewhere"


def interval(killed: int, tried: int) -> tuple[float, float]:
    """Wilson's interval of a share, with 95 % confidence."""
    share, z = killed / tried, 1.96
    middle = (share + z * z / (2 * tried)) / (1 + z * z / tried)
    half = z * math.sqrt(share * (1 - share) / tried + z * z / (4 * tried * tried)) / (1 + z * z / tried)
    return middle - half, middle + half


def main(arguments: list[str] | None = None) -> int:
    """Try a sample of the mutants; the exit code says whether the tests pass without any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300, help="Mutants to try (default 300)")
    parser.add_argument("--first", type=int, default=0, help="Mutants of the sample to leave out")
    parser.add_argument("--last", type=int, default=None, help="Number of the last to try")
    parser.add_argument("--again", type=Path, metavar="LOG", help="Try the survivors that an earlier run has printed")
    parser.add_argument("--leave", action="append", default=[], metavar="NAME", help="File left out, such as _units.py")
    parser.add_argument("--slow", action="store_true", help="Take slow tests, too")
    parser.add_argument("--most", type=float, default=60, help="Seconds; no test that takes more (default 60)")
    parser.add_argument("--tests", action="append", help="Tests to run (default those of the three packages)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    for folder in (HERE, HERE / "tests", HERE / "src"):
        sys.path.insert(0, str(folder))
    os.chdir(HERE)
    # Loaded once for all; nothing of xorder, which is imported anew where that matters.
    for name in ("numpy", "scipy.stats", "scipy.optimize", "sklearn.base", "pandas", "pyarrow"):
        importlib.import_module(name)
    every = [mutant for mutant in all_mutants() if mutant.path.name not in options.leave]
    if options.slow:
        QUICK[QUICK.index("not slow")] = "slow or not slow"
    if options.again:
        lines = {line for line in options.again.read_text().splitlines() if line.startswith("survived")}
        wanted = {line.partition(" | ")[2] for line in lines}
        places = {line.partition(" | ")[0] for line in wanted}
        chosen = [each for each in every if each.where in places and each.said in wanted]
    else:
        chosen = random.Random(options.seed).sample(every, min(options.sample, len(every)))
        chosen = chosen[options.first : options.last]
    at_import = forked(lines_at_import)
    early = [mutant for mutant in chosen if at_import[str(mutant.path)].intersection(mutant.statement)]
    trial = Trial([mutant for mutant in chosen if mutant not in early], options.most)
    tests = options.tests or [f"tests/{package}" for package in PACKAGES]
    fates = forked(lambda: (pytest.main([*QUICK, *tests], plugins=[trial]), trial.fates)[1], quiet=False)
    if not fates:
        print("the tests fail on the source as it is")
        return 1
    for mutant in early:
        fates[told(mutant, "survived" if imported(mutant) == 0 else "killed")] += 1
    killed, tried = sum(count for fate, count in fates.items() if fate.startswith("killed")), sum(fates.values())
    low, high = interval(killed, max(1, tried))
    print(f"\n{dict(fates)}\n{killed} of {tried} killed, {low:.1%} to {high:.1%}; there are {len(every):,} mutants")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

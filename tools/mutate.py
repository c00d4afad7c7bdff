"""Change one thing in the source, and see whether the quick tests notice: ``python tools/mutate.py --sample 100``.

A mutant has one operator, comparison or constant of ``metrics``, ``ordering`` or ``transfer`` changed, in memory only.
The test file of its module runs first, then the others of its package; a test that fails, or takes too long, kills it.
Survivors are listed with their line: each is a test that is wanting, or a change that makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.util
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent.parent
PACKAGES = ("metrics", "ordering", "transfer")
PATIENCE = 120
"""Seconds of the processor that tests may take before they count as ones that do not end."""

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
    """A module, the number of the place that is changed, and its line."""

    path: Path
    place: int
    line: int

    @property
    def said(self) -> str:
        """The line before and after."""
        plain = ast.unparse(ast.parse(self.path.read_text(encoding="utf-8"))).splitlines()
        pairs = zip(plain, changed_source(self.path, self.place).splitlines(), strict=False)
        return next((f"{one.strip()}  ->  {two.strip()}" for one, two in pairs if one != two), "nothing")

    @property
    def module(self) -> str:
        return ".".join(self.path.relative_to(HERE / "src").with_suffix("").parts)

    @property
    def tests(self) -> tuple[list[str], list[str]]:
        """Tests of the module itself, and all others of its package."""
        folder = HERE / "tests" / self.path.parent.name
        own = folder / f"test{self.path.stem}.py"
        return [str(own)] if own.exists() else [], [
            str(path) for path in sorted(folder.glob("test_*.py")) if path != own
        ]


class Places(ast.NodeTransformer):
    """Counts what can be changed; changes the one of that number. Messages and annotations are left alone."""

    def __init__(self, wanted: int = -1) -> None:
        self.wanted, self.found, self.changed = wanted, [], ""

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.arg | ast.AnnAssign | ast.Import | ast.ImportFrom):
            return node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return node
        return super().visit(node)

    def _here(self, node: Any) -> bool:
        self.found.append(node.lineno)
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


def changed_source(path: Path, place: int) -> str:
    """Return the source of a module with the place of that number changed."""
    tree = Places(place).visit(ast.parse(path.read_text(encoding="utf-8")))
    return ast.unparse(ast.fix_missing_locations(tree))


def all_mutants() -> list[Mutant]:
    """Return a mutant for each place."""
    found = []
    for package in PACKAGES:
        for path in sorted((HERE / "src" / "xorder" / package).glob("_[!_]*.py")):
            places = Places()
            places.visit(ast.parse(path.read_text(encoding="utf-8")))
            found += [Mutant(path, place, line) for place, line in enumerate(places.found)]
    return found


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from a source that is no file."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant, self.source = mutant, changed_source(mutant.path, mutant.place)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.mutant.module:
            return None
        return importlib.util.spec_from_loader(name, self, origin=str(self.mutant.path))

    def exec_module(self, module: Any) -> None:
        exec(compile(self.source, str(self.mutant.path), "exec"), module.__dict__)


def survives(mutant: Mutant | None, tests: list[str]) -> bool:
    """Run tests on a mutant, or on the source as it is, in a process of its own."""
    if not tests:
        return True
    child = os.fork()
    if not child:
        code = 1
        try:
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            signal.setitimer(signal.ITIMER_PROF, PATIENCE)
            os.chdir(HERE)
            if mutant is not None:
                sys.meta_path.insert(0, Loader(mutant))
            import pytest

            quick = ["-q", "-x", "-n", "0", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:randomly"]
            code = int(pytest.main([*quick, *tests]))
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    # 5: no test was chosen.
    return os.waitstatus_to_exitcode(status) in (0, 5)


def main(arguments: list[str] | None = None) -> int:
    """Try a sample of the mutants; the exit code says whether the tests pass without any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300, help="Mutants to try (default 300)")
    parser.add_argument("--first", type=int, default=0, help="Mutants of the sample to leave out")
    parser.add_argument("--last", type=int, default=None, help="Number of the last to try")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    for folder in (HERE, HERE / "tests", HERE / "src"):
        sys.path.insert(0, str(folder))
    # Loaded once for all; nothing of xorder, which each process loads anew.
    for name in ("numpy", "scipy.stats", "scipy.optimize", "sklearn.base", "pandas", "pyarrow", "pytest"):
        importlib.import_module(name)
    every = all_mutants()
    chosen = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    # Tests that fail on the source as it is would kill every mutant.
    for package in sorted({mutant.path.parent.name for mutant in chosen}):
        own, others = next(mutant for mutant in chosen if mutant.path.parent.name == package).tests
        if not survives(None, own + others):
            print(f"the tests of {package} fail on the source as it is")
            return 1
    killed, survivors = 0, []
    for mutant in chosen[options.first : options.last]:
        own, others = mutant.tests
        alive = survives(mutant, own) and survives(mutant, others)
        killed += not alive
        word = "survived" if alive else "killed"
        where = f"{mutant.path.relative_to(HERE)}:{mutant.line}"
        print(f"{word} {where} {mutant.said[:200]}", flush=True)
        if alive:
            survivors.append(f"{where} {mutant.said}")
    print(f"\n{killed} of {killed + len(survivors)} killed; there are {len(every):,} mutants\n" + "\n".join(survivors))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

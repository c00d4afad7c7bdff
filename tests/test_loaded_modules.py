"""What each command loads, and what importing xorder does: a list that is to stay as short as it is."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import xorder

# Packages that are not Python's own, and those of xorder, which a command has loaded by its end. What something leaves
# in sys.modules without having been imported, as Cython does, has no spec.
LAUNCHER = """
import contextlib, io, sys
before = set(sys.modules)
shown = io.StringIO()
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
    {code}
loaded = [name for name in set(sys.modules) - before if getattr(sys.modules[name], "__spec__", None)]
print(*sorted(
    {{name.partition(".")[0] for name in loaded}} - {{"xorder", *sys.stdlib_module_names}}
    | {{name for name in loaded if name.startswith("xorder.") and name.count(".") == 1 and "._" not in name}}
))
"""

MAIN = "from xorder.cli import main; assert main({}) == 0"

COLUMNS = "--score score --group group"
LABELLED = f"{COLUMNS} --label outcome"
SAVED = "--map map.json"

READING = "numpy engines metrics transfer"
FITTING = f"{READING} estimators ordering"

# What each loads besides the command line itself. Reading rows quotes names as `transfer` does; two groups are repaired
# without scipy; a csv file of some rows is read without any other package.
COMMANDS = {
    "--version": "",
    "--help": "",
    "--wrong": "",
    "wrong": "",
    "apply --help": "",
    "demo --help": "",
    "audit --wrong": "numpy",
    "report --wrong": "numpy",
    "fit --wrong": f"{READING} estimators",
    f"audit people.csv {LABELLED} --cut score:0.3": READING,
    f"audit people.csv {LABELLED} --json": READING,
    f"compare people.csv {LABELLED} --other other": READING,
    f"fit people.csv {LABELLED} -o new.json": FITTING,
    f"apply people.csv {COLUMNS} {SAVED} -o out.csv": "numpy engines transfer estimators",
    f"report people.csv {LABELLED} --json": f"{FITTING} reporting",
    f"report people.csv {LABELLED} {SAVED} --json": f"{FITTING} reporting",
}


def loaded(code: str, cwd: Path) -> set[str]:
    """Return what a fresh process has loaded by the end of a line of code."""
    command = [sys.executable, "-c", LAUNCHER.format(code=code)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=cwd)
    return {name.removeprefix("xorder.") for name in ran.stdout.split()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rows of 300 people, and a map fitted to them."""
    home = tmp_path_factory.mktemp("loaded")
    people = xorder.datasets.simulate_population(300, random_state=0)
    rows = zip(people.y_score.tolist(), people.y_true, people.group, strict=True)
    lines = [f"{score!r},{score * score!r},{label},{group}\n" for score, label, group in rows]
    (home / "people.csv").write_text("".join(["score,other,outcome,group\n", *lines]))
    repair = xorder.XOrder().fit(people.y_score, people.y_true, sensitive_features=people.group)
    repair.save(home / "map.json")
    return home


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loads_what_it_needs_and_no_more(command: str, folder: Path) -> None:
    found = loaded(MAIN.format(command.split()), folder)
    assert found == {"cli", "exceptions", *COMMANDS[command].split()}


@pytest.mark.slow
def test_a_page_needs_its_extra_and_no_other_package(folder: Path) -> None:
    pytest.importorskip("jinja2")
    found = loaded(MAIN.format(f"report people.csv {LABELLED} {SAVED} -o page.html".split()), folder)
    assert found == {"cli", "exceptions", "jinja2", "markupsafe", "reporting", *FITTING.split()}


def test_importing_xorder_loads_nothing_else(tmp_path: Path) -> None:
    assert loaded("import xorder; dir(xorder); xorder.__version__", tmp_path) == set()


def test_an_audit_of_arrays_loads_numpy_alone(tmp_path: Path) -> None:
    code = "import xorder; print(xorder.audit([1, 0] * 20, range(40), sensitive_features=['a', 'b', 'b', 'a'] * 10))"
    assert loaded(code, tmp_path) == {"numpy", "exceptions", "metrics"}


@pytest.mark.parametrize("package", ["xorder", "xorder.engines", "xorder.estimators", "xorder.metrics"])
def test_all_names_are_listed_and_can_be_had(package: str) -> None:
    module = importlib.import_module(package)
    assert {*module.__all__} <= {*dir(module)}
    for name in {*module.__all__, *module._LATER}:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        module.nothing  # noqa: B018

"""The package as others get it: a wheel that installs and runs by itself, and an import that is light."""

from __future__ import annotations

import email
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import xorder

ROOT = Path(__file__).resolve().parents[1]
OPTIONAL = ["matplotlib", "pyarrow", "polars", "torch", "duckdb", "pyspark", "jinja2"]


def run(command: list[object], cwd: Path) -> str:
    """Run a command that must work, away from the checkout's settings; return what it prints."""
    unwanted = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MPLBACKEND")
    clean = {name: value for name, value in os.environ.items() if name not in unwanted}
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, cwd=cwd, env=clean, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT]
    if importlib.util.find_spec("hatchling"):
        build.append("--no-isolation")
    run(build, folder)
    (path,) = folder.iterdir()
    return path


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    version = xorder.__version__
    assert wheel.name == f"xorder-{version}-py3-none-any.whl"
    info = f"xorder-{version}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = email.message_from_bytes(archive.read(f"{info}/METADATA"))
        licence = archive.read(f"{info}/licenses/LICENSE")
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
    source = ROOT / "src"
    package = {
        path.relative_to(source).as_posix()
        for path in (source / "xorder").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "xorder/py.typed" in package
    # Nothing that an editor or a merge left behind.
    assert {Path(name).suffix for name in package} == {".py", ".typed", ".j2", ".css", ".js", ".toml", ".md"}
    assert names == package | {
        f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    }
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert "xorder = xorder.cli:program" in entry_points
    assert metadata["Version"] == version
    assert metadata["License-Expression"] == "BSD-3-Clause"
    required = {text.partition(">")[0] for text in metadata.get_all("Requires-Dist") if "extra" not in text}
    assert required == {"narwhals", "numpy", "scipy", "scikit-learn"}


def needed_by(package: str) -> list[importlib.metadata.Distribution]:
    """Return what a package requires, and what that requires in turn, as installed here."""
    found: dict[str, importlib.metadata.Distribution] = {}
    waiting = [package]
    while waiting:
        for line in importlib.metadata.requires(waiting.pop()) or []:
            requirement = Requirement(line)
            if requirement.name not in found and (
                requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            ):
                found[requirement.name] = importlib.metadata.distribution(requirement.name)
                waiting.append(requirement.name)
    return list(found.values())


def lend(distributions: list[importlib.metadata.Distribution], site_packages: Path) -> None:
    """Put installed packages into another environment as links, so that no package index is needed."""
    for distribution in distributions:
        for top in {file.parts[0] for file in distribution.files or [] if file.parts[0] not in ("..", "__pycache__")}:
            (site_packages / top).symlink_to(Path(str(distribution.locate_file(top))).resolve())


@pytest.mark.slow
def test_the_wheel_runs_with_what_it_requires_and_nothing_else(wheel: Path, tmp_path: Path) -> None:
    environment, away = tmp_path / "environment", tmp_path / "away"
    away.mkdir()
    run([sys.executable, "-m", "venv", environment], away)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    python, script = programs / "python", programs / "xorder"
    site_packages = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], away).strip())
    lend(needed_by("xorder"), site_packages)
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", wheel], away)
    run([python, "-m", "pip", "check", "--disable-pip-version-check"], away)
    where = run([python, "-c", "import xorder; print(xorder.__file__)"], away)
    assert Path(where.strip()).is_relative_to(environment)
    found = [
        run([python, "-c", f"import importlib.util as u; print(u.find_spec({name!r}))"], away) for name in OPTIONAL
    ]
    assert {text.strip() for text in found} == {"None"}

    shown = run([script, "demo"], away)
    assert "new people, score adjusted" in shown
    assert "pip install 'xorder[report]'" in shown
    folder = away / "xorder-demo"
    written = ["adjusted.csv", "map.json", "new_adjusted.csv", "new_people.csv", "people.csv"]
    assert sorted(path.name for path in folder.iterdir()) == written

    columns = ["--score", "score", "--label", "outcome", "--group", "group"]
    people = xorder.datasets.simulate_population(4000, random_state=0)
    expected = xorder.audit(people.y_true, people.y_score, sensitive_features=people.group)
    assert run([script, "audit", "xorder-demo/people.csv", *columns], away) == f"{expected}\n"
    assert run([script, "--version"], away) == f"xorder {xorder.__version__}\n"
    assert run([python, "-m", "xorder", "--version"], away) == f"xorder {xorder.__version__}\n"


def test_audit_fit_and_apply_do_without_scikit_learn(tmp_path: Path) -> None:
    columns = ["--score", "score", "--group", "group"]
    commands = [
        ["audit", "people.csv", *columns, "--label", "outcome"],
        ["fit", "people.csv", *columns, "--label", "outcome", "-o", "map.json"],
        ["apply", "people.csv", *columns, "--map", "map.json", "-o", "out.csv"],
    ]
    people = xorder.datasets.simulate_population(300, random_state=0)
    rows = zip(people.y_score.tolist(), people.y_true, people.group, strict=True)
    (tmp_path / "people.csv").write_text("score,outcome,group\n" + "".join(f"{s!r},{y},{g}\n" for s, y, g in rows))
    code = (
        "import sys; sys.modules['sklearn'] = None; from xorder.cli import main; "
        f"sys.exit(any(main(words) for words in {commands!r}))"
    )
    run([sys.executable, "-c", code], tmp_path)
    assert (tmp_path / "out.csv").exists()


def test_the_version_comes_from_one_place() -> None:
    assert importlib.metadata.version("xorder") == xorder.__version__
    written = [path for path in ROOT.glob("src/**/*.py") if xorder.__version__ in path.read_text(encoding="utf-8")]
    assert written == [ROOT / "src" / "xorder" / "__init__.py"]
    assert f'"{xorder.__version__}"' not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("module", ["xorder", "xorder.cli"])
def test_importing_loads_no_optional_package(module: str, tmp_path: Path) -> None:
    # scikit-learn imports pandas where it is installed, and pandas pyarrow: without pandas, what is left is ours.
    code = (
        f"import sys; sys.modules['pandas'] = None; import {module};"
        f"print(sorted(name for name in {OPTIONAL!r} if name in sys.modules), {module!r} in sys.modules)"
    )
    assert run([sys.executable, "-c", code], tmp_path) == "[] True\n"

"""What `make` says where it cannot set up, each in one line; and the lowest versions, taken from pyproject.toml."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture
def environment() -> Callable[[list[str]], str | None]:
    return runpy.run_path(str(TOOLS / "environment.py"))["main"]


def test_a_python_that_is_too_old(environment: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    said = environment(["venv"])
    assert said.startswith("xorder needs Python 3.11 or newer, and ")
    assert said.endswith(" is 3.10; name a newer one, for example: make PYTHON=python3.13")


def test_a_python_without_venv(
    environment: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    said = environment([str(tmp_path / "venv"), "--clear"])
    assert "its modules venv and ensurepip are not installed" in said
    assert said.endswith("apt install python3-venv")
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_no_network(environment: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # An index at which nobody listens, and nothing of this machine's own.
    for name, value in {"CONFIG_FILE": "/dev/null", "NO_INDEX": "1", "FIND_LINKS": str(tmp_path)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    venv = tmp_path / "venv"
    said = environment([str(venv), "--clear", "no-such-package"])
    assert said.startswith(f"packages could not be installed into {venv}: Could not find a version ")
    assert "Is there a network" in said
    assert "\n" not in said
    assert (tmp_path / "venv.log").exists()


def test_the_lowest_versions_are_those_of_the_project() -> None:
    lowest = runpy.run_path(str(TOOLS / "lowest.py"))["lowest"]
    project = {
        "name": "p",
        "dependencies": ["numpy>=1.26"],
        "optional-dependencies": {"a": ["pandas>=2.2"], "b": ["pandas>=2.2", "p[a]"]},
    }
    assert lowest(project) == ["numpy==1.26", "pandas==2.2"]
    with pytest.raises(SystemExit, match="several lowest versions"):
        lowest(project | {"dependencies": ["pandas>=2.1"]})
    with pytest.raises(SystemExit, match="names no lowest version"):
        lowest(project | {"dependencies": ["pandas"]})

"""What the README names exists, and its first block stands alone; tests/docs runs all of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_two_make_commands_are_named_and_exist(target: str) -> None:
    assert re.search(rf"^make {target}\b", README, re.M)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.M)


def test_every_extra_named_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {
        extra.strip() for extras in re.findall(r"(?:xorder|\.)\[([\w, -]+)\]", README) for extra in extras.split(",")
    }
    assert named
    assert named <= project["optional-dependencies"].keys()


def test_every_file_and_folder_named_exists() -> None:
    named = re.findall(r"`((?:docs|benchmarks|src|tests)/[\w./-]*|[A-Z]+\.md)`", README)
    assert named
    missing = [name for name in named if not (ROOT / name).exists()]
    assert missing == []


def test_it_runs_on_the_python_it_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = re.search(r"Python (\d+\.\d+) or newer", README)
    assert version
    assert project["requires-python"] == f">={version[1]}"


@pytest.mark.slow
def test_the_python_block_needs_nothing_of_this_folder(tmp_path: Path) -> None:
    block = re.search(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", README, re.M | re.S)
    assert block
    code, text = block.groups()
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=clean,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, text, "")

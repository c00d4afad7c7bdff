"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from xorder.cli import main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(marker: str, *languages: str) -> list[str]:
    """The fenced blocks that follow a marker, which must be of these languages."""
    _, found, rest = README.partition(f"<!-- tested: {marker} -->\n")
    assert found, f"README has no block marked {marker}"
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", rest, re.M | re.S)[: len(languages)]
    assert [language for language, _ in fenced] == list(languages)
    return [text for _, text in fenced]


def test_each_marker_is_there_once() -> None:
    assert re.findall(r"<!-- tested: (\w+) -->", README) == ["python", "ranker", "curve", "console"]


@pytest.mark.parametrize("marker", ["python", "ranker", "curve"])
def test_a_python_block_prints_what_follows_it(marker: str) -> None:
    code, text = blocks(marker, "python", "text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert printed.getvalue() == text


def test_the_console_block_shows_what_each_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (text,) = blocks("console", "console")
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    capsys.readouterr()
    steps = re.findall(r"^\$ xorder (.*)\n((?:(?!\$ ).*\n)*)", text, re.M)
    assert "".join(f"$ xorder {line}\n{output}" for line, output in steps) == text
    assert [line.split()[0] for line, _ in steps] == ["audit", "fit", "apply"]
    for line, output in steps:
        assert main(shlex.split(line)) == 0
        captured = capsys.readouterr()
        assert captured.out == output
        assert captured.err == ""


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


def test_the_python_block_needs_nothing_of_this_folder(tmp_path: Path) -> None:
    code, text = blocks("python", "python", "text")
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

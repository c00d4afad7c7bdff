"""How a command ends: messages in the words of the command line, readers that stop reading, and signals."""

from __future__ import annotations

import errno
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest

import xorder
from support.command_line import Ran, files, one_line, shell
from support.people_files import LABELLED, PEOPLE, table, write
from xorder.cli import main
from xorder.cli._errors import translated

SCRIPT = Path(sys.executable).with_name("xorder")
FILE = Namespace(
    file="people.csv", score="risk", label="died", group=["sex"], weight=None, positive=None, missing_group="error",
    weights_are="counts", max_gap=None, tradeoff=None, confidence=0.95, into="adjusted", encoding="utf-8", force=False,
)  # fmt: skip


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("y_score must be finite", "people.csv: column 'risk' must be finite"),
        ("sensitive_features has rows", "people.csv: column 'sex' has rows"),
        # No weight was named, so that there is no column to speak of.
        ("sample_weight is not whole", "sample_weight is not whole"),
        ("pass weights_are='sampling' for", "pass --weights-are sampling for"),
        ("name it with positive=.", "name it with --positive."),
        ("choose another name with into=, or", "choose another name with --into, or"),
        (
            "with missing_group='leave' or missing_group='group'.",
            "with --missing-group leave or --missing-group group.",
        ),
        ("max_gap must lie between 0 and 1", "--max-gap must lie between 0 and 1"),
        ("confidence must lie between 0 and 1", "--confidence must lie between 0 and 1"),
        ("give tradeoff or max_gap, not both.", "give --tradeoff or --max-gap, not both."),
        ("score and label both name the column 'y'", "--score and --label both name the column 'y'"),
        ("replace it with overwrite=True.", "replace it with --force."),
        # What belongs to the user is left alone.
        ("group 'max_gap' was not seen", "group 'max_gap' was not seen"),
        ("cannot read /tmp/max_gap or so", "cannot read /tmp/max_gap or so"),
        ("/tmp/a/max_gap/b.csv is empty", "/tmp/a/max_gap/b.csv is empty"),
        ("the group of a row is missing", "the group of a row is missing"),
        ("group 'A' has no positives", "group 'A' has no positives"),
    ],
)
def test_arguments_become_options_and_columns(message: str, words: str) -> None:
    assert translated(message, FILE) == words


def test_an_argument_that_is_no_option_stays() -> None:
    assert translated("allow more with bins=.", FILE) == "allow more with bins=."


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_standard_output_on_a_full_disk(people: Path) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "xorder.cli", "audit", str(people), *LABELLED]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    line = one_line(Ran(done.returncode, "", done.stderr), code=70)
    assert line.startswith("xorder: error: standard output: No space left on device; what was printed is lost")


class TestFailures:
    """What is not the user's mistake: exit code 70, one line, and where a traceback can be had."""

    @pytest.fixture
    def fail(
        self, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Ran], people: Path, tmp_path: Path
    ) -> Callable[[BaseException], Ran]:
        """Run fit, with an error raised while the map is being written; see that nothing is left of it."""

        def fail(error: BaseException) -> Ran:
            def replace(path: Path, target: Path) -> None:
                raise error

            monkeypatch.setattr(Path, "replace", replace)
            before = files(tmp_path)
            ran = run("fit", people, *LABELLED, "-o", tmp_path / "map.json", "--force")
            assert files(tmp_path) == before
            return ran

        return fail

    @pytest.mark.parametrize(
        ("error", "words"),
        [
            (RuntimeError("two\nlines"), r"a fault in xorder, RuntimeError: two lines\."),
            (MemoryError(), r"out of memory: there are too many rows to be held here at once\."),
            (OSError(errno.ENOSPC, "No space left on device"), r"could not write .*: No space left .* changed\."),
        ],
    )
    def test_exit_code_and_line(self, fail: Callable[[BaseException], Ran], error: BaseException, words: str) -> None:
        line = one_line(fail(error), code=70)
        rest = re.escape(" This is not your mistake; XORDER_TRACEBACK=1 shows where it happened.\n")
        assert re.fullmatch(f"xorder: error: {words}{rest}", line)

    def test_a_folder_that_may_not_be_written_to_is_the_users(self, fail: Callable[[BaseException], Ran]) -> None:
        assert "Permission denied" in one_line(fail(PermissionError(errno.EACCES, "Permission denied")))

    def test_an_interrupt(self, fail: Callable[[BaseException], Ran]) -> None:
        assert fail(KeyboardInterrupt()) == Ran(130, "", "")

    def test_a_traceback_on_demand(self, fail: Callable[[BaseException], Ran], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XORDER_TRACEBACK", "1")
        ran = fail(KeyError("x"))
        assert ran.code == 70
        assert ran.err.startswith("Traceback (most recent call last):\n")
        assert "in run\n" in ran.err
        assert ran.err.splitlines()[-1].startswith("xorder: error: a fault in xorder, KeyError: 'x'. This is not")

    def test_a_command_that_cannot_be_loaded(self, run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "xorder.cli._audit", None)
        assert "or a package is damaged: import of xorder.cli._audit halted" in one_line(run("audit"), code=70)


@pytest.mark.slow
def test_a_reader_that_stops_reading_is_no_error(people: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "xorder.cli", "audit", str(people), *LABELLED]
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=120, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="head and the quoting of its line are those of POSIX")
def test_piping_into_head(people: Path) -> None:
    line = f"{shlex.quote(str(SCRIPT))} audit {shlex.quote(str(people))} {' '.join(LABELLED)} | head -1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=120, check=False)
    first = str(xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)).splitlines()[0]
    assert done.stdout == f"{first}\n"
    assert done.stderr == ""


@pytest.mark.slow
def test_a_name_that_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    columns = table()
    columns["group"] = ["Ålesund" if group == "A" else group for group in columns["group"]]
    people = write(tmp_path / "people.csv", columns)
    ran = shell("audit", people, *LABELLED, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (ran.code, ran.err) == (0, "")
    assert r"\xc5lesund" in ran.out


def test_sigterm_is_as_before_when_a_command_ends(succeed: Callable[..., str]) -> None:
    def own(*_: object) -> None:
        raise NotImplementedError

    before = signal.getsignal(signal.SIGTERM)
    try:
        for handler in (signal.SIG_DFL, signal.SIG_IGN, own):
            signal.signal(signal.SIGTERM, handler)
            succeed("data", "list")
            assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_command_in_another_thread(capsys: pytest.CaptureFixture[str]) -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["data", "list"])))
    thread.start()
    thread.join()
    assert codes == [0]

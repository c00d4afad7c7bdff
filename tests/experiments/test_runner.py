"""Runs that are killed, that fail in part, on one process and on two: the rows are the same."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from experiments import registry
from experiments.__main__ import main
from experiments.store import key_of, read

HERE = Path(__file__).parent
TOY = HERE.parent / "support" / "toy_experiment.py"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="result files are locked as POSIX does"),
]
# One that is swept until there is no gap left is enough: what each method finds is tested elsewhere.
METHODS = ("unadjusted", "post-logit", "xorder-frontier", "nap")


def arguments(runs: Path, *more: str, methods: tuple[str, ...] = METHODS, processes: int = 1) -> list[str]:
    return [
        *("run", "--add", str(TOY), "--dataset", "toy", "--model", "linear", "--metric", "xauc", "--method", *methods),
        *("--n-splits", "3", "--processes", str(processes), "--runs", str(runs), *more),
    ]


def run(runs: Path, *more: str, **settings: Any) -> str:
    """Run from this process, which knows nothing of the toy before and after; return what is printed."""
    printed = io.StringIO()
    with patch.dict(registry.DATASETS), patch.dict(registry.METHODS), patch.dict(os.environ), redirect_stderr(printed):
        assert main(arguments(runs, *more, **settings)) == 0
    return printed.getvalue()


def rows_of(runs: Path) -> dict[Any, dict[str, Any]]:
    """Rows by cell, without the time they took."""
    rows = {key_of(row): row for row in read(runs / "stored.jsonl")}
    for row in rows.values():
        row.pop("seconds", None)
    return rows


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("uninterrupted")
    assert "0 failed" in run(runs)
    return runs


def test_on_two_processes_and_killed_at_any_moment_it_goes_on_and_ends_as_on_one(
    tmp_path: Path, uninterrupted: Path
) -> None:
    path = tmp_path / "stored.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments", *arguments(tmp_path, processes=2)],
        cwd=HERE.parents[1],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 10)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # Its workers do not live on without it.
    _until(lambda: not _alive(process.pid))
    before = rows_of(tmp_path)
    assert 10 <= len(before) < len(rows_of(uninterrupted))
    with path.open("ab") as file:
        file.write(b'{"data": "toy", "sp')
    run(tmp_path, processes=2)
    after = rows_of(tmp_path)
    assert after == rows_of(uninterrupted)
    assert before.items() <= after.items()
    # Nothing was run twice.
    assert path.read_bytes().count(b"\n") == len(after)


def test_a_second_run_has_nothing_left_to_do(uninterrupted: Path) -> None:
    before = (uninterrupted / "stored.jsonl").read_bytes()
    assert "0 cells run" in run(uninterrupted)
    assert (uninterrupted / "stored.jsonl").read_bytes() == before


def test_what_is_named_is_run_again_on_demand(uninterrupted: Path) -> None:
    before = rows_of(uninterrupted)
    told = run(uninterrupted, "--again", methods=("unadjusted", "post-logit"))
    assert "6 cells run" in told
    assert rows_of(uninterrupted) == before


def test_a_failing_cell_is_recorded_and_the_rest_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = run(tmp_path, methods=("fails", "dies", "post-logit"), processes=2)
    rows = list(rows_of(tmp_path).values())
    failed = {row["method"]: row["error"] for row in rows if "error" in row}
    assert failed.keys() == {"fails", "dies"}
    assert failed["fails"] == "ValueError: nothing to see here"
    assert "died" in failed["dies"]
    assert "nothing to see here" in told
    assert {(row["method"], row["split"]) for row in rows if "error" in row} == {("fails", 0), ("dies", 0)}
    assert len(rows) == 9

    monkeypatch.setenv("TOY_MENDED", "yes")
    assert "0 cells run" in run(tmp_path, methods=("fails",))
    run(tmp_path, "--retry", methods=("fails",))
    assert "error" not in rows_of(tmp_path)["toy", "stored", "linear", "fails", "xauc", None, 0]


def _until(what: Any) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True

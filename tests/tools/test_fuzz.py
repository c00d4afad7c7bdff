"""A fixed slice of what the fuzzer draws: the same cases in every run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.effort import draws

TOOL = Path(__file__).resolve().parents[2] / "tools" / "fuzz.py"


def fuzz(*arguments: str, patience: float = 240) -> tuple[int, str]:
    """Run the tool in a group of processes of its own, which is killed if it takes too long."""
    with subprocess.Popen(
        [sys.executable, str(TOOL), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            out, _ = running.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            out, _ = running.communicate()
            pytest.fail(f"the fuzzer did not end within {patience:g} s:\n{out}")
    return running.returncode, out


def counts(out: str) -> dict[str, list[int]]:
    """Cases, accepted, refused and failed by kind, from the table that is printed."""
    rows = [line.strip("| ").split(" | ") for line in out.splitlines() if line.startswith("| ")]
    return {kind: [int(number.replace(",", "")) for number in numbers[:4]] for kind, *numbers in rows[1:]}


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the fuzzer watches a process that it forks"),
]


def test_nothing_fails() -> None:
    # Kinds have thousandths of them.
    cases = draws(10_000) // 1000 * 1000
    code, out = fuzz("--cases", str(cases))
    assert code == 0, out
    found = counts(out)
    assert found["all"][0] >= cases
    # Files that are refused at once prove little.
    for kind in ("csv", "gzip", "parquet", "mapfile"):
        cases, accepted, _, _ = found[kind]
        assert accepted > cases / 2


def test_the_same_seed_draws_the_same_cases() -> None:
    runs = [fuzz("--kind", "csv", "--cases", "60", "--seed", "5", "--first", str(first)) for first in (0, 0, 60)]
    first, again, other = (counts(out)["csv"] for _, out in runs)
    assert first == again
    assert first != other

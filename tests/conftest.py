"""What every test shares: oracles and experiments on the import path, and draws that are the same in each run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

# The default repeats its draws, so that a failure is there again on the next run and on every machine;
# HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", deadline=None, max_examples=2000, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

from command_line import Ran, files, one_line  # noqa: E402


@pytest.fixture
def beginning() -> list[str]:
    """What every command line of a test file starts with."""
    return []


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], beginning: list[str]) -> Callable[..., Ran]:
    from xorder.cli import main

    def run(*arguments: object) -> Ran:
        try:
            code = main([*beginning, *map(str, arguments)])
        except SystemExit as stop:
            code = stop.code
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def succeed(run: Callable[..., Ran]) -> Callable[..., str]:
    """Run a command that must work and warn of nothing; return what it prints."""

    def succeed(*arguments: object) -> str:
        ran = run(*arguments)
        assert (ran.code, ran.err) == (0, "")
        return ran.out

    return succeed


@pytest.fixture
def refuse(run: Callable[..., Ran], tmp_path: Path) -> Callable[..., str]:
    """Run a command that must fail as all failures do, and leave the folder as it was; return its one line."""

    def refuse(*arguments: object) -> str:
        before = files(tmp_path)
        ran = run(*arguments)
        assert files(tmp_path) == before
        return one_line(ran)

    return refuse

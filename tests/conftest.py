"""What every test shares: draws that are the same in each run, and how a command is run."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support.effort import draws

# The default repeats its draws, so that a failure is there again on the next run and on every machine;
# HYPOTHESIS_PROFILE=explore looks for new ones, and XORDER_TESTS=long draws three times as many.
settings.register_profile(
    "repeatable",
    deadline=None,
    max_examples=draws(100),
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "explore", deadline=None, max_examples=2000, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

from support.command_line import Ran, files, one_line  # noqa: E402
from support.real_data import READERS  # noqa: E402

# Of two ways to the same reader the quick loop takes one: a parquet file stands for a glob, and for a relation of
# DuckDB, which reads it; a polars frame stands for a lazy one.
SECOND_WAYS = {"spark", "parquet-glob", "duckdb", "polars-lazy"}

# Files that take longest, first: a file is run by one worker, and the others would wait for one that comes last. The
# cluster comes before the other tests of Spark, which keep a session open.
LONGEST = (
    "engines/test_spark_cluster.py",
    "plotting/test_displays.py",
    "estimators/test_fair_ranker.py",
    "datasets/test_mimic3.py",
    "engines/test_apply.py",
    "engines/test_tables.py",
    "estimators/test_learn.py",
    "ordering/test_frontier.py",
    "baselines/test_constrained.py",
    "experiments/test_runner.py",
    "reporting/test_numbers.py",
    "estimators/test_expected.py",
    "reporting/test_browser.py",
    "reporting/test_text.py",
    "experiments/test_main.py",
    "experiments/test_subset.py",
    "metrics/test_gaps.py",
    "test_faults.py",
    "tools/test_fuzz.py",
)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a worker one file after another, and one of them all that needs Spark: each Java takes as long as a file."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class OneSpark(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if "spark" in nodeid else super()._split_scope(nodeid)

    return OneSpark(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what needs Spark or is a second way to a reader, as others are where they stand; order the files."""
    for item in items:
        drawn = item.callspec.params.values() if hasattr(item, "callspec") else ()
        names = {one for one in drawn if isinstance(one, str)}
        if SECOND_WAYS & {*names, *getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.slow)
    folder = Path(__file__).parent
    first = {folder / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path, len(first)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Keep with a test that it has read real data."""
    yield
    if item.nodeid in READERS:
        item.user_properties.append(("real data", "read"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many tests have read real data, so that a run without them cannot pass for one with them."""
    read = [
        report for report in terminalreporter.getreports("passed") if ("real data", "read") in report.user_properties
    ]
    terminalreporter.write_line(f"{len({report.nodeid for report in read})} tests have read real data")


@pytest.fixture(scope="session", autouse=True)
def _planned_once() -> Iterator[None]:
    """Keep what a caution says of more people: that search takes most of the time of a fit, and tests fit the same."""
    from xorder.estimators import _expected

    plan, kept = _expected.plan, {}

    def planned(audit: Any, **asked: Any) -> Any:
        key = repr((audit.to_dict(), asked))
        if key not in kept:
            kept[key] = plan(audit, **asked)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_expected, "plan", planned)
        yield


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

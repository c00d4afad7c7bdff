"""Audit, fit, transform and SQL on a Spark cluster of several processes, two of which are killed at work."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xorder
from support.spark_cluster import Cluster, cluster, session
from xorder.engines import GroupMaps, apply_to_frame
from xorder.transfer._sql import repair_sql

pytestmark = pytest.mark.slow

# In parts of 24 or fewer, each goes to and from Python in several batches, of 10,000 rows; more prove nothing more.
# Scores are those of thousands of levels.
ROWS, LEVELS = 250_000, 9_973
GROUPS = ("A", "B")
NAMES = {"score": "score", "label": "label", "group": "grp"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def spark_on_cluster(running: Cluster) -> Iterator[Any]:
    with session(running) as opened:
        yield opened


class People:
    """The same rows in memory: whole numbers that both sides compute alike, and scores out of them."""

    def __init__(self) -> None:
        row = np.arange(ROWS, dtype=np.int64)
        mixed = row * 48_271 % 2_147_483_647
        self.group = np.where(mixed % 10 < 3, "B", "A")
        self.score = (mixed % LEVELS) / LEVELS
        self.label = (mixed * 16_807 % 2_147_483_647 % 1_000 < 700 * self.score + 100 * (self.group == "B")).astype(int)
        self.tables = {
            group: xorder.ScoreTable.from_arrays(self.label[self.group == group], self.score[self.group == group])
            for group in GROUPS
        }


@pytest.fixture(scope="module")
def people() -> People:
    return People()


@pytest.fixture(scope="module")
def repair(people: People) -> xorder.XOrder:
    return xorder.XOrder(do_no_harm=False).fit(people.score, people.label, sensitive_features=people.group)


def rows(session: Any, parts: int = 8) -> Any:
    """The rows of :class:`People`, made by the executors."""
    from pyspark.sql import functions as f

    mixed = (f.col("id") * 48_271) % 2_147_483_647
    frame = session.range(0, ROWS, 1, parts).select("id", mixed.alias("mixed"))
    frame = frame.withColumn("grp", f.when(f.col("mixed") % 10 < 3, "B").otherwise("A"))
    frame = frame.withColumn("score", (f.col("mixed") % LEVELS) / f.lit(float(LEVELS)))
    chance = f.col("mixed") * 16_807 % 2_147_483_647 % 1_000
    limit = 700 * f.col("score") + f.when(f.col("grp") == "B", 100).otherwise(0)
    return frame.withColumn("label", (chance < limit).cast("int")).drop("mixed")


def sums(frame: Any, column: str) -> dict[str, list[tuple[float, ...]]]:
    """What stands for all rows in a comparison: by group and part of the rows, count, sum, ends and spread."""
    from pyspark.sql import functions as f

    value = f.col(column)
    parts = frame.groupBy("grp", (f.col("id") % 97).alias("part")).agg(
        f.count("*"),
        f.sum(value),
        f.min(value),
        f.max(value),
        f.sum(value * value),
        f.sum(value * (f.col("id") % 1_009)),
    )
    found: dict[str, list[tuple[float, ...]]] = {group: [] for group in GROUPS}
    for group, *numbers in sorted(map(tuple, parts.collect())):
        found[group].append(tuple(map(float, numbers)))
    return found


def sums_in_memory(people: People, value: np.ndarray) -> dict[str, list[tuple[float, ...]]]:
    row = np.arange(ROWS)
    found: dict[str, list[tuple[float, ...]]] = {group: [] for group in GROUPS}
    for group in GROUPS:
        for part in range(97):
            here = value[part::97][people.group[part::97] == group]
            weight = (row[part::97] % 1_009)[people.group[part::97] == group]
            numbers = (part, here.size, here.sum(), here.min(), here.max(), (here**2).sum(), (here * weight).sum())
            found[group].append(tuple(map(float, numbers)))
    return found


def assert_same(got: dict[str, list[tuple[float, ...]]], want: dict[str, list[tuple[float, ...]]]) -> None:
    for group in GROUPS:
        np.testing.assert_allclose(got[group], want[group], rtol=1e-12)


@pytest.fixture(scope="module")
def wanted(people: People, repair: xorder.XOrder) -> dict[str, list[tuple[float, ...]]]:
    return sums_in_memory(people, repair.transform(people.score, sensitive_features=people.group))


def test_transform_and_sql_agree_with_memory(
    spark_on_cluster: Any, people: People, repair: xorder.XOrder, wanted: dict[str, list[tuple[float, ...]]]
) -> None:
    frame = rows(spark_on_cluster)
    adjusted = repair.transform_frame(frame, score="score", group="grp")
    assert adjusted.columns == ["id", "grp", "score", "label", "adjusted"]
    assert_same(sums(adjusted, "adjusted"), wanted)
    # Row by row for some; all rows stand behind the sums.
    some = adjusted.where("id % 25013 = 7").orderBy("id").toArrow()
    at = some["id"].to_numpy()
    want = repair.transform(people.score[at], sensitive_features=people.group[at])
    np.testing.assert_allclose(some["adjusted"].to_numpy(), want, rtol=0, atol=1e-12)

    small = {group: fitted.compressed(1e-2) for group, fitted in repair.maps_.items()}
    as_sql = frame.selectExpr("*", f"{repair_sql(small, score='score', group='grp', dialect='spark')} AS adjusted")
    by_hand = np.where(people.group == "B", small["B"].apply(people.score), small["A"].apply(people.score))
    assert_same(sums(as_sql, "adjusted"), sums_in_memory(people, by_hand))


def assert_same_audit(found: xorder.Audit, people: People) -> None:
    exact = xorder.audit(people.label, people.score, sensitive_features=people.group)
    assert (found.positives, found.negatives) == (exact.positives, exact.negatives)
    assert found.auc == pytest.approx(exact.auc, abs=1e-9)
    for gap, expected in zip(found.gaps, exact.gaps, strict=True):
        assert gap.value == pytest.approx(expected.value, abs=1e-9)
        assert gap.interval == pytest.approx(expected.interval, abs=1e-9)


def test_audit_and_fit_agree_with_memory(spark_on_cluster: Any, people: People, repair: xorder.XOrder) -> None:
    frame = rows(spark_on_cluster)
    assert_same_audit(xorder.audit_frame(frame, **NAMES), people)
    fitted = xorder.XOrder(do_no_harm=False).fit_frame(frame, **NAMES)
    np.testing.assert_allclose(fitted.maps_["B"].adjusted, repair.maps_["B"].adjusted, rtol=0, atol=1e-9)


@contextmanager
def losing(running: Cluster, number: int, context: Any, parts: int) -> Iterator[None]:
    """Kill a worker with its executor after some tasks of a stage are done and before the last, which must happen."""
    killed: list[tuple[int, int]] = []

    def kill() -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until and not killed:
            for stage in context.statusTracker().getActiveStageIds():
                info = context.statusTracker().getStageInfo(stage)
                if info is not None and info.numTasks == parts and parts / 12 <= info.numCompletedTasks < parts * 5 / 6:
                    running.kill_worker(number)
                    killed.append((info.numCompletedTasks, info.numTasks))
                    return
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    yield
    killer.join()
    assert killed, "the job was over before a worker could be killed"
    assert running.workers[number].poll() is not None
    assert running.workers[-1].poll() is None


def test_a_worker_that_dies_changes_nothing(
    running: Cluster, spark_on_cluster: Any, repair: xorder.XOrder, wanted: dict[str, list[tuple[float, ...]]]
) -> None:
    """The rest is run elsewhere, and what it had done is done again."""
    adjusted = apply_to_frame(GroupMaps(repair.maps_), rows(spark_on_cluster, parts=24), score="score", group="grp")
    with losing(running, 0, spark_on_cluster.sparkContext, 24):
        got = sums(adjusted, "adjusted")
    assert_same(got, wanted)


def test_a_worker_that_dies_during_an_audit_changes_nothing(
    running: Cluster, spark_on_cluster: Any, people: People
) -> None:
    """Sums of the worker that is lost are neither missing nor counted twice."""
    frame = rows(spark_on_cluster, parts=48)
    with losing(running, 1, spark_on_cluster.sparkContext, 48):
        found = xorder.audit_frame(frame, **NAMES)
    assert_same_audit(found, people)


def test_logs_are_kept_in_the_folder_of_the_test(running: Cluster) -> None:
    assert {path.name for path in Path(running.folder).glob("*.log")} == {
        "master.log",
        *(f"worker-{number}.log" for number in range(3)),
    }

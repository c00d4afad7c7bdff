"""SQL text against what a map computes, in DuckDB here and in Spark SQL where Java is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from support.backends import spark_session
from support.drawn_maps import dense, maps
from support.effort import draws
from support.needs import package
from xorder import ScoreMap
from xorder.exceptions import InputError
from xorder.transfer._sql import MOST_KNOTS, number, quoted_name, repair_sql, text

duckdb = package("duckdb")
pa = package("pyarrow")

Run = Callable[..., list[Any]]


CONNECTION = duckdb.connect()


def in_duckdb(columns: dict[str, Any], *expressions: str) -> list[Any]:
    CONNECTION.register("rows", pa.table(columns))
    return values(zip(*CONNECTION.execute(query(expressions)).fetchall(), strict=True))


def in_spark(columns: dict[str, Any], *expressions: str) -> list[Any]:
    session = spark_session()
    session.createDataFrame(pa.table(columns)).createOrReplaceTempView("rows")
    return values(column.to_pylist() for column in session.sql(query(expressions)).toArrow().columns)


def query(expressions: tuple[str, ...]) -> str:
    return f"SELECT {', '.join(f'{one} AS a{number}' for number, one in enumerate(expressions))} FROM rows"


def values(found: Iterable[Any]) -> list[Any]:
    """What an expression has for each row; of several, a list for each."""
    columns = [list(column) for column in found]
    return columns[0] if len(columns) == 1 else columns


@pytest.fixture(params=["duckdb", "spark"])
def run(request: pytest.FixtureRequest) -> tuple[str, Run]:
    if request.param == "spark":
        spark_session()
    return request.param, {"duckdb": in_duckdb, "spark": in_spark}[request.param]


def learnt(knots: int, *, seed: int = 0) -> ScoreMap:
    rng = np.random.default_rng(seed)
    return ScoreMap(np.sort(rng.standard_normal(knots)), np.sort(rng.standard_normal(knots)))


def around(score_map: ScoreMap) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.concatenate([score_map.raw, rng.standard_normal(500), [-1e300, -50.0, 0.0, -0.0, 5e-324, 50.0, 1e300]])


@given(score_map=maps())
@settings(max_examples=draws(30))
def test_duckdb_computes_what_the_map_does(score_map: ScoreMap) -> None:
    x = dense(score_map)
    got = np.array(in_duckdb({"s": x}, score_map.to_sql("s")), dtype=float)
    np.testing.assert_array_equal(got, score_map.apply(x))
    assert (np.diff(got) >= 0).all()


@pytest.mark.parametrize("knots", [0, 1, 2, 3, 300])
def test_every_engine_computes_what_the_map_does(run: tuple[str, Run], knots: int) -> None:
    dialect, compute = run
    score_map = learnt(knots)
    x = around(score_map)
    got = compute({"s": x}, score_map.to_sql("s", dialect=dialect))
    np.testing.assert_allclose(got, score_map.apply(x), rtol=1e-15)


def test_knots_at_the_ends_of_the_floating_point_line(run: tuple[str, Run]) -> None:
    dialect, compute = run
    score_map = ScoreMap([-1e290, -1e-308, 0.0, 5e-324, 1.0, 1e290], [-1e290, 0.0, 5e-324, 1e-300, 2.0, 9e289])
    x = np.concatenate([score_map.raw, [-1.7e308, 1.7e308, 0.3, 1e-310]])
    got = compute({"s": x}, score_map.to_sql("s", dialect=dialect))
    np.testing.assert_allclose(got, score_map.apply(x), rtol=1e-15)


def test_plain_text_is_exact_where_its_reader_is() -> None:
    """SQLite reads some numbers a last bit off, most often of this size; what stands in the text is not the cause."""
    score_map = ScoreMap([5.144228758416791e-297, 0.3, 2.0], [5e-324, 1.63e-322, 1.7e271])
    x = np.sort(np.concatenate([score_map.raw, np.nextafter(score_map.raw, -1), np.nextafter(score_map.raw, 3)]))
    got = np.array(in_duckdb({"s": x}, score_map.to_sql("s", dialect="ansi")), dtype=float)
    np.testing.assert_array_equal(got, score_map.apply(x))


@pytest.mark.slow
def test_thousands_of_knots_are_taken_by_duckdb() -> None:
    score_map = learnt(MOST_KNOTS)
    x = around(score_map)
    np.testing.assert_allclose(in_duckdb({"s": x}, score_map.to_sql("s")), score_map.apply(x), rtol=1e-15)


def test_nothing_stays_nothing(run: tuple[str, Run]) -> None:
    dialect, compute = run
    for knots in (0, 1, 2, 50):
        column = {"s": pa.array([None, 0.25, np.nan, np.inf])}
        nothing, _, nan, infinite = compute(column, learnt(knots).to_sql("s", dialect=dialect))
        assert nothing is None
        assert np.isnan(nan)
        assert infinite == np.inf


@pytest.mark.parametrize("kind", ["float32", "int64"])
def test_columns_of_other_types_count_as_what_they_are(run: tuple[str, Run], kind: str) -> None:
    dialect, compute = run
    x = (np.linspace(-3, 3, 61)).astype(kind)
    got = compute({"s": x}, learnt(40).to_sql("s", dialect=dialect))
    np.testing.assert_array_equal(got, learnt(40).apply(x))
    assert all(type(value) is float for value in got)


HOSTILE = [
    'a"b',
    "a'b",
    "a`b",
    "a; DROP TABLE rows; --",
    "a\\",
    "a\\'",
    "/* a",
    "line\nbreak",
    "ünï ☃",
    '"',
    "a.b",
    "$x",
]


def test_a_name_is_read_as_a_name(run: tuple[str, Run]) -> None:
    dialect, compute = run
    score_map = learnt(5)
    columns = {name: [0.25 + number, 1.5 - number] for number, name in enumerate(HOSTILE)}
    got = compute(columns, *(score_map.to_sql(name, dialect=dialect) for name in columns))
    for name, found in zip(columns, got, strict=True):
        np.testing.assert_array_equal(found, score_map.apply(columns[name]), err_msg=name)


def test_a_group_is_read_as_a_text(run: tuple[str, Run]) -> None:
    dialect, compute = run
    labels = [*HOSTILE, "${x}", "' OR 1=1 --", ""]
    each = [{label: ScoreMap([0.0], [1.0])} for label in labels]
    columns = {"s": [0.5] * (len(labels) + 1), "g": [*labels, "other"]}
    got = compute(columns, *(repair_sql(one, score="s", group="g", dialect=dialect) for one in each))
    for label, found in zip(labels, got, strict=True):
        assert found == [1.5 if group == label else None for group in columns["g"]], label


@pytest.mark.parametrize(
    ("labels", "other"), [(("A", "B"), "C"), ((1, 2), 3), ((1.5, -2.0), 0.1), ((True, False), None)]
)
def test_a_repair_chooses_by_group_and_never_passes_an_unknown_one(
    run: tuple[str, Run], labels: tuple, other: object
) -> None:
    dialect, compute = run
    repair = dict(zip(labels, [learnt(20), ScoreMap.identity()], strict=True))
    x = [0.3, 0.3, 0.3, 0.3]
    columns = {"s": pa.array([*x[:3], None]), "g": pa.array([labels[0], labels[1], other, labels[0]])}
    got = compute(columns, repair_sql(repair, score="s", group="g", dialect=dialect))
    assert got == [learnt(20).apply([0.3])[0], 0.3, None, None]
    failing = repair_sql(repair, score="s", group="g", dialect=dialect, unknown="error")
    with pytest.raises(Exception, match=r"group without a map in column g: (C|3|0\.1|NULL)"):
        compute(columns, failing)
    columns["g"] = pa.array([labels[0]] * 4)
    assert compute(columns, failing)[3] is None


def test_ansi_text_has_no_words_of_its_own() -> None:
    """DuckDB reads standard SQL too."""
    sql = repair_sql({"A": learnt(20), "B": ScoreMap.identity()}, score="s", group="g", dialect="ansi")
    assert "PRECISION" in sql
    assert in_duckdb({"s": [0.3, 0.3], "g": ["A", "B"]}, sql) == [learnt(20).apply([0.3])[0], 0.3]
    with pytest.raises(InputError, match="cannot fail on purpose; use unknown='null'"):
        repair_sql({"A": learnt(2)}, score="s", group="g", dialect="ansi", unknown="error")


def test_a_tree_is_as_deep_as_the_logarithm() -> None:
    deepest = depth = 0
    for word in re.findall(r"\bCASE\b|\bEND\b", learnt(2_000).to_sql("s")):
        depth += 1 if word == "CASE" else -1
        deepest = max(deepest, depth)
    assert deepest == 12


def test_two_signs_never_begin_a_comment() -> None:
    assert "--" not in ScoreMap([-2.0, -1.0], [-5.0, -3.0]).to_sql("s")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: learnt(MOST_KNOTS + 1).to_sql("s"), r"2,001 knots is too long .* Compress it first"),
        (lambda: learnt(2).to_sql("s", dialect="oracle"), "dialect must be one of duckdb, spark, ansi; got 'oracle'"),
        (lambda: learnt(2).to_sql(""), "named by text that is not empty"),
        (lambda: learnt(2).to_sql("a\0b"), "named by text that is not empty"),
        (lambda: quoted_name("${x}", "spark"), "Spark would replace a part"),
        (lambda: text("a\0b"), "zero byte"),
        (lambda: repair_sql({}, score="s", group="g"), "at least one group"),
        (lambda: repair_sql({(1, 2): learnt(2)}, score="s", group="g"), "labels must be text, numbers or booleans"),
        (lambda: repair_sql({np.nan: learnt(2)}, score="s", group="g"), "cannot be written in SQL"),
        (
            lambda: repair_sql({1: learnt(2)}, score="s", group="g", unknown="pass"),
            "unknown must be one of null, error",
        ),
    ],
)
def test_what_cannot_be_written_is_refused(call: Callable[[], str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_numbers_read_back_exactly(run: tuple[str, Run]) -> None:
    dialect, compute = run
    numbers = [0.1, 1e-5, -2.5, 5e-324, 1.7976931348623157e308, 1 / 3, 0.0, 12345678901234567.0]
    assert compute({"s": [1.0]}, *(number(value, dialect) for value in numbers)) == [[value] for value in numbers]

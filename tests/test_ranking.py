"""Ranked rows hold every score to its last bit, and give the tables, pairs and orders of counting row by row."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import xorder
from support.effort import draws
from xorder._ranking import _scores as found
from xorder._ranking import falling_key, rank_rows, rows_in_order, stretches
from xorder._table import ScoreTable, Tables
from xorder._validation import check_rows, check_tables
from xorder.metrics._placements import pairs_of_rows

TINY = [5e-324, 2.2250738585072014e-308, 1e-45, 1e-38]


@settings(max_examples=draws(300))
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False, width=32)
            | st.sampled_from([0.0, -0.0, 1.0, -1.0, *TINY, *(-tiny for tiny in TINY)]),
            st.integers(0, 5),
        ),
        min_size=1,
        max_size=60,
    ),
    st.sampled_from([np.float32, np.float64]),
)
def test_rows_come_from_the_highest_score_down_with_their_codes(
    rows: list[tuple[float, int]], dtype: type[np.floating]
) -> None:
    score, code = np.array([row[0] for row in rows], dtype), np.array([row[1] for row in rows], np.uint8)
    ranking = rank_rows(score, code, 6)
    if ranking is None:
        # 64 bits for both signs, with scores next to 0, is what cannot be had in double precision.
        assert dtype is np.float64
        return
    wanted = sorted(zip((score + 0.0).tolist(), code.tolist(), strict=True), key=lambda row: (-row[0], row[1]))
    assert list(zip(ranking.score.tolist(), ranking.code.tolist(), strict=True)) == wanted
    assert ranking.score.dtype == dtype
    assert ranking.counts.tolist() == np.bincount(code, minlength=6).tolist()


@pytest.mark.parametrize(
    ("low", "high", "dtype", "codes", "width"),
    [
        (0.0, 1.0, np.float64, 4, 64),
        (1e-3, 1.0, np.float32, 20, 32),
        (0.0, 1.0, np.float32, 4, 32),
        (-5.0, 5.0, np.float32, 4, 32),
        (-5.0, 5.0, np.float64, 40, 64),
        (-5.0, -1.0, np.float32, 4, 32),
        (-5.0, -1.0, np.float64, 4, 64),
        (-1e300, 1e300, np.float32, 4, 32),
    ],
)
def test_keys_are_as_narrow_as_the_scores_allow(
    low: float, high: float, dtype: type[np.floating], codes: int, width: int
) -> None:
    rng = np.random.default_rng(0)
    score = rng.uniform(max(low, -1e30), min(high, 1e30), 5000).astype(dtype)
    code = rng.integers(0, codes, score.size, dtype=np.uint8)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "xorder._ranking._scores", lambda level, *rest: (seen.append(level.dtype), found(level, *rest))[1]
        )
        ranking = rank_rows(score, code, codes)
    assert ranking is not None
    assert {dtype.itemsize * 8 for dtype in seen} == {width}
    assert ranking.score.tolist() == np.sort(score)[::-1].tolist()


@pytest.mark.parametrize("codes", [2, 4, 200])
def test_single_precision_always_fits(codes: int) -> None:
    score = np.array([3e38, -3e38, 1e-45, -1e-45, 0, 2.5, -2.5], np.float32)
    ranking = rank_rows(score, np.full(score.size, codes - 1, np.uint8), codes)
    assert ranking is not None
    assert ranking.score.tolist() == np.sort(score)[::-1].tolist()


def test_what_64_bits_cannot_hold_is_counted_all_the_same() -> None:
    score = np.array([5e-324, -5e-324, 1e308, -1e308, 5e-324, 1e308])
    label, group = [1, 0, 1, 0, 0, 0], list("abaabb")
    assert rank_rows(score, np.zeros(6, np.uint8), 4) is None
    tables = check_rows(label, score, group).tables()
    assert tables.ranking is None
    assert tables["a"].score.tolist() == [1e308, 5e-324, -1e308]
    assert tables["b"] == ScoreTable([1e308, 5e-324, -5e-324], [0, 0, 0], [1, 1, 1])


def counted(score: NDArray[np.float64], label: NDArray[np.bool_]) -> list[tuple[float, int, int]]:
    """Count rows one by one."""
    found = Counter(zip(score.tolist(), label.tolist(), strict=True))
    return [(each, found[each, True], found[each, False]) for each in sorted({*score.tolist()}, reverse=True)]


@pytest.mark.parametrize("levels", [3, 2_000, 30_000, None])
def test_tables_are_those_of_counting_one_by_one(levels: int | None) -> None:
    # More rows than a step has, so that scores of many rows lie across where one would end.
    rng = np.random.default_rng(1)
    score = rng.normal(size=50_000)
    if levels is not None:
        score = np.round(score * levels / 8) / levels
    label, group = rng.random(score.size) < 0.3, rng.integers(0, 3, score.size)
    tables = check_rows(label, score, group).tables()
    for number, table in tables.items():
        own = group == number
        wanted = counted(score[own], label[own])
        assert list(zip(table.score, table.positive, table.negative, strict=True)) == wanted
        assert (table.n1, table.n0) == (label[own].sum(), (~label[own]).sum())
    # Where most rows share their score, tables say all that is needed.
    assert (tables.ranking is None) == (2 * len({*score.tolist()}) < score.size)


def test_rows_of_one_score_are_in_one_step() -> None:
    score = np.repeat([0.5, 0.25, 0.125], [40_000, 10, 20_000])
    ranking = rank_rows(score, np.zeros(score.size, np.uint8), 2)
    assert ranking is not None
    assert [(part.start, part.stop) for part in ranking.steps] == [(0, 40_000), (40_000, 60_010)]
    # More than 16 bits can count in halves.
    assert not ranking.are_distinct


@pytest.mark.parametrize("before", [20_000, 24_000])
def test_a_step_ends_before_a_tie_that_would_make_it_long(before: int) -> None:
    score = np.concatenate([np.arange(before) + 1e6, np.full(32_000, 1e5), np.arange(60_000)])
    ranking = rank_rows(score, np.arange(score.size, dtype=np.uint8) % 4, 4)
    assert ranking is not None
    assert ranking.are_distinct
    assert before in {part.stop for part in ranking.steps}


def test_rows_that_tie_are_counted_in_little_room() -> None:
    code = np.arange(150_000) % 200
    tracemalloc.start()
    ranking = rank_rows(np.ones(code.size), code.astype(np.uint8), 200)
    assert ranking is not None
    counts = ranking.counts
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counts.tolist() == [750] * 200
    assert held < 50 * code.size


@settings(max_examples=draws(100))
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3)), min_size=1, max_size=60),
    st.integers(1, 7),
    st.integers(1, 20),
)
def test_marks_count_what_is_above_them_and_part_no_ties(rows: list[tuple[int, int]], step: int, places: int) -> None:
    score, code = np.array([row[0] for row in rows], np.float64), np.array([row[1] for row in rows], np.uint8)
    ranking = rank_rows(score, code, 4)
    assert ranking is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xorder._ranking._STEP", step)
        patch.setattr("xorder._ranking.PLACES", places)
        place, above = ranking.marks
    assert (place[0], place[-1]) == (0, score.size)
    assert (np.diff(place) > 0).all()
    for at, counts in zip(place.tolist(), above, strict=True):
        assert counts.tolist() == np.bincount(ranking.code[:at], minlength=4).tolist()
        assert at in (0, score.size) or ranking.score[at - 1] > ranking.score[at]


@settings(max_examples=draws(100))
@given(
    st.lists(st.tuples(st.integers(1, 12), st.integers(0, 5)), min_size=1, max_size=40),
    st.sampled_from([1.0, -1.0]),
    st.integers(1, 7),
)
def test_pairs_are_those_of_comparing_each_row_with_each(rows: list[tuple[int, int]], sign: float, step: int) -> None:
    score, code = np.array([sign * row[0] for row in rows]), np.array([row[1] for row in rows], np.uint8)
    ranking = rank_rows(score, code, 6)
    assert ranking is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xorder._ranking._STEP", step)
        pairs = pairs_of_rows(ranking)
    expected = np.zeros((6, 6))
    for above, of_above in zip(score, code, strict=True):
        for below, of_below in zip(score, code, strict=True):
            expected[of_above, of_below] += 1.0 if above > below else 0.5 if above == below else 0.0
    np.testing.assert_array_equal(pairs[:, ::-1, :, ::-1].reshape(6, 6), expected)


@pytest.mark.parametrize("levels", [1e9, 700])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_moved_row_by_row_make_the_tables_moved(levels: float, dtype: type[np.floating]) -> None:
    rng = np.random.default_rng(5)
    label, group = rng.random(3_000) < 0.3, rng.integers(0, 3, 3_000)
    score = (np.round(rng.random(3_000) * levels) / levels).astype(dtype)
    tables = check_rows(label, score, group).tables()
    assert (tables.ranking is None) == (levels == 700)
    moves = {1: lambda score: score**2, 2: lambda score: score / 2 + 0.25}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xorder._table._MOVED", 700)
        moved = tables.moved(moves)
    assert (moved.ranking is None) == (tables.ranking is None)
    for number, table in moved.items():
        assert table == (tables[number].at(moves[number](tables[number].score)) if number else tables[0])


def test_stretches_are_the_rows_between_their_ends() -> None:
    rows, number = stretches(np.array([2, 5, 9]), np.array([4, 5, 12]))
    assert rows.tolist() == [2, 3, 9, 10, 11]
    assert number.tolist() == [0, 0, 2, 2, 2]


def test_rows_are_ranked_and_tabled_only_when_that_is_asked_for() -> None:
    rng = np.random.default_rng(2)
    label, group = rng.random(5_000) < 0.3, rng.integers(0, 2, 5_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xorder._table._tables_of", None)
        result = xorder.audit(label, rng.random(5_000), sensitive_features=group)
        assert result.to_dict()["cuts"]
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xorder._table.rank_rows", lambda *rows: made.append(rank_rows(*rows)) or made[-1])
        tables = check_rows(label, rng.random(5_000), group).tables(settled=False)
        assert not made
        assert tables.totals[:2].sum() == 5_000
        assert not made
        assert len(tables[0]) + len(tables[1]) == 5_000
        assert len(made) == 1


@pytest.mark.parametrize("scores", ["all differ", "many are equal", "too far apart for keys"])
@pytest.mark.parametrize("clusters", [False, True])
def test_what_is_written_to_scores_afterwards_changes_no_audit(clusters: bool, scores: str) -> None:
    rng = np.random.default_rng(3)
    label, group, score = rng.random(3_000) < 0.3, rng.integers(0, 2, 3_000), rng.normal(size=3_000)
    if scores == "many are equal":
        score = np.round(score)
    elif scores == "too far apart for keys":
        score[:2] = [1e-310, -1e300]
    units = np.arange(3_000) // 2 if clusters else None
    expected = xorder.audit(label, score.copy(), sensitive_features=group, clusters=units).to_dict()
    found = xorder.audit(label, score, sensitive_features=group, clusters=units)
    tables = check_tables(label, score, group)
    score[:] = 0.0
    assert found.to_dict() == expected
    assert len(tables[0]) > 5


@pytest.mark.parametrize("levels", [1e9, 10])
def test_ranked_rows_may_be_asked_by_many_threads(levels: float) -> None:
    rng = np.random.default_rng(4)
    label, group = rng.random(50_000) < 0.3, rng.integers(0, 2, 50_000)
    tables = check_rows(label, np.round(rng.random(50_000) * levels), group).tables(settled=False)
    with ThreadPoolExecutor(8) as threads:
        found = [*threads.map(lambda number: (tables.ranking is None, tables[number % 2].n1), range(32))]
    assert {is_none for is_none, _ in found} == {levels == 10}
    assert {mass for _, mass in found} == {float((label & (group == each)).sum()) for each in (0, 1)}


def test_other_groups_of_the_same_tables_are_named_so() -> None:
    tables = xorder.ScoreTable.from_arrays([1, 0], [0.2, 0.1]), xorder.ScoreTable.from_arrays([1, 0], [0.4, 0.3])
    named = Tables(dict(zip("ab", tables, strict=True)))
    assert [*named.replacing(dict(zip("cd", tables, strict=True)))] == ["c", "d"]
    assert [*named.replacing(dict(zip("ab", tables, strict=True)))] == ["a", "b"]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), max_size=60),
    st.sampled_from([np.float32, np.float64]),
)
def test_numbers_of_rows_come_from_the_highest_score_down(values: list[float], dtype: type) -> None:
    score = np.array(values, dtype)
    rows, is_next = rows_in_order(score, falling_key)
    assert rows.tolist() == sorted(range(score.size), key=lambda row: (-score[row], row))
    falling = score[rows]
    assert is_next.tolist() == [True, *(falling[1:] != falling[:-1])][: score.size]


@pytest.mark.parametrize("kind", ["all differ", "pairs", "two values", "few", "tied", "some tied"])
def test_scores_that_differ_in_their_last_bits_are_told_apart(kind: str) -> None:
    # In ten thousand rows a key has no room for the last fourteen bits of a score.
    rng = np.random.default_rng(0)
    third = rng.integers(0, 3, 10_000)
    steps = {
        "all differ": rng.permutation(10_000),
        "pairs": rng.permutation(10_000) // 2 * 2**20 + rng.integers(0, 2, 10_000),
        "two values": rng.integers(0, 2, 10_000),
        "few": third * 2**20 + rng.integers(0, 2, 10_000),
        "tied": third * 2**20 + 1,
        "some tied": third * 2**20 + 1 + (third == 1) * rng.integers(0, 2, 10_000),
    }[kind]
    score = 0.5 + steps * 2.0**-53
    rows, is_next = rows_in_order(score, falling_key)
    assert np.array_equal(rows, np.argsort(-score, kind="stable"))
    assert np.array_equal(is_next[1:], np.diff(score[rows]) != 0)

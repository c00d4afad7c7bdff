"""Ranked rows hold every score to its last bit, and give the tables that counting row by row gives."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from support.effort import draws
from xorder._ranking import Ranking, rank_rows
from xorder._table import ScoreTable
from xorder._validation import check_rows

TINY = [5e-324, 2.2250738585072014e-308, 1e-45, 1e-38]


def scores_of(ranking: Ranking) -> list[float]:
    return np.concatenate([ranking.scores(keys) for keys in ranking.steps()]).tolist()


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
    codes = np.concatenate([ranking.codes(keys) for keys in ranking.steps()]).tolist()
    assert list(zip(scores_of(ranking), codes, strict=True)) == wanted
    assert ranking.counts.tolist() == np.bincount(code, minlength=6).tolist()


@pytest.mark.parametrize(
    ("low", "high", "dtype", "codes", "width"),
    [
        (0.0, 1.0, np.float64, 4, 64),
        (1e-3, 1.0, np.float32, 20, 32),
        (0.0, 1.0, np.float32, 4, 32),
        (-5.0, 5.0, np.float32, 4, 32),
        (-5.0, 5.0, np.float64, 40, 64),
        (-1e300, 1e300, np.float32, 4, 32),
    ],
)
def test_keys_are_as_narrow_as_the_scores_allow(
    low: float, high: float, dtype: type[np.floating], codes: int, width: int
) -> None:
    rng = np.random.default_rng(0)
    score = rng.uniform(max(low, -1e30), min(high, 1e30), 5000).astype(dtype)
    code = rng.integers(0, codes, score.size, dtype=np.uint8)
    ranking = rank_rows(score, code, codes)
    assert ranking is not None
    assert ranking.keys.dtype.itemsize * 8 == width
    assert scores_of(ranking) == np.sort(score)[::-1].tolist()


@pytest.mark.parametrize("codes", [2, 4, 200])
def test_single_precision_always_fits(codes: int) -> None:
    score = np.array([3e38, -3e38, 1e-45, -1e-45, 0, 2.5, -2.5], np.float32)
    ranking = rank_rows(score, np.full(score.size, codes - 1, np.uint8), codes)
    assert ranking is not None
    assert scores_of(ranking) == np.sort(score)[::-1].tolist()


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
    # Tables that are shorter than half the rows say all that is needed.
    assert (tables.ranking is None) == (2 * sum(map(len, tables.values())) < score.size)


def test_rows_of_one_score_are_in_one_step() -> None:
    score = np.repeat([0.5, 0.25, 0.125], [40_000, 10, 20_000])
    ranking = rank_rows(score, np.zeros(score.size, np.uint8), 2)
    assert ranking is not None
    assert [keys.size for keys in ranking.steps()] == [40_000, 20_010]

"""Rows in the order of a number are those of a plain sort, whatever bits a key has no room for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xorder._row_order import falling_rows


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), max_size=60),
    st.sampled_from([np.float32, np.float64]),
)
def test_rows_come_from_the_highest_score_down(values: list[float], dtype: type) -> None:
    score = np.array(values, dtype)
    rows, is_next = falling_rows(score)
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
    rows, is_next = falling_rows(score)
    assert np.array_equal(rows, np.argsort(-score, kind="stable"))
    assert np.array_equal(is_next[1:], np.diff(score[rows]) != 0)

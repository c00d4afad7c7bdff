"""Keys of scores: whole numbers that sort as the scores do, and give them back."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xorder.engines.score_keys import CELL_BITS, CELLS, FIRST_CELL, keys_of, scores_of

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE, min_size=1))
def test_keys_sort_as_scores_do_and_give_them_back(scores: list[float]) -> None:
    score = np.array(scores)
    keys = keys_of(score)
    for one, key in zip(score, keys, strict=True):
        assert np.array_equal(score < one, keys < key)
        assert np.array_equal(score == one, keys == key)
    assert np.array_equal(scores_of(keys), score)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_float32_has_the_key_of_the_same_number(scores: list[float]) -> None:
    assert np.array_equal(keys_of(np.array(scores, dtype=np.float32)), keys_of(np.array(scores)))


@given(FINITE)
def test_cells_are_narrow_and_few(score: float) -> None:
    cell = int(keys_of(np.array([score]))[0]) >> CELL_BITS
    assert FIRST_CELL <= cell < FIRST_CELL + CELLS
    ends = scores_of(np.array([cell << CELL_BITS, ((cell + 1) << CELL_BITS) - 1]))
    assert ends[0] <= score <= ends[1]
    if abs(score) > 1e-300:
        assert ends[1] - ends[0] <= abs(score) / 256


def test_both_zeros_are_one_score() -> None:
    assert keys_of(np.array([0.0, -0.0])).tolist() == [0, 0]

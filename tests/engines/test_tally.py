"""Keys sort as scores do and give them back; bins hold each key in its place, and lie where pairs meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xorder.engines._tally import (
    CELL_BITS,
    CELLS,
    FIRST_CELL,
    Bins,
    Counted,
    Leaves,
    bin_of,
    split_leaves,
    spread_of,
)
from xorder.engines._tally_numpy import keys_of, scores_of

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCORES = st.lists(FINITE, min_size=1, max_size=30)


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


@pytest.mark.slow
@given(scores=SCORES, parts=st.lists(st.integers(1, 1 << 21), min_size=30, max_size=30))
def test_a_leaf_spans_the_keys_of_its_bin(scores: list[float], parts: list[int]) -> None:
    keys = np.sort(keys_of(np.array(scores)))
    cells = np.unique(keys >> CELL_BITS)
    # Few bins in all, as sums are kept for each.
    bins = Bins(cells, 1 << np.array(parts[: cells.size]) % 6)
    found = bin_of(keys, *bins.lookup())
    assert np.all(np.diff(found) >= 0)
    assert found.max() < len(bins)
    sums = np.zeros((1, len(bins), 2))
    np.add.at(sums[0, :, 1], found, 1.0)
    leaves = bins.leaves(sums)
    assert np.all(leaves.first <= leaves.last)
    assert np.all(leaves.last[:-1] < leaves.first[1:])
    at = np.searchsorted(leaves.first, keys, side="right") - 1
    assert np.all(keys <= leaves.last[at])
    assert leaves.masses[:, 1].tolist() == np.bincount(at, minlength=len(leaves)).tolist()
    for end in (leaves.first, leaves.last):
        assert bin_of(end, *bins.lookup()).tolist() == list(range(len(bins)))


def test_bins_go_where_two_samples_meet() -> None:
    cells = keys_of(np.array([0.25, 0.5, 1.0])) >> CELL_BITS
    masses = np.array([[80.0, 80.0], [20.0, 20.0], [0.0, 0.0]])
    bins = Bins.for_masses(cells, masses, 1000)
    assert bins.parts.tolist() == [1024, 256, 1]


@given(scores=SCORES, shift=st.sampled_from([0, 2, 20, 44]))
def test_parts_of_a_leaf_lie_in_it_and_apart(scores: list[float], shift: int) -> None:
    keys = np.unique(keys_of(np.array(scores)))
    first, place = np.unique(keys >> CELL_BITS, return_inverse=True)
    leaves = Leaves(first << CELL_BITS, (first << CELL_BITS) + ((1 << CELL_BITS) - 7), np.ones((1, first.size, 2)))
    keys = np.minimum(keys, leaves.last[place])
    packed = (place << CELL_BITS) + ((keys - leaves.first[place]) << spread_of(leaves)[place])
    distinct = np.unique(packed >> shift)
    parts = split_leaves(leaves, Counted(shift, distinct, np.ones((1, distinct.size, 2))))
    assert len(parts) == distinct.size
    assert np.all(parts.last[:-1] < parts.first[1:])
    at = np.searchsorted(parts.first, keys, side="right") - 1
    assert np.all(keys <= parts.last[at])
    assert parts.is_exact.all() == (shift == 0)


def test_leaves_of_one_key_are_exact() -> None:
    keys = keys_of(np.array([0.25, 0.5]))
    leaves = Leaves(keys, keys, np.ones((1, 2, 2)))
    assert leaves.is_exact.all()
    assert scores_of(leaves.first).tolist() == [0.25, 0.5]
    assert len(leaves[~leaves.is_exact] + leaves) == 2

"""Holm's rule against its definition, and ten rows of each class as the least that says something."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xorder import ScoreTable
from xorder.metrics._verdict import holm, is_too_few


@given(pvalues=st.lists(st.floats(0, 1), max_size=8), level=st.floats(0.001, 0.5))
def test_holm_rejects_what_the_sequential_test_rejects(pvalues: list[float], level: float) -> None:
    adjusted = holm(pvalues)
    left, rejected = sorted(range(len(pvalues)), key=lambda i: pvalues[i]), set()
    while left and pvalues[left[0]] * len(left) <= level:
        rejected.add(left.pop(0))
    assert {i for i in range(len(pvalues)) if adjusted[i] <= level} == rejected


def test_what_is_not_known_does_not_count() -> None:
    np.testing.assert_allclose(holm([0.01, np.nan, 0.04]), [0.02, np.nan, 0.04])


@pytest.mark.parametrize(
    ("positives", "negatives", "few"), [(10, 10, False), (9, 10, True), (10, 9, True), (0, 50, True)]
)
def test_ten_of_each_class(positives: int, negatives: int, few: bool) -> None:
    label = [1] * positives + [0] * negatives
    assert is_too_few(ScoreTable.from_arrays(label, np.arange(len(label)))) is few


def test_weights_of_a_design_count_as_many_rows_as_tell_as_much() -> None:
    label = np.repeat([1, 0], 10)
    even, uneven = np.ones(20), np.where(np.arange(20) % 10 == 0, 100.0, 1.0)
    assert not is_too_few(ScoreTable.from_arrays(label, np.arange(20), even, squares=True))
    assert is_too_few(ScoreTable.from_arrays(label, np.arange(20), uneven, squares=True))

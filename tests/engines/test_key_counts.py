"""Masses by key: those that a dict adds up, also where keys meet in the table or become too many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xorder.engines import key_counts
from xorder.engines.key_counts import KeyCounts

KEYS = st.one_of(st.integers(-5, 5), st.integers(-(1 << 62), 1 << 62))


@pytest.fixture(autouse=True)
def tiny_table(monkeypatch: pytest.MonkeyPatch) -> None:
    # With four places, nearly all keys meet.
    monkeypatch.setattr(key_counts, "_TABLE_BITS", 2)


@pytest.mark.slow
@given(
    batches=st.lists(st.lists(st.tuples(KEYS, st.integers(0, 2), st.integers(0, 9)), max_size=20), max_size=5),
    limit=st.integers(1, 30),
)
def test_sums_are_those_of_a_dict(batches: list[list[tuple[int, int, int]]], limit: int) -> None:
    shifts = (0, 3, 40, 62)
    counts = KeyCounts(3, limit=limit, shifts=shifts, sums=2)
    wanted: dict[tuple[int, int], int] = {}
    for batch in batches:
        keys, columns, weights = (np.array([row[place] for row in batch], dtype=np.int64) for place in range(3))
        counts.add(keys, columns, [weights.astype(float), weights.astype(float) ** 2])
        for key, column, weight in batch:
            wanted[key, column] = wanted.get((key, column), 0) + weight
    distinct = [len({key >> shift for key, _ in wanted}) for shift in shifts]
    least = next((shift for shift, size in zip(shifts, distinct, strict=True) if size <= limit), shifts[-1])
    assert counts.shift == least
    assert sorted(counts.keys.tolist()) == sorted({key >> least for key, _ in wanted})
    for slot, key in enumerate(counts.keys.tolist()):
        for column in range(3):
            total = sum(mass for (old, of), mass in wanted.items() if old >> least == key and of == column)
            assert counts.masses[0, slot, column] == total
    assert counts.masses[1].sum() == sum(weight**2 for batch in batches for _, _, weight in batch)


def test_rows_without_weights_count_one() -> None:
    counts = KeyCounts(2, limit=10)
    for _ in range(3):
        counts.add(np.array([7, 7, 8]), np.array([0, 1, 1], dtype=np.int16))
    order = np.argsort(counts.keys)
    assert counts.masses[0][order].tolist() == [[3, 3], [0, 3]]

import json
import tracemalloc
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.effort import draws, some
from support.real_data import data_file
from support.tables import table, tied_tables
from xorder import ScoreTable, order
from xorder._metric import METRICS
from xorder.ordering._ordering import path_ordering

TRADEOFFS = [Fraction(0), Fraction(1, 4), Fraction(1), Fraction(10**6)]
ROOT = Path(__file__).resolve().parents[2]


def algorithm_one(a, b, metric: str, tradeoff: Fraction) -> list[int]:
    """The paper's Algorithm 1, cell by cell, in exact arithmetic: for each score of a, those of b above it."""
    a = [(Fraction(p), Fraction(n)) for p, n in zip(a.positive, a.negative, strict=True)]
    b = [(Fraction(p), Fraction(n)) for p, n in zip(b.positive, b.negative, strict=True)]
    n1a, n0a, n1b, n0b = (sum(row[k] for row in rows) for rows in (a, b) for k in (0, 1))
    pairs = (n1a + n1b) * (n0a + n0b)
    n0 = n0a + n0b

    below_in = {id(rows): [sum(negative for _, negative in rows[k:]) for k in range(len(rows) + 1)] for rows in (a, b)}

    def negatives_after(rows, count):
        return below_in[id(rows)][count]

    def half_way(s, t):
        below_a, below_b = (n0b, n0a) if metric == "xauc" else (n0, n0)
        gap = s / (n1a * below_a) - t / (n1b * below_b)
        return (s + t) / pairs - tradeoff * abs(gap)

    best = {(0, 0): (Fraction(0), Fraction(0), [])}
    for i, j in product(range(len(a) + 1), range(len(b) + 1)):
        if (i, j) == (0, 0):
            continue
        options = []
        if j > 0:
            s, t, path = best[i, j - 1]
            positive, negative = b[j - 1]
            below = negatives_after(a, i)
            if metric == "prf":
                below += negatives_after(b, j) + negative / 2
            options.append((s, t + positive * below, path))
        if i > 0:
            s, t, path = best[i - 1, j]
            positive, negative = a[i - 1]
            below = negatives_after(b, j)
            if metric == "prf":
                below += negatives_after(a, i) + negative / 2
            options.append((s + positive * below, t, [*path, j]))
        chosen = options[0]
        if len(options) == 2 and half_way(*options[1][:2]) > half_way(*options[0][:2]):
            chosen = options[1]
        best[i, j] = chosen
    return best[len(a), len(b)][2]


def label_strings(longest):
    return [
        "".join(labels)
        for size in range(2, longest + 1)
        for labels in product("01", repeat=size)
        if len(set(labels)) == 2
    ]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf"])
@pytest.mark.parametrize("tradeoff", TRADEOFFS)
def test_every_small_case_is_algorithm_one(metric, tradeoff):
    for labels_a, labels_b in some(product(label_strings(4), repeat=2), start=TRADEOFFS.index(tradeoff)):
        a, b = table(labels_a), table(labels_b)
        expected = algorithm_one(a, b, metric, tradeoff)
        got = order(a, b, metric=metric, tradeoff=float(tradeoff), solver="dp").b_above.tolist()
        assert got == expected, (labels_a, labels_b)


rows = st.text("01", min_size=2, max_size=12).filter(lambda labels: len(set(labels)) == 2)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf"])
@given(labels_a=rows, labels_b=rows, tradeoff=st.fractions(0, 5, max_denominator=64) | st.just(Fraction(10**6)))
@settings(max_examples=draws(60), deadline=None)
def test_it_is_algorithm_one(metric, labels_a, labels_b, tradeoff):
    a, b = table(labels_a), table(labels_b)
    ordering = order(a, b, metric=metric, tradeoff=float(tradeoff), solver="dp")
    assert ordering.b_above.tolist() == algorithm_one(a, b, metric, tradeoff)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf"])
@given(a=tied_tables(more=4), b=tied_tables(more=4), tradeoff=st.fractions(0, 5, max_denominator=64))
@settings(max_examples=draws(60), deadline=None)
def test_tied_rows_are_algorithm_one_on_scores(metric, a, b, tradeoff):
    ordering = order(a, b, metric=metric, tradeoff=float(tradeoff), solver="dp")
    assert ordering.b_above.tolist() == algorithm_one(a, b, metric, tradeoff)


def test_a_tie_between_the_moves_goes_to_b():
    # Neither negative changes anything, so both ways to reach each inner cell tie: b is placed last throughout.
    ordering = order(table("100"), table("100"), tradeoff=0.0, solver="dp")
    assert ordering.b_above.tolist() == [0, 1, 1]


@pytest.mark.slow
def test_orderings_of_the_original_implementation():
    cases = json.loads(data_file("original/dp_orderings.json").read_text(encoding="utf-8"))
    assert len(cases) == 144
    for case in cases:
        ordering = order(
            table(case["ya"]), table(case["yb"]), metric=case["metric"], tradeoff=case["tradeoff"], solver="dp"
        )
        assert ordering.auc == pytest.approx(case["auc"], abs=1e-9)
        assert ordering.gap == pytest.approx(case["disparity"], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
def test_memory_is_one_bit_a_cell(metric):
    rng = np.random.default_rng(3)
    a, b = (ScoreTable.from_arrays(rng.integers(0, 2, size), rng.random(size)) for size in (2000, 1500))
    tracemalloc.start()
    try:
        order(a, b, metric=metric, solver="dp")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    cells, scores = len(a) * len(b), len(a) + len(b)
    # A byte a cell would be 3 MB.
    assert peak < cells / 8 + 400 * scores


def test_a_large_lattice_is_quick_and_better_than_no_change():
    rng = np.random.default_rng(4)
    label = rng.random(6000) < 0.3
    score = rng.normal(size=6000) + label - 0.8 * (np.arange(6000) < 2000)
    a, b = (ScoreTable.from_arrays(label[part], score[part]) for part in (slice(2000), slice(2000, None)))
    as_is = np.searchsorted(-b.score, -a.score)
    ordering = order(a, b, tradeoff=1.0, solver="dp")
    before = path_ordering(a, b, as_is, METRICS["xauc"].gains(a, b), 1.0, "as it is")
    assert abs(ordering.gap) < 0.01 < abs(before.gap)
    assert ordering.objective > before.objective

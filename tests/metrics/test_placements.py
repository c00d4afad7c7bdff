"""The sweep finds the placement of every row, in steps of any size, for masses of any size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xorder._ranking as ranking_module
import xorder.metrics._placements as module
from support.drawn_rows import Rows, rows
from support.oracles import beats
from xorder import ScoreTable
from xorder._ranking import rank_rows
from xorder.metrics._placements import Moments, Placements, moments, moments_of_rows


def placements(data: Rows, row: int, others: np.ndarray) -> float:
    """Share of the other rows' weight that a row outranks, one by one."""
    w = np.ones(len(data.y)) if data.w is None else data.w
    total = sum(w[other] for other in np.flatnonzero(others))
    won = sum(w[other] * beats(data.s[row], data.s[other]) for other in np.flatnonzero(others))
    return won / total if total else np.nan


def missing(data: Rows, kind: str) -> np.ndarray:
    """Which groups have no mass of the class in which a sample is placed."""
    w = np.ones(len(data.y)) if data.w is None else data.w
    among = {"positive": data.y == 0, "negative": data.y == 1, "row": data.y >= 0}[kind]
    return np.array([not w[among & (data.g == group)].any() for group in data.groups])


def expected_sums(data: Rows, kind: str, group: str, spread: np.ndarray) -> Placements:
    """Return the sums that the sweep should collect of a sample, row by row."""
    w = np.ones(len(data.y)) if data.w is None else data.w
    label = {"positive": 1, "negative": 0}.get(kind)
    sums = Placements(len(data.groups))
    sums.first[missing(data, kind)] = np.nan
    for row in np.flatnonzero(data.g == group):
        if w[row] and label in (None, data.y[row]):
            place = np.array(
                [
                    placements(data, row, (data.g == other) & ((label is None) | (data.y != label)))
                    for other in data.groups
                ]
            )
            # for a negative it is the share of positives that outrank it
            place = (1 - place if kind == "negative" else place) - 0.5
            sums.mass += w[row]
            sums.spread += spread[row]
            sums.first += w[row] * place
            sums.spread_first += spread[row] * place
            sums.spread_second += spread[row] * np.outer(place, place)
    return sums


def assert_same_placements(found: Placements, expected: Placements, tolerance: float = 1e-12) -> None:
    """Compare all sums; those of placements in a class without mass mean nothing, but are never numbers."""
    known = np.flatnonzero(~np.isnan(expected.first))
    assert np.all(np.isnan(np.delete(found.first, known)) | (found.mass == 0))
    for name in ("mass", "spread", "first", "spread_first", "spread_second"):
        one, two = np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))
        for _ in range(one.ndim):
            one, two = one[known].T, two[known].T
        np.testing.assert_allclose(one, two, rtol=tolerance, atol=tolerance, err_msg=name)


def assert_same(found: Moments, expected: Moments, tolerance: float = 1e-12) -> None:
    for kind in ("positive", "negative", "row"):
        for one, two in zip(getattr(found, kind), getattr(expected, kind), strict=True):
            assert_same_placements(one, two, tolerance)
    assert_same_placements(found.all_positive, expected.all_positive, tolerance)
    assert_same_placements(found.all_negative, expected.all_negative, tolerance)
    np.testing.assert_allclose(found.xauc, expected.xauc, rtol=1e-12)
    np.testing.assert_allclose(found.above, expected.above, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["positive", "negative", "row"])
@given(data=rows())
def test_sums_are_those_of_each_rows_placements(kind, data):
    m = moments(data.tables)
    w = np.ones(len(data.y)) if data.w is None else data.w
    for group, found in zip(data.groups, getattr(m, kind), strict=True):
        assert_same_placements(found, expected_sums(data, kind, group, w))


@pytest.mark.slow
@given(data=rows())
def test_spreads_take_the_place_of_masses_in_the_squares_only(data):
    w = np.ones(len(data.y)) if data.w is None else data.w
    m = moments(Rows(data.y, data.s, data.g, w).sampled_tables)
    for group, found in zip(data.groups, m.negative, strict=True):
        assert_same_placements(found, expected_sums(data, "negative", group, w**2))


@pytest.mark.slow
@given(data=rows())
def test_masses_of_the_classes(data):
    m = moments(data.tables)
    w = np.ones(len(data.y)) if data.w is None else data.w
    for group, n1, n0 in zip(data.groups, m.positives, m.negatives, strict=True):
        assert n1 == pytest.approx(w[(data.g == group) & (data.y == 1)].sum(), rel=1e-14)
        assert n0 == pytest.approx(w[(data.g == group) & (data.y == 0)].sum(), rel=1e-14)
    assert m.all_positive.mass == pytest.approx(m.positives.sum())
    assert m.all_negative.mass == pytest.approx(m.negatives.sum())


@pytest.mark.slow
@given(data=rows(max_rows=40), step=st.integers(1, 5))
def test_steps_of_any_size_give_the_same(data, step):
    whole = moments(data.tables)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "STEP", step)
        assert_same(moments(data.tables), whole)


def test_ties_across_groups_at_every_boundary():
    # Every score of the first group is also one of the second, and boundaries of 3 fall on each of them in turn.
    y = np.tile([1, 0], 40)
    s = np.repeat(np.arange(20), 4)
    g = np.tile(["a", "b", "b", "a"], 20)
    data = Rows(y, s, g, None)
    for shift in range(4):
        part = Rows(y[shift:], s[shift:], g[shift:], None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "STEP", 3)
            stepped = moments(part.tables)
        for group, found in zip(part.groups, stepped.positive, strict=True):
            assert_same_placements(found, expected_sums(part, "positive", group, np.ones(len(part.y))), 1e-11)
    assert len(data.tables[0]) > 6


def test_the_real_step_is_crossed():
    rng = np.random.default_rng(5)
    size = 4 * module.STEP
    y, g = rng.integers(0, 2, size), rng.integers(0, 2, size)
    s = rng.integers(0, size // 2, size)
    data = Rows(y, s, g, None)
    assert min(map(len, data.tables)) > module.STEP
    whole = moments(data.tables)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "STEP", 10 * size)
        # Sums of so many placements, some of which add up to 0, are the same to the last digits of a single one.
        assert_same(moments(data.tables), whole, tolerance=1e-15 * size)


def exact_xauc(above: ScoreTable, below: ScoreTable) -> Fraction:
    won = sum(
        Fraction(p) * Fraction(n) * Fraction(beats(s, t))
        for s, p in zip(above.score.tolist(), above.positive.tolist(), strict=True)
        for t, n in zip(below.score.tolist(), below.negative.tolist(), strict=True)
    )
    return won / (sum(map(Fraction, above.positive.tolist())) * sum(map(Fraction, below.negative.tolist())))


@pytest.mark.parametrize("largest", [1e3, 1e12])
def test_large_masses_against_exact_fractions(largest):
    rng = np.random.default_rng(8)
    tables = [
        ScoreTable(
            np.sort(rng.choice(200, 60, replace=False))[::-1],
            np.floor(10 ** rng.uniform(0, np.log10(largest), 60)),
            np.floor(10 ** rng.uniform(0, np.log10(largest), 60)),
        )
        for _ in range(3)
    ]
    m = moments(tables)
    for g, above in enumerate(tables):
        for h, below in enumerate(tables):
            assert m.xauc[g, h] == pytest.approx(float(exact_xauc(above, below)), rel=0, abs=1e-14)


def test_scores_at_the_ends_of_the_range():
    ends = [1.7e308, 1e-300, 5e-324, 0.0, -5e-324, -1.7e308]
    y = [1, 0, 1, 0, 1, 0]
    data = Rows(np.tile(y, 2), np.array(ends + ends), np.repeat(["a", "b"], 6), None)
    ranks = Rows(data.y, -np.tile(np.arange(6.0), 2), data.g, None)
    assert_same(moments(data.tables), moments(ranks.tables))


def test_a_table_without_mass_is_a_group_of_nan():
    one = ScoreTable.from_arrays([1, 0, 1], [0.9, 0.5, 0.1])
    m = moments([one, ScoreTable.from_arrays([], [])])
    assert m.xauc[0, 0] == 0.5
    assert np.isnan(m.xauc[0, 1])
    assert np.isnan(m.xauc[1]).all()
    assert m.all_positive.mass == 2


def test_scatter_is_the_sum_of_squares_around_a_center():
    rng = np.random.default_rng(2)
    place, mass, spread = rng.uniform(0, 1, (3, 50)), rng.uniform(0, 2, 50), rng.uniform(0, 2, 50)
    sample = Placements(3)
    sample.add(place[:, :20] - 0.5, mass[:20], spread[:20])
    sample.add(place[:, 20:] - 0.5, mass[20:], spread[20:])
    weights = np.array([0.7, 0.0, -0.4])
    expected = np.sum(spread * (weights @ place - 0.3) ** 2)
    assert sample.scatter(weights, 0.3) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(sample.mean(), np.average(place, axis=1, weights=mass), rtol=1e-13)
    assert np.isnan(Placements(3).mean()).all()


def test_more_groups_than_a_byte_can_number() -> None:
    rng = np.random.default_rng(3)
    tables = [ScoreTable.from_arrays([1, 0, 1, 0], rng.integers(0, 9, 4)) for _ in range(300)]
    found = moments(tables).xauc
    for a, b in ((0, 256), (255, 257), (299, 1), (43, 299)):
        one, two = tables[a], tables[b]
        wins = (one.score[:, None] > two.score) + 0.5 * (one.score[:, None] == two.score)
        assert found[a, b] == pytest.approx(one.positive @ wins @ two.negative / (one.n1 * two.n0), abs=1e-12)


def ranked(data: Rows) -> Moments:
    """Moments by ranked rows, whose weights do not count."""
    code = 2 * np.searchsorted(data.groups, data.g) + data.y
    found = rank_rows(np.asarray(data.s, dtype=np.float64), code.astype(np.uint8), 2 * len(data.groups))
    assert found is not None
    return moments_of_rows(found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["positive", "negative", "row"])
@given(data=rows(max_rows=40), step=st.integers(1, 5))
def test_ranked_rows_are_placed_one_by_one(kind, data, step):
    data = Rows(data.y, data.s, data.g, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking_module, "_STEP", step)
        found = ranked(data)
    for group, sample in zip(data.groups, getattr(found, kind), strict=True):
        assert_same_placements(sample, expected_sums(data, kind, group, np.ones(len(data.y))))


@pytest.mark.parametrize(("levels", "groups"), [(None, 2), (40_000, 2), (40_000, 7), (None, 100)])
def test_ranked_rows_say_what_tables_say(levels, groups):
    rng = np.random.default_rng(6)
    s = rng.uniform(1e-3, 1, 60_000) if levels is None else rng.integers(0, levels, 60_000)
    data = Rows(rng.integers(0, 2, s.size), s, rng.integers(0, groups, s.size), None)
    assert_same(ranked(data), moments(data.tables), tolerance=1e-15 * s.size)

"""Groups on one axis: counted, thinned, along all positions of one of them, and read off tables."""

from __future__ import annotations

import numpy as np
import pytest

from support.tables import noisy_table, random_table
from xorder import ScoreTable
from xorder.ordering import as_scored, standing
from xorder.ordering._multipliers import ChanceTables, ShiftedGroups

METRICS = ("xauc", "prf", "parity")


class Same:
    """A curve that says the score itself is the log odds."""

    def log_odds(self, score):
        return np.asarray(score, dtype=float)


def shifted_groups(rng: np.random.Generator, sizes: tuple[int, ...], metric: str) -> ShiftedGroups:
    tables = [noisy_table(rng, rows, shift=0.3 * g) for g, rows in enumerate(sizes)]
    return ShiftedGroups(tables, [Same()] * len(sizes), metric)


@pytest.mark.parametrize("metric", METRICS)
def test_two_groups_as_scored(metric: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = random_table(rng, 9), random_table(rng, 9)
        auc, gaps, _ = standing([a, b], metric)
        assert (auc, gaps[0, 1]) == pytest.approx(as_scored(a, b, metric), abs=1e-12)
        np.testing.assert_array_equal(gaps, -gaps.T)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("sizes", [(9, 7), (6, 8, 5)])
def test_a_path_is_what_is_counted_between_its_flips(metric: str, sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    groups = shifted_groups(rng, sizes, metric)
    shift = rng.normal(size=len(sizes))
    for g in range(len(sizes)):
        flips, auc, gaps = groups.along(shift, g)
        between = np.concatenate([[flips[0] - 1], (flips[1:] + flips[:-1]) / 2, [flips[-1] + 1]])
        for index in np.flatnonzero(np.append(True, np.diff(between) > 1e-9)):
            at = shift.copy()
            at[g] = between[index]
            if np.isin(between[index], flips):
                continue
            counted_auc, counted_gaps = groups.measure(at)
            assert auc[index] == pytest.approx(float(counted_auc), abs=1e-12)
            np.testing.assert_allclose(gaps[:, index], counted_gaps, atol=1e-12)


def test_scores_of_one_position_are_one() -> None:
    class Coarse:
        def log_odds(self, score):
            return np.floor(score)

    table = ScoreTable([2.5, 2.2, 1.0], [1.0, 2.0, 0.0], [0.0, 1.0, 3.0])
    groups = ShiftedGroups([table, table], [Coarse(), Same()], "xauc")
    assert groups.tables == [ScoreTable([2.0, 1.0], [3.0, 0.0], [1.0, 3.0]), table]


@pytest.mark.parametrize("metric", METRICS)
def test_thinned_groups_and_tables_come_close_to_counts(metric: str) -> None:
    rng = np.random.default_rng(3)
    tables = [ScoreTable.from_arrays(rng.random(4000) < 0.3, rng.normal(0.2 * g, 1, 4000)) for g in range(3)]
    groups = ShiftedGroups(tables, [Same()] * 3, metric)
    read = ChanceTables(groups)
    for _ in range(10):
        shift = rng.normal(0, 0.5, 3)
        auc, gaps = groups.measure(shift)
        for close in (groups.thinned(200), read):
            close_auc, close_gaps = close.measure(shift)
            assert float(close_auc) == pytest.approx(float(auc), abs=1e-3)
            np.testing.assert_allclose(close_gaps, gaps, atol=1e-3)


@pytest.mark.parametrize("metric", METRICS)
def test_slopes_are_those_of_the_tables(metric: str) -> None:
    rng = np.random.default_rng(4)
    read = ChanceTables(shifted_groups(rng, (300, 200, 400), metric))
    shift, small = rng.normal(0, 0.3, 3), 1e-7
    auc_slope, gap_slope = read.slopes(shift)
    for g in range(3):
        up = shift.copy()
        up[g] += small
        (auc, gaps), (next_auc, next_gaps) = read.measure(shift), read.measure(up)
        assert auc_slope[g] == pytest.approx(float(next_auc - auc) / small, abs=1e-5)
        np.testing.assert_allclose(gap_slope[g], (next_gaps - gaps) / small, atol=1e-5)

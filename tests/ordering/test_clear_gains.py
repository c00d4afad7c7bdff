"""When the search on tables spares an exact count, and how many cuts the bound of PRF may take."""

from __future__ import annotations

import numpy as np
import pytest

from xorder import ScoreTable
from xorder.ordering import CALIBRATIONS, _bounds
from xorder.ordering._chance_tables import Compressed
from xorder.ordering._descent import Goal, measure, worst_gap
from xorder.ordering._multipliers import _clearly_better
from xorder.ordering._shifted_groups import Placed


def tables_of(groups: int, rows: int, seed: int = 0) -> list[ScoreTable]:
    rng = np.random.default_rng(seed)
    found = []
    for group in range(groups):
        risk = rng.normal(size=rows)
        y = rng.random(rows) < 1 / (1 + np.exp(-risk))
        score = 1 / (1 + np.exp(-risk - rng.normal(size=rows) + 0.3 * group))
        found.append(ScoreTable.from_arrays(y.astype(int), score))
    return found


class TestClearlyBetter:
    tables = tables_of(3, 800)
    placed = Placed(tables, [CALIBRATIONS["logistic"](table, unit=True) for table in tables], "xauc")
    compressed = Compressed(placed)
    none, some, lots = np.zeros(3), np.array([0.0, 0.1, 0.0]), np.array([0.0, 2.0, 0.0])

    def told(self, shift):
        auc, gaps = measure(self.placed, self.compressed.chances, shift)
        return float(auc), float(worst_gap(gaps))

    def test_a_trifle_beyond_a_limit_is_no_clear_loss(self):
        gaps = [self.told(shift)[1] for shift in (self.none, self.some)]
        better, worse = (self.none, self.some) if gaps[0] < gaps[1] else (self.some, self.none)
        # One just within the limit, the other beyond it by a millionth.
        goal = Goal(None, max(gaps) - 1e-6)
        assert not _clearly_better(self.compressed, goal, better, worse)

    @pytest.mark.parametrize("goal", [Goal(None, 0.0), Goal(None, 0.1), Goal(1.0, 0.0)], ids=str)
    def test_a_gap_far_beyond_it_is(self, goal):
        assert self.told(self.lots)[1] > 0.2 + self.told(self.none)[1]
        assert _clearly_better(self.compressed, goal, self.none, self.lots)
        assert not _clearly_better(self.compressed, goal, self.lots, self.none)

    def test_within_a_limit_auc_decides(self):
        assert self.told(self.none)[0] > 0.02 + self.told(self.lots)[0]
        assert _clearly_better(self.compressed, Goal(None, 1.0), self.none, self.lots)
        assert not _clearly_better(self.compressed, Goal(None, 1.0), self.lots, self.none)
        assert not _clearly_better(self.compressed, Goal(None, 1.0), self.none, self.none)


@pytest.mark.slow
def test_the_bound_may_take_more_cuts_the_more_groups_there_are(monkeypatch):
    tables = tables_of(8, 60)
    taken = []
    prf = _bounds.Merges.prf
    monkeypatch.setattr(_bounds.Merges, "prf", lambda self, weights: taken.append(1) or prf(self, weights))
    monkeypatch.setattr(_bounds, "TOLERANCE", -1.0)
    _bounds.prf_bound(tables, tradeoff=1.0, allowed=0.0)
    assert len(taken) == 400
    monkeypatch.setattr(_bounds, "_FEWEST_CUTS", 10)
    _bounds.prf_bound(tables, tradeoff=1.0, allowed=0.0)
    assert len(taken) == 400 + 12 * 8

"""Places in the list, against counting people one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from support.drawn_rows import Rows, rows
from xorder import ScoreTable
from xorder.metrics._cuts import CUTS
from xorder.reporting._ranks import group_moves, moves_of, standing


def counted_top(drawn: Rows, group: str, share: float) -> dict[str, float | None]:
    """Walk down the list, score by score; of the score at the cut, take the same part of everyone."""
    weight = np.ones(len(drawn.y)) if drawn.w is None else drawn.w
    room = share * weight.sum()
    taken = np.zeros(len(drawn.y))
    for score in sorted(set(drawn.s.tolist()), reverse=True):
        here = drawn.s == score
        there = weight[here].sum()
        if there > 0:
            taken[here] = min(1.0, room / there)
            room = max(room - there, 0.0)
    mine = drawn.g == group
    in_top = (taken * weight * mine).sum()
    positive = (taken * weight * mine * (drawn.y == 1)).sum()
    everyone, positives = (weight * mine).sum(), (weight * mine * (drawn.y == 1)).sum()
    return {
        "share": in_top / (share * weight.sum()),
        "precision": positive / in_top if in_top > 1e-12 else None,
        "selected": in_top / everyone if everyone > 0 else None,
        "found": positive / positives if positives > 0 else None,
    }


@pytest.mark.slow
@given(drawn=rows())
def test_the_top_is_that_of_walking_down_the_list(drawn: Rows) -> None:
    place = standing(drawn.tables)
    for share in (*CUTS, 0.5):
        for group, found in zip(drawn.groups, place.top(share), strict=True):
            for name, expected in counted_top(drawn, group, share).items():
                if expected is None:
                    assert found[name] is None or (name == "precision" and found["share"] < 1e-9)
                else:
                    assert found[name] == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@given(drawn=rows())
def test_shares_of_the_top_add_up(drawn: Rows) -> None:
    place = standing(drawn.tables)
    for share in CUTS:
        assert sum(row["share"] for row in place.top(share)) == pytest.approx(1.0)


@pytest.mark.slow
@given(drawn=rows())
def test_percentiles_are_shares_of_people_below(drawn: Rows) -> None:
    place = standing(drawn.tables)
    weight = np.ones(len(drawn.y)) if drawn.w is None else drawn.w
    for g, table in enumerate(drawn.tables):
        for score, found in zip(table.score, place.percentile(g), strict=True):
            below = weight[drawn.s < score].sum() + weight[drawn.s == score].sum() / 2
            assert found == pytest.approx(below / weight.sum())


def test_ties_at_the_cut_are_split_alike() -> None:
    # Ten people share the one score: each group gets its part of any top.
    table = ScoreTable.from_arrays([1] * 4 + [0] * 1, [0.5] * 5)
    other = ScoreTable.from_arrays([1] * 1 + [0] * 4, [0.5] * 5)
    for row, precision in zip(standing([table, other]).top(0.2), (0.8, 0.2), strict=True):
        assert (row["share"], row["selected"]) == (pytest.approx(0.5), pytest.approx(0.2))
        assert row["precision"] == pytest.approx(precision)


def test_moves_are_counted_by_people() -> None:
    change = np.array([0.05, 0.01, 0.0, -0.02])
    found = moves_of(np.array([1.0, 2.0, 6.0, 1.0]), change)
    assert found["mean"] == pytest.approx((0.05 + 0.02 - 0.02) / 10)
    assert (found["low"], found["median"], found["high"]) == (-0.02, 0.0, 0.01)
    assert (found["up"], found["down"]) == (pytest.approx(0.3), pytest.approx(0.1))


def test_moves_of_nobody_are_not_known() -> None:
    table = ScoreTable.from_arrays([0, 0], [0.5, 0.2])
    found = group_moves(table, np.array([0.1, 0.1]))
    assert found["positive"] == dict.fromkeys(found["positive"])
    assert found["negative"]["mean"] == pytest.approx(0.1)

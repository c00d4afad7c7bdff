"""Few levels of a score, shared by all groups: no repair may be worse than the scores as they are."""

from __future__ import annotations

import warnings
from itertools import combinations, product

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import xorder
from xorder import XOrder
from xorder.exceptions import XorderWarning
from xorder.metrics import parity_difference, prf_difference, xauc_difference

GAP_OF = {"xauc": xauc_difference, "prf": prf_difference, "parity": parity_difference}
GOALS = ({}, {"max_gap": 0.05}, {"tradeoff": 1.0})


def levels_of(levels: int, groups: int, seed: int, rows: int = 240, lower: float = 0.15):
    """People of several groups, one read somewhat lower than the others, on a score of a few levels."""
    rng = np.random.default_rng(seed)
    group = np.arange(rows) % groups
    need = rng.random(rows)
    y = (rng.random(rows) < 0.1 + 0.8 * need).astype(int)
    seen = np.clip(need - lower * (group == 1) * rng.random(rows), 0, 0.999)
    return (np.floor(seen * levels) + 0.5) / levels, y, np.array(list("ABCD"))[group]


def worth(score, y, group, metric, goal):
    """What the goal makes of scores, the higher the better: a pair for a limit, a number for a tradeoff."""
    pairs = combinations(np.unique(group), 2)
    worst = max(abs(GAP_OF[metric](y, score, sensitive_features=group, pair=pair)) for pair in pairs)
    auc = roc_auc_score(y, score)
    if "tradeoff" in goal:
        return (round(auc - goal["tradeoff"] * worst, 9),)
    return (-round(max(worst - goal.get("max_gap", 0.0), 0.0), 8), round(auc, 9))


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS, ids=str)
@pytest.mark.parametrize("metric", GAP_OF)
def test_no_repair_is_worse_than_none(metric, goal):
    left, repaired = 0, 0
    # Careful at every other of these, and at the others for the next metric or goal.
    turn = list(GAP_OF).index(metric) + GOALS.index(goal)
    for place, (levels, groups) in enumerate(product((1, 2, 3, 5), range(2, 5))):
        careful = (place + turn) % 2 == 1
        score, y, group = levels_of(levels, groups, 2 * place + careful)
        before = worth(score, y, group, metric, goal)
        for method in ("smooth", "frontier")[: 1 + (groups == 2)]:
            repair = XOrder(metric=metric, method=method, do_no_harm=careful, small_groups="repair", **goal)
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                repair.fit(score, y, sensitive_features=group)
            adjusted = repair.transform(score, sensitive_features=group)
            assert worth(adjusted, y, group, metric, goal) >= before
            if np.array_equal(adjusted, score):
                left += 1
                assert any("left a" in str(warning.message) for warning in heard)
                assert (repair.auc_, repair.gap_) == (repair.auc_before_, repair.gap_before_)
                assert "All scores are left as they are." in repair.describe()
            else:
                repaired += 1
    assert left > 1
    assert repaired > 0


@pytest.mark.parametrize("seed", [12, 41, 55, 73])
def test_a_group_too_small_to_tell_does_not_stop_the_repair_of_others(seed):
    """Six people of C have a gap wider than that of A and B, by chance; that of A and B is real."""
    rng = np.random.default_rng(seed)
    group = np.repeat(["A", "B", "C"], [500, 500, 6])
    risk = rng.normal(size=group.size)
    y = rng.random(group.size) < 1 / (1 + np.exp(-risk))
    score = risk + rng.normal(0, 0.8, group.size) - 0.35 * (group == "B")
    with pytest.warns(XorderWarning, match="scores of group 'C' are left as they are: the gap to .* may be chance"):
        repair = XOrder(small_groups="repair").fit(score, y, sensitive_features=group)
    assert repair.kept_share_["B"] > 0.8
    assert repair.kept_share_["C"] == 0
    assert repair.moved_ == ("B",)
    adjusted = repair.transform(score, sensitive_features=group)
    before, after = (
        abs(xauc_difference(y, one, sensitive_features=group, pair=("A", "B"))) for one in (score, adjusted)
    )
    assert after < 0.3 * before


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("do_no_harm", [False, True])
def test_one_score_for_all_is_left_alone_and_it_is_said(groups, do_no_harm):
    _, y, group = levels_of(1, groups, 0)
    score = np.full(y.size, 0.3)
    with pytest.warns(XorderWarning, match=r"no better than .* share scores, .*; the scores are left alone"):
        repair = XOrder(do_no_harm=do_no_harm, metric="prf").fit(score, y, sensitive_features=group)
    np.testing.assert_array_equal(repair.transform(score, sensitive_features=group), score)
    assert (repair.auc_, repair.worst_gap_) == pytest.approx((0.5, 0.0), abs=1e-12)
    # Ties are worth the mean of the orderings that break them, so that the bound holds for them too.
    assert repair.bound_ >= 0.5 - 1e-9
    assert repair.optimality_gap_ == pytest.approx(repair.bound_ - 0.5)


def test_a_limit_that_the_scores_keep_is_not_broken():
    score, y, group = levels_of(3, 3, 5, rows=900)
    before = max(
        abs(gap.value) for gap in xorder.audit(y, score, sensitive_features=group).gaps if gap.metric == "xauc"
    )
    limit = before + 0.001
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XorderWarning)
        repair = XOrder(do_no_harm=False, max_gap=limit).fit(score, y, sensitive_features=group)
    assert repair.worst_gap_ <= limit
    assert repair.auc_ >= repair.auc_before_


@pytest.mark.parametrize("goal", [{}, {"tradeoff": 0.2}], ids=str)
def test_part_of_the_way_that_is_worse_than_none_is_not_gone(goal):
    met = 0
    for seed in range(1, 7):
        score, y, group = levels_of(2, 3, seed, 300, lower=0.2)
        careful = XOrder(metric="prf", **goal)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            careful.fit(score, y, sensitive_features=group)
        if not any("the share of the repair that the evidence for the gap" in str(one.message) for one in heard):
            continue
        met += 1
        np.testing.assert_array_equal(careful.transform(score, sensitive_features=group), score)
        assert set(careful.kept_share_.values()) == {0.0}
        assert (careful.moved_, careful.auc_) == ((), careful.auc_before_)
        full = XOrder(metric="prf", do_no_harm=False, **goal).fit(score, y, sensitive_features=group)
        adjusted = full.transform(score, sensitive_features=group)
        assert worth(adjusted, y, group, "prf", goal) > worth(score, y, group, "prf", goal)
    assert met > 0

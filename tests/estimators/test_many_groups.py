"""XOrder with smooth maps and with any number of groups."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest

import xorder
from xorder import ScoreMap, XOrder
from xorder.estimators import METHODS
from xorder.estimators._learn import shrunk
from xorder.metrics import parity_difference, prf_difference, xauc_difference

GAP_OF = {"xauc": xauc_difference, "prf": prf_difference, "parity": parity_difference}


def population(rows: int = 4000, groups: int = 4, seed: int = 0):
    """Groups whose scores are read lower, and with more noise, from one to the next."""
    rng = np.random.default_rng(seed)
    group = rng.choice(groups, rows, p=np.arange(groups, 0, -1) / np.arange(groups, 0, -1).sum())
    risk = rng.normal(-0.7 - 0.1 * group, 1.5)
    y = rng.random(rows) < 1 / (1 + np.exp(-risk))
    seen = risk + rng.normal(size=rows) * (0.4 + 0.3 * group) - 0.35 * group
    return 1 / (1 + np.exp(-seen)), y.astype(int), np.array(list("ABCDEFGHIJ"))[group]


def widest(metric, y, score, groups):
    return max(
        abs(GAP_OF[metric](y, score, sensitive_features=groups, pair=pair))
        for pair in combinations(np.unique(groups), 2)
    )


@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
@pytest.mark.parametrize("do_no_harm", [False, True])
def test_four_groups_are_brought_together(metric, do_no_harm):
    score, y, group = population()
    repair = XOrder(metric=metric, do_no_harm=do_no_harm).fit(score, y, sensitive_features=group)
    adjusted = repair.transform(score, sensitive_features=group)
    assert widest(metric, y, score, group) > 0.1
    # Three multipliers cannot close six gaps at once, but come near it.
    assert widest(metric, y, adjusted, group) < 0.02
    assert repair.worst_gap_ == pytest.approx(widest(metric, y, adjusted, group), abs=1e-9)
    assert repair.reference_ == "A"
    assert repair.moved_ == ("B", "C", "D")
    np.testing.assert_array_equal(adjusted[group == "A"], score[group == "A"])
    assert ((adjusted >= 0) & (adjusted <= 1)).all()
    for label in "BCD":
        assert (np.diff(adjusted[group == label][np.argsort(score[group == label])]) >= 0).all()
    first, second = repair.pair_
    assert repair.gap_before_ == pytest.approx(GAP_OF[metric](y, score, sensitive_features=group, pair=(first, second)))
    assert abs(repair.gap_before_) == pytest.approx(widest(metric, y, score, group))


@pytest.mark.parametrize("metric", ["xauc", "prf"])
def test_new_people_are_repaired_too(metric):
    score, y, group = population(8000)
    repair = XOrder(metric=metric, do_no_harm=False).fit(score, y, sensitive_features=group)
    score, y, group = population(20_000, seed=9)
    adjusted = repair.transform(score, sensitive_features=group)
    assert widest(metric, y, adjusted, group) < 0.5 * widest(metric, y, score, group)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["smooth", "frontier"])
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
@pytest.mark.parametrize("target", [0.0, 0.03, 0.1])
def test_of_two_groups_a_target_is_hit(method, metric, target):
    score, y, group = population(3000, groups=2)
    goal = {"metric": metric, "method": method, "do_no_harm": False}
    repair = XOrder(**goal, max_gap=target).fit(score, y, sensitive_features=group)
    adjusted = repair.transform(score, sensitive_features=group)
    gap = abs(GAP_OF[metric](y, adjusted, sensitive_features=group))
    assert gap <= target + (0.002 if target == 0 or method == "smooth" else 1e-9)
    free = XOrder(**goal, max_gap=1.0).fit(score, y, sensitive_features=group)
    if abs(free.gap_) > target and method == "smooth":
        # But for the pairs that one more step turns round.
        assert gap == pytest.approx(target, abs=0.004)
    elif abs(free.gap_) <= target:
        assert repair.auc_ == pytest.approx(free.auc_, abs=1e-4)
    assert repair.gap_ == pytest.approx(
        GAP_OF[metric](y, adjusted, sensitive_features=group, pair=repair.pair_), abs=1e-9
    )


def test_a_smooth_map_costs_little_more_auc_than_the_best_ordering():
    score, y, group = population(3000, groups=2)
    best = XOrder(method="frontier").fit(score, y, sensitive_features=group)
    smooth = XOrder(do_no_harm=False).fit(score, y, sensitive_features=group)
    assert best.moved_ == smooth.moved_ == ("B",)
    assert best.auc_ - 0.006 <= smooth.auc_ <= smooth.bound_


def test_a_tradeoff_balances_auc_and_the_widest_gap():
    score, y, group = population()
    repairs = [
        XOrder(tradeoff=value, metric="prf", do_no_harm=False).fit(score, y, sensitive_features=group)
        for value in (0.0, 0.1, 5.0)
    ]
    assert repairs[0].auc_ >= repairs[1].auc_ - 1e-3 >= repairs[2].auc_ - 2e-3
    assert repairs[0].worst_gap_ >= repairs[1].worst_gap_ - 2e-3
    assert repairs[2].worst_gap_ < 0.01
    for repair in repairs:
        assert repair.optimality_gap_ == repair.bound_ - repair.auc_ >= 0


@pytest.mark.slow
def test_weight_two_is_the_row_twice():
    score, y, group = population(600, groups=3)
    weight = np.random.default_rng(0).integers(1, 4, score.size)
    often = np.repeat(np.arange(score.size), weight)
    for settings in ({}, {"do_no_harm": False}, {"max_gap": 0.05}, {"tradeoff": 1.0}):
        weighted = XOrder(**settings).fit(score, y, sensitive_features=group, sample_weight=weight)
        repeated = XOrder(**settings).fit(score[often], y[often], sensitive_features=group[often])
        np.testing.assert_allclose(
            weighted.transform(score, sensitive_features=group),
            repeated.transform(score, sensitive_features=group),
            atol=1e-10,
        )
        assert weighted.worst_gap_ == pytest.approx(repeated.worst_gap_, abs=1e-10)


def test_a_saved_repair_of_many_groups_comes_back(tmp_path):
    score, y, group = population()
    repair = XOrder(metric="prf").fit(score, y, sensitive_features=group)
    repair.save(tmp_path / "map.json")
    again = xorder.load(tmp_path / "map.json")
    np.testing.assert_array_equal(
        again.transform(score, sensitive_features=group), repair.transform(score, sensitive_features=group)
    )
    assert again.to_dict() == repair.to_dict()
    assert again.describe() == repair.describe()
    assert "Scores of groups B, C, D are adjusted; those of group A stay as they are." in again.describe()
    assert "largest gap left between any two groups: 0.0" in again.describe()


def test_several_attributes_and_a_reference_of_ones_own():
    score, y, group = population(3000, groups=2)
    sex = np.where(np.random.default_rng(3).random(3000) < 0.5, "f", "m")
    attributes = np.column_stack([group, sex])
    repair = XOrder(reference="B & f").fit(score, y, sensitive_features=attributes)
    assert list(repair.maps_) == ["A & f", "A & m", "B & f", "B & m"]
    adjusted = repair.transform(score, sensitive_features=attributes)
    same = (group == "B") & (sex == "f")
    np.testing.assert_array_equal(adjusted[same], score[same])


class TestDoNoHarm:
    def test_knots_that_rounding_joins_become_one(self):
        rng, joined = np.random.default_rng(0), 0
        for low, high, share in zip(rng.random(200) / 2, rng.random(200) / 2, rng.random(200), strict=True):
            neighbours = [low, np.nextafter(low, 1), 0.9], [high, np.nextafter(high, 1), 0.95]
            part = shrunk(ScoreMap(*neighbours), share)
            assert {part.raw[0], part.raw[-1]} == {low, 0.9}
            joined += part.raw.size == 2
        assert 0 < joined < 200

    @staticmethod
    def alike(seed: int, rows: int = 1000):
        """Two groups that differ in nothing but chance."""
        rng = np.random.default_rng(seed)
        risk = rng.normal(size=rows)
        y = (rng.random(rows) < 1 / (1 + np.exp(-risk))).astype(int)
        return 1 / (1 + np.exp(-risk - rng.normal(size=rows))), y, np.where(rng.random(rows) < 0.3, "B", "A")

    @pytest.mark.slow
    def test_noise_is_left_alone_more_often_than_not_and_never_made_much_worse(self):
        before, careful, plain, left = [], [], [], 0
        new = self.alike(99, 40_000)
        for seed in range(20):
            score, y, group = self.alike(seed)
            for settings, gaps in (({}, careful), ({"do_no_harm": False}, plain)):
                repair = XOrder(**settings)
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", message=".* are left as they are: .* may be chance")
                    repair.fit(score, y, sensitive_features=group)
                left += not repair.moved_
                adjusted = repair.transform(new[0], sensitive_features=new[2])
                gaps.append(abs(xauc_difference(new[1], adjusted, sensitive_features=new[2])))
            before.append(abs(xauc_difference(new[1], new[0], sensitive_features=new[2])))
        assert left > 12
        assert np.mean(careful) < 0.4 * np.mean(plain)
        assert np.mean(careful) < np.mean(before) + 0.012

    def test_a_gap_beyond_doubt_is_repaired_in_full(self):
        score, y, group = population(20_000, groups=3)
        careful = XOrder().fit(score, y, sensitive_features=group)
        assert min(careful.kept_share_.values()) > 0.95
        assert careful.worst_gap_ < 0.02

    def test_a_share_of_the_way(self):
        score, y, group = population(1500, groups=2)
        full = XOrder(do_no_harm=False).fit(score, y, sensitive_features=group)
        careful = XOrder().fit(score, y, sensitive_features=group)
        share = careful.kept_share_["B"]
        assert 0 < share < 1
        found = xorder.audit(y, score, sensitive_features=group).gap("xauc", ("A", "B"))
        assert share == pytest.approx(1 - (1.25 * found.stderr / found.value) ** 2, rel=1e-9)
        expected = score + share * (full.transform(score, sensitive_features=group) - score)
        np.testing.assert_allclose(careful.transform(score, sensitive_features=group), expected, atol=1e-12)

    def test_by_default_the_method_decides(self):
        score, y, group = population(500, groups=2)
        for method in METHODS:
            usual, careful, plain = (
                XOrder(method=method, do_no_harm=choice).fit(score, y, sensitive_features=group)
                for choice in (None, True, False)
            )
            assert usual.kept_share_ == (careful if method == "smooth" else plain).kept_share_
            assert careful.kept_share_["B"] < plain.kept_share_["B"] == 1


class TestBound:
    """The bound is the best AUC of any reordering whose gaps are no larger than those that the repair leaves."""

    @pytest.mark.parametrize("metric", GAP_OF)
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("goal", [{}, {"max_gap": 0.05}, {"tradeoff": 0.3}, {"do_no_harm": True}], ids=str)
    def test_of_two_groups_it_is_that_of_the_frontier(self, metric, method, goal):
        score, y, group = population(500, groups=2)
        repair = XOrder(metric=metric, method=method, **goal).fit(score, y, sensitive_features=group)
        tables = [xorder.ScoreTable.from_arrays(y[group == one], score[group == one]) for one in "AB"]
        best = xorder.frontier(*tables, metric=metric).at(max_gap=repair.worst_gap_)
        assert repair.bound_ >= best.auc - 1e-12
        assert repair.bound_ <= best.auc + best.optimality_gap + 1e-9
        assert repair.optimality_gap_ == pytest.approx(repair.bound_ - repair.auc_, abs=1e-12)
        assert 0 <= repair.optimality_gap_ < 0.03

    def test_of_more_groups_it_is_known_for_prf_alone(self):
        score, y, group = population()
        for metric in GAP_OF:
            repair = XOrder(metric=metric).fit(score, y, sensitive_features=group)
            assert np.isfinite([repair.bound_, repair.optimality_gap_]).tolist() == [metric == "prf"] * 2
            assert (repair.to_dict()["bound"] is None) == (metric != "prf")
            assert ("of the best possible" in repair.describe()) == (metric == "prf")
            if metric == "prf":
                assert repair.auc_ <= repair.bound_

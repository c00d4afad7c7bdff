"""Repairs fitted to any number of groups: what they reach, what they keep of it, and what they leave alone."""

from __future__ import annotations

import re
import warnings
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit
from sklearn.metrics import roc_auc_score

import xorder
from support.shifted_groups import population
from xorder import ScoreMap, XOrder
from xorder._table import Tables
from xorder._validation import check_tables
from xorder.estimators import METHODS
from xorder.estimators._learn import measure, shrunk
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics import parity_difference, prf_difference, xauc_difference

GAP_OF = {"xauc": xauc_difference, "prf": prf_difference, "parity": parity_difference}


def widest(metric, y, score, groups):
    return max(
        abs(GAP_OF[metric](y, score, sensitive_features=groups, pair=pair))
        for pair in combinations(np.unique(groups), 2)
    )


@pytest.mark.parametrize("groups", [2, 5])
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
def test_rows_and_tables_measure_the_same_to_the_last_bit(metric, groups):
    rng = np.random.default_rng(groups)
    group, label = rng.integers(0, groups, 4_000), rng.random(4_000) < 0.3
    # Some rows tie, too few for tables to be the shorter way.
    score = np.round(rng.normal(0.1 * group + label), 3)
    ranked = check_tables(label, score, group)
    plain = Tables(dict(ranked))
    assert (ranked.ranking is None, plain.ranking) == (False, None)
    assert measure(ranked, metric) == measure(plain, metric)


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
        # But for what is gained by far less than the error of the AUC.
        assert gap == pytest.approx(target, abs=0.01)
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
        # On the scale of log odds, but for what a dozen knots leave between them.
        moved = group == "B"
        here, there, part = (
            logit(each[moved])
            for each in (score, *(each.transform(score, sensitive_features=group) for each in (full, careful)))
        )
        np.testing.assert_allclose(part - here, share * (there - here), atol=0.02)

    @pytest.mark.slow
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

    @pytest.mark.slow
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


# Few levels of a score, shared by all groups: no repair may be worse than the scores as they are

GOALS = ({}, {"max_gap": 0.05}, {"tradeoff": 1.0})


def levels_of(levels: int, groups: int, seed: int, rows: int = 240, lower: float = 0.15):
    """People of several groups, one read somewhat lower than the others, on a score of a few levels."""
    rng = np.random.default_rng(seed)
    group = np.arange(rows) % groups
    need = rng.random(rows)
    y = (rng.random(rows) < 0.1 + 0.8 * need).astype(int)
    seen = np.clip(need - lower * (group == 1) * rng.random(rows), 0, 0.999)
    return (np.floor(seen * levels) + 0.5) / levels, y, np.array(list("ABCD"))[group]


def worth(score, y, group, metric, goal, among=None):
    """What the goal makes of scores, the higher the better: a pair for a limit, a number for a tradeoff."""
    pairs = combinations(np.unique(group) if among is None else sorted(among), 2)
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
        for method in ("smooth", "frontier")[: 1 + (groups == 2)]:
            repair = XOrder(metric=metric, method=method, do_no_harm=careful, small_groups="repair", **goal)
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                repair.fit(score, y, sensitive_features=group)
            adjusted = repair.transform(score, sensitive_features=group)
            # Groups whose gap may be chance are not judged.
            among = {repair.reference_, *(each for each, share in repair.kept_share_.items() if share > 0)}
            if len(among) > 1:
                after, before = (worth(each, y, group, metric, goal, among) for each in (adjusted, score))
                assert after >= before
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
    said = "may be chance" if do_no_harm else r"no better than .* share scores, .*; the scores are left alone"
    with pytest.warns(XorderWarning, match=said):
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


@pytest.mark.slow
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
    assert met > 0


# Do no harm with weights: counts are rows; of sampling weights the scale says nothing


def unequal(seed: int = 0, n: int = 1500, gap: float = 0.35):
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(n) < 0.4, "B", "A")
    need = rng.normal(size=n)
    y = (need + rng.logistic(size=n) > 0.5).astype(int)
    return 1 / (1 + np.exp(-need - rng.normal(size=n) + gap * (group == "B"))), y, group


def kept_share(score, y, group, weight=None, weights_are="counts", **settings):
    repair = XOrder(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XorderWarning)
        repair.fit(score, y, sensitive_features=group, sample_weight=weight, weights_are=weights_are)
    return repair.kept_share_


@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
@pytest.mark.parametrize("scale", [1e-120, 1 / 1500, 0.5, 250.5])
def test_the_scale_of_sampling_weights_cancels(metric, scale):
    score, y, group = unequal()
    plain = kept_share(score, y, group, metric=metric)
    assert 0 < plain["B"] < 1
    weighted = kept_share(score, y, group, np.full(y.size, scale), "sampling", metric=metric)
    assert weighted["B"] == pytest.approx(plain["B"], rel=1e-9)


def test_the_share_kept_is_that_of_an_audit_by_sampling_weights():
    score, y, group = unequal(1)
    weight = np.random.default_rng(1).gamma(0.7, 300.0, y.size)
    weight[::9] = 0.0
    found = xorder.audit(y, score, sensitive_features=group, sample_weight=weight, weights_are="sampling").gap("xauc")
    expected = max(0.0, 1 - (1.25 * found.stderr / found.value) ** 2)
    assert 0 < expected < 1
    assert kept_share(score, y, group, weight, "sampling") == {"B": pytest.approx(expected, rel=1e-9)}


@pytest.mark.slow
def test_noise_with_survey_weights_is_not_repaired():
    for seed in range(10):
        score, y, group = unequal(seed, n=500, gap=0.0)
        weighted = kept_share(score, y, group, np.full(y.size, 250.0), "sampling")
        (moved,) = weighted
        assert weighted[moved] == pytest.approx(kept_share(score, y, group)[moved], abs=1e-9)


def test_counts_are_unequal():
    score, y, group = unequal(2)
    weight = np.random.default_rng(2).integers(0, 4, y.size)
    often = np.repeat(np.arange(y.size), weight)
    assert kept_share(score, y, group, weight)["B"] == pytest.approx(
        kept_share(score[often], y[often], group[often])["B"], abs=1e-10
    )


def test_rows_a_frame_and_tables_say_the_same():
    score, y, group = unequal(3)
    weight = np.random.default_rng(3).random(y.size) + 0.01
    by_rows = kept_share(score, y, group, weight, "sampling")["B"]
    assert by_rows > 0
    frame = pd.DataFrame({"s": score, "y": y, "g": group, "w": weight})
    careful = XOrder()
    careful.fit_frame(frame, score="s", label="y", group="g", weight="w", weights_are="sampling")
    assert careful.kept_share_["B"] == pytest.approx(by_rows, rel=1e-9)
    tables = check_tables(y, score, group, weight, weights_are="sampling")
    assert careful.fit_tables(tables).kept_share_["B"] == pytest.approx(by_rows, rel=1e-12)
    with pytest.warns(XorderWarning, match="sample_weight is not whole, yet read as counts"):
        careful.fit_tables(check_tables(y, score, group, weight))
    assert careful.kept_share_["B"] < by_rows
    whole = frame.assign(w=np.random.default_rng(4).integers(1, 3, y.size))
    careful.fit_frame(whole, score="s", label="y", group="g", weight="w")
    assert careful.kept_share_["B"] == pytest.approx(kept_share(score, y, group, whole.w)["B"], rel=1e-9)


def test_merged_groups_bring_their_squares_along():
    score, y, group = unequal(4)
    group = group.astype("U4")
    group[:12] = "tiny"
    weight = np.random.default_rng(5).random(y.size) + 0.1
    merged = kept_share(score, y, group, weight, "sampling", min_group_size=30, small_groups="merge")
    joined = kept_share(score, y, np.where(group == "tiny", "A", group), weight, "sampling")
    assert merged == {"B": pytest.approx(joined["B"], rel=1e-12)}


@pytest.mark.slow
def test_a_row_cut_into_parts_changes_nothing():
    for seed in (29, 3, 4):
        rng = np.random.default_rng(seed)
        group = np.array(list("ABC"))[rng.integers(0, 3, 200)]
        score = np.round(rng.random(200), 2)
        y = (rng.random(200) < score ** (1 + (group == "A"))).astype(int)
        parts = rng.integers(1, 4, 200)
        cut = np.repeat(np.arange(200), parts)
        whole, pieces = (XOrder(tradeoff=1.0, do_no_harm=False) for _ in range(2))
        whole.fit(score, y, sensitive_features=group, sample_weight=0.1 * parts, weights_are="sampling")
        tenth = np.full(cut.size, 0.1)
        pieces.fit(score[cut], y[cut], sensitive_features=group[cut], sample_weight=tenth, weights_are="sampling")
        np.testing.assert_allclose(
            pieces.transform(score, sensitive_features=group),
            whole.transform(score, sensitive_features=group),
            atol=1e-10,
        )


# A limit at every cut


def worst_cuts(repair, score, y, group):
    """Widest difference of sensitivities of each group to the reference, walked threshold by threshold."""
    adjusted = repair.transform(score, sensitive_features=group)
    positives = {each: adjusted[(group == each) & (y == 1)] for each in np.unique(group)}
    thresholds = np.unique(adjusted)
    share = {each: np.array([(rows >= t).mean() for t in thresholds]) for each, rows in positives.items()}
    return {each: np.abs(share[each] - share[repair.reference_]).max() for each in share if each != repair.reference_}


class TestMaxCutGap:
    """No cut has a wider difference of sensitivities to the reference, and the gap is closed as far as that allows."""

    @pytest.mark.slow
    @pytest.mark.parametrize("groups", [2, 4])
    @pytest.mark.parametrize("metric", ["xauc", "prf"])
    @pytest.mark.parametrize("do_no_harm", [True, False])
    def test_smooth_keeps_the_limit(self, groups, metric, do_no_harm):
        score, y, group = population(1500, groups=groups)
        limit = 0.07 if groups == 2 else 0.1
        free, kept = (
            XOrder(metric=metric, do_no_harm=do_no_harm, max_cut_gap=each).fit(score, y, sensitive_features=group)
            for each in (None, limit)
        )
        assert max(worst_cuts(kept, score, y, group).values()) <= limit + 1e-12
        assert all(kept.maps_[each].raw.size <= 14 for each in kept.moved_)
        assert kept.worst_gap_ < 0.5 * abs(kept.gap_before_)
        assert free.worst_gap_ <= kept.worst_gap_ + 0.01

    def test_a_limit_that_is_kept_anyway_changes_nothing(self):
        score, y, group = population(1500, groups=3)
        free, kept = (XOrder(max_cut_gap=each).fit(score, y, sensitive_features=group) for each in (None, 0.9))
        np.testing.assert_array_equal(
            *(each.transform(score, sensitive_features=group) for each in (free, kept)), strict=True
        )

    @pytest.mark.slow
    @pytest.mark.parametrize("goal", [{}, {"max_gap": 0.03}, {"tradeoff": 1.0}])
    def test_frontier_keeps_the_limit_and_closes_the_gap(self, goal):
        score, y, group = population(1500, groups=2)
        kept = XOrder(method="frontier", max_cut_gap=0.05, **goal).fit(score, y, sensitive_features=group)
        assert max(worst_cuts(kept, score, y, group).values()) <= 0.05 + 1e-12
        assert kept.worst_gap_ < goal.get("max_gap", 0.0) + 0.01

    @pytest.mark.parametrize("method", ["smooth", "frontier"])
    def test_what_cannot_be_kept_is_said_with_what_can(self, method):
        score, y, group = population(300, groups=2)
        with pytest.raises(InputError, match=r"max_cut_gap 0.0001 can.*the smallest that can\s+is \d") as error:
            XOrder(method=method, max_cut_gap=0.0001).fit(score, y, sensitive_features=group)
        smallest = float(re.search(r"smallest that can is ([\d.]+\d)", str(error.value))[1])
        kept = XOrder(method=method, max_cut_gap=smallest).fit(score, y, sensitive_features=group)
        assert max(worst_cuts(kept, score, y, group).values()) <= smallest + 1e-9

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"method": "dp", "max_cut_gap": 0.1}, "methods 'smooth' and 'frontier'"),
            ({"method": "frontier", "max_cut_gap": 0.1, "do_no_harm": True}, "not both"),
            ({"max_cut_gap": -0.1}, "max_cut_gap must be a finite number from 0 up"),
            ({"max_cut_gap": "5 %"}, "max_cut_gap must be a finite number from 0 up"),
        ],
    )
    def test_what_does_not_go_together(self, settings, words):
        score, y, group = population(300, groups=2)
        with pytest.raises(InputError, match=words):
            XOrder(**settings).fit(score, y, sensitive_features=group)

    def test_it_is_kept_in_the_file(self, tmp_path):
        score, y, group = population(1500, groups=2)
        XOrder(max_cut_gap=0.08).fit(score, y, sensitive_features=group).save(tmp_path / "map.json")
        assert xorder.load(tmp_path / "map.json").max_cut_gap == 0.08


def test_scores_a_hair_apart_may_meet():
    score, y, group = population(1000, groups=2)
    rng = np.random.default_rng(2)
    for each in "AB":
        rows = np.flatnonzero(group == each)
        one, other = rng.choice(rows, (2, 40), replace=False)
        score[one] = np.nextafter(score[other], 1)
    for settings in ({}, {"do_no_harm": False}, {"max_cut_gap": 0.1}):
        repair = XOrder(**settings).fit(score, y, sensitive_features=group)
        assert abs(repair.gap_) < 0.5 * abs(repair.gap_before_)
        adjusted = repair.transform(score, sensitive_features=group)
        for each in "AB":
            place = np.argsort(score[group == each])
            assert (np.diff(adjusted[group == each][place]) >= 0).all()

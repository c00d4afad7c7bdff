"""Rates at a cut against counts row by row, published examples, and the same rows told in other ways."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from support.effort import draws
from xorder import Threshold, XOrder, audit
from xorder.exceptions import XorderWarning
from xorder.metrics._rates import RATES


def people(n: int = 900, seed: int = 0, *, step: float = 0.0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    risk = rng.normal(size=n) + 0.5 * (group == "b")
    label = (rng.random(n) < 1 / (1 + np.exp(1 - risk))).astype(int)
    score = 1 / (1 + np.exp(-(risk - 0.8 * (group == "b") - 1 + 0.3 * rng.normal(size=n))))
    return label, np.round(score / step) * step if step else score, group


def rates_of(label: NDArray[Any], selected: NDArray[Any]) -> dict[str, float]:
    """All rates of some rows, each selected or not."""
    (tn, fp), (fn, tp) = confusion_matrix(label, selected, labels=[0, 1])
    return {
        "selected": (tp + fp) / label.size,
        "sensitivity": tp / (tp + fn),
        "specificity": tn / (tn + fp),
        "false_positive_rate": fp / (tn + fp),
        "ppv": tp / (tp + fp),
        "npv": tn / (tn + fn),
    }


def by_rate(rows: list[dict[str, Any]], group: str) -> dict[str, dict[str, Any]]:
    return {row["rate"]: row for row in rows if row["group"] == group}


class TestValues:
    @pytest.mark.parametrize("cut", [0.1, 90, Threshold(0.35)])
    def test_all_rates_of_all_groups(self, cut: Any) -> None:
        label, score, group = people()
        limit = cut.score if isinstance(cut, Threshold) else np.sort(score)[-90]
        selected = score >= limit
        found = audit(label, score, sensitive_features=group, cuts=[cut]).table("cuts")
        for name in ("a", "b", "c", "all groups"):
            own = group == name if name in "abc" else np.full(group.size, True)
            mine = by_rate(found.rows, name)
            wanted = rates_of(label[own], selected[own])
            assert list(mine) == list(RATES) == list(wanted)
            for rate, value in wanted.items():
                assert mine[rate]["value"] == pytest.approx(value, abs=1e-12)
                assert mine[rate]["count"] / mine[rate]["of"] == pytest.approx(value, abs=1e-12)
                assert 0 <= mine[rate]["low"] <= mine[rate]["value"] <= mine[rate]["high"] <= 1

    def test_differences_and_ratios_to_the_reference(self) -> None:
        label, score, group = people()
        for reference in (None, "c"):
            found = audit(label, score, sensitive_features=group, cuts=[0.2]).table("cuts", reference=reference).rows
            base = by_rate(found, reference or "a")
            for name in "abc":
                for rate, row in by_rate(found, name).items():
                    assert row["reference"] == (reference or "a")
                    assert row["difference"] == pytest.approx(row["value"] - base[rate]["value"], abs=1e-12)
                    assert row["ratio"] == pytest.approx(row["value"] / base[rate]["value"], abs=1e-12)
                    assert row["difference_low"] <= row["difference"] <= row["difference_high"]
                    assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"]
            highest = max(by_rate(found, name)["selected"]["value"] for name in "abc")
            for name in "abc":
                row = by_rate(found, name)["selected"]
                assert row["impact_ratio"] == pytest.approx(row["value"] / highest, abs=1e-12)

    def test_of_tied_rows_the_same_part_of_each(self) -> None:
        label, score, group = [1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], ["a", "a", "b", "b"]
        with pytest.warns(UserWarning, match="single row"):
            found = audit(label, score, sensitive_features=group, cuts=[2]).table("cuts").rows
        assert by_rate(found, "a")["selected"]["count"] == 1.5
        assert by_rate(found, "b")["sensitivity"]["value"] == 0.5

    def test_a_rate_of_nobody_is_not_known(self) -> None:
        label, score, group = people()
        found = audit(label, score, sensitive_features=group, cuts=[Threshold(2.0)]).table("cuts").rows
        row = by_rate(found, "b")["ppv"]
        assert row["of"] == 0
        assert row["value"] is row["low"] is row["ratio"] is None
        nobody = by_rate(found, "b")["sensitivity"]
        assert (nobody["value"], nobody["low"]) == (0, 0)
        assert 0 < nobody["high"] < 0.1

    def test_a_group_of_no_weight_is_not_the_one_selected_most(self) -> None:
        label, score, group = people(300)
        with pytest.warns(XorderWarning):
            found = audit(label, score, sensitive_features=group, sample_weight=(group != "c") * 1.0, cuts=[0.2])
        rows = found.table("cuts").rows
        shares = {name: by_rate(rows, name)["selected"] for name in "abc"}
        assert shares["c"]["value"] is shares["c"]["impact_ratio"] is None
        highest = max(shares["a"]["value"], shares["b"]["value"])
        for name in "ab":
            assert shares[name]["impact_ratio"] == pytest.approx(shares[name]["value"] / highest, abs=1e-12)

    def test_a_rate_of_0_is_0_times_any_other(self) -> None:
        label, score, group = people()
        score[group == "b"] /= 2
        cut = Threshold(float(score[group == "b"].max()) + 1e-9)
        row = by_rate(audit(label, score, sensitive_features=group, cuts=[cut]).table("cuts").rows, "b")["sensitivity"]
        assert (row["value"], row["ratio"], row["ratio_low"]) == (0, 0, 0)
        assert 0 < row["ratio_high"] < 1


class TestIntervals:
    def test_wilson_at_a_score(self) -> None:
        # 10 of 50 are selected: Wilson's interval, by hand, is .1124 to .3304.
        label = np.tile([0, 1], 50)
        score = np.where(np.arange(100) % 10 < 2, 0.9, 0.1)
        group = np.repeat(["a", "b"], 50)
        found = audit(label, score, sensitive_features=group, cuts=[Threshold(0.5)]).table("cuts").rows
        row = by_rate(found, "a")["selected"]
        assert (row["value"], row["of"]) == (0.2, 50)
        assert row["low"] == pytest.approx(0.1124, abs=5e-5)
        assert row["high"] == pytest.approx(0.3304, abs=5e-5)

    @pytest.mark.parametrize(
        ("counts", "ends"), [((56, 70, 48, 80), (0.0524, 0.3339)), ((9, 10, 3, 10), (0.1705, 0.8090))]
    )
    def test_published_examples_of_newcombe(self, counts: tuple[int, ...], ends: tuple[float, float]) -> None:
        above, rows, others_above, others = counts
        score = np.concatenate([np.arange(rows) < above, np.arange(others) < others_above]) * 0.8 + 0.1
        group = np.repeat(["b", "a"], [rows, others])
        label = np.arange(group.size) % 2
        found = audit(label, score, sensitive_features=group, cuts=[Threshold(0.5)]).table("cuts", reference="a").rows
        row = by_rate(found, "b")["selected"]
        assert (row["difference_low"], row["difference_high"]) == pytest.approx(ends, abs=5e-5)

    @pytest.mark.slow
    def test_as_wide_as_a_bootstrap(self) -> None:
        label, score, group = people(1500, seed=3)
        repair = XOrder(do_no_harm=False, max_gap=0.1).fit(score, label, sensitive_features=group)
        names = ("value", "difference", "change")

        def rows_of(chosen: NDArray[Any]) -> list[dict[str, Any]]:
            found = audit(label[chosen], score[chosen], sensitive_features=group[chosen], cuts=[0.2])
            return found.table("cuts", repair=repair).rows

        rng = np.random.default_rng(0)
        drawn = [rows_of(rng.integers(0, label.size, label.size)) for _ in range(draws(300, 150))]
        for place, row in enumerate(rows_of(np.arange(label.size))):
            if (row["group"], row["rate"]) == ("all groups", "selected"):
                continue
            for name in names if row["group"] in "bc" else ("value", "change"):
                prefix = "" if name == "value" else f"{name}_"
                half = (row[f"{prefix}high"] - row[f"{prefix}low"]) / 2
                spread = 1.96 * np.std([each[place][name] for each in drawn])
                assert half == pytest.approx(spread, rel=0.25, abs=0.004), (row["group"], row["rate"], name)

    def test_clusters_of_equal_rows_are_these_rows_once(self) -> None:
        label, score, group = people(400)
        once = audit(label, score, sensitive_features=group, cuts=[0.1, Threshold(0.3)])
        again = np.tile(np.arange(400), 4)
        told = audit(
            label[again], score[again], sensitive_features=group[again], cuts=[0.1, Threshold(0.3)], clusters=again
        )
        for row, other in zip(once.table("cuts").rows, told.table("cuts").rows, strict=True):
            # One of 400 clusters is spent on the mean; the slope at a share of the list is looked for more closely.
            near = 0.002 if row["at"].startswith("score") else 0.03
            for name in ("value", "low", "high", "difference_low", "difference_high"):
                if row[name] is None:
                    assert other[name] is None
                else:
                    assert other[name] == pytest.approx(row[name], abs=near)
        rows = audit(label[again], score[again], sensitive_features=group[again], cuts=[0.1, Threshold(0.3)])
        wide, narrow = (each.table("cuts").rows[-1] for each in (told, rows))
        assert wide["high"] - wide["low"] > 1.8 * (narrow["high"] - narrow["low"])

    def test_a_weight_of_two_is_two_rows_or_one_of_a_design(self) -> None:
        label, score, group = people(500)
        twice = np.tile(np.arange(500), 2)
        rows = audit(label[twice], score[twice], sensitive_features=group[twice], cuts=[0.2]).table("cuts").rows
        weights = {"sample_weight": np.full(500, 2.0), "sensitive_features": group, "cuts": [0.2]}
        counted = audit(label, score, **weights).table("cuts").rows
        design = audit(label, score, weights_are="sampling", **weights).table("cuts").rows
        plain = audit(label, score, sensitive_features=group, cuts=[0.2]).table("cuts").rows
        for row, same, of_design, once in zip(rows, counted, design, plain, strict=True):
            for name in ("value", "low", "high", "difference_low"):
                if row[name] is not None:
                    assert same[name] == pytest.approx(row[name], abs=1e-9)
                    assert of_design[name] == pytest.approx(once[name], abs=1e-9)

    def test_a_single_row_is_a_sample_of_one(self) -> None:
        # Wilson's interval of one of one is 1 / (1 + 1.96^2) to 1; of none of one, 0 to what is left of that.
        label = [1, 0, 0, 0, 1, 0, 1, 0]
        score = [0.9, 0.2, 0.3, 0.1, 0.1, 0.2, 0.8, 0.7]
        with pytest.warns(UserWarning, match="single row"):
            found = audit(label, score, sensitive_features=list("aaaabbbb"), cuts=[Threshold(0.5)]).table("cuts").rows
        one = by_rate(found, "a")["sensitivity"]
        assert (one["of"], one["value"], one["high"]) == (1, 1, 1)
        assert one["low"] == pytest.approx(1 / (1 + 1.959964**2), abs=1e-6)

    def test_what_changes_lies_between_minus_one_and_one(self) -> None:
        label, score, group = people()
        repair = XOrder(do_no_harm=False, max_gap=0.05).fit(score, label, sensitive_features=group)
        moved = repair.transform(score, sensitive_features=group)
        # All of b are three rows that the repair takes over the cut; those of c have no positive.
        cut = float(np.median(moved[group == "b"]))
        below = np.flatnonzero((group == "b") & (score < cut) & (moved >= cut))[:3]
        chosen = np.concatenate([np.flatnonzero(group == "a"), below, np.flatnonzero((group == "c") & (label == 0))])
        few = label.copy()
        few[below] = [1, 1, 0]
        with pytest.warns(XorderWarning):
            found = audit(few[chosen], score[chosen], sensitive_features=group[chosen], cuts=[Threshold(cut)])
        rows = found.table("cuts", repair=repair).rows
        certain = by_rate(rows, "b")["sensitivity"]
        assert (certain["change"], certain["change_high"]) == (1, 1)
        assert -1 <= certain["change_low"] < 1
        unknown = by_rate(rows, "c")["sensitivity"]
        assert unknown["value"] is unknown["change"] is unknown["change_low"] is None

    def test_what_is_given_is_certain(self) -> None:
        label, score, group = people()
        row = by_rate(audit(label, score, sensitive_features=group, cuts=[0.1]).table("cuts").rows, "all groups")
        assert (row["selected"]["low"], row["selected"]["high"]) == pytest.approx((0.1, 0.1), abs=1e-9)
        assert row["sensitivity"]["high"] - row["sensitivity"]["low"] > 0.01


class TestRepair:
    @pytest.mark.parametrize("cut", [0.1, 60, Threshold(0.4)])
    @pytest.mark.parametrize("step", [0.0, 0.05])
    def test_who_enters_and_who_leaves(self, cut: Any, step: float) -> None:
        label, score, group = people(800, step=step)
        repair = XOrder(do_no_harm=False, max_gap=0.1).fit(score, label, sensitive_features=group)
        moved = repair.transform(score, sensitive_features=group)
        found = audit(label, score, sensitive_features=group, cuts=[cut])
        before, after = (part_selected(each, cut) for each in (score, moved))
        for row in found.table("moves", repair=repair).rows:
            own = group == row["group"] if row["group"] in "abc" else np.full(800, True)
            change = (after - before)[own]
            assert row["selected"] == pytest.approx(before[own].sum())
            assert row["after"] == pytest.approx(after[own].sum())
            assert row["enters"] == pytest.approx(change[change > 0].sum(), abs=1e-9)
            assert row["leaves"] == pytest.approx(-change[change < 0].sum(), abs=1e-9)
            entering = (change > 0) & (label[own] == 1)
            assert row["positives_entering"] == pytest.approx(change[entering].sum(), abs=1e-9)

    def test_rates_after_are_those_of_the_adjusted_scores(self) -> None:
        label, score, group = people()
        repair = XOrder(do_no_harm=False, max_gap=0.1).fit(score, label, sensitive_features=group)
        moved = repair.transform(score, sensitive_features=group)
        both = audit(label, score, sensitive_features=group, cuts=[0.1]).table("cuts", repair=repair).rows
        alone = audit(label, moved, sensitive_features=group, cuts=[0.1]).table("cuts").rows
        for row, other in zip(both, alone, strict=True):
            for mine, theirs in (("after", "value"), ("after_low", "low"), ("after_high", "high")):
                assert row[mine] == pytest.approx(other[theirs], abs=1e-9)
            assert row["change"] == pytest.approx(row["after"] - row["value"], abs=1e-12)


def part_selected(score: NDArray[Any], cut: Any) -> NDArray[Any]:
    """What part of each row is above a cut: of those tied at it, the same part of each."""
    if isinstance(cut, Threshold):
        return (score >= cut.score).astype(float)
    places = cut if isinstance(cut, int) else cut * score.size
    limit = np.sort(score)[::-1][math.ceil(places) - 1]
    above, tied = score > limit, score == limit
    return above + tied * (places - above.sum()) / tied.sum()

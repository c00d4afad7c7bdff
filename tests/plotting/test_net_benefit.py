"""The curves of net benefit are those of the audit's own table, and of the definition."""

from __future__ import annotations

import numpy as np
import pytest

from xorder import audit
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.plotting import NetBenefitDisplay

PEOPLE = simulate_population(900, random_state=4)
FOUND = audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)


def test_the_curve_is_true_positives_less_false_ones_at_the_odds_of_the_threshold() -> None:
    display = NetBenefitDisplay.from_audit(FOUND, thresholds=[0.1, 0.3]).plot()
    for group in "AB":
        label, score = PEOPLE.y_true[PEOPLE.group == group], PEOPLE.y_score[PEOPLE.group == group]
        threshold, found, low, high, everybody = display.curves["before"][group]
        assert threshold.tolist() == [0.1, 0.3]
        for place, t in enumerate((0.1, 0.3)):
            gain = np.where(label == 1, 1.0, -t / (1 - t))
            assert found[place] == pytest.approx((gain * (score >= t)).mean())
            assert everybody[place] == pytest.approx(gain.mean())
        assert (low < found).all()
        assert (found < high).all()
        np.testing.assert_array_equal(display.lines_["before", group].get_ydata(), found)
    entries = display.axes_["A"].get_legend_handles_labels()[1]
    assert entries == ["act on nobody", "act on everybody", "net benefit (95 % band)"]


def test_after_a_repair_there_are_two_curves_on_one_scale() -> None:
    after = audit(PEOPLE.y_true, PEOPLE.y_score**2, sensitive_features=PEOPLE.group)
    display = NetBenefitDisplay.from_audit(FOUND, after, name="risk").plot()
    assert set(display.lines_) == {(stage, group) for stage in ("before", "after") for group in "AB"}
    assert display.axes_["A"].get_ylim() == display.axes_["B"].get_ylim()
    assert "risk" in display.figure_.get_suptitle()
    same = audit(PEOPLE.y_true, PEOPLE.y_score**2, sensitive_features=PEOPLE.group).table("net_benefit").rows
    own = [row["net_benefit"] for row in same if row["group"] == "B"]
    np.testing.assert_array_equal(display.curves["after"]["B"][1], own)


def test_thresholds_are_probabilities() -> None:
    with pytest.raises(InputError, match="thresholds must be probabilities"):
        NetBenefitDisplay.from_audit(FOUND, thresholds=[2])

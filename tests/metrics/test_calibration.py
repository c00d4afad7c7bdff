"""Calibration against scikit-learn, a bootstrap, and rows whose outcome is what the score says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import xorder
from support.effort import draws
from xorder.exceptions import InputError
from xorder.metrics._calibration import _MANY

NUMBERS = ("observed_to_expected", "intercept", "slope")


def people(
    n: int = 4000, seed: int = 0, *, slope: float = 1.0, shift: float = 0.0
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rows whose outcomes have the log odds ``shift + slope * log odds of the score``."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n, p=[0.6, 0.4])
    odds = rng.normal(-1, 1.2, size=n)
    label = (rng.random(n) < 1 / (1 + np.exp(-(shift + slope * odds)))).astype(int)
    return label, 1 / (1 + np.exp(-odds)), group


def found_in(label: Any, score: Any, group: Any, **options: Any) -> dict[str, dict[str, Any]]:
    rows = xorder.audit(label, score, sensitive_features=group, **options).table("calibration").rows
    return {row["group"]: row for row in rows}


class TestNumbers:
    @pytest.mark.parametrize("n", [3000, 3 * _MANY])
    def test_those_of_a_logistic_regression(self, n: int) -> None:
        label, score, group = people(n, slope=0.7, shift=0.3)
        found = found_in(label, score, group)
        for name in ("a", "b", "all groups"):
            own = group == name if name in "ab" else np.full(n, True)
            odds = np.log(score[own] / (1 - score[own]))[:, None]
            model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(odds, label[own])
            # Of many scores, neighbours are taken as one.
            near = 1e-6 if n < _MANY else 1e-4
            assert found[name]["slope"] == pytest.approx(model.coef_[0, 0], abs=near)
            assert found[name]["observed"] == pytest.approx(label[own].mean(), abs=1e-12)
            assert found[name]["expected"] == pytest.approx(score[own].mean(), abs=1e-8)
            assert found[name]["observed_to_expected"] == pytest.approx(label[own].mean() / score[own].mean(), abs=1e-7)
            # With slope 1 the intercept is where expected and observed meet.
            moved = 1 / (1 + np.exp(-(odds[:, 0] + found[name]["intercept"])))
            assert moved.mean() == pytest.approx(label[own].mean(), abs=1e-6)

    @pytest.mark.slow
    def test_intervals_are_those_of_a_bootstrap(self) -> None:
        label, score, group = people(1500, slope=0.8)
        found = found_in(label, score, group)["a"]
        rng = np.random.default_rng(0)
        drawn = []
        for _ in range(draws(250, 150)):
            chosen = rng.integers(0, 1500, 1500)
            drawn.append(found_in(label[chosen], score[chosen], group[chosen])["a"])
        for name in NUMBERS:
            half = (found[f"{name}_high"] - found[f"{name}_low"]) / 2
            assert half == pytest.approx(1.96 * np.std([each[name] for each in drawn]), rel=0.2)

    @pytest.mark.slow
    def test_intervals_hold_the_truth(self) -> None:
        held = []
        for seed in range(150):
            found = found_in(*people(400, seed))["b"]
            held.append(
                [
                    found[f"{name}_low"] <= truth <= found[f"{name}_high"]
                    for name, truth in zip(NUMBERS, (1, 0, 1), strict=True)
                ]
            )
        assert np.all(np.mean(held, axis=0) > 0.9)

    def test_clusters_of_equal_rows_are_these_rows_once(self) -> None:
        label, score, group = people(600, slope=0.7)
        again = np.repeat(np.arange(600), 3)
        once = found_in(label, score, group)
        told = found_in(label[again], score[again], group[again], clusters=again)
        for name in ("a", "b", "all groups"):
            for number in NUMBERS:
                for end in ("", "_low", "_high"):
                    assert told[name][number + end] == pytest.approx(once[name][number + end], abs=0.003)

    def test_sampling_weights_of_one_size_change_nothing(self) -> None:
        label, score, group = people(600)
        weighted = found_in(label, score, group, sample_weight=np.full(600, 7.0), weights_are="sampling")
        for name, row in found_in(label, score, group).items():
            for number, value in row.items():
                if number not in ("scores", "group"):
                    assert weighted[name][number] == pytest.approx(value, abs=1e-9)

    def test_separated_classes_have_no_slope(self) -> None:
        score = np.tile([0.1, 0.2, 0.8, 0.9], 20)
        with pytest.warns(UserWarning, match="placements do not vary"):
            found = found_in((score > 0.5).astype(int), score, np.repeat(["a", "b"], 40))
        assert found["a"]["slope"] is None
        assert found["a"]["observed_to_expected"] == pytest.approx(1.0)


class TestCurve:
    def test_follows_the_outcomes(self) -> None:
        label, score, group = people(40_000, slope=0.6, shift=0.4)
        audit = xorder.audit(label, score, sensitive_features=group)
        rows = [row for row in audit.table("calibration_curve").rows if row["group"] == "a"]
        odds = [np.log(row["score"] / (1 - row["score"])) for row in rows]
        truth = 1 / (1 + np.exp(-(0.4 + 0.6 * np.array(odds))))
        held = [row["low"] <= right <= row["high"] for row, right in zip(rows, truth, strict=True)]
        assert np.mean(held) > 0.8
        assert max(abs(row["observed"] - right) for row, right in zip(rows, truth, strict=True)) < 0.03
        ici = found_in(label, score, group)["a"]["ici"]
        own = group == "a"
        right = 1 / (1 + np.exp(-(0.4 + 0.6 * np.log(score[own] / (1 - score[own])))))
        assert ici == pytest.approx(np.abs(right - score[own]).mean(), abs=0.005)

    def test_bends_where_a_line_does_not(self) -> None:
        rng = np.random.default_rng(1)
        odds = rng.normal(-1, 1.2, size=30_000)
        truth = 1 / (1 + np.exp(-(odds + 0.4 * (odds + 1) ** 2 - 0.4)))
        label, score = (rng.random(odds.size) < truth).astype(int), 1 / (1 + np.exp(-odds))
        rows = (
            xorder.audit(label, score, sensitive_features=np.tile(["a", "b"], 15_000)).table("calibration_curve").rows
        )
        worst = 0.0
        for row in rows:
            x = np.log(row["score"] / (1 - row["score"]))
            worst = max(worst, abs(row["observed"] - 1 / (1 + np.exp(-(x + 0.4 * (x + 1) ** 2 - 0.4)))))
        assert worst < 0.05


class TestRefused:
    def test_scores_that_are_no_probabilities(self) -> None:
        label, score, group = people(200)
        for scores, said in ((100 * score, "divide them by 100"), (score - 0.5, "between 0 and 1"), (500 * score, "")):
            audit = xorder.audit(label, scores, sensitive_features=group)
            for what in ("calibration", "calibration_curve", "net_benefit"):
                with pytest.raises(InputError, match=f"need scores that are probabilities.*{said}"):
                    audit.table(what)

    def test_scores_of_0_and_1_are_noted(self) -> None:
        label, score, group = people(500)
        score[:7] = [0, 0, 0, 1, 1, 1, 1]
        table = xorder.audit(label, score, sensitive_features=group).table("calibration")
        assert table.notes[0].startswith("7 rows have a score of exactly 0 or 1")
        assert all(row["slope"] is not None for row in table.rows)

    def test_an_adjusted_score_is_no_probability(self) -> None:
        label, score, group = people(500)
        repair = xorder.XOrder(do_no_harm=False).fit(score, label, sensitive_features=group)
        table = xorder.audit(label, score, sensitive_features=group).table("calibration", repair=repair)
        assert [row["scores"] for row in table.rows] == ["as they are"] * 3 + ["adjusted"] * 3
        assert any("no longer probabilities" in note for note in table.notes)
        moved = xorder.audit(label, repair.transform(score, sensitive_features=group), sensitive_features=group)
        alone = moved.table("calibration").rows
        for row, other in zip(table.rows[3:], alone, strict=True):
            assert row["slope"] == pytest.approx(other["slope"], abs=1e-9)


def test_the_scale_of_sampling_weights_means_nothing_where_scores_are_many() -> None:
    rng = np.random.default_rng(7)
    score, group = rng.random(40_000), rng.choice(["a", "b"], 40_000)
    label = (rng.random(40_000) < score).astype(int)
    weights = {"sample_weight": np.full(40_000, 3.0), "weights_are": "sampling"}
    plain, weighted = (
        xorder.audit(label, score, sensitive_features=group, **more).table("calibration").rows for more in ({}, weights)
    )
    for one, other in zip(plain, weighted, strict=True):
        for name in ("observed_to_expected_low", "observed_to_expected_high", "intercept_low", "slope_high"):
            assert one[name] == pytest.approx(other[name], rel=1e-9)

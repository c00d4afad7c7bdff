"""The one rule for which of two orderings is better, and how sensitivities differ as scores stand."""

from __future__ import annotations

import numpy as np
import pytest

from xorder import ScoreTable
from xorder.exceptions import InputError
from xorder.ordering import sensitivity_gaps
from xorder.ordering._ordering import Goal, Places


def test_a_tradeoff_prices_every_gap() -> None:
    value = Goal.of(tradeoff=0.5, max_gap=None).value(np.array([0.8, 0.8]), np.array([-0.1, 0.2]))
    np.testing.assert_allclose(value, [0.75, 0.7])


def test_what_keeps_to_a_limit_comes_first_then_smaller_gaps() -> None:
    goal = Goal.of(tradeoff=None, max_gap=0.1)
    # AUC decides among those within the limit; beyond it the gap does, and AUC only between nearly equal gaps.
    auc, gap = np.array([0.6, 0.5, 0.99, 0.9, 0.99]), np.array([0.0, -0.1, 0.11, 0.11, -0.3])
    assert np.argsort(-goal.value(auc, gap)).tolist() == [0, 1, 2, 3, 4]
    # Rounding is not beyond it.
    assert goal.value(np.array(0.7), np.array(0.1 + 5e-14)) == 0.7


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"tradeoff": None, "max_gap": None}, "one of the two"),
        ({"tradeoff": 1.0, "max_gap": 0.1}, "one of the two"),
        ({"tradeoff": -1.0, "max_gap": None}, "tradeoff must be a finite number"),
        ({"tradeoff": None, "max_gap": np.inf}, "max_gap must be a finite number"),
        ({"tradeoff": None, "max_gap": "0.1"}, "max_gap must be a finite number"),
    ],
)
def test_refuses(asked: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Goal.of(**asked)


@pytest.mark.parametrize("step", [1, 3, 8192])
def test_sensitivities_differ_as_threshold_by_threshold(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xorder.ordering._ordering.STEP", step)
    rng = np.random.default_rng(0)
    for _ in range(200):
        groups = []
        for size in rng.integers(5, 40, 2):
            label = rng.integers(0, 2, size)
            label[0] = 1
            groups.append((label, np.round(rng.random(size), 1)))
        thresholds = np.unique(np.concatenate([score for _, score in groups]))
        first, second = (
            np.array([(score[label == 1] >= least).mean() for least in thresholds]) for label, score in groups
        )
        a, b = (ScoreTable.from_arrays(*group) for group in groups)
        found = sensitivity_gaps(a, b)
        # Above all scores, and at the lowest of them, there is no difference.
        assert found.max() == pytest.approx(max((first - second).max(), 0), abs=1e-12)
        assert found.min() == pytest.approx(min((first - second).min(), 0), abs=1e-12)
        pairs, worst_cut = Places(a, b).meet()
        assert worst_cut == pytest.approx(np.abs(first - second).max(), abs=1e-12)
        (label_a, score_a), (label_b, score_b) = groups
        above = np.greater.outer(score_a, score_b) + 0.5 * np.equal.outer(score_a, score_b)
        wanted = [[above[np.ix_(label_a == one, label_b == other)].sum() for other in (1, 0)] for one in (1, 0)]
        np.testing.assert_array_equal(pairs, wanted)

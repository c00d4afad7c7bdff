"""The one rule for which of two orderings is better."""

from __future__ import annotations

import numpy as np
import pytest

from xorder.exceptions import InputError
from xorder.ordering._ordering import Goal


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

"""Post-logit: Kallus and Zhou's repair by one logistic function of the disadvantaged group's scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from xorder._adjuster import ScoreAdjuster
from xorder._table import FloatArray, ScoreTable
from xorder._validation import DISADVANTAGED
from xorder.exceptions import InputError
from xorder.ordering import DISPARITIES, Disparity, auc_as_pairs

# The paper's ranges, at a resolution of our choosing.
ALPHAS = np.linspace(0.0, 10.0, 1001)
BETAS = np.linspace(-3.0, -1.0, 41)


class PostLogit(ScoreAdjuster):
    """Put one group's scores x through ``1 / (1 + exp(-(alpha x + beta)))`` so that the gap on the sample is smallest.

    It looks at the gap alone, not at the AUC. Among parameters of equal gap the first is taken.

    Parameters
    ----------
    metric : {"xauc", "prf", "parity"}
    beta : float or "search"
        As in the paper -2 by default, with alpha searched in [0, 10]; ``"search"`` tries beta in [-3, -1] as well.
    adjust : group label or "disadvantaged"
        The group whose scores move, as in :class:`xorder.XOrder`.

    Attributes
    ----------
    alpha_, beta_ : the parameters found
    reference_, moved_ : labels of the two groups
    auc_before_, disparity_before_, auc_, disparity_ : on the training sample; disparities are reference minus moved
    """

    _learnt = "auc_"

    def __init__(
        self, *, metric: str = "xauc", beta: float | Literal["search"] = -2.0, adjust: Hashable = DISADVANTAGED
    ) -> None:
        self.metric = metric
        self.beta = beta
        self.adjust = adjust

    def fit(self, y_score: Any, y_true: Any, *, sensitive_features: Any, sample_weight: Any = None) -> PostLogit:
        """Learn the parameters from scores, labels and groups."""
        if not isinstance(self.metric, str) or self.metric not in DISPARITIES:
            raise InputError(f"metric must be one of {', '.join(DISPARITIES)}; got {self.metric!r}.")
        reference, moved = self._set_roles(y_score, y_true, sensitive_features, sample_weight)
        disparity = DISPARITIES[self.metric](reference, moved)
        grid = [(alpha, beta) for beta in self._betas() for alpha in ALPHAS]
        gaps = [disparity.value(pairs) for pairs in _pairs_for_each(reference, moved, grid)]
        best = int(np.argmin(np.abs(gaps)))
        self.alpha_, self.beta_ = (float(value) for value in grid[best])
        self.disparity_ = gaps[best]
        self.auc_ = self._auc(auc_as_pairs(reference, moved), reference, moved)
        return self

    def _move(self, score: FloatArray) -> FloatArray:
        return np.asarray(expit(self.alpha_ * score + self.beta_))

    def _betas(self) -> FloatArray:
        if isinstance(self.beta, str):
            if self.beta != "search":
                raise InputError(f"beta must be a number or 'search'; got {self.beta!r}.")
            return BETAS
        return np.array([float(self.beta)])

    def _auc(self, utility: Disparity, reference: ScoreTable, moved: ScoreTable) -> float:
        # With alpha 0 all of the group share one score, and its own pairs tie as well.
        (pairs,) = _pairs_for_each(reference, moved, [(self.alpha_, self.beta_)])
        value = utility.value(pairs)
        if self.alpha_ == 0:
            lost = float(moved.concordant.sum()) - 0.5 * moved.n1 * moved.n0
            value -= lost * float(utility.matrix[0, 1])
        return value


def _pairs_for_each(
    reference: ScoreTable, moved: ScoreTable, grid: Iterable[tuple[float, float]]
) -> Iterable[FloatArray]:
    """Mass of pairs with the reference's member above, by class, for each alpha and beta.

    The order within both groups stays, so nothing is sorted again: each moved score is looked up among the reference's.
    """
    rising = reference.score[::-1]
    masses = [np.append(np.cumsum(mass), 0.0) for mass in (reference.positive, reference.negative)]
    for alpha, beta in grid:
        adjusted = expit(alpha * moved.score + beta)
        # Scores of the reference strictly above, and at or above, each adjusted score.
        over = len(reference) - np.searchsorted(rising, adjusted, side="right")
        past = len(reference) - np.searchsorted(rising, adjusted, side="left")
        yield np.array(
            [
                [float(other @ (0.5 * (mass[over - 1] + mass[past - 1]))) for other in (moved.positive, moved.negative)]
                for mass in masses
            ]
        )

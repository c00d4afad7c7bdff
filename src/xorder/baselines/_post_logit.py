"""Post-logit: Kallus and Zhou's repair by one logistic function of the disadvantaged group's scores."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from xorder._groups import unseen_error
from xorder._metric import METRICS, PairGains, auc_gains
from xorder._parameters import check_label, check_number, check_word
from xorder._repair import BaseRepair
from xorder._table import FloatArray, ScoreTable, Tables, check_both_classes, pairs_within
from xorder._validation import check_groups, check_scores, check_tables
from xorder.exceptions import InputError, warn_caller
from xorder.ordering import as_scored

# The paper's ranges, at a resolution of our choosing.
ALPHAS = np.linspace(0.0, 10.0, 1001)
BETAS = np.linspace(-3.0, -1.0, 41)

# Gaps that differ by less may be equal but for the order in which weights were added up.
_ROUNDING = 1e-12


@dataclass(kw_only=True, eq=False, repr=False)
class PostLogit(BaseRepair):
    """Put one group's scores x through ``1 / (1 + exp(-(alpha x + beta)))`` so that the gap on the sample is smallest.

    It looks at the gap alone, not at the AUC. Scores are to be between 0 and 1, as what comes out is; with others it
    warns.

    Guarantee: of the 1,001 values of alpha in [0, 10], and with ``beta="search"`` 41 of beta in [-3, -1], those of the
    smallest gap on the sample, and of equal ones the first; bisection measures a few of them only.

    Parameters
    ----------
    metric : {"xauc", "prf", "parity"}, default="xauc"
        Gap that is made small.
    beta : float or "search", default=-2.0
        Value of beta, by default the paper's; ``"search"`` tries several.
    reference : group label, default=None
        The group whose scores stay, as in :class:`xorder.XOrder`.

    Attributes
    ----------
    alpha_, beta_ : float
        Parameters found.
    reference_ : group label
        The group whose scores stay.
    moved_ : tuple of one group label
        The other group.
    auc_before_, gap_before_, auc_, gap_ : float
        Figures of the training sample; gaps are reference minus moved.

    References
    ----------
    .. [1] N. Kallus and A. Zhou (2019), The fairness of risk scores beyond classification: bipartite ranking and the
       xAUC metric, NeurIPS '19.
    """

    metric: Literal["xauc", "prf", "parity"] = "xauc"
    beta: float | Literal["search"] = -2.0
    reference: Hashable | None = None

    def fit(self, y_score: Any, y_true: Any, *, sensitive_features: Any, sample_weight: Any = None) -> PostLogit:
        """Find the parameters for scores, labels and groups.

        Parameters
        ----------
        y_score : array-like of shape (n_samples,)
            Scores, best between 0 and 1.
        y_true : array-like of shape (n_samples,)
            Labels, 0 and 1.
        sensitive_features : array-like of shape (n_samples,)
            Group of each row; there must be two, each with both classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows; a pair weighs the product of its rows' weights.

        Returns
        -------
        PostLogit
            The estimator itself.
        """
        check_word("metric", self.metric, METRICS)
        is_search = isinstance(self.beta, str) and self.beta == "search"
        betas = BETAS.tolist() if is_search else [check_number("beta", self.beta, otherwise="'search'")]
        tables = check_tables(y_true, y_score, sensitive_features, sample_weight)
        check_two_groups(tables)
        groups = list(tables)
        if self.reference is not None:
            check_label("reference", self.reference, groups)
        auc, gap = as_scored(tables[groups[0]], tables[groups[1]], self.metric)
        # Without a name, the one on the winning side of the gap stays; of equals the first.
        if self.reference == groups[1] or (self.reference is None and gap < 0):
            groups, gap = groups[::-1], -gap
        self.reference_, self.moved_ = groups[0], (groups[1],)
        self.auc_before_, self.gap_before_ = auc, gap
        reference, moved = (tables[group] for group in groups)
        if not all(0 <= table.score[-1] <= table.score[0] <= 1 for table in (reference, moved)):
            warn_caller(
                "post-logit moves one group's scores into the range from 0 to 1 and leaves the other's; here scores "
                "lie outside that range. Pass probabilities, such as the second column of predict_proba."
            )
        sample = _Sample(reference, moved, METRICS[self.metric].gains(reference, moved))
        found = [(sample.best_alpha(beta), beta) for beta in betas]
        gaps = [sample.value(*parameters) for parameters in found]
        best = _first_smallest(gaps)
        self.alpha_, self.beta_ = found[best]
        self.gap_ = gaps[best]
        self.auc_ = _Sample(reference, moved, auc_gains(reference, moved)).value(self.alpha_, self.beta_)
        return self

    def transform(self, y_score: Any, *, sensitive_features: Any) -> FloatArray:
        """Adjust scores.

        Parameters
        ----------
        y_score : array-like of shape (n_samples,)
            Scores to adjust.
        sensitive_features : array-like of shape (n_samples,)
            Group of each row, one of the two.

        Returns
        -------
        ndarray of shape (n_samples,)
            Adjusted scores; those of the reference group as they are.
        """
        check_is_fitted(self, "auc_")
        adjusted = np.array(check_scores(y_score), dtype=np.float64)
        for group, mask in check_groups(sensitive_features, adjusted.size):
            if group in self.moved_:
                adjusted[mask] = _logistic(adjusted[mask], self.alpha_, self.beta_)
            elif group != self.reference_:
                known, rows = (self.reference_, *self.moved_), int(np.count_nonzero(mask))
                raise unseen_error(repr(group), known, rows, f"row {int(np.argmax(mask))}", choice=False)
        return adjusted


def check_two_groups(tables: Tables) -> None:
    """Refuse what is not two groups, each with positives and negatives."""
    if len(tables) != 2:
        raise InputError(
            f"sensitive_features must name exactly two groups to repair; got {len(tables)}: "
            f"{', '.join(map(repr, list(tables)[:10]))}. An audit takes any number."
        )
    for group, table in tables.items():
        check_both_classes(table, f"group {group!r}")


def _logistic(score: FloatArray, alpha: float, beta: float) -> FloatArray:
    return np.asarray(expit(alpha * score + beta))


def _first_smallest(gaps: list[float]) -> int:
    size = np.abs(gaps)
    return int(np.argmax(size <= size.min() + _ROUNDING))


class _Sample:
    """Two groups, and a metric of both, with the scores of one put through the function."""

    def __init__(self, reference: ScoreTable, moved: ScoreTable, metric: PairGains) -> None:
        self.moved = moved
        self.metric = metric
        self.rising = reference.score[::-1]
        self.masses = [np.append(np.cumsum(mass), 0.0) for mass in (reference.positive, reference.negative)]

    def value(self, alpha: float, beta: float) -> float:
        """Return the metric; ties count one half, within a group and between groups."""
        value, adjusted = self.value_without_ties(alpha, beta), _logistic(self.moved.score, alpha, beta)
        if self.metric.own[1] and (adjusted[1:] == adjusted[:-1]).any():
            # All of the group tie with alpha 0, and some where the function is flat to the last digit.
            tied = ScoreTable.from_masses(adjusted, self.moved.positive, self.moved.negative)
            value += self.metric.own[1] * (pairs_within(tied) - pairs_within(self.moved))
        return value

    def value_without_ties(self, alpha: float, beta: float) -> float:
        """Return the metric, had the function not made any two scores of the group equal.

        Nothing is sorted again: each adjusted score is looked up among the reference's.
        """
        adjusted, size = _logistic(self.moved.score, alpha, beta), self.rising.size
        # Scores of the reference strictly above, and at or above, each adjusted score.
        over = size - np.searchsorted(self.rising, adjusted, side="right")
        past = size - np.searchsorted(self.rising, adjusted, side="left")
        above = [0.5 * (mass[over - 1] + mass[past - 1]) for mass in self.masses]
        own = (self.moved.positive, self.moved.negative)
        return self.metric.value(np.array([[float(mass @ other) for other in own] for mass in above]))

    def best_alpha(self, beta: float) -> float:
        """Return the first alpha whose gap is the smallest.

        A larger alpha lifts every score above 0, so the gap, reference minus moved, falls as alpha rises but for what
        ties within the group change. Bisection leaves those that may be smallest, often two or three, to be measured.
        """
        gap = cache(lambda index: self.value(float(ALPHAS[index]), beta))
        falling = cache(lambda index: -self.value_without_ties(float(ALPHAS[index]), beta))
        # With alpha 0 all of the group tie; it is measured whatever comes.
        indices = range(1, ALPHAS.size)
        if self.moved.score[-1] >= 0:
            past = bisect_right(indices, 0.0, key=falling)
            near = indices[max(past - 1, 0) : past + 1]
            reach = min(abs(gap(index)) for index in (0, *near)) + self._change_by_ties(beta) + _ROUNDING
            indices = indices[bisect_left(indices, -reach, key=falling) : bisect_right(indices, reach, key=falling)]
        return float(ALPHAS[[0, *indices][_first_smallest([gap(index) for index in (0, *indices)])]])

    def _change_by_ties(self, beta: float) -> float:
        """Bound what ties within the group change, for any alpha but 0: pairs so close that rounding can join them."""
        score, positive, negative = self.moved.score, self.moved.positive, self.moved.negative
        # The logarithm of the function rises by at least 1 / (1 + exp(z)) per step of z, and is right to some epsilons
        # as long as exp(-z) is finite.
        highest = ALPHAS[-1] * score[0]
        with np.errstate(over="ignore"):
            digits = 1 + np.exp(highest + abs(beta)) + highest + abs(beta)
        apart = score[:-1] - score[1:] > 10 * np.finfo(float).eps * digits / ALPHAS[1]
        starts = np.flatnonzero(np.append(True, apart))
        pairs = np.add.reduceat(positive, starts) @ np.add.reduceat(negative, starts) - positive @ negative
        return abs(self.metric.own[1]) * 0.5 * float(pairs)

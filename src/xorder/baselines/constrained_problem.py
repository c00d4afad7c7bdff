"""Maximise AUC with the gap between two groups held below a limit: the problem, for any scorer, on Cooper.

Two players (Cotter et al. 2019, Narasimhan et al. 2020): the scorer lowers smooth stand-ins for the wrongly ordered
pairs and for the gap; the multipliers rise where the gap itself, counted in pairs, is above the limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from xorder._optional import import_optional
from xorder.baselines.grouped import GAP_OF
from xorder.baselines.pairs import CELLS, PairBatch, check_none_empty
from xorder.exceptions import InputError
from xorder.models.parameters import check_share, check_word

torch = import_optional("torch", extra="train", purpose="FairRankingProblem")
cooper = import_optional("cooper", extra="train", purpose="FairRankingProblem")

Cells = Mapping[tuple[int, int], Any]

_CooperProblem: Any = cooper.ConstrainedMinimizationProblem


def squared_hinge(margin: Any) -> Any:
    """Return ``max(0, 1 - margin)^2``: at least 1 for a pair in the wrong order."""
    return torch.clamp(1.0 - margin, min=0.0).square()


def soft_order(margin: Any) -> Any:
    """Return the logistic function of the margin: near 1 for a pair in order, near 0 for one that is not."""
    return torch.sigmoid(margin)


def in_order(margin: Any) -> Any:
    """1 for a pair in order, 1/2 for a tie, 0 otherwise: what is counted, with no slope to follow."""
    return 0.5 * (torch.sign(margin.detach()) + 1.0)


def _check_counts(counts: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    try:
        masses = np.array(counts, dtype=float)
    except (TypeError, ValueError):
        masses = np.empty(0)
    if masses.shape != (2, 2) or not np.isfinite(masses).all() or (masses < 0).any():
        raise InputError(
            "counts must be ((positives of first, of second), (negatives of first, of second)), finite and not "
            f"negative; got {counts!r}."
        )
    check_none_empty(masses.ravel().tolist())
    (a, b), (c, d) = masses.tolist()
    return (a, b), (c, d)


class FairRankingProblem(_CooperProblem):
    """Order pairs well, with |gap| <= epsilon, as a problem for Cooper's optimisers.

    Parameters
    ----------
    scorer : any ``torch.nn.Module`` that gives one score a row.
    counts : rows of each class and group, ``((positives of first, of second), (negatives of first, of second))``;
        or their masses, if rows have weights.
    metric : {"xauc", "prf"}
    epsilon : largest gap allowed.

    Each step of an optimiser takes a :class:`PairBatch`: ``optimiser.roll(compute_cmp_state_kwargs={"batch": batch})``.
    A ``strict_gap`` beside it, counted on more rows, moves the multipliers instead of the batch's own count.
    """

    def __init__(
        self,
        scorer: Any,
        counts: tuple[tuple[float, float], tuple[float, float]],
        *,
        metric: str = "xauc",
        epsilon: float = 0.05,
    ) -> None:
        super().__init__()
        check_word("metric", metric, GAP_OF)
        self.scorer = scorer
        self.epsilon = check_share("epsilon", epsilon)
        positives, negatives = _check_counts(counts)
        self.share_of_pairs = {(g, h): positives[g] * negatives[h] / sum(positives) / sum(negatives) for g, h in CELLS}
        if metric == "xauc":
            self.weight_in_gap = {(0, 1): 1.0, (1, 0): -1.0}
        else:
            self.weight_in_gap = {(g, h): (1 - 2 * g) * negatives[h] / sum(negatives) for g, h in CELLS}
        self.limit = cooper.Constraint(
            constraint_type=cooper.ConstraintType.INEQUALITY,
            formulation_type=cooper.formulations.Lagrangian,
            multiplier=cooper.multipliers.DenseMultiplier(num_constraints=2, dtype=torch.float64),
        )

    def gap(self, margins: Cells, order: Any = in_order) -> Any:
        """First group's figure minus the second's, over the pairs given; counted, or by a smooth stand-in."""
        return sum(weight * order(margins[cell]).mean() for cell, weight in self.weight_in_gap.items())

    def loss(self, margins: Cells) -> Any:
        """Smooth bound on the share of pairs in the wrong order, 1 - AUC, each cell by its share of all pairs."""
        return sum(share * squared_hinge(margins[cell]).mean() for cell, share in self.share_of_pairs.items())

    def compute_cmp_state(self, batch: PairBatch, strict_gap: Any = None) -> Any:
        """Loss, smooth violation (for the scorer) and counted violation (for the multipliers) of both sides."""
        margins = batch.margins(self.scorer)
        smooth = self.gap(margins, soft_order)
        counted = self.gap(margins) if strict_gap is None else torch.as_tensor(strict_gap)
        state = cooper.ConstraintState(violation=self._violation(smooth), strict_violation=self._violation(counted))
        return cooper.CMPState(loss=self.loss(margins), observed_constraints={self.limit: state})

    def _violation(self, gap: Any) -> Any:
        return torch.stack([gap - self.epsilon, -gap - self.epsilon]).double()

"""A linear ranker trained for AUC under a limit on the gap between two groups."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from xorder._optional import import_optional
from xorder._table import FloatArray
from xorder.baselines.constrained_problem import FairRankingProblem
from xorder.baselines.grouped import GroupedLinearModel, GroupedRows
from xorder.baselines.pairs import CELLS, pair_batches
from xorder.exceptions import XorderWarning
from xorder.metrics import xauc_matrix
from xorder.models.base import all_or_nothing
from xorder.models.linear import PairwiseLinearScorer
from xorder.models.parameters import check_not_negative, check_positive, check_share, check_whole

torch = import_optional("torch", extra="train", purpose="ConstrainedRanker")
cooper = import_optional("cooper", extra="train", purpose="ConstrainedRanker")


class Iterate(NamedTuple):
    """A point on the way: its coefficients, and its AUC and gap counted on all training rows."""

    coefficients: FloatArray
    auc: float
    gap: float


class ConstrainedRanker(GroupedLinearModel):
    """Linear scorer of the largest AUC whose gap between two groups is at most ``epsilon`` on the training rows.

    It starts at :class:`xorder.models.PairwiseLinearScorer`, the same problem without a limit, plays the game of
    :class:`FairRankingProblem` on minibatches of pairs, counts AUC and gap on all rows every few steps, and keeps the
    best of these within the limit. If there is none it keeps the one of the smallest gap, and says so.

    Parameters
    ----------
    metric : {"xauc", "prf"}
    epsilon : largest absolute gap allowed.
    max_steps : steps of the game.
    count_every : steps from one count on all rows to the next; in between the multipliers go by the last.
    batch_size : positives, and negatives, of each group in a minibatch.
    learning_rate : of the scorer (Adam).
    dual_rate : of the multipliers (gradient ascent).
    alpha : weight of the squared norm of the coefficients where it starts.
    random_state : of the minibatches; the same gives the same ranker.

    Attributes
    ----------
    coef_, intercept_ : the linear decision function
    feasible_ : whether the limit is kept on the training rows
    auc_, disparity_ : on the training rows; the disparity is the first of ``groups_`` minus the second
    auc_before_, disparity_before_ : the same without a limit: what keeping it costs is ``auc_before_ - auc_``
    history_ : AUC and gap at each count, before the first step to after the last
    """

    def __init__(
        self,
        *,
        metric: str = "xauc",
        epsilon: float = 0.05,
        max_steps: int = 1000,
        count_every: int = 5,
        batch_size: int = 128,
        learning_rate: float = 0.003,
        dual_rate: float = 1.0,
        alpha: float = 1e-4,
        random_state: int = 0,
    ) -> None:
        self.metric = metric
        self.epsilon = epsilon
        self.max_steps = max_steps
        self.count_every = count_every
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.dual_rate = dual_rate
        self.alpha = alpha
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None) -> ConstrainedRanker:
        """Fit to rows, labels and groups; a pair weighs the product of its rows' weights."""
        for name in ("max_steps", "count_every", "batch_size"):
            check_whole(name, getattr(self, name))
        check_share("epsilon", self.epsilon)
        check_positive("learning_rate", self.learning_rate)
        check_positive("dual_rate", self.dual_rate)
        check_not_negative("alpha", self.alpha)
        rows = self._check_grouped_rows(X, y, sensitive_features, sample_weight)
        start = PairwiseLinearScorer(alpha=self.alpha).fit(rows.X, rows.positive, sample_weight=rows.weight)
        scorer = torch.nn.Linear(rows.X.shape[1], 1, bias=False, dtype=torch.float64)
        with torch.no_grad():
            scorer.weight[:] = torch.from_numpy(start.coef_)
        with _one_thread():
            path = self._play(scorer, rows)
        best = _best(path, self.epsilon)
        self.feasible_ = abs(best.gap) <= self.epsilon
        if not self.feasible_:
            warnings.warn(
                f"no count in {self.max_steps:,} steps found the gap within {self.epsilon:g} on the training rows; the "
                f"smallest, {abs(best.gap):.4f}, is kept. More steps or a higher dual_rate may get there.",
                XorderWarning,
                # Past the wrapper of fit.
                stacklevel=3,
            )
        self.history_ = np.array([(step.auc, step.gap) for step in path])
        self.auc_before_, self.disparity_before_ = path[0].auc, path[0].gap
        self.auc_, self.disparity_ = best.auc, best.gap
        self.coef_ = best.coefficients
        score, share = rows.X @ self.coef_, rows.weight
        middle = [np.average(score[side], weights=share[side]) for side in (rows.positive, ~rows.positive)]
        self.intercept_ = -0.5 * float(sum(middle))
        return self

    def _play(self, scorer: Any, rows: GroupedRows) -> list[Iterate]:
        masses = [
            (float(rows.weight[side & rows.in_first].sum()), float(rows.weight[side & ~rows.in_first].sum()))
            for side in (rows.positive, ~rows.positive)
        ]
        problem = FairRankingProblem(scorer, (masses[0], masses[1]), metric=self.metric, epsilon=self.epsilon)
        primal = torch.optim.Adam(scorer.parameters(), lr=self.learning_rate)
        # Smaller and smaller steps, so that the noise of minibatches dies away.
        slower = torch.optim.lr_scheduler.LinearLR(primal, 1.0, 0.01, total_iters=self.max_steps)
        optimiser = cooper.optim.SimultaneousOptimizer(
            cmp=problem,
            primal_optimizers=primal,
            dual_optimizers=torch.optim.SGD(problem.dual_parameters(), lr=self.dual_rate, maximize=True),
        )
        batches = pair_batches(
            rows.X,
            rows.positive,
            rows.in_first,
            size=self.batch_size,
            random_state=self.random_state,
            sample_weight=rows.weight,
        )
        path = [_counted(problem, scorer, rows)]
        for step, batch in enumerate(islice(batches, self.max_steps), start=1):
            optimiser.roll(compute_cmp_state_kwargs={"batch": batch, "strict_gap": path[-1].gap})
            slower.step()
            if step % self.count_every == 0 or step == self.max_steps:
                path.append(_counted(problem, scorer, rows))
        return path


@contextmanager
def _one_thread() -> Iterator[None]:
    """Tensors as small as a minibatch take longer on several threads than on one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _counted(problem: FairRankingProblem, scorer: Any, rows: GroupedRows) -> Iterate:
    """AUC and gap over all pairs of the training rows, as they are ordered now."""
    coefficients = scorer.weight.detach().numpy()[0].copy()
    # The first group is listed first: sorted, False comes before True.
    weight = None if (rows.weight == 1).all() else rows.weight
    score = rows.X @ coefficients
    matrix = xauc_matrix(rows.positive, score, sensitive_features=~rows.in_first, sample_weight=weight).values
    auc = sum(problem.share_of_pairs[cell] * matrix[cell] for cell in CELLS)
    gap = sum(weight * matrix[cell] for cell, weight in problem.weight_in_gap.items())
    return Iterate(coefficients, float(auc), float(gap))


def _best(path: list[Iterate], epsilon: float) -> Iterate:
    """Of the steps within the limit the one of the largest AUC; of none, the step of the smallest gap."""
    within = [step for step in path if abs(step.gap) <= epsilon]
    return max(within, key=lambda step: step.auc) if within else min(path, key=lambda step: abs(step.gap))

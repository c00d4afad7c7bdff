"""A linear ranker trained for AUC under a limit on the gap between two groups, on minibatches of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from xorder._optional import import_optional
from xorder._parameters import check_number, check_whole, check_word
from xorder._table import BoolArray, FloatArray
from xorder._validation import check_weights
from xorder.baselines._grouped import TRAINABLE, GroupedLinearModel, GroupedRows
from xorder.exceptions import InputError, warn_caller
from xorder.models._base import all_or_nothing, midway_intercept
from xorder.models._linear import PairwiseLinearScorer

torch = import_optional("torch", extra="train", purpose="Training a fair ranker")
cooper = import_optional("cooper", extra="train", purpose="Training a fair ranker")

Cells = Mapping[tuple[int, int], Any]

# A cell is the group (0 or 1) of the positive and that of the negative.
CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))

# The four kinds of rows that the cells are made of, in the order in which they are counted and drawn.
KINDS = tuple(f"{label} of the {side} group" for label in ("positives", "negatives") for side in ("first", "second"))


@dataclass(frozen=True, slots=True)
class PairBatch:
    """Inputs of some positives and of some negatives of each of two groups; every positive meets every negative.

    Parameters
    ----------
    positives : tuple of two torch.Tensor
        Inputs of positives of the first and of the second group.
    negatives : tuple of two torch.Tensor
        Inputs of negatives of the first and of the second group.
    """

    positives: tuple[Any, Any]
    negatives: tuple[Any, Any]

    def margins(self, scorer: Any) -> dict[tuple[int, int], Any]:
        """Return the score of each positive less that of each negative, by the groups of the two.

        Parameters
        ----------
        scorer : callable
            Function, such as a ``torch.nn.Module``, that gives one score per row.

        Returns
        -------
        dict of (int, int) to torch.Tensor
            Matrix of margins for each group, 0 or 1, of the positive and of the negative.
        """
        parts = [*self.positives, *self.negatives]
        scores = scorer(torch.cat(parts)).reshape(-1).split([len(part) for part in parts])
        return {(g, h): scores[g][:, None] - scores[2 + h][None, :] for g, h in CELLS}


def pair_batches(
    X: Any, positive: Any, in_first: Any, *, size: int, random_state: int, sample_weight: Any = None
) -> Iterator[PairBatch]:
    """Draw batches without end: ``size`` positives and as many negatives of each group, with chances by weight.

    Parameters
    ----------
    X : array-like or torch.Tensor of shape (n_samples, n_inputs)
        Inputs.
    positive : array-like of shape (n_samples,)
        Labels, boolean or 0 and 1.
    in_first : array-like of shape (n_samples,)
        Membership in the first of two groups, boolean or 0 and 1.
    size : int
        Positives, and negatives, of each group in a batch.
    random_state : int
        Seed; the same one gives the same batches.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of rows, which their chances follow.

    Returns
    -------
    iterator of PairBatch
        Batches, without end.

    Raises
    ------
    InputError
        If a class has no rows of weight above 0 in a group.
    """
    rows = torch.as_tensor(X)
    labels, sides = _mask(positive, "positive", len(rows)), _mask(in_first, "in_first", len(rows))
    weight = np.ones(len(rows)) if sample_weight is None else check_weights(sample_weight, len(rows))
    pools = [np.flatnonzero(label & side & (weight > 0)) for label in (labels, ~labels) for side in (sides, ~sides)]
    check_none_empty([pool.size for pool in pools])
    rng = np.random.default_rng(check_whole("random_state", random_state, at_least=0))
    return _draw(rows, pools, weight, check_whole("size", size), rng)


def check_none_empty(masses: Sequence[float]) -> None:
    """Raise if there is nothing of one of the four kinds of rows, naming it."""
    empty = [kind for kind, mass in zip(KINDS, masses, strict=True) if not mass > 0]
    if empty:
        raise InputError(
            f"there are no {' and no '.join(empty)}; pairs need positives and negatives of both groups, of weight "
            "above 0."
        )


def _draw(rows: Any, pools: list[Any], weight: Any, size: int, rng: np.random.Generator) -> Iterator[PairBatch]:
    chances = [np.cumsum(weight[pool]) / weight[pool].sum() for pool in pools]
    while True:
        drawn = [
            rows[torch.from_numpy(pool[np.minimum(np.searchsorted(chance, rng.random(size)), pool.size - 1)])]
            for pool, chance in zip(pools, chances, strict=True)
        ]
        yield PairBatch((drawn[0], drawn[1]), (drawn[2], drawn[3]))


def _mask(values: Any, name: str, rows: int) -> BoolArray:
    column = np.asarray(values)
    if column.shape != (rows,):
        raise InputError(f"{name} must have one value per row, {rows:,} in all; got shape {column.shape}.")
    mask = column == 1
    if not (mask | (column == 0)).all():
        raise InputError(f"{name} must hold only 0 and 1, or booleans; got other values.")
    return np.asarray(mask, dtype=bool)


_CooperProblem: Any = cooper.ConstrainedMinimizationProblem


def squared_hinge(margin: Any) -> Any:
    """Return ``max(0, 1 - margin)^2``: at least 1 for a pair in the wrong order."""
    return torch.clamp(1.0 - margin, min=0.0).square()


def in_order(margin: Any) -> Any:
    """Return 1 for a pair in order, 1/2 for a tie, 0 otherwise: what is counted, without a slope to follow."""
    return 0.5 * (torch.sign(margin.detach()) + 1.0)


def _check_counts(counts: Any) -> list[list[float]]:
    try:
        masses = np.array(counts, dtype=float).reshape(2, 2)
    except (TypeError, ValueError):
        masses = np.full((2, 2), np.nan)
    if not (masses >= 0).all() or not np.isfinite(masses).all():
        must = "counts must be ((positives of first, of second), (negatives of first, of second))"
        raise InputError(f"{must}, finite and not negative; got {counts!r}.")
    check_none_empty(masses.ravel().tolist())
    return list(masses.tolist())


class FairRankingProblem(_CooperProblem):
    """Order pairs well, with ``|gap|`` <= epsilon, as a problem for Cooper's optimisers.

    Each step of an optimiser takes a :class:`PairBatch`: ``optimiser.roll(compute_cmp_state_kwargs={"batch": batch})``.
    A ``strict_gap`` beside it, counted on more rows, moves the multipliers instead of the batch's own count.

    Parameters
    ----------
    scorer : torch.nn.Module
        Any module that gives one score per row.
    counts : tuple of two tuples of two floats
        Rows of each class and group, ``((positives of first, of second), (negatives of first, of second))``; or their
        masses, if rows have weights.
    metric : {"xauc", "prf"}, default="xauc"
        Gap that is limited.
    epsilon : float, default=0.05
        Largest absolute gap allowed, from 0 to 1.

    References
    ----------
    .. [1] H. Narasimhan, A. Cotter, M. Gupta and S. Wang (2020), Pairwise fairness for ranking and regression,
       AAAI '20.
    """

    def __init__(
        self,
        scorer: Any,
        counts: tuple[tuple[float, float], tuple[float, float]],
        *,
        metric: Literal["xauc", "prf"] = "xauc",
        epsilon: float = 0.05,
    ) -> None:
        super().__init__()
        check_word("metric", metric, TRAINABLE)
        self.scorer = scorer
        self.epsilon = check_number("epsilon", epsilon, at_least=0, at_most=1)
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
        """Return the first group's figure minus the second's, over the pairs given.

        Parameters
        ----------
        margins : dict of (int, int) to torch.Tensor
            Margins of pairs by the groups of the two, as :meth:`PairBatch.margins` gives them.
        order : callable, optional
            Function of margins that is 1 for a pair in order and 0 for one that is not: by default a count, or a smooth
            stand-in.

        Returns
        -------
        torch.Tensor
            The gap, one number.
        """
        return sum(weight * order(margins[cell]).mean() for cell, weight in self.weight_in_gap.items())

    def loss(self, margins: Cells) -> Any:
        """Return a smooth bound on the share of pairs in the wrong order, 1 - AUC.

        Parameters
        ----------
        margins : dict of (int, int) to torch.Tensor
            Margins of pairs by the groups of the two, each counted by its share of all pairs.

        Returns
        -------
        torch.Tensor
            The bound, one number.
        """
        return sum(share * squared_hinge(margins[cell]).mean() for cell, share in self.share_of_pairs.items())

    def compute_cmp_state(self, batch: PairBatch, strict_gap: Any = None) -> Any:
        """Return what one step of Cooper's optimisers follows.

        Parameters
        ----------
        batch : PairBatch
            Rows to take the pairs from.
        strict_gap : float, optional
            Gap counted on more rows, for the multipliers; by default that of the batch.

        Returns
        -------
        cooper.CMPState
            Loss, smooth violation (for the scorer) and counted violation (for the multipliers) of both sides.
        """
        margins = batch.margins(self.scorer)
        # Near 1 for a pair in order, near 0 for one that is not.
        smooth = self.gap(margins, torch.sigmoid)
        counted = self.gap(margins) if strict_gap is None else torch.as_tensor(strict_gap)
        state = cooper.ConstraintState(violation=self._violation(smooth), strict_violation=self._violation(counted))
        return cooper.CMPState(loss=self.loss(margins), observed_constraints={self.limit: state})

    def _violation(self, gap: Any) -> Any:
        return torch.stack([gap - self.epsilon, -gap - self.epsilon]).double()


class Iterate(NamedTuple):
    """A point on the way: its coefficients, and its AUC and gap counted on all training rows."""

    coefficients: FloatArray
    auc: float
    gap: float


@dataclass(kw_only=True, eq=False, repr=False)
class ConstrainedRanker(GroupedLinearModel):
    """Linear scorer of the largest AUC whose gap between two groups is at most ``epsilon`` on the training rows.

    It starts at :class:`xorder.models.PairwiseLinearScorer`, the same problem without a limit, plays the game of
    :class:`FairRankingProblem` on minibatches of pairs, counts AUC and gap on all rows every few steps, and keeps the
    best of these within the limit. If there is none it keeps the one of the smallest gap, and warns.

    Parameters
    ----------
    metric : {"xauc", "prf"}, default="xauc"
        Gap that is limited.
    epsilon : float, default=0.05
        Largest absolute gap allowed, from 0 to 1.
    max_steps : int, default=1000
        Steps of the game.
    count_every : int, default=5
        Steps from one count on all rows to the next; in between the multipliers go by the last.
    batch_size : int, default=128
        Positives, and negatives, of each group in a minibatch.
    learning_rate : float, default=0.003
        Rate of the scorer (Adam).
    dual_rate : float, default=1.0
        Rate of the multipliers (gradient ascent).
    alpha : float, default=1e-4
        Weight of the squared norm of the coefficients where it starts.
    random_state : int, default=0
        Seed of the minibatches; the same one gives the same ranker.

    Attributes
    ----------
    coef_ : ndarray of shape (n_inputs,)
        Coefficients of the decision function.
    intercept_ : float
        Its intercept, which puts 0 half-way between the classes' mean scores.
    groups_ : tuple
        The two groups, in sorted order.
    feasible_ : bool
        Whether the limit is kept on the training rows.
    auc_, gap_ : float
        Figures of the training rows; the gap is the first of ``groups_`` minus the second.
    auc_before_, gap_before_ : float
        The same without a limit: what keeping it costs is ``auc_before_ - auc_``.
    history_ : ndarray of shape (n_counts, 2)
        AUC and gap at each count, before the first step to after the last.

    References
    ----------
    .. [1] H. Narasimhan, A. Cotter, M. Gupta and S. Wang (2020), Pairwise fairness for ranking and regression,
       AAAI '20.
    .. [2] A. Cotter, H. Jiang and K. Sridharan (2019), Two-player games for efficient non-convex constrained
       optimization, ALT '19.
    """

    metric: Literal["xauc", "prf"] = "xauc"
    epsilon: float = 0.05
    max_steps: int = 1000
    count_every: int = 5
    batch_size: int = 128
    learning_rate: float = 0.003
    dual_rate: float = 1.0
    alpha: float = 1e-4
    random_state: int = 0

    @all_or_nothing
    def fit(self, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None) -> ConstrainedRanker:
        """Fit to rows, labels and groups.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Inputs.
        y : array-like of shape (n_samples,)
            Labels of two classes; the second in sorted order is to rank high.
        sensitive_features : array-like of shape (n_samples,)
            Group of each row; there must be two, each with both classes.
        sample_weight : float or array-like of shape (n_samples,), optional
            Weights of rows; a pair weighs the product of its rows' weights.

        Returns
        -------
        ConstrainedRanker
            The estimator itself.
        """
        for name in ("max_steps", "count_every", "batch_size"):
            check_whole(name, getattr(self, name))
        check_number("epsilon", self.epsilon, at_least=0, at_most=1)
        check_number("learning_rate", self.learning_rate, above=0)
        check_number("dual_rate", self.dual_rate, above=0)
        check_number("alpha", self.alpha, at_least=0)
        rows = self._check_grouped_rows(X, y, sensitive_features, sample_weight)
        start = PairwiseLinearScorer(alpha=self.alpha).fit(rows.X, rows.positive, sample_weight=rows.weight)
        scorer = torch.nn.Linear(rows.X.shape[1], 1, bias=False, dtype=torch.float64)
        with torch.no_grad():
            scorer.weight[:] = torch.from_numpy(start.coef_)
        # Tensors as small as a minibatch take longer on several threads than on one.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            path = self._play(scorer, rows)
        finally:
            torch.set_num_threads(threads)
        best = _best(path, self.epsilon)
        self.feasible_ = abs(best.gap) <= self.epsilon
        if not self.feasible_:
            warn_caller(
                f"no count in {self.max_steps:,} steps found the gap within {self.epsilon:g} on the training rows; the "
                f"smallest, {abs(best.gap):.4f}, is kept. More steps or a higher dual_rate may get there."
            )
        self.history_ = np.array([(step.auc, step.gap) for step in path])
        self.auc_before_, self.gap_before_ = path[0].auc, path[0].gap
        self.auc_, self.gap_ = best.auc, best.gap
        self.coef_ = best.coefficients
        self.intercept_ = midway_intercept(rows.X @ self.coef_, rows.positive, rows.weight)
        return self

    def _play(self, scorer: Any, rows: GroupedRows) -> list[Iterate]:
        first, second = rows.tables(np.zeros(len(rows.X)))
        counts = (first.n1, second.n1), (first.n0, second.n0)
        problem = FairRankingProblem(scorer, counts, metric=self.metric, epsilon=self.epsilon)
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

        def counted() -> Iterate:
            coefficients = scorer.weight.detach().numpy()[0].copy()
            return Iterate(coefficients, *rows.figures(coefficients, self.metric))

        path = [counted()]
        for step, batch in enumerate(islice(batches, self.max_steps), start=1):
            optimiser.roll(compute_cmp_state_kwargs={"batch": batch, "strict_gap": path[-1].gap})
            slower.step()
            if step % self.count_every == 0 or step == self.max_steps:
                path.append(counted())
        return path


def _best(path: list[Iterate], epsilon: float) -> Iterate:
    """Return the step of the largest AUC within the limit, or that of the smallest gap if none is."""
    within = [step for step in path if abs(step.gap) <= epsilon]
    return max(within, key=lambda step: step.auc) if within else min(path, key=lambda step: abs(step.gap))

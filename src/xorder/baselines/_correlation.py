"""Correlation regularisation (Beutel et al. 2019): train so that margins of pairs do not go with the group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from xorder._optional import import_optional
from xorder._parameters import check_number, check_whole, check_word
from xorder.baselines._grouped import TRAINABLE, GroupedLinearModel
from xorder.exceptions import InputError
from xorder.models._base import all_or_nothing

torch = import_optional("torch", extra="train", purpose="Training a fair ranker")

# Within this distance of 0 the absolute value is rounded off, so that there is a slope to follow.
_ROUNDED = 1e-3

# A spread of margins below this share of the largest score counts as that share: of scores that hardly differ a
# correlation is mostly rounding, and its slope has no bound.
_LEAST_SPREAD = 1e-4


def pairwise_correlation(
    score: Any, positive: Any, member: Any, *, metric: Literal["xauc", "prf"] = "xauc", sample_weight: Any = None
) -> Any:
    """Return the correlation, over pairs of a positive i and a negative j, of the margin s_i - s_j with i's group.

    A plain function of tensors, differentiable in ``score``: add ``weight * pairwise_correlation(...).abs()`` to any
    training loss. With ``metric="prf"`` it runs over all pairs, with ``"xauc"`` over those of one group each. No pairs
    are formed: the two ends of a margin are independent draws, so the moments of each class suffice.

    Where there is nothing to correlate, as in a minibatch without positives of one group, it is 0, with slope 0. Where
    margins spread by less than a ten-thousandth of the largest absolute score, it fades to 0 as scores become equal.

    Parameters
    ----------
    score : torch.Tensor of shape (n_samples,)
        Scores.
    positive : torch.Tensor of shape (n_samples,)
        Labels, boolean or 0 and 1.
    member : torch.Tensor of shape (n_samples,)
        Membership in one of two groups, boolean or 0 and 1.
    metric : {"xauc", "prf"}, default="xauc"
        Pairs of two groups, or all pairs.
    sample_weight : torch.Tensor of shape (n_samples,), optional
        Weights of rows; a pair weighs the product of its rows' weights.

    Returns
    -------
    torch.Tensor
        The correlation, one number between -1 and 1.

    References
    ----------
    .. [1] A. Beutel et al. (2019), Fairness in recommendation ranking through pairwise comparisons, KDD '19.

    Examples
    --------
    >>> score = torch.tensor([3.0, 1.0, 0.0, 2.0, 0.0, 1.0])
    >>> positive = torch.tensor([True, True, False, True, False, False])
    >>> member = torch.tensor([True, True, True, False, False, False])
    >>> round(float(pairwise_correlation(score, positive, member)), 4)
    -0.1961
    """
    check_word("metric", metric, TRAINABLE)
    # In half precision sums of many rows, and squares of small scores, would be lost.
    score = score.to(torch.promote_types(score.dtype, torch.float32))
    positive, member = _mask(positive, "positive", score), _mask(member, "member", score)
    weight = torch.ones_like(score) if sample_weight is None else torch.as_tensor(sample_weight).to(score)
    if weight.shape != score.shape:
        raise InputError(f"sample_weight must have one value per score; got shape {tuple(weight.shape)}.")
    centred = score - score.detach().mean()
    masses, means, spreads = [], [], []
    for own in (member, ~member):
        parts = weight * (positive & own), weight * (~positive if metric == "prf" else ~positive & ~own)
        if not all(bool(part.any()) for part in parts):
            return score.sum() * 0.0
        (mass_i, mean_i, spread_i), (mass_j, mean_j, spread_j) = (_moments(centred, part) for part in parts)
        masses.append(mass_i * mass_j)
        means.append(mean_i - mean_j)
        spreads.append(spread_i + spread_j)
    share = masses[0] / (masses[0] + masses[1])
    spread_of_membership = share * (1 - share)
    difference = means[0] - means[1]
    spread = share * spreads[0] + (1 - share) * spreads[1] + spread_of_membership * difference**2
    largest = score.detach().abs().max()
    least = torch.where(largest > 0, _LEAST_SPREAD * largest, torch.ones_like(largest)).square()
    return torch.sqrt(spread_of_membership / torch.maximum(spread, least)) * difference


def _mask(values: Any, name: str, score: Any) -> Any:
    """Return one truth per score, of booleans or of 0 and 1."""
    values = torch.as_tensor(values, device=score.device)
    if values.shape != score.shape:
        raise InputError(
            f"{name} must have the shape of score, {tuple(score.shape)}; got {tuple(values.shape)}. "
            "A network's column of scores becomes one with squeeze(1)."
        )
    mask = values.bool()
    if values.dtype != torch.bool and not bool((values == mask).all()):
        raise InputError(f"{name} must hold only 0 and 1, or booleans; got other values.")
    return mask


@dataclass(kw_only=True, eq=False, repr=False)
class CorrelationRegularized(GroupedLinearModel):
    """Logistic scorer that pays for the correlation of pairwise margins with the group.

    It minimises mean cross-entropy plus ``weight`` times the absolute :func:`pairwise_correlation` of the predicted
    probabilities, from the best fit without that price. Scale the inputs first. A correlation is not a gap: at
    its floor a gap may remain.

    Parameters
    ----------
    weight : float, default=1.0
        Price of a correlation of 1, in units of mean cross-entropy.
    metric : {"xauc", "prf"}, default="xauc"
        Pairs of two groups, or all pairs.
    alpha : float, default=1e-4
        Weight of the squared norm of the coefficients.
    max_iter : int, default=500
        Iterations of L-BFGS at most.

    Attributes
    ----------
    coef_ : ndarray of shape (n_inputs,)
        Coefficients of the decision function.
    intercept_ : float
        Its intercept.
    groups_ : tuple
        The two groups, in sorted order.
    correlation_ : float
        Correlation left on the training rows, for the first of ``groups_``.
    auc_, gap_ : float
        Figures of the training rows; the gap is the first of ``groups_`` minus the second.

    References
    ----------
    .. [1] A. Beutel et al. (2019), Fairness in recommendation ranking through pairwise comparisons, KDD '19.
    """

    weight: float = 1.0
    metric: Literal["xauc", "prf"] = "xauc"
    alpha: float = 1e-4
    max_iter: int = 500

    @all_or_nothing
    def fit(self, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None) -> CorrelationRegularized:
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
            Weights of rows, which multiply their loss.

        Returns
        -------
        CorrelationRegularized
            The estimator itself.
        """
        check_number("weight", self.weight, at_least=0)
        check_number("alpha", self.alpha, at_least=0)
        check_whole("max_iter", self.max_iter)
        rows = self._check_grouped_rows(X, y, sensitive_features, sample_weight)
        inputs, positive, member = map(torch.from_numpy, (rows.X, rows.positive, rows.in_first))
        share = torch.from_numpy(rows.weight / rows.weight.sum())
        coefficients = torch.zeros(rows.X.shape[1] + 1, dtype=torch.float64, requires_grad=True)

        def correlation() -> Any:
            chance = torch.sigmoid(inputs @ coefficients[:-1] + coefficients[-1])
            return pairwise_correlation(chance, positive, member, metric=self.metric, sample_weight=share)

        def entropy() -> Any:
            score = inputs @ coefficients[:-1] + coefficients[-1]
            fit = torch.nn.functional.softplus(torch.where(positive, -score, score))
            return share @ fit + 0.5 * self.alpha * coefficients[:-1].square().sum()

        def loss() -> Any:
            return entropy() + self.weight * (torch.hypot(correlation(), rounded) - _ROUNDED)

        rounded = torch.tensor(_ROUNDED, dtype=torch.float64)
        minimise(entropy, coefficients, max_iter=self.max_iter)
        if self.weight > 0:
            minimise(loss, coefficients, max_iter=self.max_iter)
        found = coefficients.detach().numpy()
        self.coef_, self.intercept_ = np.array(found[:-1]), float(found[-1])
        with torch.no_grad():
            self.correlation_ = float(correlation())
        self.auc_, self.gap_ = rows.figures(self.coef_, self.metric)
        return self


def minimise(loss: Any, parameters: Any, *, max_iter: int) -> None:
    """Bring a smooth function of one tensor down by L-BFGS, in place."""
    optimiser = torch.optim.LBFGS(
        [parameters], max_iter=max_iter, tolerance_grad=1e-8, tolerance_change=1e-12, line_search_fn="strong_wolfe"
    )

    def closure() -> Any:
        optimiser.zero_grad()
        value = loss()
        value.backward()
        return value

    optimiser.step(closure)


def _moments(score: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Return mass, mean and variance of weighted scores."""
    mass = weight.sum()
    mean = (weight * score).sum() / mass
    return mass, mean, (weight * (score - mean) ** 2).sum() / mass

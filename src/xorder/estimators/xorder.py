"""XOrder: learn on one sample how to adjust scores, apply it to any other."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from xorder._adjuster import ScoreAdjuster
from xorder._table import FloatArray, ScoreTable
from xorder._validation import DISADVANTAGED
from xorder.estimators.words import repair_text
from xorder.exceptions import InputError, MapFileError, XorderWarning
from xorder.ordering import DISPARITIES, SOLVERS, as_scored, order, order_within
from xorder.transfer import ScoreMap, middle_ranks, read_maps, realises, spaced_map, write_maps

TRANSFERS = ("interpolate", "rank")


class XOrder(ScoreAdjuster):
    """Adjust one group's scores so that two groups are ranked on equal terms, keeping the AUC high.

    The scores of one group, the reference, stay as they are. Those of the other go through a strictly
    increasing map, so the order within each group never changes.

    Parameters
    ----------
    metric : {"xauc", "prf", "parity"}
        The gap to close.
    tradeoff : float, optional
        Points of AUC worth giving for one point of the gap (the paper's lambda). Instead of ``max_disparity``.
    max_disparity : float
        Largest gap wanted on the training sample, met at the smallest cost in AUC that the solver finds.
    solver : {"frontier", "dp", "greedy", "insertion"}
        How the groups are interleaved; see :func:`xorder.order`.
    transfer : {"interpolate", "rank"}
        How new scores are adjusted: by straight lines between the training scores, or, as the original code
        does and only for comparison with it, by their rank in the batch given to :meth:`transform`. With
        ``"rank"`` the result for one person depends on who else is in the batch.
    adjust : group label or "disadvantaged"
        The group whose scores move. By default the one on the losing side of the gap in the training sample:
        for xAUC the group whose positives less often outrank the other's negatives, for PRF the one of lower
        PRF, for parity the one less often ranked above the other. If there is no gap at all, the last group in
        sorted order.
    bounds : (low, high), optional
        Scores stay between these, e.g. ``(0, 100)`` for percentages. Scores that all lie in [0, 1] stay there anyway;
        others may leave the range they had by as much as it takes to stand above or below the reference's.

    Where many people of both groups share the same few scores, no ordering may be as fair as those ties. With the
    frontier solver the scores are then left alone, with a warning.

    Attributes
    ----------
    maps_ : dict, group -> ScoreMap
    reference_, moved_ : labels of the two groups
    ordering_ : Ordering of the training scores, reference first
    auc_before_, disparity_before_ : of the training sample as it was; disparities are reference minus moved
    auc_, disparity_ : of the training sample after adjustment
    bound_, gap_ : what no ordering's objective exceeds, and how far below it this one is at most, in AUC

    Examples
    --------
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(2000)
    >>> repair = XOrder().fit(people.y_score, people.y_true, sensitive_features=people.group)
    >>> repair.moved_, round(repair.disparity_before_, 3), round(abs(repair.disparity_), 3)
    ('B', 0.231, 0.0)
    >>> repair.transform([0.2, 0.2], sensitive_features=["A", "B"]).round(3)
    array([0.2  , 0.353])
    """

    _learnt = "maps_"

    def __init__(
        self,
        *,
        metric: str = "xauc",
        tradeoff: float | None = None,
        max_disparity: float = 0.0,
        solver: str = "frontier",
        transfer: str = "interpolate",
        adjust: Hashable = DISADVANTAGED,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        self.metric = metric
        self.tradeoff = tradeoff
        self.max_disparity = max_disparity
        self.solver = solver
        self.transfer = transfer
        self.adjust = adjust
        self.bounds = bounds

    def fit(self, y_score: Any, y_true: Any, *, sensitive_features: Any, sample_weight: Any = None) -> XOrder:
        """Learn the adjustment from scores, labels and groups."""
        self._check_params()
        if self.transfer == "rank" and sample_weight is not None:
            raise InputError("transfer='rank' knows no weights: a batch to transform has none. Use 'interpolate'.")
        reference, moved = self._set_roles(y_score, y_true, sensitive_features, sample_weight)
        if self.tradeoff is not None:
            found = order(reference, moved, metric=self.metric, tradeoff=self.tradeoff, solver=self.solver)
        else:
            found = order_within(
                reference, moved, metric=self.metric, max_disparity=self.max_disparity, solver=self.solver
            )
        learnt = spaced_map(reference.score, moved.score, found.b_above, self._checked_bounds(reference, moved))
        adjusted = learnt.adjusted[np.searchsorted(learnt.raw, moved.score[-1]) :][: len(moved)][::-1]
        self.ordering_, self.bound_ = found, found.bound
        self.auc_, self.disparity_ = found.auc, found.disparity
        if not realises(reference.score, adjusted, found.b_above):
            table = ScoreTable(adjusted, moved.positive, moved.negative)
            self.auc_, self.disparity_ = as_scored(reference, table, self.metric)
            self._warn_of_lost_room()
        if self.transfer == "rank":
            learnt = ScoreMap(middle_ranks(moved.score[::-1], moved.mass[::-1]), adjusted[::-1])
        if self._worse_than_before():
            learnt = ScoreMap.identity()
            self.auc_, self.disparity_ = self.auc_before_, self.disparity_before_
        elif self.tradeoff is None and 0 < self.max_disparity < abs(self.disparity_) - 1e-9:
            _warn(
                f"max_disparity {self.max_disparity:g} was not met on this sample by solver {self.solver!r}; the gap "
                f"is {self.disparity_:+.4g}."
            )
        self.gap_ = max(self.bound_ - (self.auc_ - found.tradeoff * abs(self.disparity_)), 0.0)
        self.maps_ = {self.reference_: ScoreMap.identity(), self.moved_: learnt}
        return self

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
        """Write the fitted adjustment as JSON; :func:`xorder.load` reads it back."""
        check_is_fitted(self, "maps_")
        settings, results = (
            {name: value.item() if isinstance(value, np.generic) else value for name, value in record.items()}
            for record in (self.get_params(), self.summary())
        )
        write_maps(path, self.maps_, params=settings, summary=results, overwrite=overwrite)

    def summary(self) -> dict[str, Any]:
        """Return what the adjustment did on the training sample, ready for JSON."""
        check_is_fitted(self, "maps_")
        return {name: getattr(self, attribute) for name, attribute in _SUMMARY.items()}

    def report(self) -> str:
        """Say in words what the adjustment did on the training sample."""
        check_is_fitted(self, "maps_")
        return repair_text(self.summary(), self.tradeoff, moves=self.maps_[self.moved_].raw.size > 0)

    def _check_params(self) -> None:
        for name, allowed in (("metric", DISPARITIES), ("solver", SOLVERS), ("transfer", TRANSFERS)):
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in allowed:
                raise InputError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}.")
        if self.tradeoff is not None and self.max_disparity != 0.0:
            raise InputError("give tradeoff or max_disparity, not both.")
        if self.tradeoff is not None and not isinstance(self.tradeoff, int | float | np.number):
            raise InputError(f"tradeoff must be a finite number from 0 up; got {self.tradeoff!r}.")
        if not (isinstance(self.max_disparity, int | float | np.number) and 0 <= self.max_disparity <= 1):
            raise InputError(f"max_disparity must lie between 0 and 1; got {self.max_disparity!r}.")

    def _move(self, score: FloatArray) -> FloatArray:
        learnt = self.maps_[self.moved_]
        if self.transfer == "rank" and learnt.raw.size:
            return learnt.apply(middle_ranks(score))
        self._warn_of_other_scale(score)
        return learnt.apply(score)

    def _checked_bounds(self, *tables: ScoreTable) -> tuple[float, float] | None:
        if self.bounds is None:
            return None
        try:
            low, high = (float(end) for end in self.bounds)
        except (TypeError, ValueError):
            low, high = np.nan, np.nan
        lowest, highest = (end(table.score[place] for table in tables) for end, place in ((min, -1), (max, 0)))
        if not (np.isfinite([low, high]).all() and low <= lowest and highest <= high):
            raise InputError(
                f"bounds must be two numbers with all scores, {lowest:g} to {highest:g}, between; got {self.bounds!r}."
            )
        return low, high

    def _warn_of_other_scale(self, score: FloatArray) -> None:
        """Say so where many scores lie outside those learnt from: most likely they are others, or scaled otherwise."""
        knots = self.maps_[self.moved_].raw
        if knots.size and np.sum((score < knots[0]) | (score > knots[-1])) > max(20, 0.1 * score.size):
            _warn(
                f"more than a tenth of the scores of group {self.moved_!r} lie outside those seen in fit "
                f"({knots[0]:g} to {knots[-1]:g}); is it the same score, on the same scale?"
            )

    def _worse_than_before(self) -> bool:
        """Whether the scores as they are serve the purpose better than the ordering found; if so, say so.

        That can be where people of different groups share scores: no ordering keeps such ties.
        """
        before, after = (
            max(abs(gap) - self.max_disparity, 0.0) if self.tradeoff is None else self.tradeoff * abs(gap) - auc
            for auc, gap in ((self.auc_before_, self.disparity_before_), (self.auc_, self.disparity_))
        )
        if self.solver != "frontier" or after <= before + 1e-12:
            return False
        _warn(
            f"no ordering of the two groups was found that is fairer than the scores as they are (their gap is "
            f"{self.disparity_before_:+.4g}, that of the best ordering {self.disparity_:+.4g}): people of both groups "
            "share scores, and no ordering keeps such ties; the scores are left alone."
        )
        return True

    def _warn_of_lost_room(self) -> None:
        """Say so where the scores cannot carry the ordering, e.g. no number fits above a reference score of 1."""
        wanted = self.ordering_
        if max(abs(wanted.auc - self.auc_), abs(wanted.disparity - self.disparity_)) > 1e-6:
            _warn(
                f"the scores of group {self.reference_!r} leave no room for the ordering that was found (scores "
                "of exactly 0 or 1, or closer together than numbers can be): AUC is "
                f"{self.auc_:.4f} instead of {wanted.auc:.4f}, the gap {self.disparity_:+.4f} instead of "
                f"{wanted.disparity:+.4f}."
            )


_SUMMARY = {
    "reference": "reference_",
    "moved": "moved_",
    "metric": "metric",
    "auc_before": "auc_before_",
    "auc_after": "auc_",
    "disparity_before": "disparity_before_",
    "disparity_after": "disparity_",
    "bound": "bound_",
    "optimality_gap": "gap_",
}
"""What a saved map tells of its training sample, and the attribute that holds it."""


def _warn(message: str) -> None:
    """Warn whoever called fit."""
    warnings.warn(message, XorderWarning, stacklevel=4)


def load(path: str | os.PathLike[str]) -> XOrder:
    """Read an adjustment that :meth:`XOrder.save` wrote, checking it in full."""
    maps, params, summary = read_maps(path)
    if params.keys() != XOrder().get_params().keys() or summary.keys() != _SUMMARY.keys():
        raise MapFileError(f"cannot use the map file {path}: its settings are not those of an XOrder.")
    groups = list(maps)
    if [summary["reference"], summary["moved"]] not in (groups, groups[::-1]):
        raise MapFileError(f"cannot use the map file {path}: its groups do not fit its summary.")
    repair = XOrder(**params)
    try:
        repair._check_params()
        float(sum(summary[name] for name in _SUMMARY if name not in ("reference", "moved", "metric")))
    except (InputError, TypeError) as error:
        raise MapFileError(f"cannot use the map file {path}: its settings make no sense ({error}).") from None
    repair.maps_ = maps
    for name, attribute in _SUMMARY.items():
        setattr(repair, attribute, summary[name])
    return repair

"""XOrder: learn on one sample how to adjust scores, apply it to any other."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from xorder._adjuster import ScoreAdjuster
from xorder._html import repair_html
from xorder._table import FloatArray, ScoreTable
from xorder._validation import DISADVANTAGED, Tables, check_both_classes, name_missing
from xorder.estimators import interleaved
from xorder.estimators.evidence import shrink, tables_with_squares, trust_in_gaps
from xorder.estimators.interleaved import interleave
from xorder.estimators.multiplied import multiply_odds
from xorder.estimators.of_frames import OfFrames
from xorder.estimators.record import SUMMARY, plain
from xorder.estimators.repair import Repair, Wanted
from xorder.estimators.settings import NO_WEIGHTS_BY_RANK, check_settings
from xorder.estimators.settle import Settled, checked, checked_squares, settled_by
from xorder.estimators.words import repair_text
from xorder.exceptions import InputError, XorderWarning
from xorder.ordering import CALIBRATIONS
from xorder.transfer import ScoreMap, middle_ranks, write_maps


class XOrder(OfFrames, ScoreAdjuster):
    """Adjust scores so that groups are ranked on equal terms, keeping the AUC high.

    The scores of one group, the reference, stay as they are. Those of each other group go through a strictly
    increasing map, so the order within each group never changes.

    Parameters
    ----------
    metric : {"xauc", "prf", "parity"}
        The gap to close.
    tradeoff : float, optional
        Points of AUC worth giving for one point of the gap (the paper's lambda). Instead of ``max_disparity``.
    max_disparity : float
        Largest gap wanted on the training sample, between any two groups, met at the smallest cost in AUC that the
        solver finds.
    solver : {"frontier", "dp", "greedy", "insertion"}
        How two groups are interleaved; see :func:`xorder.order`.
    transfer : {"interpolate", "logistic", "blocks", "bent", "rank"}
        ``"interpolate"`` carries the interleaving over to new scores by straight lines between the training scores.
        ``"logistic"``, ``"blocks"`` and ``"bent"`` are smooth: each group's scores are calibrated, by a logistic fit,
        by pooled blocks joined by lines, or by something between, and put on the reference's scale with the odds
        multiplied by one number, chosen for the gap wanted. More than two groups always have one multiplier each (of
        blocks, if ``"interpolate"``).
        ``"rank"`` is what the original code does, for comparison only: by rank in the batch given to
        :meth:`transform`, so that the result for one person depends on who else is in it.
    adjust : group label or "disadvantaged"
        The group whose scores move. By default the one on the losing side of the gap in the training sample:
        for xAUC the group whose positives less often outrank the other's negatives, for PRF the one of lower
        PRF, for parity the one less often ranked above the other. If there is no gap at all, the last group in
        sorted order. For two groups only.
    reference : group label, optional
        The group whose scores stay. By default, of two groups the one that ``adjust`` does not move; of more, the
        largest.
    bounds : (low, high), optional
        Scores stay between these, e.g. ``(0, 100)`` for percentages. Scores that all lie in [0, 1] stay there anyway;
        others may leave the range they had by as much as it takes to stand above or below the reference's.

    do_no_harm : bool
        Keep only the share of each correction that the evidence for its gap carries, 1 - (1.25 / z)^2 for a gap of z
        standard errors and nothing below 1.25, so that noise is not repaired. The method of the paper has no such care.
        Weights that are all whole numbers count rows; others are taken for sampling weights, whose scale tells nothing
        about how many rows there were.
    min_group_size : float
        Groups of fewer rows, or less weight, are small; so are those without positives or without negatives.
    small_groups : {"error", "leave", "merge"}
        What to do with small groups: refuse, leave their scores alone, or do that and count them with the reference.
    missing_group : {"error", "leave", "group"}
        What to do with people whose group is missing (None, NaN): refuse, leave their scores alone (also where fit saw
        none of them), or take them as a group of their own, ``"missing"``.

    Where many people of different groups share the same few scores, no repair may be as good as those ties. The scores
    are then left alone, with a warning, except by the solvers other than the frontier.

    Attributes
    ----------
    maps_ : dict, group -> ScoreMap
    reference_, moved_ : labels of the two groups; of more than two, ``moved_`` is the tuple of all that move
    pair_ : the two groups that the disparities are about, first minus second: the reference and the moved one, or, of
        more than two, those of the widest gap before
    auc_before_, disparity_before_ : of the training sample as it was
    auc_, disparity_ : of the training sample after adjustment
    worst_gap_ : largest absolute gap left between any two groups
    trust_ : dict, group -> share of its correction that was kept
    left_, merged_ : small or missing groups whose scores are left alone, and those counted with the reference
    ordering_ : Ordering of the training scores of two groups, reference first, where there is one
    bound_, gap_ : what no ordering's objective exceeds, and how far below it this one is at most, in AUC; ``nan`` where
        no bound is known

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
        reference: Hashable | None = None,
        bounds: tuple[float, float] | None = None,
        do_no_harm: bool = False,
        min_group_size: float = 0,
        small_groups: str = "error",
        missing_group: str = "error",
    ) -> None:
        self.metric = metric
        self.tradeoff = tradeoff
        self.max_disparity = max_disparity
        self.solver = solver
        self.transfer = transfer
        self.adjust = adjust
        self.reference = reference
        self.bounds = bounds
        self.do_no_harm = do_no_harm
        self.min_group_size = min_group_size
        self.small_groups = small_groups
        self.missing_group = missing_group

    def fit(self, y_score: Any, y_true: Any, *, sensitive_features: Any, sample_weight: Any = None) -> XOrder:
        """Learn the adjustment from scores, labels and groups."""
        check_settings(self)
        if self.transfer == "rank" and sample_weight is not None:
            raise InputError(NO_WEIGHTS_BY_RANK)
        groups = sensitive_features if self.missing_group == "error" else name_missing(sensitive_features)
        tables, squares = tables_with_squares(y_true, y_score, groups, sample_weight, wanted=self.do_no_harm)
        return self._fit_tables(tables, squares)

    def fit_tables(self, tables: Tables, squares: Mapping[Hashable, ScoreTable] | None = None) -> XOrder:
        """Learn the adjustment from tables that are already built, group -> ScoreTable; those of several days add up.

        People of unknown group are the group ``"missing"``. Where masses are sums of weights that are no counts,
        ``squares`` are tables of the same scores with sums of squared weights; ``do_no_harm`` needs them.
        """
        check_settings(self)
        tables = checked(tables)
        return self._fit_tables(tables, None if squares is None else checked_squares(squares, tables))

    def _fit_tables(self, tables: Tables, squares: Mapping[Hashable, ScoreTable] | None = None) -> XOrder:
        settled = self._settle(tables)
        tables = settled.tables
        wanted = self._wanted(tables)
        found = self._learn(tables, wanted)
        self.trust_ = dict.fromkeys(found.maps, 1.0)
        if self.do_no_harm:
            spreads = None if squares is None else settled.squares(squares)
            trust = trust_in_gaps(tables, found.reference, self.metric, spreads)
            found = shrink(found, tables, trust, wanted)
            self.trust_ = {group: trust[group] if learnt.raw.size else 0.0 for group, learnt in found.maps.items()}
        self.left_, self.merged_ = (*settled.left, *settled.unseen), settled.merged
        for note in (*settled.notes(), *found.notes):
            warnings.warn(note, XorderWarning, stacklevel=3)
        self.reference_, self.pair_ = found.reference, found.pair
        moved = tuple(found.maps)
        self.moved_ = moved[0] if len(moved) == 1 else moved
        self.auc_before_, self.disparity_before_ = found.before.auc, found.before.gap(found.pair)
        self.auc_, self.disparity_ = found.after.auc, found.after.gap(found.pair)
        self.worst_gap_ = found.after.worst
        self.bound_, self.gap_ = found.bound, found.gap
        if found.ordering is not None:
            self.ordering_ = found.ordering
        everyone = (*tables, *self.left_, *self.merged_)
        self.maps_ = {group: found.maps.get(group, ScoreMap.identity()) for group in everyone}
        return self

    def _settle(self, tables: Tables) -> Settled:
        settled = settled_by(self, tables)
        if len(settled.tables) < 2:
            only = ", ".join(map(repr, settled.tables))
            raise InputError(f"sensitive_features must name at least two groups to repair; got {only} alone.")
        for group, table in settled.tables.items():
            check_both_classes(table, f"group {group!r}")
        if self.reference is not None and self.reference not in settled.tables:
            raise InputError(f"reference must name one of the groups {list(settled.tables)!r}; got {self.reference!r}.")
        return settled

    def _wanted(self, tables: Tables) -> Wanted:
        adjust = self.adjust
        if self.reference is not None and len(tables) == 2:
            other = next(group for group in tables if group != self.reference)
            if adjust not in (DISADVANTAGED, other):
                raise InputError(
                    f"adjust must be left out with reference {self.reference!r}, or be {other!r}; got {adjust!r}."
                )
            adjust = other
        return Wanted(self.metric, self.tradeoff, self.max_disparity, adjust, self.bounds)

    def _learn(self, tables: Tables, wanted: Wanted) -> Repair:
        if len(tables) == 2 and self.transfer in interleaved.TRANSFERS:
            return interleave(tables, wanted, solver=self.solver, transfer=self.transfer)
        for name, value, usual in (("transfer", self.transfer, "interpolate"), ("solver", self.solver, "frontier")):
            if value != usual and value not in CALIBRATIONS:
                raise InputError(f"{name}={value!r} is for two groups; got {len(tables)}. Leave it out.")
        calibration = "blocks" if self.transfer == "interpolate" else self.transfer
        return multiply_odds(tables, wanted, calibration=calibration, reference=self.reference)

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
        return {name: plain(getattr(self, attribute)) for name, attribute in SUMMARY.items()}

    def report(self) -> str:
        """Say in words what the adjustment did on the training sample."""
        check_is_fitted(self, "maps_")
        moves = any(self.maps_[group].raw.size for group in self._moved_groups())
        return repair_text(self.summary(), self.tradeoff, moves=moves)

    def _repr_html_inner(self) -> str:
        # scikit-learn's diagram, then what the repair did.
        return str(super()._repr_html_inner()) + repair_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = dict(super()._repr_mimebundle_(**kwargs))
        if "text/html" in shown:
            shown["text/html"] += repair_html(self)
        return shown

    def transform(self, y_score: Any, *, sensitive_features: Any) -> FloatArray:
        """Adjust scores; those of the reference group, and of groups left alone, come back as they are."""
        groups = sensitive_features if self.missing_group == "error" else name_missing(sensitive_features)
        return super().transform(y_score, sensitive_features=groups)

    def _moved_groups(self) -> tuple[Hashable, ...]:
        return tuple(group for group in self.maps_ if group != self.reference_)

    def _known_groups(self) -> tuple[Hashable, ...]:
        return tuple(self.maps_)

    def _move(self, score: FloatArray, group: Hashable) -> FloatArray:
        learnt = self.maps_[group]
        if self.transfer == "rank" and learnt.raw.size:
            return learnt.apply(middle_ranks(score))
        self._warn_of_other_scale(score, group)
        return learnt.apply(score)

    def _warn_of_other_scale(self, score: FloatArray, group: Hashable) -> None:
        """Say so where many scores lie outside those learnt from: most likely they are others, or scaled otherwise."""
        knots = self.maps_[group].raw
        if knots.size and np.sum((score < knots[0]) | (score > knots[-1])) > max(20, 0.1 * score.size):
            warnings.warn(
                f"more than a tenth of the scores of group {group!r} lie outside those seen in fit "
                f"({knots[0]:g} to {knots[-1]:g}); is it the same score, on the same scale?",
                XorderWarning,
                stacklevel=5,
            )

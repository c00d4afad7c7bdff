"""XOrder: learn on one sample how to adjust scores, apply it to any other."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from xorder._adjuster import ScoreAdjuster
from xorder._html import repair_html
from xorder._progress import Progress
from xorder._table import FloatArray, ScoreTable, Tables
from xorder._validation import DISADVANTAGED, WeightKind, check_tables
from xorder.engines import apply_to_frame, tables_of
from xorder.engines._tables import BINS
from xorder.estimators._fitted import FittedRepair, load_fitted, settings_dict
from xorder.estimators._learn import learn_repair
from xorder.estimators._settings import NO_WEIGHTS_BY_RANK, RepairSettings
from xorder.exceptions import InputError, warn_caller


class XOrder(ScoreAdjuster):
    """Adjust scores so that groups are ranked on equal terms, keeping the AUC high.

    The scores of one group, the reference, stay as they are. Those of each other group go through a strictly
    increasing map, so the order within each group never changes.

    Parameters
    ----------
    metric : {"xauc", "prf", "parity"}
        The gap to close.
    tradeoff : float, optional
        Points of AUC worth giving for one point of the gap (the paper's lambda). Instead of ``max_gap``.
    max_gap : float
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
    min_group_size : float
        Groups of fewer rows, or less weight, are small; so are those without positives or without negatives.
    small_groups : {"error", "leave", "merge"}
        What to do with small groups: refuse, leave their scores alone, or do that and count them with the reference.
    missing_group : {"error", "leave", "group"}
        What to do with rows whose group is missing (None, NaN): refuse, leave their scores alone and learn without them
        (also where fit saw none of them), or take them as a group of their own, ``"missing"``.
    unseen_group : {"error", "leave"}
        What to do with rows to transform whose group fit did not see: refuse, or leave their scores alone.

    Where many people of different groups share the same few scores, no repair may be as good as those ties. The scores
    are then left alone, with a warning, except by the solvers other than the frontier.

    Attributes
    ----------
    maps_ : dict, group -> ScoreMap
    reference_, moved_ : labels of the two groups; of more than two, ``moved_`` is the tuple of all that move
    pair_ : the two groups that the gaps are about, first minus second: the reference and the moved one, or, of
        more than two, those of the widest gap before
    auc_before_, gap_before_ : of the training sample as it was
    auc_, gap_ : of the training sample after adjustment
    worst_gap_ : largest absolute gap left between any two groups
    trust_ : dict, group -> share of its correction that was kept
    left_, merged_ : small or missing groups whose scores are left alone, and those counted with the reference
    ordering_ : Ordering of the training scores of two groups, reference first, where there is one
    bound_, optimality_gap_ : what no ordering's objective exceeds, and how far below it this one is at most, in AUC;
        ``nan`` where no bound is known

    Examples
    --------
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(2000)
    >>> repair = XOrder().fit(people.y_score, people.y_true, sensitive_features=people.group)
    >>> repair.moved_, round(repair.gap_before_, 3), round(abs(repair.gap_), 3)
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
        max_gap: float = 0.0,
        solver: str = "frontier",
        transfer: str = "interpolate",
        adjust: Hashable = DISADVANTAGED,
        reference: Hashable | None = None,
        bounds: tuple[float, float] | None = None,
        do_no_harm: bool = False,
        min_group_size: float = 0,
        small_groups: str = "error",
        missing_group: str = "error",
        unseen_group: str = "error",
    ) -> None:
        self.metric = metric
        self.tradeoff = tradeoff
        self.max_gap = max_gap
        self.solver = solver
        self.transfer = transfer
        self.adjust = adjust
        self.reference = reference
        self.bounds = bounds
        self.do_no_harm = do_no_harm
        self.min_group_size = min_group_size
        self.small_groups = small_groups
        self.missing_group = missing_group
        self.unseen_group = unseen_group

    def fit(
        self,
        y_score: Any,
        y_true: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        weights_are: WeightKind = "counts",
    ) -> XOrder:
        """Learn the adjustment from scores, labels and groups; ``weights_are`` as in :func:`xorder.audit`."""
        settings = self._settings(weighted=sample_weight is not None)
        tables = check_tables(
            y_true,
            y_score,
            sensitive_features,
            sample_weight,
            weights_are=weights_are,
            missing_group=settings.missing_group,
        )
        return self._adopt(learn_repair(tables, settings))

    def fit_tables(self, tables: Tables | Mapping[Hashable, ScoreTable]) -> XOrder:
        """Learn the adjustment from tables that are already built, group -> ScoreTable; those of several days add up.

        Rows of unknown group are the group ``"missing"``.
        """
        return self._adopt(learn_repair(tables, self._settings()))

    def fit_frame(
        self,
        frame: Any,
        *,
        score: str,
        label: str,
        group: str,
        weight: str | None = None,
        weights_are: WeightKind = "counts",
        positive: Any = None,
        tolerance: float = 1e-6,
        bins: int = BINS,
        progress: Progress | None = None,
        memory: str = "2GB",
    ) -> XOrder:
        """Learn the adjustment from rows where they are: columns of a frame of any engine, or of files.

        The parameters are those of :func:`xorder.audit_frame`. ``binning_error_`` says how far binning can have moved
        AUC and gaps where there are more distinct scores than ``bins``, about 1.5 million; else it is None.
        """
        settings = self._settings(weighted=weight is not None)
        tables = tables_of(
            frame,
            score=score,
            label=label,
            group=group,
            weight=weight,
            weights_are=weights_are,
            positive=positive,
            missing_group=settings.missing_group,
            tolerance=tolerance,
            bins=bins,
            progress=progress,
            memory=memory,
        )
        self._adopt(learn_repair(tables, settings))
        self.binning_error_ = tables.binning_error
        return self

    def _settings(self, *, weighted: bool = False) -> RepairSettings:
        settings = RepairSettings(**self.get_params(deep=False)).checked()
        if settings.transfer == "rank" and weighted:
            raise InputError(NO_WEIGHTS_BY_RANK)
        return settings

    def _adopt(self, fitted: FittedRepair) -> XOrder:
        for note in fitted.notes:
            warn_caller(note)
        self.fitted_ = fitted
        self.maps_, self.trust_ = fitted.maps, fitted.trust
        self.reference_, self.pair_ = fitted.reference, fitted.pair
        self.moved_ = fitted.moved[0] if len(fitted.moved) == 1 else fitted.moved
        self.left_, self.merged_ = fitted.left, fitted.merged
        self.auc_before_, self.auc_ = fitted.auc_before, fitted.auc_after
        self.gap_before_, self.gap_ = fitted.gap_before, fitted.gap_after
        self.worst_gap_ = fitted.worst_gap
        self.bound_, self.optimality_gap_ = fitted.bound, fitted.optimality_gap
        if fitted.ordering is not None:
            self.ordering_ = fitted.ordering
        return self

    def _fitted(self) -> FittedRepair:
        """What was learnt, with what is now set for missing and unseen groups."""
        check_is_fitted(self, "maps_")
        return self.fitted_.choosing(missing_group=self.missing_group, unseen_group=self.unseen_group)

    def transform(self, y_score: Any, *, sensitive_features: Any) -> FloatArray:
        """Adjust scores; those of the reference group, and of groups left alone, come back as they are."""
        return self._fitted().transform(y_score, sensitive_features)

    def transform_frame(self, frame: Any, *, score: str, group: str, into: str = "adjusted") -> Any:
        """Return the frame with one more column, of adjusted scores; what is lazy stays lazy, and no row is collected.

        ``frame`` is one of pandas, polars (eager or lazy), pyarrow or PySpark, or a relation of DuckDB; the path or
        glob of parquet or csv files comes back as such a relation, cells of csv files as text.
        """
        return apply_to_frame(self._fitted().group_maps(), frame, score=score, group=group, into=into)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
        """Write the fitted adjustment as JSON; :func:`xorder.load` reads it back."""
        self._fitted().save(path, overwrite=overwrite)

    def summary(self) -> dict[str, Any]:
        """Return what the adjustment did on the training sample, ready for JSON."""
        return self._fitted().summary()

    def report(self) -> str:
        """Say in words what the adjustment did on the training sample."""
        return self._fitted().text()

    def _repr_html_inner(self) -> str:
        # scikit-learn's diagram, then what the repair did.
        return str(super()._repr_html_inner()) + repair_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = dict(super()._repr_mimebundle_(**kwargs))
        if "text/html" in shown:
            shown["text/html"] += repair_html(self)
        return shown


def load(path: str | os.PathLike[str]) -> XOrder:
    """Read an adjustment that :meth:`XOrder.save` wrote, checking it in full."""
    fitted = load_fitted(path)
    return XOrder(**settings_dict(fitted.settings))._adopt(fitted)

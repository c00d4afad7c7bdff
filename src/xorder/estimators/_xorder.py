"""XOrder: fitted to one sample, it adjusts the scores of any other."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from xorder._html import NumbersBelowDiagram
from xorder._parameters import WeightKind
from xorder._progress import Progress
from xorder._repair import BaseRepair
from xorder._table import FloatArray, ScoreTable, Tables, as_tables
from xorder.engines import apply_to_frame, tables_of
from xorder.engines._tables import BINS
from xorder.estimators._expected import ExpectedGap, expected_gap_tables, rows_and_tables
from xorder.estimators._fitted import FittedRepair, RepairSettings
from xorder.estimators._learn import learn_repair
from xorder.estimators._repair_file import load_fitted
from xorder.exceptions import XorderWarning, warn_caller
from xorder.ordering import Ordering
from xorder.transfer import ScoreMap


@dataclass(kw_only=True, eq=False, repr=False)
class XOrder(NumbersBelowDiagram, BaseRepair):
    """Adjust scores so that groups are ranked on equal terms, keeping the AUC high.

    The scores of one group, the reference, stay as they are. Those of each other group go through a strictly
    increasing map, so the order within each group never changes. A group with fewer than ten positives or ten
    negatives is left alone. Where many rows of different groups share the same few scores, no repair may be as good as
    those ties; the scores are then left alone, with a warning, except by ``method="dp"``.

    Parameters
    ----------
    method : {"smooth", "frontier", "dp"}, default="smooth"
        ``"smooth"`` multiplies the odds that each group's scores state by one number of its own, chosen for the gap
        wanted; it takes any number of groups. ``"frontier"`` and ``"dp"`` interleave the rows of two groups and carry
        that over to new scores by straight lines between the scores they were fitted to: the best that any reordering
        can do on this sample, and the algorithm of the paper [1]_; see :func:`xorder.order`.
    metric : {"xauc", "prf", "parity"}, default="xauc"
        The gap to close.
    max_gap : float, default=0.0
        Largest gap wanted on the sample, between any two groups, met at the smallest cost in AUC that the method finds.
        With ``do_no_harm`` more may be left, as only the part of a correction is kept that the evidence carries.
    tradeoff : float, default=None
        Points of AUC worth giving for one point of the gap (the paper's lambda). Instead of ``max_gap``.
    max_cut_gap : float, default=None
        Largest difference of sensitivities wanted on the sample at any cut of the list, between the reference and each
        other group. It comes first: the gap is closed as far as this allows. Not for ``"dp"``.
    confidence : float, default=None
        Confidence with which ``max_gap``, ``max_cut_gap`` or both are to hold not on the sample but among all people of
        whom it is one: the repair of best AUC is looked for whose interval, and band of cuts, lie within. Where the
        rows do not carry that, the repair is that for the gap 0, and ``promise_`` says what can be promised. For
        ``"smooth"``.
    reference : group label, default=None
        The group whose scores stay. By default, of two groups the one on the winning side of the gap in the sample (for
        xAUC the group whose positives more often outrank the other's negatives, for PRF the one of higher PRF, for
        parity the one more often ranked above the other); of more, the largest.
    bounds : tuple of float, default=None
        Lowest and highest score allowed, e.g. ``(0, 100)`` for percentages. Scores that all lie in [0, 1] stay there
        anyway; others may leave the range they had by as much as it takes to stand above or below the reference's.
    do_no_harm : bool, default=None
        Whether to keep only the share of each correction that the evidence for its gap carries, 1 - (1.25 / z)^2 for a
        gap of z standard errors and nothing below 1.25, so that noise is not repaired. By default yes for ``"smooth"``,
        no for ``"frontier"`` and ``"dp"``, as the method of the paper has no such care.
    min_group_size : float, default=0
        Groups of fewer rows, or less weight, are small; so is each with fewer than ten positives or ten negatives.
    small_groups : {"leave", "merge", "error", "repair"}, default="leave"
        Whether scores of small groups are left alone, left alone and counted with the reference, refused, or repaired
        like the others.
    missing_group : {"error", "leave", "group"}, default="error"
        Whether rows whose group is missing (None, NaN) are refused, left alone (also where fit saw none of them), or
        taken as a group of their own, ``"missing"``.
    unseen_group : {"error", "leave"}, default="error"
        Whether rows to transform whose group fit did not see are refused, or their scores left alone.

    Attributes
    ----------
    maps_ : dict of group to ScoreMap
        Maps of all groups, also of those whose scores stay.
    reference_ : group label
        The group whose scores stay.
    moved_ : tuple of group labels
        The groups whose scores move.
    pair_ : tuple of two group labels
        The groups that the gap is about, first minus second: the reference and the other or, of more than two, those of
        the widest gap before.
    auc_before_, gap_before_ : float
        AUC and gap of the repaired groups, the reference among them, as they were in the sample.
    auc_, gap_ : float
        AUC and gap of the same rows after the repair.
    worst_gap_ : float
        Largest absolute gap left between any two repaired groups.
    bound_ : float
        The best AUC of any reordering with gaps no larger than ``worst_gap_``; ``nan`` where no bound is known.
    optimality_gap_ : float
        How far below the bound ``auc_`` is.
    worst_cut_before_, worst_cut_ : float
        Widest difference of sensitivities at any cut between any two repaired groups, before and after.
    promise_ : Promise or None
        With a confidence: ``limit``, ``bound``, ``rows``, whether it is ``made``, and how many rows are ``needed`` if
        not.
    learnt_from_ : LearntFrom
        The rows that the repair was fitted to: their number, when, and the names of their columns.
    expected_ : ExpectedGap
        What to expect on new people, by these rows, as :func:`xorder.expected_gap` and ``xorder fit`` say it; computed
        when it is asked for, and not kept in a file.
    kept_share_ : dict of group to float
        Share of its correction that was kept; not kept in a file.
    left_, merged_ : tuple of group labels
        Small or missing groups whose scores are left alone, and those counted with the reference.
    ordering_ : Ordering or None
        How two groups interleave, the reference first, where the method has solved that; not kept in a file.
    binning_error_ : BinningError or None
        How far AUC and gaps can be off where :meth:`fit_frame` had to bin scores.
    fitted_ : FittedRepair
        All of this as one record.

    See Also
    --------
    FairRanker : A classifier with its repair, fitted on scores of rows that the model has not seen.
    expected_gap : AUC and gaps to expect on new people.

    References
    ----------
    .. [1] Cui, Pan, Zhang and Wang (2021), Towards Model-Agnostic Post-Hoc Adjustment for Balancing Ranking Fairness
       and Algorithm Utility, KDD '21.

    Examples
    --------
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(2000)
    >>> repair = XOrder().fit(people.y_score, people.y_true, sensitive_features=people.group)
    >>> repair.moved_, round(repair.gap_before_, 3), abs(repair.gap_) < 0.01
    (('B',), 0.231, True)
    >>> repair.transform([0.2, 0.2], sensitive_features=["A", "B"]).round(1)
    array([0.2, 0.4])
    """

    method: Literal["smooth", "frontier", "dp"] = "smooth"
    metric: str = "xauc"
    max_gap: float = 0.0
    tradeoff: float | None = None
    max_cut_gap: float | None = None
    confidence: float | None = None
    reference: Hashable | None = None
    bounds: tuple[float, float] | None = None
    do_no_harm: bool | None = None
    min_group_size: float = 0
    small_groups: Literal["leave", "merge", "error", "repair"] = "leave"
    missing_group: Literal["error", "leave", "group"] = "error"
    unseen_group: Literal["error", "leave"] = "error"

    fitted_: FittedRepair = field(init=False)
    maps_: dict[Hashable, ScoreMap] = field(init=False)
    reference_: Hashable = field(init=False)
    moved_: tuple[Hashable, ...] = field(init=False)
    pair_: tuple[Hashable, Hashable] = field(init=False)
    ordering_: Ordering | None = field(init=False)

    def fit(
        self,
        y_score: ArrayLike,
        y_true: ArrayLike,
        *,
        sensitive_features: Any,
        sample_weight: ArrayLike | None = None,
        weights_are: WeightKind = "counts",
        clusters: Any = None,
    ) -> XOrder:
        """Fit the repair to scores, labels and groups.

        Parameters
        ----------
        y_score : array-like of shape (n_samples,)
            Scores, higher ranks higher; best those of rows that the model has not seen.
        y_true : array-like of shape (n_samples,)
            Labels, 1 for the outcome that counts, else 0.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The group of each row; of several attributes, their combinations.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        weights_are : {"counts", "sampling"}, default="counts"
            What weights mean, as in :func:`xorder.audit`.
        clusters : array-like of shape (n_samples,), default=None
            Who or what each row belongs to, as in :func:`xorder.audit`: how much of a correction the evidence carries
            allows for it.

        Returns
        -------
        XOrder
            The fitted repair itself.
        """
        settings = self._settings()
        choices = {"weights_are": weights_are, "missing_group": settings.missing_group}
        _, tables = rows_and_tables(y_true, y_score, sensitive_features, sample_weight, clusters, **choices)
        return self._adopt(learn_repair(tables, settings), tables)

    def fit_tables(self, tables: Tables | Mapping[Hashable, ScoreTable]) -> XOrder:
        """Fit the repair to tables that are already built.

        Parameters
        ----------
        tables : Tables or mapping of group to ScoreTable
            Tables of the groups; those of several days add up. Rows of unknown group are the group ``"missing"``.

        Returns
        -------
        XOrder
            The fitted repair itself.
        """
        tables = as_tables(tables)
        return self._adopt(learn_repair(tables, self._settings()), tables)

    def fit_frame(
        self,
        frame: Any,
        *,
        score: str,
        label: str,
        group: str | Sequence[str],
        weight: str | None = None,
        weights_are: WeightKind = "counts",
        positive: Any = None,
        binning_tolerance: float = 1e-6,
        bins: int = BINS,
        progress: Progress | None = None,
        memory: str = "2GB",
        cluster: str | None = None,
    ) -> XOrder:
        """Fit the repair to rows where they are: columns of a frame of any engine, or of files.

        Parameters
        ----------
        frame : DataFrame, LazyFrame, relation, or path
            What holds the rows, as in :func:`xorder.audit_frame`.
        score : str
            Name of the column of scores.
        label : str
            Name of the column of labels.
        group : str or sequence of str
            Name of the column of groups; of several, their combinations are the groups.
        weight : str, default=None
            Name of the column of weights.
        weights_are : {"counts", "sampling"}, default="counts"
            What weights mean, as in :func:`xorder.audit`.
        positive : object, default=None
            Value of the label that counts as 1, all others being 0.
        binning_tolerance : float, default=1e-6
            How far binning may move AUC and gaps where there are more distinct scores than ``bins``; how far it can
            have moved them is in ``binning_error_``, which is None where nothing was binned.
        bins : int, default=1572864
            Number of distinct scores up to which all are told apart.
        progress : callable, default=None
            Called with what is being done and, if that is known, the share that is done.
        memory : str, default="2GB"
            How much DuckDB may use for files.
        cluster : str, default=None
            Name of the column of who or what each row belongs to; rows are then held in memory.

        Returns
        -------
        XOrder
            The fitted repair itself.
        """
        settings = self._settings()
        tables = tables_of(
            frame,
            score=score,
            label=label,
            group=group,
            weight=weight,
            weights_are=weights_are,
            positive=positive,
            missing_group=settings.missing_group,
            binning_tolerance=binning_tolerance,
            bins=bins,
            progress=progress,
            memory=memory,
            cluster=cluster,
        )
        return self._adopt(learn_repair(tables, settings), tables)

    def _settings(self) -> RepairSettings:
        return RepairSettings(**self.get_params(deep=False)).checked()

    def _adopt(self, fitted: FittedRepair, tables: Tables | None = None) -> XOrder:
        for note in fitted.notes:
            warn_caller(note)
        self.fitted_, self._tables = fitted, tables
        self.binning_error_ = None if tables is None else tables.binning_error
        for each in fields(fitted):
            if each.name not in ("settings", "notes"):
                setattr(self, f"{each.name}_", getattr(fitted, each.name))
        return self

    @property
    def expected_(self) -> ExpectedGap:
        """What to expect on new people, by the rows that the repair was fitted to; not kept in a file."""
        check_is_fitted(self, "maps_")
        if self._tables is None:
            raise AttributeError("what to expect is known where the repair is fitted, and not kept in a file.")
        # The fit has said what there is to say of the rows.
        with warnings.catch_warnings(action="ignore", category=XorderWarning):
            return expected_gap_tables(self.fitted_, self._tables, confidence=self.fitted_.settings.confidence or 0.95)

    def __getstate__(self) -> dict[str, Any]:
        # As many tables as there are rows may be behind a map of a few numbers.
        return dict(super().__getstate__()) | {"_tables": None}

    def _fitted(self) -> FittedRepair:
        """What was fitted, with what is now set for missing and unseen groups."""
        check_is_fitted(self, "maps_")
        return self.fitted_.choosing(missing_group=self.missing_group, unseen_group=self.unseen_group)

    def transform(self, y_score: ArrayLike, *, sensitive_features: Any) -> FloatArray:
        """Adjust scores.

        Parameters
        ----------
        y_score : array-like of shape (n_samples,)
            Scores to adjust.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
            The group of each row.

        Returns
        -------
        ndarray of shape (n_samples,)
            Adjusted scores; those of the reference group, and of groups left alone, as they are.
        """
        return self._fitted().transform(y_score, sensitive_features)

    def transform_frame(self, frame: Any, *, score: str, group: str | Sequence[str], into: str = "adjusted") -> Any:
        """Return the frame with one more column, of adjusted scores; what is lazy stays lazy, and no row is collected.

        Parameters
        ----------
        frame : DataFrame, LazyFrame, relation, or path
            One of pandas, polars (eager or lazy), pyarrow or PySpark, or a relation of DuckDB; the path or glob of
            parquet or csv files comes back as such a relation, cells of csv files as text.
        score : str
            Name of the column of scores.
        group : str or sequence of str
            Name of the column of groups, or names of those whose combinations are the groups.
        into : str, default="adjusted"
            Name of the new column.

        Returns
        -------
        DataFrame, LazyFrame or relation
            Of the kind that came in.
        """
        fitted = self._fitted()
        adjusted = apply_to_frame(fitted.group_maps(), frame, score=score, group=group, into=into)
        fitted.warn_of_other_columns(score, group)
        return adjusted

    def explain(self, y_score: float, sensitive_feature: Hashable) -> str:
        """Say what becomes of one score, and why, in two sentences.

        Parameters
        ----------
        y_score : float
            The score.
        sensitive_feature : group label
            Its group.

        Returns
        -------
        str
            Raw and adjusted score, their places among the rows that the repair was fitted to, and the reason.
        """
        return self._fitted().explain(y_score, sensitive_feature)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted repair as JSON; :func:`xorder.load` reads it back.

        Parameters
        ----------
        path : str or path
            The file to write; it appears when it is complete.
        overwrite : bool, default=False
            Whether to replace a file that exists.
        """
        self._fitted().save(path, overwrite=overwrite)

    def to_dict(self) -> dict[str, Any]:
        """Return what the repair did to the sample it was fitted to, ready for JSON.

        Returns
        -------
        dict
            Labels and numbers by the names of the attributes; ``nan`` becomes None.
        """
        return self._fitted().to_dict()

    def describe(self) -> str:
        """Say in words what the repair did to the sample it was fitted to.

        Returns
        -------
        str
            A few lines of text.
        """
        return self._fitted().text()


def load(path: str | os.PathLike[str]) -> XOrder:
    """Read a repair that :meth:`XOrder.save` wrote, checking it in full.

    Parameters
    ----------
    path : str or path
        The file to read.

    Returns
    -------
    XOrder
        The fitted repair.

    Raises
    ------
    MapFileError
        If the file is missing, damaged, changed by hand, or of another version.
    """
    fitted = load_fitted(path)
    return XOrder(**asdict(fitted.settings))._adopt(fitted)

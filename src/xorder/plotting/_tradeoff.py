"""The trade-off between AUC and a gap, as a picture."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from xorder._curves import thin
from xorder._present import gap_title, level
from xorder._repair import BaseRepair
from xorder._table import FloatArray, Tables
from xorder._validation import check_tables
from xorder.estimators import FairRanker, XOrder
from xorder.exceptions import InputError
from xorder.metrics import Audit, audit_tables
from xorder.metrics._gaps import Pair
from xorder.ordering import Frontier, frontier, order
from xorder.ordering._ordering import check_two_groups
from xorder.plotting._scored import repair_of, scored_rows
from xorder.plotting._style import COLOURS, GREY, Display, group_names, legend, named, tidy, title

# What a score was and became has the same shape and colour for whomever it is seen on.
_BEFORE, _AFTER, _PROGRAMME = "score as it was", "score adjusted", "paper's dynamic programme"
_KNOWN = {_BEFORE: ("o", COLOURS[2]), _AFTER: ("D", COLOURS[5]), _PROGRAMME: ("x", "#7f7f7f")}
_OTHERS = (("s", COLOURS[1]), ("^", COLOURS[3]), ("v", COLOURS[4]), ("P", COLOURS[6]))

_LONG = 36

Points = tuple[FloatArray, FloatArray]


@dataclass
class TradeoffDisplay(Display):
    """AUC against a signed gap: the curve that no ordering exceeds, and points on or below it.

    Numbers first: make it with :meth:`from_estimator`, :meth:`from_predictions` or from arrays, then :meth:`plot`.

    Parameters
    ----------
    gap, auc : ndarray
        The corners of the curve. Each is reached by an ordering; between them it is an upper bound.
    metric : {"xauc", "prf", "parity"}, default="xauc"
        Which gap the gap is.
    points : dict, default={}
        Name -> (gaps, AUCs) of what else to mark.
    pair : tuple, default=None
        The two groups, whose difference the gap is.
    intervals : dict, default={}
        Name -> (ends of the gaps, ends of the AUCs) for points that have some, two columns each.
    people : str, default=None
        Whose curve it is, in words, where some points are not bound by it: those of other people.
    """

    gap: FloatArray
    auc: FloatArray
    metric: str = "xauc"
    points: dict[str, Points] = field(default_factory=dict)
    pair: Pair | None = None
    intervals: dict[str, Points] = field(default_factory=dict)
    people: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        dp_tradeoffs: Sequence[float] = (),
        confidence: float = 0.95,
    ) -> TradeoffDisplay:
        """Take curve and points from a repair of two groups, or the curve alone from a :class:`xorder.Frontier`.

        A fitted :class:`xorder.XOrder` brings the curve of its training sample, the score as it was and the chosen
        point. What keeps no training sample (a :class:`xorder.FairRanker`, a repair with ``method="smooth"``, a
        loaded map) needs new rows, and the curve is theirs.

        Parameters
        ----------
        estimator : XOrder, FairRanker or Frontier
            The repair, fitted, or the curve.
        X : array-like, default=None
            New rows, for XOrder their scores: they are marked, before and after, with intervals.
        y : array-like of shape (n_samples,), default=None
            Their labels.
        sensitive_features : array-like of shape (n_samples,), default=None
            Their groups; by default from the columns that a FairRanker was made for.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.
        dp_tradeoffs : sequence of float, default=()
            Tradeoffs for which to add what the paper's dynamic programme reaches.
        confidence : float, default=0.95
            Confidence of the intervals.

        Returns
        -------
        TradeoffDisplay
            The numbers, ready to be drawn.
        """
        if isinstance(estimator, Frontier):
            return cls._of_curve(estimator, dp_tradeoffs)
        repair = repair_of(estimator)
        if not isinstance(repair, BaseRepair):
            raise InputError(
                f"a trade-off is that of a repair (XOrder, FairRanker) or a Frontier; got {type(estimator).__name__}. "
                "For scores of any model use from_predictions."
            )
        check_is_fitted(repair)
        if (X is None) != (y is None):
            raise InputError("X and y of new rows go together; got one of them.")
        trained = estimator.ordering_ if isinstance(estimator, XOrder) else None
        if X is None and trained is None:
            _check_two(getattr(repair, "maps_", {}))
            raise InputError(
                f"this {type(estimator).__name__} keeps no training scores to draw; only an XOrder with method "
                "'frontier' or 'dp' that was fitted here does. Pass X and y of some rows along."
            )
        new: dict[str, Tables] = {}
        if X is not None:
            rows = scored_rows(estimator, X, y, sensitive_features=sensitive_features)
            for words, score in ((_BEFORE, rows.before), (_AFTER, rows.final)):
                new[words] = check_tables(rows.y_true, score, rows.groups, sample_weight)
        if trained is not None:
            curve = frontier(trained.a, trained.b, metric=repair.metric)
            display = cls._of_curve(curve, dp_tradeoffs, repair.pair_, repair)
            display.people = "the people the repair was fitted to" if new else None
        else:
            pair = _reference_first(new[_BEFORE], repair)
            curve = frontier(*(new[_BEFORE][group] for group in pair), metric=repair.metric)
            display = cls._of_curve(curve, dp_tradeoffs, pair)
            if isinstance(estimator, FairRanker) and len(estimator.estimators_) > 1:
                # The mean of adjusted scores is not a reordering of the mean score, whose curve does not bound it.
                display.people = "the models' mean score"
        who = "these people" if trained is None else "new people"
        for words, tables in new.items():
            found = audit_tables(tables, confidence=confidence)
            display.mark(f"{who}, {words} ({level(confidence)} interval)", found)
        return display

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        dp_tradeoffs: Sequence[float] = (),
        **settings: Any,
    ) -> TradeoffDisplay:
        """Fit an :class:`xorder.XOrder` with the given settings on the rows, and take everything from it.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels, 1 for the positive class, 0 for the other.
        y_score : array-like of shape (n_samples,)
            Scores.
        sensitive_features : array-like of shape (n_samples,)
            Group of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        dp_tradeoffs : sequence of float, default=()
            Tradeoffs for which to add what the paper's dynamic programme reaches.
        **settings : dict
            Settings of :class:`xorder.XOrder`.

        Returns
        -------
        TradeoffDisplay
            The numbers, ready to be drawn.
        """
        repair = XOrder(**settings)
        tables = check_tables(y_true, y_score, sensitive_features, sample_weight, missing_group=repair.missing_group)
        _check_two(tables)
        repair.fit_tables(tables)
        curve = frontier(*(tables[group] for group in repair.pair_), metric=repair.metric)
        return cls._of_curve(curve, dp_tradeoffs, repair.pair_, repair)

    def mark(self, name: str, found: Audit) -> TradeoffDisplay:
        """Add the point of an audit of the same two groups, with its intervals.

        Parameters
        ----------
        name : str
            What the point is called.
        found : Audit
            The audit.

        Returns
        -------
        TradeoffDisplay
            The display itself.
        """
        gap = found.gap(self.metric, self.pair)
        self.points[name] = (np.array([gap.value]), np.array([found.auc]))
        self.intervals[name] = (np.array([gap.interval]), np.array([found.auc_interval]))
        return self

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> TradeoffDisplay:
        """Draw the curve and the points.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            What the score is called.
        **kwargs : dict
            Passed on to the line of the curve.

        Returns
        -------
        TradeoffDisplay
            The display itself, which keeps ``ax_``, ``figure_``, ``line_`` (the curve) and ``points_``, by name.
        """
        given = ax is not None
        (ax,) = self._axes(ax, size=(7.0, 5.0))
        window = self._window()
        ax.axvline(0.0, color=GREY, linewidth=0.8, zorder=0)
        curve = thin(self.gap, self.auc)
        of = f" for {self.people}" if self.people else ""
        look = {"color": COLOURS[0], "linewidth": 1.8, "label": f"best possible{of}", "zorder": 2}
        (self.line_,) = ax.plot(*curve, **(look | kwargs))
        if self.people is None:
            # Only the rows that the curve is of are bound by it.
            ax.fill_between(
                *curve, window["ylim"][1], color="0.93", linewidth=0, zorder=0, label="out of reach of any reordering"
            )
        self.points_ = {}
        others = cycle(_OTHERS)
        for called, (gaps, aucs) in self.points.items():
            marker, colour = next((look for words, look in _KNOWN.items() if words in called), None) or next(others)
            look = {"linestyle": "none", "marker": marker, "markersize": 7, "color": colour, "zorder": 3}
            if called in self.intervals:
                look |= {"markerfacecolor": "white", "elinewidth": 1.1, "capsize": 2.5, "label": called}
                ends = self.intervals[called]
                (xerr, yerr) = (_lengths(v, e) for v, e in zip((gaps, aucs), ends, strict=True))
                self.points_[called] = ax.errorbar(gaps, aucs, xerr=xerr, yerr=yerr, **look)
            else:
                (self.points_[called],) = ax.plot(gaps, aucs, label=called, **look)
        metric, note = gap_title(self.metric), None
        label = f"{metric}   (0: no gap)"
        if self.pair is not None:
            first, second = group_names(self.pair, 22)
            label = f"{metric}: {first} minus {second}   (0: no gap)"
            note = f"right of 0 the score favours {first}, left of it {second}"
        ax.set(xlabel=label, ylabel="AUC   (higher: ranks better)", **window)
        title(ax, f"What closing the gap costs{named(name)}", note)
        # Names longer than half an axis would be cut off in two columns.
        _, labels = ax.get_legend_handles_labels()
        legend(ax, inside=given, ncols=1 if given or max(map(len, labels)) > _LONG else 2, columnspacing=1.2)
        tidy(ax)
        return self

    @classmethod
    def _of_curve(
        cls, curve: Frontier, dp_tradeoffs: Sequence[float], pair: Pair | None = None, repair: XOrder | None = None
    ) -> TradeoffDisplay:
        """Mark on a curve what a repair made of the rows it is of, and what the dynamic programme would make."""
        points: dict[str, Points] = {}
        if repair is not None:
            points[_BEFORE] = (np.array([repair.gap_before_]), np.array([repair.auc_before_]))
            points[_AFTER] = (np.array([repair.gap_]), np.array([repair.auc_]))
        if len(dp_tradeoffs):
            reached = [
                order(curve.a, curve.b, metric=curve.metric, tradeoff=each, solver="dp") for each in dp_tradeoffs
            ]
            points[_PROGRAMME] = (np.array([one.gap for one in reached]), np.array([one.auc for one in reached]))
        return cls(curve.gap, curve.auc, curve.metric.name, points, pair)

    def _window(self) -> dict[str, tuple[float, float]]:
        """Show what lies between the marked points, no gap, and the top of the curve, with some room around."""
        top = int(np.argmax(self.auc))
        marks = [*self.points.values(), *((gaps.ravel(), aucs.ravel()) for gaps, aucs in self.intervals.values())]
        gaps = _known([0.0, self.gap[top]], *(gaps for gaps, _ in marks))
        room = 0.15 * max(float(np.ptp(gaps)), 0.02)
        left, right = float(gaps.min()) - room, float(gaps.max()) + room
        rising = np.argsort(self.gap, kind="stable")
        ends = np.interp([left, right], self.gap[rising], self.auc[rising])
        aucs = _known([self.auc[top]], ends, *(aucs for _, aucs in marks))
        room = 0.08 * max(float(np.ptp(aucs)), 0.002)
        return {"xlim": (left, right), "ylim": (float(aucs.min()) - room, float(aucs.max()) + room)}


def _reference_first(tables: Tables, repair: BaseRepair) -> Pair:
    _check_two(tables)
    check_two_groups(tables)
    first, second = tables
    return (second, first) if getattr(repair, "reference_", first) == second else (first, second)


def _check_two(groups: Collection[Hashable]) -> None:
    if len(groups) > 2:
        some = ", ".join(map(repr, list(groups)[:10])) + (", …" if len(groups) > 10 else "")
        raise InputError(
            f"a trade-off curve is drawn for two groups; got {len(groups)}: {some}. Pass rows of two groups."
        )


def _known(*parts: Any) -> FloatArray:
    values = np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])
    return np.asarray(values[np.isfinite(values)])


def _lengths(values: FloatArray, ends: FloatArray) -> FloatArray:
    """Lengths of the bars on both sides of points; none where the interval is not known."""
    return np.asarray(np.nan_to_num(np.abs(ends.T - values)))

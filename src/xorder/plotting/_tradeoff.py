"""The trade-off between AUC and a gap, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from xorder._curves import thin
from xorder._present import gap_title, wrapped
from xorder._repair import BaseRepair
from xorder._table import FloatArray
from xorder._validation import check_tables
from xorder.estimators import FairRanker, XOrder
from xorder.estimators._learn import mapped
from xorder.exceptions import InputError
from xorder.metrics import Audit
from xorder.metrics._gaps import Pair
from xorder.metrics._make_audit import measured
from xorder.ordering import Frontier, frontier, order
from xorder.plotting._scored import RepairDisplay, repair_of, scored_rows
from xorder.plotting._style import MOST_LINES, MOST_PANELS, group_names, ink_of, named, title

_KNOWN = _BEFORE, _AFTER, _PROGRAMME = "score as it was", "score adjusted", "paper's dynamic programme"
_MARKERS = ("o", "D", "x", "s", "^", "v", "P")

Points = tuple[FloatArray, FloatArray]


@dataclass
class TradeoffDisplay(RepairDisplay):
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
        Name -> ends of the gaps of points that have an interval, two columns.
    people : str, default=None
        Whose curve it is, in words, where points are not bound by it.
    more : tuple of TradeoffDisplay, default=()
        Displays of further pairs of groups, which get a panel each.
    """

    gap: FloatArray
    auc: FloatArray
    metric: str = "xauc"
    points: dict[str, Points] = field(default_factory=dict)
    pair: Pair | None = None
    intervals: dict[str, FloatArray] = field(default_factory=dict)
    people: str | None = None
    more: tuple[TradeoffDisplay, ...] = ()

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
        """Take curve and points from a repair, or the curve alone from a :class:`xorder.Frontier`.

        A fitted :class:`xorder.XOrder` brings the rows that it was fitted to. What keeps none (a
        :class:`xorder.FairRanker`, a loaded map) needs some, and the curve is theirs. Of more than two groups there is
        a curve for the reference and each other group, of the AUC between the people of these two alone.

        Parameters
        ----------
        estimator : XOrder, FairRanker or Frontier
            The repair, fitted, or the curve.
        X : array-like, default=None
            Rows to draw instead of those the repair was fitted to; for XOrder their scores.
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
        if X is not None:
            rows = scored_rows(estimator, X, y, sensitive_features=sensitive_features)
            before, after = (
                check_tables(rows.y_true, score, rows.groups, sample_weight) for score in (rows.before, rows.final)
            )
        elif isinstance(estimator, XOrder) and estimator._tables is not None:
            before, after = estimator._tables, mapped(estimator._tables, estimator.maps_)
        else:
            raise InputError(
                f"this {type(estimator).__name__} keeps no training scores to draw; only an XOrder that was fitted "
                "here does. Pass X and y of some rows along."
            )
        first = getattr(repair, "reference_", None)
        first = first if first in before else next(iter(before))
        # Of two groups the curve says what is wrong with them; of more, those without a class have none.
        others = [g for g in before if g != first and (len(before) == 2 or before[g].n1 > 0 < before[g].n0)]
        if not others:
            raise InputError(f"a trade-off is drawn for two groups or more with both classes; got {len(before)}.")
        panels = []
        for second in others:
            curve = frontier(before[first], before[second], metric=repair.metric)
            panel = cls._of_curve(curve, dp_tradeoffs, (first, second))
            if isinstance(estimator, FairRanker) and len(estimator.estimators_) > 1:
                # The mean of adjusted scores is not a reordering of the mean score, whose curve does not bound it.
                panel.people = "the models' mean score"
            for words, tables in ((_BEFORE, before), (_AFTER, after)):
                two = tables.replacing({group: tables[group] for group in (first, second)})
                panel.mark(words, measured(two, confidence)[0])
            panels.append(panel)
        panels[0].more = tuple(panels[1:])
        return panels[0]

    def mark(self, name: str, found: Audit) -> TradeoffDisplay:
        """Add the point of an audit of the same two groups, with the interval of its gap.

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
        # Curve and points are of the same people: by how much all of their AUCs may be off says nothing here.
        self.intervals[name] = np.array([gap.interval])
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
        given, panels = ax is not None, (self, *self.more)[:MOST_PANELS]
        alone, label, note = len(panels) == 1, f"{gap_title(self.metric)}   (0: no gap)", ""
        size, labels = (3.5, 3.6), (label, "AUC of the two groups")
        if self.pair is not None:
            first, second = group_names(self.pair, None)
            other = second if alone else "the group"
            label = f"{gap_title(self.metric)}: {first} minus {other}   (0: no gap)"
            note = f"right of 0 the score favours {first}, left of it {other}"
        if alone:
            size, labels = (7.0, 5.0), (wrapped(label, 76), "AUC   (higher: ranks better)")
        self.axes_ = self._panels(ax, len(panels), size, labels, "" if alone else ", one per pair")
        heading = f"What closing the gap costs{named(name)}"
        for one, panel in zip(self.axes_, panels, strict=True):
            panel._draw(one, kwargs)
            one.locator_params(nbins=8 if alone else 5)
            title(one, *(heading, note) if alone else (group_names(panel.pair or ())[1], "", 36))
        if not given and not alone:
            some = f", {len(panels)} of {1 + len(self.more)} pairs" if len(panels) <= len(self.more) else ""
            text = f"{heading}{some}\n{wrapped(f'{label}; {note}', 110)}"
            self.figure_.suptitle(text, x=0.01, ha="left", fontsize="medium")
        self._legend(self.axes_[0], given=given)
        return self

    def _draw(self, ax: Any, kwargs: dict[str, Any]) -> None:
        """Draw curve and points of one pair."""
        ink, window, curve = ink_of(ax), self._window(), thin(self.gap, self.auc)
        ax.axvline(0.0, color=ink.muted, linewidth=0.8, zorder=0)
        of = f" for {self.people}" if self.people else ""
        look: dict[str, Any] = {"color": ink.accent, "linewidth": 1.8, "label": f"best possible{of}", "zorder": 2}
        (self.line_,) = ax.plot(*curve, **(look | kwargs))
        if self.people is None:
            # Only the rows that the curve is of are bound by it.
            words = "out of reach of any reordering"
            ax.fill_between(*curve, window["ylim"][1], color=ink.panel, linewidth=0, zorder=0, label=words)
        self.points_ = {}
        # What a score was and became, and what the paper makes of it, look the same wherever they are seen.
        numbers = {called: number for number, called in enumerate(dict.fromkeys([*_KNOWN, *self.points]))}
        for called, (gaps, aucs) in self.points.items():
            look = {"color": ink.groups[(numbers[called] + 1) % MOST_LINES], "linestyle": "none", "label": called}
            look |= {"marker": _MARKERS[numbers[called] % len(_MARKERS)], "markersize": 7, "zorder": 3}
            if called in self.intervals:
                # None where the interval is not known.
                look["xerr"] = np.nan_to_num(np.abs(self.intervals[called].T - gaps))
            self.points_[called] = ax.errorbar(gaps, aucs, elinewidth=1.1, capsize=2.5, **look)
        ax.set(**window)

    @classmethod
    def _of_curve(cls, curve: Frontier, dp_tradeoffs: Sequence[float], pair: Pair | None = None) -> TradeoffDisplay:
        """Mark on a curve what the paper's dynamic programme would make of its rows."""
        points: dict[str, Points] = {}
        if len(dp_tradeoffs):
            reached = [
                order(curve.a, curve.b, metric=curve.metric, tradeoff=each, solver="dp") for each in dp_tradeoffs
            ]
            points[_PROGRAMME] = (np.array([one.gap for one in reached]), np.array([one.auc for one in reached]))
        return cls(curve.gap, curve.auc, curve.metric.name, points, pair)

    def _window(self) -> dict[str, tuple[float, float]]:
        """Show what lies between the marked points, no gap, and the top of the curve, with some room around."""
        top = int(np.argmax(self.auc))
        marked = [gaps for gaps, _ in self.points.values()]
        gaps = _known([0.0, self.gap[top]], *marked, *(ends.ravel() for ends in self.intervals.values()))
        room = 0.15 * max(float(np.ptp(gaps)), 0.02)
        left, right = float(gaps.min()) - room, float(gaps.max()) + room
        rising = np.argsort(self.gap, kind="stable")
        ends = np.interp([left, right], self.gap[rising], self.auc[rising])
        aucs = _known([self.auc[top]], ends, *(aucs for _, aucs in self.points.values()))
        room = 0.08 * max(float(np.ptp(aucs)), 0.002)
        return {"xlim": (left, right), "ylim": (float(aucs.min()) - room, float(aucs.max()) + room)}


def _known(*parts: Any) -> FloatArray:
    values = np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])
    return np.asarray(values[np.isfinite(values)])

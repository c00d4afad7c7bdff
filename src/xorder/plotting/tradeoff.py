"""The trade-off between AUC and a gap, as a picture."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from xorder._optional import import_optional
from xorder._table import FloatArray
from xorder.estimators import XOrder
from xorder.exceptions import InputError
from xorder.ordering import frontier, order

_NAMES = {"xauc": "xAUC gap", "prf": "PRF gap", "parity": "parity gap"}

# Shapes for print in grey, colours that can be told apart by everyone.
_STYLES = (("o", "#d55e00"), ("D", "#009e73"), ("x", "#7f7f7f"), ("s", "#cc79a7"), ("^", "#000000"))


@dataclass
class TradeoffDisplay:
    """AUC against a signed gap: the curve that no ordering exceeds, and points on or below it.

    Numbers first: make it with :meth:`from_estimator`, :meth:`from_predictions` or from arrays, then :meth:`plot`.

    Parameters
    ----------
    disparity, auc : the corners of the curve.
    metric : which gap the disparity is.
    points : name -> (disparities, AUCs) of what else to mark.
    pair : the two groups, whose difference the gap is.
    """

    disparity: FloatArray
    auc: FloatArray
    metric: str = "xauc"
    points: dict[str, tuple[FloatArray, FloatArray]] = field(default_factory=dict)
    pair: tuple[Hashable, Hashable] | None = None

    @classmethod
    def from_estimator(cls, repair: XOrder, *, dp_tradeoffs: Sequence[float] = ()) -> TradeoffDisplay:
        """Take the curve, the unadjusted score and the chosen point from a fitted :class:`xorder.XOrder`.

        ``dp_tradeoffs`` adds what the paper's dynamic programme reaches at these tradeoffs.
        """
        check_is_fitted(repair, "maps_")
        if not hasattr(repair, "ordering_"):
            raise InputError("a repair read from a file has no training scores to draw; fit it again.")
        found = repair.ordering_
        curve = frontier(found.a, found.b, metric=repair.metric)
        points = {
            "score as it was": (np.array([repair.disparity_before_]), np.array([repair.auc_before_])),
            "score adjusted": (np.array([repair.disparity_]), np.array([repair.auc_])),
        }
        if len(dp_tradeoffs):
            reached = [
                order(found.a, found.b, metric=repair.metric, tradeoff=value, solver="dp") for value in dp_tradeoffs
            ]
            points["dynamic programme"] = (
                np.array([ordering.disparity for ordering in reached]),
                np.array([ordering.auc for ordering in reached]),
            )
        return cls(curve.disparity, curve.auc, repair.metric, points, (repair.reference_, repair.moved_))

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_score: Any, *, sensitive_features: Any, sample_weight: Any = None, **settings: Any
    ) -> TradeoffDisplay:
        """Fit an :class:`xorder.XOrder` with the given settings on the rows, and take everything from it."""
        repair = XOrder(**settings).fit(
            y_score, y_true, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        return cls.from_estimator(repair)

    def plot(self, ax: Any = None) -> TradeoffDisplay:
        """Draw into ``ax``, or into a new figure; keeps both as ``ax_`` and ``figure_``."""
        if ax is None:
            pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="Drawing the trade-off")
            _, ax = pyplot.subplots(figsize=(6.4, 4.4), layout="constrained")
        ax.axvline(0.0, color="0.75", linewidth=1, zorder=0)
        ax.plot(self.disparity, self.auc, color="#0072b2", linewidth=1.8, label="best possible")
        for (name, (gaps, aucs)), (marker, colour) in zip(self.points.items(), cycle(_STYLES), strict=False):
            ax.plot(gaps, aucs, linestyle="none", marker=marker, markersize=7, color=colour, label=name, zorder=3)
        label = _NAMES.get(self.metric, "gap")
        if self.pair is not None:
            label += f"   ({self.pair[0]} minus {self.pair[1]})"
        ax.set(xlabel=label, ylabel="AUC", **self._window())
        # Dollar signs in the groups' names are no formula.
        ax.xaxis.label.set_parse_math(False)
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _window(self) -> dict[str, tuple[float, float]]:
        """Show what lies between the marked points, no gap, and the top of the curve, with some room around."""
        top = int(np.argmax(self.auc))
        gaps = np.concatenate([[0.0, self.disparity[top]], *(gaps for gaps, _ in self.points.values())])
        room = 0.15 * max(float(np.ptp(gaps)), 0.02)
        left, right = float(gaps.min()) - room, float(gaps.max()) + room
        rising = np.argsort(self.disparity, kind="stable")
        ends = np.interp([left, right], self.disparity[rising], self.auc[rising])
        aucs = np.concatenate([[self.auc[top]], ends, *(aucs for _, aucs in self.points.values())])
        room = 0.08 * max(float(np.ptp(aucs)), 0.002)
        return {"xlim": (left, right), "ylim": (float(aucs.min()) - room, float(aucs.max()) + room)}

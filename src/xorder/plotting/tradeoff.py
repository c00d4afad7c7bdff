"""The trade-off between AUC and a gap, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xorder._optional import import_optional
from xorder._table import FloatArray

Point = tuple[float, float]
"""A disparity and an AUC."""

_NAMES = {"xauc": "xAUC gap", "prf": "PRF gap", "parity": "parity gap"}


@dataclass
class TradeoffDisplay:
    """AUC against a signed gap: a curve of what can be had, and single points on or below it.

    Numbers first: build it from arrays, then :meth:`plot`.

    Parameters
    ----------
    disparity, auc : the points of the curve, in order.
    metric : which gap the disparity is.
    curve_name : legend of the curve.
    points : name -> (disparity, auc) of what else to mark, e.g. the unadjusted score and the chosen point.
    pair : the two groups, to say which side of 0 favours whom.
    """

    disparity: FloatArray
    auc: FloatArray
    metric: str = "xauc"
    curve_name: str = "best found"
    points: dict[str, Point] = field(default_factory=dict)
    pair: Sequence[Any] | None = None

    def plot(self, ax: Any = None) -> TradeoffDisplay:
        """Draw into ``ax``, or into a new figure; keeps both as ``ax_`` and ``figure_``."""
        pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="Drawing the trade-off")
        if ax is None:
            _, ax = pyplot.subplots(figsize=(6.4, 4.4), layout="constrained")
        ax.axvline(0.0, color="0.75", linewidth=1, zorder=0)
        order = np.argsort(self.disparity, kind="stable")
        ax.plot(
            np.asarray(self.disparity)[order],
            np.asarray(self.auc)[order],
            color="#0072b2",
            marker=".",
            markersize=4,
            linewidth=1.5,
            label=self.curve_name,
        )
        # Colours that can be told apart by everyone, and shapes for print in grey.
        styles = zip(("o", "D", "s", "^"), ("#d55e00", "#009e73", "#cc79a7", "#000000"), strict=True)
        for (name, (x, y)), (marker, colour) in zip(self.points.items(), styles, strict=False):
            ax.plot([x], [y], linestyle="none", marker=marker, markersize=8, color=colour, label=name, zorder=3)
        label = _NAMES.get(self.metric, "gap")
        if self.pair is not None:
            label += f", {self.pair[0]} minus {self.pair[1]}"
        ax.set(xlabel=label, ylabel="AUC")
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

"""Scores of each group's positives and negatives, before and after a repair, as a picture."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xorder._curves import bin_edges, histogram, quantiles
from xorder._present import count
from xorder._table import FloatArray, ScoreTable
from xorder.plotting._scored import RowsDisplay, check_bins, tables_by_stage
from xorder.plotting._style import COLOURS, group_names, legend, named, tidy, title

# How negatives and positives are drawn, and their medians.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"facecolor": "0.85", "edgecolor": "0.55", "linewidth": 0.8, "fill": True},
    {"color": COLOURS[0], "linewidth": 1.4, "fill": False},
)
_MARKS: tuple[dict[str, Any], ...] = (
    {"color": "0.35", "linestyle": (0, (2, 1.5))},
    {"color": COLOURS[0], "linestyle": "-"},
)


def _medians(table: ScoreTable) -> tuple[float, float]:
    negative, positive = (quantiles(table.score, mass, [0.5])[0] for mass in (table.negative, table.positive))
    return negative, positive


def _beyond(table: ScoreTable, edges: FloatArray) -> float:
    return float(table.mass[(table.score < edges[0]) | (table.score > edges[-1])].sum())


@dataclass
class ScoreShiftDisplay(RowsDisplay):
    """Distributions of the scores of each group's positives and negatives, before a repair and after it.

    Numbers first: make it with :meth:`from_predictions` or :meth:`from_estimator`, then :meth:`plot`.

    Parameters
    ----------
    edges : ndarray
        Edges of the bins, the same for all.
    shares : dict
        Stage ("before", "after") -> group -> shares of negatives and of positives in each bin.
    medians : dict
        Stage -> group -> medians of negatives and of positives.
    counts : dict
        Group -> number (or weight) of negatives and of positives.
    beyond : dict, default={}
        Stage -> number (or weight) of scores counted in the end bins though they lie beyond them.
    name : str, default=None
        What the score is called.
    """

    edges: FloatArray
    shares: dict[str, dict[Hashable, tuple[FloatArray, FloatArray]]]
    medians: dict[str, dict[Hashable, tuple[float, float]]]
    counts: dict[Hashable, tuple[float, float]]
    beyond: dict[str, float] = field(default_factory=dict)
    name: str | None = None

    _before_and_after = True

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        y_adjusted: Any = None,
        bins: int = 40,
        name: str | None = None,
    ) -> ScoreShiftDisplay:
        """Compute the distributions of ``y_score`` and, where given, of the scores after a repair.

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
        y_adjusted : array-like of shape (n_samples,), default=None
            Scores after a repair.
        bins : int, default=40
            Number of bins.
        name : str, default=None
            What the score is called.

        Returns
        -------
        ScoreShiftDisplay
            The numbers, ready to be drawn.
        """
        bins = check_bins(bins)
        stages = tables_by_stage(y_true, y_score, y_adjusted, sensitive_features, sample_weight)
        edges = bin_edges([table for found in stages.values() for table in found.values()], bins)
        return cls(
            edges,
            {stage: {g: histogram(table, edges) for g, table in found.items()} for stage, found in stages.items()},
            {stage: {g: _medians(t) for g, t in found.items()} for stage, found in stages.items()},
            {group: (table.n0, table.n1) for group, table in stages["before"].items()},
            {stage: sum(_beyond(table, edges) for table in found.values()) for stage, found in stages.items()},
            name,
        )

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> ScoreShiftDisplay:
        """Draw a row for each group, with both classes.

        Parameters
        ----------
        ax : matplotlib axes, or array of them, default=None
            One axis per stage, or one that is split; by default those of a new figure.
        name : str, default=None
            What the score is called, instead of the display's own name for it.
        **kwargs : dict
            Passed on to each ``stairs``.

        Returns
        -------
        ScoreShiftDisplay
            The display itself, which keeps ``axes_``, ``ax_`` (the last of them), ``figure_`` and ``stairs_``
            ((stage, group) -> those of negatives and of positives).
        """
        groups, stages = list(self.counts), list(self.shares)
        size = (5.2 * len(stages) + 1.2, min(1.7 + 0.95 * len(groups), 16.0))
        why = ", one before and one after" if len(stages) == 2 else ""
        axes = self._axes(ax, columns=len(stages), split=True, size=size, why=why, sharey=True)
        # On an axis that nothing moves aside, names must do with the usual margin.
        cramped = ax is not None and self.figure_.get_layout_engine() is None
        longest, yes, no, letters = (
            (11, "pos.", "neg.", "x-small") if cramped else (22, "positive", "negative", "small")
        )
        names = [
            f"{label}\n{count(self.counts[group][1])} {yes}\n{count(self.counts[group][0])} {no}"
            for label, group in zip(group_names(groups, longest), groups, strict=True)
        ]
        self.stairs_ = {}
        for one, stage in zip(axes, stages, strict=True):
            for row, group in enumerate(groups):
                # Rows count downwards, so that the first group is on top.
                self.stairs_[stage, group] = self._draw_row(one, stage, group, -row, kwargs)
            self._finish(one, stage, named(name or self.name) if stage == "before" else "", ax is not None)
        axes[0].set_yticks([0.4 - row for row in range(len(groups))], names, fontsize=letters)
        negatives, positives = self.stairs_[stages[0], groups[0]]
        entries = {"handles": [positives, negatives], "labels": ["positives", "negatives"], "ncols": 2}
        legend(axes[-1], inside=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), **entries)
        self.axes_ = axes
        return self

    def _draw_row(self, ax: Any, stage: str, group: Hashable, base: float, kwargs: dict[str, Any]) -> tuple[Any, Any]:
        # One scale for both classes of a group, so that its two hills can be compared.
        tall = [share.max() for share in self.shares[stage][group] if np.isfinite(share).all()]
        scale = 0.85 / max(tall, default=1.0)
        drawn = []
        for share, middle, look, mark in zip(
            self.shares[stage][group], self.medians[stage][group], _LOOKS, _MARKS, strict=True
        ):
            drawn.append(ax.stairs(base + scale * share, self.edges, baseline=base, **(look | kwargs)))
            if np.isfinite(middle):
                at = float(np.clip(middle, self.edges[0], self.edges[-1]))
                ax.plot([at, at], [base - 0.07, base + 0.1], linewidth=2.2, zorder=4, **mark)
        return drawn[0], drawn[1]

    def _finish(self, ax: Any, stage: str, called: str, narrow: bool) -> None:
        far = self.beyond.get(stage, 0.0)
        beyond = f"\n{count(far)} scores beyond the ends are counted at the ends" if far else ""
        ax.set(xlabel=f"score   (marks: medians){beyond}", ylim=(-len(self.counts) + 0.85, 1.0))
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        tidy(ax)
        for row in range(len(self.counts)):
            ax.axhline(-row, color="0.8", linewidth=0.8, zorder=0)
        text = {"before": "Scores before", "after": "Scores after"}[stage] if len(self.shares) > 1 else "Scores"
        # Where an axis may be too narrow for title and legend side by side, the legend has a line of its own.
        title(ax, f"{text}{called}", " " if narrow else None)

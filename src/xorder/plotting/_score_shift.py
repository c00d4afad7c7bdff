"""Scores of each group's positives and negatives, before and after a repair, as a picture."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xorder._table import FloatArray, ScoreTable, Tables
from xorder._validation import check_tables
from xorder.exceptions import InputError
from xorder.plotting._names import group_names, named
from xorder.plotting._scored import scored_rows
from xorder.plotting._style import COLOURS, axes_for, given_axes, tidy, title

# What lies outside the middle 99.6 % sets the scale unless it would squeeze the rest into a tenth of it.
_TAIL, _SQUEEZED = 0.002, 10.0

_NEGATIVE, _POSITIVE = "0.55", COLOURS[0]


def histogram(table: ScoreTable, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shares of a group's negatives and of its positives in each bin; scores beyond the ends count in the end bins.

    Each sums to 1, or is ``nan`` where the group has nobody of the class.

    >>> table = ScoreTable.from_arrays([1, 1, 0], [0.9, 0.2, 0.1])
    >>> histogram(table, np.array([0.0, 0.5, 1.0]))
    (array([1., 0.]), array([0.5, 0.5]))
    """
    place = np.clip(np.searchsorted(edges, table.score, side="right") - 1, 0, edges.size - 2)
    counts = [np.bincount(place, mass, minlength=edges.size - 1) for mass in (table.negative, table.positive)]
    negative, positive = (
        count / total if total > 0 else np.full(edges.size - 1, np.nan)
        for count, total in zip(counts, (table.n0, table.n1), strict=True)
    )
    return negative, positive


def median(table: ScoreTable, mass: FloatArray) -> float:
    """Median of the scores with these masses; ``nan`` without any."""
    total = float(mass.sum())
    if not total > 0:
        return np.nan
    rising, scores = np.cumsum(mass[::-1]), table.score[::-1]
    return float(scores[np.searchsorted(rising, total / 2)])


def bin_edges(stages: list[Tables], bins: int) -> FloatArray:
    """Edges of equal bins over the scores of all stages together, less far outliers."""
    tables = [table for stage in stages for table in stage.values() if len(table)]
    low, high = min(table.score[-1] for table in tables), max(table.score[0] for table in tables)
    everyone = sum(tables[1:], tables[0])
    way = np.cumsum(everyone.mass) / everyone.mass.sum()
    top, bottom = (everyone.score[min(int(np.searchsorted(way, share)), way.size - 1)] for share in (_TAIL, 1 - _TAIL))
    if high - low > _SQUEEZED * (top - bottom) > 0:
        low, high = bottom, top
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)


def _beyond(table: ScoreTable, edges: FloatArray) -> float:
    return float(table.mass[(table.score < edges[0]) | (table.score > edges[-1])].sum())


@dataclass
class ScoreShiftDisplay:
    """Distributions of the scores of each group's positives and negatives, before a repair and after it.

    Numbers first: make it with :meth:`from_predictions` or :meth:`from_estimator`, then :meth:`plot`.

    Parameters
    ----------
    edges : of the bins, the same for all.
    shares : stage ("before", "after") -> group -> shares of negatives and of positives in each bin.
    medians : stage -> group -> medians of negatives and of positives.
    counts : group -> number (or weight) of negatives and of positives.
    beyond : stage -> number (or weight) of scores counted in the end bins though they lie beyond them.
    name : what the score is called.
    """

    edges: FloatArray
    shares: dict[str, dict[Hashable, tuple[FloatArray, FloatArray]]]
    medians: dict[str, dict[Hashable, tuple[float, float]]]
    counts: dict[Hashable, tuple[float, float]]
    beyond: dict[str, float] = field(default_factory=dict)
    name: str | None = None

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
        """Compute the distributions of ``y_score`` and, where given, of the scores after a repair."""
        if not isinstance(bins, int | np.integer) or not 1 <= bins <= 1000:
            raise InputError(f"bins must be a whole number from 1 to 1000; got {bins!r}.")
        stages = {"before": check_tables(y_true, y_score, sensitive_features, sample_weight)}
        if y_adjusted is not None:
            stages["after"] = check_tables(y_true, y_adjusted, sensitive_features, sample_weight)
        edges = bin_edges(list(stages.values()), int(bins))
        return cls(
            edges,
            {stage: {g: histogram(table, edges) for g, table in found.items()} for stage, found in stages.items()},
            {
                stage: {g: (median(t, t.negative), median(t, t.positive)) for g, t in found.items()}
                for stage, found in stages.items()
            },
            {group: (table.n0, table.n1) for group, table in stages["before"].items()},
            {stage: sum(_beyond(table, edges) for table in found.values()) for stage, found in stages.items()},
            name,
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        response_method: str = "auto",
        bins: int = 40,
        name: str | None = None,
    ) -> ScoreShiftDisplay:
        """Compute the distributions before and after a repair (``X``: scores before) or of a FairRanker.

        Of any other classifier there is only a before.
        """
        rows = scored_rows(estimator, X, y, sensitive_features=sensitive_features, response_method=response_method)
        return cls.from_predictions(
            rows.y_true,
            rows.before,
            sensitive_features=rows.groups,
            sample_weight=sample_weight,
            y_adjusted=rows.after,
            bins=bins,
            name=name,
        )

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> ScoreShiftDisplay:
        """Draw into one axis a stage, into one that is split, or a new figure: each group has a row, with both classes.

        Further arguments go to each ``stairs``. Keeps ``axes_``, ``ax_`` (the last of them), ``figure_``, and
        ``stairs_``: (stage, group) -> those of negatives and of positives.
        """
        groups, stages = list(self.counts), list(self.shares)
        fresh = ax is None or len(given_axes(ax)) == 1
        axes, self.figure_ = axes_for(
            ax,
            name="ScoreShiftDisplay",
            columns=len(stages),
            split=True,
            size=(5.2 * len(stages) + 1.2, min(1.7 + 0.95 * len(groups), 16.0)),
            why=", one before and one after" if len(stages) == 2 else "",
            **({"sharey": True} if fresh else {}),
        )
        # On an axis that nothing moves aside, names must do with the usual margin.
        cramped = ax is not None and self.figure_.get_layout_engine() is None
        longest, yes, no, letters = (
            (11, "pos.", "neg.", "x-small") if cramped else (22, "positive", "negative", "small")
        )
        names = [
            f"{label}\n{self.counts[group][1]:,.10g} {yes}\n{self.counts[group][0]:,.10g} {no}"
            for label, group in zip(group_names(groups, longest=longest), groups, strict=True)
        ]
        self.stairs_ = {}
        for one, stage in zip(axes, stages, strict=True):
            for row, group in enumerate(groups):
                # Rows count downwards, so that the first group is on top.
                self.stairs_[stage, group] = self._draw_row(one, stage, group, -row, kwargs)
            self._finish(one, stage, named(name or self.name) if stage == "before" else "", ax is not None)
        axes[0].set_yticks([0.4 - row for row in range(len(groups))], names, fontsize=letters)
        handles = self.stairs_[stages[0], groups[0]]
        axes[-1].legend(
            handles[::-1],
            ["positives", "negatives"],
            frameon=False,
            fontsize="small",
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=2,
        )
        self.axes_, self.ax_ = axes, axes[-1]
        return self

    def _draw_row(self, ax: Any, stage: str, group: Hashable, base: float, kwargs: dict[str, Any]) -> tuple[Any, Any]:
        # One scale for both classes of a group, so that its two hills can be compared.
        tall = [share.max() for share in self.shares[stage][group] if np.isfinite(share).all()]
        scale = 0.85 / max(tall, default=1.0)
        drawn = []
        for number, (share, middle) in enumerate(
            zip(self.shares[stage][group], self.medians[stage][group], strict=True)
        ):
            look = (
                {"color": _POSITIVE, "linewidth": 1.4, "fill": False}
                if number
                else {"facecolor": "0.85", "edgecolor": _NEGATIVE, "linewidth": 0.8, "fill": True}
            )
            drawn.append(ax.stairs(base + scale * share, self.edges, baseline=base, **(look | kwargs)))
            if np.isfinite(middle):
                line = "-" if number else (0, (2, 1.5))
                place = float(np.clip(middle, self.edges[0], self.edges[-1]))
                colour = _POSITIVE if number else "0.35"
                ax.plot(
                    [place, place], [base - 0.07, base + 0.1], color=colour, linestyle=line, linewidth=2.2, zorder=4
                )
        return drawn[0], drawn[1]

    def _finish(self, ax: Any, stage: str, called: str, narrow: bool) -> None:
        far = self.beyond.get(stage, 0.0)
        beyond = f"\n{far:,.10g} scores beyond the ends are counted at the ends" if far else ""
        ax.set(xlabel=f"score   (marks: medians){beyond}", ylim=(-len(self.counts) + 0.85, 1.0))
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        tidy(ax)
        for row in range(len(self.counts)):
            ax.axhline(-row, color="0.8", linewidth=0.8, zorder=0)
        text = {"before": "Scores before", "after": "Scores after"}[stage] if len(self.shares) > 1 else "Scores"
        # Where an axis may be too narrow for title and legend side by side, the legend has a line of its own.
        title(ax, f"{text}{called}", " " if narrow else None)

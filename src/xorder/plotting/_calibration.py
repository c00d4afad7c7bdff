"""Whether a score means the same for each group, as a picture."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from xorder._metric import normal_quantile
from xorder._parameters import WeightKind, check_word
from xorder._present import count, level
from xorder._table import FloatArray, ScoreTable, Tables
from xorder.exceptions import InputError
from xorder.metrics._audit import check_confidence
from xorder.plotting._scored import RowsDisplay, check_bins, tables_by_stage
from xorder.plotting._style import COLOURS, GREY, given_axes, group_names, legend, named, tidy, title

Strategy = Literal["quantile", "uniform"]

# Bins, where there are rows enough.
_BINS = 10

# Rows that a bin should have.
_ROWS = 15


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationBins:
    """Bins of a group's scores: mean score, observed share of positives with its interval, and number of rows."""

    mean: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    count: FloatArray


def calibration_bins(
    table: ScoreTable,
    *,
    bins: int | None = None,
    strategy: Strategy = "quantile",
    confidence: float = 0.95,
) -> CalibrationBins:
    """Sum up a group's scores in bins of about equal numbers of rows, or of equal width; empty bins are left out.

    Without ``bins`` there are ten, or as many as leave about 15 rows in each. Rows of one score are never parted.
    The interval is Wilson's, of as many rows as the weights are worth (Kish).

    >>> table = ScoreTable.from_arrays([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8])
    >>> found = calibration_bins(table, bins=2)
    >>> found.mean, found.observed, found.low.round(2), found.count
    (array([0.2, 0.7]), array([0.5, 0.5]), array([0.09, 0.09]), array([2., 2.]))
    """
    score, mass = table.score[::-1], table.mass[::-1]
    total = float(mass.sum())
    if bins is None:
        bins = int(np.clip(total // _ROWS, 1, _BINS))
    # Of bins with equal numbers of rows, the middle of the rows that share a score decides which one they are in.
    place = score if strategy == "uniform" else (np.cumsum(mass) - mass / 2) / total
    index = np.minimum((place * bins).astype(np.int64), bins - 1)
    rows = np.bincount(index, mass).astype(np.float64)
    used = rows > 0
    rows = rows[used]
    mean = np.bincount(index, mass * score)[used] / rows
    observed = np.bincount(index, table.positive[::-1])[used] / rows
    worth = rows**2 / np.bincount(index, np.add(*table.spreads)[::-1])[used]
    z = normal_quantile(confidence)
    middle = (observed + z**2 / (2 * worth)) / (1 + z**2 / worth)
    half = z / (1 + z**2 / worth) * np.sqrt(observed * (1 - observed) / worth + z**2 / (4 * worth**2))
    return CalibrationBins(mean, observed, np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0), rows)


# Panels of a picture, at most, unless groups are named.
_MOST_PANELS = 12

# Where the bars of the counts end, as a share of the panel's height.
_BARS = 0.16


@dataclass
class CalibrationByGroupDisplay(RowsDisplay):
    """Observed share of positives against the score, for each group, before and (where given) after a repair.

    On the diagonal a score is the risk it says. Above it people are at more risk than their score says.
    Numbers first: make it with :meth:`from_predictions` or :meth:`from_estimator`, then :meth:`plot`.

    Parameters
    ----------
    bins : dict
        Stage ("before", "after") -> group -> ``CalibrationBins``: mean, observed share, its interval and count.
    rates : dict
        Group -> (positives, all), as numbers of rows or sums of weights.
    confidence : float, default=0.95
        Confidence of the intervals.
    name : str, default=None
        What the score is called.
    """

    bins: dict[str, dict[Hashable, CalibrationBins]]
    rates: dict[Hashable, tuple[float, float]]
    confidence: float = 0.95
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
        bins: int | None = None,
        strategy: Strategy = "quantile",
        confidence: float = 0.95,
        weights_are: WeightKind = "counts",
        name: str | None = None,
    ) -> CalibrationByGroupDisplay:
        """Compute the bins of ``y_score`` and, where given, of the scores after a repair; both are probabilities.

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
        bins : int, default=None
            Number of bins per group; by default ten, or as many as leave about 15 rows in each.
        strategy : {"quantile", "uniform"}, default="quantile"
            Whether bins have about equal numbers of rows, or equal width.
        confidence : float, default=0.95
            Confidence of the intervals.
        weights_are : {"counts", "sampling"}, default="counts"
            What weights mean for the uncertainty, as in :func:`xorder.audit`.
        name : str, default=None
            What the score is called.

        Returns
        -------
        CalibrationByGroupDisplay
            The numbers, ready to be drawn.
        """
        bins = None if bins is None else check_bins(bins)
        check_word("strategy", strategy, ("quantile", "uniform"))
        check_confidence(confidence)
        stages = tables_by_stage(
            y_true, y_score, y_adjusted, sensitive_features, sample_weight, weights_are=weights_are
        )
        for tables, called in zip(stages.values(), ("y_score", "y_adjusted"), strict=False):
            _check_probabilities(tables, called)
        found = {
            stage: {
                group: calibration_bins(table, bins=bins, strategy=strategy, confidence=confidence)
                for group, table in tables.items()
            }
            for stage, tables in stages.items()
        }
        rates = {group: (table.n1, table.n1 + table.n0) for group, table in stages["before"].items()}
        return cls(found, rates, confidence, name)

    def plot(
        self, ax: Any = None, *, groups: Sequence[Hashable] | None = None, name: str | None = None, **kwargs: Any
    ) -> CalibrationByGroupDisplay:
        """Draw one panel per group.

        Parameters
        ----------
        ax : matplotlib axes, or array of them, default=None
            One axis per group, or one that is split; by default those of a new figure.
        groups : list, default=None
            Groups to draw; by default the twelve largest.
        name : str, default=None
            What the score is called, instead of the display's own name for it.
        **kwargs : dict
            Passed on to each ``errorbar``.

        Returns
        -------
        CalibrationByGroupDisplay
            The display itself, which keeps ``axes_`` (by group), ``ax_`` (the last), ``figure_``, ``lines_``
            ((stage, group) -> the error bars) and ``bars_`` (group -> the bars of the counts).
        """
        shown = self._shown(groups)
        fresh = ax is None or len(given_axes(ax)) == 1
        columns = min(len(shown), 4 if -len(shown) % 4 <= -len(shown) % 3 else 3)
        rows = -(-len(shown) // columns)
        grid = {"rows": rows, "columns": columns} if fresh else {"columns": len(shown)}
        size = (max(3.3 * columns, 5.0), 3.7 * rows + 0.5)
        axes = self._axes(ax, **grid, size=size, split=True, why=", one per group", sharex=True, sharey=True)
        for spare in axes[len(shown) :]:
            spare.remove()
        most = max(float(found[group].count.max(initial=0.0)) for found in self.bins.values() for group in shown)
        self.lines_: dict[tuple[str, Hashable], Any] = {}
        self.bars_: dict[Hashable, Any] = {}
        self.axes_ = dict(zip(shown, axes, strict=False))
        for position, (one, called) in enumerate(zip(axes, group_names(shown, 26), strict=False)):
            self._panel(one, shown[position], called, most, kwargs)
            if not fresh or position % columns == 0:
                one.set_ylabel("observed share of positives")
            if not fresh or position + columns >= len(shown):
                one.tick_params(labelbottom=True)
                one.set_xlabel("score (mean of the bin)")
        self.ax_ = axes[len(shown) - 1]
        if ax is not None:
            legend(axes[0], inside=True)
            return self
        some = "" if len(shown) == len(self.rates) else f", {len(shown)} of {len(self.rates)} groups"
        heading = f"Score against observed risk{named(name or self.name)}{some}"
        self.figure_.suptitle(heading, x=0.01, ha="left", weight="bold")
        axes[0].legend(frameon=False, fontsize="small", loc="upper left")
        return self

    def _shown(self, groups: Sequence[Hashable] | None) -> list[Hashable]:
        if groups is None:
            largest = sorted(self.rates, key=lambda group: -self.rates[group][1])[:_MOST_PANELS]
            return [group for group in self.rates if group in largest]
        unknown = [group for group in groups if group not in self.rates]
        if unknown or not len(groups):
            known = ", ".join(map(repr, self.rates))
            raise InputError(f"groups must name some of the groups {known}; got {list(groups)!r}.")
        return list(groups)

    def _panel(self, ax: Any, group: Hashable, called: str, most: float, kwargs: dict[str, Any]) -> None:
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, zorder=1)
        stages = list(self.bins)
        for stage, look in zip(stages, _looks(len(stages)), strict=True):
            found = self.bins[stage][group]
            ends = [np.maximum(found.observed - found.low, 0.0), np.maximum(found.high - found.observed, 0.0)]
            label = f"{stage} " if len(stages) == 2 else "observed "
            look = look | {"label": f"{label}({level(self.confidence)} interval)"} | kwargs
            self.lines_[stage, group] = ax.errorbar(found.mean, found.observed, yerr=ends, **look)
        last = self.bins[stages[-1]][group]
        self.bars_[group] = ax.bar(
            last.mean, _BARS * last.count / most, width=0.018, color="0.8", edgecolor="white", linewidth=0.5, zorder=0
        )
        positives, rows = self.rates[group]
        tidy(ax)
        ax.set(xlim=(-0.02, 1.02), ylim=(0.0, 1.02))
        share = f"{count(positives)} of {count(rows)} positive"
        fewest, largest = last.count.min(initial=most), last.count.max(initial=0.0)
        stays = len(stages) == 2 and np.array_equal(last.mean, self.bins[stages[0]][group].mean)
        title(
            ax,
            f"{called}{' (scores stay)' if stays else ''}",
            f"{share}\nbars: people per bin, {count(min(fewest, largest))} to {count(largest)}",
        )


def _looks(stages: int) -> list[dict[str, Any]]:
    after = {"color": COLOURS[0], "marker": "o", "markersize": 4, "linewidth": 1.4, "elinewidth": 1.0, "zorder": 3}
    if stages == 1:
        return [after]
    before = {"color": COLOURS[1], "marker": "s", "markersize": 4, "linestyle": (0, (5, 1.5)), "linewidth": 1.2}
    return [before | {"elinewidth": 0.9, "markerfacecolor": "white", "zorder": 2}, after]


def _check_probabilities(tables: Tables, called: str) -> None:
    for table in tables.values():
        if len(table) and not 0 <= table.score[-1] <= table.score[0] <= 1:
            raise InputError(
                f"{called} must hold probabilities, from 0 to 1, to be compared with shares of positives; got scores "
                f"from {table.score[-1]:g} to {table.score[0]:g}."
            )

"""The gaps of all pairs of groups with their intervals, as a picture."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._metric import check_metric
from xorder._parameters import check_label
from xorder._present import gap_title, level, wrapped
from xorder.exceptions import InputError
from xorder.metrics import Audit, Gap
from xorder.metrics._gaps import Pair, Reading, judge
from xorder.plotting._scored import AuditDisplay, stages_of, widest_gaps
from xorder.plotting._style import group_names, ink_of, name_rows, named, room_of, tidy, title

# Pairs that are shown unless told otherwise, and letters of a line of their names.
_MOST_PAIRS, _WIDTH = 20, 44


@dataclass
class GapDisplay(AuditDisplay):
    """A forest plot: the gap of each pair of groups with its interval, the widest on top.

    Filled marks are gaps that chance does not explain, allowing for all pairs. Numbers first: make it with
    :meth:`from_predictions`, :meth:`from_estimator` or :meth:`from_audit`, then :meth:`plot`.

    Parameters
    ----------
    gaps : dict
        Stage ("before", "after") -> gaps, in the same order of pairs.
    readings : dict
        Stage -> pair -> what its gap is, such as ``"not chance"``.
    pairs : int
        How many pairs there are to choose from.
    confidence : float, default=0.95
        Confidence of the intervals, each for its pair alone.
    tolerance : float, default=None
        A gap that is tolerated; it is marked on both sides of 0.
    name : str, default=None
        What the score is called.
    """

    gaps: dict[str, list[Gap]]
    readings: dict[str, dict[Pair, Reading]]
    pairs: int
    confidence: float = 0.95
    tolerance: float | None = None
    name: str | None = None

    _before_and_after = True

    @classmethod
    def from_audit(
        cls,
        audit: Audit,
        adjusted: Audit | None = None,
        *,
        metric: str = "xauc",
        reference: Hashable | None = None,
        most: int = _MOST_PAIRS,
        name: str | None = None,
    ) -> GapDisplay:
        """Take the gaps of an audit and, where given, of one of the scores after a repair.

        Parameters
        ----------
        audit : Audit
            The audit.
        adjusted : Audit, default=None
            Audit of the same people's scores after a repair.
        metric : {"xauc", "prf", "parity"}, default="xauc"
            Which gap.
        reference : group label, default=None
            Show each other group less this one; by default all pairs, the group that is ranked higher first.
        most : int, default=20
            Number of pairs to show, the widest.
        name : str, default=None
            What the score is called.

        Returns
        -------
        GapDisplay
            The numbers, ready to be drawn.
        """
        check_metric(metric)
        if reference is not None:
            check_label("reference", reference, audit.groups)
        every = [gap for gap in widest_gaps(audit, metric) if reference is None or reference in gap.pair]
        if not every:
            raise InputError(f"gaps are between two groups or more; got {len(audit.groups)}.")
        pairs = [gap.pair[::-1] if gap.pair[0] == reference else gap.pair for gap in every[:most]]
        stages = stages_of(audit, adjusted)
        gaps = {stage: [each.gap(metric, pair) for pair in pairs] for stage, each in stages.items()}
        readings = {stage: judge(each, metric).readings for stage, each in stages.items()}
        return cls(gaps, readings, len(every), audit.confidence, audit.tolerance, name)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> GapDisplay:
        """Draw a line per pair.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            What the score is called, instead of the display's own name for it.
        **kwargs : dict
            Passed on to each ``errorbar``.

        Returns
        -------
        GapDisplay
            The display itself, which keeps ``ax_``, ``figure_`` and ``bars_`` ((stage, reading) -> the error bars).
        """
        first = self.gaps["before"]
        every = list(dict.fromkeys(group for gap in first for group in gap.pair))
        names = dict(zip(every, group_names(every, None), strict=True))
        rows = [wrapped(" − ".join(names[group] for group in gap.pair), _WIDTH) for gap in first]
        given, room = ax is not None, room_of(rows)
        (ax,) = self._axes(ax, (1, 1), (8.0, float(room.sum()) + 1.9))
        ink, centers = ink_of(ax), name_rows(ax, rows, room)
        ax.axvline(0.0, color=ink.muted, linewidth=0.8, zorder=0)
        for end in (-1, 1) if self.tolerance is not None else ():
            ax.axvline(end * (self.tolerance or 0.0), color=ink.muted, linewidth=0.8, linestyle=":", zorder=0)
        self.bars_ = {}
        for number, (stage, gaps) in enumerate(self.gaps.items(), start=2 - len(self.gaps)):
            color = ink.groups[1 - number]
            value, ends = np.array([gap.value for gap in gaps]), np.array([gap.interval for gap in gaps]).T
            y = centers if len(self.gaps) == 1 else centers + 0.07 * (2 * number - 1)
            sure = np.array([self.readings[stage][gap.pair] == "not chance" for gap in gaps])
            look = {"color": color, "linestyle": "none", "marker": "so"[number], "markersize": 5, "capsize": 2}
            for words, own in (("chance does not explain it", sure), ("may be chance, or too few to say", ~sure)):
                if own.any():
                    look["label"] = words if len(self.gaps) == 1 else f"{stage}: {words}"
                    look["markerfacecolor"] = color if own is sure else ax.get_facecolor()
                    bars = np.nan_to_num(np.abs(ends - value))[:, own]
                    self.bars_[stage, words] = ax.errorbar(value[own], y[own], xerr=bars, **(look | kwargs))
        tidy(ax)
        ax.set_xlabel(f"{gap_title(first[0].metric)}: first less second   (0: no gap)")
        some = f", {len(first)} widest of {self.pairs} pairs" if len(first) < self.pairs else ""
        note = f"{level(self.confidence)} intervals; right of 0 the first group is ranked higher"
        title(ax, f"Gaps between groups{named(name or self.name)}{some}", note)
        self._legend(ax, given=given)
        return self

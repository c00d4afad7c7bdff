"""Who is found above each cut of the list, as a picture."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from xorder._present import interval_text, level, percent, signed
from xorder._table import FloatArray
from xorder.exceptions import InputError
from xorder.metrics import Audit, CutGap
from xorder.metrics._cuts import Cut, Cuts, cut_text
from xorder.metrics._gaps import Pair
from xorder.plotting._scored import AuditDisplay
from xorder.plotting._style import MOST_LINES, group_names, ink_of, legend, line_style, named, tidy, title

# Cuts that are drawn, evenly spaced; the worst and those of the user come on top.
_POINTS = 200

# Lines of names that fit inside an axis.
_FEW_NAMES = 6

# How the worst cut is marked.
_WORST: dict[str, Any] = {"marker": "o", "markersize": 5, "zorder": 4}

# Names of cuts that are closer than this share of the list are written upwards.
_CLOSE = 0.08


@dataclass
class CutGapDisplay(AuditDisplay):
    """Share of each group's positives that is found above each cut of the list, and by how much two groups differ.

    Where the band around the difference leaves out 0, chance does not explain it, also allowing for all cuts being
    looked at; it does not allow for the number of pairs that there are of more than two groups. Numbers first: make it
    with :meth:`from_predictions`, :meth:`from_estimator` or :meth:`from_audit`, then :meth:`plot`.

    Parameters
    ----------
    shares : ndarray
        Cuts, as shares of the list, rising from 0 to 1.
    sensitivity : dict
        Group -> share of its positives above each cut; ``nan`` where it has none.
    worst : CutGap
        The widest difference of the pair shown, over all cuts.
    half_width : float
        Half the width of the band around the difference; ``nan`` where rows are too few for one.
    cuts : dict
        Cut of the user's, such as 0.05 -> its :class:`xorder.metrics.CutGap` for the same pair.
    confidence : float, default=0.95
        Confidence of the band, which holds at all cuts at once.
    name : str, default=None
        What the score is called.
    """

    shares: FloatArray
    sensitivity: dict[Hashable, FloatArray]
    worst: CutGap
    half_width: float
    cuts: dict[Cut, CutGap]
    confidence: float = 0.95
    name: str | None = None

    @classmethod
    def from_audit(cls, audit: Audit, *, pair: Pair | None = None, name: str | None = None) -> CutGapDisplay:
        """Take the curves, and the cuts to mark, of an audit.

        Parameters
        ----------
        audit : Audit
            The audit.
        pair : tuple of two group labels, default=None
            Groups whose difference is shown, first minus second; by default those that differ most at any cut.
        name : str, default=None
            What the score is called.

        Returns
        -------
        CutGapDisplay
            The numbers, ready to be drawn.

        Raises
        ------
        InputError
            If there are not two groups, or the audit was not made from rows or tables.
        """
        if len(audit.groups) < 2:
            raise InputError(f"cuts are compared between two groups or more; got {len(audit.groups)}.")
        worst = audit.cut_gap(pair=pair)
        if pair is None and worst.value < 0:
            worst = worst.reversed()
        cuts = {cut: audit.cut_gap(cut, worst.pair) for cut in audit.cuts}
        by_cut = cast(Cuts, audit._cuts)
        marked = [worst.cut, *(gap.cut for gap in cuts.values())]
        shares = np.unique([*np.linspace(0.0, 1.0, _POINTS + 1), *(share for share in marked if 0 < share < 1)])
        sensitivity = {group: _sensitivity(by_cut, group, shares) for group in audit.groups}
        half_width = by_cut.curve(worst.pair, "sensitivity", 2)[2] if np.isfinite(worst.interval).all() else np.nan
        return cls(shares, sensitivity, worst, half_width, cuts, audit.confidence, name)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> CutGapDisplay:
        """Draw the sensitivities and, below them, the difference of the pair with its band.

        Parameters
        ----------
        ax : matplotlib axes, or array of two, default=None
            Two axes, or one that is split; by default two of a new figure.
        name : str, default=None
            What the score is called, instead of the display's own name for it.
        **kwargs : dict
            Passed on to each line.

        Returns
        -------
        CutGapDisplay
            The display itself, which keeps ``axes_``, ``ax_`` (the last of them), ``figure_``, ``lines_`` (by group),
            ``gap_line_`` and ``band_`` (the patches of the band: all of it, and where it leaves out 0).
        """
        given, why = ax is not None, ", sensitivities and their difference"
        names = dict(zip(self.sensitivity, group_names(self.sensitivity), strict=True))
        many = not given and sum(name.count("\n") + 1 for name in names.values()) > _FEW_NAMES
        axes = self._axes(ax, (2, 1), (9.6 if many else 7.0, 7.8), why, sharex=True)
        self._draw_sensitivities(axes[0], names, kwargs, beside=many)
        self._draw_difference(axes[1], kwargs)
        first, second = group_names(self.worst.pair, None)
        title(axes[0], f"Who is found above each cut{named(name or self.name)}", self._worst_in_words(first, second))
        title(axes[1], f"Difference: {first} minus {second}", self._band_in_words())
        for one in axes:
            for gap in self.cuts.values():
                one.axvline(100 * gap.cut, color=ink_of(one).muted, linewidth=0.7, zorder=1)
            tidy(one)
        self._name_cuts(axes[0])
        # Above 100 % there is room for the names of the cuts.
        axes[0].set(xlim=(0, 100), ylim=(0, 118), yticks=range(0, 101, 20), ylabel="positives above the cut, %")
        axes[1].set(xlabel="cut: share of the list above it, %", ylabel="difference, points")
        self.axes_ = axes
        return self

    def _draw_sensitivities(self, ax: Any, names: dict[Hashable, str], kwargs: dict[str, Any], *, beside: bool) -> None:
        pair, ink, self.lines_ = self.worst.pair, ink_of(ax), {}
        grey = [group for number, group in enumerate(names) if number >= MOST_LINES and group not in pair]
        for number, (group, label) in enumerate(names.items()):
            # Of more groups than there are looks, the pair alone keeps its own.
            look: dict[str, Any] = line_style(number, ink) | {"linewidth": 1.0, "zorder": 2}
            if group in grey:
                look = {"color": ink.line, "linewidth": 0.7, "zorder": 1}
                label = f"{len(grey)} more groups" if group == grey[-1] else "_more"
            if group in pair:
                look |= {"linewidth": 2.4, "zorder": 3}
            values = 100 * self.sensitivity[group]
            if np.isnan(values).all():
                label += " (no positives)"
            self.lines_[group] = ax.plot(100 * self.shares, values, **(look | {"label": label} | kwargs))[0]
        if np.isfinite(self.worst.value):
            at, ends = 100 * self.worst.cut, [100 * rate for rate in self.worst.rates]
            words = f"worst cut: first {percent(self.worst.cut)}"
            ax.plot([at, at], ends, linewidth=1.6, label=words, color=ink.text, **_WORST)
        self._legend(ax, given=not beside, beside=True)

    def _draw_difference(self, ax: Any, kwargs: dict[str, Any]) -> None:
        first, second = (self.sensitivity[group] for group in self.worst.pair)
        gap = 100 * (first - second)
        low, high = np.maximum(gap - 100 * self.half_width, -100), np.minimum(gap + 100 * self.half_width, 100)
        # At the ends of the list nobody is above the cut, or everybody is: both groups are the same by definition.
        inside = (self.shares > 0) & (self.shares < 1)
        clear = inside & ((low > 0) | (high < 0))
        x, ink = 100 * self.shares, ink_of(ax)
        ax.axhline(0.0, color=ink.muted, linewidth=0.8, zorder=0)
        self.band_ = [
            ax.fill_between(x, low, high, where=inside, color=ink.line, linewidth=0, label="includes 0: may be chance"),
            ax.fill_between(x, low, high, where=clear, color=ink.accent, alpha=0.45, linewidth=0, label="leaves out 0"),
        ]
        (self.gap_line_,) = ax.plot(x, gap, **({"color": ink.text, "linewidth": 1.8, "zorder": 3} | kwargs))
        if np.isfinite(self.worst.value):
            ax.plot([100 * self.worst.cut], [100 * self.worst.value], color=ink.text, **_WORST)
        if np.isfinite(self.half_width):
            legend(ax, handles=self.band_)

    def _name_cuts(self, ax: Any) -> None:
        """Write the user's cuts at their lines, upwards where two are close."""
        places = sorted(gap.cut for gap in self.cuts.values())
        turned = {"rotation": 90} if np.diff(places).min(initial=1.0) < _CLOSE else {}
        look = {"va": "top", "color": ink_of(ax).muted, "fontsize": "x-small"} | turned
        units = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points"}
        for cut, gap in self.cuts.items():
            ax.annotate(cut_text(cut), (100 * gap.cut, 1), (2, -2), **units, **look)

    def _worst_in_words(self, first: str, second: str) -> str:
        if not np.isfinite(self.worst.value):
            return f"not known: {first} or {second} has no positives"
        score = f", score from {self.worst.threshold:.4g}" if np.isfinite(self.worst.threshold) else ""
        found = [percent(rate, 0) for rate in self.worst.rates]
        return (
            f"worst cut: the first {percent(self.worst.cut)} of the list{score}; above it are {found[0]} of the "
            f"positives of {first} and {found[1]} of those of {second}"
        )

    def _band_in_words(self) -> str:
        if not np.isfinite(self.half_width):
            return "too few positives to say how sure it is"
        value, ends = signed(100 * self.worst.value, 1), interval_text([100 * end for end in self.worst.interval], 1)
        alone = ", of this pair alone" if len(self.sensitivity) > 2 else ""
        return f"at the worst cut {value} points ({ends}); {level(self.confidence)} band for all cuts at once{alone}"


def _sensitivity(cuts: Cuts, group: Hashable, shares: FloatArray) -> FloatArray:
    """Share of a group's positives above each cut."""
    inside = [cuts.rate(share, group, "sensitivity") for share in shares[1:-1].tolist()]
    return np.where(np.isnan(inside[0]), np.nan, [0.0, *inside, 1.0])

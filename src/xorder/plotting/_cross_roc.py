"""ROC curves within groups and across them, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._curves import cross_roc
from xorder._parameters import check_pair
from xorder._present import UNKNOWN, interval_text, level, number, signed, wrapped
from xorder._table import FloatArray, Tables
from xorder.metrics import Audit, GroupMatrix
from xorder.metrics._gaps import Pair, judge
from xorder.plotting._scored import AuditDisplay, widest_gaps
from xorder.plotting._style import group_names, ink_of, legend, line_style, named, title

# With more groups than this only those of the pairs shown get a curve of their own.
_MOST_GROUPS = 8

# Letters of a title.
_WIDTH = 44

# Pairs shown across groups, unless they are named.
_MOST_PAIRS = 2


@dataclass
class CrossRocDisplay(AuditDisplay):
    """ROC curve of each group, and of the positives of one group against the negatives of another.

    Where a score treats two groups alike, the two curves across them are the same; where the positives of one are
    ranked lower, theirs lies below. Numbers first: make it with :meth:`from_predictions` or :meth:`from_estimator`,
    then :meth:`plot`.

    Parameters
    ----------
    audit : Audit
        The audit, which says how sure the gaps are.
    curves : dict
        (Group of the positives, group of the negatives) -> shares of negatives and of positives ranked above.
    pairs : tuple
        The pairs of groups shown across.
    name : str, default=None
        What the score is called.

    References
    ----------
    .. [1] Kallus and Zhou (2019), The fairness of risk scores beyond classification: bipartite ranking and the xAUC
       metric, NeurIPS.
    """

    audit: Audit
    curves: dict[Pair, tuple[FloatArray, FloatArray]]
    pairs: tuple[Pair, ...]
    name: str | None = None

    @classmethod
    def from_audit(
        cls, audit: Audit, *, pairs: Sequence[Pair] | None = None, name: str | None = None
    ) -> CrossRocDisplay:
        """Take the curves of an audit.

        Parameters
        ----------
        audit : Audit
            The audit.
        pairs : list of tuple, default=None
            Pairs of groups to show across; by default the two of widest gap.
        name : str, default=None
            What the score is called.

        Returns
        -------
        CrossRocDisplay
            The numbers, ready to be drawn.
        """
        tables = audit._by_cut().tables
        shown = [gap.pair for gap in widest_gaps(audit)[:_MOST_PAIRS]] if pairs is None else pairs
        shown = [check_pair(pair, audit.groups) for pair in shown]
        curves = {(above, below): cross_roc(tables[above], tables[below]) for above, below in _lines(tables, shown)}
        return cls(audit, curves, tuple(shown), name)

    @property
    def area(self) -> GroupMatrix:
        """Chance that a positive of the row's group outranks a negative of the column's, for all groups."""
        return self.audit.xauc

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> CrossRocDisplay:
        """Draw the curves within groups and across them.

        Parameters
        ----------
        ax : matplotlib axes, or array of them, default=None
            One axis for curves within groups and one for each pair, or one that is split; by default those of a new
            figure.
        name : str, default=None
            What the score is called, instead of the display's own name for it.
        **kwargs : dict
            Passed on to each line.

        Returns
        -------
        CrossRocDisplay
            The display itself, which keeps ``axes_``, ``ax_`` (the last of them), ``figure_`` and ``lines_``, by
            the groups of positives and negatives.
        """
        own = [pair for pair in self.curves if pair[0] == pair[1]]
        labels = ("share of negatives ranked above", "share of positives ranked above")
        axes = self._panels(ax, 1 + len(self.pairs), (4.8, 5.9), labels, ", within groups and across each pair")
        self.lines_: dict[Pair, Any] = {}
        for pair, label in zip(own, group_names([group for group, _ in own]), strict=True):
            self._draw(axes[0], pair, label, kwargs)
        some = "" if len(own) == len(self.area.groups) else f" ({len(own)} of {len(self.area.groups)} groups)"
        note = "how well positives of a group are ranked above negatives of the same group"
        title(axes[0], f"Within each group{named(name or self.name)}{some}", note, _WIDTH)
        for one, pair in zip(axes[1:], self.pairs, strict=True):
            for way in (pair, pair[::-1]):
                above, below = group_names(way, None)
                self._draw(one, way, wrapped(f"positives of {above}, negatives of {below}", 40), kwargs)
            title(one, *self._across(pair), _WIDTH)
        for one in axes:
            one.plot([0, 1], [0, 1], color=ink_of(one).muted, linewidth=0.8, zorder=0)
            one.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
            look: dict[str, Any] = {"title": "area under the curve", "alignment": "left"}
            if ax is not None:
                legend(one, **look)
            else:
                look |= {"loc": "upper left", "bbox_to_anchor": (-0.02, -0.13), "frameon": False, "fontsize": "small"}
                one.legend(**look)
        self.axes_ = axes
        return self

    def _draw(self, ax: Any, pair: Pair, label: str, kwargs: dict[str, Any]) -> None:
        """Draw a curve in the look of its positives' group."""
        value, number_of = self.area[pair], self.area.groups.index(pair[0])
        shown = number(value, 3) if np.isfinite(value) else f"{UNKNOWN}, as a class is missing"
        look = line_style(number_of, ink_of(ax)) | {"linewidth": 1.8, "label": f"{label}: {shown}"}
        (self.lines_[pair],) = ax.plot(*self.curves[pair], **(look | kwargs))

    def _across(self, pair: Pair) -> tuple[str, str]:
        gap = self.audit.gap("xauc", pair)
        first, second = group_names(pair, None)
        heading = f"{first} and {second}"
        if not np.isfinite(gap.value):
            return heading, "positives of one group ranked against negatives of the other"
        ends = interval_text(gap.interval, 3)
        sure = "" if ends == UNKNOWN else f" ({level(self.audit.confidence)} interval {ends})"
        lower = second if gap.value >= 0 else first
        said = f"positives of {lower} are ranked lower: {judge(self.audit, 'xauc').readings[pair]}"
        return heading, f"xAUC gap {signed(gap.value, 3)}{sure}\n{said}"


def _lines(tables: Tables, pairs: Sequence[Pair]) -> list[Pair]:
    """Groups and pairs that get a curve: within groups first, then each pair in both directions."""
    named = {group for pair in pairs for group in pair}
    own = [group for group in tables if len(tables) <= _MOST_GROUPS or group in named]
    return [(group, group) for group in own] + [way for pair in pairs for way in (pair, pair[::-1])]

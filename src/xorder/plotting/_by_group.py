"""A table of an audit as one panel per group, before and (where given) after a repair."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from xorder._present import count, level, wrapped
from xorder._table import FloatArray
from xorder.exceptions import InputError
from xorder.metrics import Audit
from xorder.metrics._sheet import _TABLES, Sheet
from xorder.plotting._scored import AuditDisplay, stages_of
from xorder.plotting._style import MOST_PANELS, Ink, group_names, ink_of, legend, line_style, named, title

# Letters of a title above a panel.
_WIDTH = 34


@dataclass
class ByGroupDisplay(AuditDisplay):
    """What displays of one panel per group share; each draws its own lines into a panel."""

    curves: dict[str, dict[Hashable, FloatArray]]
    rates: dict[Hashable, tuple[float, float]]
    confidence: float = 0.95
    name: str | None = None

    _before_and_after = True

    # The table of the audit, its columns that are drawn, what is written at the axes, and the heading.
    _table: ClassVar[str]
    _columns: ClassVar[tuple[str, ...]]
    _labels: ClassVar[tuple[str, str]]
    _heading: ClassVar[str]

    @classmethod
    def _of_audits(cls, audit: Audit, adjusted: Audit | None, name: str | None, thresholds: Any = None) -> Self:
        curves: dict[str, dict[Hashable, FloatArray]] = {}
        for stage, each in stages_of(audit, adjusted).items():
            found: dict[Hashable, list[list[float]]] = {group: [] for group in each.groups}
            for about, row in _TABLES[cls._table](Sheet(each, None, None, thresholds)):
                for group in about.groups:
                    found[group].append([row[column] for column in cls._columns])
            curves[stage] = {g: np.array(rows).reshape(-1, len(cls._columns)).T for g, rows in found.items()}
        return cls(curves, cls._sizes(audit), audit.confidence, name)

    @staticmethod
    def _sizes(audit: Audit) -> dict[Hashable, tuple[float, float]]:
        return {group: (mass, mass + audit.negatives[group]) for group, mass in audit.positives.items()}

    def plot(
        self, ax: Any = None, *, groups: Sequence[Hashable] | None = None, name: str | None = None, **kwargs: Any
    ) -> Self:
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
            Passed on to each line.

        Returns
        -------
        object
            The display itself, which keeps ``axes_`` (by group), ``ax_`` (the last), ``figure_`` and ``lines_``
            ((stage, group) -> the line).
        """
        shown = self._shown(groups)
        names = group_names(shown, None)
        tall = 3.2 + 0.17 * max(wrapped(each, _WIDTH).count("\n") for each in names)
        axes = self._panels(ax, len(shown), (3.3, tall), self._labels, ", one per group", sharex=True, sharey=True)
        self.lines_: dict[tuple[str, Hashable], Any] = {}
        self.axes_ = dict(zip(shown, axes, strict=True))
        for one, group, called in zip(axes, shown, names, strict=True):
            ink = ink_of(one)
            self._draw_panel(one, group, ink)
            for number, (stage, curves) in enumerate(self.curves.items(), start=2 - len(self.curves)):
                # The score that counts in the end is blue and plain.
                look = line_style(1 - number, ink) | {"linewidth": 1.8} | kwargs
                words = stage if len(self.curves) == 2 else ""
                self.lines_[stage, group] = self._draw_stage(one, curves[group], look, words)
            positives, rows = self.rates[group]
            said = f"{count(positives)} of {count(rows)} positive"
            if not any(curves[group].size for curves in self.curves.values()):
                said += "\ntoo few to draw"
            title(one, called, said, _WIDTH)
        if ax is None:
            some = "" if len(shown) == len(self.rates) else f", {len(shown)} of {len(self.rates)} groups"
            self.figure_.suptitle(f"{self._heading}{named(name or self.name)}{some}", x=0.01, ha="left", weight="bold")
        legend(axes[0])
        return self

    def _draw_panel(self, ax: Any, group: Hashable, ink: Ink) -> None:
        """Draw what the curves are compared with; nothing unless there is something."""

    def _draw_stage(self, ax: Any, curve: FloatArray, look: dict[str, Any], words: str) -> Any:
        x, y, low, high = curve[:4]
        label = f"{words or self._columns[1].replace('_', ' ')} ({level(self.confidence)} band)"
        ax.fill_between(x, low, high, color=look["color"], alpha=0.18, linewidth=0)
        return ax.plot(x, y, **({"label": label} | look))[0]

    def _shown(self, groups: Sequence[Hashable] | None) -> list[Hashable]:
        if groups is None:
            largest = sorted(self.rates, key=lambda group: -self.rates[group][1])[:MOST_PANELS]
            return [group for group in self.rates if group in largest]
        if not len(groups) or not {*groups} <= {*self.rates}:
            known = ", ".join(map(repr, self.rates))
            raise InputError(f"groups must name some of the groups {known}; got {list(groups)!r}.")
        return list(groups)

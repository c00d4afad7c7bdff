"""ROC curves within groups and across them, as a picture."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from xorder._curves import cross_roc
from xorder._present import UNKNOWN, interval_text, level, number
from xorder._table import FloatArray, Tables
from xorder._validation import check_tables
from xorder.exceptions import InputError
from xorder.metrics import Audit, GroupMatrix
from xorder.metrics._audit import measured
from xorder.metrics._gaps import Pair, judge
from xorder.plotting._scored import RowsDisplay
from xorder.plotting._style import GREY, given_axes, group_names, legend, line_style, named, tidy, title

# With more groups than this only those of the pairs shown get a curve of their own.
_MOST_GROUPS = 8

# Two names longer than this, together, get a line each in the legend.
_LONG = 22

_CONFIDENCE = 0.95

# Pairs shown across groups, unless they are named.
_MOST_PAIRS = 2


@dataclass
class CrossRocDisplay(RowsDisplay):
    """ROC curve of each group, and of the positives of one group against the negatives of another.

    Where a score treats two groups alike, the two curves across them are the same; where the positives of one are
    ranked too low, theirs lies below. Numbers first: make it with :meth:`from_predictions` or :meth:`from_estimator`,
    then :meth:`plot`.

    Parameters
    ----------
    area : GroupMatrix
        Chance that a positive of the row's group outranks a negative of the column's, for all groups.
    curves : dict
        (Group of the positives, group of the negatives) -> shares of negatives and of positives ranked above.
    pairs : tuple
        The pairs of groups shown across.
    audit : Audit, default=None
        The audit, at 95 % confidence, that says how sure the gaps are; None where weights do not say so.
    name : str, default=None
        What the score is called.

    References
    ----------
    .. [1] Kallus and Zhou (2019), The fairness of risk scores beyond classification: bipartite ranking and the xAUC
       metric, NeurIPS.
    """

    area: GroupMatrix
    curves: dict[Pair, tuple[FloatArray, FloatArray]]
    pairs: tuple[Pair, ...]
    audit: Audit | None = None
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        pairs: Sequence[Pair] | None = None,
        name: str | None = None,
    ) -> CrossRocDisplay:
        """Compute the curves of rows.

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
        pairs : list of tuple, default=None
            Pairs of groups to show across; by default the two of widest gap.
        name : str, default=None
            What the score is called.

        Returns
        -------
        CrossRocDisplay
            The numbers, ready to be drawn.
        """
        tables = check_tables(y_true, y_score, sensitive_features, sample_weight)
        found, _ = measured(tables, _CONFIDENCE)
        shown = widest_pairs(found.xauc) if pairs is None else _checked(pairs, found.xauc)
        curves = {(above, below): cross_roc(tables[above], tables[below]) for above, below in _lines(tables, shown)}
        # Weights that are not whole do not count rows, and only numbers of rows say how uncertain a gap is.
        counts = sample_weight is None or bool(np.all(np.asarray(sample_weight, dtype=np.float64) % 1 == 0))
        return cls(found.xauc, curves, shown, found if counts else None, name)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> CrossRocDisplay:
        """Draw the curves within groups and across them.

        Parameters
        ----------
        ax : matplotlib axes, or array of two, default=None
            Two axes, within groups and across them, or one for all; by default two of a new figure.
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
        alone = ax is not None and len(given_axes(ax)) == 1
        # A new figure is square enough by its size; a fixed shape would leave titles and legends no room.
        aspect = "auto" if ax is None else "equal"
        why = ", within groups and across them (or one, for all curves)"
        axes = self._axes(ax, columns=1 if alone else 2, size=(10.4, 5.7), why="" if alone else why)
        names = dict(zip(self.area.groups, group_names(self.area.groups), strict=True))
        own = [pair for pair in self.curves if pair[0] == pair[1]]
        across = [pair for pair in self.curves if pair[0] != pair[1]]
        self.lines_ = {
            pair: self._draw(axes[0], pair, self._style(pair, own), f"{names[pair[0]]}: ", kwargs) for pair in own
        }
        for pair in across:
            # A legend wider than its axis would be cut off.
            between = " " if len(names[pair[0]] + names[pair[1]]) <= _LONG else "\n"
            label = f"positives of {names[pair[0]]},{between}negatives of {names[pair[1]]}: "
            wide = {"linewidth": 2.6} if alone else {}
            self.lines_[pair] = self._draw(axes[-1], pair, self._style(pair, across) | wide, label, kwargs)
        called = named(name or self.name)
        title(axes[0], *self._titles(len(own), alone=alone, called=called))
        if not alone:
            title(axes[1], *self._across(names, len(across)))
        for one in axes:
            one.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, zorder=0)
            one.annotate("coin toss", (0.5, 0.5), (4, -4), textcoords="offset points", color=GREY, fontsize="x-small")
            one.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect=aspect)
            one.set(xlabel="share of negatives ranked above", ylabel="share of positives ranked above")
            tidy(one)
            legend(one, inside=ax is not None, title="area under the curve", title_fontsize="small", alignment="left")
        self.axes_ = axes
        return self

    def _style(self, pair: Pair, drawn: list[Pair]) -> dict[str, Any]:
        """With two groups a curve has the colour of its positives' group; with more, one of its own."""
        number = self.area.groups.index(pair[0]) if len(self.area.groups) == 2 else drawn.index(pair)
        return line_style(number) | {"linewidth": 1.6}

    def _draw(self, ax: Any, pair: Pair, style: dict[str, Any], label: str, kwargs: dict[str, Any]) -> Any:
        value = self.area[pair]
        shown = number(value, 3) if np.isfinite(value) else f"{UNKNOWN}, as a class is missing"
        return ax.plot(*self.curves[pair], **(style | {"label": label + shown} | kwargs))[0]

    def _titles(self, own: int, *, alone: bool, called: str) -> tuple[str, str]:
        some = "" if own == len(self.area.groups) else f" ({own} of {len(self.area.groups)} groups)"
        if alone:
            return f"Ranking within and across groups{called}", f"thin: within a group{some}; thick: across groups"
        return (
            f"Within each group{called}{some}",
            "how well positives of a group are ranked above\nnegatives of the same group",
        )

    def _across(self, names: dict[Hashable, str], drawn: int) -> tuple[str, str]:
        every = len(self.area.groups) * (len(self.area.groups) - 1) // 2
        widest = "" if drawn == 2 * every else f" ({drawn // 2} of {every} pairs)"
        known = [pair for pair in self.pairs if np.isfinite(self.area[pair] - self.area[pair[::-1]])]
        if not known:
            return f"Across groups{widest}", "positives of one group ranked against\nnegatives of another"
        pair = max(known, key=lambda pair: abs(self.area[pair] - self.area[pair[::-1]]))
        pair = pair if self.area[pair] >= self.area[pair[::-1]] else pair[::-1]
        gap, sure, lower = self.area[pair] - self.area[pair[::-1]], "", names[pair[1]]
        said = f"lower for positives of {lower}"
        if self.audit is not None:
            ends = interval_text(self.audit.gap("xauc", pair).interval, 3, sign="")
            sure = "" if ends == UNKNOWN else f" ({level(self.audit.confidence)} interval {ends})"
            reading = judge(self.audit, "xauc").readings[pair]
            said = f"positives of {lower} are ranked too low" if reading == "not chance" else f"{said}: {reading}"
        return f"Across groups{widest}", f"xAUC gap {number(gap, 3)}{sure}:\n{said}"


def widest_pairs(area: GroupMatrix) -> tuple[Pair, ...]:
    """Pairs of groups whose chances differ most, the favoured group first; unknown ones last."""

    def gap(pair: Pair) -> float:
        return area[pair] - area[pair[::-1]]

    pairs = sorted(combinations(area.groups, 2), key=lambda pair: abs(gap(pair)) if np.isfinite(gap(pair)) else -1.0)
    return tuple(pair[::-1] if gap(pair) < 0 else pair for pair in pairs[::-1][:_MOST_PAIRS])


def _lines(tables: Tables, pairs: Sequence[Pair]) -> list[Pair]:
    """Groups and pairs that get a curve: within groups first, then each pair in both directions."""
    named = {group for pair in pairs for group in pair}
    own = [group for group in tables if len(tables) <= _MOST_GROUPS or group in named]
    return [(group, group) for group in own] + [way for pair in pairs for way in (pair, pair[::-1])]


def _checked(pairs: Sequence[Pair], area: GroupMatrix) -> tuple[Pair, ...]:
    for pair in pairs:
        if len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(area.groups):
            known = ", ".join(map(repr, area.groups))
            raise InputError(f"pairs must each name two of the groups {known}; got {pair!r}.")
    return tuple((first, second) for first, second in pairs)

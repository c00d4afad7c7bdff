"""Who moves above a cut of the list by a repair, and who moves below it, as a picture."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._present import count
from xorder._validation import check_rows
from xorder.exceptions import InputError
from xorder.metrics._cuts import CUTS, Cut, cut_text
from xorder.metrics._make_audit import measured
from xorder.plotting._scored import RowsDisplay
from xorder.plotting._style import group_names, ink_of, name_rows, named, room_of, tidy, title

# In the order of the numbers.
_WAYS = ("negatives who enter", "positives who enter", "negatives who leave", "positives who leave")

# How far the longest bar reaches, so that numbers have room beside it.
_ROOM = 1.35


@dataclass
class MovesDisplay(RowsDisplay):
    """People of each group whom a repair takes above a cut of the list, and those it takes below.

    As many enter as leave. Of rows tied at a cut, the same part of each counts. Numbers first: make it with
    :meth:`from_predictions` or :meth:`from_estimator`, then :meth:`plot`.

    Parameters
    ----------
    moves : dict
        Cut -> group -> how many enter and leave: negatives entering, positives entering, negatives leaving, positives
        leaving, as numbers of rows or sums of weights.
    name : str, default=None
        What the repair is called.
    """

    moves: dict[Cut, dict[Hashable, list[float]]]
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
        cuts: Sequence[Cut] = CUTS,
        name: str | None = None,
    ) -> MovesDisplay:
        """Compare who is above each cut before a repair and after it.

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
        y_adjusted : array-like of shape (n_samples,)
            Scores after the repair.
        cuts : sequence of float, int or Threshold, default=(0.01, 0.05, 0.1, 0.2)
            Cuts, as in :func:`xorder.audit`.
        name : str, default=None
            What the repair is called.

        Returns
        -------
        MovesDisplay
            The numbers, ready to be drawn.
        """
        if y_adjusted is None:
            raise InputError("who moves is seen from two scores; pass those after the repair as y_adjusted.")
        stages = [check_rows(y_true, score, sensitive_features, sample_weight) for score in (y_score, y_adjusted)]
        rows = stages[0]
        audits = [measured(rows.tables(), 0.95, cuts)[0] for rows in stages]
        moves: dict[Cut, dict[Hashable, list[float]]] = {}
        for cut in audits[0].cuts:
            above = []
            for stage, audit in zip(stages, audits, strict=True):
                threshold, part, _ = audit._by_cut().place(cut)
                above.append((stage.score > threshold) + part * (stage.score == threshold))
            change = (above[1] - above[0]) * (1.0 if rows.weight is None else rows.weight)
            ways = [np.maximum(change * sign, 0.0) for sign in (1, -1)]
            moves[cut] = {
                group: [float(way[mask & of].sum()) for way in ways for of in (~rows.positive, rows.positive)]
                for group, mask in rows.masks.items()
            }
        return cls(moves, name)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> MovesDisplay:
        """Draw a panel per cut with a row for each group: who enters to the right of 0, who leaves to the left.

        Parameters
        ----------
        ax : matplotlib axes, or array of them, default=None
            One axis per cut, or one that is split; by default those of a new figure.
        name : str, default=None
            What the repair is called, instead of the display's own name for it.
        **kwargs : dict
            Passed on to each ``barh``.

        Returns
        -------
        MovesDisplay
            The display itself, which keeps ``axes_`` (by cut), ``ax_`` (the last), ``figure_`` and ``bars_``
            ((cut, what) -> the bars of all groups).
        """
        groups = list(next(iter(self.moves.values())))
        names = group_names(groups)
        room, columns = room_of(names), len(self.moves)
        size = (2.6 * columns + 2.2, float(room.sum()) + 1.9)
        axes = self._axes(ax, (1, columns), size, ", one per cut", sharey=True)
        rows = name_rows(axes[0], names, room)
        self.axes_, self.bars_ = dict(zip(self.moves, axes, strict=True)), {}
        for cut, one in self.axes_.items():
            ink, found = ink_of(one), np.array([self.moves[cut][group] for group in groups]).T
            for number, words in enumerate(_WAYS):
                # Positives next to 0, and solid: they are whom the list is for.
                sign, solid = 1 - 2 * (number // 2), number % 2
                look = {"color": ink.groups[number // 2], "alpha": 1.0 if solid else 0.45, "label": words}
                look["left"] = 0.0 if solid else sign * found[number + 1]
                self.bars_[cut, words] = one.barh(rows, sign * found[number], 0.2, **(look | kwargs))
            sums = np.stack([found[:2].sum(0), found[2:].sum(0)])
            for (way, row), total in np.ndenumerate(sums):
                if total:
                    side = {"ha": ("left", "right")[way], "va": "center", "fontsize": "x-small"}
                    one.text((1 - 2 * way) * total, rows[row], f" {'+−'[way]}{count(total)} ", **side)
            reach = _ROOM * max(float(sums.max()), 1.0)
            one.axvline(0.0, color=ink.muted, linewidth=0.8)
            one.set(xlim=(-reach, reach), xlabel="people")
            one.tick_params(axis="y", length=0)
            title(one, cut_text(cut), width=24)
            tidy(one)
        if ax is None:
            self.figure_.suptitle(f"Who moves across a cut{named(name or self.name)}", x=0.01, ha="left", weight="bold")
        self._legend(axes[0], given=ax is not None, columns=4)
        return self

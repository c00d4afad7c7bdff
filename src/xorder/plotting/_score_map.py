"""What a repair does to a score of each group, as a picture."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from xorder._curves import thin
from xorder._present import signed, wrapped
from xorder._table import FloatArray
from xorder._validation import check_groups, check_scores
from xorder.estimators import XOrder
from xorder.exceptions import InputError
from xorder.plotting._scored import RepairDisplay, repair_of
from xorder.plotting._style import MOST_LINES, group_names, ink_of, line_style, named, tidy, title
from xorder.transfer import ScoreMap

# Knots of a map that are marked, at most: more are a line.
_MOST_KNOTS = 30


@dataclass
class ScoreMapDisplay(RepairDisplay):
    """Raw to adjusted score, one line per group; a score on the diagonal stays as it is.

    Numbers first: make it with :meth:`from_estimator`, :meth:`from_predictions`, :meth:`from_scores` or from
    :class:`xorder.ScoreMap` objects, then :meth:`plot`.

    Parameters
    ----------
    maps : mapping
        Group -> :class:`xorder.ScoreMap` of its scores.
    name : str, default=None
        What the repair is called.
    """

    maps: Mapping[Hashable, ScoreMap]
    name: str | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None) -> ScoreMapDisplay:
        """Take the maps of a repair.

        Parameters
        ----------
        estimator : XOrder or FairRanker
            The repair, fitted or loaded.
        name : str, default=None
            What the repair is called.

        Returns
        -------
        ScoreMapDisplay
            The maps, ready to be drawn.

        Raises
        ------
        InputError
            If the estimator has no maps.
        """
        repair = repair_of(estimator)
        if not isinstance(repair, XOrder):
            raise InputError(
                f"a repair by XOrder has maps to draw; {type(repair).__name__} has none. For any other repair pass its "
                "scores before and after to ScoreMapDisplay.from_scores."
            )
        check_is_fitted(repair, "maps_")
        return cls(repair.maps_, name)

    @classmethod
    def from_scores(
        cls, y_score: Any, y_adjusted: Any, *, sensitive_features: Any, name: str | None = None
    ) -> ScoreMapDisplay:
        """Read the maps off scores before and after a repair that keeps the order within each group.

        Parameters
        ----------
        y_score, y_adjusted : array-like of shape (n_samples,)
            Scores before and after.
        sensitive_features : array-like of shape (n_samples,)
            Group of each row.
        name : str, default=None
            What the repair is called.

        Returns
        -------
        ScoreMapDisplay
            The maps, ready to be drawn.
        """
        before, after = check_scores(y_score), check_scores(y_adjusted, "y_adjusted")
        if before.size != after.size:
            raise InputError(f"y_adjusted must have one value per row; got {after.size:,} for {before.size:,} scores.")
        maps = {}
        for group, mask in check_groups(sensitive_features, before.size):
            raw, first = np.unique(before[mask], return_index=True)
            adjusted = after[mask][first]
            same = np.array_equal(adjusted[np.searchsorted(raw, before[mask])], after[mask])
            if not same or not (np.diff(adjusted) > 0).all():
                raise InputError(
                    f"the scores of group {group!r} are not moved by one rising map: equal scores must stay equal, and "
                    "a higher one higher."
                )
            maps[group] = ScoreMap(raw, adjusted)
        return cls(maps, name)

    def lines(self) -> dict[Hashable, tuple[FloatArray, FloatArray]]:
        """Return the line of each group, over the range of all maps.

        Returns
        -------
        dict
            Group -> raw and adjusted scores.
        """
        raw = np.concatenate([[], *(score_map.raw for score_map in self.maps.values())])
        known = raw.size and (raw.min() < 0 or raw.max() > 1)
        ends = np.array([raw.min(), raw.max()] if known else [0.0, 1.0])
        # A map without knots leaves every score; others are drawn between the scores that they were fitted to.
        every = {group: score_map.raw if score_map.raw.size else ends for group, score_map in self.maps.items()}
        return {group: thin(x, self.maps[group].apply(x)) for group, x in every.items()}

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> ScoreMapDisplay:
        """Draw the line of each group.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            What the score is called, instead of the display's own name for it.
        **kwargs : dict
            Passed on to each line.

        Returns
        -------
        ScoreMapDisplay
            The display itself, which keeps ``ax_``, ``figure_`` and ``lines_``, by group.
        """
        given, names = ax is not None, dict(zip(self.maps, group_names(self.maps, None), strict=True))
        many = not given and sum(len(each) // 40 + 1 for each in names.values()) > 4
        (ax,) = self._axes(ax, (1, 1), (10.4, 5.8) if many else (5.2, 6.0))
        lines = self.lines()
        ends = np.concatenate([values[[0, -1]] for line in lines.values() for values in line])
        room, ink = 0.02 * (float(np.ptp(ends)) or 1.0), ink_of(ax)
        window = (float(ends.min()) - room, float(ends.max()) + room)
        ax.plot(window, window, color=ink.muted, linewidth=0.8, zorder=1)
        self.lines_ = {}
        moved = [group for group in self.maps if not _stays(*lines[group])]
        for number, (group, (raw, adjusted)) in enumerate(lines.items()):
            look: dict[str, Any] = line_style(number, ink) | {"linewidth": 2.0}
            label = wrapped(f"{names[group]}: {_words(raw, adjusted)}", 48)
            if self.maps[group].raw.size <= _MOST_KNOTS and group in moved:
                look |= {"marker": "o", "markersize": 3.5}
            if number >= MOST_LINES:
                look, label = {"color": ink.line, "linewidth": 0.8}, f"{len(lines) - MOST_LINES} more groups"
                label = label if number == MOST_LINES else "_more"
            self.lines_[group] = ax.plot(raw, adjusted, **(look | {"label": label} | kwargs))[0]
        for text, at, ha, va in (("raised", 0.03, "left", "top"), ("lowered", 0.97, "right", "bottom")):
            ax.text(at, 1 - at, text, transform=ax.transAxes, ha=ha, va=va, color=ink.muted, style="italic")
        ax.set(xlim=window, ylim=window, xlabel="score before", ylabel="score after")
        tidy(ax)
        heading = f"What the repair does to a score{named(name or self.name)}"
        title(ax, heading, "points: knots, straight lines between them" if moved else "all scores stay as they are", 56)
        self._legend(ax, given=given, beside=many, columns=1)
        return self


def _stays(raw: FloatArray, adjusted: FloatArray) -> bool:
    return bool(np.allclose(raw, adjusted, rtol=0, atol=1e-9 * max(1.0, float(np.abs(raw).max(initial=0.0)))))


def _words(raw: FloatArray, adjusted: FloatArray) -> str:
    """Say by how much a group's scores move."""
    if _stays(raw, adjusted):
        return "stays as it is"
    shift = adjusted - raw
    # Three digits of the longest way are enough for the shorter one.
    digits = max(2 - int(np.floor(np.log10(np.abs(shift).max()))), 0)
    return f"moved by {signed(shift.min(), digits)} to {signed(shift.max(), digits)}"

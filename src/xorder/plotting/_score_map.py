"""What a repair does to a score of each group, as a picture."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from xorder._curves import thin
from xorder._present import signed
from xorder._table import FloatArray
from xorder._validation import check_groups, check_scores
from xorder.estimators import XOrder
from xorder.exceptions import InputError
from xorder.plotting._scored import repair_of
from xorder.plotting._style import GREY, Display, group_names, legend, line_style, named, tidy, title
from xorder.transfer import ScoreMap

# Groups that get a line of their own in colour; the rest are thin and grey.
_MOST_LINES = 12


@dataclass
class ScoreMapDisplay(Display):
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
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        name: str | None = None,
        **settings: Any,
    ) -> ScoreMapDisplay:
        """Fit an :class:`xorder.XOrder` with the given settings on the rows, and take its maps.

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
        name : str, default=None
            What the repair is called.
        **settings : dict
            Settings of :class:`xorder.XOrder`.

        Returns
        -------
        ScoreMapDisplay
            The maps, ready to be drawn.
        """
        repair = XOrder(**settings).fit(
            y_score, y_true, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        return cls.from_estimator(repair, name=name)

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
            if not (np.diff(adjusted) > 0).all() or not np.array_equal(
                adjusted[np.searchsorted(raw, before[mask])], after[mask]
            ):
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
        raw = [score_map.raw for score_map in self.maps.values() if score_map.raw.size]
        low, high = (min(k[0] for k in raw), max(k[-1] for k in raw)) if raw else (0.0, 1.0)
        if low >= 0 and high <= 1:
            low, high = 0.0, 1.0
        found = {}
        for group, score_map in self.maps.items():
            # A map without knots leaves every score; others are drawn between the scores that they were fitted to.
            x = score_map.raw if score_map.raw.size else np.array([low, high])
            found[group] = thin(x, score_map.apply(x))
        return found

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
        given = ax is not None
        (ax,) = self._axes(ax, size=(5.2, 5.6) if len(self.maps) <= 6 else (8.8, 5.0))
        lines = self.lines()
        ends = np.concatenate([values[[0, -1]] for line in lines.values() for values in line])
        low, high = float(ends.min()), float(ends.max())
        room = 0.02 * (high - low or 1.0)
        window = (low - room, high + room)
        ax.plot(window, window, color=GREY, linewidth=0.8, zorder=1)
        self.lines_ = {}
        moved = [group for group in self.maps if not _stays(*lines[group])]
        names = dict(zip(self.maps, group_names(self.maps), strict=True))
        for number, (group, (raw, adjusted)) in enumerate(lines.items()):
            look: dict[str, Any] = line_style(number) | {"linewidth": 2.0}
            label = f"{names[group]}: {_words(raw, adjusted)}"
            if number >= _MOST_LINES:
                look, label = {"color": "0.7", "linewidth": 0.8}, f"{len(lines) - _MOST_LINES} more groups"
                label = label if number == _MOST_LINES else "_more"
            self.lines_[group] = ax.plot(raw, adjusted, **(look | {"label": label} | kwargs))[0]
        for text, place, sides in (
            ("raised", (0.03, 0.97), ("left", "top")),
            ("lowered", (0.97, 0.03), ("right", "bottom")),
        ):
            ax.text(*place, text, transform=ax.transAxes, ha=sides[0], va=sides[1], color=GREY, style="italic")
        ax.set(xlim=window, ylim=window, xlabel="score before", ylabel="score after")
        tidy(ax)
        heading = f"What the repair does to a score{named(name or self.name)}"
        title(ax, heading, None if moved else "all scores stay as they are")
        legend(ax, inside=given)
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

"""The matrix of chances between groups, as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._optional import import_optional
from xorder._present import number
from xorder.metrics import Audit, GroupMatrix, xauc_matrix
from xorder.plotting._scored import RowsDisplay
from xorder.plotting._style import group_names, named, title

# More groups than this and a cell has no room for its number.
_MOST_NUMBERS = 30

# Characters of a name, at most: each stands at the side, below, and twice in the note.
_LONGEST = 20

# Two names longer than this, together, get lines of the note to themselves.
_LONG = 20

# Luminance on which black and white letters stand out alike.
_MIDDLE = 0.18

# The least that the colour scale spans, so that small differences look small.
_LEAST_SPAN = 0.25


@dataclass
class XaucMatrixDisplay(RowsDisplay):
    """The chance that a positive of one group (row) outranks a negative of another (column), for all groups.

    Numbers first: make it with :meth:`from_predictions`, :meth:`from_estimator` or :meth:`from_audit`, or from a
    :class:`xorder.metrics.GroupMatrix`; then :meth:`plot`.

    Parameters
    ----------
    matrix : GroupMatrix
        The chances.
    name : str, default=None
        What the score is called.

    References
    ----------
    .. [1] Kallus and Zhou (2019), The fairness of risk scores beyond classification: bipartite ranking and the xAUC
       metric, NeurIPS.
    """

    matrix: GroupMatrix
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        name: str | None = None,
    ) -> XaucMatrixDisplay:
        """Compute the matrix from rows, as :func:`xorder.metrics.xauc_matrix` does.

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
            What the score is called.

        Returns
        -------
        XaucMatrixDisplay
            The matrix, ready to be drawn.
        """
        found = xauc_matrix(y_true, y_score, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return cls(found, name)

    @classmethod
    def from_audit(cls, audit: Audit, *, name: str | None = None) -> XaucMatrixDisplay:
        """Take the matrix of an audit.

        Parameters
        ----------
        audit : Audit
            The audit.
        name : str, default=None
            What the score is called.

        Returns
        -------
        XaucMatrixDisplay
            The matrix, ready to be drawn.
        """
        return cls(audit.xauc, name)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        include_values: bool | None = None,
        values_format: str | None = None,
        cmap: Any = "Blues",
        colorbar: bool = True,
        **kwargs: Any,
    ) -> XaucMatrixDisplay:
        """Draw the matrix; cells that cannot be computed say n/a.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; by default a new figure.
        name : str, default=None
            What the score is called, instead of the display's own name for it.
        include_values : bool, default=None
            Whether to write the numbers into the cells; by default if there is room.
        values_format : str, default=None
            How to write them, such as ``".2f"``.
        cmap : str or matplotlib colour map, default="Blues"
            Colours of the cells.
        colorbar : bool, default=True
            Whether to draw the scale of the colours.
        **kwargs : dict
            Passed on to ``imshow``.

        Returns
        -------
        XaucMatrixDisplay
            The display itself, which keeps ``ax_``, ``figure_``, ``im_`` and ``text_``, the array of numbers written
            into the cells or None.
        """
        values, size = self.matrix.values, len(self.matrix.groups)
        # Cells of a figure made for them are square by its size; a fixed shape would leave the names no room.
        aspect = "auto" if ax is None else "equal"
        names = group_names(self.matrix.groups, _LONGEST)
        turned = size > 3 or max(map(len, names)) > 14
        widest = self._widest()
        note = self._note(names, widest)
        (ax,) = self._axes(ax, size=_size(names, note, turned=turned))
        low, high = _range(values)
        self.im_ = ax.imshow(values, **({"cmap": cmap, "vmin": low, "vmax": high, "aspect": aspect} | kwargs))
        self.im_.cmap = self.im_.cmap.with_extremes(bad="0.92")
        self.text_ = None
        if include_values or (include_values is None and size <= _MOST_NUMBERS):
            self.text_ = self._write(ax, values_format or (".3f" if size <= 5 else ".2f"), widest)
        slant = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if turned else {}
        ax.set_xticks(range(size), names, **slant)
        ax.set_yticks(range(size), names)
        ax.set(xlabel="… outranks a negative of", ylabel="chance that a positive of …")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        if colorbar:
            self.figure_.colorbar(self.im_, ax=ax, label="chance   (0.5: coin toss)", shrink=0.8)
        title(ax, f"Who outranks whom{named(name or self.name)}", note)
        return self

    def _write(self, ax: Any, values_format: str, widest: tuple[int, int] | None) -> Any:
        size = len(self.matrix.groups)
        # Larger letters where there is room.
        points = 13.0 if size <= 3 else 10.0 if size <= 5 else 9.0 * min(1.0, 25 / size)
        texts = np.empty((size, size), dtype=object)
        for (row, column), value in np.ndenumerate(self.matrix.values):
            known = bool(np.isfinite(value))
            dark = known and _luminance(self.im_.cmap(self.im_.norm(value))) < _MIDDLE
            shown = format(value, values_format) if known else "n/a"
            letters = {
                "fontsize": points,
                "fontweight": "bold" if widest in ((row, column), (column, row)) else "normal",
                "color": "white" if dark else "black",
            }
            texts[row, column] = ax.text(column, row, shown, ha="center", va="center", **letters)
        return texts

    def _widest(self) -> tuple[int, int] | None:
        """Indices of the two groups whose chances differ most, the favoured first; None where no pair's are known."""
        gaps = self.matrix.values - self.matrix.values.T
        np.fill_diagonal(gaps, np.nan)
        if np.isnan(gaps).all():
            return None
        favoured, other = np.unravel_index(np.nanargmax(gaps), gaps.shape)
        return int(favoured), int(other)

    def _note(self, names: list[str], widest: tuple[int, int] | None) -> str | None:
        """Say which two chances differ most, and why some are not known."""
        lines = []
        if widest is not None:
            first, second = (names[index] for index in widest)
            start = "widest gap: " if len(first + second) <= _LONG else "widest gap:\n"
            lines.append(
                f"{start}{first} over {second} {number(self.matrix.values[widest], 3)},\n"
                f"{second} over {first} {number(self.matrix.values[widest[::-1]], 3)}"
            )
        if np.isnan(self.matrix.values).any():
            lines.append("n/a: no positives (row) or no negatives (column)")
        return "\n".join(lines) or None


def _size(names: list[str], note: str | None, *, turned: bool) -> tuple[float, float]:
    """Inches that cells, names, note and scale take."""
    cells = float(np.clip(0.55 * len(names), 2.6, 14.0))
    beside = max(_inches(name, 10.0) for name in names)
    lines = note.split("\n") if note else []
    # The note begins where the cells do, and may reach over the scale.
    across = max(cells + 1.0, max((_inches(line, 8.33) for line in lines), default=0.0) + 0.2)
    return across + beside + 0.6, cells + (0.65 * beside if turned else 0.2) + 0.9 + 0.16 * len(lines)


def _inches(text: str, points: float) -> float:
    """Width of a line of text: characters differ too much in theirs to count them."""
    path = import_optional("matplotlib.textpath", extra="plot", purpose="Drawing with XaucMatrixDisplay")
    return float(path.TextPath((0, 0), text, size=points).get_extents().width) / 72


def _range(values: Any) -> tuple[float, float]:
    """Ends of the colour scale: those of the values, in steps of a twentieth."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.5, 1.0)
    high = max(float(np.ceil(high * 20) / 20), _LEAST_SPAN)
    return min(float(np.floor(low * 20) / 20), high - _LEAST_SPAN), high


def _luminance(colour: Any) -> float:
    """Relative luminance of a colour, to write on it in black or in white."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in map(float, colour[:3])
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue

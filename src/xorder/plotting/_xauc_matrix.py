"""The matrix of chances between groups, as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._present import number
from xorder.metrics import Audit, GroupMatrix
from xorder.plotting._scored import AuditDisplay
from xorder.plotting._style import MIDDLE, group_names, ink_of, luminance, named, title

# More groups than this and a cell has no room for its number.
_MOST_NUMBERS = 30

# Letters of a line of a name, in a matrix of few groups and in one of many.
_WIDTH, _WIDER = 24, 44

# The least that the colour scale spans, so that small differences look small.
_LEAST_SPAN = 0.25


@dataclass
class XaucMatrixDisplay(AuditDisplay):
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
        names = group_names(self.matrix.groups, _WIDTH if size <= 3 else _WIDER)
        heads, longest = names, max(map(len, names))
        if (size > 3 and longest > 12) or longest > 2 * _WIDTH:
            # Columns of long names are numbered, as the names would stand on each other.
            heads = [str(place) for place in range(1, size + 1)]
            names = [f"{place}  {name}" for place, name in zip(heads, names, strict=True)]
        turned = heads is names and (size > 3 or longest > 14)
        widest = self._widest()
        cells = float(np.clip(0.55 * size, 2.6, 14.0))
        # Capitals, and boxes for letters that the font lacks, are wide.
        lines = [line for name in names for line in name.split("\n")]
        beside = max(sum(0.14 if each.isupper() or each == "□" else 0.08 for each in line) for line in lines)
        note, letters = self._note(widest), round(8 * (cells + 1.0))
        tall = cells + (0.7 * beside if turned else 0.3) + 1.5 + 0.17 * (len(note) // letters)
        (ax,) = self._axes(ax, (1, 1), (max(cells + 1.4, 4.2) + beside, tall))
        low, high = _range(values)
        self.im_ = ax.imshow(values, **({"cmap": cmap, "vmin": low, "vmax": high, "aspect": aspect} | kwargs))
        self.im_.cmap = self.im_.cmap.with_extremes(bad=ink_of(ax).panel)
        self.text_ = None
        if include_values or (include_values is None and size <= _MOST_NUMBERS):
            self.text_ = self._write(ax, values_format or ("z.3f" if size <= 5 else "z.2f"), widest)
        slant = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if turned else {}
        ax.set_xticks(range(size), heads, **slant)
        ax.set_yticks(range(size), names, fontsize="medium" if size <= 3 else "small")
        ax.set(xlabel="… outranks a negative of", ylabel="chance that a positive of …")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        if colorbar:
            self.figure_.colorbar(self.im_, ax=ax, label="chance   (0.5: coin toss)", shrink=0.8)
        title(ax, f"Who outranks whom{named(name or self.name)}", note, letters)
        return self

    def _write(self, ax: Any, values_format: str, widest: tuple[int, int] | None) -> Any:
        size = len(self.matrix.groups)
        # Larger letters where there is room.
        points = 13.0 if size <= 3 else 10.0 if size <= 5 else 9.0 * min(1.0, 25 / size)
        texts = np.empty((size, size), dtype=object)
        for (row, column), value in np.ndenumerate(self.matrix.values):
            known = bool(np.isfinite(value))
            dark = known and luminance(self.im_.cmap(self.im_.norm(value))) < MIDDLE
            letters = {"fontsize": points, "color": "white" if dark else "black", "ha": "center", "va": "center"}
            letters["fontweight"] = "bold" if widest in ((row, column), (column, row)) else "normal"
            texts[row, column] = ax.text(column, row, format(value, values_format) if known else "n/a", **letters)
        return texts

    def _widest(self) -> tuple[int, int] | None:
        """Indices of the two groups whose chances differ most, the favoured first; None where no pair's are known."""
        gaps = self.matrix.values - self.matrix.values.T
        np.fill_diagonal(gaps, np.nan)
        if np.isnan(gaps).all():
            return None
        favoured, other = np.unravel_index(np.nanargmax(gaps), gaps.shape)
        return int(favoured), int(other)

    def _note(self, widest: tuple[int, int] | None) -> str:
        """Say which two chances differ most, and why some are not known."""
        lines = []
        if widest is not None:
            first, second = (group_names(self.matrix.groups, None)[index] for index in widest)
            one, other = (number(self.matrix.values[way], 3) for way in (widest, widest[::-1]))
            lines.append(f"widest gap: {first} over {second} {one}, {second} over {first} {other}")
        if np.isnan(self.matrix.values).any():
            lines.append("n/a: no positives (row) or no negatives (column)")
        return "\n".join(lines)


def _range(values: Any) -> tuple[float, float]:
    """Ends of the colour scale: those of the values, in steps of a twentieth."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.5, 1.0)
    high = max(float(np.ceil(high * 20) / 20), _LEAST_SPAN)
    return min(float(np.floor(low * 20) / 20), high - _LEAST_SPAN), high

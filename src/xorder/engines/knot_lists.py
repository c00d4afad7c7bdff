"""The knots of several maps as two lists, with a guide that finds the line of a score in a few comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from xorder._table import FloatArray, IntArray
from xorder.exceptions import InputError
from xorder.transfer import ScoreMap

# From so many knots on maps are applied compressed: DuckDB copies their list for each 2,048 rows.
_MANY_KNOTS = 50_000


class Lines(NamedTuple):
    """All maps in two lists of knots, and a guide to them: for each cell of a grid over the raw knots of a group, how
    many knots stand before it. The rest is one value per map.
    """

    raw: list[float]
    adjusted: list[float]
    guide: list[int]
    first: list[float]
    last: list[float]
    cells: list[float]
    guide_start: list[int]
    last_line: list[int]
    steps: int


def lines_of(maps: Sequence[ScoreMap]) -> Lines:
    """Lay the maps out one after the other, with room behind each for steps that lead past its end."""
    if sum(learnt.raw.size for learnt in maps) > _MANY_KNOTS:
        maps = [learnt.compressed() for learnt in maps]
    grids = [_grid(learnt) for learnt in maps]
    steps = max(most for *_, most in grids).bit_length()
    lines = Lines([], [], [], [], [], [], [], [], steps)
    for learnt, (raw, adjusted, cells, starts, _) in zip(maps, grids, strict=True):
        before = len(lines.raw)
        lines.first.append(float(learnt.raw[0]))
        lines.last.append(float(learnt.raw[-1]))
        lines.cells.append(cells)
        # Lists count from 1.
        lines.guide_start.append(len(lines.guide) + 1)
        lines.guide.extend((before + starts).tolist())
        lines.last_line.append(before + raw.size - 1)
        # A step that leads past the last knot must find none that a score reaches, least of all another map's.
        lines.raw.extend([*raw.tolist(), *([np.inf] * 2**steps)])
        lines.adjusted.extend([*adjusted.tolist(), *([np.inf] * 2**steps)])
    return lines


def _grid(learnt: ScoreMap) -> tuple[FloatArray, FloatArray, float, IntArray, int]:
    """Return the knots, cells per unit of score, knots before each cell, and the most that one cell holds."""
    raw, adjusted = learnt.raw, learnt.adjusted
    if raw.size == 1:
        # A line of its own for the one knot; no score is held beyond it.
        raw, adjusted = (np.append(knot, np.nextafter(knot, np.inf)) for knot in (raw, adjusted))
    with np.errstate(over="ignore", divide="ignore"):
        if not (np.isfinite(np.diff(raw)).all() and np.isfinite(np.diff(adjusted)).all()):
            raise InputError("the knots of a map are further apart than the largest number; scale the scores down.")
        cells = float(raw.size / (raw[-1] - raw[0]))
    # Where numbers are too small or too large for a grid, one cell holds all.
    cells = cells if np.isfinite(cells) else 0.0
    cell = np.floor((raw - raw[0]) * cells).astype(np.int64)
    starts = np.searchsorted(cell, np.arange(cell[-1] + 1), side="left")
    return raw, adjusted, cells, starts, int(np.diff(starts, append=raw.size).max())

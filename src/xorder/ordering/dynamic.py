"""The paper's dynamic programme (Algorithm 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, IntArray, ScoreTable
from xorder.ordering.disparity import Disparity
from xorder.ordering.partial import HalfWay, Products, half_way
from xorder.ordering.result import Ordering

# Sum of a prefix that does not exist: worse than any that does, and far from overflow.
_NEVER = -1e200


def solve_dp(a: ScoreTable, b: ScoreTable, disparity: Disparity, tradeoff: float) -> Ordering:
    """Keep one best prefix for each number of scores taken from a and from b, compared half-way.

    A tie between the two ways to reach a cell, up to rounding, goes to the one that places b last, as in the
    original.

    Guarantee: the highest AUC at tradeoff 0, a heuristic otherwise. Time proportional to the number of cells
    ``len(a) * len(b)``; memory one bit a cell.
    """
    choices = _sweep(half_way(a, b, disparity), tradeoff, len(a), len(b))
    return Ordering.from_path(a, b, _trace(choices, len(a), len(b)), disparity, tradeoff, "dp")


def _sweep(rule: HalfWay, tradeoff: float, rows: int, columns: int) -> list[NDArray[np.uint8]]:
    """Fill the lattice one antidiagonal at a time; return, packed, where placing a last is strictly better.

    Cell (i, j) holds the two sums of the best prefix of the first i scores of a and j of b. Antidiagonal d has
    its cells (d - j, j) at position j + 1 of each array, so arrays over a are reversed to be read in the same
    direction. Prefixes that would lie outside the lattice are worth next to nothing.
    """
    old_auc, new_auc = np.full((2, columns + 2), _NEVER)
    old_gap, new_gap = np.zeros((2, columns + 2))
    old_auc[1], old_gap[1] = 0.0, rule.start
    auc_from_a, gap_from_a = ([(_padded(m[row, ::-1], 0, 1), left[row]) for m, left in rule.from_a] for row in (0, 1))
    auc_from_b, gap_from_b = (
        [(_padded(m[row], 1, 0), left[row, ::-1].copy()) for m, left in rule.from_b] for row in (0, 1)
    )
    own_a, own_b, has_own = _padded(rule.own_a[::-1], 0, 1), _padded(rule.own_b, 1, 0), rule.has_own
    # Values are in units of one pair of the AUC.
    price = tradeoff * rule.disparity_unit / rule.auc_unit
    # What rounding may add to the value of a prefix: less than this does not make one better than another.
    slack = 8 * np.finfo(np.float64).eps * float(rule.reach @ [1.0, price])
    buffers = np.empty((5, min(rows, columns) + 1))
    flags = np.empty(min(rows, columns) + 1, dtype=bool)
    choices = [np.empty(0, dtype=np.uint8)]
    size = 0
    for d in range(1, rows + columns + 1):
        low, high = max(0, d - rows), min(d, columns) + 1
        if size != high - low:
            size = high - low
            auc_a, gap_a, value_a, value_b, work = buffers[:, :size]
            a_last = flags[:size]
        by_b, by_a, here = slice(low, high), slice(rows - d + low, rows - d + high), slice(low + 1, high + 1)
        auc_b, gap_b = new_auc[here], new_gap[here]
        _place(old_auc[here], auc_from_a, by_a, by_b, auc_a, work)
        _place(old_gap[here], gap_from_a, by_a, by_b, gap_a, work)
        _place(old_auc[by_b], auc_from_b, by_b, by_a, auc_b, work)
        _place(old_gap[by_b], gap_from_b, by_b, by_a, gap_b, work)
        if has_own:
            np.add(gap_a, own_a[by_a], out=gap_a)
            np.add(gap_b, own_b[by_b], out=gap_b)
        for auc, gap, value in ((auc_a, gap_a, value_a), (auc_b, gap_b, value_b)):
            np.absolute(gap, out=value)
            np.multiply(value, price, out=value)
            np.subtract(auc, value, out=value)
        np.add(value_b, slack, out=value_b)
        np.greater(value_a, value_b, out=a_last)
        np.copyto(auc_b, auc_a, where=a_last)
        np.copyto(gap_b, gap_a, where=a_last)
        choices.append(np.packbits(a_last, bitorder="little"))
        old_auc, new_auc, old_gap, new_gap = new_auc, old_auc, new_gap, old_gap
    return choices


def _place(
    sums: FloatArray, credit: Products, mass_at: slice, left_at: slice, out: FloatArray, work: FloatArray
) -> None:
    """Write the sums after one more placement to ``out``."""
    for mass, left in credit:
        np.multiply(mass[mass_at], left[left_at], out=work)
        sums = np.add(sums, work, out=out)


def _padded(mass: FloatArray, before: int, after: int) -> FloatArray:
    return np.pad(mass, (before, after))


def _trace(choices: list[NDArray[np.uint8]], rows: int, columns: int) -> IntArray:
    """Walk back from the last cell and note how many scores of b precede each score of a."""
    b_above = np.empty(rows, dtype=np.int64)
    i, j = rows, columns
    while i:
        place = j - max(0, i + j - rows)
        if choices[i + j][place >> 3] >> (place & 7) & 1:
            i -= 1
            b_above[i] = j
        else:
            j -= 1
    return b_above

"""The paper's dynamic programme (Algorithm 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xorder._table import FloatArray, IntArray, ScoreTable
from xorder.ordering.disparity import Disparity
from xorder.ordering.partial import Ledgers, Products, ledgers
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
    choices = _sweep(ledgers(a, b, disparity), tradeoff, len(a), len(b))
    return Ordering.from_path(a, b, _trace(choices, len(a), len(b)), disparity, tradeoff, "dp")


def _sweep(rule: Ledgers, tradeoff: float, rows: int, columns: int) -> list[NDArray[np.uint8]]:
    """Fill the lattice one antidiagonal at a time; return, packed, where placing a last is strictly better.

    Cell (i, j) holds the two sums of the best prefix of the first i scores of a and j of b. The first sum is
    stored at position ``rows - i``, where it stays when b is placed, the second at ``j + 1``, where it stays
    when a is placed; so a move that adds nothing to a sum costs nothing. Along antidiagonal d both positions
    rise with j, and arrays over a are reversed to do so too.
    """
    s, t = np.full(rows + 2, _NEVER), np.zeros(columns + 2)
    s[rows] = 0.0
    s_from_a, t_from_a = ([(np.append(m[::-1], 0.0), left) for m, left in ledger] for ledger in rule.from_a)
    s_from_b, t_from_b = ([(np.append(0.0, m), _reversed(left)) for m, left in ledger] for ledger in rule.from_b)
    # Values are in units of one pair of the AUC.
    s_factor, t_factor, start = (tradeoff / rule.auc[0] * factor for factor in (*rule.disparity, rule.start))
    both = rule.auc[1] != 0
    s_reach, t_reach = (
        _reach(from_a) + _reach(from_b) for from_a, from_b in zip(rule.from_a, rule.from_b, strict=True)
    )
    # What rounding may add to the value of a prefix: less than this does not make one better than another.
    slack = 8 * np.finfo(np.float64).eps * (s_reach * (1 + abs(s_factor)) + t_reach * (1 + abs(t_factor)) + abs(start))
    buffers = np.empty((7, min(rows, columns) + 1))
    flags = np.empty((2, min(rows, columns) + 1), dtype=bool)
    choices = [np.empty(0, dtype=np.uint8)]
    size = 0
    for d in range(1, rows + columns + 1):
        low, high = max(0, d - rows), min(d, columns) + 1
        if size != high - low:
            size = high - low
            next_s_a, next_t_a, next_s_b, next_t_b, value_a, value_b, work = buffers[:, :size]
            a_last, b_last = flags[:, :size]
        by_b, by_a = slice(low, high), slice(rows - d + low, rows - d + high)
        s_stay, s_move = s[by_a], s[rows - d + low + 1 : rows - d + high + 1]
        t_stay, t_move = t[low + 1 : high + 1], t[by_b]
        s_a = _placed(s_move, s_from_a, by_a, by_b, next_s_a, work)
        t_b = _placed(t_move, t_from_b, by_b, by_a, next_t_b, work)
        t_a = _placed(t_stay, t_from_a, by_a, by_b, next_t_a, work) if t_from_a else t_stay
        s_b = _placed(s_stay, s_from_b, by_b, by_a, next_s_b, work) if s_from_b else s_stay
        for first, second, value in ((s_a, t_a, value_a), (s_b, t_b, value_b)):
            np.multiply(second, t_factor, out=value)
            if s_factor:
                np.multiply(first, s_factor, out=work)
                np.add(value, work, out=value)
            if start:
                np.add(value, start, out=value)
            np.absolute(value, out=value)
            np.subtract(first, value, out=value)
            if both:
                np.add(value, second, out=value)
        np.add(value_b, slack, out=value_b)
        np.greater(value_a, value_b, out=a_last)
        np.logical_not(a_last, out=b_last)
        np.copyto(s_stay, s_a, where=a_last)
        np.copyto(t_stay, t_b, where=b_last)
        if s_from_b:
            np.copyto(s_stay, s_b, where=b_last)
        if t_from_a:
            np.copyto(t_stay, t_a, where=a_last)
        choices.append(np.packbits(a_last, bitorder="little"))
    return choices


def _placed(
    sums: FloatArray, credit: Products, mass_at: slice, left_at: slice, out: FloatArray, work: FloatArray
) -> FloatArray:
    """Sums after one more placement."""
    for mass, left in credit:
        added = mass[mass_at] if left is None else np.multiply(mass[mass_at], left[left_at], out=work)
        sums = np.add(sums, added, out=out)
    return sums


def _reach(credit: Products) -> float:
    """No sum of these credits exceeds this."""
    return float(sum(np.abs(mass).sum() * (1.0 if left is None else np.abs(left).max()) for mass, left in credit))


def _reversed(left: FloatArray | None) -> FloatArray | None:
    return None if left is None else left[::-1].copy()


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

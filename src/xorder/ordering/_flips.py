"""The last step: every pair of places that changes sides as one group is shifted, one after the other."""

from __future__ import annotations

import numpy as np

from xorder._table import FloatArray, IntArray
from xorder.ordering._descent import Goal, worst_gap
from xorder.ordering._shifted_groups import Group, Placed

# Numbers on the path of one group: flips times groups squared.
_NUMBERS = 200_000

FLIPS_OF_TWO = _NUMBERS // 4
"""Flips of two groups that are all tried at once."""

# Neighbouring flips closer than this leave no room to stand between them.
_ROOM = 1e-12


def polish(placed: Placed, goal: Goal, shift: FloatArray, reference: int, *, width: float, rounds: int) -> FloatArray:
    """Shift one group after the other to the best place within a window, until none gains.

    All flips in the window are tried, up to a fixed number around the present place. Guarantee: with two groups the
    result is the best within the window, and within reach of further windows while the best lies at an edge.
    """
    auc, chance = placed.chances(shift)
    best = _rank(placed, goal, auc, chance)
    for _ in range(rounds):
        before = best
        for g in range(len(placed)):
            if g == reference:
                continue
            found = _along(placed, goal, shift, g, auc, chance, width)
            if found is None:
                continue
            moved = shift.copy()
            moved[g] += found
            next_auc, next_chance = placed.chances(moved)
            value = _rank(placed, goal, next_auc, next_chance)
            if value > best + 1e-13:
                shift, auc, chance, best = moved, next_auc, next_chance, value
        if best <= before + 1e-13:
            break
    return shift


def _rank(placed: Placed, goal: Goal, auc: FloatArray, chance: FloatArray) -> float:
    return float(goal.rank(placed.overall(auc), worst_gap(placed.gaps(chance))))


def _along(
    placed: Placed, goal: Goal, shift: FloatArray, g: int, auc: FloatArray, chance: FloatArray, width: float
) -> float | None:
    """Best further shift of group g within a window; None where nothing flips in it."""
    size = len(placed)
    others = [h for h in range(size) if h != g]
    own = placed.groups[g]
    while True:
        windows = [_window(own, placed.groups[h], float(shift[g] - shift[h]), width) for h in others]
        count = int(sum((past - first).sum() for first, past in windows))
        if count * size**2 <= _NUMBERS or width < 1e-15:
            break
        width *= max(0.7 * _NUMBERS / size**2 / count, 1e-3)
    if count == 0 or count * size**2 > 4 * _NUMBERS:
        return None
    at = np.empty(count)
    auc_steps, chance_steps = np.zeros((count, size, size)), np.zeros((count, size, size))
    start = 0
    for h, (first, past) in zip(others, windows, strict=True):
        i, j = _pairs(first, past)
        rows, other = np.arange(start, start + i.size), placed.groups[h]
        start += i.size
        at[rows] = other.place[j] - (own.place[i] + (shift[g] - shift[h]))
        auc_steps[rows, g, h] = own.positive[i] * other.negative[j] / (placed.n1[g] * placed.n0[h])
        auc_steps[rows, h, g] = -own.negative[i] * other.positive[j] / (placed.n0[g] * placed.n1[h])
        if not placed.by_label:
            both = (own.positive + own.negative)[i] * (other.positive + other.negative)[j]
            step = both / ((placed.n1[g] + placed.n0[g]) * (placed.n1[h] + placed.n0[h]))
            chance_steps[rows, g, h], chance_steps[rows, h, g] = step, -step
    order = np.argsort(at, kind="stable")
    at = at[order]
    aucs = _path(auc, auc_steps[order], at)
    chances = aucs if placed.by_label else _path(chance, chance_steps[order], at)
    value = goal.rank(placed.overall(aucs), worst_gap(placed.gaps(chances)))
    # Between two flips; before the first and after the last there is as much room as the window leaves.
    end = min(width, float(max(-at[0], at[-1])) + 1.0)
    low, high = np.append(-end, at), np.append(at, end)
    value = np.where(high - low > _ROOM, value, -np.inf)
    # Of equally good places the one nearest to no shift at all.
    good = np.flatnonzero(value >= value.max() - 1e-13)
    distance = np.maximum(np.maximum(low[good] + shift[g], -shift[g] - high[good]), 0.0)
    chosen = good[int(np.argmin(distance))]
    middle = float(low[chosen] + high[chosen]) / 2
    margin = 0.1 * (high[chosen] - low[chosen])
    unshifted = -float(shift[g])
    return unshifted if low[chosen] + margin <= unshifted <= high[chosen] - margin else middle


def _window(own: Group, other: Group, apart: float, width: float) -> tuple[IntArray, IntArray]:
    """For each place of one group, the first and past the last place of the other that it can flip with."""
    place = own.place + apart
    return np.searchsorted(other.place, place - width), np.searchsorted(other.place, place + width, side="right")


def _pairs(first: IntArray, past: IntArray) -> tuple[IntArray, IntArray]:
    counts = past - first
    i = np.repeat(np.arange(first.size), counts)
    j = np.arange(i.size) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
    return i, j


def _path(present: FloatArray, steps: FloatArray, at: FloatArray) -> FloatArray:
    """Matrices before the first flip, between flips, and after the last; flips at 0 are half done at present."""
    taken = steps[at < 0].sum(axis=0) + 0.5 * steps[at == 0].sum(axis=0)
    path = np.concatenate([(present - taken)[None], steps])
    return np.asarray(np.cumsum(path, axis=0))

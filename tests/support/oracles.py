"""Slow, obvious reference implementations that share no code with the package."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np


def beats(one: float, two: float) -> float:
    return 1.0 if one > two else 0.5 if one == two else 0.0


def xauc(y, s, g, above, below, w=None) -> float:
    """Chance that a positive of ``above`` outranks a negative of ``below``, pair by pair."""
    w = np.ones(len(y)) if w is None else w
    won = total = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] == 1 and g[i] == above and y[j] == 0 and g[j] == below:
                won += w[i] * w[j] * beats(s[i], s[j])
                total += w[i] * w[j]
    return won / total if total else float("nan")


def auc(y, s, w=None) -> float:
    return xauc(y, s, ["all"] * len(y), "all", "all", w)


def prf(y, s, g, group, w=None) -> float:
    """Chance that a positive of ``group`` outranks a negative of any group."""
    merged = [group if y[i] == 0 else g[i] for i in range(len(y))]
    return xauc(y, s, merged, group, group, w)


def parity(s, g, a, b, w=None) -> float:
    """Chance that a member of a outranks one of b, minus the reverse."""
    w = np.ones(len(s)) if w is None else w
    won = total = 0.0
    for i in range(len(s)):
        for j in range(len(s)):
            if g[i] == a and g[j] == b:
                won += w[i] * w[j] * (beats(s[i], s[j]) - beats(s[j], s[i]))
                total += w[i] * w[j]
    return won / total if total else float("nan")


def gap(metric, y, s, g, a, b, w=None) -> float:
    if metric == "xauc":
        return xauc(y, s, g, a, b, w) - xauc(y, s, g, b, a, w)
    if metric == "prf":
        return prf(y, s, g, a, w) - prf(y, s, g, b, w)
    return parity(s, g, a, b, w)


def all_interleavings(rows: int, columns: int):
    """Every way to merge two ranked lists: for each, how many of the second precede each of the first."""
    for places in combinations(range(rows + columns), rows):
        yield np.array([place - number for number, place in enumerate(places)])


def interleaved_scores(b_above, columns: int):
    """Scores of both lists, highest first, that realise an interleaving."""
    rows = len(b_above)
    rank_a = [i + b_above[i] for i in range(rows)]
    rank_b = sorted(set(range(rows + columns)) - set(rank_a))
    return [-float(rank) for rank in rank_a], [-float(rank) for rank in rank_b]


def rows_of(table_a, table_b, b_above):
    """Weighted rows (y, s, g, w) of two score tables interleaved as told; one row per class and score."""
    y, s, g, w = [], [], [], []
    for name, table, scores in zip(
        "ab", (table_a, table_b), interleaved_scores(b_above, len(table_b.score)), strict=True
    ):
        for score, positive, negative in zip(scores, table.positive, table.negative, strict=True):
            for label, mass in ((1, positive), (0, negative)):
                if mass > 0:
                    y.append(label)
                    s.append(score)
                    g.append(name)
                    w.append(float(mass))
    return y, s, g, np.array(w)


def interleaving_value(metric, table_a, table_b, b_above) -> tuple[float, float]:
    """AUC and signed gap of an interleaving, from its rows."""
    y, s, g, w = rows_of(table_a, table_b, b_above)
    return auc(y, s, w), gap(metric, y, s, g, "a", "b", w)


@cache
def _above(rows: int, columns: int):
    """Whether a score of the first list stands above one of the second, for every interleaving of the two."""
    return np.array([[[j >= first for j in range(columns)] for first in o] for o in all_interleavings(rows, columns)])


def reachable(metric, table_a, table_b):
    """PairGains and AUC of every interleaving, straight from the definitions."""
    above = _above(len(table_a.score), len(table_b.score))
    pa, na, pb, nb = table_a.positive, table_a.negative, table_b.positive, table_b.negative
    a_wins = {
        (x, y): np.einsum("kij,i,j->k", above, u, v)
        for x, u in (("p", pa), ("n", na))
        for y, v in (("p", pb), ("n", nb))
    }
    everything = {(x, y): u.sum() * v.sum() for x, u in (("p", pa), ("n", na)) for y, v in (("p", pb), ("n", nb))}
    within_a, within_b = (
        sum(p[i] * (n[i] / 2 + n[i + 1 :].sum()) for i in range(len(p))) for p, n in ((pa, na), (pb, nb))
    )
    a_over_b = a_wins["p", "n"]
    b_over_a = everything["n", "p"] - a_wins["n", "p"]
    n0 = na.sum() + nb.sum()
    auc = (within_a + within_b + a_over_b + b_over_a) / ((pa.sum() + pb.sum()) * n0)
    if metric == "xauc":
        gap = a_over_b / everything["p", "n"] - b_over_a / everything["n", "p"]
    elif metric == "prf":
        gap = (within_a + a_over_b) / (pa.sum() * n0) - (within_b + b_over_a) / (pb.sum() * n0)
    else:
        total = sum(everything.values())
        gap = (2 * sum(a_wins.values()) - total) / total
    return gap, auc


def upper_hull(x, y, tolerance=1e-10):
    """Corners of the upper hull of points, from the largest x to the smallest."""
    corners = []
    for point in sorted(zip(x.tolist(), y.tolist(), strict=True), key=lambda p: (-p[0], -p[1])):
        if corners and corners[-1][0] - point[0] < tolerance:
            if point[1] <= corners[-1][1]:
                continue
            corners.pop()
        while len(corners) >= 2:
            (x0, y0), (x1, y1) = corners[-2:]
            # height of the middle point above the chord
            if y1 - (y0 + (point[1] - y0) * (x0 - x1) / (x0 - point[0])) > tolerance:
                break
            corners.pop()
        corners.append(point)
    return np.array(corners)

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


def outranked(data, w: np.ndarray, row: int, others: np.ndarray) -> float:
    """Share of the others' weight that lies below a row, ties one half."""
    below = sum(w[other] * beats(data.s[row], data.s[other]) for other in np.flatnonzero(others))
    return below / w[others].sum() if w[others].any() else np.nan


def influences(data, w: np.ndarray, metric: str, a: str, b: str) -> list[tuple[np.ndarray, list[float]]]:
    """Return, for each independent sample of rows, its rows and what each of them adds to the estimate."""
    one, zero, in_a, in_b = data.y == 1, data.y == 0, data.g == a, data.g == b
    every = np.ones(len(data.y), dtype=bool)

    def sample(members, *terms):
        members = np.flatnonzero(members & (w > 0))
        value = [sum(sign * share(row) for sign, share in terms) for row in members]
        return members, value

    def above(others):
        return lambda row: outranked(data, w, row, others)

    def below(others):
        return lambda row: 1 - outranked(data, w, row, others)

    if metric == "auc":
        return [sample(every & one, (1, above(zero))), sample(every & zero, (1, below(one)))]
    if metric == "xauc":
        return [
            sample(in_a & one, (1, above(in_b & zero))),
            sample(in_b & zero, (1, below(in_a & one))),
            sample(in_b & one, (-1, above(in_a & zero))),
            sample(in_a & zero, (-1, below(in_b & one))),
        ]
    if metric == "prf":
        return [
            sample(in_a & one, (1, above(zero))),
            sample(in_b & one, (-1, above(zero))),
            sample(zero, (1, below(in_a & one)), (-1, below(in_b & one))),
        ]
    return [
        sample(in_a, (1, above(in_b)), (-1, below(in_b))),
        sample(in_b, (1, below(in_a)), (-1, above(in_a))),
    ]


def slow_stderr(data, metric: str, a: str = "", b: str = "", *, sampling: bool = False) -> float:
    """Root of the summed variances of the samples' means; nan where one has a single row, or nothing varies."""
    w = np.ones(len(data.y)) if data.w is None else data.w
    total = 0.0
    for members, values in influences(data, w, metric, a, b):
        mass = w[members]
        spread = mass**2 if sampling else mass
        if mass.sum() ** 2 <= spread.sum() * (1 + 1e-9):
            return np.nan
        scatter = np.sum(spread * (values - np.average(values, weights=mass)) ** 2)
        total += scatter / (mass.sum() ** 2 - spread.sum())
    return float(np.sqrt(total)) if total > 1e-14 else np.nan

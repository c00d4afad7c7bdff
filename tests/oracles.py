"""Slow, obvious reference implementations that share no code with the package."""

from __future__ import annotations

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
    """AUC and signed disparity of an interleaving, from its rows."""
    y, s, g, w = rows_of(table_a, table_b, b_above)
    return auc(y, s, w), gap(metric, y, s, g, "a", "b", w)

"""What tables, chances and maps are, in exact fractions: slow, obvious, and no code shared with the package."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import combinations

HALF = Fraction(1, 2)


def masses(y: Sequence[int], s: Sequence[float], w: Sequence[float] | None) -> list[tuple[float, Fraction, Fraction]]:
    """Score, mass of positives and mass of negatives, highest score first; scores without mass are left out."""
    found: dict[float, list[Fraction]] = {}
    for number, (label, score) in enumerate(zip(y, s, strict=True)):
        weight = Fraction(1) if w is None else Fraction(w[number])
        if weight:
            found.setdefault(score + 0.0, [Fraction(0), Fraction(0)])[0 if label else 1] += weight
    return [(score, *found[score]) for score in sorted(found, reverse=True)]


def chance(above: Sequence[tuple[float, Fraction]], below: Sequence[tuple[float, Fraction]]) -> Fraction | None:
    """Chance that one of the first outranks one of the second, ties one half; None if there is nobody."""
    total = sum((mass for _, mass in above), Fraction(0)) * sum((mass for _, mass in below), Fraction(0))
    if not total:
        return None
    won = Fraction(0)
    for score, mass in above:
        for other, weight in below:
            if score > other:
                won += mass * weight
            elif score == other:
                won += mass * weight * HALF
    return won / total


class Chances:
    """Rows of some groups, and every chance between them."""

    def __init__(
        self, y: Sequence[int], s: Sequence[float], g: Sequence[Hashable], w: Sequence[float] | None = None
    ) -> None:
        self.rows = [
            (label, score, group, Fraction(1) if w is None else Fraction(w[number]))
            for number, (label, score, group) in enumerate(zip(y, s, g, strict=True))
        ]

    def of(self, label: int | None, group: Hashable | None = None) -> list[tuple[float, Fraction]]:
        """Scores and weights of a class, or of both, in a group, or in all."""
        return [
            (score, weight)
            for other, score, name, weight in self.rows
            if (label is None or other == label) and (group is None or name == group)
        ]

    def auc(self) -> Fraction | None:
        return chance(self.of(1), self.of(0))

    def xauc(self, above: Hashable, below: Hashable) -> Fraction | None:
        return chance(self.of(1, above), self.of(0, below))

    def prf(self, group: Hashable) -> Fraction | None:
        return chance(self.of(1, group), self.of(0))

    def gap(self, metric: str, a: Hashable, b: Hashable) -> Fraction | None:
        if metric == "parity":
            found = chance(self.of(None, a), self.of(None, b))
            return None if found is None else 2 * found - 1
        one, other = (self.xauc(a, b), self.xauc(b, a)) if metric == "xauc" else (self.prf(a), self.prf(b))
        return None if one is None or other is None else one - other


def mapped(raw: Sequence[float], adjusted: Sequence[float], x: float) -> Fraction:
    """Return the value of a map along straight lines between its knots, with slope 1 outside."""
    exact = Fraction(x)
    if not raw:
        return exact
    if x <= raw[0]:
        return Fraction(adjusted[0]) + exact - Fraction(raw[0])
    if x >= raw[-1]:
        return Fraction(adjusted[-1]) + exact - Fraction(raw[-1])
    right = next(number for number, knot in enumerate(raw) if knot > x)
    x0, x1 = Fraction(raw[right - 1]), Fraction(raw[right])
    y0, y1 = Fraction(adjusted[right - 1]), Fraction(adjusted[right])
    return y0 + (exact - x0) * (y1 - y0) / (x1 - x0)


def reachable(
    metric: str, a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]
) -> list[tuple[Fraction, Fraction]]:
    """AUC and gap of every interleaving of two groups, each given as masses of positives and negatives by score."""
    tables = [[(Fraction(p), Fraction(n)) for p, n in zip(*table, strict=True)] for table in (a, b)]
    found = []
    for places in combinations(range(len(tables[0]) + len(tables[1])), len(tables[0])):
        rest = sorted(set(range(len(tables[0]) + len(tables[1]))) - set(places))
        rows = [
            (label, -float(place), name, mass)
            for name, table, where in zip("ab", tables, (places, rest), strict=True)
            for place, entry in zip(where, table, strict=True)
            for label, mass in zip((1, 0), entry, strict=True)
            if mass
        ]
        chances = Chances(*zip(*rows, strict=True))
        auc, gap = chances.auc(), chances.gap(metric, "a", "b")
        if auc is not None and gap is not None:
            found.append((auc, gap))
    return found

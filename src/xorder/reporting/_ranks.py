"""Where people stand among all: who is near the top of the list, and who moves when scores change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._curves import quantiles
from xorder._present import known
from xorder._table import FloatArray, ScoreTable

# A change of rank worth counting, as a share of the list.
NOTICED = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """For each score of each table, the mass of people of any group ``above`` it and ``tied`` at it.

    ``total`` is the mass of all, ``scores`` the number of distinct scores.

    >>> a = ScoreTable.from_arrays([1, 0], [0.9, 0.4])
    >>> b = ScoreTable.from_arrays([1, 0], [0.4, 0.1])
    >>> place = standing([a, b])
    >>> place.above, place.tied
    ([array([0., 1.]), array([1., 3.])], [array([1., 2.]), array([2., 1.])])
    """

    tables: Sequence[ScoreTable]
    above: list[FloatArray]
    tied: list[FloatArray]
    total: float
    scores: int

    def percentile(self, group: int) -> FloatArray:
        """Share of all people below each score of a group, ties counting one half."""
        return np.asarray(1.0 - (self.above[group] + 0.5 * self.tied[group]) / self.total)

    def found(self, group: int) -> tuple[FloatArray, FloatArray]:
        """Shares of the list taken, from the top, and of the group's positives that are among them.

        Of people of equal score the same part of each is taken. Empty where the group has no positives.
        """
        table = self.tables[group]
        if not table.n1 > 0:
            return np.empty(0), np.empty(0)
        taken = np.column_stack([self.above[group], self.above[group] + self.tied[group]]).ravel() / self.total
        share = np.append(0.0, np.cumsum(table.positive)) / table.n1
        reached = np.column_stack([share[:-1], share[1:]]).ravel()
        return np.concatenate([[0.0], taken, [1.0]]), np.concatenate([[0.0], reached, [1.0]])

    def top(self, share: float) -> list[dict[str, Any]]:
        """Say of each group how much of the top of the list it is, and what its people there are.

        ``share`` is the group's part of the top, ``precision`` the part of those people who are positive, ``selected``
        the part of the group that made it there and ``found`` the part of its positives; None where there is nothing
        to divide.
        """
        rows = []
        for table, above, tied in zip(self.tables, self.above, self.tied, strict=True):
            # People of equal score at the cut are taken in part, all of them alike: nobody is preferred by chance.
            part = np.clip((share * self.total - above) / tied, 0.0, 1.0)
            positive, negative = float(part @ table.positive), float(part @ table.negative)
            rows.append(
                {
                    "share": _ratio(positive + negative, share * self.total),
                    "precision": _ratio(positive, positive + negative),
                    "selected": _ratio(positive + negative, table.n1 + table.n0),
                    "found": _ratio(positive, table.n1),
                }
            )
        return rows


def standing(tables: Sequence[ScoreTable]) -> Standing:
    """Find where the scores of each group stand among those of all."""
    scores, place = np.unique(-np.concatenate([table.score for table in tables]), return_inverse=True)
    tied = np.bincount(place, np.concatenate([table.mass for table in tables]))
    above = np.append(0.0, np.cumsum(tied))
    ends = np.cumsum([len(table) for table in tables])[:-1]
    above_by_group, tied_by_group = (np.split(mass[place], ends) for mass in (above, tied))
    return Standing(tables, above_by_group, tied_by_group, float(above[-1]), scores.size)


def moves_of(mass: FloatArray, change: FloatArray) -> dict[str, float | None]:
    """Describe changes of rank, as shares of the list, rising being positive: mean, spread, and who notices.

    All of it is None where there is nobody.
    """
    total = float(mass.sum())
    low, median, high = (known(end) for end in quantiles(change, mass, (0.1, 0.5, 0.9)))
    # A change that rounding has left just below a whole step counts as one.
    step = NOTICED - 1e-9
    return {
        "mean": _ratio(float(mass @ change), total),
        "low": low,
        "median": median,
        "high": high,
        "up": _ratio(float(mass[change >= step].sum()), total),
        "down": _ratio(float(mass[change <= -step].sum()), total),
    }


def group_moves(table: ScoreTable, change: FloatArray) -> dict[str, dict[str, float | None]]:
    """Describe the changes of rank of a group's people: all of them, the positives, the negatives."""
    masses = {"all": table.mass, "positive": table.positive, "negative": table.negative}
    return {who: moves_of(mass, change) for who, mass in masses.items()}


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None

"""What to know about the rows themselves: counts, ties, groups too small to judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xorder._table import ScoreTable, Tables
from xorder.metrics import Audit
from xorder.reporting._ranks import Standing

# Below so many people of a class the normal approximation behind intervals and p is poor: no gap is taken for real.
FEW = 10


def too_few(tables: Sequence[ScoreTable], metric: str) -> list[bool]:
    """Whether each group has too few people for a gap of this metric to be taken for real.

    Weighted rows count as many as would tell as much: the square of their sum over the sum of squares.
    """

    def rows(mass: float, spread: float) -> float:
        return mass**2 / spread if spread > 0 else 0.0

    behind = []
    for table in tables:
        positive, negative = (float(spread.sum()) for spread in table.spreads)
        if metric == "parity":
            behind.append(rows(table.n1 + table.n0, positive + negative))
        else:
            behind.append(min(rows(table.n1, positive), rows(table.n0, negative)))
    return [number < FEW for number in behind]


def data_notes(tables: Tables, audit: Audit, place: Standing, few: dict[str, list[bool]]) -> dict[str, Any]:
    """Count people, distinct scores and ties, and name groups that are small, by their number."""
    groups = []
    for g, (group, table) in enumerate(tables.items()):
        n1, n0 = audit.positives[group], audit.negatives[group]
        groups.append(
            {
                "people": n1 + n0,
                "share": (n1 + n0) / place.total,
                "positives": n1,
                "negatives": n0,
                "rate": n1 / (n1 + n0),
                "scores": len(table),
                "lowest": float(table.score[-1]),
                "highest": float(table.score[0]),
                "too_few": {metric: few[metric][g] for metric in few},
                "missing": [name for name, mass in (("positives", n1), ("negatives", n0)) if not mass > 0],
            }
        )
    return {"people": place.total, "few": FEW, "groups": groups, "ties": _ties(tables, place)}


def _ties(tables: Tables, place: Standing) -> dict[str, float]:
    """Count distinct scores; share of people who have theirs in common with another group, and at the commonest one."""
    across = 0.0
    for table, tied in zip(tables.values(), place.tied, strict=True):
        across += float(table.mass[tied > table.mass * (1 + 1e-9)].sum())
    return {
        "scores": int(np.unique(np.concatenate([table.score for table in tables.values()])).size),
        "across": across / place.total,
        "commonest": max(float(tied.max()) for tied in place.tied) / place.total,
    }

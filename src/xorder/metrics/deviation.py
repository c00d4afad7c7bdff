"""Deviation: how far numbers from binned scores can be from those of the scores themselves."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from xorder._table import FloatArray
from xorder.metrics.gaps import GAPS

Pair = tuple[Hashable, Hashable]


@dataclass(frozen=True, slots=True, eq=False)
class Deviation:
    """Bounds on what binning has moved: the AUC, each cell of the xAUC matrix, PRF of each group, and each gap.

    ``gaps`` has a key ``(metric, (a, b))`` for each metric and pair of groups. A group without a class, whose metrics
    are ``nan``, has 0.
    """

    groups: tuple[Hashable, ...]
    auc: float
    xauc: FloatArray
    prf: dict[Hashable, float]
    gaps: dict[tuple[str, Pair], float]

    @classmethod
    def none(cls, groups: tuple[Hashable, ...]) -> Deviation:
        """Nothing was binned."""
        gaps = {(metric, pair): 0.0 for metric in GAPS for pair in combinations(groups, 2)}
        return cls(groups, 0.0, np.zeros((len(groups), len(groups))), dict.fromkeys(groups, 0.0), gaps)

    def renamed(self, names: Mapping[Hashable, Hashable]) -> Deviation:
        """Return the same with other names of the groups, in the order in which these are given."""
        order = [self.groups.index(group) for group in names]
        return Deviation(
            groups=tuple(names.values()),
            auc=self.auc,
            xauc=self.xauc[np.ix_(order, order)],
            prf={name: self.prf[group] for group, name in names.items()},
            gaps={
                (metric, (names[a], names[b])): self.gap(metric, (a, b))
                for metric in GAPS
                for a, b in combinations(names, 2)
            },
        )

    @property
    def largest(self) -> float:
        """The largest of the bounds on AUC and on the gaps, which the tolerance is about."""
        return max([self.auc, *self.gaps.values()])

    def gap(self, metric: str, pair: Pair) -> float:
        """Return the bound of a gap, the pair in either order."""
        return self.gaps[metric, pair] if (metric, pair) in self.gaps else self.gaps[metric, pair[::-1]]

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds as plain numbers, ready for JSON, gaps in the order of an audit's."""
        return {
            "auc": self.auc,
            "xauc": self.xauc.tolist(),
            "prf": list(self.prf.values()),
            "gaps": [*self.gaps.values()],
        }

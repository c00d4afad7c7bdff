"""Pooling: a group's scores cut into blocks of strictly falling positive share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xorder._table import FloatArray, IntArray, ScoreTable

# Rounds of pooling all neighbours at once, which shrink a long list fast, before the exact sequential method.
_ROUNDS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Masses of each block, best first; block k holds the scores ``start[k]`` up to ``start[k + 1]``."""

    start: IntArray
    positive: FloatArray
    negative: FloatArray

    def __len__(self) -> int:
        return int(self.positive.size)

    @property
    def share(self) -> FloatArray:
        """Positive share of each block, strictly falling."""
        return self.positive / (self.positive + self.negative)


def pool(table: ScoreTable) -> Blocks:
    """Pool adjacent violators: the coarsest cut into blocks such that no block can be split with profit.

    Two neighbours of which the lower has the higher share (or the same) always end up in one block, so runs
    of such neighbours can be pooled at once. Shares are compared by cross-multiplication, exact for counts.
    """
    start, p, n = np.arange(len(table)), table.positive, table.negative
    for attempt in range(len(table)):
        falls = p[:-1] * n[1:] > p[1:] * n[:-1]
        if falls.all():
            break
        if attempt == _ROUNDS:
            # Imported here, as it takes longer to load than all of xorder.
            from scipy.optimize import isotonic_regression

            kept = isotonic_regression(p / (p + n), weights=p + n, increasing=False).blocks[:-1]
        else:
            kept = np.flatnonzero(np.append(True, falls))
        start, p, n = start[kept], np.add.reduceat(p, kept), np.add.reduceat(n, kept)
    return Blocks(np.append(start, len(table)), p, n)

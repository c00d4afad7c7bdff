"""Cuts of a list of scores: how far apart two groups' sensitivities are at the worst of them."""

from __future__ import annotations

from typing import Any

import numpy as np

# Cuts of the list at which the widest difference of sensitivities is looked for.
CUTS = np.linspace(0.02, 0.98, 961)


class CutList:
    """A list from the highest score down, cut at each distinct one.

    ``share`` is how much of the list lies above each cut, ``gaps`` the sensitivity of the other rows less that of the
    rows of one group, ``group``. Of tied rows that straddle a cut between these the same part of each counts.
    """

    def __init__(self, y: Any, score: Any, of_group: Any) -> None:
        falling = np.argsort(-score, kind="stable")
        self._ends = np.append(np.flatnonzero(np.diff(score[falling])), score.size - 1)
        self._of_group, positive = of_group[falling], y[falling] == 1
        self.share = np.append(0.0, (self._ends + 1) / score.size)
        self.gaps = self._above(positive & ~self._of_group) - self._above(positive & self._of_group)

    def _above(self, rows: Any) -> Any:
        """Share of some rows above each cut."""
        return np.append(0.0, np.cumsum(rows)[self._ends]) / np.sum(rows)

    def gap(self, cut: Any) -> Any:
        """Absolute difference of sensitivities at some cuts."""
        return np.abs(np.interp(cut, self.share, self.gaps))

    def worst(self) -> float:
        """Widest difference of sensitivities from 2 to 98 % of the list."""
        return float(self.gap(CUTS).max())

    def share_of_top(self, cut: Any) -> Any:
        """Share of the group among the rows above some cuts."""
        return np.interp(cut, self.share, self._above(self._of_group)) * np.mean(self._of_group) / np.asarray(cut)

"""Small sets of rows as tests draw them: tied scores, weights, groups of one class or of a single row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from support.drawn import drawn_by
from xorder import ScoreTable


@dataclass(frozen=True)
class Rows:
    y: np.ndarray
    s: np.ndarray
    g: np.ndarray
    w: np.ndarray | None

    @property
    def groups(self) -> list[str]:
        return sorted(set(self.g.tolist()))

    @property
    def options(self) -> dict[str, Any]:
        return {"sensitive_features": self.g, "sample_weight": self.w}

    @property
    def tables(self) -> list[ScoreTable]:
        """One table per group, in sorted order, of weights that count rows."""
        return self._tables(squares=False)

    @property
    def sampled_tables(self) -> list[ScoreTable]:
        """One table per group, in sorted order, of weights from a sampling design."""
        return self._tables(squares=True)

    def _tables(self, *, squares: bool) -> list[ScoreTable]:
        masks = [self.g == group for group in self.groups]
        return [
            ScoreTable.from_arrays(
                self.y[mask], self.s[mask], None if self.w is None else self.w[mask], squares=squares
            )
            for mask in masks
        ]


WHOLE = (1.0, 2.0, 3.0)
REAL = (0.0, 0.1, 0.5, 1.0, 2.0, 3.7, 40.0)


def draw_rows(r: Random, weights: Sequence[float] | None = None, max_rows: int = 12) -> Rows:
    """Draw rows of two to four groups; weighted or not where ``weights`` does not say."""
    names = "abcd"[: r.randint(2, 4)]
    size = r.randint(2, max_rows)
    finest = r.choice((1, 3, 1000))
    y = np.array([r.randint(0, 1) for _ in range(size)])
    s = np.array([r.randint(0, finest) / 8 for _ in range(size)])
    g = np.array([r.choice(names) for _ in range(size)])
    g[:2] = ["a", "b"]
    if weights is None:
        weights = r.choice((None, WHOLE, REAL))
    w = None if weights is None else np.array([r.choice(weights) for _ in range(size)])
    if w is not None and not w.any():
        w[0] = 1.0
    return Rows(y, s, g, w)


def rows(weights: Sequence[float] | None = None, max_rows: int = 12) -> st.SearchStrategy[Rows]:
    """Return :func:`draw_rows` for hypothesis."""
    return drawn_by(lambda r: draw_rows(r, weights, max_rows))

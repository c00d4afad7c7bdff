"""Small sets of rows as hypothesis draws them: tied scores, weights, groups of one class or of a single row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

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


WHOLE = st.integers(1, 3).map(float)
REAL = st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 3.7, 40.0])


@st.composite
def rows(draw: st.DrawFn, weights: st.SearchStrategy[float] | None = None, max_rows: int = 12) -> Rows:
    """Rows of two to four groups; weighted or not where ``weights`` does not say."""
    names = "abcd"[: draw(st.integers(2, 4))]
    size = draw(st.integers(2, max_rows))

    def column(values: st.SearchStrategy[Any]) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=size, max_size=size)))

    scores = st.integers(0, draw(st.sampled_from([1, 3, 1000]))).map(lambda rank: rank / 8)
    y, s, g = column(st.integers(0, 1)), column(scores), column(st.sampled_from(names))
    g[:2] = ["a", "b"]
    if weights is None:
        weights = draw(st.sampled_from([None, WHOLE, REAL]))
    w = None if weights is None else column(weights)
    if w is not None and not w.any():
        w[0] = 1.0
    return Rows(y, s, g, w)

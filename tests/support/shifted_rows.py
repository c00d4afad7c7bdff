"""Rows whose groups differ in one input alone."""

from typing import Any

import numpy as np


def shifted(rows: int = 3000, seed: int = 0) -> tuple[Any, Any, Any]:
    """Two groups alike but for one input, which reads the second group lower and which a plain fit relies on."""
    rng = np.random.default_rng(seed)
    group = rng.random(rows) < 0.4
    risk = rng.normal(size=rows)
    y = rng.random(rows) < 1 / (1 + np.exp(-1.5 * risk))
    X = np.column_stack([risk + rng.normal(size=rows) + 1.2 * group, risk + 1.5 * rng.normal(size=rows), group])
    # The group itself is hidden but for a faint trace.
    X[:, 2] += 2 * rng.normal(size=rows)
    return X, y, group

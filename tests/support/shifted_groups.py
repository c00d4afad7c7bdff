"""People of any number of groups, each read lower than the one before."""

from __future__ import annotations

import numpy as np


def population(rows: int = 4000, groups: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw scores, labels and groups; scores are read lower, and with more noise, from one group to the next."""
    rng = np.random.default_rng(seed)
    group = rng.choice(groups, rows, p=np.arange(groups, 0, -1) / np.arange(groups, 0, -1).sum())
    risk = rng.normal(-0.7 - 0.1 * group, 1.5)
    y = rng.random(rows) < 1 / (1 + np.exp(-risk))
    seen = risk + rng.normal(size=rows) * (0.4 + 0.3 * group) - 0.35 * group
    return 1 / (1 + np.exp(-seen)), y.astype(int), np.array(list("ABCDEFGHIJ"))[group]

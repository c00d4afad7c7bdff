"""People of groups whose scores are read too low by some shift."""

from __future__ import annotations

from typing import Any

import numpy as np


def people(size: int, shifts: dict[Any, float], seed: int = 0) -> dict[str, np.ndarray]:
    """Draw people of groups whose scores are read too low by some shift."""
    rng = np.random.default_rng(seed)
    names = list(shifts)
    which = rng.integers(len(names), size=size)
    need = rng.normal(size=size)
    group = np.empty(size, dtype=object)
    group[:] = [names[number] for number in which]
    score = 1 / (1 + np.exp(-(1.5 * need - np.array(list(shifts.values()))[which] + rng.normal(size=size))))
    return {"y_true": (need + rng.logistic(size=size) > 0.5).astype(int), "y_score": score, "sensitive_features": group}

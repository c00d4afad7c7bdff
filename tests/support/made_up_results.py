"""Made-up rows of results."""

from __future__ import annotations

from typing import Any

import numpy as np


def rows(
    method: str,
    parameter: float | None = None,
    *,
    gaps: list[float],
    aucs: list[float] | None = None,
    training: float = 0.1,
    metric: str = "xauc",
    **place: Any,
) -> list[dict[str, Any]]:
    """One row a split, with the gaps and AUCs given."""
    found = []
    for split, gap in enumerate(gaps):
        auc = aucs[split] if aucs else 0.7 + 0.01 * split
        figures = {"xauc_test": gap, "prf_test": gap / 2, "xauc_train": training, "prf_train": training / 2}
        found.append(
            {
                **{"data": "compas", "splits": "stored", "model": "linear", "method": method},
                **{"metric": "none" if method == "unadjusted" else metric, "parameter": parameter, "split": split},
                **{"auc_test": auc, "auc_train": auc + 0.02, "xauc_error": 0.02, "prf_error": 0.01, "seconds": 0.1},
                **figures,
                **place,
            }
        )
    return found


def curves(**place: Any) -> list[dict[str, Any]]:
    """A base model, and two methods that trade its AUC for its gap."""
    rng = np.random.default_rng(0)
    found = rows("unadjusted", gaps=[-0.2, -0.21, -0.19], training=0.2, **place)
    for method, price in (("xorder-dp", 0.02), ("post-logit", 0.05)):
        for step, parameter in enumerate((0.0, 0.1, 1.0) if method == "xorder-dp" else (None,)):
            left = 0.2 * 0.3**step
            gaps = [float(gap) for gap in left + 0.01 * rng.normal(size=3)]
            aucs = [0.7 + 0.01 * split - price * (0.2 - left) for split in range(3)]
            for metric in ("xauc", "prf"):
                found += rows(method, parameter, gaps=gaps, aucs=aucs, training=left, metric=metric, **place)
    return found

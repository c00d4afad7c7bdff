"""How long does the paper's dynamic programme take, against np.cumsum over as many elements as it has cells?

Wanted at the size of the Adult training split, 18,150 x 2,963 distinct scores: at most 3 times.
"""

from __future__ import annotations

import numpy as np

from measure import best_seconds, report
from xorder import ScoreTable, order

ROWS, COLUMNS = 18_150, 2_963


def main() -> None:
    rng = np.random.default_rng(0)
    a = ScoreTable.from_arrays(rng.random(ROWS) < 0.25, np.arange(ROWS, dtype=float))
    b = ScoreTable.from_arrays(rng.random(COLUMNS) < 0.15, np.arange(COLUMNS, dtype=float))
    cells = np.ones(ROWS * COLUMNS)
    out = np.empty_like(cells)

    def solve(metric: str) -> object:
        return order(a, b, metric=metric, tradeoff=1.0, solver="dp")

    metrics = ("xauc", "prf", "parity")
    tasks = {"cumsum": lambda: np.cumsum(cells, out=out)}
    tasks |= {f"dp {metric}": lambda metric=metric: solve(metric) for metric in metrics}
    seconds = best_seconds(tasks)
    ratios = {f"dp {m} / cumsum (wanted <= 3)": seconds[f"dp {m}"] / seconds["cumsum"] for m in metrics}
    report({"cells": ROWS * COLUMNS, "seconds": seconds, **ratios})


if __name__ == "__main__":
    main()

"""How fast is the frontier, and how close to optimal?

Wanted: at the size of Adult at most 1/20 of the time of the dynamic programme, gap at most 1e-4. At 10 million rows
`XOrder().fit` at most 0.6 times, `transform` at most 0.25 times one call of roc_auc_score, gap at most 1e-6; np.sort of
the scores stands beside them as the physical limit. `--grow` shows how the time grows up to 100 million float32 rows.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from measure import best_seconds, peak_bytes, people, report
from xorder import ScoreTable, XOrder, order


def at_the_size_of_adult() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for metric in ("xauc", "prf", "parity"):
        tables = []
        for rows, shift in ((18_150, 0.0), (2_963, -0.7)):
            risk = rng.normal(shift, 1.5, rows)
            label = rng.random(rows) < 1 / (1 + np.exp(1.2 - risk))
            tables.append(ScoreTable.from_arrays(label, risk + 0.5 * rng.normal(size=rows)))
        seconds = best_seconds(
            {
                "dp": lambda t=tables, m=metric: order(*t, metric=m, tradeoff=1.0, solver="dp"),
                "frontier": lambda t=tables, m=metric: order(*t, metric=m, tradeoff=1.0),
            }
        )
        best, theirs = (order(*tables, metric=metric, tradeoff=1.0, solver=s) for s in ("frontier", "dp"))
        found[metric] = {
            "frontier / dp (wanted <= 0.05)": seconds["frontier"] / seconds["dp"],
            "gap (wanted <= 1e-4)": best.optimality_gap,
            "gap of dp": theirs.optimality_gap,
        }
    return found


def at_ten_million_rows(rows: int) -> dict[str, Any]:
    score, label, group = people(rows)
    repair = XOrder().fit(score, label, sensitive_features=group)
    seconds = best_seconds(
        {
            "roc_auc_score": lambda: roc_auc_score(label, score),
            "sort": lambda: np.sort(score),
            "fit": lambda: repair.fit(score, label, sensitive_features=group),
            "transform": lambda: repair.transform(score, sensitive_features=group),
        }
    )
    roc = seconds["roc_auc_score"]
    return {
        "rows": rows,
        "seconds": seconds,
        "fit / roc_auc_score (wanted <= 0.6)": seconds["fit"] / roc,
        "transform / roc_auc_score (wanted <= 0.25)": seconds["transform"] / roc,
        "sort / roc_auc_score": seconds["sort"] / roc,
        "gap (wanted <= 1e-6)": repair.optimality_gap_,
    }


def growth(largest: int) -> list[dict[str, float]]:
    """One run per size; fit and sort in turns, float32 scores."""
    sizes = [size for size in (1_000_000, 10_000_000, 100_000_000) if size <= largest]
    steps = []
    for rows in sizes:
        score, label, group = people(rows, dtype=np.float32)
        start = time.perf_counter()
        np.sort(score)
        sort = time.perf_counter() - start
        start = time.perf_counter()
        repair = XOrder().fit(score, label, sensitive_features=group)
        fit = time.perf_counter() - start
        memory = peak_bytes() / 2**30
        steps.append(
            {
                "rows": rows,
                "sort": sort,
                "fit": fit,
                "fit / sort": fit / sort,
                "gap": repair.optimality_gap_,
                "peak GiB": memory,
            }
        )
        del score, label, group, repair
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--grow", type=int, default=10_000_000, help="largest size of the growth run")
    options = parser.parse_args()
    report(
        {
            "at the size of Adult": at_the_size_of_adult(),
            "large": at_ten_million_rows(options.rows),
            "growth": growth(options.grow),
        }
    )


if __name__ == "__main__":
    main()

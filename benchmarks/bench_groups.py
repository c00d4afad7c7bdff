"""How much longer do ten groups take than two?

Wanted: with a million rows, finding a multiplier for each of ten groups in at most 10 times the time of `XOrder().fit`
for two groups on the same rows: from rows (tables, curves, multipliers), and from tables that are built already. The
gap to the bound, which is known for PRF, stands beside the times.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from measure import best_seconds, people, report
from xorder import XOrder
from xorder._validation import check_tables
from xorder.ordering.calibration import CALIBRATIONS
from xorder.ordering.multipliers import Multipliers, solve_multipliers

GOALS = {"max_disparity 0": {"max_disparity": 0.0}, "max_disparity .02": {"max_disparity": 0.02}}


def ten_groups(rows: int) -> tuple[Any, Any, Any, Any]:
    """Scores, labels, two groups and ten, of rising risk; each of the ten is read too high or low in its own way."""
    score, label, two = people(rows)
    rng = np.random.default_rng(1)
    seen = np.log(score / (1 - score))
    ten = np.clip((2.5 + 0.6 * seen + 2 * rng.normal(size=rows)) * 1.4 + 2, 0, 9).astype(np.int64)
    seen = seen + rng.normal(0, 0.5, 10)[ten] + rng.uniform(0, 0.8, 10)[ten] * rng.normal(size=rows)
    return 1 / (1 + np.exp(-seen)), label, two, ten


def solve(tables: list[Any], metric: str, way: str, goal: dict[str, float]) -> Multipliers:
    curves = [CALIBRATIONS[way](table, unit=True) for table in tables]
    return solve_multipliers(tables, curves, metric=metric, reference=9, **goal)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--ways", nargs="+", choices=list(CALIBRATIONS), default=["logistic"])
    options = parser.parse_args()
    score, label, two, ten = ten_groups(options.rows)
    tables = list(check_tables(label, score, ten).values())
    results = {}
    for metric in ("xauc", "prf", "parity"):
        for way in options.ways:
            for name, goal in GOALS.items():
                fit = XOrder(metric=metric, **goal)
                seconds = best_seconds(
                    {
                        "two groups": lambda fit=fit: fit.fit(score, label, sensitive_features=two),
                        "tables": lambda m=metric, w=way, g=goal: solve(tables, m, w, g),
                        "rows": lambda m=metric, w=way, g=goal: solve(
                            list(check_tables(label, score, ten).values()), m, w, g
                        ),
                    },
                    rounds=2,
                )
                found = solve(tables, metric, way, goal)
                results[f"{metric}, {way}, {name}"] = {
                    "two groups, seconds": seconds["two groups"],
                    "rows / two groups (wanted <= 10)": seconds["rows"] / seconds["two groups"],
                    "tables / two groups": seconds["tables"] / seconds["two groups"],
                    "auc": found.auc,
                    "worst gap": found.worst,
                    "gap to the bound": None if np.isnan(found.gap) else found.gap,
                }
    worst = max(result["rows / two groups (wanted <= 10)"] for result in results.values())
    report({"largest ratio (wanted <= 10)": worst, **results})


if __name__ == "__main__":
    main()

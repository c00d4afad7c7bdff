"""Do intervals that know which rows belong together hold the truth in 95 % of samples, and those that do not?

People have several rows each, alike in score and outcome; the truth is that of a very large sample. Prints JSON, by
rows of a person: the share of samples whose intervals hold the truth, of AUC, of each gap, of one xAUC cell and of the
cut at 10 % of the list, with clusters and without; then the processor time of an audit of 500,000 rows with its cuts,
five rows a person, with clusters as a multiple of that without. Fails if a share with clusters leaves 0.93 to 0.97.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from xorder import Audit, audit

LIMITS = (0.93, 0.97)
PAIR = ("a", "b")

# Rows of a person, and persons.
SETTINGS = {1: 800, 5: 300, 20: 150}


def draw(rng: np.random.Generator, persons: int, rows: int) -> dict[str, Any]:
    """Draw rows of persons, some of whom change their group."""
    person = np.repeat(np.arange(persons), rows)
    group = np.where(rng.random(persons) < 0.5, "a", "b")[person]
    group = np.where(rng.random(person.size) < 0.02, "b", group)
    label = (rng.normal(size=persons)[person] + 0.3 * rng.normal(size=person.size) > 0.5).astype(int)
    score = label + rng.normal(size=persons)[person] + 0.5 * rng.normal(size=person.size) - 0.3 * (group == "b")
    return {"y_true": label, "y_score": score, "sensitive_features": group, "clusters": person}


def without(data: dict[str, Any]) -> dict[str, Any]:
    return {name: column for name, column in data.items() if name != "clusters"}


def values(found: Audit) -> list[float]:
    gaps = [found.gap(metric, PAIR).value for metric in ("xauc", "prf", "parity")]
    return [found.auc, *gaps, found.xauc[PAIR], found.cut_gap(0.1, PAIR).value]


def intervals(found: Audit) -> list[tuple[float, float]]:
    gaps = [found.gap(metric, PAIR).interval for metric in ("xauc", "prf", "parity")]
    return [found.auc_interval, *gaps, found.xauc_interval[PAIR], found.cut_gap(0.1, PAIR).interval]


NUMBERS = ("auc", "xauc gap", "prf gap", "parity gap", "xauc cell", "cut at 10 %")


def covered(rows: int, draws: int, seed: int) -> dict[str, dict[str, float]]:
    """Share of samples whose intervals hold the truth, with clusters and without."""
    truth = values(audit(**without(draw(np.random.default_rng(seed + 1), 400_000, 2))))
    rng = np.random.default_rng([seed, rows])
    held = np.zeros((2, len(NUMBERS)))
    for _ in range(draws):
        data = draw(rng, SETTINGS[rows], rows)
        for number, found in enumerate((audit(**data), audit(**without(data)))):
            held[number] += [low <= true <= high for (low, high), true in zip(intervals(found), truth, strict=True)]
    shares = (held / draws).tolist()
    return {name: dict(zip(NUMBERS, of, strict=True)) for name, of in zip(("clusters", "rows"), shares, strict=True)}


def seconds(data: dict[str, Any]) -> float:
    best = np.inf
    for _ in range(5):
        start = time.process_time()
        audit(**data).to_dict()
        best = min(best, time.process_time() - start)
    return float(best)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with ProcessPoolExecutor(2) as pool:
        jobs = {rows: pool.submit(covered, rows, options.draws, options.seed) for rows in SETTINGS}
        found = {f"{rows} rows a person": job.result() for rows, job in jobs.items()}
    data = draw(np.random.default_rng(3), 100_000, 5)
    ratio = round(seconds(data) / seconds(without(data)), 2)
    print(json.dumps({**found, "time of 500,000 rows": ratio}, indent=1))
    wrong = [
        f"{setting}, {number}: {share}"
        for setting, shares in found.items()
        for number, share in shares["clusters"].items()
        if not LIMITS[0] <= share <= LIMITS[1]
    ]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

"""Do the 95 % intervals of rates at a cut hold the truth in 95 % of samples: by group, differences, ratios, changes?

Rows are drawn with replacement from fixed populations, whose own rates are the truth: simulated ones of two groups with
continuous scores, with rounded ones and with few positives, with sampling weights, in clusters of rows, and, where
the data are at hand, real ones. Cuts are a share of the list, a number of places and a score; the repair is one map,
fitted to the population. Prints JSON: for each kind of number the mean, lowest and highest share of samples whose
interval holds the truth. Rates that are not there in a sample (the positive predictive value of nobody) do not count,
nor does what is certain by design, such as the share selected of all. Fails if a kind has a mean share outside 0.93 to
0.97, or if any share is below 0.91.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xorder import Threshold, XOrder, audit
from xorder.exceptions import XorderWarning

LIMITS_OF_MEAN = (0.93, 0.97)
LOWEST = 0.91
# Names of a value in a row of the table, and of the ends of its interval.
KINDS = {
    "rate": ("value", "low", "high"),
    "difference": ("difference", "difference_low", "difference_high"),
    "ratio": ("ratio", "ratio_low", "ratio_high"),
    "change": ("change", "change_low", "change_high"),
}


@dataclass(frozen=True)
class Setting:
    """How rows are drawn: how many, from which population, and what varies."""

    rows: int
    rounded: float = 0.0
    prevalence: float = 0.3
    share: float = 0.5
    weights: bool = False
    clusters: int = 1


SETTINGS = {
    "1,000": Setting(1000),
    "5,000": Setting(5000),
    "400": Setting(400),
    "1,000, rounded": Setting(1000, rounded=0.05),
    "1,000, one group small": Setting(1000, share=0.85),
    "2,000, rare outcome": Setting(2000, prevalence=0.05),
    "2,000, weights": Setting(2000, weights=True),
    "2,000, clusters of 5": Setting(2000, clusters=5),
}


def population(setting: Setting, rng: np.random.Generator) -> dict[str, Any]:
    """Draw a population: label, score, group, weight, and its clusters one below the other."""
    people = 200_000 // setting.clusters
    of_person = rng.normal(size=people)
    repeated = np.repeat(np.arange(people), setting.clusters)
    size = repeated.size
    group = np.where(np.repeat(rng.random(people) < setting.share, setting.clusters), "A", "B")
    risk = 0.8 * of_person[repeated] + 0.9 * rng.normal(size=size)
    base = np.log(setting.prevalence / (1 - setting.prevalence))
    label = rng.random(size) < 1 / (1 + np.exp(-(base - 0.4 + 1.2 * risk + 0.4 * (group == "B"))))
    seen = base + 1.2 * risk + 0.5 * rng.normal(size=size) - 0.3 * (group == "B")
    score = 1 / (1 + np.exp(-seen))
    if setting.rounded:
        score = np.round(score / setting.rounded) * setting.rounded
    weight = np.where(group == "B", 0.5, 1.0) + rng.random(size) if setting.weights else None
    return {"label": label.astype(int), "score": score, "group": group, "weight": weight}


def measured(rows: dict[str, Any], cuts: list[Any], repair: XOrder, clusters: Any = None) -> dict[tuple[str, ...], Any]:
    """Return the value and the ends of each interval, by kind, cut, group and rate."""
    found = audit(
        rows["label"],
        rows["score"],
        sensitive_features=rows["group"],
        sample_weight=rows["weight"],
        weights_are="sampling",
        cuts=cuts,
        clusters=clusters,
    )
    numbers = {}
    for row in found.table("cuts", repair=repair, reference="A").rows:
        for kind, names in KINDS.items():
            is_own = kind in ("difference", "ratio") and row["group"] == "A"
            is_given = row["group"] == "all groups" and row["rate"] == "selected"
            if not is_own and not is_given:
                at = "places" if "places" in row["at"] else row["at"]
                numbers[kind, at, row["group"], row["rate"]] = [row[name] for name in names]
    return numbers


def coverage(task: tuple[str, int]) -> dict[str, Any]:
    """Draw samples of one setting; return shares of intervals that hold the truth."""
    name, draws = task
    setting = SETTINGS[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    everyone = population(setting, rng)
    size = everyone["label"].size
    repair = XOrder(do_no_harm=False).fit(everyone["score"], everyone["label"], sensitive_features=everyone["group"])
    fixed = Threshold(round(float(np.quantile(everyone["score"], 0.7)), 3))
    truth = measured(everyone, [0.05, 0.2, fixed, round(0.1 * size)], repair)
    held: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    drawn = everyone
    if setting.weights:
        # Rows are drawn more often the less they weigh, so that weights make up for it.
        chances = 1 / everyone["weight"]
        chances = chances / chances.sum()
        truth = measured(everyone | {"weight": None}, [0.05, 0.2, fixed, round(0.1 * size)], repair)
    for _ in range(draws):
        if setting.clusters > 1:
            people = rng.integers(0, size // setting.clusters, setting.rows // setting.clusters)
            chosen = (people[:, None] * setting.clusters + np.arange(setting.clusters)).ravel()
            clusters = np.repeat(np.arange(people.size), setting.clusters)
        else:
            chosen = (
                rng.choice(size, setting.rows, p=chances) if setting.weights else rng.integers(0, size, setting.rows)
            )
            clusters = None
        rows = {key: None if value is None else value[chosen] for key, value in drawn.items()}
        total = setting.rows if rows["weight"] is None else rows["weight"].sum()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", XorderWarning)
            numbers = measured(rows, [0.05, 0.2, fixed, round(0.1 * total)], repair, clusters)
        for key, (value, low, high) in numbers.items():
            right = truth[key][0]
            if None in (value, low, high, right):
                continue
            held[key][0] += low - 1e-12 <= right <= high + 1e-12
            held[key][1] += 1
    return {" | ".join(key): sure / of for key, (sure, of) in held.items() if of >= draws / 2}


def main() -> int:
    """Measure all settings; return 1 if some interval is too short or too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        found = dict(zip(SETTINGS, pool.map(coverage, [(name, options.draws) for name in SETTINGS]), strict=True))
    summary = {}
    for kind in KINDS:
        shares = {
            f"{name}: {key}": share
            for name, each in found.items()
            for key, share in each.items()
            if key.startswith(kind)
        }
        low = min(shares, key=shares.__getitem__)
        summary[kind] = {"mean": float(np.mean([*shares.values()])), "lowest": shares[low], "where": low}
        summary[kind] |= {"highest": max(shares.values()), "numbers": len(shares)}
    text = json.dumps({"draws": options.draws, "summary": summary, "shares": found}, indent=1)
    print(json.dumps(summary, indent=1))
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    failed = [
        k for k, s in summary.items() if not LIMITS_OF_MEAN[0] <= s["mean"] <= LIMITS_OF_MEAN[1] or s["lowest"] < LOWEST
    ]
    print(f"outside the limits: {', '.join(failed) or 'none'}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

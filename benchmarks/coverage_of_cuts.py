"""Do the band around all cuts, and the intervals of single cuts, hold the truth in 95 % of samples?

Scores are normal within each group and class, rounded where there are ties, so that the true share of a class at or
above any score follows from the normal distribution. Prints JSON, by setting: the share of data sets in which the band
holds the whole true curve of the difference of sensitivities, and in which the intervals at 5 % and 20 % of the list
(of sensitivity), at 10 % (of those selected) and at a score hold the truth. Fails if a share of the band leaves 0.93 to
0.97, or one of an interval 0.91 to 0.98.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from xorder import ScoreTable
from xorder._table import Tables
from xorder.metrics._cuts import Cuts, Threshold

BAND, INTERVAL = (0.93, 0.97), (0.91, 0.98)
PAIR = ("a", "b")
SCORE = 1.0

# By group: share of positives; mean and deviation of the scores, of negatives and of positives.
POSITIVE_SHARE = {"a": 0.4, "b": 0.3}
MEAN = {"a": (0.0, 1.0), "b": (-0.2, 0.7)}
DEVIATION = {"a": (1.0, 1.0), "b": (1.2, 0.8)}


@dataclass(frozen=True)
class Setting:
    """Rows, the share of them in the first group, the rounding of scores, and whether rows have sampling weights."""

    rows: int
    share: float
    step: float = 0.0
    weighted: bool = False


SETTINGS = {
    "200 and 200": Setting(400, 1 / 2),
    "2,000 and 2,000": Setting(4000, 1 / 2),
    "2,000 and 200": Setting(2200, 10 / 11),
    "200 and 2,000": Setting(2200, 1 / 11),
    "600 and 400, ten levels": Setting(1000, 3 / 5, step=0.6),
    "2,000 and 500, four levels": Setting(2500, 4 / 5, step=1.5),
    "600 and 400, fine ties": Setting(1000, 3 / 5, step=0.1),
    "1,100 and 550, sampling weights": Setting(1650, 2 / 3, weighted=True),
    "900 and 300, sampling weights, ties": Setting(1200, 3 / 4, step=0.6, weighted=True),
}


def above(group: str, positive: bool, score: float, step: float) -> float:
    """True share of a class at or above a score."""
    edge = score - step / 2 if step else score
    return float(norm.sf(edge, MEAN[group][positive], DEVIATION[group][positive]))


def selected(setting: Setting, score: float, group: str) -> float:
    """True share of a group at or above a score."""
    share = POSITIVE_SHARE[group]
    step = setting.step
    return share * above(group, True, score, step) + (1 - share) * above(group, False, score, step)


def levels_of(setting: Setting) -> Any:
    """Scores of a rounded population, as rounding writes them."""
    return np.arange(-int(8 / setting.step), int(8 / setting.step) + 1) * setting.step


def of_list(setting: Setting, score: float) -> float:
    return setting.share * selected(setting, score, "a") + (1 - setting.share) * selected(setting, score, "b")


def at_share(setting: Setting, wanted: float, of: str) -> float:
    """True gap at a share of the list; of rows tied there, the same part of each counts."""

    def gap(score: float) -> float:
        if of == "selected":
            return selected(setting, score, "a") - selected(setting, score, "b")
        return above("a", True, score, setting.step) - above("b", True, score, setting.step)

    if not setting.step:
        return gap(brentq(lambda score: of_list(setting, score) - wanted, -12, 12))
    levels = levels_of(setting)
    reached = np.array([of_list(setting, score) for score in levels])
    last = int(np.flatnonzero(reached >= wanted)[-1])
    part = (wanted - reached[last + 1]) / (reached[last] - reached[last + 1])
    return gap(levels[last + 1]) + part * (gap(levels[last]) - gap(levels[last + 1]))


def draw(setting: Setting, rng: np.random.Generator) -> Cuts:
    """Draw rows; with weights, rows of high scores are drawn more often than their share, and weigh less."""
    size = setting.rows * 4 if setting.weighted else setting.rows
    group = np.where(rng.random(size) < setting.share, "a", "b")
    tables = {}
    for name in PAIR:
        rows = int((group == name).sum())
        label = rng.random(rows) < POSITIVE_SHARE[name]
        score = np.where(label, *(rng.normal(MEAN[name][k], DEVIATION[name][k], rows) for k in (1, 0)))
        weight = None
        if setting.weighted:
            chance = 1 / (4 * (1 + np.exp(-score - 0.5))) + 0.1
            kept = rng.random(rows) < chance
            label, score, weight = label[kept], score[kept], 1 / chance[kept]
        if setting.step:
            score = np.rint(score / setting.step) * setting.step
        tables[name] = ScoreTable.from_arrays(label, score, weight, squares=weight is not None)
    return Cuts(Tables(tables), 0.95)


def covered(name: str, draws: int, seed: int) -> dict[str, float]:
    """Share of data sets whose band, and whose intervals, hold the truth."""
    setting = SETTINGS[name]
    rng = np.random.default_rng([seed, list(SETTINGS).index(name)])
    scores = levels_of(setting) if setting.step else np.linspace(-5, 5, 801)
    curve = np.array([above("a", True, s, setting.step) - above("b", True, s, setting.step) for s in scores])
    truth = {
        "sensitivity at 5 %": (0.05, "sensitivity", at_share(setting, 0.05, "sensitivity")),
        "sensitivity at 20 %": (0.2, "sensitivity", at_share(setting, 0.2, "sensitivity")),
        "selected at 10 %": (0.1, "selected", at_share(setting, 0.1, "selected")),
    }
    level = float(np.rint(SCORE / setting.step) * setting.step) if setting.step else SCORE
    gap = above("a", True, level, setting.step) - above("b", True, level, setting.step)
    truth["sensitivity at a score"] = (Threshold(level), "sensitivity", gap)
    inside = dict.fromkeys(("band", *truth), 0)
    for _ in range(draws):
        cuts = draw(setting, rng)
        worst = cuts.worst(PAIR, "sensitivity")
        half = max(worst.interval[1] - worst.value, worst.value - worst.interval[0])
        columns = [cuts._column("sensitivity", group) for group in PAIR]
        first, second = (column.mass[column.above(scores, ties=True)] / column.mass[-1] for column in columns)
        inside["band"] += bool(np.all(np.abs(first - second - curve) <= half + 1e-12))
        for what, (cut, of, value) in truth.items():
            low, high = cuts.at(cut, PAIR, of).interval
            inside[what] += bool(low <= value <= high)
    return {what: count / draws for what, count in inside.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with ProcessPoolExecutor(2) as pool:
        jobs = {name: pool.submit(covered, name, options.draws, options.seed) for name in SETTINGS}
        found = {name: job.result() for name, job in jobs.items()}
    print(json.dumps(found, indent=1))
    limits = {what: BAND if what == "band" else INTERVAL for shares in found.values() for what in shares}
    wrong = [
        f"{name}, {what}: {share}"
        for name, shares in found.items()
        for what, share in shares.items()
        if not limits[what][0] <= share <= limits[what][1]
    ]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

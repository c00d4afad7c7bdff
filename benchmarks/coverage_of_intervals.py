"""Do the 95 % intervals of an audit hold the true gap in 95 % of samples?

Rows are drawn at random from populations whose scores are normal within each group and class, so that every
true value follows from the normal distribution, by formula, or by adding up a lattice where scores are rounded.
The two groups differ in spread and in base rate; one is shifted until the gap of the metric is exactly 0 or 0.1.
Prints JSON: the share of data sets whose interval holds the truth, by setting, metric and gap, and the same for
the interval of the AUC. Fails if a share leaves 0.93 to 0.97.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from xorder import audit
from xorder.exceptions import XorderWarning

METRICS = ("xauc", "prf", "parity")
GAPS = (0.0, 0.1)
LIMITS = (0.93, 0.97)

POSITIVE_SHARE = (0.40, 0.30)
# Mean and deviation of the scores, by group and label.
MEAN = ((0.0, 1.0), (0.0, 1.1))
DEVIATION = ((1.0, 1.0), (1.3, 0.8))


@dataclass(frozen=True)
class Setting:
    """How rows are drawn: how many, the share in the first group, the rounding of scores, what weights are."""

    rows: int
    share: float
    step: float = 0.0
    weights: str = "none"


SETTINGS = {
    "200 and 200": Setting(400, 1 / 2),
    "200 and 2,000": Setting(2200, 1 / 11),
    "2,000 and 200": Setting(2200, 10 / 11),
    "600 and 400, ties": Setting(1000, 3 / 5, step=0.5),
    "2,000 and 2,000": Setting(4000, 1 / 2),
    "600 and 400, ties as counts": Setting(1000, 3 / 5, step=0.5, weights="counts"),
    "about 550 and 230, sampling weights": Setting(1650, 2 / 3, weights="sampling"),
}


class Population:
    """The exact values of a population: of groups 0 and 1, the second shifted up by ``shift``."""

    def __init__(self, setting: Setting, shift: float) -> None:
        self.setting, self.shift = setting, shift
        in_group = np.array([setting.share, 1 - setting.share])
        self.given_group = np.array([[1 - share, share] for share in POSITIVE_SHARE])
        self.joint = in_group[:, None] * self.given_group
        mean = np.add(MEAN, [[0.0], [shift]])
        self.cells = np.stack([mean, DEVIATION], axis=2).reshape(4, 2)
        # beats[g, y, h, z]: chance that a row of group g and label y outranks one of group h and label z
        pairs = [self._beats(one, two) for one, two in product(self.cells, repeat=2)]
        self.beats = np.array(pairs).reshape(2, 2, 2, 2)

    def _beats(self, one: np.ndarray, two: np.ndarray) -> float:
        if not self.setting.step:
            return float(norm.cdf((one[0] - two[0]) / np.hypot(one[1], two[1])))
        step = self.setting.step
        edges = np.arange(-20, 20 + step / 4, step) + step / 2
        first, second = (np.diff(norm.cdf(edges, *cell)) for cell in (one, two))
        return float(first @ (np.cumsum(second) - second / 2))

    def value(self, metric: str) -> float:
        """Return the true AUC, or the true gap of a metric: the first group minus the second."""
        positive, negative = (self.joint[:, label] / self.joint[:, label].sum() for label in (1, 0))
        matrix = self.beats[:, 1, :, 0]
        if metric == "auc":
            return float(positive @ matrix @ negative)
        if metric == "xauc":
            return float(matrix[0, 1] - matrix[1, 0])
        if metric == "prf":
            return float((matrix @ negative) @ [1, -1])
        return float(2 * self.given_group[0] @ self.beats[0, :, 1, :] @ self.given_group[1] - 1)

    def draw(self, rng: np.random.Generator) -> dict[str, object]:
        """Return a random data set, as keywords of ``audit``."""
        setting = self.setting
        group = (rng.random(setting.rows) >= setting.share).astype(int)
        label = (rng.random(setting.rows) < np.array(POSITIVE_SHARE)[group]).astype(int)
        mean, deviation = self.cells[2 * group + label].T
        score = rng.normal(mean, deviation)
        if setting.step:
            score = np.round(score / setting.step) * setting.step
        rows = {"y_true": label, "y_score": score, "sensitive_features": group}
        if setting.weights == "counts":
            cells, count = np.unique(np.stack([label, score, group]), axis=1, return_counts=True)
            return dict(zip(rows, cells, strict=True)) | {"sample_weight": count}
        if setting.weights == "sampling":
            chance = (0.15 + 0.85 * norm.cdf(score)) * rng.uniform(0.5, 1, setting.rows)
            kept = rng.random(setting.rows) < chance
            rows = {name: column[kept] for name, column in rows.items()}
            return rows | {"sample_weight": 1 / chance[kept], "weights_are": "sampling"}
        return rows


def shifted(setting: Setting, metric: str, gap: float) -> Population:
    """Return the population in which the gap of the metric is ``gap``."""
    return Population(setting, brentq(lambda shift: Population(setting, shift).value(metric) - gap, -3, 3, xtol=1e-14))


def coverage(name: str, metric: str, gap: float, data_sets: int, seed: int = 0) -> dict[str, object]:
    """Return the share of data sets whose intervals hold the true gap, and the true AUC."""
    population = shifted(SETTINGS[name], metric, gap)
    truth = population.value("auc")
    rng = np.random.default_rng([seed, list(SETTINGS).index(name), METRICS.index(metric), GAPS.index(gap)])
    of_gap = of_auc = 0
    for _ in range(data_sets):
        with warnings.catch_warnings():
            # Counts of tied rows are large, and are what they are taken for.
            warnings.simplefilter("ignore", XorderWarning)
            found = audit(**population.draw(rng))
        low, high = found.gap(metric).interval
        of_gap += low <= gap <= high
        of_auc += found.auc_interval[0] <= truth <= found.auc_interval[1]
    shares = {"coverage": of_gap / data_sets, "coverage_of_auc": of_auc / data_sets}
    return {"setting": name, "metric": metric, "gap": gap, **shares}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=2000, help="data sets per setting, metric and gap")
    data_sets = parser.parse_args().data_sets
    cases = list(product(SETTINGS, METRICS, GAPS))
    with ProcessPoolExecutor() as processes:
        results = list(processes.map(coverage, *zip(*cases, strict=True), [data_sets] * len(cases)))
    shares = [result[key] for result in results for key in ("coverage", "coverage_of_auc")]
    honest = LIMITS[0] <= min(shares) and max(shares) <= LIMITS[1]
    summary = {"data_sets": data_sets, "lowest": min(shares), "highest": max(shares), "honest": honest}
    print(json.dumps({**summary, "results": results}, indent=1))
    return 0 if honest else 1


if __name__ == "__main__":
    sys.exit(main())

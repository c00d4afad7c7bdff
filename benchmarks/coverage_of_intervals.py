"""Do the 95 % intervals of an audit hold the truth in 95 % of samples, down to about 20 positives per group?

Rows are drawn at random from populations whose scores are normal within each group and class, so that every
true value follows from the normal distribution, by formula, or by adding up a lattice where scores are rounded.
The two groups differ in spread and in base rate; one is shifted until the gap of one metric is exactly 0 or 0.1.
Prints JSON: for each kind of number (three gaps, AUC, AUC of one group, xAUC, PRF) the mean, lowest and highest share
of data sets whose interval holds the truth, then all shares. The plain normal interval of each gap, value plus or
minus 1.96 standard errors, is measured in the same data sets. Fails if a kind of number has a mean share outside 0.93
to 0.97, or any share below 0.91; plain intervals are not judged.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from statistics import fmean

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from xorder import Audit, Gap, audit
from xorder.exceptions import XorderWarning

METRICS = ("xauc", "prf", "parity")
GAPS = (0.0, 0.1)
LIMITS_OF_MEAN = (0.93, 0.97)
LOWEST = 0.91
PLAIN = "plain "

POSITIVE_SHARE = (0.40, 0.30)
# Mean and deviation of the scores, by group and label.
MEAN = ((0.0, 1.0), (0.0, 1.1))
DEVIATION = ((1.0, 1.0), (1.3, 0.8))


@dataclass(frozen=True)
class Setting:
    """How rows are drawn: how many, the share in the first group, the rounding of scores, what weights are, and how
    many times as far apart the classes are (2.1 makes it a good score, of an AUC of 0.93 in each group).
    """

    rows: int
    share: float
    step: float = 0.0
    weights: str = "none"
    apart: float = 1.0


SETTINGS = {
    "200 and 200": Setting(400, 1 / 2),
    "200 and 2,000": Setting(2200, 1 / 11),
    "2,000 and 200": Setting(2200, 10 / 11),
    "600 and 400, ties": Setting(1000, 3 / 5, step=0.5),
    "2,000 and 2,000": Setting(4000, 1 / 2),
    "600 and 400, ties as counts": Setting(1000, 3 / 5, step=0.5, weights="counts"),
    "about 550 and 230, sampling weights": Setting(1650, 2 / 3, weights="sampling"),
    # About 20 positives in each group.
    "50 and 70": Setting(120, 5 / 12),
    # About 20 positives in one group and 200 in the other.
    "50 and 670": Setting(720, 5 / 72),
    "500 and 70": Setting(570, 50 / 57),
    "50 and 70, good score": Setting(120, 5 / 12, apart=2.1),
    "500 and 70, good score": Setting(570, 50 / 57, apart=2.1),
    "50 and 670, good score": Setting(720, 5 / 72, apart=2.1),
}

# No shift makes this gap so wide: nearly all negatives are of the second group, and its own positives outrank them.
IMPOSSIBLE = ("50 and 670, good score", "prf", 0.1)


class Population:
    """The exact values of a population: of groups 0 and 1, the second shifted up by ``shift``."""

    def __init__(self, setting: Setting, shift: float) -> None:
        self.setting, self.shift = setting, shift
        in_group = np.array([setting.share, 1 - setting.share])
        self.given_group = np.array([[1 - share, share] for share in POSITIVE_SHARE])
        self.joint = in_group[:, None] * self.given_group
        mean = np.add(np.multiply(MEAN, setting.apart), [[0.0], [shift]])
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

    def truths(self) -> dict[str, list[float]]:
        """Return the true values, by kind of number; gaps are the first group minus the second."""
        positive, negative = (self.joint[:, label] / self.joint[:, label].sum() for label in (1, 0))
        xauc = self.beats[:, 1, :, 0]
        prf = xauc @ negative
        parity = 2 * self.given_group[0] @ self.beats[0, :, 1, :] @ self.given_group[1] - 1
        return {
            "xauc gap": [xauc[0, 1] - xauc[1, 0]],
            "prf gap": [prf[0] - prf[1]],
            "parity gap": [parity],
            "auc": [positive @ prf],
            "auc of a group": [xauc[0, 0], xauc[1, 1]],
            "xauc": [xauc[0, 1], xauc[1, 0]],
            "prf": list(prf),
        }

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

    def excess(shift: float) -> float:
        return Population(setting, shift).truths()[f"{metric} gap"][0] - gap

    return Population(setting, brentq(excess, -3, 3, xtol=1e-14))


def plain(gap: Gap) -> tuple[float, float]:
    """Return the normal interval of a gap: 1.96 standard errors to either side."""
    return gap.value - 1.96 * gap.stderr, gap.value + 1.96 * gap.stderr


def intervals(found: Audit) -> dict[str, list[tuple[float, float]]]:
    """Return the intervals of an audit, by kind of number and in the order of the truths."""
    a, b = found.groups
    gaps = [found.gap(metric) for metric in METRICS]
    return {
        **{f"{gap.metric} gap": [gap.interval] for gap in gaps},
        **{f"{PLAIN}{gap.metric} gap": [plain(gap)] for gap in gaps},
        "auc": [found.auc_interval],
        "auc of a group": [found.xauc_interval[a, a], found.xauc_interval[b, b]],
        "xauc": [found.xauc_interval[a, b], found.xauc_interval[b, a]],
        "prf": [found.prf_interval[a], found.prf_interval[b]],
    }


def coverage(name: str, metric: str, gap: float, data_sets: int, seed: int = 0) -> dict[str, list[float]]:
    """Return the shares of data sets whose intervals hold the truth, by kind of number; one that is nan does not."""
    population = shifted(SETTINGS[name], metric, gap)
    truths = population.truths()
    rng = np.random.default_rng([seed, list(SETTINGS).index(name), METRICS.index(metric), GAPS.index(gap)])
    held: dict[str, list[list[bool]]] = {}
    for _ in range(data_sets):
        with warnings.catch_warnings():
            # Counts of tied rows are large, and are what they are taken for.
            warnings.simplefilter("ignore", XorderWarning)
            found = audit(**population.draw(rng))
        for kind, ends in intervals(found).items():
            each = zip(ends, truths[kind.removeprefix(PLAIN)], strict=True)
            held.setdefault(kind, []).append([low <= truth <= high for (low, high), truth in each])
    return {kind: np.mean(rows, axis=0).tolist() for kind, rows in held.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=2000, help="data sets per setting, metric and gap")
    data_sets = parser.parse_args().data_sets
    cases = [case for case in product(SETTINGS, METRICS, GAPS) if case != IMPOSSIBLE]
    with ProcessPoolExecutor(2) as processes:
        results = list(processes.map(coverage, *zip(*cases, strict=True), [data_sets] * len(cases)))
    shares = {kind: [share for result in results for share in result[kind]] for kind in results[0]}
    kinds = {
        kind: {"mean": round(fmean(each), 4), "lowest": min(each), "highest": max(each)}
        for kind, each in shares.items()
    }
    honest = all(
        LIMITS_OF_MEAN[0] <= kind["mean"] <= LIMITS_OF_MEAN[1] and kind["lowest"] >= LOWEST
        for name, kind in kinds.items()
        if not name.startswith(PLAIN)
    )
    of_cases = [
        {"setting": setting, "metric": metric, "gap": gap, "shares": result}
        for (setting, metric, gap), result in zip(cases, results, strict=True)
    ]
    print(json.dumps({"data_sets": data_sets, "honest": honest, "kinds": kinds, "cases": of_cases}, indent=1))
    return 0 if honest else 1


if __name__ == "__main__":
    sys.exit(main())

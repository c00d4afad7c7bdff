"""Do the intervals for new people hold what a repair does to the whole population it was fitted to a sample of?

A sample is drawn, the repair fitted to it, and what that very map does to all of the population compared with the 95 %
intervals that go with it. Populations are tables: scores normal on the log odds within each group and class, or all
rows of an open data set with the out-of-fold scores of a model, drawn with replacement. Prints JSON: by setting and
size, the share of samples whose intervals of the gap (of more than two groups, of all gaps) and of the AUC hold the
truth, and how far off their values are in the mean; the share of samples in which care left some scores adjusted, and
the coverage of the gap in these and in the others. Fails if a share of the default repair leaves 0.93 to 0.97.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Hashable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from xorder import ScoreTable
from xorder._table import Tables
from xorder.estimators import RepairSettings, expected_gap_tables, learn_repair
from xorder.estimators._learn import mapped, measure
from xorder.exceptions import InputError, XorderWarning

LIMITS = (0.93, 0.97)
SIZES = (300, 1000, 5000)


@dataclass(frozen=True)
class Group:
    """Share of all people, share of positives, how much lower it is read, distance of its classes, and deviation."""

    share: float
    positives: float = 0.3
    lower: float = 0.0
    apart: float = 1.2
    spread: float = 1.0


def binormal(*groups: Group, step: float = 0.0) -> Tables:
    """A population whose log odds are normal in each group and class, in 4,000 steps, or rounded to fewer."""
    edges = np.linspace(-9, 9, 4001)
    middle = (edges[1:] + edges[:-1]) / 2
    if step:
        middle = np.rint(middle / step) * step
    tables = {}
    for number, group in enumerate(groups):
        masses = [
            group.share * share * np.diff(norm.cdf(edges, mean - group.lower, group.spread))
            for share, mean in ((group.positives, group.apart - 1), (1 - group.positives, -1.0))
        ]
        tables[f"group {number}"] = ScoreTable.from_masses(expit(middle), *masses)
    return Tables(tables)


def real(data: str, model: str) -> Tables:
    """The rows of an open data set, scored out of fold."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import xorder.datasets
    from xorder._validation import check_tables

    problem = getattr(xorder.datasets, f"load_{data}")()
    models = {
        "linear": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "boosted": HistGradientBoostingClassifier(random_state=0),
    }
    score = cross_val_predict(models[model], problem.X, problem.y, cv=5, method="predict_proba")[:, 1]
    return check_tables(problem.y, score, problem.sensitive_features)


# Told, not judged: their maps have more numbers.
MORE_NUMBERS = ("a limit at every cut", "frontier")

HALVES = (Group(0.5), Group(0.5))
POPULATIONS: dict[str, tuple[Callable[[], Tables], dict[str, Any]]] = {
    "no gap": (lambda: binormal(*HALVES), {}),
    "small gap": (lambda: binormal(Group(0.6), Group(0.4, lower=0.085)), {}),
    "clear gap": (lambda: binormal(Group(0.6), Group(0.4, lower=0.3)), {}),
    "wide gap": (lambda: binormal(Group(0.5), Group(0.5, lower=1.0)), {}),
    "unequal spreads": (lambda: binormal(Group(0.6, spread=0.7), Group(0.4, lower=0.4, spread=1.3)), {}),
    "few positives": (lambda: binormal(Group(0.6, 0.12), Group(0.4, 0.12, lower=0.4)), {}),
    "one in five": (lambda: binormal(Group(0.8, 0.4), Group(0.2, 0.4, lower=0.5)), {}),
    "unequal base rates": (lambda: binormal(Group(0.5, 0.2), Group(0.5, 0.5, lower=-0.3)), {}),
    "ten levels": (lambda: binormal(Group(0.6), Group(0.4, lower=0.6), step=0.6), {}),
    "three groups": (lambda: binormal(Group(0.5), Group(0.3, lower=0.5), Group(0.2, lower=-0.2)), {}),
    "prf": (lambda: binormal(Group(0.5), Group(0.5, lower=0.5)), {"metric": "prf"}),
    "parity": (lambda: binormal(Group(0.5), Group(0.5, lower=0.5)), {"metric": "parity"}),
    "without care": (lambda: binormal(Group(0.6), Group(0.4, lower=0.3)), {"do_no_harm": False}),
    "a limit at every cut": (
        lambda: binormal(Group(0.6, spread=0.7), Group(0.4, lower=0.4, spread=1.3)),
        {"max_cut_gap": 0.15, "do_no_harm": False},
    ),
    "frontier": (lambda: binormal(Group(0.6), Group(0.4, lower=0.3)), {"method": "frontier"}),
    "compas, linear": (lambda: real("compas", "linear"), {}),
    "compas, boosted": (lambda: real("compas", "boosted"), {}),
    "adult, linear": (lambda: real("adult", "linear"), {}),
    "adult, boosted": (lambda: real("adult", "boosted"), {}),
    "framingham, linear": (lambda: real("framingham", "linear"), {}),
    "german, linear": (lambda: real("german", "linear"), {}),
}


@cache
def population(name: str) -> Tables:
    """Build a population once in each process."""
    return POPULATIONS[name][0]()


def draw(people: Tables, rows: int, rng: np.random.Generator) -> Tables:
    """Draw rows with replacement."""
    parts = [mass for table in people.values() for mass in (table.positive, table.negative)]
    chance = np.concatenate(parts)
    counts = np.split(rng.multinomial(rows, chance / chance.sum()), np.cumsum([part.size for part in parts])[:-1])
    return Tables(
        {
            group: ScoreTable.from_masses(table.score, counts[2 * number], counts[2 * number + 1])
            for number, (group, table) in enumerate(people.items())
        }
    )


def covered(name: str, rows: int, draws: int, seed: int) -> dict[str, Any]:
    """Compare what is said of a map with what it does to the population."""
    people, settings = population(name), RepairSettings(**POPULATIONS[name][1])
    rng = np.random.default_rng([seed, rows, list(POPULATIONS).index(name)])
    found: list[tuple[Any, ...]] = []
    while len(found) < draws:
        tables = draw(people, rows, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", XorderWarning)
            try:
                repair = learn_repair(tables, settings)
                expected = expected_gap_tables(repair, tables)
            except InputError:
                # A limit at every cut that the sample does not allow.
                continue
        repaired: list[Hashable] = [group for group in tables if group not in repair.left]
        if len(repaired) < 2:
            continue
        truth = measure(mapped(people, repair.maps), settings.metric)
        gaps = [expected.gap(pair) for pair in combinations(repaired, 2)]
        low, high = expected.after.auc_interval
        found.append(
            (
                bool(repair.moved),
                np.mean([gap.interval[0] <= truth.gap(gap.pair) <= gap.interval[1] for gap in gaps]),
                low <= truth.auc <= high,
                np.mean([gap.value - truth.gap(gap.pair) for gap in gaps]),
                expected.after.auc - truth.auc,
            )
        )
    columns = np.array(found, dtype=float)
    moved = columns[:, 0] == 1

    def share(column: int, some: Any) -> float | None:
        return round(float(columns[some, column].mean()), 4) if some.sum() > draws / 20 else None

    every = np.ones(len(columns), dtype=bool)
    return {
        "gap": share(1, every),
        "auc": share(2, every),
        "repaired": share(0, every),
        "gap, where repaired": share(1, moved),
        "gap, where left alone": share(1, ~moved),
        "gap: mean error": share(3, every),
        "auc: mean error": share(4, every),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="settings whose name begins so")
    options = parser.parse_args()
    names = [name for name in POPULATIONS if name.startswith(options.only)]
    with ProcessPoolExecutor(2) as pool:
        jobs = {
            (name, rows): pool.submit(covered, name, rows, options.draws, options.seed)
            for name in names
            for rows in SIZES
        }
        found: dict[str, dict[str, Any]] = {}
        for (name, rows), job in jobs.items():
            found.setdefault(name, {})[f"{rows:,} rows"] = job.result()
            print(name, rows, job.result(), file=sys.stderr)
    print(json.dumps(found, indent=1))
    wrong = [
        f"{name}, {rows}, {what}: {shares[what]}"
        for name, sizes in found.items()
        if name not in MORE_NUMBERS
        for rows, shares in sizes.items()
        for what in ("gap", "auc")
        if not LIMITS[0] <= shares[what] <= LIMITS[1]
    ]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

"""Which model should score new people after a cross-fitted repair: one fitted to all rows, or those of the folds?

``python -m experiments.cross_fitting OUT.json`` measures on random 70/30 splits of three open data sets, with boosted
and linear models, at 1,000 training rows and at full size; it prints the table of docs/design/cross-fitting.md.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from xorder import FairRanker, XOrder, audit
from xorder.datasets import load_compas, load_framingham, load_german
from xorder.exceptions import XorderWarning

LOADERS = {"framingham": load_framingham, "german": load_german, "compas": load_compas}
MODELS = {
    "boosting": HistGradientBoostingClassifier(random_state=0),
    "forest": RandomForestClassifier(100, min_samples_leaf=5, random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
}
SMALL = 1000
SPLITS = 10
WAYS = ("unadjusted", "in-sample", "refit", "mean, then map", "map, then mean")


def one_split(problem: Any, model: Any, train: Any, test: Any) -> dict[str, Any]:
    """Held-out AUC and signed xAUC gap of each way, and what the training rows had led to expect."""
    X, y, group = problem.X.to_numpy(), problem.y, problem.sensitive_features
    ranker = FairRanker(model, repair=XOrder(method="frontier"), final_model="folds")
    ranker.fit(X[train], y[train], sensitive_features=group[train])
    refitted = clone(model).fit(X[train], y[train])
    own, new = (refitted.predict_proba(X[rows])[:, 1] for rows in (train, test))
    in_sample = XOrder(method="frontier").fit(own, y[train], sensitive_features=group[train])
    of_folds = [fitted.predict_proba(X[test])[:, 1] for fitted in ranker.estimators_]

    def repaired(score: Any) -> Any:
        return ranker.repair_.transform(score, sensitive_features=group[test])

    scores = {
        "unadjusted": new,
        "in-sample": in_sample.transform(new, sensitive_features=group[test]),
        "refit": repaired(new),
        "mean, then map": repaired(np.mean(of_folds, axis=0)),
        "map, then mean": np.mean([repaired(score) for score in of_folds], axis=0),
    }
    found: dict[str, Any] = {}
    for way, score in scores.items():
        judged = audit(y[test], score, sensitive_features=group[test])
        gap = judged.gap("xauc")
        found[way] = {"auc": judged.auc, "gap": gap.value, "stderr": gap.stderr}
    gap = ranker.expected_.gap()
    found["expected"] = {
        "auc": ranker.expected_.after.auc,
        "gap": gap.value,
        "stderr": gap.stderr,
        "likely": ranker.expected_.likely_gap,
    }
    return found


def measure() -> list[dict[str, Any]]:
    """Run all data sets, models and sizes."""
    cells = []
    for name, load in LOADERS.items():
        problem = load(splits=SPLITS)
        for kind, model in MODELS.items():
            for small in (True, False):
                if small and len(problem.splits[0].train) <= SMALL:
                    continue
                runs = []
                for seed, split in enumerate(problem.splits):
                    train = np.random.default_rng(seed).permutation(split.train)[: SMALL if small else None]
                    runs.append(one_split(problem, model, train, split.test))
                cells.append({"data": name, "model": kind, "rows": len(train), "runs": runs})
                print(table_row(cells[-1]), flush=True)
    return cells


def table_row(cell: dict[str, Any]) -> str:
    """One line of the table: AUC / |gap| of each way, what folds gain over refit in AUC - |gap|, what was expected."""
    runs = cell["runs"]
    columns = [f"{cell['data']}, {cell['model']}, {cell['rows']:,}"]
    for way in WAYS:
        auc, gap = (np.mean([abs(run[way][what]) for run in runs]) for what in ("auc", "gap"))
        columns.append(f"{auc:.3f} / {gap:.3f}")
    worth = {way: np.array([run[way]["auc"] - abs(run[way]["gap"]) for run in runs]) for way in WAYS}
    for way in WAYS[3:]:
        better = worth[way] - worth["refit"]
        columns.append(f"{better.mean():+.4f} ± {better.std(ddof=1) / np.sqrt(len(runs)):.4f}")
    expected, seen = [run["expected"] for run in runs], [run["map, then mean"] for run in runs]
    away = [
        abs(new["gap"] - told["gap"]) <= 1.96 * np.hypot(new["stderr"], told["stderr"])
        for told, new in zip(expected, seen, strict=True)
    ]
    columns.append(
        f"{np.mean([told['auc'] for told in expected]):.3f} / {np.mean([t['likely'] for t in expected]):.3f}"
    )
    columns.append(f"{sum(away)} of {len(away)}")
    return "| " + " | ".join(columns) + " |"


def main() -> None:
    """Measure, write everything to the file named, and print the table."""
    warnings.simplefilter("ignore", XorderWarning)
    Path(sys.argv[1]).write_text(json.dumps(measure(), indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

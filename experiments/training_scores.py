"""May a repair be fitted to a model's own training scores? Held-out AUC and |dxAUC|, on repeated random splits.

    python -m experiments.training_scores run [--splits 10] [--only compas:boosted:1000]
    python -m experiments.training_scores tables

Each map is fitted to the model's own training scores ("in", as in the paper) and to out-of-fold scores ("out"); both
are applied to the scores of a model fitted to all training rows. ``FairRanker`` is the default of the package; the
committed results are of the day when that was the logistic fit. Two simulated scores, of no gap and of a small one,
show what a repair does where there is little to repair. ``run`` appends one line per split to
``experiments/results/generalisation.jsonl`` and goes on where it stopped; ``tables`` reads that file only.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score

from experiments.candidates import CANDIDATES, applied, tables_of_rows
from experiments.generalisation import LOADERS, MODELS, simulated_rows
from experiments.repair_tables import paired
from xorder import FairRanker
from xorder.datasets import Problem
from xorder.metrics import xauc_difference

RESULTS = Path(__file__).parent / "results" / "generalisation.jsonl"

# Rows to train on; all of the training part, or so many of them.
SIZES = ("full", "1000")

SHOWN = ["unadjusted", "in, dp", "in, frontier", *(f"out, {name}" for name in CANDIDATES), "FairRanker"]

# How much lower the score reads the second group, on the logit scale; .085 makes an xAUC gap of about .025.
SIMULATED = {"no gap": 0.0, "small gap": 0.085}
SIMULATIONS = 100


def cells() -> list[tuple[str, str, str]]:
    """Data, model and size; the training part of German has 700 rows, so it has one size."""
    return [cell for cell in product(LOADERS, MODELS, SIZES) if cell[::2] != ("german", "1000")]


def run_split(problem: Problem, model: str, size: str, number: int) -> dict[str, Any]:
    """Train, score and repair on one split."""
    train, test = problem.splits[number]
    if size != "full":
        train = np.random.default_rng(number).choice(train, int(size), replace=False)
    X, y, groups = problem.X.to_numpy(), problem.y, problem.sensitive_features
    fitted = MODELS[model]().fit(X[train], y[train])
    new = fitted.predict_proba(X[test])[:, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = FairRanker(MODELS[model](), random_state=number)
        ranker.fit(X[train], y[train], sensitive_features=groups[train])
        ranked = ranker.predict_proba(X[test], sensitive_features=groups[test])[:, 1]
    learnt_on = {"in": fitted.predict_proba(X[train])[:, 1], "out": ranker.out_of_fold_}
    held_out = _held_out(learnt_on, y[train], groups[train], new, y[test], groups[test])
    held_out["FairRanker"] = _figures(y[test], ranked, groups[test])
    return {"data": problem.name, "model": model, "size": size, "split": number, "held_out": held_out}


def run_simulated(name: str, number: int) -> dict[str, Any]:
    """Repair a score that no model was trained for: 1,000 people to learn from, 1,000 new ones."""
    (score, y, groups), (new, new_y, new_groups) = (
        simulated_rows(SIMULATED[name], 1000, seed) for seed in (number, SIMULATIONS + number)
    )
    held_out = _held_out({"out": score}, y, groups, new, new_y, new_groups)
    # No model has seen these people: there is no other score to learn on.
    held_out |= {method.replace("out", "in"): figures for method, figures in held_out.items()}
    held_out["FairRanker"] = held_out["out, logistic, no harm"]
    return {"data": name, "model": "simulated", "size": "1000", "split": number, "held_out": held_out}


def _held_out(
    learnt_on: dict[str, Any], y: Any, groups: Any, new: Any, new_y: Any, new_groups: Any
) -> dict[str, list[float]]:
    """AUC and gap of the new people, with each repair learnt on each kind of score."""
    figures = {"unadjusted": _figures(new_y, new, new_groups)}
    for (where, score), (name, candidate) in product(learnt_on.items(), CANDIDATES.items()):
        maps = candidate(tables_of_rows(score, y, groups))
        figures[f"{where}, {name}"] = _figures(new_y, applied(maps, new, new_groups), new_groups)
    return figures


def _figures(y: Any, score: Any, groups: Any) -> list[float]:
    gap = abs(xauc_difference(y, score, sensitive_features=groups))
    return [round(float(roc_auc_score(y, score)), 6), round(gap, 6)]


def run(splits: int, only: str | None) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    done = {(row["data"], row["model"], row["size"], row["split"]) for row in read()}
    for data, model, size in cells():
        numbers = [number for number in range(splits) if (data, model, size, number) not in done]
        if not numbers or (only and only != f"{data}:{model}:{size}"):
            continue
        problem = LOADERS[data](splits=splits)
        rows = Parallel(n_jobs=2)(delayed(run_split)(problem, model, size, number) for number in numbers)
        _append(rows)
        print(f"{data} {model} {size}: {len(rows)} splits", file=sys.stderr, flush=True)
    for name in SIMULATED:
        if not only and (name, "simulated", "1000", 0) not in done:
            _append(Parallel(n_jobs=2)(delayed(run_simulated)(name, number) for number in range(SIMULATIONS)))


def _append(rows: Iterable[dict[str, Any]]) -> None:
    lines = [json.dumps(row) + "\n" for row in rows]
    with RESULTS.open("a", encoding="utf-8") as file:
        file.writelines(lines)


def read() -> list[dict[str, Any]]:
    """Return all results so far."""
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()] if RESULTS.exists() else []


def table(rows: list[dict[str, Any]]) -> str:
    """Mean held-out AUC / |dxAUC|; in brackets AUC - |dxAUC| less that of the paper's procedure, with paired error."""
    lines = ["| data, model, rows | " + " | ".join(SHOWN) + " |", "|---" * (len(SHOWN) + 1) + "|"]
    for (data, model, size), found in _by_cell(rows):
        cell = []
        for method in SHOWN:
            auc, gap = np.mean([split[method] for split in found], axis=0)
            mean, error = paired([np.subtract(*split[method]) - np.subtract(*split["in, dp"]) for split in found])
            cell.append(f"{auc:.3f}/{gap:.3f} ({mean:+.3f} ± {error:.3f})")
        lines.append(f"| {data}, {model}, {size} | " + " | ".join(cell) + " |")
    return "\n".join(lines)


def harm(rows: list[dict[str, Any]]) -> str:
    """Held-out |dxAUC| less the unadjusted one, with paired error, of the full repair and of the default."""
    methods = ("out, logistic", "out, logistic, no harm", "FairRanker")
    lines = ["| data, model, rows | unadjusted | " + " | ".join(methods) + " |", "|---" * (len(methods) + 2) + "|"]
    for (data, model, size), found in _by_cell(rows):
        cell = [f"{np.mean([split['unadjusted'][1] for split in found]):.4f}"]
        for method in methods:
            mean, error = paired([split[method][1] - split["unadjusted"][1] for split in found])
            cell.append(f"{mean:+.4f} ± {error:.4f}")
        lines.append(f"| {data}, {model}, {size} | " + " | ".join(cell) + " |")
    return "\n".join(lines)


def _by_cell(rows: list[dict[str, Any]]) -> list[tuple[tuple[str, str, str], list[dict[str, list[float]]]]]:
    order = [*cells(), *((name, "simulated", "1000") for name in SIMULATED)]
    found = [
        (cell, [row["held_out"] for row in rows if (row["data"], row["model"], row["size"]) == cell]) for cell in order
    ]
    return [(cell, splits) for cell, splits in found if splits]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "tables"))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--only", metavar="DATA:MODEL:SIZE")
    options = parser.parse_args()
    if options.what == "run":
        run(options.splits, options.only)
    else:
        print(f"{table(read())}\n\n{harm(read())}")


if __name__ == "__main__":
    main()

"""Which repair holds on new people? Every candidate, with and without care, on repeated random splits.

    python -m experiments.generalisation run --scores DIR [--only compas:boosted:1000] [--jobs 2]
    python -m experiments.generalisation tables [--page]

Maps are fitted to out-of-fold scores and applied to the scores that a model of all training rows gives the test part.
Making these scores takes hours, so each split's are kept in DIR and read from there the next time; the rest takes
minutes. Simulated scores with no gap, a small and a clear one show what a repair does where no model is in the way.
``run`` adds what is missing to ``experiments/results/repairs.jsonl.gz``; ``tables`` reads that file only, and with
``--page`` puts the tables into ``docs/generalisation.md``. Whether to fit to out-of-fold scores at all is the question
of ``experiments/training_scores.py``.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments import repair_tables
from experiments.candidates import REPAIRS, SMOOTH, Candidate, applied, roles, tables_of_rows
from experiments.measures import CutList
from experiments.store import Row, pack
from xorder import FairRanker
from xorder.datasets import Problem, load_adult, load_compas, load_framingham, load_german
from xorder.models import RankBoost
from xorder.ordering import as_scored

LOADERS = {"german": load_german, "framingham": load_framingham, "compas": load_compas, "adult": load_adult}
MODELS = {
    "linear": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "boosted": lambda: HistGradientBoostingClassifier(random_state=0),
    "RankBoost": lambda: RankBoost(),
}
# Rows to train on: all of the training part, or so many of them.
SIZES = {
    "german": ("full", "400"),
    "framingham": ("full", "1000", "400"),
    "compas": ("full", "3000", "1000", "400"),
    "adult": ("full", "10000", "3000", "1000", "400"),
}
CELLS = [(data, model, size) for data in LOADERS for model in MODELS for size in SIZES[data]]
SPLITS = 10

# How much lower the score reads the second group, on the logit scale: an xAUC gap of about 0, .025 and .09.
SIMULATED = {"no gap": 0.0, "small gap": 0.085, "clear gap": 0.3}
SIMULATED_SIZES = ("300", "1000", "3000")
DRAWS = 200
NEW_ROWS = 2000

TOPS = (0.01, 0.05, 0.1, 0.2)

Rows = dict[str, Any]
"""Scores, labels and groups of the rows a repair is fitted to (oof, y, g) and of new ones (new, ny, ng)."""


def measures(y: Any, score: Any, groups: Any, moved: Any) -> list[float]:
    """AUC, |gap|, worst cut, |cut gap| at 5 and 20 %, and the moved group's share of the top 1, 5, 10 and 20 %."""
    cuts = CutList(y, score, groups == moved)
    auc, gap = as_scored(*tables_of_rows(score, y, groups).values(), "xauc")
    figures = [auc, abs(gap), cuts.worst(), *cuts.gap([0.05, 0.2]), *cuts.share_of_top(TOPS)]
    return [round(float(figure), 4) for figure in figures]


def held_out(rows: Rows, repairs: Mapping[str, Candidate] = REPAIRS) -> dict[str, list[float]]:
    """Measures of the new rows as they are and with each repair; the moved group is the one that loses out of fold."""
    tables = tables_of_rows(rows["oof"], rows["y"], rows["g"])
    _, moved = roles(tables)
    found = {"unadjusted": measures(rows["ny"], rows["new"], rows["ng"], moved)}
    for name, candidate in repairs.items():
        adjusted = applied(candidate(tables), rows["new"], rows["ng"])
        found[name] = measures(rows["ny"], adjusted, rows["ng"], moved)
    return found


def split_row(cell: tuple[str, str, str], number: int, rows: Rows) -> Row:
    """One line of the results: what is known of one split."""
    data, model, size = cell
    _, moved = roles(tables_of_rows(rows["oof"], rows["y"], rows["g"]))
    is_moved = rows["ng"] == moved
    few = min(np.sum((rows["g"] == group) & (rows["y"] == label)) for group in np.unique(rows["g"]) for label in (0, 1))
    return {
        "data": data,
        "model": model,
        "size": size,
        "split": number,
        "fewest": int(few),
        "moved": str(moved),
        "moved_share": round(float(is_moved.mean()), 4),
        "moved_share_of_positives": round(float(is_moved[rows["ny"] == 1].mean()), 4),
        "held_out": held_out(rows),
    }


def scores_of_split(problem: Problem, cell: tuple[str, str, str], number: int, path: Path) -> None:
    """Train, and write out-of-fold scores of the training rows and scores of the test rows."""
    _, model, size = cell
    train, test = problem.splits[number]
    if size != "full":
        train = np.random.default_rng(number).choice(train, int(size), replace=False)
    X, y, groups = problem.X.to_numpy(), problem.y, np.asarray(problem.sensitive_features).astype(str)
    new = MODELS[model]().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = FairRanker(MODELS[model](), random_state=number)
        ranker.fit(X[train], y[train], sensitive_features=groups[train])
    np.savez(path, oof=ranker.out_of_fold_, y=y[train], g=groups[train], new=new, ny=y[test], ng=groups[test])


def simulate(lower: float, rows: int, number: int) -> Rows:
    """Rows to fit to, and new ones of the same kind."""
    fitted_to, new = simulated_rows(lower, rows, number), simulated_rows(lower, NEW_ROWS, 10**6 + number)
    return dict(zip(("oof", "y", "g", "new", "ny", "ng"), (*fitted_to, *new), strict=True))


def simulated_rows(lower: float, rows: int, seed: int) -> tuple[Any, Any, Any]:
    """Scores, labels and groups, where the score reads the second group lower than it should."""
    rng = np.random.default_rng(seed)
    second = rng.random(rows) < 0.35
    risk = rng.normal(-0.8, 1.5, rows)
    y = (rng.random(rows) < 1 / (1 + np.exp(-risk))).astype(int)
    return 1 / (1 + np.exp(lower * second - risk - 0.8 * rng.normal(size=rows))), y, np.where(second, "B", "A")


def simulated_row(gap: str, size: str, jobs: int, draws: int = DRAWS) -> Row:
    """One line of the results: AUC, |gap| and worst cut of all draws of one kind, by repair."""
    kinds = Parallel(n_jobs=jobs)(
        delayed(held_out)(simulate(SIMULATED[gap], int(size), number), SMOOTH) for number in range(draws)
    )
    by_repair = {name: [draw[name][:3] for draw in kinds] for name in kinds[0]}
    return {"data": gap, "model": "simulated", "size": size, "held_out": by_repair}


def run(folder: Path, only: str | None, jobs: int) -> None:
    """Add all cells and simulations that are not there yet."""
    rows = repair_tables.read()
    done = {(row["data"], row["model"], row["size"]) for row in rows}
    wanted = [*CELLS, *((gap, "simulated", size) for gap in SIMULATED for size in SIMULATED_SIZES)]
    for cell in wanted:
        if cell in done or (only and only != ":".join(cell)):
            continue
        if cell[1] == "simulated":
            rows.append(simulated_row(cell[0], cell[2], jobs))
        else:
            rows += _run_cell(cell, folder, jobs)
        pack(rows, repair_tables.RESULTS)
        print(*cell, file=sys.stderr, flush=True)


def _run_cell(cell: tuple[str, str, str], folder: Path, jobs: int) -> list[Row]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{'-'.join(cell)}-{number}.npz" for number in range(SPLITS)]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    if missing:
        problem = LOADERS[cell[0]](splits=SPLITS)
        Parallel(n_jobs=jobs)(delayed(scores_of_split)(problem, cell, number, paths[number]) for number in missing)
    found: list[Row] = Parallel(n_jobs=jobs)(
        delayed(split_row)(cell, number, dict(np.load(path))) for number, path in enumerate(paths)
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "tables"))
    parser.add_argument("--scores", type=Path, metavar="DIR", help="folder of out-of-fold and test scores; for run")
    parser.add_argument("--only", metavar="DATA:MODEL:SIZE")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="put the tables into docs/generalisation.md")
    options = parser.parse_args()
    if options.what == "tables":
        repair_tables.show(in_page=options.page)
    elif options.scores is None:
        parser.error("run needs --scores DIR")
    else:
        run(options.scores, options.only, options.jobs)


if __name__ == "__main__":
    main()

"""A cell: one method with one parameter on one split. Running it gives one row of results, come what may."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.measures import CutList
from experiments.methods import Task
from experiments.registry import METHODS
from experiments.scores import problem_of, scores_of
from experiments.store import Row
from experiments.versions import VERSIONS
from xorder import audit
from xorder.exceptions import XorderWarning

_DIGITS = 7


class Cell(NamedTuple):
    """What is run; the fields are the key of its row."""

    data: str
    splits: str
    model: str
    method: str
    metric: str
    parameter: float | None
    split: int


def run_cell(cell: Cell, count: int, folder: Path) -> Row:
    """Run a cell; a failure is a row with its error, and the run goes on."""
    row: Row = {**cell._asdict(), "seed": cell.split, "versions": VERSIONS}
    try:
        return row | _measured(cell, count, folder)
    except Exception as error:
        return row | {"error": f"{type(error).__name__}: {error}"[:500]}


def prepare(kind: str, data: str, splits: str, count: int, model: str, split: int, folder: Path) -> None:
    """Compute scores that several cells share; if that fails, each of these cells will say so."""
    try:
        scores_of(folder, kind, data, splits, count, model, split)
    except Exception:
        return


def _measured(cell: Cell, count: int, folder: Path) -> Row:
    problem, X, _ = problem_of(cell.data, cell.splits, count)
    train, test = problem.splits[cell.split]
    y, groups = problem.y, problem.sensitive_features
    source = (cell.data, cell.splits, count, cell.model, cell.split)
    task = Task(
        metric=cell.metric,
        parameter=cell.parameter,
        seed=cell.split,
        X=X[train],
        y=y[train],
        groups=groups[train],
        X_new=X[test],
        groups_new=groups[test],
        base_scores=lambda: scores_of(folder, "base", *source),
        fold_scores=lambda: scores_of(folder, "folds", *source),
    )
    if METHODS[cell.method].uses_folds:
        task.fold_scores()
    else:
        # Loaded before the clock starts.
        _ = task.score, task.score_new
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        own, new = METHODS[cell.method].run(task)
        seconds = time.perf_counter() - start
    if cell.method == "unadjusted":
        seconds = task.base_scores().seconds
    row = _figures("train", y[train], own, groups[train]) | _figures("test", y[test], new, groups[test])
    notes = sorted({str(warning.message)[:160] for warning in caught if issubclass(warning.category, XorderWarning)})
    return (
        row
        | {"seconds": round(seconds, 4), "smallest": _smallest(y[test], groups[test])}
        | ({"notes": notes} if notes else {})
    )


def _figures(part: str, y: Any, score: Any, groups: Any) -> Row:
    """AUC and signed gaps, first group in sorted order minus the second; of the test part also errors and worst cut."""
    if not np.isfinite(score).all():
        raise ValueError(f"{np.sum(~np.isfinite(score))} scores of the {part} part are not finite")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XorderWarning)
        found = audit(y, score, sensitive_features=groups)
    gaps = {metric: found.gap(metric) for metric in ("xauc", "prf")}
    figures = {f"auc_{part}": found.auc, **{f"{metric}_{part}": gap.value for metric, gap in gaps.items()}}
    if part == "test":
        figures |= {f"{metric}_error": gap.stderr for metric, gap in gaps.items()}
        figures["cut_test"] = CutList(y, np.asarray(score), groups == min(groups)).worst()
    # JSON knows no NaN: what cannot be measured is null.
    return {name: round(float(value), _DIGITS) if np.isfinite(value) else None for name, value in figures.items()}


def _smallest(y: Any, groups: Any) -> int:
    """Rows of the rarest outcome in a group: what conclusions about gaps hang on."""
    return min(int(np.sum((groups == group) & (y == label))) for group in set(groups.tolist()) for label in (0, 1))

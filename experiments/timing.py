"""How long the solvers take: seconds of one core for the training scores of the linear scorer, at tradeoff 1 for xAUC.

Processor time is counted, not time on the wall, so that what else the machine does matters little.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.runner import one_thread
from experiments.scores import problem_of, scores_of
from xorder import ScoreTable, frontier, order

DATA = ("compas", "adult", "framingham", "german")
SPLITS = 10


def measure(runs: Path) -> None:
    """Write ``timing.json``: for each data set the seconds of each split."""
    with one_thread():
        found = {data: [_timed(runs, data, split) for split in range(SPLITS)] for data in DATA}
    (runs / "timing.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _timed(runs: Path, data: str, split: int) -> dict[str, Any]:
    problem, _, _ = problem_of(data, "stored", SPLITS)
    rows = problem.splits[split].train
    score = scores_of(runs / "scores", "base", data, "stored", SPLITS, "linear", split).train
    groups = problem.sensitive_features[rows]
    a, b = (
        ScoreTable.from_arrays(problem.y[rows][groups == name], score[groups == name]) for name in sorted(set(groups))
    )
    # Once for what is loaded or compiled at the first call.
    solvers: dict[str, Callable[[], Any]] = {
        "dp": lambda: order(a, b, metric="xauc", tradeoff=1.0, solver="dp"),
        "frontier": lambda: order(a, b, metric="xauc", tradeoff=1.0),
        "curve": lambda: frontier(a, b, metric="xauc"),
    }
    seconds = {}
    for name, solve in solvers.items():
        if split == 0:
            solve()
        start = time.process_time()
        solve()
        seconds[name] = round(time.process_time() - start, 5)
    return {"rows": [len(a), len(b)], **seconds}

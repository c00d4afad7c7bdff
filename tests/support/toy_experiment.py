"""A small simulated data set, and methods that nap, fail or kill their process, for tests of the runner."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import pandas as pd

from experiments.registry import DATASETS, METHODS, Data, Method
from xorder.datasets import Problem, Split

ROWS = 300


def load_toy(splits: Any) -> Problem:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(ROWS, 3))
    groups = np.where(rng.random(ROWS) < 0.4, "B", "A").astype(object)
    y = (X[:, 0] + 0.7 * (groups == "A") + rng.normal(size=ROWS) > 0.3).astype(np.int8)
    X[:, 1] += 0.8 * (groups == "A")
    count = 10 if splits == "stored" else splits
    orders = [np.random.default_rng(number).permutation(ROWS) for number in range(count)]
    parts = tuple(Split(order[90:], order[:90]) for order in orders)
    return Problem("toy", pd.DataFrame(X, columns=list("abc")), y, groups, "", "", "", splits=parts)


def nap(task: Any) -> tuple[Any, Any]:
    time.sleep(0.15)
    return task.score * task.parameter, task.score_new * task.parameter


def fail_on_the_first(task: Any) -> tuple[Any, Any]:
    # Works once the test says that what was wrong is mended.
    if task.seed == 0 and "TOY_MENDED" not in os.environ:
        raise ValueError("nothing to see here")
    return task.score, task.score_new


def die_on_the_first(task: Any) -> tuple[Any, Any]:
    if task.seed == 0:
        os._exit(3)
    return task.score, task.score_new


# Only where a run adds it: pytest imports this file too, to look for doctests.
if __name__.startswith("experiments_added"):
    DATASETS["toy"] = Data(load_toy)
    METHODS["nap"] = Method(nap, parameters=(1.0, 2.0, 3.0))
    METHODS["fails"] = Method(fail_on_the_first)
    METHODS["dies"] = Method(die_on_the_first)

"""Where real data are found: the folder XORDER_DATA names, or shared/data beside the checkout."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from support.needs import lacks
from xorder.datasets import Problem, load_adult, load_compas, load_framingham, load_german

BESIDE = Path(__file__).parents[3] / "shared" / "data"

# Tests that have asked for real data in this process; what a cache holds was asked for by the first of its users.
READERS: set[str] = set()

LOADERS = {"compas": load_compas, "adult": load_adult, "framingham": load_framingham, "german": load_german}


def data_file(name: str) -> Path:
    """Return the path of a data file, or skip the test and say what to set; fail where the data must be there."""
    path = Path(os.environ.get("XORDER_DATA") or BESIDE) / name
    if not path.exists():
        lacks("data", f"{name} is not here; XORDER_DATA may name the folder that holds it")
    READERS.add(os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0])
    return path


def data_home(name: str) -> Path:
    """Return the folder of data that has the stored splits, and so the raw file, of an open set."""
    return data_file(f"splits/{name}.npz").parents[1]


@cache
def stored_problem(name: str) -> Problem:
    """Return an open set with the paper's ten splits."""
    return LOADERS[name](data_home=data_home(name), splits="stored")


def training_scores(name: str, split: int = 0) -> tuple[Any, Any, Any]:
    """Scores of a logistic regression on the training part of a stored split, with labels and groups."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    problem = stored_problem(name)
    train = problem.splits[split].train
    inputs, y = problem.X.to_numpy()[train], problem.y[train] == 1
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(inputs, y)
    in_paper_group = problem.sensitive_features[train] == PAPER_GROUP[name]
    return model.predict_proba(inputs)[:, 1], y, in_paper_group


# The group that the paper calls a = 1.
PAPER_GROUP = {"compas": "not Caucasian", "adult": "not White", "framingham": "male", "german": "under 25"}

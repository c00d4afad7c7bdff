"""Where real data are found: the folder XORDER_DATA names, or shared/data beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BESIDE = Path(__file__).parents[2] / "shared" / "data"


def data_file(name: str) -> Path:
    """Return the path of a data file, or skip the test and say what to set."""
    path = Path(os.environ.get("XORDER_DATA") or BESIDE) / name
    if not path.exists():
        pytest.skip(f"{name} is not here; XORDER_DATA may name the folder that holds it")
    return path


# name -> file, label column and positive value, group column and value, other columns that are no inputs
PROBLEMS: dict[str, tuple[str, tuple[str, int], tuple[str, int], list[str]]] = {
    "compas": (
        "compas/propublica-recidivism_numerical-binsensitive.csv.gz",
        ("two_year_recid", 1),
        ("race", 0),
        ["sex-race", "race"],
    ),
    "adult": ("adult/adult_numerical-binsensitive.csv.gz", ("income-per-year", 1), ("race", 0), ["race"]),
    "framingham": ("framingham/framingham.csv", ("chdfate", 1), ("sex", 1), ["id"]),
    "german": ("german/german_numerical-binsensitive.csv", ("credit", 2), ("age", 0), ["sex-age", "age"]),
}


def training_scores(name: str, split: int = 0) -> tuple[Any, Any, Any]:
    """Scores of a logistic regression on the training part of a stored split, with labels and groups."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    path, (label, positive), (group, value), left_out = PROBLEMS[name]
    rows = pd.read_csv(data_file(path)).dropna().reset_index(drop=True)
    train = np.load(data_file(f"splits/{name}.npz"))[f"train_{split}"]
    inputs = rows.drop(columns=[label, *left_out]).to_numpy(dtype=float)[train]
    y = (rows[label] == positive).to_numpy()[train]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(inputs, y)
    return model.predict_proba(inputs)[:, 1], y, (rows[group] == value).to_numpy()[train]

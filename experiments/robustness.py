"""Do training and test scores differ in distribution? Histograms of one split, and a distance for each of ten."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ks_2samp

from experiments.scores import problem_of, scores_of

DATA = ("compas", "adult")
MODELS = ("linear", "rankboost", "boosting")
SPLITS = 10
BINS = 40


def measure(runs: Path) -> None:
    """Write ``distributions.json`` from the base scores that a run has kept, fitting what is missing."""
    found = {f"{data} {model}": _compared(runs, data, model) for data, model in product(DATA, MODELS)}
    (runs / "distributions.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _compared(runs: Path, data: str, model: str) -> dict[str, Any]:
    scores = [scores_of(runs / "scores", "base", data, "stored", SPLITS, model, split) for split in range(SPLITS)]
    edges = np.linspace(0.0, 1.0, BINS + 1)
    return {
        "edges": [round(float(edge), 4) for edge in edges],
        "train": _density(scores[0].train, edges),
        "test": _density(scores[0].test, edges),
        "distance": [round(float(ks_2samp(found.train, found.test).statistic), 4) for found in scores],
        "distance_of_positives": [
            _distance_of_positives(data, split, found.train, found.test) for split, found in enumerate(scores)
        ],
    }


def _density(score: Any, edges: Any) -> list[float]:
    return [round(float(value), 4) for value in np.histogram(score, edges, density=True)[0]]


def _distance_of_positives(data: str, split: int, own: Any, new: Any) -> float:
    """Of the positives alone: a model that knows its training rows by heart moves these apart, not the whole."""
    problem, _, _ = problem_of(data, "stored", SPLITS)
    parts = problem.splits[split]
    positives = [score[problem.y[rows] == 1] for score, rows in zip((own, new), parts, strict=True)]
    return round(float(ks_2samp(*positives).statistic), 4)

"""Scores of base models, computed once for each data set, model and split, and kept in a folder.

A file is named after what went into it: rows, labels, groups, split, model settings and versions. So a change of any of
these is a new file, never a stale one.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.methods import BaseScores, FoldScores
from experiments.registry import DATASETS, MODELS
from experiments.versions import VERSIONS
from xorder import FairRanker
from xorder.datasets import Problem, Split

KINDS: dict[str, type[BaseScores] | type[FoldScores]] = {"base": BaseScores, "folds": FoldScores}


@lru_cache(maxsize=4)
def problem_of(data: str, splits: str, count: int) -> tuple[Problem, Any, bytes]:
    """Return a data set with its first ``count`` splits, its inputs as an array, and a hash of its rows."""
    problem = DATASETS[data].load("stored" if splits == "stored" else count)
    X = np.ascontiguousarray(problem.X.to_numpy(dtype=np.float64))
    rows = hashlib.blake2b(X.tobytes(), digest_size=16)
    rows.update(np.ascontiguousarray(problem.y).tobytes())
    rows.update("\n".join(map(str, problem.sensitive_features)).encode())
    return problem, X, rows.digest()


def scores_of(folder: Path, kind: str, data: str, splits: str, count: int, model: str, split: int) -> Any:
    """Return scores from the folder, or fit the model and keep them there."""
    problem, X, rows = problem_of(data, splits, count)
    estimator, parts = MODELS[model].make(split), problem.splits[split]
    path = folder / f"{data}-{splits}-{model}-{split}-{kind}-{_name(rows, parts, estimator)}.npz"
    if not path.exists():
        with warnings.catch_warnings():
            # What a fit has to say, such as that FairRanker's groups are small, is no news for a base score.
            warnings.simplefilter("ignore")
            found = _COMPUTE[kind](estimator, X, problem.y, problem.sensitive_features, parts)
        _write(path, found._asdict())
    with np.load(path) as stored:
        train, test, seconds = (stored[name] for name in ("train", "test", "seconds"))
    return KINDS[kind](train, test, float(seconds))


def _base(estimator: Any, X: Any, y: Any, groups: Any, parts: Split) -> BaseScores:
    start = time.perf_counter()
    estimator.fit(X[parts.train], y[parts.train])
    scores = [_score(estimator, X[rows]) for rows in parts]
    return BaseScores(*scores, time.perf_counter() - start)


def _folds(estimator: Any, X: Any, y: Any, groups: Any, parts: Split) -> FoldScores:
    start = time.perf_counter()
    ranker = FairRanker(estimator)
    ranker.fit(X[parts.train], y[parts.train], sensitive_features=groups[parts.train])
    new = np.array([_score(model, X[parts.test]) for model in ranker.estimators_])
    return FoldScores(ranker.out_of_fold_, new, time.perf_counter() - start)


_COMPUTE: dict[str, Callable[..., BaseScores | FoldScores]] = {"base": _base, "folds": _folds}


def _score(model: Any, X: Any) -> Any:
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, 1]
    return model.decision_function(X)


def _name(rows: bytes, parts: Split, estimator: Any) -> str:
    digest = hashlib.blake2b(rows, digest_size=10)
    for part in parts:
        digest.update(np.asarray(part, dtype=np.int64).tobytes())
    for text in (_described(estimator), VERSIONS):
        digest.update(text.encode())
    return digest.hexdigest()


def _described(estimator: Any) -> str:
    """Type and settings; a default representation would name an address in memory."""
    settings = estimator.get_params() if hasattr(estimator, "get_params") else vars(estimator)
    return f"{type(estimator).__qualname__} {[(name, str(value)) for name, value in sorted(settings.items())]}"


def _write(path: Path, arrays: dict[str, Any]) -> None:
    """Write under another name and rename, so that a killed run leaves no half file under this one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

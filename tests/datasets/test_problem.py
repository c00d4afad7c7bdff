"""A problem keeps its labels and groups, and leaves alone the arrays it was made from."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest

from xorder.datasets import Problem


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.array([0, 1, 1], dtype=np.int8), np.array(["a", "b", "b"], dtype=object)


@pytest.fixture
def problem(arrays: tuple[np.ndarray, np.ndarray]) -> Problem:
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    return Problem("some", X, *arrays, description="three rows", source="here", licence="none")


def test_labels_and_groups_cannot_be_written_to(problem: Problem) -> None:
    for array in (problem.y, problem.sensitive_features, replace(problem, name="other").y):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(FrozenInstanceError):
        problem.y = problem.y[:1]  # type: ignore[misc]
    assert problem.y[[0, 1]].flags.writeable
    problem.X.loc[0, "x"] = 5.0


def test_what_it_was_made_from_can(problem: Problem, arrays: tuple[np.ndarray, np.ndarray]) -> None:
    assert all(array.flags.writeable for array in arrays)


def test_words_and_copies(problem: Problem) -> None:
    assert repr(problem) == "<some: 3 rows x 1 inputs; 2 positive; 1 a, 2 b>"
    copy = pickle.loads(pickle.dumps(problem))
    assert copy.y.tolist() == [0, 1, 1]
    assert copy.sensitive_features.tolist() == ["a", "b", "b"]

"""Means over the training rows fill what is missing; what is no frame, and what are no rows, is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from xorder.datasets import impute_mean
from xorder.exceptions import InputError

NAN = np.nan
FRAME = pd.DataFrame({"a": [1.0, NAN, 5.0, NAN], "b": [NAN, NAN, NAN, 7.0]}, index=[9, 8, 7, 6])


@pytest.mark.parametrize("rows", [[0, 2], (2, 0), np.array([0, 2, 1], dtype=np.uint8), range(3), pd.Series([0, 1, 2])])
def test_means_over_training_rows(rows: Any) -> None:
    before = FRAME.copy()
    filled = impute_mean(FRAME, rows)
    expected = pd.DataFrame({"a": [1.0, 3.0, 5.0, 3.0], "b": [0.0, 0.0, 0.0, 7.0]}, index=FRAME.index)
    pd.testing.assert_frame_equal(filled, expected)
    pd.testing.assert_frame_equal(FRAME, before)


@pytest.mark.parametrize("X", [FRAME.to_numpy(), FRAME.to_numpy().tolist(), FRAME["a"], None])
def test_what_is_no_frame(X: Any) -> None:
    with pytest.raises(InputError) as caught:
        impute_mean(X, [0])
    assert str(caught.value).startswith(f"X must be a pandas DataFrame, such as problem.X; got {type(X).__name__}.")
    assert "SimpleImputer" in str(caught.value)


@pytest.mark.parametrize(
    "rows", [[], [4], [-1], [0.0], [True, False, True, False], [[0, 1]], [[0], [1, 2]], "mean", None, 3, np.arange(999)]
)
def test_what_are_no_rows(rows: Any) -> None:
    with pytest.raises(InputError) as caught:
        impute_mean(FRAME, rows)
    message = str(caught.value)
    assert message.startswith("training_rows must be numbers of training rows, at least one, each from 0 to 3; got ")
    assert len(message) < 300
    assert "\n" not in message

"""Checks of parameters: what passes, and what a message says of the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xorder._parameters import check_number, check_whole, check_word
from xorder.exceptions import InputError


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.float64(0.5)])
def test_numbers_pass_as_floats(value: Any) -> None:
    assert check_number("rate", value, above=0) == 0.5
    assert type(check_number("rate", value)) is float
    assert type(check_whole("steps", np.int64(3))) is int
    assert check_number("share", 0, at_least=0, at_most=1) == 0.0
    assert check_number("share", 1, at_least=0, at_most=1) == 1.0


@pytest.mark.parametrize(
    ("bounds", "wrong", "must"),
    [
        ({}, ("1", None, True, float("nan"), float("inf"), 1j), "a finite number"),
        ({"above": 0}, (0, -1, float("inf"), False), "a finite number above 0"),
        ({"at_least": 0}, (-0.1, float("nan")), "a finite number from 0 up"),
        ({"at_least": 0, "at_most": 1}, (-0.1, 1.1, "0.5"), "a number from 0 to 1"),
        ({"otherwise": "'search'"}, ("find",), "a finite number or 'search'"),
    ],
)
def test_other_numbers_are_refused(bounds: dict[str, Any], wrong: tuple[Any, ...], must: str) -> None:
    for value in wrong:
        with pytest.raises(InputError) as error:
            check_number("rate", value, **bounds)
        assert str(error.value) == f"rate must be {must}; got {value!r}."


def test_other_whole_numbers_and_words_are_refused() -> None:
    for value in (0, 2.0, "3", True, None):
        with pytest.raises(InputError) as error:
            check_whole("steps", value)
        assert str(error.value) == f"steps must be a whole number from 1 up; got {value!r}."
    assert check_whole("steps", 0, at_least=0) == 0
    assert check_word("metric", "prf", {"xauc": 1, "prf": 2}) == "prf"
    for value in ("auc", None, ["prf"]):
        with pytest.raises(InputError) as error:
            check_word("metric", value, ("xauc", "prf"))
        assert str(error.value) == f"metric must be one of xauc, prf; got {value!r}."

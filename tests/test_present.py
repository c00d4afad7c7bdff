"""Numbers and names as people read them: fixed digits, no minus before nothing, and no two groups alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xorder import _present as present


@given(value=st.floats(-2, 2), digits=st.integers(0, 6))
def test_a_number_has_its_digits_and_nothing_has_no_minus(value: float, digits: int) -> None:
    for text in (present.number(value, digits), present.signed(value, digits)):
        assert abs(float(text) - value) <= 0.5000001 * 10.0**-digits
        assert float(text) != 0 or "-" not in text
    assert present.signed(value, digits)[0] in "+-"


@pytest.mark.parametrize("value", [None, np.nan, np.inf])
def test_what_is_not_known_is_called_so(value: float | None) -> None:
    for write in (present.number, present.signed, present.percent, present.pvalue_text, present.count):
        assert write(value) == "not known"
    assert present.interval_text([value, 0.1]) == "not known"
    assert present.known(value) is None


@pytest.mark.parametrize(("p", "text"), [(0.0, "< 0.0001"), (0.00009, "< 0.0001"), (0.0001, "0.0001"), (1.0, "1.0000")])
def test_p_values(p: float, text: str) -> None:
    assert present.pvalue_text(p) == text


@given(
    labels=st.lists(st.text(max_size=50) | st.integers(0, 9), min_size=1, max_size=8, unique_by=lambda g: (type(g), g))
)
def test_names_are_short_one_line_and_distinct(labels: list[object]) -> None:
    names = present.group_names(labels, 12)
    assert len({*names}) == len(labels)
    for name in names:
        assert name
        assert "\n" not in name
        assert len(name) <= 12 + len(f" ({len(labels)})")


def test_a_number_behind_a_name_is_not_that_of_another_group() -> None:
    assert present.group_names(["a", "a ", "a (1)"]) == ["a (2)", "a (3)", "a (1)"]


def test_pictures_are_as_wide_as_two_letters() -> None:
    assert present.shortened("😀" * 2500, 9) == "😀" * 4 + "…"
    assert present.shortened("\u202egnirts\x00 ", 9) == "gnirts"

"""Any label becomes a name that can be drawn as it is read."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from xorder.plotting._names import LONGEST, group_names, named


def shown(text: str) -> str:
    """What a text shows on the page: it must not be read as a formula, and the font must have its signs."""
    figure = Figure(figsize=(4, 1))
    drawn = figure.text(0, 0.5, text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    content, is_math = drawn._preprocess_math(text)
    assert is_math is False
    return content


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("under $50k to $80k", "under $50k to $80k"),
        (r"$\frac{1}{0}$", r"$\frac{1}{0}$"),
        ("<b>x & y</b>", "<b>x & y</b>"),
        ("two\nlines\tand  more", "two lines and more"),
        ("\u202ereversed\u200b\x00", "reversed"),
        ("🔥", "[fire]"),
        ("家", "□"),
        ("Ñandú, Łódź, Ωμέγα", "Ñandú, Łódź, Ωμέγα"),
        ("", "(no name)"),
        ("   ", "(no name)"),
        (3, "3"),
        (True, "True"),
        (2.5, "2.5"),
        (("a", 1), "('a', 1)"),
    ],
)
def test_labels_are_shown_as_they_are_read(label: object, expected: str) -> None:
    (name,) = group_names([label])
    assert shown(name) == expected


def test_a_leading_underscore_does_not_hide_a_line() -> None:
    (name,) = group_names(["_hidden"])
    assert not name.startswith("_")
    assert name.strip() == "_hidden"


def test_long_names_keep_both_ends_and_stay_apart() -> None:
    labels = [f"{'Asian or Pacific Islander and '}{sex} over {age}" for sex in ("women", "men") for age in (65, 75)]
    names = group_names(labels, longest=32)
    assert all(len(name) <= 32 for name in names)
    assert all(name.startswith("Asian or") for name in names)
    assert names[1].endswith("women over 75")
    assert len(set(names)) == 4
    alike = group_names(["x" * 40 + middle + "y" * 40 for middle in "abc"])
    assert len(set(alike)) == 3
    assert alike[2].endswith("(3)")


def test_ten_thousand_emoji_are_a_short_name() -> None:
    (name,) = group_names(["🔥" * 10_000])
    assert len(name) <= LONGEST


@settings(max_examples=60)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=4, unique=True))
def test_whatever_the_labels_their_names_can_be_drawn_and_told_apart(labels: list[str]) -> None:
    names = group_names(labels)
    assert len(set(names)) == len(labels)
    for name in names:
        assert shown(name)
        assert "\n" not in name


def test_a_title_names_the_score_if_it_has_a_name() -> None:
    assert named(None) == named("") == ""
    assert shown(named("model_1 ($x$)")) == ", model_1 ($x$)"

"""Lines can be told apart by everyone and in grey; axes are counted; any label can be drawn as read."""

from __future__ import annotations

import re
import warnings
from importlib.resources import files
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from support.effort import draws
from xorder.exceptions import InputError
from xorder.plotting._style import DARK, LIGHT, Display, Ink, group_names, ink_of, line_style, luminance, named

# Linear light as people who lack one kind of cone see it (Viénot, Brettel and Mollon 1999).
SEEN = {
    "protan": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "deutan": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
    "all cones": np.eye(3),
    "grey": np.tile([0.2126, 0.7152, 0.0722], (3, 1)),
}


def lab(colour: str, seen: str) -> np.ndarray:
    """Colour as L*, a*, b*, in which distances are as large as they look."""
    part = np.array(to_rgb(colour))
    light = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    light = np.clip(SEEN[seen] @ light, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ light
    x, y, z = np.cbrt(xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("ink", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("seen", SEEN)
def test_all_looks_differ_in_colour_or_dashes_for_everyone(seen: str, ink: Ink) -> None:
    styles = [line_style(number, ink) for number in range(12)]
    for one, other in combinations(styles, 2):
        apart = np.linalg.norm(lab(one["color"], seen) - lab(other["color"], seen))
        assert one["linestyle"] != other["linestyle"] or apart > 12


@pytest.mark.parametrize("ink", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stand_out_from_what_they_are_drawn_on(ink: Ink) -> None:
    for paper in (ink.paper, "#ffffff" if ink is LIGHT else "#000000"):
        for colour in (*ink.groups, ink.accent, ink.muted, ink.text):
            low, high = sorted(luminance(to_rgb(each)) for each in (paper, colour))
            assert (high + 0.05) / (low + 0.05) >= 3


def test_looks_are_those_of_the_page() -> None:
    style = (files("xorder") / "reporting" / "page.css").read_text("utf-8")
    plain = style.split("@media")[0]
    for number, colour in enumerate(LIGHT.groups):
        assert f"--g{number}: {colour};" in plain
        assert f"--g{number}: {DARK.groups[number]};" in style
        # The page names the groups that have dashes; one pattern in four is a plain line.
        dashes = re.search(rf"^[^\n{{]*\.g{number}\b[^\n{{]*{{ stroke-dasharray", style, re.M)
        assert (dashes is None) == (line_style(number)["linestyle"] == "-")
    assert LIGHT.groups != DARK.groups


def test_the_background_decides_on_the_colours() -> None:
    figure, ax = pyplot.subplots()
    assert ink_of(ax) is LIGHT
    ax.set_facecolor("#111")
    assert ink_of(ax) is DARK
    ax.set_facecolor("none")
    assert ink_of(ax) is LIGHT
    figure.set_facecolor("black")
    assert ink_of(ax) is DARK
    figure.set_facecolor("none")
    assert ink_of(ax) is LIGHT
    with pyplot.style.context("dark_background"):
        assert ink_of(pyplot.subplots()[1]) is DARK


def test_axes_may_come_as_one_as_a_list_or_as_an_array() -> None:
    figure, axes = pyplot.subplots(2, 2)
    display = type("It", (Display,), {})()
    for given_axes in (axes, axes.ravel(), list(axes.ravel()), [list(row) for row in axes]):
        assert display._axes(given_axes, (2, 2), (1, 1)) == list(axes.ravel())
        assert display.figure_ is figure
    with pytest.raises(InputError, match=r"It needs one axis to draw into; got 4. Pass one axis, or leave ax out"):
        display._axes(axes, (1, 1), (1, 1))
    with pytest.raises(
        InputError, match=r"It needs 2 axes to draw into, so; got 3. Pass those of plt.subplots\(1, 2\)"
    ):
        display._axes(axes.ravel()[:3], (1, 2), (1, 1), ", so")
    with pytest.raises(InputError, match="ax must be a matplotlib axis or an array of them; got Figure"):
        display._axes(figure, (1, 1), (1, 1))


def shown(text: str) -> str:
    """What a text shows on the page: it must not be read as a formula, and the font must have its characters."""
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
        ("", "(empty)"),
        ("   ", "(empty)"),
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


def test_long_names_are_wrapped_and_none_is_cut() -> None:
    labels = [f"{'Asian or Pacific Islander and '}{sex} over {age}" for sex in ("women", "men") for age in (65, 75)]
    names = group_names(labels)
    assert all(len(line) <= 28 for name in names for line in name.split("\n"))
    assert [" ".join(name.split()) for name in names] == labels
    assert group_names(labels, None) == labels
    alike = group_names(["x" * 140 + middle + "y" * 140 for middle in "abc"], None)
    assert len(set(alike)) == 3


def test_ten_thousand_emoji_are_a_short_name() -> None:
    (name,) = group_names(["🔥" * 10_000], None)
    assert len(name) <= 130


@settings(max_examples=draws(60))
@given(st.lists(st.text(max_size=60), min_size=1, max_size=4, unique=True))
def test_whatever_the_labels_their_names_can_be_drawn_and_told_apart(labels: list[str]) -> None:
    names = group_names(labels, None)
    assert len(set(names)) == len(labels)
    for name in names:
        assert shown(name)
        assert "\n" not in name


def test_a_title_names_the_score_if_it_has_a_name() -> None:
    assert named(None) == named("") == ""
    assert shown(named("model_1 ($x$)")) == ", model_1 ($x$)"

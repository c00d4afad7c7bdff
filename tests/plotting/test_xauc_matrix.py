"""Every cell says its number, and what cannot be computed says that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib import pyplot

from support import oracles
from support.drawn_rows import Rows, rows
from support.effort import draws
from xorder import XOrder, audit
from xorder.datasets import simulate_population
from xorder.metrics import GroupMatrix
from xorder.plotting._xauc_matrix import XaucMatrixDisplay

PEOPLE = simulate_population(400, random_state=2)


def texts(display: XaucMatrixDisplay) -> list[list[str]]:
    return [[text.get_text() for text in row] for row in display.text_]


@pytest.mark.slow
@settings(max_examples=draws(15))
@given(drawn=rows())
def test_the_cells_are_xauc_and_n_a_where_there_is_none(drawn: Rows) -> None:
    display = XaucMatrixDisplay.from_predictions(drawn.y, drawn.s, **drawn.options).plot()
    expected = [[oracles.xauc(drawn.y, drawn.s, drawn.g, g, h, drawn.w) for h in drawn.groups] for g in drawn.groups]
    assert texts(display) == [["n/a" if np.isnan(v) else f"{v:.3f}" for v in row] for row in expected]
    for (row, column), text in np.ndenumerate(display.text_):
        assert text.get_position() == (column, row)
    image = np.ma.filled(display.im_.get_array(), np.nan)
    np.testing.assert_allclose(image, expected, atol=1e-12)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == drawn.groups
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == drawn.groups
    display.figure_.canvas.draw()
    pyplot.close("all")


def test_why_a_cell_is_empty_is_said() -> None:
    y = np.where(PEOPLE.group == "B", 0, PEOPLE.y_true)
    display = XaucMatrixDisplay.from_predictions(y, PEOPLE.y_score, sensitive_features=PEOPLE.group).plot()
    assert texts(display)[1] == ["n/a", "n/a"]
    assert any("no positives (row)" in text.get_text() for text in display.ax_.texts)
    everything = XaucMatrixDisplay(GroupMatrix(("a", "b"), np.full((2, 2), np.nan))).plot()
    assert texts(everything) == [["n/a"] * 2] * 2


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 5, 10])
def test_numbers_fit_into_their_cells(size: int) -> None:
    values = np.random.default_rng(size).random((size, size))
    display = XaucMatrixDisplay(GroupMatrix(tuple(f"group {n}" for n in range(size)), values)).plot()
    display.figure_.canvas.draw()
    cell = display.ax_.transData.transform((1, 0))[0] - display.ax_.transData.transform((0, 0))[0]
    for text in display.text_.flat:
        assert text.get_window_extent().width < 0.95 * cell


def test_letters_stand_out_from_their_cell() -> None:
    """At least 4.5 to 1, what the web's guidelines ask of text."""
    values = np.linspace(0.5, 1.0, 36).reshape(6, 6)
    display = XaucMatrixDisplay(GroupMatrix(tuple("abcdef"), values)).plot()

    def luminance(colour: object) -> float:
        from matplotlib.colors import to_rgb

        parts = np.array(to_rgb(colour))
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    for place, text in np.ndenumerate(display.text_):
        cell = luminance(display.im_.cmap(display.im_.norm(values[place]))[:3])
        bright, dark = sorted((cell, luminance(text.get_color())), reverse=True)
        assert (bright + 0.05) / (dark + 0.05) >= 4.5


def test_the_widest_gap_is_told_and_marked() -> None:
    values = np.array([[0.8, 0.7, 0.9], [0.7, 0.8, 0.6], [0.55, 0.7, 0.8]])
    display = XaucMatrixDisplay(GroupMatrix(("x", "y", "z"), values)).plot()
    assert "widest gap: x over z 0.900, z over x 0.550" in [
        " ".join(text.get_text().split()) for text in display.ax_.texts
    ]
    bold = [place for place, text in np.ndenumerate(display.text_) if text.get_weight() == "bold"]
    assert bold == [(0, 2), (2, 0)]


def test_values_can_be_left_out_and_formatted() -> None:
    matrix = GroupMatrix(("a", "b"), np.array([[0.8, 0.91234], [0.6, 0.7]]))
    assert XaucMatrixDisplay(matrix).plot(include_values=False).text_ is None
    assert texts(XaucMatrixDisplay(matrix).plot(values_format=".1%"))[0] == ["80.0%", "91.2%"]
    many = GroupMatrix(tuple(range(60)), np.full((60, 60), 0.5))
    assert XaucMatrixDisplay(many).plot().text_ is None


def test_audits_and_repairs_have_one() -> None:
    found = audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert XaucMatrixDisplay.from_audit(found).matrix is found.xauc
    repair = XOrder(do_no_harm=False).fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    after = XaucMatrixDisplay.from_estimator(repair, PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    assert (
        abs(after.matrix["A", "B"] - after.matrix["B", "A"]) < 0.01 < abs(found.xauc["A", "B"] - found.xauc["B", "A"])
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [("🔥" * 2500, "x" * 10_000), ("W" * 10_000, "🔥" * 2500 + "b"), ("🔥", "B"), ("家" * 3000, "B")],
)
def test_names_of_any_length_fit_into_the_figure(first: str, second: str) -> None:
    """Warnings are errors here, and one would come if names left the cells no room."""
    group = np.where(PEOPLE.group == "A", first, second)
    display = XaucMatrixDisplay.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=group).plot()
    display.figure_.canvas.draw()
    ax, (width, height) = display.ax_, display.figure_.canvas.get_width_height()
    for text in [*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.texts]:
        box = text.get_window_extent()
        assert -1 < box.x0 < box.x1 < width + 1, text
        assert -1 < box.y0 < box.y1 < height + 1, text
    assert ax.get_window_extent().width > 0.25 * width


def test_columns_of_many_long_names_are_numbered() -> None:
    names = tuple(f"a group with a long name, number {n}" for n in range(5))
    display = XaucMatrixDisplay(GroupMatrix(names, np.full((5, 5), 0.7))).plot()
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["1", "2", "3", "4", "5"]
    shown = [" ".join(label.get_text().split()) for label in display.ax_.get_yticklabels()]
    assert shown == [f"{place} {name}" for place, name in enumerate(names, start=1)]


def test_a_chance_of_0_has_no_minus_by_rounding() -> None:
    label, score, group = [1, 0, 0, 0], [1.0, 4.0, 3.0, 2.0], ["b", "a", "a", "a"]
    weight = [40.0, 40.0, 40.0, 0.1]
    display = XaucMatrixDisplay.from_predictions(label, score, sensitive_features=group, sample_weight=weight).plot()
    assert texts(display) == [["n/a", "n/a"], ["0.000", "n/a"]]

"""What holds for every display: where it draws, what it leaves alone, and that no label or screen can stop it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from xorder.datasets import simulate_population
from xorder.exceptions import InputError, MissingExtraError
from xorder.plotting import (
    CalibrationByGroupDisplay,
    CrossRocDisplay,
    CutGapDisplay,
    GapDisplay,
    MovesDisplay,
    NetBenefitDisplay,
    ScoreMapDisplay,
    ScoreShiftDisplay,
    TradeoffDisplay,
    XaucMatrixDisplay,
)

PEOPLE = simulate_population(400, random_state=2)

# How many axes each draws into for two groups.
DISPLAYS = {
    CalibrationByGroupDisplay: 2,
    CrossRocDisplay: 2,
    CutGapDisplay: 2,
    GapDisplay: 1,
    MovesDisplay: 2,
    NetBenefitDisplay: 2,
    ScoreMapDisplay: 1,
    ScoreShiftDisplay: 2,
    TradeoffDisplay: 1,
    XaucMatrixDisplay: 1,
}

HOSTILE = ["$x_1$ to $50k", "_hidden", "<script>alert(1)</script> " * 500, "🔥家\u202e", "a\nb", r"$\frac{1}{0$^$"]


@pytest.mark.slow
def test_they_are_found_from_the_package_which_loads_them_when_asked() -> None:
    code = "import sys, xorder; print('xorder.plotting' in sys.modules, xorder.plotting.CutGapDisplay.__name__)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False CutGapDisplay\n"


def of_people(display: Any, group: Any = PEOPLE.group, **options: Any) -> Any:
    if display is MovesDisplay:
        options |= {"y_adjusted": PEOPLE.y_score ** np.where(PEOPLE.group == "A", 1.0, 0.7), "cuts": [0.1, 0.2]}
    return display.from_predictions(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=group, **options)


def all_texts(figure: Any) -> list[Any]:
    from matplotlib.text import Text

    return [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]


@pytest.mark.slow
@pytest.mark.parametrize("display", DISPLAYS)
def test_making_one_draws_nothing_and_plot_returns_it(display: Any) -> None:
    found = of_people(display)
    assert pyplot.get_fignums() == []
    assert found.plot() is found
    assert pyplot.get_fignums() == [found.figure_.number]
    assert found.ax_.figure is found.figure_
    assert found.plot().figure_.number == 2


@pytest.mark.slow
@pytest.mark.parametrize("display", DISPLAYS)
def test_it_draws_into_the_axes_it_is_given_and_nowhere_else(display: Any) -> None:
    figure = Figure(figsize=(12, 4), layout="constrained")
    axes = figure.subplots(1, 4)
    wanted = axes[1] if DISPLAYS[display] == 1 else axes[1:3]
    found = of_people(display).plot(ax=wanted)
    assert found.figure_ is figure
    assert pyplot.get_fignums() == []
    assert not axes[0].has_data()
    assert not axes[3].has_data()
    assert axes[1].has_data()
    figure.canvas.draw()


@pytest.mark.parametrize("display", DISPLAYS)
def test_too_many_axes_are_refused_with_the_number_needed(display: Any) -> None:
    _, axes = pyplot.subplots(1, 5)
    needed = "one axis" if DISPLAYS[display] == 1 else "2 axes"
    with pytest.raises(InputError, match=f"{display.__name__} needs {needed} to draw into.*; got 5"):
        of_people(display).plot(axes)
    with pytest.raises(InputError, match="ax must be a matplotlib axis"):
        of_people(display).plot("left")


@pytest.mark.slow
@pytest.mark.parametrize("display", DISPLAYS)
def test_settings_of_matplotlib_stay_as_they_are(display: Any) -> None:
    before = dict(mpl.rcParams)
    of_people(display).plot().figure_.canvas.draw()
    assert dict(mpl.rcParams) == before


@pytest.mark.slow
@pytest.mark.parametrize("display", DISPLAYS)
def test_hostile_names_stay_text(display: Any) -> None:
    for first, second in (HOSTILE[:2], HOSTILE[2:4], HOSTILE[4:]):
        found = of_people(display, np.where(PEOPLE.group == "A", first, second)).plot(name="model_$1$ \\alpha")
        found.figure_.canvas.draw()
        for text in all_texts(found.figure_):
            assert not text._preprocess_math(text.get_text())[1]
            assert len(text.get_text()) < 700
        pyplot.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("names", [("A", "B"), ("25 years or older", "younger than 25")])
@pytest.mark.parametrize("display", DISPLAYS)
def test_nothing_is_cut_off_or_written_over_something_else(display: Any, names: tuple[str, str]) -> None:
    found = of_people(display, np.where(PEOPLE.group == "A", *names)).plot()
    found.figure_.canvas.draw()
    width, height = found.figure_.canvas.get_width_height()
    boxes = {}
    # Titles, notes, labels of axes and legends; numbers at ticks beyond an axis are there, too, but not drawn.
    words = [text for text in all_texts(found.figure_) if any(sign.isalpha() for sign in text.get_text())]
    for text in words:
        box = text.get_window_extent()
        assert box.x0 > -1, text
        assert box.y0 > -1, text
        assert box.x1 < width + 1, text
        assert box.y1 < height + 1, text
        boxes[text] = box
    for place, one in enumerate(words):
        for other in words[place + 1 :]:
            if one.get_rotation() % 90 == 0 == other.get_rotation() % 90:
                assert not boxes[one].shrunk(0.98, 0.9).overlaps(boxes[other].shrunk(0.98, 0.9)), (one, other)


@pytest.mark.slow
@pytest.mark.parametrize("display", DISPLAYS)
def test_ten_groups_are_drawn(display: Any) -> None:
    people = simulate_population(3000, random_state=0)
    group = np.array([f"group number {n}" for n in range(10)])[np.arange(3000) % 10]
    options: dict[str, Any] = {"do_no_harm": False} if display in (ScoreMapDisplay, TradeoffDisplay) else {}
    if display is MovesDisplay:
        options = {"y_adjusted": people.y_score ** np.where(np.arange(3000) % 10 > 5, 0.8, 1.0)}
    found = display.from_predictions(people.y_true, people.y_score, sensitive_features=group, **options).plot()
    found.figure_.canvas.draw()
    width, height = found.figure_.canvas.get_width_height()
    for ax in found.figure_.axes:
        legend = ax.get_legend()
        if legend is not None:
            assert len(legend.get_texts()) <= 13
            box = legend.get_window_extent()
            assert -1 < box.x0 < box.x1 < width + 1
            assert -1 < box.y0 < box.y1 < height + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "display",
    [
        CalibrationByGroupDisplay,
        CrossRocDisplay,
        CutGapDisplay,
        GapDisplay,
        NetBenefitDisplay,
        ScoreShiftDisplay,
        XaucMatrixDisplay,
    ],
)
def test_sixteen_groups_some_without_a_class_are_drawn(display: Any) -> None:
    group = np.arange(400) % 16
    y = np.where(group < 8, PEOPLE.y_true, 0)
    display.from_predictions(y, PEOPLE.y_score, sensitive_features=group).plot().figure_.canvas.draw()


@pytest.mark.parametrize("display", DISPLAYS)
def test_numbers_need_no_matplotlib_and_drawing_names_the_extra(display: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    found = of_people(display)
    with pytest.raises(MissingExtraError, match=r"needs matplotlib.*pip install 'xorder\[plot\]'"):
        found.plot()


@pytest.mark.slow
def test_no_screen_is_needed_even_where_no_backend_is_named() -> None:
    code = """
import matplotlib, warnings
warnings.simplefilter("error")
from xorder.datasets import simulate_population
from xorder import plotting
people = simulate_population(300)
for name in plotting.__all__:
    display = getattr(plotting, name)
    more = {"y_adjusted": people.y_score} if name == "MovesDisplay" else {}
    found = display.from_predictions(people.y_true, people.y_score, sensitive_features=people.group, **more).plot()
    found.figure_.canvas.draw()
print(matplotlib.get_backend().lower())
"""
    unwanted = ("MPLBACKEND", "DISPLAY", "WAYLAND_DISPLAY")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "agg\n", "")


@pytest.mark.parametrize("display", [CrossRocDisplay, CutGapDisplay, ScoreMapDisplay, TradeoffDisplay])
def test_lines_take_the_arguments_of_lines(display: Any) -> None:
    found = of_people(display).plot(linewidth=3.5, alpha=0.4)
    lines = [found.line_] if display is TradeoffDisplay else found.lines_.values()
    assert {(line.get_linewidth(), line.get_alpha()) for line in lines} == {(3.5, 0.4)}

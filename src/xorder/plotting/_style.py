"""What all displays share: colours, lines and names that everyone can tell apart, the axes and legends they draw."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from xorder._optional import import_optional
from xorder._present import group_names as short_names
from xorder._present import wrapped
from xorder._table import FloatArray
from xorder.exceptions import InputError


class Ink:
    """Colours on one background, by the names that the page of a report has for them.

    Groups that share a line style differ for every kind of colour vision, and in grey.
    """

    def __init__(self, style: str) -> None:
        colours = dict(re.findall(r"--(\w+): (#\w+);", style))
        names = ("paper", "panel", "ink", "muted", "line", "accent")
        self.paper, self.panel, self.text, self.muted, self.line, self.accent = (colours[name] for name in names)
        self.groups = [colours[f"g{number}"] for number in range(12)]


# The style of the page, so that a group has the same look in all pictures.
_LIGHT, _, _DARK = (files("xorder") / "reporting" / "page.css").read_text("utf-8").partition("color-scheme: dark)")
LIGHT, DARK = Ink(_LIGHT), Ink(_DARK.partition("}")[0])

# Dashes of the page, in widths of its lines.
LINES: tuple[Any, ...] = ("-", (0, (3.2, 1.4)), (0, (0.9, 1.1)), (0, (4.1, 1.4, 0.9, 1.4)))

# Groups that get a look of their own; the rest are thin and grey.
MOST_LINES = len(LIGHT.groups)

# Panels of a picture, at most, unless groups are named.
MOST_PANELS = 12

# Characters of a name, at most, and of a line of one.
_LONGEST, _LINE = 130, 28

# Letters of a legend inside an axis, in points, tried until it fits.
_LETTERS = (8.5, 7.5, 6.5, 5.5, 4.5, 3.5)

# Room between inner axes, in shares of one of them: titles of three lines stand above each.
_BETWEEN = {"wspace": 0.15, "hspace": 0.75}


def ink_of(ax: Any) -> Ink:
    """Return the colours for what an axis is drawn on: its own background, its figure's, or what text is written on."""
    seen = [colour for colour in (ax.get_facecolor(), ax.figure.get_facecolor()) if colour[3] > 0.5]
    if seen:
        return DARK if luminance(seen[0]) < MIDDLE else LIGHT
    colors = import_optional("matplotlib.colors", extra="plot", purpose="Drawing")
    return LIGHT if luminance(colors.to_rgb(ax.xaxis.label.get_color())) < MIDDLE else DARK


# Luminance on which black and white letters stand out alike.
MIDDLE = 0.18


def luminance(colour: Any) -> float:
    """Relative luminance of a colour."""
    parts = map(float, colour[:3])
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def line_style(number: int, ink: Ink = LIGHT) -> dict[str, Any]:
    """Return colour and line of the n-th group; those of the first twelve differ, in grey as well."""
    return {"color": ink.groups[number % MOST_LINES], "linestyle": LINES[number % len(LINES)]}


class Display:
    """What all displays share: they keep the figure and the axis, or the last of the axes, that they draw into."""

    def _axes(
        self, ax: Any, shape: tuple[int, int], size: tuple[float, float], why: str = "", **options: Any
    ) -> list[Any]:
        """Return so many rows and columns of axes to draw into, row by row: those given, or new ones.

        One axis that is part of a grid gives its place to as many as are needed. ``options`` are for axes that are made
        here.
        """
        name, needed, options = type(self).__name__, shape[0] * shape[1], options | {"squeeze": False}
        if ax is None:
            pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose=f"Drawing with {name}")
            axes = list(pyplot.subplots(*shape, figsize=size, layout="constrained", **options)[1].flat)
        else:
            axes = given_axes(ax)
            if len(axes) == 1 < needed and axes[0].get_subplotspec() is not None:
                axes[0].set_axis_off()
                axes = list(axes[0].get_subplotspec().subgridspec(*shape, **_BETWEEN).subplots(**options).flat)
        if len(axes) != needed:
            wanted, those = f"{needed} axes", f"those of plt.subplots{shape}"
            if needed == 1:
                wanted = those = "one axis"
            raise InputError(
                f"{name} needs {wanted} to draw into{why}; got {len(axes)}. Pass {those}, or leave ax out for a new "
                "figure."
            )
        self.ax_, self.figure_ = axes[-1], axes[0].figure
        return axes

    def _legend(self, ax: Any, *, given: bool, beside: bool = False, columns: int = 2) -> None:
        """Name what an axis shows: inside where someone else has placed it; else below all, or beside if it is much."""
        if given:
            legend(ax)
            return
        place = {"loc": "outside right upper"} if beside else {"loc": "outside lower left", "ncols": columns}
        look = {"frameon": False, "fontsize": "small", "handlelength": 3.0}
        self.figure_.legend(*ax.get_legend_handles_labels(), **look, **place)

    def _panels(
        self, ax: Any, count: int, size: tuple[float, float], labels: tuple[str, str], why: str = "", **options: Any
    ) -> list[Any]:
        """Return axes for so many panels: those given, or a grid of a new figure or inside of one axis."""
        fresh = ax is None or len(given_axes(ax)) == 1
        columns = min(count, 4 if -count % 4 <= -count % 3 else 3) if fresh else count
        rows = -(-count // columns)
        figure = (max(size[0] * columns, 5.0), size[1] * rows + 0.5)
        axes = self._axes(ax, (rows, columns), figure, why, **options)
        for spare in axes[count:]:
            spare.remove()
        for number, one in enumerate(axes[:count]):
            tidy(one)
            if number % columns == 0:
                one.set_ylabel(labels[1])
            if number + columns >= count:
                one.tick_params(labelbottom=True)
                one.set_xlabel(labels[0])
        self.ax_ = axes[count - 1]
        return axes[:count]


def given_axes(ax: Any) -> list[Any]:
    """Return one axis, or a list or an array of them, as a flat list."""
    found = list(np.asarray(ax, dtype=object).flat)
    wrong = next((one for one in found if not hasattr(one, "plot") or not hasattr(one, "figure")), None)
    if wrong is not None:
        raise InputError(f"ax must be a matplotlib axis or an array of them; got {type(wrong).__name__}.")
    return found


def tidy(ax: Any) -> None:
    """Leave out the frame where there is nothing to read off."""
    ax.spines[["top", "right"]].set_visible(False)


def name_rows(ax: Any, names: list[str], room: FloatArray) -> FloatArray:
    """Name rows of an axis from the top down, each with its own room, and return their middles."""
    middles = np.cumsum(room) - room / 2
    ax.set_yticks(middles, names, fontsize="small")
    ax.set_ylim(float(room.sum()), 0.0)
    ax.tick_params(axis="y", length=0)
    return np.asarray(middles)


def room_of(names: Iterable[str]) -> FloatArray:
    """Inches that the lines of each name take, one below another."""
    return np.array([0.17 * (name.count("\n") + 1) + 0.12 for name in names])


def legend(ax: Any, **options: Any) -> None:
    """Name what is drawn where nothing is known of the room around: inside, in letters small enough to fit."""
    ax.apply_aspect()
    room = ax.get_window_extent()
    look = {"loc": "best", "framealpha": 0.75, "edgecolor": ink_of(ax).line, "handlelength": 2.2, "borderaxespad": 0.4}
    for points in _LETTERS:
        sizes = {"fontsize": points} | ({"title_fontsize": points} if "title" in options else {})
        box = ax.legend(**(look | options | sizes)).get_window_extent()
        if box.width < 0.97 * room.width and box.height < 0.97 * room.height:
            break


def title(ax: Any, text: str, note: str = "", width: int = 70) -> None:
    """Write what is seen above an axis, on the left, and what it means below that, in smaller letters.

    Lines are at most as long as so many letters of the title, and a little more of the note.
    """
    note = "\n".join(wrapped(line, round(1.15 * width)) for line in note.split("\n"))
    room = 8 + 11.5 * (note.count("\n") + 1) if note else None
    ax.set_title(wrapped(text, width), loc="left", fontsize="medium", fontweight="bold", pad=room)
    if note:
        look = {"fontsize": "small", "color": ink_of(ax).muted}
        ax.annotate(note, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", **look)


def group_names(groups: Iterable[Hashable], width: int | None = _LINE) -> list[str]:
    """Return a name for each group as a picture can show it, in lines of some width, or one for ``None``.

    It needs matplotlib, to know what can be drawn.
    """
    can_draw = _in_fonts()
    names: Sequence[str] = short_names([_drawable(str(group), can_draw) for group in groups], _LONGEST)
    names = names if width is None else [wrapped(name, width) for name in names]
    # Two dollar characters would make a formula, and a line whose name begins with _ is left out of legends.
    return [f" {name}" if name.startswith("_") else name for name in (name.replace("$", r"\$") for name in names)]


def named(name: str | None) -> str:
    """What to add to a title to say which score is meant: nothing, or a comma and its name."""
    return f", {group_names([name], None)[0]}" if name else ""


def _drawable(name: str, can_draw: Callable[[str], bool]) -> str:
    """Spell out symbols that the font lacks, such as emoji; leave out marks that are not seen by themselves."""
    # Of a label of thousands of characters only the ends will be shown.
    ends = name if len(name) <= 1000 else name[:500] + name[-500:]
    drawn = []
    for each in " ".join(ends.split()):
        kind = unicodedata.category(each)
        if each != " " and kind[0] == "C" and kind != "Co":
            continue
        if can_draw(each):
            drawn.append(each)
        elif kind[0] != "M":
            drawn.append(f"[{unicodedata.name(each, 'symbol').lower()}]" if kind == "So" else "□")
    return "".join(drawn)


def _in_fonts() -> Callable[[str], bool]:
    """Say what the fonts in use can draw."""
    matplotlib = import_optional("matplotlib", extra="plot", purpose="Drawing")
    manager = import_optional("matplotlib.font_manager", extra="plot", purpose="Drawing")
    families = [manager.FontProperties(family=[family]) for family in matplotlib.rcParams["font.family"]]
    fonts = [manager.get_font(manager.findfont(family)) for family in families]
    return lambda each: any(font.get_char_index(ord(each)) for font in fonts)

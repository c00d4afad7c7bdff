"""What all displays share: colours, lines and names that everyone can tell apart, the axes and legends they draw."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from xorder import _present
from xorder._optional import import_optional
from xorder.exceptions import InputError

# At least 3 to 1 against white. Those that share a line style differ for every kind of colour vision, and in grey.
COLOURS = ("#004488", "#c58600", "#b03f66", "#000000", "#1f70b4", "#00483a", "#a481c4")

# One fewer or more than colours, so that a colour comes with another line each time round.
LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))

GREY = "0.45"

# Entries of a legend that fit below an axis.
_FEW_ENTRIES = 6

# Letters of a legend inside an axis, in points, tried until it fits.
_LETTERS = (8.5, 7.5, 6.5, 5.5, 4.5)

# Room between inner axes, in shares of one of them: titles of three lines stand above each.
_BETWEEN = {"wspace": 0.15, "hspace": 0.75}


def line_style(number: int) -> dict[str, Any]:
    """Return colour and line of the n-th thing drawn; the first 28 differ, in grey as well."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": LINES[number % len(LINES)]}


def axes_for(
    ax: Any,
    *,
    name: str,
    rows: int = 1,
    columns: int = 1,
    size: tuple[float, float],
    why: str = "",
    split: bool = False,
    **options: Any,
) -> tuple[list[Any], Any]:
    """Return the axes to draw into, row by row, and their figure: those given, if as many as needed, or new ones.

    With ``split``, one axis that is part of a grid gives its place to as many as are needed. ``options`` are for axes
    that are made here.
    """
    needed = rows * columns
    if ax is None:
        pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose=f"Drawing with {name}")
        figure, made = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, **options)
        return list(made.flat), figure
    found = given_axes(ax)
    if split and len(found) == 1 < needed and found[0].get_subplotspec() is not None:
        found[0].set_axis_off()
        grid = found[0].get_subplotspec().subgridspec(rows, columns, **_BETWEEN)
        return list(grid.subplots(squeeze=False, **options).flat), found[0].figure
    if len(found) != needed:
        wanted = "one axis" if needed == 1 else f"{needed} axes"
        raise InputError(
            f"{name} needs {wanted} to draw into{why}; got {len(found)}. "
            + ("Pass one axis" if needed == 1 else f"Pass those of plt.subplots({rows}, {columns})")
            + ", or leave ax out for a new figure."
        )
    return found, found[0].figure


class Display:
    """What all displays share: they keep the figure and the axis, or the last of the axes, that they draw into."""

    def _axes(self, ax: Any, **needs: Any) -> list[Any]:
        axes, self.figure_ = axes_for(ax, name=type(self).__name__, **needs)
        self.ax_ = axes[-1]
        return axes


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


def legend(ax: Any, *, inside: bool, **options: Any) -> Any:
    """Name what is drawn: inside an axis that someone else has placed; of a figure made for it, never on a point.

    That is below the axis or, where there is much to name, beside it.
    """
    if inside:
        return _legend_inside(ax, **options)
    handles, _ = ax.get_legend_handles_labels()
    place: dict[str, Any] = {"bbox_to_anchor": (-0.02, -0.13)}
    if len(handles) > _FEW_ENTRIES:
        place = {"bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    look = {"loc": "upper left", "frameon": False, "fontsize": "small", "handlelength": 3.0}
    return ax.legend(**(look | place | options))


def _legend_inside(ax: Any, **options: Any) -> Any:
    """Name what is drawn where nothing is known of the room around: inside, in letters small enough to fit."""
    ax.apply_aspect()
    room = ax.get_window_extent()
    look = {"loc": "best", "framealpha": 0.75, "edgecolor": "0.8", "handlelength": 2.2, "borderaxespad": 0.4}
    for points in _LETTERS:
        sizes = {"fontsize": points} | ({"title_fontsize": points} if "title" in options else {})
        made = ax.legend(**(look | options | sizes))
        box = made.get_window_extent()
        if box.width < 0.97 * room.width and box.height < 0.97 * room.height:
            break
    return made


def title(ax: Any, text: str, note: str | None = None) -> None:
    """Write what is seen above an axis, on the left, and what it means below that, in smaller letters."""
    room = None if note is None else 8 + 11.5 * (note.count("\n") + 1)
    ax.set_title(text, loc="left", fontsize="medium", fontweight="bold", pad=room)
    if note is not None:
        ax.annotate(
            note, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", fontsize="small", color="0.25"
        )


def group_names(groups: Iterable[Hashable], longest: int = 28) -> list[str]:
    """Return a name for each group as a picture can show it; needs matplotlib, to know what can be drawn."""
    can_draw = _in_fonts()
    names = _present.group_names([_drawable(str(group), can_draw) for group in groups], longest)
    # Two dollar characters would make a formula, and a line whose name begins with _ is left out of legends.
    return [f" {name}" if name.startswith("_") else name for name in (name.replace("$", r"\$") for name in names)]


def named(name: str | None) -> str:
    """What to add to a title to say which score is meant: nothing, or a comma and its name."""
    return f", {group_names([name], 40)[0]}" if name else ""


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
    fonts = [
        manager.get_font(manager.findfont(manager.FontProperties(family=[family])))
        for family in matplotlib.rcParams["font.family"]
    ]
    return lambda each: any(font.get_char_index(ord(each)) for font in fonts)

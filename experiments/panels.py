"""Panels that figures are made of: how each method looks, and the trade-off of one base model on one data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments.paper import name_of
from experiments.summary import Results, absolute, difference, half_width, noise_floor


class Look(NamedTuple):
    """Colour (told apart by everyone), marker and line (told apart in grey)."""

    colour: str
    marker: str
    line: str


LOOKS = {
    "unadjusted": Look("#000000", "X", "none"),
    "post-logit": Look("#e69f00", "s", "none"),
    "corr-reg": Look("#cc79a7", "v", (0, (5, 1.5))),  # type: ignore[arg-type]
    "constrained": Look("#56b4e9", "D", "-."),
    "xorder-dp": Look("#0072b2", "o", "-"),
    "xorder-frontier": Look("#d55e00", "^", ":"),
    "fair-ranker": Look("#009e73", "p", "--"),
}
_OTHER = Look("#7f7f7f", "*", "-")

CHANCE = "0.45"
MARKER = 6.5


def look_of(method: str) -> Look:
    return LOOKS.get(method, _OTHER)


def tradeoff_panel(
    ax: Any, results: Results, data: str, model: str, metric: str, methods: Sequence[str], splits: str = "stored"
) -> None:
    """Mean test AUC against mean absolute test gap, a point for each parameter, with intervals over splits."""
    before = results.unadjusted(data, splits, model, metric)
    floor = noise_floor(before)
    ax.axvline(floor, color=CHANCE, linestyle=(0, (1, 2)), linewidth=1.2, zorder=0)
    for method in methods:
        points = results.curve(data, splits, model, method, metric)
        if not points:
            continue
        look = look_of(method)
        ax.errorbar(
            [point.mean_gap for point in points],
            [point.mean_auc for point in points],
            xerr=[half_width(absolute(point.gap)) for point in points],
            yerr=[half_width(difference(point.auc, before.auc)) for point in points],
            color=look.colour,
            marker=look.marker,
            linestyle=look.line,
            markersize=MARKER,
            linewidth=1.5,
            elinewidth=0.7,
            ecolor=look.colour + "70",
            markeredgecolor="white",
            markeredgewidth=0.6,
            zorder=5 if look.line == "none" else 4,
            label=name_of(method),
        )
    ax.set_xlim(left=0)
    ax.margins(0.06)
    ax.locator_params(axis="x", nbins=6)
    ax.grid(color="0.92", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def legend_below(figure: Any, axes: Sequence[Any], note: str) -> None:
    """One legend for all panels, below them, and under it what the reader needs to know."""
    from matplotlib.lines import Line2D

    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    order = [name_of(method) for method in LOOKS]
    labels = sorted(entries, key=lambda label: order.index(label) if label in order else len(order))
    chance = Line2D([], [], color=CHANCE, linestyle=(0, (1, 2)), linewidth=1.2)
    figure.legend(
        [*(entries[label] for label in labels), chance],
        [*labels, "gap that chance alone would show"],
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize=9,
        title=note,
        title_fontsize=8,
    )


def save(figure: Any, path: Path) -> None:
    """Write a small PNG: a palette is all that lines and letters need."""
    import io

    from matplotlib import pyplot
    from PIL import Image

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(buffer) as image:
        # Median cut, the usual way, drops colours of which there is little, such as a lone marker's.
        flat = image.convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        flat.save(path, optimize=True)

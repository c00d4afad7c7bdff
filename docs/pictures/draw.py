"""The pictures of the pages on concepts: python docs/pictures/draw.py [folder]."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import xorder
from xorder.datasets import simulate_population

HERE = Path(__file__).parent
COLOUR = {"A": "#1b6ca8", "B": "#d95f02"}
GREY = "#6b7280"
STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "xorder",
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "figure.facecolor": "white",
}
# Five people with the outcome and five without, of two groups: the smallest example that shows everything.
POSITIVES = [(0.91, "A"), (0.80, "A"), (0.66, "A"), (0.52, "B"), (0.38, "B")]
NEGATIVES = [(0.58, "A"), (0.45, "A"), (0.30, "A"), (0.22, "B"), (0.12, "B")]
LINE = "score: further right is ranked higher; a line is a pair in the wrong order"


def auc() -> Figure:
    """Draw ten people on a line of scores, and each pair in the wrong order."""
    figure = Figure(figsize=(7.2, 2.5), layout="constrained")
    axes = figure.subplots()
    right, pairs = _draw_pairs(axes, POSITIVES, NEGATIVES, coloured=False)
    axes.set_title(f"{right} of {pairs} pairs are in the right order: AUC = {right / pairs:.2f}")
    axes.set_xlabel(LINE)
    return figure


def xauc() -> Figure:
    """Draw the same people, one comparison between the groups beside the other."""
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.12)
    for axes, (over, under) in zip(figure.subplots(2, 1), ("AB", "BA"), strict=True):
        positives = [person for person in POSITIVES if person[1] == over]
        negatives = [person for person in NEGATIVES if person[1] == under]
        right, pairs = _draw_pairs(axes, positives, negatives, coloured=True)
        axes.set_title(
            f"{over}'s positives against {under}'s negatives: {right} of {pairs}, xAUC = {right / pairs:.2f}"
        )
    axes.set_xlabel(LINE)
    return figure


def _draw_pairs(axes: Any, positives: list[Any], negatives: list[Any], *, coloured: bool) -> tuple[int, int]:
    """Draw two rows of people and a line for each pair in the wrong order; count the pairs in the right one."""
    wrong = [(p, n) for p in positives for n in negatives if p[0] < n[0]]
    for (above, _), (below, _) in wrong:
        axes.plot([above, below], [1, 0], color=GREY, linewidth=1.2, zorder=1)
    for height, people, filled in ((1, positives, True), (0, negatives, False)):
        for score, group in people:
            colour = COLOUR[group] if coloured else "black"
            axes.plot(score, height, "o", markersize=15, color=colour, fillstyle="full" if filled else "none", zorder=2)
            label = "white" if filled else colour
            if coloured:
                axes.annotate(group, (score, height), ha="center", va="center_baseline", color=label, size=9)
            if not filled:
                axes.plot(score, height, "o", markersize=14, color="white", zorder=1.5)
    axes.set(yticks=[0, 1], yticklabels=["without\nthe outcome", "with\nthe outcome"], xlim=(0, 1), ylim=(-0.5, 1.5))
    axes.tick_params(axis="y", length=0)
    return len(positives) * len(negatives) - len(wrong), len(positives) * len(negatives)


def distributions() -> Figure:
    """Draw where one group's positives and the other's negatives lie, before and after a repair."""
    people = simulate_population(20_000, random_state=0)
    repair = xorder.XOrder().fit(people.y_score, people.y_true, sensitive_features=people.group)
    adjusted = repair.transform(people.y_score, sensitive_features=people.group)
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    panels = zip(figure.subplots(1, 2, sharey=True), (people.y_score, adjusted), ("before", "after"), strict=True)
    for axes, score, when in panels:
        result = xorder.audit(people.y_true, score, sensitive_features=people.group)
        for group, outcome, words in (("B", 1, "B, with the outcome"), ("A", 0, "A, without")):
            rows = (people.group == group) & (people.y_true == outcome)
            heights, edges = np.histogram(score[rows], bins=25, range=(0, 1), density=True)
            axes.stairs(heights, edges, fill=True, color=COLOUR[group], alpha=0.35)
            axes.stairs(heights, edges, color=COLOUR[group], label=words, linewidth=1.5)
        axes.set_title(f"{when}: xAUC(B over A) = {result.xauc['B', 'A']:.2f}")
        axes.set(xlabel="score", yticks=[], xlim=(0, 1))
    figure.axes[0].legend(frameon=False)
    figure.axes[0].set_ylabel("share of people")
    return figure


def in_short() -> Figure:
    """Draw for the first page how often the right one of two people is ranked higher, before and after a repair."""
    people = simulate_population(20_000, random_state=0)
    repair = xorder.XOrder().fit(people.y_score, people.y_true, sensitive_features=people.group)
    adjusted = repair.transform(people.y_score, sensitive_features=people.group)
    figure = Figure(figsize=(5.6, 3.3), layout="constrained")
    axes = figure.subplots()
    for height, score in ((1, people.y_score), (0, adjusted)):
        result = xorder.audit(people.y_true, score, sensitive_features=people.group)
        a_over_b, b_over_a = (100 * result.xauc[pair] for pair in (("A", "B"), ("B", "A")))
        axes.plot([b_over_a, a_over_b], [height] * 2, color=GREY, linewidth=3, solid_capstyle="round", zorder=1)
        gap = a_over_b - b_over_a
        words = f"a gap of {gap:.0f} points" if gap >= 1 else "no gap left"
        axes.annotate(words, ((a_over_b + b_over_a) / 2, height + 0.16), ha="center", size=11)
        for group, chance in (("A", a_over_b), ("B", b_over_a)):
            # Where both are in one place, each has half of it.
            half = {} if gap >= 1 else {"fillstyle": "left", "markerfacecoloralt": COLOUR["A"], "markeredgewidth": 0}
            axes.plot(chance, height, "o", markersize=19, color=COLOUR[group], zorder=2, **half)
            axes.annotate(f"{chance:.0f}", (chance, height), ha="center", va="center_baseline", color="white", size=10)
            if height:
                axes.annotate(f"people of {group}", (chance, height - 0.28), ha="center", color=COLOUR[group], size=10)
        axes.annotate(f"AUC {result.auc:.2f}", (100, height), ha="right", va="center_baseline", color=GREY, size=10)
    axes.set(xlim=(55, 100), ylim=(-0.4, 1.45), yticks=[0, 1], yticklabels=["after", "before"])
    axes.set_title("So many of 100 people with the outcome are ranked\nabove one of the other group without it")
    axes.tick_params(axis="y", length=0, labelsize=11)
    axes.spines["left"].set_visible(False)
    return figure


def tradeoff() -> Figure:
    """Draw the best AUC for each gap, the score as it was, and three points to choose from."""
    people = simulate_population(4000, random_state=0)
    curve = xorder.frontier(*_tables(people), metric="xauc")
    before = xorder.audit(people.y_true, people.y_score, sensitive_features=people.group)
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    axes = figure.subplots()
    shown = (curve.gap > -0.12) & (curve.gap < 0.42)
    axes.plot(curve.gap[shown], curve.auc[shown], color="black", label="best AUC for each gap")
    gap = before.gap("xauc").value
    axes.plot(gap, before.auc, "X", color=COLOUR["B"], markersize=10, linestyle="none", label="the score as it was")
    for limit, words in ((1.0, "highest AUC"), (0.05, "gap at most 0.05"), (0.0, "no gap")):
        point = curve.at(max_gap=limit)
        axes.plot(point.gap, point.auc, "o", color=COLOUR["A"], markersize=8)
        place = {"xytext": (0, -17), "ha": "center"} if limit == 1.0 else {"xytext": (6, -14), "ha": "left"}
        axes.annotate(words, (point.gap, point.auc), size=9, textcoords="offset points", **place)
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="xAUC gap between A and B", ylabel="AUC", ylim=(0.795, 0.813))
    axes.legend(frameon=False, loc="lower center")
    return figure


def score_map() -> Figure:
    """Draw what a score of each group becomes."""
    people = simulate_population(4000, random_state=0)
    repair = xorder.XOrder().fit(people.y_score, people.y_true, sensitive_features=people.group)
    raw = np.linspace(0.01, 0.99, 197)
    figure = Figure(figsize=(4.6, 4.2), layout="constrained")
    axes = figure.subplots()
    for group, words in (("A", "A keeps its scores"), ("B", "B's scores move")):
        new = repair.transform(raw, sensitive_features=np.full(raw.size, group))
        axes.plot(raw, new, color=COLOUR[group], linewidth=2, label=words)
    at = float(repair.transform([0.3], sensitive_features=["B"])[0])
    axes.plot([0.3, 0.3, 0.0], [0, at, at], color=GREY, linewidth=0.9, linestyle=":")
    axes.annotate(f"0.30 becomes {at:.2f}", (0.015, at + 0.02), size=8.5)
    axes.set(xlabel="raw score", ylabel="adjusted score", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.legend(frameon=False, loc="lower right")
    return figure


def certainty() -> Figure:
    """Draw the interval of the same gap in ever larger samples."""
    figure = Figure(figsize=(7.2, 2.6), layout="constrained")
    axes = figure.subplots()
    for height, rows in enumerate((100, 400, 1600, 6400, 25_600)):
        people = simulate_population(rows, random_state=4)
        result = xorder.audit(people.y_true, people.y_score, sensitive_features=people.group)
        gap = result.gap("xauc")
        axes.plot(gap.interval, [height] * 2, color=COLOUR["A"], linewidth=2)
        axes.plot(gap.value, height, "o", color=COLOUR["A"])
        words = f"{rows:,} people, {result.positives['B']:,.0f} positives in B"
        axes.annotate(words, (-0.74, height), va="center", ha="left", size=9)
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="xAUC gap, with its 95 % interval", yticks=[], xlim=(-0.75, 0.75), ylim=(4.6, -0.6))
    axes.spines["left"].set_visible(False)
    return figure


def calibration() -> Figure:
    """Draw what a score says and what happens, by group, before and after."""
    people = simulate_population(200_000, penalty=0.0, noise_b=0.0, random_state=0)
    repair = xorder.XOrder().fit(people.y_score, people.y_true, sensitive_features=people.group)
    adjusted = repair.transform(people.y_score, sensitive_features=people.group)
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    panels = zip(figure.subplots(1, 2, sharey=True), (people.y_score, adjusted), ("before", "after"), strict=True)
    for axes, score, when in panels:
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
        for group in "AB":
            rows = people.group == group
            place = np.minimum((score[rows] * 10).astype(int), 9)
            said = [score[rows][place == bin_].mean() for bin_ in range(10)]
            came = [people.y_true[rows][place == bin_].mean() for bin_ in range(10)]
            axes.plot(said, came, "o-", color=COLOUR[group], markersize=4, label=f"group {group}")
        axes.set_title(when)
        axes.set(xlabel="score", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    figure.axes[0].set_ylabel("share with the outcome")
    axes.legend(frameon=False, loc="lower right")
    return figure


def _tables(people: Any) -> list[xorder.ScoreTable]:
    groups = (people.group == group for group in "AB")
    return [xorder.ScoreTable.from_arrays(people.y_true[rows], people.y_score[rows]) for rows in groups]


PICTURES: dict[str, Callable[[], Figure]] = {
    "auc": auc,
    "xauc": xauc,
    "distributions": distributions,
    "in-short": in_short,
    "tradeoff": tradeoff,
    "map": score_map,
    "certainty": certainty,
    "calibration": calibration,
}


def draw(folder: Path) -> None:
    """Write all pictures as SVG, the same in each run."""
    for name, make in PICTURES.items():
        with mpl.rc_context(STYLE):
            make().savefig(folder / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)

"""The charts of the page: for each stop of its control what is drawn there, of which the page shows one."""

from __future__ import annotations

from typing import Any

import numpy as np

from xorder._present import number
from xorder.reporting._numbers import Drawn
from xorder.reporting._svg import Axis, Chart, Point, padded
from xorder.reporting._text import points, signed_points

# Groups that one chart can show; of more, each has its own small one, of this size.
_TOGETHER = 4
_SMALL = (220, 140)

# Values of an x axis at which a chart, and a small one, says what there is to read.
_PLACES, _FEW_PLACES = 11, 5


def charts(numbers: dict[str, Any], drawn: Drawn, names: list[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the charts of a report by name, each as one drawing or more with what stands above it.

    ``names`` are those of the groups as the page shows them. None where there is nothing to draw.
    """
    if numbers["finding"]["pair"] is None:
        return {}
    stops, edges = numbers["path"]["stops"], drawn.edges.tolist()
    lines = [[_in_hundredths(line) for line in at_stop] for at_stop in drawn.found]
    first = Axis(0, 100, "first part of the list, %")
    found = {
        "cuts": _by_group(drawn, names, lines, first, "People with the outcome that each cut finds"),
        "roc": _roc(drawn, numbers["finding"]["pair"], names),
    }
    for label, words in (("positive", "with"), ("negative", "without")):
        lines = [[_outline(edges, bars[label]) for bars in at_stop] for at_stop in drawn.distributions]
        said = f"Distribution of scores, people {words} the outcome"
        found[f"{label}s"] = _by_group(drawn, names, lines, Axis(edges[0], edges[-1], "score"), said, stairs=True)
    if len(stops) > 1:
        found["tradeoff"] = [("", _tradeoff(stops, drawn.curve))]
    return {name: each for name, each in found.items() if each}


def _tradeoff(stops: list[dict[str, Any]], curve: list[list[float]]) -> str:
    """AUC over the gap: the curve, the stops on it, the score as it is, and the stop chosen."""
    # Of two groups the curve has a sign; of more it is the largest gap that counts.
    key = "gap" if curve else "worst"
    line = curve or [[entry[key], entry["auc"]] for entry in stops if entry["kind"] != "map"]
    marks = [(100 * entry[key], entry["auc"]) for entry in stops]
    along = [(100 * gap, auc) for gap, auc in line]
    across = padded((x for x, _ in (*along, *marks)), 2.0, "gap left, in points")
    chart = Chart(across, padded((y for _, y in (*along, *marks)), 0.02, "AUC"))
    if across.low <= 0 <= across.high:
        chart.upright(0.0, "zero")
    chart.line(along, "curve")
    looks = {"as it is": ("hollow", "diamond"), "repair": ("dot", "dot"), "map": ("hollow", "square")}
    for position, (entry, at) in enumerate(zip(stops, marks, strict=True)):
        said = f"AUC {number(entry['auc'])}, gap {signed_points(entry[key])} points"
        chart.mark(at, *looks[entry["kind"]], said)
        chart.begin(_shown_at(position, len(stops) - 1))
        chart.mark(at, "chosen", "disc", said)
        chart.end()
    return chart.svg("Accuracy over the gap left; the table of all steps has the same numbers.")


def _roc(drawn: Drawn, pair: list[int], names: list[str]) -> list[tuple[str, str]]:
    """Both cross-ROC curves of the pair spoken of."""
    if not all(drawn.roc[0]):
        return []
    chart = Chart(Axis(0, 100, "of the other group without the outcome, %"), Axis(0, 100))
    chart.line([(0, 0), (100, 100)], "grid")
    for position, curves in enumerate(drawn.roc):
        _add(chart, drawn, names, position, dict(zip(pair, map(_in_hundredths, curves), strict=True)))
    return [("", chart.svg("Cross-ROC curves of the two groups; the areas below them are the two values of xAUC."))]


def _in_hundredths(line: list[list[float]]) -> list[Point]:
    return [(100 * x, 100 * y) for x, y in line]


def _outline(edges: list[float], shares: list[float]) -> list[Point]:
    """Points of a distribution: the share of each bar at its left edge, and that of the last at its right one, too."""
    return [(x, 100 * share) for x, share in zip(edges, [*shares, *shares[-1:]], strict=False)]


def _by_group(
    drawn: Drawn, names: list[str], lines: list[list[list[Point]]], x: Axis, label: str, *, stairs: bool = False
) -> list[tuple[str, str]]:
    """Lines of the groups shown, by stop and group: in one chart where they are few, else a small one for each."""
    every = [{group: line for group, line in zip(drawn.shown, at_stop, strict=True) if line} for at_stop in lines]
    highest = max((y for at_stop in every for line in at_stop.values() for _, y in line), default=0.0)
    if not highest > 0:
        return []
    # The same for all stops: a scale that moved would hide what moves.
    y = Axis(0, min(1.02 * highest, 100))
    together = [drawn.shown] if len(drawn.shown) <= _TOGETHER else [[group] for group in drawn.shown]
    charts = []
    for groups in together:
        chart = Chart(x, y) if len(together) == 1 else Chart(x._replace(title=""), y, *_SMALL)
        for position, at_stop in enumerate(every):
            chosen = {group: line for group, line in at_stop.items() if group in groups}
            _add(chart, drawn, names, position, chosen, stairs=stairs)
        who = names[groups[0]] if len(together) > 1 else ""
        charts.append((who, chart.svg(f"{label}{': ' if who else ''}{who}")))
    return charts


def _add(
    chart: Chart, drawn: Drawn, names: list[str], stop: int, lines: dict[int, list[Point]], *, stairs: bool = False
) -> None:
    """Draw the lines of one stop, in their groups' own looks; those as it is stay behind the others."""
    if stop == 0 and len(drawn.distributions) > 1:
        for group, line in lines.items():
            chart.line(line, f"faint {drawn.keys[group]}", stairs=stairs)
    chart.begin(_shown_at(stop, len(drawn.distributions) - 1))
    for group, line in lines.items():
        chart.line(line, f"line {drawn.keys[group]}", stairs=stairs)
    low, high = chart.x.low, chart.x.high
    places = _PLACES if chart.width > _SMALL[0] else _FEW_PLACES
    at = [low + (high - low) * (place + 0.5) / places for place in range(places)]
    chart.places([(x, _read(lines, names, x, stairs)) for x in at], "place")
    chart.end()


def _read(lines: dict[int, list[Point]], names: list[str], x: float, stairs: bool) -> str:
    """Say what the lines are at a value of the x axis."""
    said = []
    for group, line in lines.items():
        xs, ys = np.array(line).T
        y = ys[max(int(np.searchsorted(xs, x, side="right")) - 1, 0)] if stairs else np.interp(x, xs, ys)
        said.append(f"{names[group]} {points(float(y) / 100)} %")
    return f"at {x:.3g}: {', '.join(said)}".replace("-", "−")


def _shown_at(stop: int, last: int) -> str:
    """Classes of what belongs to one stop; the last is shown until another is chosen."""
    return f"s s{stop}{' on' if stop == last else ''}"

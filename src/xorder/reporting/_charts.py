"""The charts of the page: for each stop of its control what is drawn there, of which the page shows one."""

from __future__ import annotations

from collections.abc import Callable
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
    stops = numbers["path"]["stops"]
    found = {
        "cuts": _by_group(drawn, names, _found),
        "roc": _roc(drawn, numbers["finding"]["pair"], names),
        "positives": _by_group(drawn, names, _scores("positive")),
        "negatives": _by_group(drawn, names, _scores("negative")),
    }
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
    last = len(stops) - 1
    for position, (entry, at) in enumerate(zip(stops, marks, strict=True)):
        said = f"AUC {number(entry['auc'])}, gap {signed_points(entry[key])} points"
        chart.mark(at, *looks[entry["kind"]], said)
        chart.begin(_shown_at(position, last))
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
        lines: dict[int, list[Point]] = {
            group: [(100 * x, 100 * y) for x, y in curve] for group, curve in zip(pair, curves, strict=True)
        }
        _add(chart, drawn, names, position, lines)
    label = "Cross-ROC curves of the two groups; the areas below them are the two values of xAUC."
    return [("", chart.svg(label))]


_Lines = Callable[[Drawn, int, int], list[Point]]
_Kind = tuple[Axis, _Lines, bool, str]


def _found(drawn: Drawn) -> _Kind:
    """Of each group's people with the outcome, how many are among the first of the list."""

    def lines(drawn: Drawn, stop: int, position: int) -> list[Point]:
        return [(100 * x, 100 * y) for x, y in drawn.found[stop][position]]

    return Axis(0, 100, "first part of the list, %"), lines, False, "People with the outcome that each cut finds"


def _scores(label: str) -> Callable[[Drawn], _Kind]:
    """Score distributions of one outcome."""

    def kind(drawn: Drawn) -> _Kind:
        edges = drawn.edges.tolist()

        def lines(drawn: Drawn, stop: int, position: int) -> list[Point]:
            shares = drawn.distributions[stop][position][label]
            return [(x, 100 * share) for x, share in zip(edges, [*shares, *shares[-1:]], strict=False)]

        words = "with" if label == "positive" else "without"
        return Axis(edges[0], edges[-1], "score"), lines, True, f"Distribution of scores, people {words} the outcome"

    return kind


def _by_group(drawn: Drawn, names: list[str], kind: Callable[[Drawn], _Kind]) -> list[tuple[str, str]]:
    """Lines of the groups shown: in one chart where they are few, else a small one for each."""
    x, lines, stairs, label = kind(drawn)
    every = [
        {group: found for position, group in enumerate(drawn.shown) if (found := lines(drawn, stop, position))}
        for stop in range(len(drawn.distributions))
    ]
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

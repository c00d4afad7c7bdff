"""The charts, made with Altair: colours are the page's own (CSS variables), and no name or other text of the user's.

Each chart listens to one signal, ``stop``: the number of the stop that the page's control points at. Charts are handed
on as Vega, compiled here, so that the page needs the runtime only.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from xorder._optional import import_optional
from xorder.reporting._numbers import Drawn

_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]

_Rows = list[dict[str, Any]]
_Chart = tuple[list[Any], dict[str, _Rows]]

_HEIGHT = 260

_FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif"

_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "aria": False,
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--muted)",
        "titleColor": "var(--muted)",
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "tickCount": 5,
    },
}


def charts(numbers: dict[str, Any], drawn: Drawn) -> dict[str, Any]:
    """Return the charts of a report by the name of the element they go into; none where there is nothing to draw."""
    if numbers["finding"]["pair"] is None:
        return {}
    alt = import_optional("altair", extra="report", purpose="The report")
    stops = numbers["path"]["stops"]
    found: dict[str, _Chart | None] = {
        "roc": _roc(alt, drawn, numbers["finding"]["pair"]),
        "positives": _distribution(alt, drawn, "positive"),
        "negatives": _distribution(alt, drawn, "negative"),
    }
    if len(stops) > 1:
        found["tradeoff"] = _tradeoff(alt, stops, drawn.curve)
    stop = alt.param(name="stop", value=len(stops) - 1)
    return {
        name: _compiled(alt.layer(*chart[0]).add_params(stop), chart[1])
        for name, chart in found.items()
        if chart is not None
    }


def _compiled(chart: Any, rows: dict[str, _Rows]) -> dict[str, Any]:
    """Compile a chart that names its data, and put the data in: checking each row of them would take seconds."""
    converter = import_optional("vl_convert", extra="report", purpose="The report")
    sized = chart.properties(width="container", height=_HEIGHT, autosize={"type": "fit-x", "contains": "padding"})
    record: dict[str, Any] = converter.vegalite_to_vega(sized.configure(**_CONFIG).to_dict())
    for source in record["data"]:
        if source["name"] in rows:
            source["values"] = rows[source["name"]]
    return record


def _tradeoff(alt: Any, stops: list[dict[str, Any]], curve: list[list[float]]) -> _Chart:
    """AUC over the gap, fairer to the right: the curve, the stops on it, the score as it is, and the stop chosen."""
    # Of two groups the curve has a sign; of more it is the largest gap that counts.
    key = "gap" if curve else "worst"
    line = curve or [[entry[key], entry["auc"]] for entry in stops[1:] if entry["kind"] == "repair"]
    points = [
        {"x": 100 * entry[key], "y": entry["auc"], "s": number, "k": entry["kind"]}
        for number, entry in enumerate(stops)
    ]
    along = [{"x": 100 * gap, "y": auc, "i": i} for i, (gap, auc) in enumerate(line)]
    across, up = (_padded([row[axis] for row in (*along, *points)]) for axis in "xy")
    x = alt.X("x:Q", title="gap left, in points (fairer to the right)", scale=alt.Scale(domain=across, reverse=True))
    y = alt.Y("y:Q", title="AUC", scale=alt.Scale(domain=up), axis=alt.Axis(format=".3f"))

    def marks(which: str, **look: Any) -> Any:
        return _named(alt, "stops").transform_filter(which).mark_point(opacity=1, strokeWidth=2, **look).encode(x, y)

    hollow = {"color": "var(--ink)", "fill": "var(--paper)"}
    layers = [
        _named(alt, "zero").mark_rule(color="var(--muted)", strokeDash=[3, 3]).encode(x="x:Q"),
        _named(alt, "curve").mark_line(color="var(--accent)", strokeWidth=2, opacity=0.55).encode(x, y, order="i:Q"),
        marks("datum.k == 'repair'", size=28, color="var(--accent)", filled=True),
        marks("datum.k == 'as it is'", shape="diamond", size=130, **hollow),
        marks("datum.k == 'map'", shape="square", size=110, **hollow),
        marks("datum.s == stop", size=220, fill="var(--accent)", stroke="var(--paper)"),
    ]
    return layers, {"curve": along, "stops": points, "zero": [{"x": 0}]}


def _roc(alt: Any, drawn: Drawn, pair: list[int]) -> _Chart | None:
    """Both cross-ROC curves of the pair spoken of: faint as it is, full at the stop chosen."""
    keys = drawn.keys
    rows = [
        {"x": 100 * x, "y": 100 * y, "s": stop, "g": keys[group], "i": i}
        for stop, curves in enumerate(drawn.roc)
        for group, curve in zip(pair, curves, strict=True)
        for i, (x, y) in enumerate(curve)
    ]
    if not rows:
        return None
    whole = alt.Scale(domain=[0, 100])
    x = alt.X("x:Q", title="of the other group without the outcome, %", scale=whole)
    y = alt.Y("y:Q", title="of its own with the outcome, %", scale=whole)
    diagonal = _named(alt, "diagonal").mark_line(color="var(--line)").encode(x="x:Q", y="y:Q")
    corners = [{"x": 0, "y": 0}, {"x": 100, "y": 100}]
    return [diagonal, *_lines(alt, drawn, "linear", x, y, order="i:Q")], {"rows": rows, "diagonal": corners}


def _distribution(alt: Any, drawn: Drawn, label: str) -> _Chart | None:
    """Score distributions of the groups shown, for one outcome: faint as it is, full at the stop chosen."""
    edges, keys = drawn.edges.tolist(), drawn.keys
    middle = [(low + high) / 2 for low, high in pairwise(edges)]
    rows = [
        {"x": x, "y": 100 * share, "s": stop, "g": keys[group]}
        for stop, groups in enumerate(drawn.distributions)
        for group, shares in zip(drawn.shown, groups, strict=True)
        for x, share in zip(middle, shares[label], strict=False)
    ]
    if not rows:
        return None
    # The same for all stops: a scale that moved would hide what moves.
    highest = max(row["y"] for row in rows)
    x = alt.X("x:Q", title="score", scale=alt.Scale(domain=[edges[0], edges[-1]], nice=False))
    y = alt.Y("y:Q", title="of them in each bar, %", scale=alt.Scale(domain=[0, highest]))
    return _lines(alt, drawn, "step", x, y), {"rows": rows}


def _lines(alt: Any, drawn: Drawn, interpolate: str, *axes: Any, **order: str) -> list[Any]:
    """One line per group, in its own colour and dashes: those as it is and, above, those of the stop chosen."""
    keys = list(drawn.keys.values())
    base = _named(alt, "rows").encode(
        *axes,
        alt.Color("g:N", scale=alt.Scale(domain=keys, range=[f"var(--{key})" for key in keys]), legend=None),
        alt.StrokeDash("g:N", scale=alt.Scale(domain=keys, range=(2 * _DASHES)[: len(keys)]), legend=None),
        **order,
    )
    return [
        base.transform_filter("datum.s == 0").mark_line(strokeWidth=1.2, opacity=0.45, interpolate=interpolate),
        base.transform_filter("datum.s == stop").mark_line(strokeWidth=2.4, interpolate=interpolate),
    ]


def _padded(values: list[float]) -> list[float]:
    """Return a range with some room around values, and around 0 where they are all the same."""
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 0.01
    return [low - room, high + room]


def _named(alt: Any, name: str) -> Any:
    return alt.Chart(alt.NamedData(name=name))

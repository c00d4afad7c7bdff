"""The charts, made with Altair: colours are the page's own (CSS variables), and no name or other text of the user's.

Each chart listens to one signal, ``stop``: the number of the stop that the page's control points at. Charts are handed
on as Vega, compiled here, so that the page needs the runtime only.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from xorder._optional import import_optional
from xorder.reporting._numbers import Drawn

_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]

_Rows = list[dict[str, Any]]
_Chart = tuple[Any, dict[str, _Rows]]

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
    """Return the charts of a report by the place on the page where they go; none where there is nothing to draw."""
    if numbers["finding"]["pair"] is None:
        return {}
    alt = import_optional("altair", extra="report", purpose="The report")
    stops = numbers["path"]["stops"]
    last = len(stops) - 1
    found: dict[str, _Chart | None] = {
        "roc": _roc(alt, drawn, numbers["finding"]["pair"], last),
        "positives": _distribution(alt, drawn, "positive", last),
        "negatives": _distribution(alt, drawn, "negative", last),
    }
    if last > 0:
        found["tradeoff"] = _tradeoff(alt, stops, drawn.curve, last)
    return {name: _compiled(*chart) for name, chart in found.items() if chart is not None}


def _compiled(chart: Any, rows: dict[str, _Rows]) -> dict[str, Any]:
    """Compile a chart that names its data, and put the data in: checking each row of them would take seconds."""
    converter = import_optional("vl_convert", extra="report", purpose="The report")
    sized = chart.properties(width="container", height=_HEIGHT, autosize={"type": "fit-x", "contains": "padding"})
    record: dict[str, Any] = converter.vegalite_to_vega(sized.configure(**_CONFIG).to_dict())
    for source in record["data"]:
        if source["name"] in rows:
            source["values"] = rows[source["name"]]
    return record


def _tradeoff(alt: Any, stops: list[dict[str, Any]], curve: list[list[float]], last: int) -> _Chart:
    """AUC over the gap, fairer to the right: the curve, the stops on it, the score as it is, and the stop chosen."""
    stop = alt.param(name="stop", value=last)
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
    drawn, marks, zero = (_named(alt, name) for name in ("curve", "stops", "zero"))
    saved = [
        marks.transform_filter("datum.k == 'map'")
        .mark_point(shape="square", color="var(--ink)", fill="var(--paper)", size=110, strokeWidth=2, opacity=1)
        .encode(x, y)
    ]
    chart = alt.layer(
        zero.mark_rule(color="var(--muted)", strokeDash=[3, 3]).encode(x="x:Q"),
        drawn.mark_line(color="var(--accent)", strokeWidth=2, opacity=0.55).encode(x=x, y=y, order="i:Q"),
        marks.transform_filter("datum.k == 'repair'")
        .mark_circle(color="var(--accent)", size=28, opacity=1)
        .encode(x, y),
        marks.transform_filter("datum.k == 'as it is'")
        .mark_point(shape="diamond", color="var(--ink)", fill="var(--paper)", size=130, strokeWidth=2, opacity=1)
        .encode(x, y),
        *(saved if stops[-1]["kind"] == "map" else []),
        marks.transform_filter("datum.s == stop")
        .mark_point(
            color="var(--accent)", fill="var(--accent)", stroke="var(--paper)", size=220, strokeWidth=2, opacity=1
        )
        .encode(x, y),
    ).add_params(stop)
    return chart, {"curve": along, "stops": points, "zero": [{"x": 0}]}


def _roc(alt: Any, drawn: Drawn, pair: list[int], last: int) -> _Chart | None:
    """Both cross-ROC curves of the pair spoken of: faint as it is, full at the stop chosen."""
    rows = [
        {"x": 100 * x, "y": 100 * y, "s": stop, "g": _key(drawn, group), "i": i}
        for stop, curves in enumerate(drawn.roc)
        for group, curve in zip(pair, curves, strict=True)
        for i, (x, y) in enumerate(curve)
    ]
    if not rows:
        return None
    whole = alt.Scale(domain=[0, 100])
    base = _named(alt, "rows").encode(
        alt.X("x:Q", title="of the other group without the outcome, %", scale=whole),
        alt.Y("y:Q", title="of its own with the outcome, %", scale=whole),
        alt.Color("g:N", scale=_colours(alt, drawn), legend=None),
        alt.StrokeDash("g:N", scale=_dashes(alt, drawn), legend=None),
        order="i:Q",
    )
    diagonal = _named(alt, "diagonal").mark_line(color="var(--line)").encode(x="x:Q", y="y:Q")
    corners = [{"x": 0, "y": 0}, {"x": 100, "y": 100}]
    return _with_stop(alt, last, base, diagonal, interpolate="linear"), {"rows": rows, "diagonal": corners}


def _distribution(alt: Any, drawn: Drawn, label: str, last: int) -> _Chart | None:
    """Score distributions of the groups shown, for one outcome: faint as it is, full at the stop chosen."""
    edges = drawn.edges.tolist()
    middle = [(low + high) / 2 for low, high in pairwise(edges)]
    rows = [
        {"x": x, "y": 100 * share, "s": stop, "g": _key(drawn, group)}
        for stop, groups in enumerate(drawn.distributions)
        for group, shares in zip(drawn.shown, groups, strict=True)
        for x, share in zip(middle, shares[label], strict=False)
    ]
    if not rows:
        return None
    # The same for all stops: a scale that moved would hide what moves.
    highest = 100 * max(max(shares[label], default=0.0) for groups in drawn.distributions for shares in groups)
    base = _named(alt, "rows").encode(
        alt.X("x:Q", title="score", scale=alt.Scale(domain=[edges[0], edges[-1]], nice=False)),
        alt.Y("y:Q", title="of them in each bar, %", scale=alt.Scale(domain=[0, highest])),
        alt.Color("g:N", scale=_colours(alt, drawn), legend=None),
        alt.StrokeDash("g:N", scale=_dashes(alt, drawn), legend=None),
    )
    return _with_stop(alt, last, base, interpolate="step"), {"rows": rows}


def _with_stop(alt: Any, last: int, base: Any, *below: Any, interpolate: str) -> Any:
    return alt.layer(
        *below,
        base.transform_filter("datum.s == 0").mark_line(strokeWidth=1.2, opacity=0.45, interpolate=interpolate),
        base.transform_filter("datum.s == stop").mark_line(strokeWidth=2.4, interpolate=interpolate),
    ).add_params(alt.param(name="stop", value=last))


def _padded(values: list[float]) -> list[float]:
    """Return a range with some room around values, and around 0 where they are all the same."""
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 0.01
    return [low - room, high + room]


def _named(alt: Any, name: str) -> Any:
    return alt.Chart(alt.NamedData(name=name))


def _key(drawn: Drawn, group: int) -> str:
    return f"g{drawn.shown.index(group)}"


def _colours(alt: Any, drawn: Drawn) -> Any:
    keys = [f"g{position}" for position in range(len(drawn.shown))]
    return alt.Scale(domain=keys, range=[f"var(--{key})" for key in keys])


def _dashes(alt: Any, drawn: Drawn) -> Any:
    keys = [f"g{position}" for position in range(len(drawn.shown))]
    return alt.Scale(domain=keys, range=_DASHES[: len(keys)])

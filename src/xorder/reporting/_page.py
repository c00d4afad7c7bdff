"""One self-contained page: numbers through an autoescaping template, with style, script and chart library inside."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib import resources
from typing import Any

from xorder._metric import METRICS
from xorder._optional import import_optional
from xorder._present import count, gap_title, group_names, level, one_line, percent, pvalue_text, shortened
from xorder.reporting._charts import charts
from xorder.reporting._numbers import Drawn
from xorder.reporting._text import (
    WITHOUT,
    at_the_top,
    called,
    capital,
    gap_of_pair,
    interval,
    interval_in_points,
    number,
    points,
    signed,
    signed_points,
    summary,
)

_PURPOSE = "The report"

# What the page asks of the bundle: of its libraries, only this one is always there by its name.
_EXPORTS = "window.vegaEmbed = vegaEmbed;"

# Rows of gaps shown; of more, the widest. The numbers have all.
_MOST_GAPS = 28

# Characters of a column's or a file's name, of a warning, and of the title.
_LONGEST_NAME, _LONGEST_WARNING, _LONGEST_TITLE = 60, 300, 200

_WHO = {"positive": "with the outcome", "negative": "without it", "all": "all"}


def display_names(numbers: dict[str, Any]) -> list[str]:
    """Return the names of the groups as the page has room for them."""
    return group_names(numbers["groups"], 32)


def render(numbers: dict[str, Any], drawn: Drawn) -> str:
    """Return the page of a report as text."""
    jinja2 = import_optional("jinja2", extra="report", purpose=_PURPOSE)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(_packed("page.html.j2"))
    view = page_view(numbers, drawn)
    specs = charts(numbers, drawn)
    data = {"stops": view["stops"], "charts": specs}
    text: str = template.render(
        **view,
        charts=list(specs),
        style=_packed("page.css"),
        script=_packed("page.js"),
        library=_library(),
        island=script_json(data),
    )
    return text


def script_json(data: Any) -> str:
    """Write JSON that may stand inside a script element: no character in it can end the element or open a comment.

    >>> script_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _library() -> str:
    """Vega and what embeds it as one script, from the package that has them; nothing is downloaded."""
    converter = import_optional("vl_convert", extra="report", purpose=_PURPOSE)
    bundle: str = converter.javascript_bundle(snippet=_EXPORTS)
    # Inside a string of the library this is the same text, and to the page it is no end of the script.
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _packed(name: str) -> str:
    return resources.files("xorder.reporting").joinpath(name).read_text(encoding="utf-8")


def page_view(numbers: dict[str, Any], drawn: Drawn) -> dict[str, Any]:
    """Lay out a report for the template, as texts and plain lists."""
    names = display_names(numbers)
    columns = {key: shortened(name, _LONGEST_NAME) for key, name in numbers["names"].items()}
    outcome = f"with the outcome (“{columns['label']}”)" if "label" in columns else "with the outcome"
    pair = numbers["finding"]["pair"]
    keys = {g: f"g{position}" for position, g in enumerate(drawn.shown)}
    shown = [{"name": names[g], "key": key, "in_pair": g in (pair or ())} for g, key in keys.items()]
    return {
        "title": one_line(numbers["title"])[:_LONGEST_TITLE],
        "columns": {key: columns.get(key) for key in ("score", "label", "group")},
        "source": _source(numbers),
        "level": level(numbers["confidence"]),
        "remainder": f"{1 - numbers['confidence']:.4g}",
        "metric": gap_title(numbers["metric"]),
        "metrics": [{"title": metric.title, "meaning": metric.meaning} for metric in METRICS.values()],
        "verdict": numbers["finding"]["verdict"],
        "summary": summary(numbers, names, outcome),
        "pair": [names[g] for g in pair] if pair else None,
        "pair_keys": [keys[g] for g in pair] if pair else None,
        "keys": keys,
        "shown": shown,
        "groups": len(names),
        # What to add to captions where not all groups are shown.
        "some": f"{len(shown)} of {len(names)} groups" if len(names) > len(shown) else "",
        "audit": _audit(numbers, names, drawn.shown),
        "stops": [_stop(entry, numbers) for entry in numbers["path"]["stops"]],
        "path": _path(numbers, names),
        "after": _after(numbers, names),
        "moves": _moves(numbers, names, drawn.shown),
        "against": at_the_top(numbers, names),
        "top": _top(numbers, names, drawn.shown),
        "data": _data(numbers, names),
        "versions": numbers["versions"],
        "expected": numbers["expected"] is not None,
    }


def _source(numbers: dict[str, Any]) -> dict[str, str] | None:
    source = numbers["source"]
    if source is None:
        return None
    return {
        "name": shortened(source["name"], _LONGEST_NAME),
        "full": one_line(source["name"]),
        "sha256": source["sha256"],
        "bytes": count(source["bytes"]),
    }


def _audit(numbers: dict[str, Any], names: list[str], shown: list[int]) -> dict[str, Any]:
    audit = numbers["audit"]
    tables = {metric: _gaps(metric, numbers, names) for metric in METRICS}
    return {
        "auc": number(audit["auc"]),
        "auc_interval": interval(audit["auc_interval"], sign=""),
        "matrix": [
            {"name": names[g], "values": [number(audit["xauc"][g][h]) for h in shown], "prf": number(audit["prf"][g])}
            for g in shown
        ],
        "columns": [names[g] for g in shown],
        "main": tables.pop(numbers["metric"]),
        "others": list(tables.values()),
    }


def _gaps(metric: str, numbers: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Lay out the gaps of a metric, the widest first; of very many, only those."""
    gaps = [gap for gap in numbers["audit"]["gaps"] if gap["metric"] == metric]
    read = sorted(zip(gaps, numbers["readings"][metric], strict=True), key=lambda each: -abs(each[0]["value"] or 0.0))
    widest = read[:_MOST_GAPS]
    ends = [end for gap, _ in widest for end in (*gap["interval"], gap["value"]) if end is not None]
    reach = max([0.01, *map(abs, ends)])
    return {
        "name": gap_title(metric),
        "widest": f"; the widest of {len(gaps)} pairs" if len(gaps) > len(widest) else "",
        "rows": [_gap(gap, reading, reach, names, numbers) for gap, reading in widest],
    }


def _gap(gap: dict[str, Any], reading: str, reach: float, names: list[str], numbers: dict[str, Any]) -> dict[str, Any]:
    """One row of gaps; what is drawn lies on a line from -reach to reach, in percent of its length."""
    drawn = None
    if gap["pvalue"] is not None:
        low, high, dot = (50 + 50 * end / reach for end in (*gap["interval"], gap["value"]))
        drawn = {"left": round(low, 2), "width": round(high - low, 2), "dot": round(dot, 2)}
    first, second = (names[numbers["groups"].index(group)] for group in gap["pair"])
    return {
        "first": first,
        "second": second,
        "value": signed(gap["value"]),
        "interval": interval(gap["interval"]),
        "pvalue": pvalue_text(gap["pvalue"]),
        "reading": reading,
        "sure": reading == "not chance",
        "drawn": drawn,
    }


def _stop(stop: dict[str, Any], numbers: dict[str, Any]) -> dict[str, Any]:
    """One place of the control: its name, and the text of each number that changes with it."""
    pair = numbers["finding"]["pair"]
    change = None if None in (stop["auc"], numbers["audit"]["auc"]) else stop["auc"] - numbers["audit"]["auc"]
    chances = [stop["xauc"][a][b] for a, b in (pair, pair[::-1])] if pair else [None, None]
    if stop["kind"] == "as it is":
        label = "the score as it is"
    elif stop["kind"] == "map":
        label = "the saved map"
    elif stop["limit"] == 0:
        label = "no gap allowed"
    else:
        label = f"a gap of {points(stop['limit'])} points allowed"
    text = {
        "label": capital(label),
        "auc": number(stop["auc"]),
        "change": signed(change),
        "gap": signed_points(stop["gap"]),
        "worst": points(stop["worst"]),
        "first": number(chances[0]),
        "second": number(chances[1]),
        "below": "–" if stop.get("below_best") is None else _rounded_up(stop["below_best"]),
    }
    text["spoken"] = f"{label}: AUC {text['auc']}, gap {text['gap']} points"
    return {"text": text, "bars": [round(100 * chance, 2) if chance is not None else 0 for chance in chances]}


def _path(numbers: dict[str, Any], names: list[str]) -> dict[str, Any]:
    path = numbers["path"]
    return {
        "why_not": path["why_not"],
        "reference": None if path["reference"] is None else called(names[path["reference"]]),
        "moved": ", ".join(called(names[g]) for g in path["moved"] or []),
        "left": ", ".join(called(names[g]) for g in path["left"]),
        "two": path["moved"] is not None and len(path["moved"]) == 1,
        "last": len(path["stops"]) - 1,
    }


def _after(numbers: dict[str, Any], names: list[str]) -> dict[str, Any] | None:
    after = numbers["after"]
    if after is None:
        return None
    outside = [
        f"{percent(share)} of {called(name)}"
        for name, share in zip(names, after["outside"], strict=True)
        if share is not None and share > 0.1
    ]
    rows = []
    if after["kind"] == "map" and numbers["finding"]["pair"]:
        for said, audit in (("as it is", numbers["audit"]), ("with the saved map", after["audit"])):
            value, *ends = gap_of_pair(audit, numbers)
            rows.append(
                {
                    "said": said,
                    "auc": number(audit["auc"]),
                    "auc_interval": interval(audit["auc_interval"], sign=""),
                    "gap": signed(value),
                    "interval": interval(ends),
                }
            )
    return {"kind": after["kind"], "learnt_here": after["learnt_here"], "outside": outside, "rows": rows}


def _moves(numbers: dict[str, Any], names: list[str], shown: list[int]) -> list[dict[str, Any]]:
    """Lay out the changes of rank of the groups shown."""
    if numbers["moves"] is None:
        return []
    rows = []
    for g in shown:
        for who, said in _WHO.items():
            move = numbers["moves"][g][who]
            bar = max(-50.0, min(50.0, 200 * (move["mean"] or 0.0)))
            rows.append(
                {
                    "name": names[g],
                    "who": said,
                    "first": who == "positive",
                    "mean": signed_points(move["mean"]),
                    "range": interval_in_points([move["low"], move["high"]]),
                    "up": percent(move["up"]),
                    "down": percent(move["down"]),
                    "left": round(50 + min(bar, 0.0), 2),
                    "width": round(abs(bar), 2),
                }
            )
    return rows


def _top(numbers: dict[str, Any], names: list[str], shown: list[int]) -> list[dict[str, Any]]:
    """Lay out the top of the list, before and after, for the groups shown."""
    tables = []
    for entry in numbers["top"]:
        after = entry["after"]
        rows = []
        for g in shown:
            then = after[g] if after else dict.fromkeys(entry["before"][g])
            row = {
                f"{what}_{when}": percent(record[what])
                for what in ("share", "precision", "found")
                for when, record in (("before", entry["before"][g]), ("after", then))
            }
            rows.append(row | {"name": names[g], "all": percent(numbers["data"]["groups"][g]["share"])})
        tables.append({"percent": f"{entry['percent']:g} %", "rows": rows})
    return tables


def _data(numbers: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Lay out counts, ties and what is wrong with some groups."""
    data = numbers["data"]
    rows = [
        {
            "name": name,
            "full": one_line(full),
            "people": count(group["people"]),
            "positives": count(group["positives"]),
            "negatives": count(group["negatives"]),
            "rate": percent(group["rate"]),
            "scores": count(group["scores"]),
            "range": f"{group['lowest']:.4g} to {group['highest']:.4g}".replace("-", "−"),
        }
        for name, full, group in zip(names, numbers["groups"], data["groups"], strict=True)
    ]
    return {
        "rows": rows,
        "people": count(data["people"]),
        "scores": count(data["ties"]["scores"]),
        "across": percent(data["ties"]["across"]) if data["ties"]["across"] else None,
        "commonest": percent(data["ties"]["commonest"]),
        "few": data["few"],
        "small": [
            name for name, group in zip(names, data["groups"], strict=True) if group["too_few"] and not group["missing"]
        ],
        "lacking": [
            f"{name} has {' and '.join(WITHOUT[kind] for kind in group['missing'])}"
            for name, group in zip(names, data["groups"], strict=True)
            if group["missing"]
        ],
        "weighted": numbers["weighted"],
        "warnings": [shortened(text, _LONGEST_WARNING) for text in data["warnings"]],
    }


def _rounded_up(value: float) -> str:
    """Write a limit with four digits, never less than it is.

    >>> _rounded_up(0.00001), _rounded_up(0.0)
    ('0.0001', '0.0000')
    """
    return number(math.ceil(value * 1e4) / 1e4)

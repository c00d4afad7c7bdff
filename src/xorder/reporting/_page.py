"""One self-contained page: numbers through an autoescaping template, with style, script and drawings inside."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from functools import cache
from importlib import resources
from typing import Any
from unicodedata import bidirectional
from urllib.parse import quote

from xorder._metric import METRICS
from xorder._optional import import_optional
from xorder._present import count, gap_title, group_names, level, one_line, percent, pvalue_text, shortened
from xorder.metrics._sheet import AuditTable
from xorder.reporting import _text as say
from xorder.reporting._charts import charts
from xorder.reporting._numbers import SHEET, Drawn
from xorder.reporting._svg import bar, strip
from xorder.reporting._text import capital, lacking, listed, summary, tolerated

# Rows of gaps shown; of more, the widest. The numbers have all.
_MOST_GAPS = 15

# Characters of a group's name, of a column's that the summary quotes, and of the title.
_LONGEST_GROUP, _LONGEST_NAME, _LONGEST_TITLE = 80, 60, 200

# A map that this share of a group's scores lies outside of may have been fitted to another score.
_MUCH_OUTSIDE = 0.1

# Groups that a sentence names; more are counted.
_FEW_GROUPS = 4

# A change of place that fills its bar, as a share of the list.
_LONGEST_MOVE = 0.25

# Columns of the table of calibration that the page shows.
CALIBRATION = ("observed_to_expected", "intercept", "slope", "ici")

# Thresholds of net benefit that the page shows; the table to keep has more.
_THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)

# Rates at a cut that the page shows.
_RATES = {"sensitivity": "sensitivity", "false_positive_rate": "false positive rate", "ppv": "precision (PPV)"}

# Characters of a table that an address can hold as they are.
_PLAIN = ",.:;+*()!$@/ ".replace(" ", "")

# What the template writes numbers and names with.
_FILTERS: list[Any] = [count, one_line, percent, pvalue_text, shortened, say.number, say.signed, say.points]
_FILTERS += [say.signed_points, say.interval_text, say.interval_in_points]


def display_names(numbers: dict[str, Any]) -> list[str]:
    """Return the names of the groups as the page has room for them."""
    names = group_names(numbers["groups"], _LONGEST_GROUP)
    # A name that runs from right to left must not turn what stands beside it.
    turned = [any(bidirectional(each) in ("R", "AL") for each in name) for name in names]
    return [f"\u2068{name}\u2069" if turns else name for name, turns in zip(names, turned, strict=True)]


def render(numbers: dict[str, Any], drawn: Drawn) -> str:
    """Return the page of a report as text."""
    jinja2 = import_optional("jinja2", extra="report", purpose="The report")
    view = page_view(numbers, drawn)
    style, script = _packed("page.css"), _packed("page.js")
    view |= {"charts": charts(numbers, drawn, view["name_of"]), "island": script_json(view["stops"])}
    view |= {"style": style, "script": script, "policy": policy(style, script)}
    return str(_template(jinja2).render(view, bar=bar, strip=strip))


@cache
def _template(jinja2: Any) -> Any:
    """Compile the template, which takes as long as to draw a page."""
    blocks = {"trim_blocks": True, "lstrip_blocks": True}
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, **blocks)
    environment.filters |= {write.__name__: write for write in _FILTERS}
    return environment.from_string(_packed("page.html.j2"))


def script_json(data: Any) -> str:
    """Write JSON that may stand inside a script element: no character in it can end the element or open a comment.

    >>> script_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def policy(style: str, script: str) -> str:
    """Return what a page may do: apply this style and run this script, and load nothing.

    >>> policy("", "").partition(";")[0]
    "default-src 'none'"
    """
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    allowed = [f"{kind}-src 'sha256-{each}'" for kind, each in zip(("style", "script"), hashes, strict=True)]
    return "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])


def _packed(name: str) -> str:
    return resources.files("xorder.reporting").joinpath(name).read_text(encoding="utf-8")


def page_view(numbers: dict[str, Any], drawn: Drawn) -> dict[str, Any]:
    """Return what the template writes: all numbers, and what takes more than a look at one of them."""
    names, path, after = display_names(numbers), numbers["path"], numbers["after"]
    label = numbers["names"].get("label")
    outcome = f"with the outcome (“{shortened(label, _LONGEST_NAME)}”)" if label else "with the outcome"
    pair, shown = numbers["finding"]["pair"], drawn.shown
    tables = {metric: _gaps(metric, numbers, names) for metric in METRICS}
    groups = list(zip(names, numbers["data"]["groups"], strict=True))
    rates, benefits = (_rows_shown(numbers, name, shown) for name in ("cuts", "net_benefit"))
    places = {name: {row["place"] for row in rows} for name, rows in (("cuts", rates), ("net_benefit", benefits))}
    return numbers | {
        "title": one_line(numbers["title"])[:_LONGEST_TITLE],
        "level": level(numbers["confidence"]),
        "remainder": f"{1 - numbers['confidence']:.4g}",
        "gap_title": gap_title(numbers["metric"]),
        "metrics": METRICS.values(),
        "summary": summary(numbers, names, outcome),
        "name_of": names,
        "pair": [names[g] for g in pair] if pair else None,
        "keys": drawn.keys,
        "shown": shown,
        # What to add to captions where not all groups are shown.
        "some": f"{len(shown)} of {len(names)} groups" if len(names) > len(shown) else "",
        "main_gaps": tables.pop(numbers["metric"]),
        "other_gaps": tables.values(),
        "stops": [_stop(entry, numbers, shown, places) for entry in path["stops"]],
        "last": len(path["stops"]) - 1,
        "reference": None if path["reference"] is None else say.called(names[path["reference"]]),
        "moved": _several(path["moved"] or [], names),
        "left": _several(path["left"], names),
        "two": path["moved"] is not None and len(path["moved"]) == 1,
        "kept": _kept(numbers, names),
        "calibration": CALIBRATION,
        "performance": [(g, numbers["sheet"]["groups"]["rows"][g]) for g in (*shown, len(names))],
        "sheet_names": [*names, "all"],
        "rates": rates,
        "benefits": benefits,
        "downloads": _downloads(numbers),
        "outside": [
            f"{percent(share)} of {say.called(name)}"
            for name, share in zip(names, after["outside"] if after else [], strict=False)
            if share is not None and share > _MUCH_OUTSIDE
        ],
        "lacking": lacking(numbers, names),
        "small": [name for name, group in groups if group["too_few"] and not group["missing"]],
    }


def _gaps(metric: str, numbers: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the gaps of a metric, the widest first, of very many only those; intervals reach as far as ``reach``."""
    gaps = [gap for gap in numbers["audit"]["gaps"] if gap["metric"] == metric]
    read = sorted(zip(gaps, numbers["readings"][metric], strict=True), key=lambda each: -abs(each[0]["value"] or 0.0))
    widest = read[:_MOST_GAPS]
    ends = [end for gap, _ in widest for end in (*gap["interval"], gap["value"]) if end is not None]
    rows = [
        gap | {"reading": reading, "pair": [names[numbers["groups"].index(group)] for group in gap["pair"]]}
        for gap, reading in widest
    ]
    more = f"; the widest of {len(gaps)} pairs" if len(gaps) > len(widest) else ""
    return {"name": gap_title(metric), "widest": more, "rows": rows, "reach": max([0.01, *map(abs, ends)])}


def _stop(
    stop: dict[str, Any], numbers: dict[str, Any], shown: list[int], places: dict[str, set[int]]
) -> dict[str, Any]:
    """One stop of the control: its names, the text of each number that changes with it, and the ends of bars."""
    pair = numbers["finding"]["pair"]
    chances = [stop["xauc"][a][b] for a, b in (pair, pair[::-1])] if pair else [None, None]
    short = "the saved map" if stop["kind"] == "map" else f"{100 * stop.get('part', 0):g} %"
    label = {"as it is": "the score as it is", "map": "the saved map"}.get(stop["kind"], f"{short} of the repair")
    unchanged: dict[str, Any] = {"value": 0.0 if stop["kind"] == "as it is" else None, "interval": []}
    auc, gap = (stop[f"{what}_change"] or unchanged for what in ("auc", "gap"))
    text = {
        "label": capital(label),
        "auc": say.number(stop["auc"]),
        "auc_interval": say.interval_text(stop["auc_interval"], sign=""),
        "change": say.signed(auc["value"]),
        "change_interval": say.interval_text(auc["interval"]) if auc["interval"] else "–",
        "gap": say.signed_points(stop["gap"]),
        "gap_interval": say.interval_in_points(stop["gap_interval"]),
        "gap_change": say.signed_points(gap["value"]),
        "gap_change_interval": say.interval_in_points(gap["interval"]) if gap["interval"] else "–",
        "worst": say.points(stop["worst"]),
        "first": say.number(chances[0]),
        "second": say.number(chances[1]),
        "below": "–" if stop.get("below_best") is None else _rounded_up(stop["below_best"]),
    }
    text["verdict"] = tolerated(stop)
    text["spoken"] = f"{label}: AUC {text['auc']}, gap {text['gap']} points"
    bars = {name: [0, _percent(chance)] for name, chance in zip(("first", "second"), chances, strict=True)}
    for c, cut in enumerate(stop["cuts"]):
        text[f"cut-{c}"] = say.signed_points(cut["value"])
        text[f"cut-{c}-interval"] = say.interval_in_points(cut["interval"])
    for g in shown:
        text[f"prf-{g}"] = say.number(stop["prf"][g])
        for c, top in enumerate(stop["top"]):
            text |= {f"top-{c}-{g}-{what}": percent(top[g][what]) for what in ("share", "precision", "found")}
        for who, move in stop["moves"][g].items():
            key, mean = f"move-{g}-{who}", min(max(move["mean"] or 0.0, -_LONGEST_MOVE), _LONGEST_MOVE) / _LONGEST_MOVE
            text[key] = say.signed_points(move["mean"])
            text[f"{key}-range"] = say.interval_in_points([move["low"], move["high"]])
            text |= {f"{key}-{way}": percent(move[way]) for way in ("up", "down")}
            bars[key] = [_percent(0.5 + min(mean, 0.0) / 2), _percent(abs(mean) / 2)]
    return {"short": short, "text": text | _sheet_text(stop, numbers, places), "bars": bars}


def _sheet_text(stop: dict[str, Any], numbers: dict[str, Any], places: dict[str, set[int]]) -> dict[str, str]:
    """What the tables of the sheet say at a stop, by table and row; at the first, what they say as it is."""
    sheet, after = numbers["sheet"], stop["sheet"]
    is_first = stop["kind"] == "as it is"
    text: dict[str, str] = {}
    calibration = [row for row in sheet["calibration"]["rows"] if row["scores"] == "as they are"]
    for place, row in enumerate(calibration if is_first else after["calibration"]):
        text |= {f"calibration-{place}-{name}": say.number(row[name], 3) for name in CALIBRATION}
    for name, value in (("cuts", "value"), ("net_benefit", "net_benefit")):
        now = [{"after": row[value], "change": 0.0} for row in sheet[name]["rows"]]
        for place, row in enumerate(now if is_first else after[name]):
            if place not in places[name]:
                continue
            ends = None if is_first else say.interval_text([row["change_low"], row["change_high"]])
            text[f"{name}-{place}"] = say.number(row["after"])
            text[f"{name}-{place}-change"] = say.signed(row["change"]) + ("" if ends is None else f" ({ends})")
    return text


def _downloads(numbers: dict[str, Any]) -> list[dict[str, str]]:
    """Return the tables of the sheet as files to keep: what they are, their names, and their content in the address."""
    tables = {name: numbers["sheet"].get(name, {"rows": []})["rows"] for name in SHEET} | {"steps": _steps(numbers)}
    texts = {name: AuditTable(name, rows).to_csv() for name, rows in tables.items() if rows}
    return [
        {"words": name.replace("_", " "), "file": f"{name}.csv"}
        | {"address": f"data:text/csv;charset=utf-8,{quote(text, safe=_PLAIN)}"}
        for name, text in texts.items()
    ]


def _steps(numbers: dict[str, Any]) -> list[dict[str, Any]]:
    """Return AUC, gap and rates at cuts at all steps of the control, a row for each number; none without a control."""
    groups, found, stops = numbers["groups"], list[dict[str, Any]](), numbers["path"]["stops"]
    pair = " - ".join(str(groups[g]) for g in numbers["finding"]["pair"] or ())

    def add(what: str, at: str, whose: str, value: Any, ends: Any, change: Any = None) -> None:
        low, high = change["interval"] if change else (None, None)
        names = ("step", "what", "at", "group", "value", "low", "high", "change", "change_low", "change_high")
        row = (stop.get("part", stop["kind"]), what, at, whose, value, *ends, change and change["value"], low, high)
        found.append(dict(zip(names, row, strict=True)))

    for stop in stops if len(stops) > 1 else ():
        add("auc", "", "all", stop["auc"], stop["auc_interval"], stop["auc_change"])
        if pair:
            add("gap", "", pair, stop["gap"], stop["gap_interval"], stop["gap_change"])
        for cut in stop["cuts"]:
            add("sensitivity gap", f"{cut['percent']:g} %", pair, cut["value"], cut["interval"])
        for row, then in zip(numbers["sheet"]["cuts"]["rows"], stop["sheet"]["cuts"], strict=False):
            change = {"value": then["change"], "interval": (then["change_low"], then["change_high"])}
            add(row["rate"], row["at"], row["group"], then["after"], (None, None), change)
    return found


def _rows_shown(numbers: dict[str, Any], name: str, shown: list[int]) -> list[dict[str, Any]]:
    """Return the rows of a table that the page shows, each with its position in the table and its group."""
    rows, size = numbers["sheet"][name]["rows"], len(numbers["groups"]) + 1
    kinds = len({row.get("rate") for row in rows})
    return [
        row | {"place": place, "g": g, "words": _RATES.get(row.get("rate"))}
        for place, row in enumerate(rows)
        if (row.get("rate") in _RATES or row.get("threshold") in _THRESHOLDS)
        and ((g := place // kinds % size) in shown or g == size - 1)
    ]


def _percent(share: float | None) -> float:
    return round(100 * (share or 0.0), 1)


def _several(groups: list[int], names: list[str]) -> str:
    """Name a few groups, or count them."""
    return listed([say.called(names[g]) for g in groups]) if len(groups) <= _FEW_GROUPS else f"{len(groups)} groups"


def _kept(numbers: dict[str, Any], names: list[str]) -> str:
    """Say what share of each moved group's correction the evidence carries."""
    path = numbers["path"]
    moved = [(path["kept"][g], say.called(names[g])) for g in path["moved"] or [] if path["kept"][g] is not None]
    shares = [f"{percent(share, 0)} for {name}" for share, name in moved]
    if len(moved) > _FEW_GROUPS:
        shares = [f"from {percent(min(moved)[0], 0)} to {percent(max(moved)[0], 0)}"]
    return f"It keeps the share of the correction that the evidence carries: {listed(shares)}." if shares else ""


def _rounded_up(value: float) -> str:
    """Write a limit with four digits, never less than it is.

    >>> _rounded_up(0.00001), _rounded_up(0.0)
    ('0.0001', '0.0000')
    """
    return say.number(math.ceil(value * 1e4) / 1e4)

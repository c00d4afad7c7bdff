"""What the template prints: every number of the report in the digits it is shown with, and names cut to fit."""

from __future__ import annotations

from typing import Any

from xorder.reporting._formats import (
    UNKNOWN,
    at_most,
    called,
    count,
    display_names,
    interval,
    level,
    number,
    one_line,
    percent,
    points,
    pvalue,
    shortened,
    signed,
    signed_points,
)
from xorder.reporting._numbers import Drawn
from xorder.reporting._people_view import data_view, moves_view, top_view
from xorder.reporting._repair_text import at_the_top
from xorder.reporting._summary_text import GAP_NAMES, summary

# Rows of gaps shown; of more, the widest. The numbers have all.
_MOST_GAPS = 28


def page_view(numbers: dict[str, Any], drawn: Drawn) -> dict[str, Any]:
    """Lay out a report for the template, as texts and plain lists."""
    names = display_names(numbers["groups"])
    columns = {key: shortened(name, 60) for key, name in numbers["names"].items()}
    outcome = f"with the outcome (“{columns['label']}”)" if "label" in columns else "with the outcome"
    pair = numbers["finding"]["pair"]
    shown = [
        {"name": names[g], "key": f"g{place}", "in_pair": g in (pair or ())} for place, g in enumerate(drawn.shown)
    ]
    keys = {g: f"g{place}" for place, g in enumerate(drawn.shown)}
    return {
        "title": one_line(numbers["title"])[:200],
        "columns": {key: columns.get(key) for key in ("score", "label", "group")},
        "source": _source(numbers),
        "level": level(numbers["confidence"]),
        "remainder": f"{1 - numbers['confidence']:.4g}",
        "metric": GAP_NAMES[numbers["metric"]],
        "metric_key": numbers["metric"],
        "verdict": numbers["finding"]["verdict"],
        "summary": summary(numbers, names, outcome),
        "pair": [names[g] for g in pair] if pair else None,
        "pair_keys": [keys[g] for g in pair] if pair else None,
        "keys": keys,
        "shown": shown,
        "hidden": len(names) - len(shown),
        "audit": _audit(numbers, names, drawn.shown),
        "stops": [_stop(entry, numbers) for entry in numbers["path"]["stops"]],
        "path": _path(numbers, names),
        "after": _after(numbers),
        "moves": moves_view(numbers, names, drawn.shown),
        "against": at_the_top(numbers, names),
        "top": top_view(numbers, names, drawn.shown),
        "data": data_view(numbers, names, keys),
        "versions": numbers["versions"],
        "expected": numbers.get("expected") is not None,
    }


def _source(numbers: dict[str, Any]) -> dict[str, str] | None:
    source = numbers["source"]
    if source is None:
        return None
    return {
        "name": shortened(source["name"], 60),
        "full": one_line(source["name"]),
        "sha256": source["sha256"],
        "bytes": count(source["bytes"]),
    }


def _audit(numbers: dict[str, Any], names: list[str], shown: list[int]) -> dict[str, Any]:
    audit = numbers["audit"]
    by_metric = {}
    for metric in GAP_NAMES:
        gaps = [gap for gap in audit["gaps"] if gap["metric"] == metric]
        widest = sorted(gaps, key=lambda gap: -abs(gap["value"] or 0.0))[:_MOST_GAPS]
        reach = max(
            [abs(end) for gap in widest for end in (*gap["interval"], gap["value"]) if end is not None] + [0.01]
        )
        by_metric[metric] = {
            "name": GAP_NAMES[metric],
            "rows": [_gap(gap, numbers, names, reach) for gap in widest],
            "left_out": len(gaps) - len(widest),
        }
    return {
        "auc": number(audit["auc"]),
        "auc_interval": " to ".join(number(end) for end in audit["auc_interval"]),
        "matrix": [
            {"name": names[g], "values": [number(audit["xauc"][g][h]) for h in shown], "prf": number(audit["prf"][g])}
            for g in shown
        ],
        "columns": [names[g] for g in shown],
        "main": by_metric.pop(numbers["metric"]),
        "others": list(by_metric.values()),
    }


def _gap(gap: dict[str, Any], numbers: dict[str, Any], names: list[str], reach: float) -> dict[str, Any]:
    """One row of gaps; ``drawn`` places it on a line from -reach to reach, in percent of its length."""
    pairs = len(names) * (len(names) - 1) // 2
    known = gap["pvalue"] is not None
    both = [numbers["groups"].index(group) for group in gap["pair"]]
    few = any(numbers["data"]["groups"][g]["too_few"][gap["metric"]] for g in both)
    clear = known and not few and gap["pvalue"] * pairs <= 1 - numbers["confidence"]
    first, second = (names[g] for g in both)
    drawn = None
    if gap["value"] is not None and known:
        drawn = [round(50 + 50 * place / reach, 2) for place in (*gap["interval"], gap["value"])]
    return {
        "first": first,
        "second": second,
        "value": signed(gap["value"]),
        "interval": interval(gap["interval"]),
        "pvalue": pvalue(gap["pvalue"]),
        "reading": UNKNOWN if not known else "too few to say" if few else "not chance" if clear else "may be chance",
        "sure": clear,
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
        "label": label[0].upper() + label[1:],
        "auc": number(stop["auc"]),
        "change": signed(change),
        "gap": signed_points(stop["gap"]),
        "worst": points(stop["worst"]),
        "first": number(chances[0]),
        "second": number(chances[1]),
        "below": at_most(stop["below_best"]) if stop.get("below_best") is not None else "–",
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


def _after(numbers: dict[str, Any]) -> dict[str, Any] | None:
    after = numbers["after"]
    if after is None:
        return None
    outside = [
        f"{percent(share)} of {called(name)}"
        for name, share in zip(display_names(numbers["groups"]), after["outside"], strict=True)
        if share is not None and share > 0.1
    ]
    rows = []
    if after["kind"] == "map" and numbers["finding"]["pair"]:
        pair = {numbers["groups"][number] for number in numbers["finding"]["pair"]}
        rows = [
            _audited(said, audit, numbers, pair)
            for said, audit in (("as it is", numbers["audit"]), ("with the saved map", after["audit"]))
        ]
    return {"kind": after["kind"], "learnt_here": after["learnt_here"], "outside": outside, "rows": rows}


def _audited(said: str, audit: dict[str, Any], numbers: dict[str, Any], pair: set[Any]) -> dict[str, str]:
    """One row of the table before and after: AUC and gap with their intervals, favoured group first."""
    gap = next(gap for gap in audit["gaps"] if gap["metric"] == numbers["metric"] and {*gap["pair"]} == pair)
    value, ends = gap["value"], gap["interval"]
    if gap["pair"][0] != numbers["groups"][numbers["finding"]["pair"][0]]:
        value, *ends = (None if end is None else -end for end in (value, *ends[::-1]))
    return {
        "said": said,
        "auc": number(audit["auc"]),
        "auc_interval": " to ".join(number(end) for end in audit["auc_interval"]),
        "gap": signed(value),
        "interval": interval(ends),
    }

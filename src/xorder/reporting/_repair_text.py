"""What a repair does, in words: to the gap, to the AUC, and to the top of the list."""

from __future__ import annotations

from typing import Any

from xorder.reporting._formats import called, interval_in_points, level, listed, number, percent, points
from xorder.reporting._formats import signed_points as signed

# A change too small to speak of.
_UNCHANGED = 0.0005

_HARMS = {"opens": "It opens a gap", "turns": "It turns the gap round", "widens": "It widens the gap"}


def cost_sentences(numbers: dict[str, Any], names: list[str]) -> list[str]:
    """Say what the repair that the report is about does to the gap, to the AUC, and at the top of the list."""
    before, verdict = numbers["audit"], numbers["finding"]["verdict"]
    then = _outcome(numbers)
    if then is None:
        return [numbers["path"]["why_not"] or "Its AUC is not known, as nobody has the outcome or everybody does."]
    aucs = f"AUC {number(before['auc'])} before, {number(then['auc'])} after"
    if numbers["after"]["kind"] == "map":
        return [_of_map(numbers, names, then, aucs), *at_the_top(numbers, names)]
    if verdict == "unsure":
        return [f"Whether there is something to repair cannot be decided from these people. If it were done: {aucs}."]
    if verdict in ("chance", "none"):
        return [f"On this evidence there is nothing to repair. If it were done all the same: {aucs}."]
    return [_of_repair(numbers, then, aucs), *at_the_top(numbers, names)]


def cost_fact(numbers: dict[str, Any]) -> dict[str, str]:
    """Return the tile that says what the repair costs."""
    fact = {"term": "Cost of closing it", "value": "Not known", "note": "no repair could be worked out"}
    then = _outcome(numbers)
    if then is None:
        return fact
    finding, before = numbers["finding"], numbers["audit"]["auc"]
    lost = before - then["auc"]
    fact["value"] = "No AUC lost" if lost < _UNCHANGED else f"{number(lost)} AUC"
    fact["note"] = f"AUC {number(before)} before, {number(then['auc'])} after"
    if numbers["after"]["kind"] == "map":
        fact["term"] = "Cost of the saved map"
        fact["note"] += f"; gap {signed(finding['value'])} before, {signed(then['gap'])} after"
        fact["value"] = _HARMS.get(harm_of_map(numbers) or "", fact["value"])
    elif finding["verdict"] == "unsure":
        fact |= {"value": "Cannot be decided", "note": f"if it were done: {fact['note']}"}
    elif finding["verdict"] not in ("clear", "small"):
        fact |= {"value": "Not called for", "note": f"done all the same: {fact['note']}"}
    if falls_at_top(numbers):
        fact["note"] += "; but a smaller share at the top, see below"
    return fact


def harm_of_map(numbers: dict[str, Any]) -> str | None:
    """Say whether the saved map opens a gap, widens it or turns it round, beyond what chance explains; None if not."""
    after, before = numbers["after"], numbers["finding"]
    if after is None or after["kind"] != "map" or after["finding"]["verdict"] not in ("clear", "small"):
        return None
    if before["verdict"] not in ("clear", "small"):
        return "opens"
    if after["finding"]["pair"] == before["pair"][::-1]:
        return "turns"
    return "widens" if after["finding"]["value"] > before["value"] + _UNCHANGED else None


def falls_at_top(numbers: dict[str, Any]) -> list[dict[str, Any]]:
    """Find the cuts of the list where the group that is ranked too low has a smaller share after the repair."""
    finding = numbers["finding"]
    if finding["verdict"] not in ("clear", "small") or numbers["after"] is None:
        return []
    lower = finding["pair"][1]
    return [
        entry
        for entry in numbers["top"]
        if entry["after"] and entry["before"][lower]["share"] - entry["after"][lower]["share"] > _UNCHANGED
    ]


def at_the_top(numbers: dict[str, Any], names: list[str]) -> list[str]:
    """Say where the repair works against the very group it is meant to help."""
    falls = falls_at_top(numbers)
    if not falls:
        return []
    favoured, lower = numbers["finding"]["pair"]
    worst = max(falls, key=lambda entry: entry["before"][lower]["share"] - entry["after"][lower]["share"])
    now, then = worst["before"][lower], worst["after"][lower]
    others = listed([f"{entry['percent']:g} %" for entry in falls if entry is not worst])
    also = f", and its share of the first {others} falls too" if others else ""
    said = (
        f"At the top of the list the repair works against {called(names[lower])}: its share of the first "
        f"{worst['percent']:g} % falls from {percent(now['share'])} to {percent(then['share'])}{also}."
    )
    if harm_of_map(numbers) == "widens":
        return [said]
    said += " The gap is an average over the whole list, and is closed further down."
    better = worst["before"][favoured]["precision"]
    if None not in (better, now["precision"]) and now["precision"] < better:
        said += (
            f" Among the first {worst['percent']:g} % as they are, {percent(now['precision'])} of "
            f"{called(names[lower])} have the outcome and {percent(better)} of {called(names[favoured])}, so a repair "
            "that keeps the AUC high lets the latter go first there."
        )
    if numbers["after"]["method"] != "smooth":
        said += (
            " It also moves people in blocks, which makes shares jump from cut to cut; a smooth repair "
            "(XOrder(), or xorder fit, as they are by default) jumps less, but can lower the share as "
            "well: report on its map before using it."
        )
    return [said + " If only the first places count, look at them rather than at the gap."]


def _outcome(numbers: dict[str, Any]) -> dict[str, Any] | None:
    """AUC and gap after the repair: on people it was not learnt from, where that was tried; else on these."""
    if numbers["after"] is None or numbers["audit"]["auc"] is None:
        return None
    then: dict[str, Any] = numbers["expected"] or numbers["path"]["stops"][-1]
    return then


def _of_map(numbers: dict[str, Any], names: list[str], then: dict[str, Any], aucs: str) -> str:
    after = numbers["after"]
    harm = harm_of_map(numbers)
    if harm is not None:
        found = after["finding"]
        favoured, lower = (called(names[g]) for g in found["pair"])
        what = {"opens": "opens a gap that the score itself does not show", "turns": "turns the gap round"}
        said = (
            f"The saved map {what.get(harm, 'widens the gap')}: with it {lower} is ranked too low against {favoured}, "
            f"by {points(found['value'])} points ({level(found['allowed_confidence'])} interval "
            f"{interval_in_points(found['allowed_interval'])}; {aucs})."
        )
        if harm != "turns" or found["value"] > numbers["finding"]["value"] / 2:
            said += " It does not suit people like these; learn a repair from them, if one is needed."
    else:
        ends = interval_in_points(_interval_after(numbers))
        said = (
            f"With the saved map the gap is {signed(then['gap'])} points ({level(numbers['confidence'])} interval "
            f"{ends}; {aucs})."
        )
    if after["learnt_here"]:
        said += " The map was learnt from these very people, so it looks better here than it will on others."
    return said


def _interval_after(numbers: dict[str, Any]) -> list[float | None]:
    """Interval of the gap spoken of, after the repair, the favoured group first."""
    pair = [numbers["groups"][g] for g in numbers["finding"]["pair"]]
    for gap in numbers["after"]["audit"]["gaps"]:
        if gap["metric"] == numbers["metric"] and gap["pair"] in (pair, pair[::-1]):
            low, high = gap["interval"]
            if gap["pair"] == pair or low is None or high is None:
                return [low, high]
            return [-high, -low]
    return [None, None]


def _of_repair(numbers: dict[str, Any], then: dict[str, Any], aucs: str) -> str:
    before = numbers["audit"]
    change = then["auc"] - before["auc"]
    if abs(change) < _UNCHANGED:
        price = "would leave the score's overall accuracy as it is"
    elif change > 0:
        price = "would even raise the score's overall accuracy a little"
    elif -change <= (before["auc_stderr"] or 0.0):
        price = "would cost little of the score's overall accuracy, less than the AUC is uncertain by"
    else:
        price = f"would cost {number(-change)} of the score's overall accuracy, the AUC"
    how = "Closing it" if len(numbers["groups"]) == 2 else "Making all the gaps small together"
    first = f"{how}, with the order inside every group kept, {price} ({aucs})."
    if "interval" not in then:
        left = f"{signed(then['gap'])} points" if abs(then["gap"]) >= _UNCHANGED else "nothing"
        return f"{first} It would leave {left} of the gap on these people; on others expect a little more."
    ends = interval_in_points(then["interval"])
    return (
        f"{first} That was tried on people the repair was not learnt from, where it left {signed(then['gap'])} "
        f"points of the gap ({level(numbers['confidence'])} interval {ends})."
    )

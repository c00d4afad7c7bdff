"""The four tiles below the headline, and two bars to see the gap with."""

from __future__ import annotations

from typing import Any

from xorder.reporting._formats import called, capital, count, interval_in_points, level, percent, points, pvalue
from xorder.reporting._repair_text import cost_fact


def facts(numbers: dict[str, Any], names: list[str]) -> list[dict[str, str]]:
    """Answer who, by how much, how sure, and at what cost."""
    finding = numbers["finding"]
    verdict, real = finding["verdict"], is_real(finding)
    favoured, lower = (called(names[g]) for g in finding["pair"])
    undecided = verdict == "unsure" and finding["few"]
    who = {
        "term": "Who is ranked too low",
        "value": "Nobody, as far as can be told",
        "note": f"widest difference: {lower} behind {favoured}",
    }
    if real:
        who |= {"value": capital(lower), "note": _people_behind(numbers, favoured)}
    elif verdict == "none":
        who |= {"value": "Nobody", "note": "no difference was seen"}
    elif undecided and looks_real(finding):
        who |= {"value": f"Perhaps {lower}", "note": f"against {favoured}; too few people to decide"}
    elif verdict == "unsure":
        who["value"] = "Cannot be decided"
    how_much = {
        "term": "By how much",
        "value": f"{points(finding['value'])} points",
        "note": f"{points(finding['chances'][1])} against {points(finding['chances'][0])} of 100 pairs",
    }
    sure = {
        "term": "How sure",
        "value": "Not chance" if real else "May be chance" if verdict == "chance" else "Not known",
        "note": f"{level(finding['allowed_confidence'])} interval {interval_in_points(finding['allowed_interval'])} "
        f"points; p {pvalue(finding['allowed_pvalue'])}",
    }
    if finding["allowed_pvalue"] is None:
        sure["note"] = "neither an interval nor p can be given"
    elif undecided:
        sure |= {"value": "Cannot be decided", "note": f"{sure['note']}; rough, from {few_people(numbers, names)}"}
    if finding["pairs"] > 1 and finding["allowed_pvalue"] is not None:
        sure["note"] += f"; allowing for the {finding['pairs']} pairs looked at"
    return [who, how_much, sure, cost_fact(numbers)]


def bars(finding: dict[str, Any], favoured: str, lower: str) -> list[dict[str, Any]]:
    """Two bars to see the gap with."""
    rows = []
    for place, (first, second) in enumerate(((favoured, lower), (lower, favoured))):
        chance = finding["chances"][place]
        text = {
            "xauc": f"{first} with the outcome above {second} without",
            "prf": f"{first} with the outcome above anyone without",
            "parity": f"{first} above {second}",
        }[finding["metric"]]
        rows.append({"text": text, "group": finding["pair"][place], "chance": chance, "shown": points(chance)})
    return rows


def is_real(finding: dict[str, Any]) -> bool:
    """Whether chance does not explain the gap."""
    return finding["verdict"] in ("clear", "small")


def looks_real(finding: dict[str, Any]) -> bool:
    """Whether the interval, rough as it may be, leaves out 0."""
    low = finding["allowed_interval"][0]
    return low is not None and low > 0


def few_people(numbers: dict[str, Any], names: list[str]) -> str:
    """Count the fewest people that the gap spoken of rests on."""
    metric, data = numbers["metric"], numbers["data"]
    kinds = (
        {"people": "people"}
        if metric == "parity"
        else {"positives": "with the outcome", "negatives": "without the outcome"}
    )
    mass, kind, g = min(
        (data["groups"][g][kind], kind, g)
        for g in numbers["finding"]["pair"]
        for kind in kinds
        if data["groups"][g]["too_few"][metric]
    )
    # Weights do not tell how many people there are.
    whom = (
        f"fewer than {data['few']} people"
        if numbers["weighted"]
        else "1 person"
        if mass == 1
        else f"{count(mass)} people"
    )
    return f"{whom} of {called(names[g])}" + ("" if metric == "parity" else f" {kinds[kind]}")


def _people_behind(numbers: dict[str, Any], favoured: str) -> str:
    """Say how many people the finding is about: a count of them, or their weight."""
    finding = numbers["finding"]
    group = numbers["data"]["groups"][finding["pair"][1]]
    mass, having = count(finding["people"]), "" if finding["metric"] == "parity" else " with the outcome"
    if numbers["weighted"]:
        return f"people{having} of weight {mass}, against {favoured}; {percent(group['share'])} of all weight is in it"
    return f"{mass} people{having}, against {favoured}; {percent(group['share'])} of all are in it"

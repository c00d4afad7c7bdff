"""The first paragraph: what was found, who is affected, how sure that is, and what closing the gap would cost."""

from __future__ import annotations

from typing import Any

from xorder.report.formats import count, interval_in_points, level, number, percent, points, pvalue, signed_points

GAP_NAMES = {"xauc": "xAUC gap", "prf": "PRF gap", "parity": "parity gap"}

# A gap that one would want to be able to rule out; and a change too small to speak of.
_WIDEST_PLAUSIBLE = 0.05
_UNCHANGED = 0.0005


def summary(numbers: dict[str, Any], names: list[str], outcome: str) -> dict[str, Any]:
    """Write the headline, the sentences below it and four facts: who, by how much, how sure, at what cost.

    ``names`` are those of the groups as the page shows them, ``outcome`` what a positive label is called.
    """
    finding = numbers["finding"]
    if finding["pair"] is None:
        return {
            "headline": "Nothing can be compared",
            "sentences": [
                "No two groups have the people it takes to compare them: those with the outcome in one, those without "
                "it in the other. What cannot be known is shown as not known."
            ],
            "cost": [],
            "facts": [],
            "bars": [],
        }
    favoured, lower = (names[number] for number in finding["pair"])
    return {
        "headline": _headline(finding, called(lower)),
        "sentences": [
            *_pairs_in_words(finding, called(favoured), called(lower), outcome),
            _how_sure(finding, numbers["confidence"], favoured, lower),
            *_who_bears_it(finding, called(favoured), called(lower)),
            *_other_pairs(finding, names),
        ],
        "cost": _cost(numbers),
        "facts": _facts(numbers, favoured, lower),
        "bars": _bars(finding, favoured, lower),
    }


def called(name: str) -> str:
    """Speak of a group: 'group B', but not 'group group B'."""
    return name if name.lower().startswith("group") else f"group {name}"


def _headline(finding: dict[str, Any], lower: str) -> str:
    subject = lower[0].upper() + lower[1:]
    return {
        "clear": f"{subject} is ranked too low",
        "small": f"{subject} is ranked slightly too low",
        "chance": "No gap that can be told from chance",
        "unsure": "A gap was seen, but these people cannot tell how certain it is",
    }[finding["verdict"]]


def _pairs_in_words(finding: dict[str, Any], favoured: str, lower: str, outcome: str) -> list[str]:
    """Say what the two chances mean, as counts of pairs of people."""
    high, low = (points(chance) for chance in finding["chances"])
    behind = f"The difference, {points(finding['value'])} points, is what this report calls the gap."
    if finding["metric"] == "xauc":
        return [
            f"Take someone of {lower} {outcome} and someone of {favoured} without it. A fair score puts the "
            f"first above the second as often as it does with the groups swapped. This one does so in {low} of 100 "
            f"such pairs, and in {high} of 100 with the groups swapped. {behind}"
        ]
    if finding["metric"] == "prf":
        return [
            f"Someone of {lower} {outcome} is ranked above someone without it, of any group, in {low} of 100 "
            f"pairs; for {favoured} it is {high} of 100. {behind}"
        ]
    return [
        f"Of 100 pairs of people, one of each group, the one of {lower} is ranked higher in {low} and the one of "
        f"{favoured} in {high}, whatever their outcomes. {behind}"
    ]


def _how_sure(finding: dict[str, Any], confidence: float, favoured: str, lower: str) -> str:
    verdict, sure = finding["verdict"], level(confidence)
    if verdict == "unsure":
        return "There are too few of these people, or their ranks vary too little, to say how far the gap may be off."
    low, high = finding["interval"]
    ends = f"between {signed_points(low)} and {signed_points(high)} points"
    allowing = f", also allowing for the {finding['pairs']} pairs looked at" if finding["pairs"] > 1 else ""
    if verdict != "chance":
        size = " It is small, though: look at what it means in practice before acting." if verdict == "small" else ""
        return f"Chance does not explain it{allowing}: among all such people it lies {ends} ({sure} interval).{size}"
    widest = max(abs(low), abs(high))
    if widest <= _WIDEST_PLAUSIBLE:
        rest = f"More than {points(widest)} points either way can be ruled out"
    else:
        rest = f"That is no proof that there is none: it may lie anywhere {ends}, and more people would tell"
    return (
        f"A difference of this size arises by chance alone too often to be taken for real{allowing}. {rest} "
        f"({sure} interval, {favoured} minus {lower})."
    )


def _who_bears_it(finding: dict[str, Any], favoured: str, lower: str) -> list[str]:
    """Say that a low place is no harm by itself: some lists are for help, others for suspicion."""
    if finding["verdict"] not in ("clear", "small"):
        return []
    return [
        f"Whom that harms depends on what a high place brings: where it is a help, such as a bed, {lower} goes "
        f"without; where it is a burden, such as a suspicion, {favoured} bears more of it."
    ]


def _other_pairs(finding: dict[str, Any], names: list[str]) -> list[str]:
    if finding["pairs"] == 1:
        return []
    if finding["clear_pairs"] < 2:
        which = "None" if finding["clear_pairs"] == 0 else "No other"
        return [f"{which} of the {finding['pairs']} pairs of groups has a gap that stands out from chance."]
    ranked = sorted(zip(finding["losing"], names, strict=True), key=lambda entry: -entry[0])
    losing = [f"{name} ({times})" for times, name in ranked if times]
    listed = ", ".join(losing[:6]) + (f" and {len(losing) - 6} more" if len(losing) > 6 else "")
    return [
        f"{finding['clear_pairs']} of {finding['pairs']} pairs of groups have a gap that chance does not explain. On "
        f"the lower side of so many of them: {listed}."
    ]


def _outcome_of_repair(numbers: dict[str, Any]) -> dict[str, Any] | None:
    """AUC and gap after the repair: on people it was not learnt from, where that was tried; else on these."""
    if numbers["after"] is None or numbers["audit"]["auc"] is None:
        return None
    then: dict[str, Any] = numbers["expected"] or numbers["path"]["stops"][-1]
    return then


def _cost(numbers: dict[str, Any]) -> list[str]:
    """Say what the repair that the report is about does to the gap and to the AUC."""
    after, before, verdict = numbers["after"], numbers["audit"], numbers["finding"]["verdict"]
    then = _outcome_of_repair(numbers)
    if then is None:
        return [numbers["path"]["why_not"] or "Its AUC is not known, as nobody has the outcome or everybody does."]
    change = then["auc"] - before["auc"]
    aucs = f"AUC {number(before['auc'])} before, {number(then['auc'])} after"
    if after["kind"] == "map":
        said = f"With the saved map the gap is {signed_points(then['gap'])} points ({aucs})."
        if after["learnt_here"]:
            said += " The map was learnt from these very people, so it looks better here than it will on others."
        return [said]
    if verdict in ("chance", "unsure"):
        return [f"On this evidence there is nothing to repair. If it were done all the same: {aucs}."]
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
        left = f"{signed_points(then['gap'])} points" if abs(then["gap"]) >= _UNCHANGED else "nothing"
        return [f"{first} It would leave {left} of the gap on these people; on others expect a little more."]
    ends = interval_in_points(then["interval"])
    return [
        f"{first} That was tried on people the repair was not learnt from, where it left {signed_points(then['gap'])} "
        f"points of the gap ({level(numbers['confidence'])} interval {ends})."
    ]


def _facts(numbers: dict[str, Any], favoured: str, lower: str) -> list[dict[str, str]]:
    finding, after, before = numbers["finding"], numbers["after"], numbers["audit"]
    verdict = finding["verdict"]
    real = verdict in ("clear", "small")
    group = numbers["data"]["groups"][finding["pair"][1]]
    whom = "people with the outcome" if finding["metric"] != "parity" else "people"
    people = (
        f"{count(finding['people'])} {whom}, against {called(favoured)}; {percent(group['share'])} of all are in it"
    )
    who = {
        "term": "Who is ranked too low",
        "value": called(lower)[0].upper() + called(lower)[1:] if real else "Nobody, as far as can be told",
        "note": people if real else f"widest difference: {called(lower)} behind {called(favoured)}",
    }
    how_much = {
        "term": "By how much",
        "value": f"{points(finding['value'])} points",
        "note": f"{points(finding['chances'][1])} against {points(finding['chances'][0])} of 100 pairs",
    }
    ends = interval_in_points(finding["interval"])
    sure = {
        "term": "How sure",
        "value": "Not chance" if real else "May be chance" if verdict == "chance" else "Not known",
        "note": f"{level(numbers['confidence'])} interval {ends} points; p {pvalue(finding['pvalue'])}",
    }
    cost = {"term": "Cost of closing it", "value": "Not known", "note": "no repair could be worked out"}
    then = _outcome_of_repair(numbers)
    if then is not None:
        change = then["auc"] - before["auc"]
        cost["value"] = "None" if change > -_UNCHANGED else f"{number(-change)} AUC"
        cost["note"] = f"AUC {number(before['auc'])} before, {number(then['auc'])} after"
        if not real and after["kind"] == "repair":
            cost["value"], cost["note"] = "Not called for", f"done all the same: {cost['note']}"
        if after["kind"] == "map":
            cost["term"] = "Cost of the saved map"
            cost["note"] += f"; gap {signed_points(finding['value'])} before, {signed_points(then['gap'])} after"
    return [who, how_much, sure, cost]


def _bars(finding: dict[str, Any], favoured: str, lower: str) -> list[dict[str, Any]]:
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

"""The first paragraph: what was found, who is affected, how sure that is, and what closing the gap would cost."""

from __future__ import annotations

from typing import Any

from xorder.reporting._facts import bars, facts, few_people, looks_real
from xorder.reporting._formats import called, capital, level, listed, points, signed_points
from xorder.reporting._repair_text import cost_sentences, harm_of_map

GAP_NAMES = {"xauc": "xAUC gap", "prf": "PRF gap", "parity": "parity gap"}

# A gap that one would want to be able to rule out.
_WIDEST_PLAUSIBLE = 0.05

_LACKING = {"positives": "nobody with the outcome", "negatives": "nobody without it"}


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
                "it in the other. What cannot be known is shown as not known.",
                *_lacking(numbers, names),
            ],
            "cost": [],
            "facts": [],
            "bars": [],
        }
    favoured, lower = (names[number] for number in finding["pair"])
    return {
        "headline": _headline(numbers, called(lower)),
        "sentences": [
            *_pairs_in_words(numbers, called(favoured), called(lower), outcome),
            _how_sure(numbers, names),
            *_who_bears_it(finding, called(favoured), called(lower)),
            *_other_pairs(finding, names),
            *_lacking(numbers, names),
        ],
        "cost": cost_sentences(numbers, names),
        "facts": facts(numbers, names),
        "bars": bars(finding, favoured, lower),
    }


def _headline(numbers: dict[str, Any], lower: str) -> str:
    finding, subject = numbers["finding"], capital(lower)
    if finding["verdict"] == "unsure" and finding["few"]:
        if looks_real(finding):
            return f"{subject} looks ranked too low, but there are too few people to decide"
        return "There are too few people to decide"
    said = {
        "clear": f"{subject} is ranked too low",
        "small": f"{subject} is ranked slightly too low",
        "chance": "No gap that can be told from chance",
        "unsure": "A gap was seen, but these people cannot tell how certain it is",
        "none": "No gap was seen",
    }[finding["verdict"]]
    if harm_of_map(numbers) == "opens" and finding["verdict"] != "unsure":
        said += ", but the saved map opens one"
    elif harm_of_map(numbers) == "turns":
        said += ", and the saved map turns that round"
    elif harm_of_map(numbers) == "widens":
        said += ", and the saved map makes that worse"
    return said


def _lacking(numbers: dict[str, Any], names: list[str]) -> list[str]:
    """Name groups that cannot be compared for want of an outcome, and the gap that asks for none."""
    if numbers["metric"] == "parity":
        return []
    lacking = [
        f"{called(name)} has {' and '.join(_LACKING[kind] for kind in group['missing'])}"
        for name, group in zip(names, numbers["data"]["groups"], strict=True)
        if group["missing"]
    ]
    if not lacking:
        return []
    named = listed(lacking[:4] + ([f"{len(lacking) - 4} more groups lack one or the other"] if lacking[4:] else []))
    return [
        f"{capital(named)}. To compare all members of each group, whatever their outcomes, ask for the parity gap "
        '(--metric parity, or metric="parity").'
    ]


def _pairs_in_words(numbers: dict[str, Any], favoured: str, lower: str, outcome: str) -> list[str]:
    """Say what the two chances mean, as counts of pairs of people."""
    finding, ties = numbers["finding"], numbers["data"]["ties"]
    high, low = (points(chance) for chance in finding["chances"])
    behind = f"The difference, {points(finding['value'])} points, is what this report calls the gap."
    # The PRF compares with one's own group too, where equal scores are ties as well.
    if ties["across"] or (finding["metric"] == "prf" and ties["scores"] < numbers["data"]["people"]):
        behind += " Pairs of equal score count one half."
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


def _how_sure(numbers: dict[str, Any], names: list[str]) -> str:
    finding = numbers["finding"]
    verdict, sure = finding["verdict"], level(finding["allowed_confidence"])
    low, high = finding["allowed_interval"]
    if verdict == "none":
        said = "How far off that may be cannot be told, as the ranks of these people do not vary."
        if min(finding["chances"]) == 1 and finding["metric"] != "parity":
            said += (
                " The score separates those with the outcome from those without it perfectly: such a score may be the "
                "outcome itself, or know something that is known only after it. Check where it comes from."
            )
        return said
    ends = f"between {signed_points(low)} and {signed_points(high)} points"
    if verdict == "unsure":
        if not finding["few"] or low is None:
            return (
                "There are too few of these people, or their ranks vary too little, to say how far the gap may be off."
            )
        return (
            f"It rests on {few_people(numbers, names)}, so the interval, {ends} ({sure}), is rough and the gap is not "
            "taken for real. Collect more people before deciding."
        )
    allowing = f", also allowing for the {finding['pairs']} pairs looked at" if finding["pairs"] > 1 else ""
    if verdict != "chance":
        size = " It is small, though: look at what it means in practice before acting." if verdict == "small" else ""
        return f"Chance does not explain it{allowing}: among all such people it lies {ends} ({sure} interval).{size}"
    widest = max(abs(low), abs(high))
    if widest <= _WIDEST_PLAUSIBLE:
        rest = f"More than {points(widest)} points either way can be ruled out"
    else:
        rest = f"That is no proof that there is none: it may lie anywhere {ends}, and more people would tell"
    favoured, lower = (names[g] for g in finding["pair"])
    return (
        f"A difference of this size arises by chance alone too often to be taken for real"
        f"{allowing.replace('also ', '')}. {rest} ({sure} interval, {favoured} minus {lower})."
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

"""What the report says in words: its first paragraph, the four tiles, and what a repair does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from xorder import _present
from xorder._metric import METRICS
from xorder._present import count, level, percent, pvalue_text

# A gap that one would want to be able to rule out.
_WIDEST_PLAUSIBLE = 0.05

# A change too small to speak of.
_UNCHANGED = 0.0005


class _Harm(NamedTuple):
    """What a saved map does wrong: after the headline's finding, on the tile, and in the sentence about the map."""

    headline: str
    tile: str
    sentence: str


_HARMS = {
    "opens": _Harm(
        ", but the saved map opens one", "It opens a gap", "opens a gap that the score itself does not show"
    ),
    "turns": _Harm(", and the saved map turns that round", "It turns the gap round", "turns the gap round"),
    "widens": _Harm(", and the saved map makes that worse", "It widens the gap", "widens the gap"),
}

_WITHOUT = {"positives": "nobody with the outcome", "negatives": "nobody without it"}


def number(value: float | None, digits: int = 4, *, sign: str = "") -> str:
    """Write a number as a page does, with a true minus sign."""
    return _present.number(value, digits, sign=sign).replace("-", "−")


def signed(value: float | None, digits: int = 4) -> str:
    """Write a number with its sign."""
    return number(value, digits, sign="+")


def interval_text(ends: Iterable[float | None], digits: int = 4, *, sign: str = "+") -> str:
    """Write an interval with true minus signs."""
    return _present.interval_text(ends, digits, sign=sign).replace("-", "−")


def points(value: float | None) -> str:
    """Write a share or a difference of shares in hundredths.

    >>> points(0.2544), points(None)
    ('25.4', 'not known')
    """
    return number(None if value is None else 100 * value, 1)


def signed_points(value: float | None) -> str:
    """Write a difference of shares in hundredths, with its sign."""
    return signed(None if value is None else 100 * value, 1)


def interval_in_points(ends: Iterable[float | None]) -> str:
    """Write an interval of differences in hundredths.

    >>> interval_in_points([-0.012, 0.1]), interval_in_points([None, None])
    ('−1.2 to +10.0', 'not known')
    """
    return interval_text([None if end is None else 100 * end for end in ends], 1)


def called(name: str) -> str:
    """Speak of a group: 'group B', but not 'group group B'."""
    return name if name.lower().startswith("group") else f"group {name}"


def capital(text: str) -> str:
    """Return text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def listed(items: list[str]) -> str:
    """Write items as a list.

    >>> listed(["1 %", "5 %", "20 %"]), listed(["1 %"]), listed([])
    ('1 %, 5 % and 20 %', '1 %', '')
    """
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


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
                *_groups_lacking(numbers, names),
            ],
            "cost": [],
            "facts": [],
            "bars": [],
        }
    favoured, lower = (names[number] for number in finding["pair"])
    cost, cost_fact = _cost(numbers, names)
    return {
        "headline": _headline(numbers, called(lower)),
        "sentences": [
            _pairs_in_words(numbers, called(favoured), called(lower), outcome),
            _how_sure(numbers, names),
            *_who_bears_it(finding, called(favoured), called(lower)),
            *_other_pairs(finding, names),
            *_groups_lacking(numbers, names),
        ],
        "cost": cost,
        "facts": [*_facts(numbers, names), cost_fact],
        "bars": _bars(finding, favoured, lower),
    }


def _headline(numbers: dict[str, Any], lower: str) -> str:
    finding, subject = numbers["finding"], capital(lower)
    if finding["verdict"] == "unsure" and finding["few"]:
        if looks_real(finding):
            return f"{subject} looks ranked too low, but there are too few people to say"
        return "There are too few people to say"
    said = {
        "clear": f"{subject} is ranked too low",
        "small": f"{subject} is ranked slightly too low",
        "chance": "No gap that can be told from chance",
        "unsure": "A gap was seen, but how certain it is cannot be said from these people",
        "none": "No gap was seen",
    }[finding["verdict"]]
    harm = harm_of_map(numbers)
    return said if harm is None or finding["verdict"] == "unsure" else said + _HARMS[harm].headline


def lacking(numbers: dict[str, Any], names: list[str]) -> list[str]:
    """Say of each group without a class which one it is."""
    return [
        f"{called(name)} has {' and '.join(_WITHOUT[kind] for kind in group['missing'])}"
        for name, group in zip(names, numbers["data"]["groups"], strict=True)
        if group["missing"]
    ]


def _groups_lacking(numbers: dict[str, Any], names: list[str]) -> list[str]:
    """Name groups that cannot be compared for want of an outcome."""
    found = lacking(numbers, names)
    if not found or not METRICS[numbers["metric"]].by_label:
        return []
    more = [f"{len(found) - 4} more groups lack one or the other"] if found[4:] else []
    return [f"{capital(listed(found[:4] + more))}."]


def _pairs_in_words(numbers: dict[str, Any], favoured: str, lower: str, outcome: str) -> str:
    """Say what the two chances mean, as counts of pairs of people."""
    finding, ties, metric = numbers["finding"], numbers["data"]["ties"], METRICS[numbers["metric"]]
    high, low = (points(chance) for chance in finding["chances"])
    said = metric.pairs_in_words.format(lower=lower, favoured=favoured, outcome=outcome, low=low, high=high)
    said += f" The difference, {points(finding['value'])} points, is what this report calls the gap."
    # Within one's own group equal scores are ties as well.
    if ties["across"] or (metric.counts_own and ties["scores"] < numbers["data"]["people"]):
        said += " Pairs of equal score count one half."
    return said


def _how_sure(numbers: dict[str, Any], names: list[str]) -> str:
    finding = numbers["finding"]
    verdict, sure = finding["verdict"], level(finding["allowed_confidence"])
    low, high = finding["allowed_interval"]
    if verdict == "none":
        said = "How far off that may be cannot be said, as the ranks of these people do not vary."
        if min(finding["chances"]) == 1 and METRICS[numbers["metric"]].by_label:
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
            f"It rests on {few_people(numbers, names)}: too few to say whether it is chance, though the interval is "
            f"{ends} ({sure}). Collect more people before deciding."
        )
    allowing = f", also allowing for the {finding['pairs']} pairs looked at" if finding["pairs"] > 1 else ""
    if verdict != "chance":
        size = " It is small, though: look at what it means in practice before acting." if verdict == "small" else ""
        return f"Chance does not explain it{allowing}: among all such people it lies {ends} ({sure} interval).{size}"
    widest = max(abs(low), abs(high))
    if widest <= _WIDEST_PLAUSIBLE:
        rest = f"More than {points(widest)} points either way can be ruled out"
    else:
        rest = f"That is no proof that there is none: it may lie anywhere {ends}, and more people would show"
    favoured, lower = (names[g] for g in finding["pair"])
    return (
        f"A difference of this size arises by chance alone too often to be taken for real"
        f"{allowing.replace('also ', '')}. {rest} ({sure} interval, {favoured} minus {lower})."
    )


def _who_bears_it(finding: dict[str, Any], favoured: str, lower: str) -> list[str]:
    """Say that a low place is no harm by itself: some lists are for help, others for suspicion."""
    if not is_real(finding):
        return []
    return [
        f"Whom that harms depends on what a high place brings: where it is a help, such as a bed, {lower} goes "
        f"without; where it is a burden, such as a suspicion, {favoured} bears more of it."
    ]


def _other_pairs(finding: dict[str, Any], names: list[str]) -> list[str]:
    if finding["pairs"] < 2:
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


def _facts(numbers: dict[str, Any], names: list[str]) -> list[dict[str, str]]:
    """Answer who, by how much, and how sure."""
    finding = numbers["finding"]
    verdict, real = finding["verdict"], is_real(finding)
    favoured, lower = (called(names[g]) for g in finding["pair"])
    undecided = verdict == "unsure" and finding["few"]
    who = {
        "term": "Who is ranked too low",
        "value": "Nobody, as far as can be seen",
        "note": f"widest difference: {lower} behind {favoured}",
    }
    if real:
        who |= {"value": capital(lower), "note": _people_behind(numbers, favoured)}
    elif verdict == "none":
        who |= {"value": "Nobody", "note": "no difference was seen"}
    elif undecided and looks_real(finding):
        who |= {"value": f"Perhaps {lower}", "note": f"against {favoured}; too few people to say"}
    elif verdict == "unsure":
        who["value"] = "Cannot be decided"
    how_much = {
        "term": "By how much",
        "value": f"{points(finding['value'])} points",
        "note": f"{points(finding['chances'][1])} against {points(finding['chances'][0])} of 100 pairs",
    }
    ends = f"{level(finding['allowed_confidence'])} interval {interval_in_points(finding['allowed_interval'])} points"
    sure = {
        "term": "How sure",
        "value": "Not chance" if real else "May be chance" if verdict == "chance" else "Not known",
        "note": f"{ends}; p {pvalue_text(finding['allowed_pvalue'])}",
    }
    if finding["pvalue"] is None:
        sure["note"] = "neither an interval nor p can be given"
    elif undecided:
        sure |= {"value": "Too few to say", "note": f"{ends}, from {few_people(numbers, names)}"}
    if finding["pairs"] > 1 and finding["pvalue"] is not None:
        sure["note"] += f"; allowing for the {finding['pairs']} pairs looked at"
    return [who, how_much, sure]


def _bars(finding: dict[str, Any], *names: str) -> list[tuple[str, int, float]]:
    """What each side of the gap is, its group, and its chance: to see the gap with."""
    words = METRICS[finding["metric"]].side_in_words
    said = [words.format(first=first, second=second) for first, second in (names, names[::-1])]
    return list(zip(said, finding["pair"], finding["chances"], strict=True))


def is_real(finding: dict[str, Any]) -> bool:
    """Whether chance does not explain the gap."""
    return finding["verdict"] in ("clear", "small")


def looks_real(finding: dict[str, Any]) -> bool:
    """Whether the interval leaves out 0, however few people it rests on."""
    low = finding["allowed_interval"][0]
    return low is not None and low > 0


def few_people(numbers: dict[str, Any], names: list[str]) -> str:
    """Count the fewest people that the gap spoken of rests on."""
    data = numbers["data"]
    mass, kind, g = min(
        (data["groups"][g][kind], kind, g)
        for g in numbers["finding"]["pair"]
        for kind in ("positives", "negatives")
        if data["groups"][g]["too_few"]
    )
    whom = "1 person" if mass == 1 else f"{count(mass)} people"
    # Weights do not say how many people there are.
    if numbers["weighted"]:
        whom = f"fewer than {data['few']} people"
    return f"{whom} of {called(names[g])} {'with' if kind == 'positives' else 'without'} the outcome"


def _people_behind(numbers: dict[str, Any], favoured: str) -> str:
    """Say how many people the finding is about: a count of them, or their weight."""
    finding = numbers["finding"]
    share = percent(numbers["data"]["groups"][finding["pair"][1]]["share"])
    mass, having = count(finding["people"]), " with the outcome" if METRICS[numbers["metric"]].by_label else ""
    if numbers["weighted"]:
        return f"people{having} of weight {mass}, against {favoured}; {share} of all weight is in it"
    return f"{mass} people{having}, against {favoured}; {share} of all are in it"


def _cost(numbers: dict[str, Any], names: list[str]) -> tuple[list[str], dict[str, str]]:
    """Say in sentences, and on a tile, what the repair that the report is about does to gap, AUC and top of list."""
    fact = {"term": "Cost of closing it", "value": "Not known", "note": "no repair could be worked out"}
    then = _outcome(numbers)
    if then is None:
        why = numbers["path"]["why_not"] or "Its AUC is not known, as nobody has the outcome or everybody does."
        return [why], fact
    finding, before = numbers["finding"], numbers["audit"]["auc"]
    lost, aucs = before - then["auc"], f"AUC {number(before)} before, {number(then['auc'])} after"
    fact |= {"value": "No AUC lost" if lost < _UNCHANGED else f"{number(lost)} AUC", "note": aucs}
    if numbers["after"]["kind"] == "map":
        said = _of_map(numbers, names, then, aucs)
        gaps = f"gap {signed_points(finding['value'])} before, {signed_points(then['gap'])} after"
        fact |= {"term": "Cost of the saved map", "note": f"{aucs}; {gaps}"}
        harm = harm_of_map(numbers)
        fact["value"] = fact["value"] if harm is None else _HARMS[harm].tile
    elif finding["verdict"] == "unsure":
        said = f"Whether there is something to repair cannot be decided from these people. If it were done: {aucs}."
        fact |= {"value": "Cannot be decided", "note": f"if it were done: {aucs}"}
    elif not is_real(finding):
        said = f"On this evidence there is nothing to repair. If it were done all the same: {aucs}."
        fact |= {"value": "Not called for", "note": f"done all the same: {aucs}"}
    else:
        said = _of_repair(numbers, then, aucs)
    top = at_the_top(numbers, names)
    if top:
        fact["note"] += "; but a smaller share at the top, see below"
    return [said, *top], fact


def harm_of_map(numbers: dict[str, Any]) -> str | None:
    """Say whether the saved map opens a gap, widens it or turns it round, beyond what chance explains; None if not."""
    after, before = numbers["after"], numbers["finding"]
    if after is None or after["kind"] != "map" or not is_real(after["finding"]):
        return None
    if not is_real(before):
        return "opens"
    if after["finding"]["pair"] == before["pair"][::-1]:
        return "turns"
    return "widens" if after["finding"]["value"] > before["value"] + _UNCHANGED else None


def at_the_top(numbers: dict[str, Any], names: list[str]) -> list[str]:
    """Say where the repair works against the very group it is meant to help: at cuts where its share is smaller."""
    finding = numbers["finding"]
    if not is_real(finding) or numbers["after"] is None:
        return []
    favoured, lower = finding["pair"]

    def lost(cut: dict[str, Any]) -> float:
        share: float = cut["before"][lower]["share"] - cut["after"][lower]["share"]
        return share

    falls = [cut for cut in numbers["top"] if lost(cut) > _UNCHANGED]
    if not falls:
        return []
    worst = max(falls, key=lost)
    now, then = worst["before"][lower], worst["after"][lower]
    others = listed([f"{cut['percent']:g} %" for cut in falls if cut is not worst])
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
    """AUC and gap after the repair: those to expect on new people, where that is known; else on these."""
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
        said = (
            f"The saved map {_HARMS[harm].sentence}: with it {lower} is ranked too low against {favoured}, "
            f"by {points(found['value'])} points ({level(found['allowed_confidence'])} interval "
            f"{interval_in_points(found['allowed_interval'])}; {aucs})."
        )
        if harm != "turns" or found["value"] > numbers["finding"]["value"] / 2:
            said += " It does not suit people like these; fit a repair to them, if one is needed."
    else:
        ends = interval_in_points(after["gap"]["interval"])
        said = (
            f"With the saved map the gap is {signed_points(then['gap'])} points "
            f"({level(numbers['confidence'])} interval {ends}; {aucs})."
        )
    if after["learnt_here"]:
        said += " The map was fitted to these very people; a map of single rows looks better on them than on others."
    return said


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
        left = f"{signed_points(then['gap'])} points" if abs(then["gap"]) >= _UNCHANGED else "nothing"
        return f"{first} It would leave {left} of the gap on these people; on others expect a little more."
    ends = interval_in_points(then["interval"])
    return (
        f"{first} Among all people like these it would leave {signed_points(then['gap'])} points of the gap "
        f"({level(numbers['confidence'])} interval {ends})."
    )

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


class _Words(NamedTuple):
    """How one group is said to stand below another, by what a high place in the list is.

    ``subject`` is the position in the pair (0 favoured, 1 lower) of the group that is spoken of, ``how`` it is ranked,
    ``against`` the word before the other group, ``side`` that of the pairs on which groups are counted, and ``people``
    those whom it concerns most: with the outcome, or without it.
    """

    subject: int
    how: str
    against: str
    side: str
    people: str

    def said(self, pair: tuple[str, str], verb: str = "is ranked", *, slightly: bool = False) -> str:
        """Say who is ranked how against whom."""
        return f"{pair[self.subject]} {verb} {'slightly ' if slightly else ''}{self.how}"

    def against_whom(self, pair: tuple[str, str]) -> str:
        """Say it, and against whom."""
        return f"{self.said(pair)} {self.against} {pair[1 - self.subject]}"


# Without a word on what a high place is, nobody is said to be ranked too low or too high.
_HIGH_IS = {
    "help": _Words(1, "too low", "against", "lower", "with"),
    "burden": _Words(0, "too high", "against", "higher", "without"),
    None: _Words(1, "lower", "than", "lower", "with"),
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
        "headline": _headline(numbers, (called(favoured), called(lower))),
        "sentences": [
            _pairs_in_words(numbers, called(favoured), called(lower), outcome),
            _how_sure(numbers, names),
            *_who_bears_it(numbers, called(favoured), called(lower)),
            *_other_pairs(numbers, names),
            *_groups_lacking(numbers, names),
        ],
        "cost": cost,
        "facts": [*_facts(numbers, names), cost_fact],
        "bars": _bars(finding, favoured, lower),
    }


_TOLERATED = {
    "within": "within the tolerance",
    "beyond": "beyond the tolerance",
    "cannot tell": "not decided by these people: perhaps within the tolerance",
}


def tolerated(stop: dict[str, Any]) -> str:
    """Say what became of the tolerance at a stop; nothing without one."""
    return "" if stop["verdict"] is None else capital(_TOLERATED[stop["verdict"]])


def _headline(numbers: dict[str, Any], pair: tuple[str, str]) -> str:
    finding, words = numbers["finding"], _HIGH_IS[numbers["high_is"]]
    # Where it is not said what a high place is, that one is lower says little without the other.
    whom = f" than {pair[0]}" if numbers["high_is"] is None else ""
    if finding["verdict"] == "unsure" and finding["few"]:
        if looks_real(finding):
            return capital(f"{words.said(pair, 'looks ranked')}{whom}, but there are too few people to say")
        return "There are too few people to say"
    said = {
        "clear": capital(f"{words.said(pair)}{whom}"),
        "small": capital(f"{words.said(pair, slightly=True)}{whom}"),
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
    if numbers["high_is"] == "burden" and metric.name == "xauc":
        high, low = (points(None if chance is None else 1 - chance) for chance in finding["chances"])
        said += (
            f" Put the other way: someone of {favoured} without the outcome is ranked above someone of {lower} with it "
            f"in {low} of 100 pairs, and with the groups swapped in {high}."
        )
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


def _who_bears_it(numbers: dict[str, Any], favoured: str, lower: str) -> list[str]:
    """Say whom it harms, or that a low place is no harm by itself: some lists are for help, others for suspicion."""
    if not is_real(numbers["finding"]):
        return []
    alike = " of the same outcome" if METRICS[numbers["metric"]].by_label else ""
    if numbers["high_is"] == "help":
        return [f"A high place is a help here: {lower} gets less of it than {favoured}{alike}."]
    if numbers["high_is"] == "burden":
        return [f"A high place is a burden here: {favoured} bears more of it than {lower}{alike}."]
    return [
        f"Whom that harms depends on what a high place brings: where it is a help, such as a bed, {lower} goes "
        f"without; where it is a burden, such as a suspicion, {favoured} bears more of it."
    ]


def _other_pairs(numbers: dict[str, Any], names: list[str]) -> list[str]:
    finding, side = numbers["finding"], _HIGH_IS[numbers["high_is"]].side
    if finding["pairs"] < 2:
        return []
    if finding["clear_pairs"] < 2:
        which = "None" if finding["clear_pairs"] == 0 else "No other"
        return [f"{which} of the {finding['pairs']} pairs of groups has a gap that stands out from chance."]
    ranked = sorted(zip(finding[f"{side}_in"], names, strict=True), key=lambda entry: -entry[0])
    often = [f"{name} ({times})" for times, name in ranked if times]
    listed = ", ".join(often[:6]) + (f" and {len(often) - 6} more" if len(often) > 6 else "")
    return [
        f"{finding['clear_pairs']} of {finding['pairs']} pairs of groups have a gap that chance does not explain. On "
        f"the {side} side of so many of them: {listed}."
    ]


def _facts(numbers: dict[str, Any], names: list[str]) -> list[dict[str, str]]:
    """Answer who, by how much, and how sure."""
    finding = numbers["finding"]
    verdict, real = finding["verdict"], is_real(finding)
    favoured, lower = pair = [called(names[g]) for g in finding["pair"]]
    words = _HIGH_IS[numbers["high_is"]]
    whom, other = pair[words.subject], pair[1 - words.subject]
    undecided = verdict == "unsure" and finding["few"]
    who = {
        "term": f"Who is ranked {words.how}",
        "value": "Nobody, as far as can be seen",
        "note": f"widest difference: {lower} behind {favoured}",
    }
    if real:
        who |= {"value": capital(whom), "note": _people_behind(numbers, words, other)}
    elif verdict == "none":
        who |= {"value": "Nobody", "note": "no difference was seen"}
    elif undecided and looks_real(finding):
        who |= {"value": f"Perhaps {whom}", "note": f"against {other}; too few people to say"}
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


def _people_behind(numbers: dict[str, Any], words: _Words, other: str) -> str:
    """Say how many people the finding is about: a count of them, or their weight.

    Ranked too high are those without the outcome, too low those with it.
    """
    group = numbers["data"]["groups"][numbers["finding"]["pair"][words.subject]]
    share, of, having = percent(group["share"]), "people", ""
    if METRICS[numbers["metric"]].by_label:
        of, having = "positives" if words.people == "with" else "negatives", f" {words.people} the outcome"
    mass = count(group[of])
    if numbers["weighted"]:
        return f"people{having} of weight {mass}, against {other}; {share} of all weight is in it"
    return f"{mass} people{having}, against {other}; {share} of all are in it"


def _cost(numbers: dict[str, Any], names: list[str]) -> tuple[list[str], dict[str, str]]:
    """Say in sentences, and on a tile, what the repair that the report is about does to gap, AUC and top of list."""
    fact = {"term": "Cost of closing it", "value": "Not known", "note": "no repair could be worked out"}
    finding, before = numbers["finding"], numbers["audit"]["auc"]
    if numbers["after"] is None or before is None:
        why = numbers["path"]["why_not"] or "Its AUC is not known, as nobody has the outcome or everybody does."
        return [why], fact
    # The repair has so few numbers that its audit is what to expect on new people.
    then = numbers["path"]["stops"][-1]
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
    size = "larger" if numbers["high_is"] == "burden" else "smaller"
    fact["note"] += f"; but a {size} share at the top, see below" if top else ""
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
    # Where a high place is a burden, it is the other group's share that should not rise.
    whom, moves, way = (favoured, "rises", -1) if numbers["high_is"] == "burden" else (lower, "falls", 1)

    def lost(cut: dict[str, Any]) -> float:
        return float(way * (cut["before"][whom]["share"] - cut["after"][whom]["share"]))

    falls = [cut for cut in numbers["top"] if lost(cut) > _UNCHANGED]
    if not falls:
        return []
    worst = max(falls, key=lost)
    now, then = worst["before"][whom], worst["after"][whom]
    others = listed([f"{cut['percent']:g} %" for cut in falls if cut is not worst])
    also = f", and its share of the first {others} {moves} too" if others else ""
    does = "goes the other way for" if numbers["high_is"] is None else "works against"
    said = (
        f"At the top of the list the repair {does} {called(names[whom])}: its share of the first "
        f"{worst['percent']:g} % {moves} from {percent(now['share'])} to {percent(then['share'])}{also}."
    )
    if harm_of_map(numbers) == "widens":
        return [said]
    said += " The gap is an average over the whole list, and is closed further down."
    better, worse = (worst["before"][g]["precision"] for g in (favoured, lower))
    if None not in (better, worse) and worse < better:
        said += (
            f" Among the first {worst['percent']:g} % as they are, {percent(worse)} of "
            f"{called(names[lower])} have the outcome and {percent(better)} of {called(names[favoured])}, so a repair "
            "that keeps the AUC high lets the latter go first there."
        )
    if numbers["after"]["method"] != "smooth":
        said += (
            " It also moves people in blocks, which makes shares jump from cut to cut; the smooth repair, which is "
            "the default, jumps less, but can do the same: report on its map before using it."
        )
    return [said + " If only the first places count, look at them rather than at the gap."]


def _of_map(numbers: dict[str, Any], names: list[str], then: dict[str, Any], aucs: str) -> str:
    after = numbers["after"]
    harm = harm_of_map(numbers)
    if harm is not None:
        found = after["finding"]
        favoured, lower = (called(names[g]) for g in found["pair"])
        ranked = _HIGH_IS[numbers["high_is"]].against_whom((favoured, lower))
        said = (
            f"The saved map {_HARMS[harm].sentence}: with it {ranked}, "
            f"by {points(found['value'])} points ({level(found['allowed_confidence'])} interval "
            f"{interval_in_points(found['allowed_interval'])}; {aucs})."
        )
        if harm != "turns" or found["value"] > numbers["finding"]["value"] / 2:
            said += " It does not suit people like these; fit a repair to them, if one is needed."
    else:
        said = (
            f"With the saved map the gap is {signed_points(then['gap'])} points "
            f"({level(numbers['confidence'])} interval {interval_in_points(after['gap']['interval'])}; {aucs})."
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
    return (
        f"{how}, with the order inside every group kept, {price} ({aucs}). Among all people like these it would leave "
        f"{signed_points(then['gap'])} points of the gap ({level(numbers['confidence'])} interval "
        f"{interval_in_points(then['gap_interval'])})."
    )

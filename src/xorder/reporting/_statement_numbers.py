"""What statements show of an audit: tables as Markdown and sentences, without counts that are too small to be shown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xorder._metric import METRICS
from xorder._present import count, gap_title, interval_text, level, number, one_line, percent, pvalue_text, signed
from xorder.exceptions import InputError
from xorder.metrics._cuts import cut_text
from xorder.metrics._gaps import FEW, judge

if TYPE_CHECKING:
    from xorder.metrics import Audit

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Thresholds of net benefit by default: fewer than a table of its own has."""

# Pairs of groups whose gaps are shown, the widest first.
_MOST_PAIRS = 30

_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of a run besides its audit; the arguments of :func:`statements` by name."""

    title: str
    made: datetime
    versions: Mapping[str, str]
    files: Sequence[Mapping[str, Any]] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    command: str | None = None
    metric: str = "xauc"
    tolerance: float | None = None
    tolerance_cut: float | None = None
    repair: Any = None
    reference: Hashable | None = None
    thresholds: Sequence[float] = THRESHOLDS
    suppress: int | None = None


class Known:
    """The numbers of an audit as they are shown, and which table is where."""

    def __init__(self, audit: Audit, run: RunFacts) -> None:
        self.audit, self.run, self.item = audit, run, ""
        self.shown: dict[str, tuple[int, str]] = {}
        self.digits = 4 if run.suppress is None else 2
        self.lacking = "not known" if run.suppress is None else "not shown"
        self.intervals = f", with {level(audit.confidence)} intervals"
        self.rows = {name: audit.table(name, suppress=run.suppress).rows for name in ("groups", "gaps")}

    def table(self, name: str, **settings: Any) -> tuple[list[_Row], list[str]]:
        """Return the rows of a table of the audit, and its notes but for that on suppression, which the header has."""
        found = self.audit.table(name, reference=self.run.reference, suppress=self.run.suppress, **settings)
        notes = found.notes if self.run.suppress is None else found.notes[:-1]
        return list(found.rows), [self.note(note) for note in notes]

    @cached_property
    def by_cut(self) -> list[dict[str, _Row]]:
        """Rows of the table of cuts, those of one cut and group together, by rate.

        With a repair, if there is one, wherever it is shown: the same small counts are hidden then.
        """
        rows, _ = self.table("cuts", repair=self.run.repair)
        step = max(len({row["rate"] for row in rows}), 1)
        return [{row["rate"]: row for row in rows[first : first + step]} for first in range(0, len(rows), step)]

    def note(self, text: str) -> str:
        """Return a note, without counts that are too small to be shown."""
        least = self.run.suppress
        if least is not None:

            def shown(match: re.Match[str]) -> str:
                few = 0 < int(match[1].replace(",", "")) < least
                return f"fewer than {least} rows{' without a group are' if match[2] else ''}" if few else match[0]

            text = re.sub(r"\b(\d[\d,]*) rows?\b(?: without a group (is|are))?", shown, text)
        return plain(text)

    def place(self, caption: str, make: Callable[[], str], more: str = "") -> str:
        """Return a table with its number and caption, or, from the second time on, where it is."""
        if caption in self.shown:
            place, item = self.shown[caption]
            return f"{caption}: see table {place}, under {item}."
        self.shown[caption] = len(self.shown) + 1, self.item
        return f"**Table {len(self.shown)}.** {caption}{more}.\n\n{make()}"

    def number(self, value: float | None) -> str:
        """Write a number."""
        return self.lacking if value is None else number(value, self.digits)

    def count(self, value: float | None) -> str:
        """Write a count."""
        return self.lacking if value is None else count(value)

    def total(self, value: float) -> str:
        """Write a count that no table has."""
        few = self.run.suppress is not None and 0 < value < self.run.suppress
        return f"fewer than {self.run.suppress}" if few else count(value)

    def estimate(self, row: _Row, value: str, ends: str | None = None, *, sign: bool = False) -> str:
        """Write a number of a row with its interval."""
        found, prefix = row[value], f"{value}_" if ends is None else ends
        low, high = row[f"{prefix}low"], row[f"{prefix}high"]
        if found is None:
            return self.lacking
        text = (signed if sign else number)(found, self.digits)
        if low is None or high is None:
            return f"{text} (interval {self.lacking})"
        return f"{text} ({interval_text((low, high), self.digits, sign='+' if sign else '')})"

    def pvalue(self, value: float | None) -> str:
        """Write a p-value."""
        if value is None:
            return self.lacking
        return pvalue_text(value) if self.digits == 4 else "< 0.01" if value < 0.005 else number(value, 2)


# Characters that mean something in Markdown, in a table or in a line of text.
_MARKS = re.compile(r"[\\|<`*~\[\]]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")


def plain(text: object) -> str:
    """Return text on one line, so that Markdown shows it as it is."""
    return _MARKS.sub(r"\\\g<0>", one_line(text)) or "(empty)"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], text: int = 1) -> str:
    """Lay out a table; the first columns, as many as ``text``, hold text, the others numbers."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]

    def line(cells: Sequence[str]) -> str:
        sides = ("<" if place < text else ">" for place in range(len(cells)))
        return "| " + " | ".join(f"{c:{s}{w}}" for c, s, w in zip(cells, sides, widths, strict=True)) + " |"

    rule = "|".join("-" * (w + 1) + ("-" if place < text else ":") for place, w in enumerate(widths))
    return "\n".join([line(lines[0]), f"|{rule}|", *map(line, lines[1:])])


def tolerance_text(known: Known) -> str:
    """The tolerance and its verdict."""
    run = known.run
    if run.tolerance is None:
        return "none, so there is no verdict"
    verdict = known.audit.against(run.tolerance, metric=run.metric, tolerance_cut=run.tolerance_cut)
    cuts = "" if run.tolerance_cut is None else f", and {run.tolerance_cut:g} between sensitivities at any cut"
    return f"{run.tolerance:g} for {gap_title(run.metric)}s{cuts}; verdict: {verdict}"


def counts_table(known: Known) -> str:
    """Rows and outcomes by group."""

    def make() -> str:
        rows = []
        for row in known.rows["groups"]:
            positives, negatives = row["positives"], row["negatives"]
            both = None if positives is None or negatives is None else positives + negatives
            share = percent(positives / both, 1 if known.digits == 4 else 0) if both else known.lacking
            rows.append([plain(row["group"]), *map(known.count, (both, positives, negatives)), share])
        return markdown(["group", "rows", "with the outcome", "without it", "share with it"], rows)

    return known.place("Rows and outcomes by group", make)


def performance_table(known: Known) -> str:
    """AUC by group."""

    def make() -> str:
        rows = [[plain(row["group"]), known.estimate(row, "auc")] for row in known.rows["groups"]]
        return markdown(["group", f"AUC ({level(known.audit.confidence)} interval)"], rows)

    return known.place("Discrimination by group", make)


def gap_tables(known: Known) -> list[str]:
    """Gaps between each two groups, in xAUC and in the metric of the tolerance."""
    return [
        known.place(
            f"The {gap_title(metric)} of each two groups",
            lambda metric=metric: _gaps(known, metric),  # type: ignore[misc]
            f", first less second: {METRICS[metric].meaning}",
        )
        for metric in dict.fromkeys(("xauc", known.run.metric))
    ]


def _gaps(known: Known, metric: str) -> str:
    audit, after = known.audit, _adjusted(known)
    readings = judge(audit, metric).readings
    found = [(gap, row) for gap, row in zip(audit.gaps, known.rows["gaps"], strict=True) if gap.metric == metric]
    # Pairs that are not shown come last; their order must not say how wide their gap is.
    found.sort(key=lambda each: -math.inf if each[1]["value"] is None else abs(each[1]["value"]), reverse=True)
    rows = []
    for gap, row in found[:_MOST_PAIRS]:
        hidden = row["value"] is None
        cells = [
            plain(row["first"]),
            plain(row["second"]),
            known.estimate(row, "value", "", sign=True),
            known.pvalue(row["pvalue_holm"]),
            known.lacking if hidden else readings[gap.pair],
        ]
        if after is not None:
            value = after.gap(metric, gap.pair).value
            cells.append(known.lacking if hidden or math.isnan(value) else signed(value, known.digits))
        rows.append(cells)
    head = ["first", "second", f"gap ({level(audit.confidence)} interval)", "p, all pairs (Holm)", "reading"]
    text = markdown(head if after is None else [*head, "after the map"], rows, 2)
    if len(found) > _MOST_PAIRS:
        text += f"\n\n... and {len(found) - _MOST_PAIRS} more pairs; `xorder audit --table gaps` has all."
    return text


def _adjusted(known: Known) -> Audit | None:
    """Audit the adjusted scores; their values alone are used, as errors would not know clusters."""
    if known.run.repair is None or known.audit._tables is None:
        return None
    from xorder.metrics._audit import measured
    from xorder.metrics._sheet import moved_scores

    tables = known.audit._tables
    moved = moved_scores(tables, known.run.repair)
    adjusted = tables.replacing({group: table.at(moved[group]) for group, table in tables.items()})
    return measured(replace(adjusted, held=None), known.audit.confidence)[0]


def rates_table(known: Known) -> str:
    """Rates at cuts, by group."""

    def make() -> str:
        lines = []
        for by_rate in known.by_cut:
            selected = by_rate["selected"]
            impact = selected["impact_ratio"]
            lines.append(
                [plain(selected["at"]), plain(selected["group"]), known.count(selected["count"])]
                + [known.estimate(by_rate[name], "value", "") for name in _RATES]
                + ["" if impact is None else known.number(impact)]
            )
        head = ["cut", "group", "rows selected", *_RATES.values(), "share selected, to the highest group's"]
        return markdown(head, lines, 2)

    return known.place("Rates at each cut of the list, by group", make, known.intervals)


def differences_table(known: Known) -> str:
    """Differences of rates to the reference."""
    if not known.by_cut:
        return "No cut is reported."
    reference = known.by_cut[0]["selected"]["reference"]

    def make() -> str:
        lines = [
            [plain(by_rate["selected"]["at"]), plain(by_rate["selected"]["group"])]
            + [known.estimate(by_rate[name], "difference", sign=True) for name in _RATES]
            for place, by_rate in enumerate(known.by_cut)
            # Neither all groups together, which come last, nor the reference itself.
            if (place + 1) % (len(known.audit.groups) + 1) and by_rate["selected"]["group"] != reference
        ]
        return markdown(["cut", "group", *_RATES.values()], lines, 2)

    return known.place(f"Rates less those of {plain(reference)}, the reference", make, known.intervals)


# Rates that are shown; the others follow from them.
_RATES = {"selected": "share selected", "sensitivity": "sensitivity", "specificity": "specificity"}
_RATES |= {"ppv": "PPV", "npv": "NPV"}


def calibration_table(known: Known) -> str:
    """Calibration by group, or why it is not known."""

    def make() -> str:
        refused = ""
        try:
            rows, notes = known.table("calibration", repair=known.run.repair)
        except InputError as error:
            refused = str(error)
            if known.run.repair is None:
                return f"Not known: {known.note(refused)}"
            try:
                rows, notes = known.table("calibration")
            except InputError as same:
                return f"Not known: {known.note(str(same))}"
            notes.append(f"Of adjusted scores not known: {known.note(refused)}")
        stages = known.run.repair is not None
        lines = [
            [plain(row["group"])]
            + ([row["scores"]] if stages else [])
            + [known.number(row["observed"]), known.number(row["expected"])]
            + [known.estimate(row, name) for name in ("observed_to_expected", "intercept", "slope")]
            + [known.number(row["ici"])]
            for row in rows
        ]
        head = ["group", *(["scores"] if stages else []), "observed", "expected", "observed to expected"]
        head += ["intercept", "slope", "mean distance of the curve (ICI)"]
        return "\n\n".join([markdown(head, lines, 2 if stages else 1), *notes])

    return known.place("Calibration of the score as a probability, by group", make, known.intervals)


def net_benefit_table(known: Known) -> str:
    """Net benefit by group, or why it is not known."""

    def make() -> str:
        repaired = known.run.repair is not None
        try:
            rows, notes = known.table("net_benefit", repair=known.run.repair, thresholds=known.run.thresholds)
        except InputError as error:
            if "probabilities, between" not in str(error):
                raise
            return f"Not known: {known.note(str(error))}"
        # As they were given: a row may have fewer digits of them.
        thresholds = [each for each in known.run.thresholds for _ in (*known.audit.groups, None)]
        lines = [
            [f"{threshold:g}", plain(row["group"]), known.estimate(row, "net_benefit", "", sign=True)]
            + [known.number(row["treat_all"]), known.estimate(row, "over_treat_all", sign=True)]
            + ([known.estimate(row, "change", sign=True)] if repaired else [])
            for threshold, row in zip(thresholds, rows, strict=True)
        ]
        head = ["threshold", "group", "net benefit", "of treating all", "more than treating all"]
        head += ["change by the map"] if repaired else []
        return "\n\n".join([markdown(head, lines, 2), *notes])

    return known.place("Net benefit by group", make, known.intervals)


def scores_table(known: Known) -> str:
    """Distribution of the scores."""

    def make() -> str:
        rows, _ = known.table("scores")
        quantiles = {"p5": "5 %", "p25": "25 %", "median": "median", "p75": "75 %", "p95": "95 %"}
        lines = [
            [plain(row["group"]), row["outcome"], known.count(row["rows"])]
            + [known.number(row[name]) for name in ("mean", "sd", *quantiles)]
            for row in rows
        ]
        return markdown(["group", "outcome", "rows", "mean", "sd", *quantiles.values()], lines, 2)

    return known.place("Distribution of the scores by group and outcome", make)


def _changes(known: Known) -> str:
    def make() -> str:
        moves, _ = known.table("moves", repair=known.run.repair)
        lines = []
        for row, by_rate in zip(moves, known.by_cut, strict=True):
            # What one of the two tables does not show must not be told by the other.
            hidden = row["selected"] is None or by_rate["selected"]["count"] is None
            lines.append(
                [plain(row["at"]), plain(row["group"])]
                + [known.count(None if hidden else row[name]) for name in ("selected", "after", "enters", "leaves")]
                + [
                    known.lacking if hidden else known.estimate(by_rate[name], "change", sign=True)
                    for name in ("selected", "sensitivity", "ppv")
                ]
            )
        head = ["cut", "group", "selected", "selected after", "enter", "leave"]
        head += ["change of share selected", "of sensitivity", "of PPV"]
        return markdown(head, lines, 2)

    return known.place("What the map changes at each cut of the list, by group", make, known.intervals)


def auc_text(known: Known) -> str:
    """AUC of all rows, in a sentence."""
    overall = known.rows["groups"][-1]
    percent = level(known.audit.confidence)
    return f"AUC of all rows, with its {percent} interval: {known.estimate(overall, 'auc')}."


def clear_pairs_text(known: Known) -> str:
    """Name the pairs of groups whose gap chance does not explain."""
    metric, audit = known.run.metric, known.audit
    readings = judge(audit, metric).readings
    shown = [
        row
        for gap, row in zip(audit.gaps, known.rows["gaps"], strict=True)
        if gap.metric == metric and row["value"] is not None and readings[gap.pair] == "not chance"
    ]
    title = gap_title(metric)
    if not shown:
        return f"No {title} shown here is beyond chance at {level(audit.confidence)} confidence, all pairs allowed for."
    # The favoured group first.
    pairs = [(row["first"], row["second"])[:: 1 if row["value"] >= 0 else -1] for row in shown[:_MOST_PAIRS]]
    named = "; ".join(f"{plain(first)} over {plain(second)}" for first, second in pairs)
    more = f"; and {len(shown) - _MOST_PAIRS} more" if len(shown) > _MOST_PAIRS else ""
    return (
        f"Pairs of groups whose {title} chance does not explain at {level(audit.confidence)} confidence, all pairs "
        f"allowed for, the favoured group first: {named}{more}."
    )


def verdict_text(known: Known) -> str:
    """The tolerance and its verdict, in a sentence."""
    return f"Declared tolerance: {tolerance_text(known)}."


def measures(known: Known) -> list[str]:
    """Say what was measured, and how."""
    audit = known.audit
    cuts = ", ".join(map(cut_text, audit.cuts))
    thresholds = ", ".join(f"{each:g}" for each in known.run.thresholds)
    lines = [
        "discrimination: AUC of all rows and of each group; xAUC, the chance that a positive of one group outranks a "
        "negative of another, and its gap between each two groups, with p-values by Holm's rule for all pairs;",
        f"rates at cuts of the list ({cuts}): share selected, sensitivity, specificity, PPV, NPV;",
        "calibration, where the score is a probability: observed to expected, intercept, slope, mean distance of a "
        "smooth curve (ICI);",
        f"clinical utility, where the score is a probability: net benefit where treatment starts at {thresholds}.",
    ]
    errors = (
        "Rows are taken to be independent."
        if audit.clusters is None
        else f"Errors allow for {known.total(audit.clusters)} clusters of rows."
    )
    intervals = f"All intervals are of {level(audit.confidence)} confidence and come from formulas, not resampling."
    return ["\n".join(f"- {line}" for line in lines), f"{intervals} {errors}"]


def _repair(known: Known) -> list[str]:
    repair = known.run.repair
    if repair is None:
        return ["No map of the scores was given: the numbers here are of the score as it is."]
    fitted = getattr(repair, "repair_", repair)
    settings = getattr(fitted, "settings", fitted)
    stays = getattr(fitted, "reference_", getattr(fitted, "reference", None))
    moved = getattr(fitted, "moved_", getattr(fitted, "moved", ()))
    auc = _adjusted(known)
    said = [f"Method: {plain(getattr(settings, 'method', type(fitted).__name__))}"]
    said += [] if stays is None else [f"group whose scores stay: {plain(stays)}"]
    said += [f"groups whose scores are moved: {', '.join(map(plain, moved)) or 'none'}"]
    return [
        f"A map adjusts the scores by group. {'; '.join(said)}. AUC of all rows after it: "
        f"{known.number(None if auc is None or math.isnan(auc.auc) else auc.auc)}.",
        _changes(known),
    ]


def fairness(known: Known) -> list[str]:
    """Say what was tolerated, repaired and found."""
    return [verdict_text(known), *_repair(known), *gap_tables(known)]


def limits(known: Known) -> list[str]:
    """Say what these rows are too few or too coarse for."""
    audit = known.audit
    few = ", ".join(map(plain, audit.too_few)) or "none"
    found = [
        f"Groups with fewer than {FEW} positives or negatives, too few to say whether their gaps are chance: {few}."
    ]
    if audit.binning_error is not None:
        found.append(f"Scores were binned, which moved AUC and gaps by at most {audit.binning_error.largest:.1e}.")
    return found


def heterogeneity(known: Known) -> list[str]:
    """Say what is known of clusters."""
    if known.audit.clusters is None:
        return ["Nothing: no clusters were named, and performance by cluster was not examined."]
    clusters = known.total(known.audit.clusters)
    return [f"Errors allow for {clusters} clusters of rows; performance by cluster was not examined."]

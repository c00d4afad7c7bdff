"""The tables of an audit, as rows of plain values: what reviewers ask for, by group, ready for a frame or a file.

The columns of each table are a contract, with a version; ``docs/tables.md`` lists them.
"""

from __future__ import annotations

import csv
import io
import math
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xorder._parameters import brief, check_label, check_whole, check_word, in_range
from xorder._present import known, one_line
from xorder._table import FloatArray, ScoreTable
from xorder.exceptions import InputError
from xorder.metrics._calibration import Calibration, Sample, calibrated, check_probabilities
from xorder.metrics._cuts import Cut, CutGap, Cuts, Threshold, cut_text
from xorder.metrics._gaps import Gap
from xorder.metrics._rates import ALL_GROUPS, RATES, Rate, RatesAtCut

if TYPE_CHECKING:
    from xorder.metrics._audit import Audit
    from xorder.metrics._units import Rows as UnitRows

# Version of the columns of all tables.
VERSION = 1

# Thresholds of net benefit by default.
THRESHOLDS = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

# What stands below a table where numbers of people are too small to be shown.
SUPPRESSED = "Rows with a count of 1 to {} are suppressed, and further ones from which they could be told."

# Quantiles in the table of scores.
_SHARES = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}

Row = dict[str, Any]


class About(NamedTuple):
    """What a row is about: one group, two, or none where it is all of them; and, of a cut, which one.

    ``counts`` are those of the row beyond the group's positives and negatives.
    """

    groups: tuple[Hashable, ...]
    at: str = ""
    counts: tuple[float, ...] = ()


Rows = Iterator[tuple[About, Row]]


def _of(group: Hashable | None, at: str = "", counts: Sequence[float] = ()) -> About:
    return About(() if group is None else (group,), at, tuple(counts))


@dataclass(frozen=True, slots=True)
class AuditTable:
    """One table of an audit; made by :meth:`Audit.table`.

    Parameters
    ----------
    name : str
        Name of the table, such as ``"cuts"``.
    rows : list of dict
        The rows: text, numbers, and None where a number is not known or is suppressed. All have the same columns.
    notes : tuple of str, default=()
        What a reader should know.
    """

    name: str
    rows: list[Row]
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.rows[0]) if self.rows else []

    def to_dict(self) -> dict[str, Any]:
        """Return the table ready for JSON.

        Returns
        -------
        dict
            Name, version of the columns, rows and notes.
        """
        return {"table": self.name, "version": VERSION, "rows": self.rows, "notes": list(self.notes)}

    def to_csv(self) -> str:
        """Return the table as csv, all digits kept; what is not known is empty.

        Returns
        -------
        str
            A line of names, then a line per row.
        """
        out = io.StringIO()
        writer = csv.DictWriter(out, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return out.getvalue()

    def to_markdown(self) -> str:
        """Return the table as Markdown, numbers shortened to be read; the notes follow.

        Returns
        -------
        str
            The table and its notes.
        """
        rows = [[_cell(value) for value in row.values()] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.columns, *rows, strict=True)]
        numeric = [all(not isinstance(row[name], str) for row in self.rows) for name in self.columns]
        looks = [f"{'>' if right else '<'}{width}" for right, width in zip(numeric, widths, strict=True)]
        lines = [
            f"| {' | '.join(f'{cell:{look}}' for cell, look in zip(each, looks, strict=True))} |"
            for each in (self.columns, *rows)
        ]
        rule = ["-" * (width + 1) + (":" if right else "-") for right, width in zip(numeric, widths, strict=True)]
        return "\n".join([lines[0], f"|{'|'.join(rule)}|", *lines[1:], *(f"\n{note}" for note in self.notes)])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return one_line(value).replace("|", "\\|")
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.4f}" if abs(value) >= 0.0001 else f"{value:.2g}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:g}"


class Sheet:
    """All that the tables of an audit are made of, each worked out when it is asked for."""

    def __init__(
        self, audit: Audit, reference: Hashable | None, repair: Any, thresholds: Sequence[float] | None
    ) -> None:
        if audit._tables is None:
            raise InputError("this audit holds no tables; make it with audit, audit_tables or audit_frame.")
        self.audit, self.tables, self.confidence = audit, audit._tables, audit.confidence
        self.rows: UnitRows | None = None
        if audit._units is not None and self.tables.held is not None:
            from xorder.metrics._units import Rows as UnitRows

            self.rows = UnitRows.of(self.tables.held, audit.groups)
        self.groups: tuple[Hashable | None, ...] = (*audit.groups, None)
        if reference is not None:
            check_label("reference", reference, audit.groups)
        size = {group: audit.positives[group] + audit.negatives[group] for group in audit.groups}
        self.reference = max(audit.groups, key=size.__getitem__) if reference is None else reference
        self.moved = None if repair is None else moved_scores(self.tables, repair)
        self.thresholds = checked_thresholds(THRESHOLDS if thresholds is None else thresholds)
        self.notes: list[str] = []
        # Counts from 1 up to less than this are not to be shown.
        self.least = 0

    @cached_property
    def after(self) -> Cuts | None:
        """Cuts of the adjusted scores."""
        if self.moved is None:
            return None
        adjusted = {group: table.at(self.moved[group]) for group, table in self.tables.items()}
        return Cuts(self.tables.replacing(adjusted), self.confidence)

    def counts_at(self, found: RatesAtCut, group: Hashable | None) -> list[float]:
        """Rows of a group on either side of a cut, by class; after a repair, too."""
        return found.counts(group) + (found.counts(group, after=True) if self.after is not None else [])

    def rates_at(self, cut: Cut) -> RatesAtCut:
        """Return the rates at a cut."""
        return RatesAtCut(cut, self.audit._by_cut(), self.rows, self.after, self.moved)

    def counts(self, group: Hashable | None) -> list[float]:
        """Positives and negatives of a group, or of all."""
        classes = (self.audit.positives, self.audit.negatives)
        return [sum(each[one] for one in self.within(group)) for each in classes]

    def within(self, group: Hashable | None) -> tuple[Hashable, ...]:
        """The group, or all of them."""
        return self.audit.groups if group is None else (group,)

    @property
    def stages(self) -> dict[str, Cuts]:
        """Cuts of the scores, by what the tables call these: as they are and, with a repair, adjusted."""
        return {"as they are": self.audit._by_cut()} | ({} if self.after is None else {"adjusted": self.after})

    def note_adjusted(self) -> None:
        """Say what an adjusted score is not."""
        self.notes.append(
            "Adjusted scores rank people and are no longer probabilities; where one is needed, keep the score itself."
        )


def moved_scores(tables: Mapping[Hashable, ScoreTable], repair: Any) -> dict[Hashable, FloatArray]:
    """Return the adjusted scores of each table."""
    repair = getattr(repair, "repair_", repair)
    maps = getattr(repair, "maps_", getattr(repair, "maps", None))
    if maps is None and not hasattr(repair, "transform"):
        raise InputError(f"repair must be a fitted repair, such as XOrder; got {type(repair).__name__}.")
    found = {}
    for group, table in tables.items():
        if maps is None:
            score = repair.transform(table.score, sensitive_features=np.full(len(table), group))
        elif group in maps:
            score = maps[group].apply(table.score)
        else:
            raise InputError(f"group {group!r} was not seen in fit; the map is for {', '.join(map(repr, maps))}.")
        found[group] = np.asarray(score, dtype=np.float64)
        if np.any(found[group][1:] > found[group][:-1]):
            raise InputError(f"the repair changes the order within group {group!r}, so cuts cannot be compared.")
    return found


def checked_thresholds(thresholds: Any) -> tuple[float, ...]:
    """Return thresholds of net benefit, sorted; refuse what are none."""
    thresholds = thresholds.tolist() if isinstance(thresholds, np.ndarray) else thresholds
    found = tuple(thresholds) if isinstance(thresholds, Iterable) else (thresholds,)
    wrong = [each for each in found if not (isinstance(each, Real) and in_range(each) and 0 < float(each) < 1)]
    if wrong or not found:
        came = brief(wrong[0]) if wrong else "none"
        raise InputError(f"thresholds must be probabilities between 0 and 1, such as 0.1; got {came}.")
    return tuple(sorted({float(each) for each in found}))


def _name(group: Hashable | None) -> str:
    return ALL_GROUPS if group is None else str(group)


def _number(name: str, value: float, ends: Sequence[float], *, plain: bool = False) -> Row:
    """A number and the ends of its interval, which are called low and high alone if it is the row's only one."""
    before = "" if plain else f"{name}_"
    return {name: value, f"{before}low": ends[0], f"{before}high": ends[1]}


_NOT_KNOWN = (math.nan, (math.nan, math.nan))


def _groups(sheet: Sheet) -> Rows:
    audit = sheet.audit
    for group in sheet.groups:
        auc, prf = (audit.auc, audit.auc_interval), _NOT_KNOWN
        if group is not None:
            auc = audit.xauc[group, group], audit.xauc_interval[group, group]
            prf = audit.prf[group], audit.prf_interval[group]
        counts = dict(zip(("positives", "negatives"), sheet.counts(group), strict=True))
        yield _of(group), {"group": _name(group), **counts, **_number("auc", *auc), **_number("prf", *prf)}


def _xauc(sheet: Sheet) -> Rows:
    for pair, ends in sheet.audit.xauc_interval.items():
        names = dict(zip(("positives_of", "negatives_of"), map(str, pair), strict=True))
        yield About(pair), names | _number("chance", sheet.audit.xauc[pair], ends, plain=True)


def _gaps(sheet: Sheet) -> Rows:
    for gap in sheet.audit.gaps:
        cells = {"metric": gap.metric, **_pair(gap), "pvalue": gap.pvalue, "pvalue_holm": gap.pvalue_holm}
        yield About(gap.pair), cells


def _cut_gaps(sheet: Sheet) -> Rows:
    for at, gap in sheet.audit._named_cuts():
        cells = {"at": at or "worst", "share": gap.cut, "threshold": gap.threshold}
        cells |= dict(zip(("first_rate", "second_rate"), gap.rates, strict=True))
        yield About(gap.pair), cells | _pair(gap)


def _pair(gap: Gap | CutGap) -> Row:
    first, second = map(str, gap.pair)
    low, high = gap.interval
    return {"first": first, "second": second, "value": gap.value, "stderr": gap.stderr, "low": low, "high": high}


def _cuts(sheet: Sheet) -> Rows:
    for cut in sheet.audit.cuts:
        found, at = sheet.rates_at(cut), cut_text(cut)
        shares = {group: found.rate("selected", group) for group in sheet.audit.groups}
        highest = max(shares.values(), key=lambda rate: -1.0 if math.isnan(rate.value) else rate.value)
        for group in sheet.groups:
            about = _of(group, at, sheet.counts_at(found, group))
            for name in RATES:
                rate = found.rate(name, group)
                # All groups have the reference among them.
                difference = ratio = impact = _NOT_KNOWN
                if group == sheet.reference:
                    difference, ratio = (0.0, (0.0, 0.0)), (1.0, (1.0, 1.0))
                elif group is not None:
                    reference = found.rate(name, sheet.reference)
                    difference, ratio = found.difference(rate, reference), found.ratio(rate, reference)
                if name == "selected" and group is not None:
                    impact = found.ratio(shares[group], highest)
                row = {"at": at, "share": found.sides[0].share, "threshold": found.sides[0].threshold}
                row |= {"group": _name(group), "rate": name, "count": rate.count, "of": rate.of}
                row |= _number("value", rate.value, rate.interval(sheet.confidence), plain=True)
                row |= {"reference": str(sheet.reference), **_number("difference", *difference)}
                row |= _number("ratio", *ratio) | _number("impact_ratio", *impact)
                yield about, row if sheet.after is None else row | _change(found, name, group, rate)


def _change(found: RatesAtCut, name: str, group: Hashable | None, rate: Rate) -> Row:
    """What a rate is after the repair, and how it has changed."""
    after = found.rate(name, group, after=True)
    told = _number("after", after.value, after.interval(found.confidence))
    return told | _number("change", *found.change(rate, after))


def _moves(sheet: Sheet) -> Rows:
    if sheet.after is None:
        raise InputError("the table of moves needs a repair: who enters and who leaves by it.")
    for cut in sheet.audit.cuts:
        found = sheet.rates_at(cut)
        for group in sheet.groups:
            moves = found.moves(group)
            row: Row = {"at": cut_text(cut), "group": _name(group)}
            row |= {"selected": sum(found.counts(group)[:2]), "after": sum(found.counts(group, after=True)[:2])}
            yield _of(group, cut_text(cut), (*sheet.counts_at(found, group), *moves.values())), row | moves


def _calibration(sheet: Sheet) -> Rows:
    for stage, group, found in _calibrations(sheet):
        row = {"scores": stage, "group": _name(group), "observed": found.observed, "expected": found.expected}
        numbers = {"observed_to_expected": found.ratio, "intercept": found.intercept, "slope": found.slope}
        for name, each in numbers.items():
            row |= _number(name, each.value, each[1:])
        yield _of(group), row | {"ici": found.ici}


def _calibration_curve(sheet: Sheet) -> Rows:
    for stage, group, found in _calibrations(sheet):
        for score, observed, *ends in found.curve.T.tolist():
            cells = {"scores": stage, "group": _name(group), "score": score}
            yield _of(group), cells | _number("observed", observed, ends, plain=True)


def _calibrations(sheet: Sheet) -> Iterator[tuple[str, Hashable | None, Calibration]]:
    check_probabilities(sheet.tables)
    tables = [table for table in sheet.tables.values() if len(table)]
    ends = [(table.positive[end] + table.negative[end], table.score[end]) for table in tables for end in (0, -1)]
    outermost = sum(float(mass) for mass, score in ends if score in (0, 1))
    if outermost and any(len(table) > 2 for table in sheet.tables.values()):
        number = f"{outermost:,.10g}" if outermost >= sheet.least else f"Fewer than {sheet.least}"
        sheet.notes.append(
            f"{number} rows have a score of exactly 0 or 1, whose log odds are infinite; intercept, slope and "
            "curve take the nearest score inside for it."
        )
    if sheet.after is not None:
        check_probabilities(sheet.after.tables)
        sheet.note_adjusted()
    for stage, by_cut in sheet.stages.items():
        rows = sheet.rows
        if rows is not None and by_cut is sheet.after:
            rows = rows._replace(scores=(_moved_rows(sheet, rows),))
        for group in sheet.groups:
            if group not in by_cut.calibrations:
                sample = Sample.of(by_cut, sheet.within(group), rows)
                by_cut.calibrations[group] = calibrated(sample, sheet.confidence)
            yield stage, group, by_cut.calibrations[group]


def _moved_rows(sheet: Sheet, rows: UnitRows) -> FloatArray:
    """Adjusted scores of the rows themselves."""
    score = rows.scores[0].copy()
    for number, (group, table) in enumerate(sheet.tables.items()):
        own = rows.group == number
        score[own] = (sheet.moved or {})[group][np.searchsorted(-table.score, -score[own])]
    return np.asarray(score)


def _net_benefit(sheet: Sheet) -> Rows:
    low, high = check_probabilities(sheet.tables)
    if sheet.after is not None:
        sheet.note_adjusted()
    outside = [threshold for threshold in sheet.thresholds if not low <= threshold <= high]
    if outside:
        sheet.notes.append(
            f"No score lies beyond the {'threshold' if len(outside) == 1 else 'thresholds'} "
            f"{', '.join(f'{each:g}' for each in outside)}: there everybody is treated, or nobody."
        )
    for threshold in sheet.thresholds:
        found = sheet.rates_at(Threshold(threshold))
        cost = threshold / (1 - threshold)
        for group in sheet.groups:
            own = found.own(group)
            of = float(own @ found.cells.mass)
            gains = [
                own * selected * (found.cells.positive - cost * (1 - found.cells.positive))
                for selected in (*found.cells.selected, np.ones(own.size))
            ]
            values = [float(gain @ found.cells.mass) / of if of else math.nan for gain in gains]
            influences = [(gain - value * own) / of if of else own for gain, value in zip(gains, values, strict=True)]
            over, change = values[0] - values[-1], values[1] - values[0]
            row: Row = {"threshold": threshold, "group": _name(group)}
            row |= _number("net_benefit", values[0], found.reach(values[0], influences[0]), plain=True)
            row |= {"treat_all": values[-1], "treat_none": 0.0}
            row |= _number("over_treat_all", over, found.reach(over, influences[0] - influences[-1]))
            if sheet.after is not None:
                row |= {"after": values[1]}
                row |= _number("change", change, found.reach(change, influences[1] - influences[0]))
            yield _of(group, str(threshold), sheet.counts_at(found, group)), row


# Scores whose squares, times any mass, are numbers.
_LARGEST = 1e100


def _scores(sheet: Sheet) -> Rows:
    for stage, by_cut in sheet.stages.items():
        if any(np.abs(table.score[[0, -1]]).max() > _LARGEST for table in by_cut.tables.values() if len(table)):
            raise InputError(f"the table of scores needs scores from {-_LARGEST:g} to {_LARGEST:g}; scale them down.")
        tables = {group: by_cut.tables[group] for group in sheet.audit.groups}
        sides = ("positive", "negative")
        of_class = {group: [_mean_and_variance(each, side) for side in sides] for group, each in tables.items()}
        for outcome, classes in (("positive", (0,)), ("negative", (1,)), ("all", (0, 1))):
            parts = {group: _together([both[each] for each in classes]) for group, both in of_class.items()}
            for group in sheet.groups:
                chosen = sheet.within(group)
                mass, mean, variance = _together([parts[each] for each in chosen])
                _, center, spread = parts[sheet.reference]
                both = math.sqrt((variance + spread) / 2) if variance + spread > 0 else math.nan
                low, *middle, high = _quantiles(by_cut, chosen, classes)
                yield (
                    _of(group),
                    {"scores": stage, "group": _name(group), "outcome": outcome, "rows": mass}
                    | {"mean": mean, "sd": math.sqrt(variance), "min": low}
                    | {**dict(zip(_SHARES, middle, strict=True)), "max": high}
                    | {"reference": str(sheet.reference), "standardised_difference": (mean - center) / both},
                )


def _mean_and_variance(table: ScoreTable, side: str) -> tuple[float, float, float]:
    """Mass, mean and variance of the scores of one class of a group."""
    mass = getattr(table, side)
    total = float(mass.sum())
    if not total > 0:
        return 0.0, math.nan, math.nan
    mean = float(mass @ table.score) / total
    return total, mean, float(mass @ (table.score - mean) ** 2) / total


def _together(parts: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Mass, mean and variance of several groups taken as one."""
    known_parts = [each for each in parts if each[0] > 0]
    total = sum(mass for mass, _, _ in known_parts)
    if not total > 0:
        return 0.0, math.nan, math.nan
    mean = sum(mass * own for mass, own, _ in known_parts) / total
    return total, mean, sum(mass * (variance + (own - mean) ** 2) for mass, own, variance in known_parts) / total


def _quantiles(by_cut: Cuts, groups: Sequence[Hashable], classes: tuple[int, ...]) -> list[float]:
    """Lowest score, quantiles, and highest score of some groups, of one class or both.

    A quantile is the smallest score that at least its share of the rows does not exceed.
    """
    lists = []
    for group in groups:
        sums = by_cut.running(group)
        mass = sums[classes[0]] if len(classes) == 1 else sums[0] + sums[1]
        if mass[-1] > 0:
            lists.append((by_cut.tables[group].score[::-1], mass[::-1]))
    if not lists:
        return [math.nan] * (2 + len(_SHARES))
    total = sum(float(mass[0]) for _, mass in lists)

    def reached(score: float) -> float:
        """Mass at or below a score."""
        return total - sum(float(mass[np.searchsorted(rising, score, side="right")]) for rising, mass in lists)

    found = []
    for share in (0.0, *_SHARES.values(), 1.0):
        wanted = max(share * total * (1 - 1e-12), 1e-12 * total)
        places = [(rising, bisect_left(rising, wanted, key=reached)) for rising, _ in lists]
        ends = [float(rising[place]) for rising, place in places if place < rising.size]
        found.append(min(ends) if ends else max(float(rising[-1]) for rising, _ in lists))
    return found


_MAKERS = _groups, _xauc, _gaps, _cuts, _cut_gaps, _moves, _calibration, _calibration_curve, _net_benefit, _scores

# The makers of the tables by their names, which are those of the functions.
_TABLES = {maker.__name__[1:]: maker for maker in _MAKERS}


# Columns that hold counts, by table; the same in all tables are the first.
_COUNTS = {"": {"positives", "negatives", "rows", "count", "of"}}
_COUNTS["moves"] = {"selected", "after", "enters", "leaves", "positives_entering", "positives_leaving"}

# Numbers that say what a row is about.
_KEYS = {"confidence", "share", "threshold"}

# Single people's scores, which are never shown where small numbers are suppressed.
_OF_ONE = {"min", "max"}


def table_of(
    audit: Audit,
    what: str,
    *,
    reference: Hashable | None = None,
    repair: Any = None,
    thresholds: Sequence[float] | None = None,
    suppress: int | None = None,
) -> AuditTable:
    """Make one table of an audit."""
    check_word("what", what, _TABLES)
    if suppress is not None:
        check_whole("suppress", suppress)
    sheet = Sheet(audit, reference, repair, thresholds)
    sheet.least = suppress or 0
    found = [(about, row | {"confidence": audit.confidence}) for about, row in _TABLES[what](sheet)]
    if suppress is not None:
        counts = _COUNTS[""] | _COUNTS.get(what, set())
        hidden = _hidden(sheet, [about for about, _ in found], suppress)
        found = [(about, _with_little(row, about in hidden, counts)) for about, row in found]
        if what == "cuts":
            at = {(about.at, group) for about in hidden for group in about.groups}
            found = [(about, _without_hidden(row, about.at, sheet.reference, at)) for about, row in found]
        sheet.notes.append(SUPPRESSED.format(suppress - 1))
    rows = [{name: v if isinstance(v, str) else known(v) for name, v in row.items()} for _, row in found]
    return AuditTable(what, rows, tuple(sheet.notes))


def _hidden(sheet: Sheet, abouts: Sequence[About], least: int) -> set[About]:
    """Return what must not be shown: rows with a small count and, where only one group has such, the next smallest."""

    def small(counts: Sequence[float]) -> bool:
        return any(0 < count < least for count in counts)

    def with_another(few: set[Hashable], counts: Mapping[Hashable, Sequence[float]]) -> set[Hashable]:
        shown = [group for group in counts if group not in few]
        return few | ({min(shown, key=lambda group: min(counts[group]))} if len(few) == 1 and shown else set())

    classes = {group: sheet.counts(group) for group in sheet.audit.groups}
    # The same in every table: one must not show what another hides.
    always = with_another({group for group, of_group in classes.items() if small(of_group)}, classes)
    hidden = set()
    for at in dict.fromkeys(about.at for about in abouts):
        here = [about for about in abouts if about.at == at]
        alone = {about.groups[0]: about.counts for about in here if len(about.groups) == 1}
        counts = {group: [*of_group, *alone.get(group, ())] for group, of_group in classes.items()}
        few = with_another(always | {group for group, of_group in counts.items() if small(of_group)}, counts)
        everyone = small(sheet.counts(None))
        hidden |= {
            about
            for about in here
            if not few.isdisjoint(about.groups) or (not about.groups and (everyone or small(about.counts)))
        }
    return hidden


def _with_little(row: Row, hide: bool, counts: set[str]) -> Row:
    """Return a row without its numbers, or with counts as they are and two digits of everything else."""
    return {
        name: value
        if isinstance(value, str) or (not hide and name in counts) or name == "confidence"
        else None
        if name in _OF_ONE or (hide and name not in _KEYS)
        else round(float(value), 2)
        for name, value in row.items()
    }


def _without_hidden(row: Row, at: str, reference: Hashable, hidden: set[tuple[str, Hashable]]) -> Row:
    """Return a row of cuts without comparisons from which a group that is not shown at this cut could be told."""
    telling: tuple[str, ...] = ("difference", "ratio") if (at, reference) in hidden else ()
    telling += ("impact_ratio",) if any(cut == at for cut, _ in hidden) else ()
    return {name: None if telling and name.startswith(telling) else value for name, value in row.items()}

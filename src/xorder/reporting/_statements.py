"""Statements: an audit as a Markdown text with an item for each thing that reviewers and the law ask for.

The words are in ``statements.md``: of each item what its source asks for, in our words, what is known of it, and the
questions that only people can answer. What stands there in braces is filled in here, by its name in :func:`_sentences`
or :func:`_tables`. Counts that are too small to be shown are in neither.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib import resources
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

from xorder._atomic import file_path
from xorder._metric import METRICS, check_metric
from xorder._parameters import check_kind, check_number, check_whole
from xorder._present import count, gap_title, interval_text, level, number, one_line, percent
from xorder.exceptions import InputError
from xorder.metrics._cuts import cut_text
from xorder.metrics._gaps import FEW, Gap, judge
from xorder.metrics._rates import RATES
from xorder.reporting._report import checked_names, source_facts, versions

if TYPE_CHECKING:
    from xorder.metrics import Audit
    from xorder.metrics._sheet import Sheet

# Thresholds of net benefit by default: fewer than a table of its own has.
_THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)

# What columns may be called, in the order that they are listed.
_COLUMNS = ("score", "label", "group", "weight", "cluster")

# Pairs of groups whose gaps are shown, the widest first.
_MOST_PAIRS = 30

# Rates that are shown; the others follow from them.
_RATES = {"selected": "share selected", "sensitivity": "sensitivity", "specificity": "specificity"}
_RATES |= {"ppv": "PPV", "npv": "NPV"}

# What is shown of the distribution of scores.
_SPREAD = {"mean": "mean", "sd": "sd", "p5": "5 %", "p25": "25 %", "median": "median", "p75": "75 %", "p95": "95 %"}

# Columns of text; the others hold numbers, at the right.
_TEXTS = {"group", "outcome", "cut", "first", "second", "scores", "threshold"}

# Characters that mean something in Markdown, in a table or in a line of text.
_MARKS = re.compile(r"[\\|<`*~\[\]]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")

# What is said where small counts are not shown; the largest of them is filled in.
_SMALL = (
    "rows with a count of 1 to {} are not shown, nor those that would give them away; other numbers have two digits"
)

_Row = Mapping[str, Any]


def statements(
    audit: Audit,
    *,
    title: str | None = None,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    names: Mapping[str, str] | None = None,
    repair: Any = None,
    reference: Hashable | None = None,
    thresholds: Sequence[float] | None = None,
    suppress: int | None = None,
    metric: str = "xauc",
    tolerance: float | None = None,
    tolerance_cut: float | None = None,
    command: str | None = None,
    made: datetime | None = None,
) -> str:
    """Write what an audit knows on the items of TRIPOD+AI and of the EU AI Act about performance and fairness.

    What only people can answer is left open, with a box to tick. The wording of each item is ours, its source [1]_
    [2]_ and number are cited. The text states numbers; it does not claim that anything is complied with.

    Parameters
    ----------
    audit : Audit
        The audit, from :func:`xorder.audit` or :func:`xorder.audit_frame`.
    title : str, default=None
        Title of the text.
    source : str, path-like or sequence of these, default=None
        The files that the rows come from; their names, sizes and SHA-256 are noted.
    names : mapping, default=None
        What the columns are called, by the keys ``"score"``, ``"label"``, ``"group"``, ``"weight"`` and ``"cluster"``.
    repair : XOrder, FairRanker or another fitted repair, default=None
        State what it changes, too.
    reference : group label, default=None
        Group that scores are compared to; by default the largest.
    thresholds : sequence of float, default=None
        Thresholds of net benefit; by default .05, .1, .2, .3 and .5.
    suppress : int, default=None
        Do not show rows of tables with a count from 1 up to less than this.
    metric : {"xauc", "prf", "parity"}, default="xauc"
        The gap that the tolerance is about.
    tolerance : float, default=None
        Widest gap that was declared to be tolerated; by default that of the audit.
    tolerance_cut : float, default=None
        Widest difference of sensitivities tolerated at any cut, besides ``tolerance``.
    command : str, default=None
        The command that was run, to be noted.
    made : datetime, default=None
        Date and time of the text; by default now.

    Returns
    -------
    str
        The text, as Markdown.

    Raises
    ------
    InputError
        If a file cannot be read, or an argument is not what it must be.

    References
    ----------
    .. [1] Collins et al. (2024), TRIPOD+AI statement: updated guidance for reporting clinical prediction models that
       use regression or machine learning methods, BMJ 385, e078378.
    .. [2] Regulation (EU) 2024/1689 (Artificial Intelligence Act), Annex IV.

    Examples
    --------
    >>> import xorder
    >>> people = xorder.datasets.simulate_population(1000)
    >>> audit = xorder.audit(people.y_true, people.y_score, sensitive_features=people.group, tolerance=0.05)
    >>> text = statements(audit, title="Readmission score, version 3")
    >>> [line for line in text.splitlines() if line.startswith(("# ", "- **Declared tolerance"))]
    ['# Readmission score, version 3', '- **Declared tolerance:** 0.05 for xAUC gaps; verdict: beyond']
    """
    from xorder.metrics import Audit
    from xorder.metrics._sheet import Sheet  # Not needed before.

    check_kind("audit", audit, Audit, "an Audit")
    columns = {key: plain(name) for key, name in checked_names(names, _COLUMNS).items()}
    if suppress is not None:
        check_whole("suppress", suppress)
    if tolerance is None and metric == "xauc":
        tolerance = audit.tolerance
    if tolerance is None and tolerance_cut is not None:
        raise InputError("tolerance_cut comes besides tolerance=; give both.")
    tolerance, tolerance_cut = (
        limit if limit is None else check_number(name, limit, at_least=0)
        for name, limit in (("tolerance", tolerance), ("tolerance_cut", tolerance_cut))
    )
    sheet = Sheet(audit, reference, repair, _THRESHOLDS if thresholds is None else thresholds)
    known = _Known(audit, sheet, check_metric(metric).name, repair, suppress)
    allowed = "none, so there is no verdict"
    if tolerance is not None:
        cuts = "" if tolerance_cut is None else f", and {tolerance_cut:g} between sensitivities at any cut"
        verdict = audit.against(tolerance, metric=metric, tolerance_cut=tolerance_cut)
        allowed = f"{tolerance:g} for {gap_title(metric)}s{cuts}; verdict: {verdict}"
    paths: Any = [] if source is None else source if isinstance(source, list | tuple) else [source]
    files = [(str(file_path(path)), source_facts(path)) for path in paths]
    used = versions("xorder", "numpy", "scipy")
    run = {
        "title": plain("How the score ranks each group: statements" if title is None else title),
        "date": f"{datetime.now(UTC) if made is None else made.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        "versions": ", ".join(f"{name} {used[name.lower()]}" for name in ("xorder", "Python", "numpy", "scipy")),
        "made_by": "the command below" if command else "`xorder.statements`, in Python",
        "columns": ", ".join(f"{key}: {columns[key]}" for key in _COLUMNS if key in columns) or "not named",
        "files": "\n".join(f"- {plain(path)}: {of['bytes']:,} bytes, SHA-256 {of['sha256']}" for path, of in files)
        or "- none named",
        "tolerance": allowed,
        "command": f"Command:\n\n    {one_line(command)}" if command else "",
    }
    return _filled(run | _sentences(known), _tables(known))


def _filled(texts: Mapping[str, str], shown: Mapping[str, _Table | None]) -> str:
    """Fill in texts and tables: a table where it comes first, and its number after that."""
    words = resources.files("xorder.reporting").joinpath("statements.md").read_text(encoding="utf-8")
    placed: dict[str, str] = {}

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name in texts:
            return texts[name]
        table = shown[name]
        if table is None or name in placed:
            return placed.get(name, "")
        item = words[: match.start()].rpartition("### ")[2].partition(":")[0]
        placed[name] = f"{table.caption}: see table {len(placed) + 1}, under {item}."
        return f"**Table {len(placed)}.** {table.caption}{table.more}.\n\n{table.body}"

    # What is empty leaves no empty lines behind.
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"\{(\w+)\}", fill, words))


class _Table(NamedTuple):
    """A table as Markdown; ``more`` follows the caption where the table is shown."""

    caption: str
    body: str
    more: str = ""


@dataclass(frozen=True)
class _Known:
    """The numbers of an audit as they are shown, for what :func:`statements` was asked for."""

    audit: Audit
    sheet: Sheet
    metric: str
    repair: Any
    suppress: int | None

    @property
    def digits(self) -> int:
        """Digits of numbers that are not counts."""
        return 4 if self.suppress is None else 2

    @property
    def lacking(self) -> str:
        """What is written where there is no number."""
        return "not known" if self.suppress is None else "not shown"

    @property
    def intervals(self) -> str:
        """What a caption says of intervals."""
        return f", with {level(self.audit.confidence)} intervals"

    def rows(self, name: str, **settings: Any) -> tuple[list[_Row], list[str]]:
        """Return the rows of a table of the audit, and its notes but for that on suppression, which the header has."""
        found = self.audit.table(name, reference=self.sheet.reference, suppress=self.suppress, **settings)
        notes = found.notes if self.suppress is None else found.notes[:-1]
        return list(found.rows), [self.note(note) for note in notes]

    @cached_property
    def by_cut(self) -> list[dict[str, _Row]]:
        """Rows of the table of cuts, those of one cut and group together, by rate.

        With a repair, if there is one, wherever it is shown: the same small counts are hidden then.
        """
        rows, _ = self.rows("cuts", repair=self.repair)
        firsts = range(0, len(rows), len(RATES))
        return [{row["rate"]: row for row in rows[first : first + len(RATES)]} for first in firsts]

    @cached_property
    def adjusted(self) -> Audit | None:
        """The audit of adjusted scores; its values alone are used, as errors would not know clusters."""
        from xorder.metrics._make_audit import measured  # Not needed before.

        after = self.sheet.after
        return None if after is None else measured(replace(after.tables, held=None), self.audit.confidence)[0]

    def pairs(self, metric: str) -> list[tuple[Gap, _Row, str]]:
        """Return the gaps in a metric, each with its row of the table and its reading."""
        readings = judge(self.audit, metric).readings
        found = zip(self.audit.gaps, self.rows("gaps")[0], strict=True)
        return [(gap, row, readings[gap.pair]) for gap, row in found if gap.metric == metric]

    def note(self, text: str) -> str:
        """Return a note, without counts that are too small to be shown."""

        def shown(match: re.Match[str]) -> str:
            few = 0 < int(match[1].replace(",", "")) < (self.suppress or 0)
            return f"fewer than {self.suppress} rows{' without a group are' if match[2] else ''}" if few else match[0]

        return plain(re.sub(r"\b(\d[\d,]*) rows?\b(?: without a group (is|are))?", shown, text))

    def number(self, value: float | None, sign: str = "") -> str:
        """Write a number."""
        return self.lacking if value is None or math.isnan(value) else number(value, self.digits, sign=sign)

    def count(self, value: float | None) -> str:
        """Write a count."""
        return self.lacking if value is None else count(value)

    def total(self, value: float) -> str:
        """Write a count that no table has."""
        return f"fewer than {self.suppress}" if 0 < value < (self.suppress or 0) else count(value)

    def estimate(self, row: _Row, value: str, prefix: str | None = None, *, sign: str = "") -> str:
        """Write a number of a row with its interval."""
        ends = [row[f"{f'{value}_' if prefix is None else prefix}{end}"] for end in ("low", "high")]
        interval = f"interval {self.lacking}" if None in ends else interval_text(ends, self.digits, sign=sign)
        return self.lacking if row[value] is None else f"{self.number(row[value], sign)} ({interval})"

    def pvalue(self, value: float | None) -> str:
        """Write a p-value, or that it is smaller than the digits show."""
        least = 10.0**-self.digits
        return f"< {least:g}" if value is not None and value < least else self.number(value)


def plain(text: object) -> str:
    """Return text on one line, so that Markdown shows it as it is."""
    return _MARKS.sub(r"\\\g<0>", one_line(text)) or "(empty)"


def _markdown(rows: Sequence[Mapping[str, str]], notes: Sequence[str] = ()) -> str:
    """Lay out cells by the heads of their columns, and notes below."""
    if not rows:
        return "No cut is reported."
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    looks = [f"{'<' if each[0] in _TEXTS else '>'}{max(3, *map(len, each))}" for each in zip(*lines, strict=True)]
    head, *others = (f"| {' | '.join(map(format, line, looks))} |" for line in lines)
    rule = "".join(f"|{'-' if look[0] == '<' else ':':->{int(look[1:]) + 2}}" for look in looks)
    return "\n".join([head, f"{rule}|", *others, *(f"\n{note}" for note in notes)])


def _counts(known: _Known) -> _Table:
    rows = []
    for row in known.rows("groups")[0]:
        classes = {"with the outcome": row["positives"], "without it": row["negatives"]}
        both = None if None in classes.values() else sum(classes.values())
        cells = {head: known.count(value) for head, value in {"rows": both, **classes}.items()}
        share = percent(row["positives"] / both, 1 if known.suppress is None else 0) if both else known.lacking
        rows.append({"group": plain(row["group"]), **cells, "share with it": share})
    return _Table("Rows and outcomes by group", _markdown(rows))


def _auc(known: _Known) -> _Table:
    head = f"AUC ({level(known.audit.confidence)} interval)"
    rows = [{"group": plain(row["group"]), head: known.estimate(row, "auc")} for row in known.rows("groups")[0]]
    return _Table("Discrimination by group", _markdown(rows))


def _gaps(known: _Known, metric: str) -> _Table:
    found = known.pairs(metric)
    # Pairs that are not shown come last; their order must not say how wide their gap is.
    found.sort(key=lambda each: -math.inf if each[1]["value"] is None else abs(each[1]["value"]), reverse=True)
    rows = []
    for gap, row, reading in found[:_MOST_PAIRS]:
        hidden = row["value"] is None
        cells = {"first": plain(row["first"]), "second": plain(row["second"])}
        cells[f"gap ({level(known.audit.confidence)} interval)"] = known.estimate(row, "value", "", sign="+")
        cells["p, all pairs (Holm)"] = known.pvalue(row["pvalue_holm"])
        cells["reading"] = known.lacking if hidden else reading
        if known.adjusted is not None:
            cells["after the map"] = known.number(None if hidden else known.adjusted.gap(metric, gap.pair).value, "+")
        rows.append(cells)
    more = len(found) - _MOST_PAIRS
    notes = [f"... and {more} more pairs; `xorder audit --table gaps` has all."] if more > 0 else []
    meaning = f", first less second: {METRICS[metric].meaning}"
    return _Table(f"The {gap_title(metric)} of each two groups", _markdown(rows, notes), meaning)


def _cut_and_group(row: _Row) -> dict[str, str]:
    return {"cut": plain(row["at"]), "group": plain(row["group"])}


def _rates(known: _Known) -> _Table:
    rows = []
    for by_rate in known.by_cut:
        selected = by_rate["selected"]
        impact = selected["impact_ratio"]
        cells = _cut_and_group(selected) | {"rows selected": known.count(selected["count"])}
        cells |= {head: known.estimate(by_rate[name], "value", "") for name, head in _RATES.items()}
        cells["share selected, to the highest group's"] = "" if impact is None else known.number(impact)
        rows.append(cells)
    return _Table("Rates at each cut of the list, by group", _markdown(rows), known.intervals)


def _differences(known: _Known) -> _Table:
    reference = known.sheet.reference
    rows = [
        _cut_and_group(by_rate["selected"])
        | {head: known.estimate(by_rate[name], "difference", sign="+") for name, head in _RATES.items()}
        for by_rate, group in zip(known.by_cut, cycle(known.sheet.groups), strict=False)
        if group not in (None, reference)
    ]
    return _Table(f"Rates less those of {plain(reference)}, the reference", _markdown(rows), known.intervals)


def _calibration(known: _Known) -> _Table:
    caption = "Calibration of the score as a probability, by group"
    try:
        try:
            found, notes = known.rows("calibration", repair=known.repair)
        except InputError as error:
            found, notes = known.rows("calibration")
            notes.append(f"Of adjusted scores not known: {known.note(str(error))}")
    except InputError as error:
        return _Table(caption, f"Not known: {known.note(str(error))}", known.intervals)
    rows = [
        {"group": plain(row["group"])}
        | ({} if known.repair is None else {"scores": row["scores"]})
        | {name: known.number(row[name]) for name in ("observed", "expected")}
        | {name.replace("_", " "): known.estimate(row, name) for name in ("observed_to_expected", "intercept", "slope")}
        | {"mean distance of the curve (ICI)": known.number(row["ici"])}
        for row in found
    ]
    return _Table(caption, _markdown(rows, notes), known.intervals)


def _net_benefit(known: _Known) -> _Table:
    try:
        found, notes = known.rows("net_benefit", repair=known.repair, thresholds=known.sheet.thresholds)
    except InputError as error:
        return _Table("Net benefit by group", f"Not known: {known.note(str(error))}", known.intervals)
    # As they were given: a row may have fewer digits of them.
    thresholds = [threshold for threshold in known.sheet.thresholds for _ in known.sheet.groups]
    rows = [
        {"threshold": f"{threshold:g}", "group": plain(row["group"])}
        | {"net benefit": known.estimate(row, "net_benefit", "", sign="+")}
        | {"of treating all": known.number(row["treat_all"])}
        | {"more than treating all": known.estimate(row, "over_treat_all", sign="+")}
        | ({} if known.repair is None else {"change by the map": known.estimate(row, "change", sign="+")})
        for threshold, row in zip(thresholds, found, strict=True)
    ]
    return _Table("Net benefit by group", _markdown(rows, notes), known.intervals)


def _scores(known: _Known) -> _Table:
    rows = [
        {"group": plain(row["group"]), "outcome": row["outcome"], "rows": known.count(row["rows"])}
        | {head: known.number(row[name]) for name, head in _SPREAD.items()}
        for row in known.rows("scores")[0]
    ]
    return _Table("Distribution of the scores by group and outcome", _markdown(rows))


def _changes(known: _Known) -> _Table:
    counts = {"selected": "selected", "after": "selected after", "enters": "enter", "leaves": "leave"}
    rates = {"selected": "change of share selected", "sensitivity": "of sensitivity", "ppv": "of PPV"}
    rows = []
    for row, by_rate in zip(known.rows("moves", repair=known.repair)[0], known.by_cut, strict=True):
        # What one of the two tables does not show must not be told by the other.
        hidden = row["selected"] is None or by_rate["selected"]["count"] is None
        cells = {head: known.count(row[name]) for name, head in counts.items()}
        cells |= {head: known.estimate(by_rate[name], "change", sign="+") for name, head in rates.items()}
        rows.append(_cut_and_group(row) | (dict.fromkeys(cells, known.lacking) if hidden else cells))
    return _Table("What the map changes at each cut of the list, by group", _markdown(rows), known.intervals)


def _tables(known: _Known) -> dict[str, _Table | None]:
    """Return the tables by their names in ``statements.md``; None for one that does not apply."""
    return {
        "counts_table": _counts(known),
        "auc_table": _auc(known),
        "gaps_table": _gaps(known, "xauc"),
        "more_gaps_table": None if known.metric == "xauc" else _gaps(known, known.metric),
        "rates_table": _rates(known),
        "differences_table": _differences(known),
        "calibration_table": _calibration(known),
        "net_benefit_table": _net_benefit(known),
        "scores_table": _scores(known),
        "changes_table": None if known.repair is None else _changes(known),
    }


def _sentences(known: _Known) -> dict[str, str]:
    """Return what is known in words, by its name in ``statements.md``; empty for what does not apply."""
    audit, held = known.audit, known.sheet.tables
    rows = sum(known.sheet.counts(None)) if held.rows is None else held.rows
    notes = [known.note(note) for note in held.notes]
    missing = [note for note in notes if "without a group" in note]
    others = [f"- {note}" for note in notes if note not in missing]
    clusters = None if audit.clusters is None else known.total(audit.clusters)
    binned = audit.binning_error
    return {
        "rows": known.total(rows) + (", counts are sums of weights" if held.weighted else ""),
        "groups": ", ".join(map(plain, audit.groups)),
        "rows_without_group": " ".join(missing) or "none left out",
        "notes": "\n".join(["Notes on the rows:\n", *others]) if others else "",
        "confidence": level(audit.confidence),
        "clusters": f"{clusters}, which errors allow for" if clusters else "none: each row counts by itself",
        "errors": f"Errors allow for {clusters} clusters of rows" if clusters else "Rows are taken to be independent",
        "small_counts": "all are shown" if known.suppress is None else _SMALL.format(known.suppress - 1),
        "cuts": ", ".join(map(cut_text, audit.cuts)),
        "thresholds": ", ".join(f"{each:g}" for each in known.sheet.thresholds),
        "auc": known.estimate(known.rows("groups")[0][-1], "auc"),
        "gap": gap_title(known.metric),
        "clear_pairs": _clear_pairs(known),
        "adjustment": _adjustment(known),
        "few": f"{FEW}",
        "too_few": ", ".join(map(plain, audit.too_few)) or "none",
        "binning": f"Scores were binned, which moved AUC and gaps by at most {binned.largest:.1e}." if binned else "",
    }


def _clear_pairs(known: _Known) -> str:
    """Name the pairs of groups whose gap chance does not explain, the favoured group first."""
    named = []
    for _, row, reading in known.pairs(known.metric):
        if row["value"] is not None and reading == "not chance":
            pair = [plain(row["first"]), plain(row["second"])]
            named.append(" over ".join(pair if row["value"] >= 0 else pair[::-1]))
    if len(named) > _MOST_PAIRS:
        named[_MOST_PAIRS:] = [f"and {len(named) - _MOST_PAIRS} more"]
    return "; ".join(named) or "none of those shown"


def _adjustment(known: _Known) -> str:
    if known.repair is None:
        return "No map of the scores was given: the numbers here are of the score as it is."
    fitted = getattr(known.repair, "repair_", known.repair)
    settings = getattr(fitted, "settings", fitted)
    stays = getattr(fitted, "reference_", getattr(fitted, "reference", None))
    moved = getattr(fitted, "moved_", getattr(fitted, "moved", ()))
    kept = "" if stays is None else f"; group whose scores stay: {plain(stays)}"
    return (
        f"A map adjusts the scores by group. Method: {plain(getattr(settings, 'method', type(fitted).__name__))}{kept}"
        f"; groups whose scores are moved: {', '.join(map(plain, moved)) or 'none'}. AUC of all rows after it: "
        f"{known.number(None if known.adjusted is None else known.adjusted.auc)}."
    )

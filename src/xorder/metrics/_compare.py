"""Is the new score fairer? Differences between scores of the same people, by pairs, or between two samples."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any

import numpy as np

from xorder._html import html_notes, html_table
from xorder._metric import LEAST_VARIANCE, METRICS, auc_estimate
from xorder._parameters import WeightKind, check_confidence
from xorder._present import group_names, laid_out, level, number, pvalue_text, signed, wrapped
from xorder._table import RankedRows, ScoreTable, Tables, as_tables
from xorder._validation import check_rows, check_scores
from xorder.exceptions import InputError, warn_caller
from xorder.metrics._audit_text import ANY_LENGTH, few_text
from xorder.metrics._cuts import CUTS, Cut, Cuts, check_cut, check_cuts, cut_text
from xorder.metrics._gaps import Difference, Pair, are_few, change_of, json_label, with_holm
from xorder.metrics._placements import Moments, changes
from xorder.metrics._units import Rows, Units

# Pairs of groups that are printed: those of the widest xAUC gaps of the first score.
_MOST_PAIRS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """How one or more other scores rank the groups, against a first one; made by :func:`xorder.compare`.

    Parameters
    ----------
    groups : tuple
        Labels of the groups, sorted.
    others : tuple of str
        Names of the other scores.
    differences : list of Difference
        Of each other score: AUC, each gap of each pair, each cut of each pair.
    confidence : float
        Confidence of the intervals.
    paired : bool, default=True
        Whether the same people have all scores.
    clusters : int or None, default=None
        Number of clusters that the errors allow for.
    too_few : tuple, default=()
        Groups with fewer than ten positives or ten negatives: too few to say whether their gaps differ.
    """

    groups: tuple[Hashable, ...]
    others: tuple[str, ...]
    differences: list[Difference]
    confidence: float
    paired: bool = True
    clusters: int | None = None
    too_few: tuple[Hashable, ...] = ()

    @property
    def auc(self) -> Difference:
        """The difference in AUC; with several other scores, that of the first of them."""
        return self._find("auc", None, None, None)

    def gap(self, metric: str, pair: Pair | None = None, *, other: str | None = None) -> Difference:
        """Return the difference in a gap.

        Parameters
        ----------
        metric : {"xauc", "prf", "parity"}
            Name of the metric.
        pair : tuple, default=None
            Labels of two groups, first minus second; by default the pair whose gap of the first score is widest.
        other : str, default=None
            Name of the other score; by default the first of them.

        Returns
        -------
        Difference
            The other score's gap less that of the first.
        """
        return self._find(metric, pair, other, None)

    def cut_gap(self, at: Cut, pair: Pair | None = None, *, other: str | None = None) -> Difference:
        """Return the difference in the gap of sensitivities at one of the cuts compared.

        Parameters
        ----------
        at : float, int or Threshold
            The cut.
        pair : tuple, default=None
            Labels of two groups; by default the pair whose gap of the first score is widest.
        other : str, default=None
            Name of the other score; by default the first of them.

        Returns
        -------
        Difference
            The other score's gap less that of the first.
        """
        return self._find("cut", pair, other, cut_text(check_cut(at, math.inf)))

    def _find(self, what: str, pair: Pair | None, other: str | None, at: str | None) -> Difference:
        other = self.others[0] if other is None else other
        found = [each for each in self.differences if (each.what, each.other, each.at) == (what, other, at)]
        if pair is not None:
            ours = [each for each in found if each.pair is not None and {*each.pair} == {*pair}]
            found = [each if each.pair == tuple(pair) else each.reversed() for each in ours]
        if not found:
            raise InputError(
                f"no difference in {what!r}{'' if at is None else f' at {at}'} for pair {pair!r} and score {other!r}; "
                f"groups: {', '.join(map(repr, self.groups))}; other scores: {', '.join(map(repr, self.others))}."
            )
        return max(found, key=lambda each: abs(each.first) if np.isfinite(each.first) else -1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and numbers, ready for JSON.

        Returns
        -------
        dict
            The attributes by name.
        """
        return {
            "groups": [json_label(group) for group in self.groups],
            "others": list(self.others),
            "paired": self.paired,
            "clusters": self.clusters,
            "confidence": self.confidence,
            "too_few": [json_label(group) for group in self.too_few],
            "differences": [each.to_dict() for each in self.differences],
        }

    def __str__(self) -> str:
        return comparison_text(self)

    def _repr_html_(self) -> str:
        shown = ""
        for other in self.others:
            head, rows, _ = _table_of(self, other)
            # Of many groups AUC, and the gap that is spoken of: the rest would be dozens of rows.
            rows = [row for row in rows if len(self.groups) == 2 or row[0] in ("AUC", "xauc gap")]
            caption, said = f"{other}, against the first score", [_in_words(self, other)]
            shown += html_table(head, rows, caption=caption, notes=said, words=(1,))
        return shown + html_notes([few_text(self.too_few, "differ"), _how_text(self)])

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.groups)} groups: AUC {signed(self.auc.value)} for {self.others[0]!r}>"


def compare(
    y_true: Any,
    y_score: Any,
    other_score: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    weights_are: WeightKind = "counts",
    clusters: Any = None,
    cuts: Sequence[Cut] = CUTS,
    confidence: float = 0.95,
    missing_group: str = "error",
) -> Comparison:
    """Compare how two or more scores rank the same people.

    Errors are paired: what a row adds to the number of one score is taken from what it adds to that of the other before
    squares are formed, so that what both scores share does not count as uncertainty [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, 1 for the positive class, 0 for the other.
    y_score : array-like of shape (n_samples,)
        The first score.
    other_score : array-like of shape (n_samples,), or mapping of name to such
        The other score, called ``"other"``; or several by name.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    weights_are : {"counts", "sampling"}, default="counts"
        What weights mean, as in :func:`xorder.audit`.
    clusters : array-like of shape (n_samples,), default=None
        Who or what each row belongs to, as in :func:`xorder.audit`.
    cuts : sequence of float, int or Threshold, default=(0.01, 0.05, 0.1, 0.2)
        Cuts of the list to compare, as in :func:`xorder.audit`.
    confidence : float, default=0.95
        Confidence of the intervals.
    missing_group : {"error", "leave", "group"}, default="error"
        What to do with rows whose group is missing, as in :func:`xorder.audit`.

    Returns
    -------
    Comparison
        Differences in AUC, gaps and cuts: the other score less the first.

    References
    ----------
    .. [1] DeLong, DeLong and Clarke-Pearson (1988), Comparing the areas under two or more correlated receiver
       operating characteristic curves: a nonparametric approach, Biometrics 44, 837-845.

    Examples
    --------
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(2000)
    >>> raised = people.y_score + 0.1 * (people.group == "B")
    >>> found = compare(people.y_true, people.y_score, raised, sensitive_features=people.group)
    >>> found.gap("xauc", ("A", "B")).value < 0, found.gap("xauc").pvalue < 0.001
    (True, True)
    """
    named = other_score if isinstance(other_score, Mapping) else {"other": other_score}
    if not named:
        raise InputError("other_score must hold at least one score to compare with.")
    called = {f"other_score[{name!r}]": score for name, score in named.items()}
    beside = {"clusters": clusters, **(called if named is other_score else {"other_score": other_score})}
    rows = y_true, y_score, sensitive_features, sample_weight
    checked = check_rows(*rows, weights_are=weights_are, missing_group=missing_group, beside=beside)
    others = {str(name): check_scores(score, f"other_score {str(name)!r}") for name, score in named.items()}
    for name, score in others.items():
        if score.size != checked.score.size:
            raise InputError(
                f"other_score {name!r} must have one value per row; got {score.size:,} for {checked.score.size:,} rows."
            )
    tables = replace(checked.tables(settled=False), held=checked.held(clusters, list(others.values())))
    return compare_tables(tables, list(others), cuts=cuts, confidence=confidence)


def compare_tables(
    tables: Tables, others: Sequence[str], *, cuts: Sequence[Cut] = CUTS, confidence: float = 0.95
) -> Comparison:
    """Compare tables that hold their rows with the other scores of these rows, which are called so."""
    held = tables.held
    if held is None:
        raise InputError("tables to compare must hold their rows.")
    squares = held.weight is not None and all(len(table.sums) == 4 for table in tables.values())
    # Made when the units of rows are done, and only where these have not ranked them.
    rest = (held.tables(number_of, squares=squares) for number_of in range(1, len(held.scores)))
    rows = Rows.of(held, list(tables))
    if held.clusters is None and rows.mass is not None and not squares:
        # A row that counts as four is four that vary each by itself: four squares, not the square of four.
        rows = rows._replace(weight=np.sqrt(rows.mass), counted=True)
    return _compared(tables, rest, list(others), rows, cuts, confidence)


def compare_map(
    tables: Tables | Mapping[Hashable, ScoreTable],
    adjusted: Tables | Mapping[Hashable, ScoreTable],
    *,
    cuts: Sequence[Cut] = CUTS,
    confidence: float = 0.95,
) -> Comparison:
    """Compare scores before and after a map, from tables alone: each score of a group becomes one other.

    Parameters
    ----------
    tables : Tables or mapping of group to ScoreTable
        Tables of the scores as they are.
    adjusted : Tables or mapping of group to ScoreTable
        The same tables, their scores adjusted.
    cuts : sequence of float, int or Threshold, default=(0.01, 0.05, 0.1, 0.2)
        Cuts of the list to compare.
    confidence : float, default=0.95
        Confidence of the intervals.

    Returns
    -------
    Comparison
        Differences in AUC, gaps and cuts: after less before.
    """
    before, after = as_tables(tables), as_tables(adjusted)
    if len(before) < 2 or [*before] != [*after]:
        raise InputError(f"tables and adjusted must be of the same two groups or more; got {[*before]} and {[*after]}.")
    parts = []
    for number_of, (group, table) in enumerate(before.items()):
        moved = after[group].score
        if moved.size != len(table):
            raise InputError(f"the adjusted table of group {group!r} must have a score for each of the table's.")
        classes = zip((True, False), table.sums[:2], table.spreads, strict=True)
        for is_positive, mass, spread in classes:
            held = np.flatnonzero(mass)
            same = np.ones(held.size)
            columns = (mass, np.sqrt(spread), table.score, moved)
            parts.append((number_of * same, is_positive * same, *(column[held] for column in columns)))
    group_of, positive, mass, weight, score, other = map(np.concatenate, zip(*parts, strict=True))
    counted = all(len(table.sums) == 2 for table in before.values())
    rows = Rows(group_of.astype(np.int16), positive > 0, mass, (score, other), None, weight, counted)
    change = changes(list(after.values()), list(before.values()))
    return _compared(before, [after], ["after"], rows, cuts, confidence, change)


def _compared(
    first: Tables,
    rest: Iterable[Tables],
    others: Sequence[str],
    rows: Rows,
    cuts: Sequence[Cut],
    confidence: float,
    change: Moments | None = None,
) -> Comparison:
    """Compare the tables of several scores with the first of them, the rows being those of all.

    ``change`` is that of their placements, where tables alone tell it.
    """
    confidence = check_confidence(confidence)
    for note in first.notes:
        warn_caller(note)
    groups = tuple(first)
    if len(groups) < 2:
        there = f"there is only one: {groups[0]!r}" if groups else "there is none"
        raise InputError(f"a comparison needs two groups or more; {there}.")
    cuts = check_cuts(cuts, float(first.totals[:2].sum()))
    units = Units(first.totals, rows)
    found = units.moments
    # Rows that are ranked by now are not ranked again.
    ranked = [Tables(RankedRows(groups, ranking)) for ranking in units.rankings]
    by_cut = [
        Cuts(tables, confidence, units, number_of) for number_of, tables in enumerate(ranked or chain([first], rest))
    ]
    pairs = list(combinations(range(len(groups)), 2))

    def in_estimates(what: str, other: int, a: int, b: int) -> Difference:
        both = (found[0], found[other])
        one, two = (auc_estimate(m) if what == "auc" else METRICS[what].estimate(m, a, b) for m in both)
        stderr, freedom = np.nan, np.inf
        if change is not None:
            stderr, freedom = change_of(change, what, a, b)
        elif np.isfinite(two.value - one.value) and one.terms and two.terms:
            variance, freedom = units.variance([(0, -1.0, one.terms), (other, 1.0, two.terms)])
            stderr = math.sqrt(variance) if variance > LEAST_VARIANCE else np.nan
        pair = None if what == "auc" else (groups[a], groups[b])
        both_values = (one.value, two.value)
        return Difference.between(what, others[other - 1], pair, None, both_values, (stderr, freedom), confidence)

    def at_cut(cut: Cut, other: int, a: int, b: int) -> Difference:
        pair, both = (groups[a], groups[b]), (by_cut[0], by_cut[other])
        one, two = (first - second for first, second in (of.rates(cut, pair, "sensitivity") for of in both))
        stderr = np.nan
        if np.isfinite(two - one):
            was, now = (of.influence(cut, pair, "sensitivity") for of in both)
            found_stderr = units.stderr_at_cut([(1.0, now), (-1.0, was)])
            stderr = found_stderr if found_stderr > 1e-12 else np.nan
        error = (stderr, np.inf)
        return Difference.between("cut", others[other - 1], pair, cut_text(cut), (one, two), error, confidence)

    numbers = range(1, len(by_cut))
    families = [[in_estimates("auc", other, 0, 1) for other in numbers]]
    families += [[in_estimates(name, other, *pair) for other in numbers for pair in pairs] for name in METRICS]
    families += [[at_cut(cut, other, *pair) for other in numbers for pair in pairs] for cut in cuts]
    counts = zip(groups, *first.totals, strict=True)
    too_few = tuple(group for group, n1, n0, s1, s0 in counts if are_few(n1, s1) or are_few(n0, s0))
    differences = [each for family in families for each in with_holm(family, too_few)]
    clusters = None if rows.unit is None else units.count
    return Comparison(groups, tuple(others), differences, confidence, clusters=clusters, too_few=too_few)


def compare_audits(first: Mapping[str, Any], second: Mapping[str, Any], confidence: float = 0.95) -> Comparison:
    """Compare two audits of different people, as :meth:`Audit.to_dict` gives them: the second less the first.

    Parameters
    ----------
    first, second : mapping
        The audits, as ``xorder audit --json`` prints them.
    confidence : float, default=0.95
        Confidence of the intervals.

    Returns
    -------
    Comparison
        Differences in AUC, in gaps, and at the cuts that both audits report; their errors add up as squares.
    """
    confidence = check_confidence(confidence)
    try:
        groups = tuple(first["groups"])
        if set(groups) != set(second["groups"]):
            raise InputError(f"the audits have different groups: {first['groups']} and {second['groups']}.")
        numbers = [_numbers_of(audit) for audit in (first, second)]
        too_few = tuple(group for group in groups if group in {*first["too_few"], *second["too_few"]})
    except InputError:
        raise
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise InputError("that is no audit as 'xorder audit --json' prints it.") from error
    families: dict[Any, list[Difference]] = {}
    for (what, at, pair), one in numbers[0].items():
        two, sign = numbers[1].get((what, at, pair)), 1.0
        if two is None and pair is not None:
            two, sign = numbers[1].get((what, at, pair[::-1])), -1.0
        if two is not None:
            stderr = math.hypot(one[1], two[1])
            values = (one[0], sign * two[0])
            found = Difference.between(what, "second", pair, at, values, (stderr, math.inf), confidence)
            families.setdefault((what, at), []).append(found)
    differences = [each for family in families.values() for each in with_holm(family, too_few)]
    return Comparison(groups, ("second",), differences, confidence, paired=False, too_few=too_few)


def _numbers_of(audit: Mapping[str, Any]) -> dict[tuple[str, str | None, Pair | None], tuple[float, float]]:
    """Values and standard errors of a saved audit, by what they are."""

    def pair_of(record: Mapping[str, Any]) -> Pair:
        return (record["pair"][0], record["pair"][1])

    def numbers(record: Mapping[str, Any], value: str, stderr: str) -> tuple[float, float]:
        return tuple(math.nan if record[name] is None else float(record[name]) for name in (value, stderr))  # type: ignore[return-value]

    found: dict[tuple[str, str | None, Pair | None], tuple[float, float]]
    found = {("auc", None, None): numbers(audit, "auc", "auc_stderr")}
    found |= {(gap["metric"], None, pair_of(gap)): numbers(gap, "value", "stderr") for gap in audit["gaps"]}
    cuts = (gap for gap in audit["cuts"] if gap["at"] is not None)
    return found | {("cut", gap["at"], pair_of(gap)): numbers(gap, "value", "stderr") for gap in cuts}


def comparison_text(comparison: Comparison, width: int = 80) -> str:
    """Lay out the differences, the first score beside each other one, and say what the xAUC gaps amount to."""
    lines: list[str] = []
    for other in comparison.others:
        head, rows, left = _table_of(comparison, other)
        looks = ("<3", "<4", ">7", ">7", ">7", "^18", ">8", ">8")[: len(head)]
        lines += [wrapped(f"Other score: {other}. {_in_words(comparison, other)}", width), ""]
        lines += [*laid_out([head, *rows], looks, width, long=1), ""]
        if left > 0:
            lines[-1:] = [f"... and {left} pairs of groups with narrower xauc gaps", ""]
    if comparison.too_few:
        lines += [wrapped(few_text(comparison.too_few, "differ"), width), ""]
    return "\n".join([*lines, wrapped(_how_text(comparison), width)])


def _table_of(comparison: Comparison, other: str) -> tuple[list[str], list[list[str]], int]:
    """Heads and rows of the differences of a score, for pairs of the widest gaps; and how many pairs are left out."""
    names = dict(zip(comparison.groups, group_names(comparison.groups, ANY_LENGTH), strict=True))
    several = len(comparison.differences) > len({(each.what, each.at) for each in comparison.differences})
    head = ["", "pair", "first", "other", "change", f"{level(comparison.confidence)} interval", "p"]
    ours = [each for each in comparison.differences if each.other == other]
    of_pairs = [each for each in ours if each.what == "xauc"]
    widest = sorted(of_pairs, key=lambda each: -abs(np.nan_to_num(each.first)))[:_MOST_PAIRS]
    shown = {None, *(each.pair for each in widest)}
    rows = [
        [
            "AUC" if each.what == "auc" else f"{each.what} gap" if each.at is None else _at_cut(each.at),
            "" if each.pair is None else f"{names[each.pair[0]]} - {names[each.pair[1]]}",
            (number if each.what == "auc" else signed)(each.first),
            (number if each.what == "auc" else signed)(each.second),
            signed(each.value),
            "[{}, {}]".format(*map(signed, each.interval)) if np.isfinite(each.stderr) else "not known",
            pvalue_text(each.pvalue),
            *([pvalue_text(each.pvalue_holm)] if several else []),
        ]
        for each in ours
        if each.pair in shown
    ]
    return [*head, *(["p (all)"] if several else [])], rows, len(of_pairs) - _MOST_PAIRS


def _how_text(comparison: Comparison) -> str:
    """Say whose errors they are."""
    how = "Two different samples: errors add up as squares."
    if comparison.paired:
        how = "The same people have both scores: errors are those of pairs."
    if comparison.clusters is not None:
        how += f" They allow for {comparison.clusters:,} clusters of rows."
    return how


def _at_cut(cut: str) -> str:
    return f"{cut} of the list" if cut.endswith("%") else f"at {cut}"


def _in_words(comparison: Comparison, other: str) -> str:
    """Say whether the widest xAUC gap of the first score is narrower in the other."""
    found = comparison.gap("xauc", other=other)
    first, second = found.pair or ("", "")
    change = abs(found.second) - abs(found.first)
    which = f"The xauc gap between {first} and {second}"
    if found.first * found.second < 0:
        which += f" turns round, from {signed(found.first)} to {signed(found.second)}"
    elif change:
        which += f" is {number(abs(change))} {'narrower' if change < 0 else 'wider'} than that of the first score"
    else:
        which += " is as wide as that of the first score"
    few = " and ".join(str(group) for group in comparison.too_few if group in (first, second))
    if few:
        return f"{which}; there are too few positives or negatives of {few} to say whether that is chance."
    if not np.isfinite(found.pvalue_holm):
        return f"{which}; how certain that is cannot be said."
    if found.pvalue_holm > 1 - comparison.confidence:
        return f"{which}, which may be chance."
    return f"{which}, and chance does not explain it."

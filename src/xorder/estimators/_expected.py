"""What to expect on new people: what a sample tells of the map that was fitted to it.

The default repair has one number for each group. So few cannot be fitted to single rows, and the sample, adjusted,
tells what the map does to all people like these, with the intervals of any audit. A map that follows single rows looks
better on them than it is: it is tried on rows that it was not fitted to, in folds.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xorder._groups import group_labels
from xorder._html import html_table
from xorder._metric import Estimate, gap_interval, student_quantile
from xorder._parameters import WeightKind, check_number, check_seed
from xorder._present import interval_text, known, level, number
from xorder._table import ScoreTable, Tables, as_tables
from xorder._validation import CheckedRows, check_rows, check_scores
from xorder.estimators._cross_fit import cross_adjusted, cross_fitted
from xorder.estimators._fitted import FittedRepair, RepairSettings
from xorder.estimators._learn import NOBODY, SetAside, find_repair, mapped, plan_groups
from xorder.exceptions import InputError
from xorder.metrics._audit import Audit
from xorder.metrics._cuts import CutGap, cut_text
from xorder.metrics._gaps import Difference, Gap, json_label
from xorder.metrics._make_audit import audit_tables, measured, paired_changes
from xorder.metrics._plan import plan, rows_of

# A gap that a user wants to be able to exclude, where no target above 0 says which.
NOTABLE_GAP = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedGap:
    """How a repair does on people it was not fitted to; made by :func:`xorder.expected_gap`.

    Parameters
    ----------
    metric : str
        The gap that the repair is about.
    before : Audit
        Audit of the scores as they are.
    after : Audit
        Audit of the adjusted scores: by this map, or, in folds, those of each by what was fitted to the others.
    folds : int or None
        Number of folds; None where the map itself was audited.
    target : float
        The gap that the repair aims at or, where that is 0, one worth excluding.
    aside : SetAside
        Groups that the repair of all rows leaves alone, and those it counts with the reference: the audits hold them,
        but what is said of the repair is about the others.
    """

    metric: str
    before: Audit
    after: Audit
    folds: int | None
    target: float
    aside: SetAside = NOBODY

    def gap(self, pair: tuple[Hashable, Hashable] | None = None) -> Gap:
        """Return the gap after repair.

        Parameters
        ----------
        pair : tuple of two group labels, default=None
            The groups, first minus second; by default those of the widest repaired gap or, where no two groups are
            repaired, of the widest of all.

        Returns
        -------
        Gap
            The gap with its interval.
        """
        if pair is not None:
            return self.after.gap(self.metric, pair)
        return max(self._repaired(), key=lambda gap: abs(gap.value) if math.isfinite(gap.value) else -1.0)

    def next_interval(self, rows: float, pair: tuple[Hashable, Hashable] | None = None) -> tuple[float, float]:
        """Return an interval for the gap that a new sample will show after repair.

        It is wider than that for all people, as chance adds to a sample of them.

        Parameters
        ----------
        rows : float
            Number of new rows, with groups and classes in the same shares.
        pair : tuple of two group labels, default=None
            The groups, as in :meth:`gap`.

        Returns
        -------
        tuple of float
            Its ends, at the confidence of the audits.
        """
        gap, tables = self.gap(pair), self.after._tables
        factor = math.sqrt(1 + rows_of(tables or Tables({})) / check_number("rows", rows, above=0))
        return gap_interval((gap.estimate or Estimate(gap.value, gap.stderr)).wider(factor), self.after.confidence)

    @property
    def before_minus_after(self) -> tuple[Difference, ...]:
        """What the repair changes: AUC before less AUC after, then the gap of each pair likewise.

        Both are of the same rows, so that errors are paired; the map is taken as it is. Empty where it was tried in
        folds, which have a map each.
        """
        return () if self.folds is not None else paired_changes(self.after, self.before, self.metric, "before")

    @property
    def likely_gap(self) -> float:
        r"""Mean size of the widest pair's gap among all people, given what the rows tell of it.

        With the gap normal around its value v with standard error s, it is the mean of \|gap\|. It is never 0: a
        repair that closes the gap of a sample leaves that of the population open by about one standard error.
        """
        gap = self.gap()
        value, stderr = gap.value, gap.stderr
        if not stderr > 0:
            return abs(value) if stderr == 0 else math.nan
        ratio = value / stderr
        return stderr * math.sqrt(2 / math.pi) * math.exp(-(ratio**2) / 2) + value * math.erf(ratio / math.sqrt(2))

    @property
    def smallest_visible(self) -> float:
        """Size from which on a gap could be told from 0 with these rows, in the pair for which that is largest.

        It is half the width of the interval: of samples from people with such a gap, half would show it.

        ``nan`` if the rows cannot tell for some pair, such as one with a single positive.
        """
        gap = self._most_uncertain()
        freedom = math.inf if gap.estimate is None else gap.estimate.freedom
        return student_quantile(self.after.confidence, freedom) * gap.stderr

    @property
    def caution(self) -> str | None:
        """What is said if the rows are too few to tell the target from 0 in some pair of groups; else None."""
        if self.smallest_visible <= self.target:
            return None
        return caution_text(self._most_uncertain(), self.after, self.smallest_visible, self.target)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and numbers, ready for JSON.

        Returns
        -------
        dict
            Numbers and both audits; ``nan`` becomes None.
        """
        numbers = {"likely_gap": self.likely_gap, "smallest_visible": self.smallest_visible, "target": self.target}
        return {
            "metric": self.metric,
            "folds": self.folds,
            **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
            "caution": self.caution,
            "before_minus_after": [each.to_dict() for each in self.before_minus_after],
            "left": [json_label(group) for group in self.aside.left],
            "merged": [json_label(group) for group in self.aside.merged],
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
        }

    def __str__(self) -> str:
        return expected_text(self)

    def _repr_html_(self) -> str:
        return expected_html(self)

    def __repr__(self) -> str:
        return f"<ExpectedGap in {self.metric}: {self.gap().value:+.4f} after repair, AUC {self.after.auc:.4f}>"

    def _most_uncertain(self) -> Gap:
        return max(self._repaired(), key=lambda gap: gap.stderr if math.isfinite(gap.stderr) else math.inf)

    def _repaired(self) -> list[Gap]:
        aside = {*self.aside.left, *self.aside.merged}
        gaps = [gap for gap in self.after.gaps if gap.metric == self.metric]
        return [gap for gap in gaps if aside.isdisjoint(gap.pair)] or gaps


# Pairs of groups to list at most, the widest first.
_MOST_PAIRS = 10

# Characters per line.
_WIDTH = 80


def expected_gap_tables(
    repair: Any,
    tables: Tables | Mapping[Hashable, ScoreTable],
    *,
    cv: int = 5,
    random_state: Any = 0,
    confidence: float = 0.95,
) -> ExpectedGap:
    """Estimate AUC and gaps that a repair will have on new people, where only tables are at hand.

    As :func:`xorder.expected_gap`. Where folds are needed, the rows at each score are dealt to them at random; masses
    that are sums of weights cannot be dealt.

    Parameters
    ----------
    repair : XOrder, RepairSettings or FittedRepair
        The repair, its settings, or what was fitted to these very tables; it is not changed.
    tables : Tables or mapping of group to ScoreTable
        Tables of the groups.
    cv : int, default=5
        Number of folds.
    random_state : int, default=0
        How rows are dealt to folds.
    confidence : float, default=0.95
        Confidence of the intervals.

    Returns
    -------
    ExpectedGap
        Audits before and after.
    """
    settings = repair.settings if isinstance(repair, FittedRepair) else repair
    if not isinstance(settings, RepairSettings):
        settings = RepairSettings(**repair.get_params(deep=False))
    settings.checked()
    check_seed(random_state)
    tables = as_tables(tables)
    before = audit_tables(tables, confidence=confidence)
    plan = plan_groups(tables, settings)
    if settings.method == "smooth":
        fitted = repair if isinstance(repair, FittedRepair) else find_repair(tables, plan, settings)
        adjusted, folds = mapped(tables, fitted.maps), None
    else:
        adjusted, folds = cross_fitted(tables, settings, plan, cv, random_state), int(cv)
    # Of groups without a class, or with a single row of one, the audit before has told already.
    after, _ = measured(adjusted, before.confidence)
    return ExpectedGap(settings.metric, before, after, folds, target_of(settings), plan.aside)


def expected_text(expected: ExpectedGap) -> str:
    """Lay out AUC, gaps and cuts before and after, with the interval after, and say whom the intervals are about.

    Pairs with groups that the repair sets aside come last, marked.
    """
    percent, rows = level(expected.after.confidence), _rows(expected)
    first, second = max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)
    # Where names are long, a pair has a line of its own above its numbers.
    apart = first + second + max(44 + len(row[-1]) for row in rows) > _WIDTH
    how = "" if expected.folds is None else f" ({expected.folds} folds, each adjusted by what was fitted to the others)"
    between = f"{'':<{first}}" if apart else f"{'':<{first}}  {'':<{second}}"
    lines = [f"On new people like these{how}:", "", f"{between}  {'before':>8}  {'after':>8}  {percent} interval after"]
    shown = ""
    for place, (name, pair, old, new, (low, high), sign, mark) in enumerate(rows):
        ends = f"[{low:{sign}.4f}, {high:{sign}.4f}]" if math.isfinite(low) else "not known"
        if apart and pair != shown:
            lines += textwrap.wrap(pair, _WIDTH)
        shown = pair
        what = f"{name:<{first}}" if apart else f"{name:<{first}}  {pair:<{second}}"
        lines.append(f"{what}  {old:>{sign}8.4f}  {new:>{sign}8.4f}  {ends}{mark}")
        if place == _MOST_PAIRS:
            lines += textwrap.wrap(_left_out(expected), _WIDTH)
    lines += ["", *(line for note in _notes(expected) for line in textwrap.wrap(note, _WIDTH))]
    return "\n".join(lines)


def _rows(expected: ExpectedGap) -> list[tuple[str, str, float, float, tuple[float, float], str, str]]:
    """What is shown: name, pair, before, after, its interval, how numbers are signed, and a mark."""
    before, after = expected.before, expected.after
    rows = [("AUC", "", before.auc, after.auc, after.auc_interval, "", "")]
    pairs = [(_mark(expected, gap), gap) for gap in after.gaps if gap.metric == expected.metric]
    pairs.sort(key=lambda pair: (pair[0] != "", -abs(known(pair[1].value) or 0.0)))
    for mark, gap in pairs[:_MOST_PAIRS]:
        was = before.gap(expected.metric, gap.pair)
        rows.append((f"{gap.metric} gap", _names(gap), was.value, gap.value, gap.interval, "+", mark))
    for at in (*after.cuts, None):
        now = after.cut_gap(at, expected.gap().pair)
        what = "worst cut" if at is None else f"{cut_text(at)} of the list"
        rows.append((what, _names(now), before.cut_gap(at, now.pair).value, now.value, now.interval, "+", ""))
    return rows


def _left_out(expected: ExpectedGap) -> str:
    """Say how many pairs are not shown; nothing where all are."""
    left = sum(gap.metric == expected.metric for gap in expected.after.gaps) - _MOST_PAIRS
    aside = [f"{group} ({expected.aside.words(group)})" for groups in expected.aside for group in groups]
    which = f"more pairs; not repaired: {', '.join(aside)}" if aside else "pairs of groups with narrower gaps"
    return f"... and {left} {which}" if left > 0 else ""


def _notes(expected: ExpectedGap) -> list[str]:
    clusters = expected.after.clusters
    return [
        _change_text(expected),
        "At a part of the list: how the shares of each group's positives in it differ.",
        "Intervals are for all people of whom these rows are a sample"
        + ("." if clusters is None else f", and allow for {clusters:,} clusters of rows."),
        expected.caution or "",
    ]


def expected_html(expected: ExpectedGap) -> str:
    """Show the same in a notebook, with one cut, the worst."""
    rows = [
        [name, f"{pair}{mark}", number(old, sign=sign), number(new, sign=sign), interval_text(ends, sign=sign)]
        for name, pair, old, new, ends, sign, mark in _rows(expected)
        if not name.endswith("of the list")
    ]
    heads = ["", "pair", "before", "after", f"{level(expected.after.confidence)} interval after"]
    change, _, whom, caution = _notes(expected)
    notes = [_left_out(expected), change, whom, caution]
    return html_table(heads, rows, caption="On new people like these", notes=notes, words=(1,))


def _change_text(expected: ExpectedGap) -> str:
    """Say, in a line, by how much the repair changes AUC, and the gap that was widest among groups it repairs."""
    auc, *gaps = expected.before_minus_after or (None,)
    if auc is None:
        return ""
    pairs = {gap.pair for gap in expected._repaired()}
    widest = max((each for each in gaps if each.pair in pairs), key=lambda each: abs(known(each.second) or 0.0))
    parts = []
    for name, each in (("AUC", auc), (f"{expected.metric} gap {_names(widest)}", widest)):
        low, high = each.interval
        ends = f" [{low:+.4f}, {high:+.4f}]" if math.isfinite(low) else ""
        parts.append(f"{name} {each.value:+.4f}{ends}")
    return f"Before minus after, by pairs of the same rows: {'; '.join(parts)}."


def _names(gap: Gap | CutGap | Difference) -> str:
    return " - ".join(map(str, gap.pair or ()))


def caution_text(gap: Gap, audit: Audit, visible: float, target: float) -> str:
    """Say which class of which group is too small for the target, and what gap, if any, the rows could show."""
    classes = {"positives": audit.positives, "negatives": audit.negatives}
    cells = [(masses[group], word, group) for group in gap.pair for word, masses in classes.items()]
    count, word, group = min(cells, key=lambda cell: cell[0])
    if not math.isfinite(visible):
        first, second = gap.pair
        return (
            f"With {count:,.10g} {word} in group {group!r} the rows cannot tell how uncertain the gap in {gap.metric} "
            f"between {first!r} and {second!r} is. Whether it is below {target:g} cannot be known from them."
        )
    said = (
        f"With {count:,.10g} {word} in group {group!r} a gap in {gap.metric} below {visible:.2g} cannot be told from "
        f"0. Whether it is below {target:g} cannot be known from these rows"
    )
    try:
        found = plan(audit, limit=target, metric=gap.metric, pair=gap.pair, confidence=audit.confidence)
    except InputError:
        return f"{said}."
    return f"{said}; to know it with 80 % power takes about {_rounded(found.times or math.nan)} times as many."


def _mark(expected: ExpectedGap, gap: Gap) -> str:
    """Say of which of the pair's groups the scores are not repaired."""
    said = [f"{group} {words}" for group in gap.pair if (words := expected.aside.words(group))]
    return f"  ({', '.join(said)})" if said else ""


def _rounded(number: float) -> str:
    """Two digits of a number, written out."""
    return f"{number:.2g}" if number < 10 else f"{float(f'{number:.2g}'):,.0f}"


def target_of(repair: Any) -> float:
    """Return the gap that a repair aims at or, where that is 0, one worth excluding."""
    wanted = getattr(repair, "max_gap", None)
    return float(wanted) if wanted else NOTABLE_GAP


def expected_gap(
    repair: Any,
    y_score: Any,
    y_true: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    cv: Any = 5,
    random_state: Any = 0,
    confidence: float = 0.95,
    weights_are: WeightKind = "counts",
    clusters: Any = None,
) -> ExpectedGap:
    """Estimate AUC and gaps that a repair will have on new people.

    The map that the default repair would be fitted to these rows is audited on them: it has so few numbers that it does
    no better on these rows than on others. Any other repair is tried in folds: the rows of each are adjusted by a clone
    fitted to the other folds, and all adjusted scores are audited together. Intervals are for all people of the kind
    the rows were drawn from; in a new sample of people chance adds to them.

    Parameters
    ----------
    repair : XOrder, PostLogit or alike
        The repair; it is not changed.
    y_score : array-like of shape (n_samples,)
        Scores of rows that their model was *not* trained on, such as out-of-fold scores.
    y_true : array-like of shape (n_samples,)
        Labels, 1 for the outcome that counts, else 0.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_attributes)
        The group of each row.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    cv : int, splitter, or iterable of (train, test) row numbers, default=5
        Number of folds, where they are needed, dealt out by label and group; or how else rows are cut.
    random_state : int, RandomState or None, default=0
        How the folds are drawn, if ``cv`` is a number.
    confidence : float, default=0.95
        Confidence of the intervals.
    weights_are : {"counts", "sampling"}, default="counts"
        What weights mean, as in :func:`xorder.audit`.
    clusters : array-like of shape (n_samples,), default=None
        Who or what each row belongs to, as in :func:`xorder.audit`; for XOrder alone.

    Returns
    -------
    ExpectedGap
        Audits before and after, and what they let one expect.

    Examples
    --------
    >>> from xorder import XOrder
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(4000)
    >>> found = expected_gap(XOrder(), people.y_score, people.y_true, sensitive_features=people.group)
    >>> round(found.before.gap("xauc").value, 3), abs(found.gap().value) < 0.01, round(found.likely_gap, 2)
    (0.254, True, 0.01)
    """
    # Estimators of rows need scikit-learn, which tables do without.
    from xorder._repair import check_repair
    from xorder.estimators._folds import make_folds
    from xorder.estimators._xorder import XOrder

    check_repair(repair)
    if clusters is not None and not isinstance(repair, XOrder):
        raise InputError(f"clusters are for repairs by XOrder; got {type(repair).__name__}.")
    score, label = check_scores(y_score), np.asarray(y_true)
    groups = group_labels(sensitive_features)
    choices = {"weights_are": weights_are, "missing_group": getattr(repair, "missing_group", "error")}

    # All columns are checked before anything is cut.
    rows, tables = rows_and_tables(label, score, groups, sample_weight, clusters, **choices)
    if isinstance(repair, XOrder) and (
        repair.method == "smooth" or clusters is not None or (isinstance(cv, int) and sample_weight is None)
    ):
        return expected_gap_tables(repair, tables, cv=cv, random_state=random_state, confidence=confidence)
    before = audit_tables(tables, confidence=confidence)
    folds = make_folds(cv, score.reshape(-1, 1), label, groups, random_state=random_state)
    plan = plan_groups(tables, repair._settings()) if isinstance(repair, XOrder) else None
    adjusted = cross_adjusted(repair, score, label, groups, sample_weight, folds, plan, weights_are)
    after, _ = measured(rows.tables(adjusted), before.confidence)
    metric = getattr(repair, "metric", "xauc")
    return ExpectedGap(metric, before, after, len(folds), target_of(repair), plan.aside if plan else NOBODY)


def rows_and_tables(
    y_true: Any, y_score: Any, groups: Any, weight: Any, clusters: Any, **choices: Any
) -> tuple[CheckedRows, Tables]:
    """Return checked rows, and their tables, which hold on to the rows where these are of clusters."""
    rows = check_rows(y_true, y_score, groups, weight, beside={"clusters": clusters}, **choices)
    tables = rows.tables()
    return rows, tables if clusters is None else replace(tables, held=rows.held(clusters))

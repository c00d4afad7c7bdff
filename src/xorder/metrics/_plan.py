"""How many rows it takes to detect a gap, to show that it is below a limit, or to repair it to one.

Power is that of the rule by which audits and promises decide: where the ends of the interval will lie, with rows of a
population that has the gap asked about. That population is a table per group, binormal or from an audit, and an audit
of it with the mass of n rows has the errors that n rows will have.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import combinations
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from xorder._metric import METRICS, Estimate, check_metric, normal_quantile, quantile_ending
from xorder._parameters import check_confidence, check_kind, check_number, check_pair, check_truth
from xorder._present import laid_out, level
from xorder._table import ScoreTable, Tables, check_both_classes
from xorder.exceptions import InputError
from xorder.metrics._audit import Audit
from xorder.metrics._gaps import FEW, Pair, json_label
from xorder.metrics._placements import moments

# Levels of each group's scores: errors are off by far less than they are uncertain.
_LEVELS = 1000

# No shift of normal scores is larger, and no plan asks for more rows.
_FURTHEST, _MOST_ROWS = 16.0, 1e12

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Rows that a question about a gap takes; made by :func:`plan`.

    Parameters
    ----------
    metric : str
        The gap.
    question : {"detect", "limit", "repair"}
        Whether the gap is to be detected, shown to be below a limit, or repaired to one.
    gap : float
        The gap among all people.
    limit : float or None
        The limit.
    power : float
        Chance of success.
    confidence : float
        Confidence of the audit, or of the promise.
    rows : int
        Rows needed.
    by_group : dict
        Group -> rows needed.
    positives : dict
        Group -> positives to be expected among them.
    times : float or None
        Rows needed for each row of the audit that the plan is made from.
    pairs : int
        Pairs of groups that an answer allows for.
    design_effect : float
        Rows that say as much as one row that stands alone.
    _power : callable
        The power that a number of rows has.
    """

    metric: str
    question: str
    gap: float
    limit: float | None
    power: float
    confidence: float
    rows: int
    by_group: dict[Hashable, int]
    positives: dict[Hashable, int]
    times: float | None
    pairs: int
    design_effect: float
    _power: Callable[[float], float] = field(repr=False)

    def power_at(self, rows: float) -> float:
        """Return the chance of success with another number of rows.

        Parameters
        ----------
        rows : float
            Number of rows, of all groups together.

        Returns
        -------
        float
            The power.
        """
        return self._power(check_number("rows", rows, above=0))

    @property
    def curve(self) -> list[tuple[int, float]]:
        """The power by rows, from a quarter of the rows needed to four times as many."""
        rows = [max(round(self.rows * 2.0**step), 1) for step in (-2, -1, -0.5, 0, 0.5, 1, 2)]
        return [(each, self._power(each)) for each in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and numbers, ready for JSON.

        Returns
        -------
        dict
            The attributes by name, groups and their rows as lists, and the curve.
        """
        found = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "_power"}
        lists = {name: list(found[name].values()) for name in ("by_group", "positives")}
        groups = [json_label(group) for group in self.by_group]
        return found | {"groups": groups} | lists | {"curve": [list(point) for point in self.curve]}

    def __str__(self) -> str:
        aims = {
            "detect": f"detect a gap of {self.gap:g}",
            "limit": f"show that the gap is below {self.limit}, where it is {self.gap:g},",
            "repair": f"repair the gap to {self.limit}, and promise that,",
        }
        said = f"{METRICS[self.metric].title}: to {aims[self.question]} takes {self.rows:,} people"
        said += "" if self.times is None else f", {self.times:.2g} times as many as were audited"
        said += f" ({level(self.power)} power, {level(self.confidence)} confidence"
        said += f", allowing for {self.pairs} pairs" if self.pairs > 1 else ""
        said += f", design effect {self.design_effect:.3g}" if self.design_effect != 1 else ""
        groups = [[str(group), f"{rows:,}", f"{self.positives[group]:,}"] for group, rows in self.by_group.items()]
        curve = [[f"{rows:,}", f"{100 * power:.0f} %"] for rows, power in self.curve]
        by_group = laid_out([["group", "people", "of these with the outcome"], *groups], ("<5", ">9", ">9"), 80)
        by_rows = laid_out([["people", "power"], *curve], (">9", ">6"), 80)
        return "\n".join([*textwrap.wrap(f"{said}).", 80), "", *by_group, "", *by_rows])

    def __repr__(self) -> str:
        return f"<Plan to {self.question}: {self.rows:,} rows for {level(self.power)} power>"


class _Case(NamedTuple):
    """Two groups among the tables of a population of one row, with a gap; ``worth`` is what a row counts as."""

    tables: list[ScoreTable]
    metric: str
    a: int
    b: int
    gap: float
    worth: float

    def estimate(self, rows: float) -> Estimate:
        """Return what an audit of so many rows is expected to find."""
        m = moments([_times(table, rows * self.worth) for table in self.tables])
        found = METRICS[self.metric].estimate(m, self.a, self.b)
        # Where scores are few, no shift may give the very gap.
        off = (self.gap - found.value) / 2
        both = zip(found.sides or (), (off, -off), strict=True)
        first, second = (side._replace(value=min(max(side.value + half, 1e-9), 1 - 1e-9)) for side, half in both)
        return found._replace(value=self.gap, sides=(first, second))

    def enough(self, rows: float) -> float:
        """Chance that no class of the two groups has too few rows to say."""
        pair = self.tables[self.a], self.tables[self.b]
        sums = (each for table in pair for each in zip((table.n1, table.n0), table.spreads, strict=True))
        counts = [rows * mass**2 / float(spread.sum()) for mass, spread in sums]
        return math.prod(_NORMAL.cdf((count + 0.5 - FEW) / math.sqrt(count)) for count in counts)


class _Aim(NamedTuple):
    """What an audit of a case should find: ends of its interval (0 lower, 1 upper) beyond values.

    Each goes with a case whose gap, in a sample, just about has that end there.
    """

    case: _Case
    edges: list[tuple[_Case, int, float]]
    is_repair: bool

    def power(self, rows: float, needed: float) -> float:
        """Chance that the interval, of so many normal quantiles, ends where it should."""
        truth = self.case.estimate(rows)
        if not truth.stderr > 0:
            return 0.0
        found = []
        for edge, end, at in self.edges:
            reached = quantile_ending(edge.estimate(rows), end, at)
            if self.is_repair:
                # The gap of the repaired rows is what it should be; how uncertain it is varies with them.
                found.append((reached / needed - 1) * math.sqrt(2 * truth.freedom))
            elif reached > 0:
                critical = at + (edge.gap - at) * needed / reached
                found.append((truth.value - critical) * (-1 if end else 1) / truth.stderr)
        chances = [min(map(_NORMAL.cdf, found))] if self.is_repair else list(map(_NORMAL.cdf, found))
        return max(1 - sum(1 - chance for chance in chances), 0.0) * self.case.enough(rows) if chances else 0.0


def plan(
    audit: Audit | None = None,
    *,
    gap: float | None = None,
    limit: float | None = None,
    repair: bool = False,
    power: float = 0.8,
    confidence: float = 0.95,
    metric: str = "xauc",
    prevalence: float | Mapping[Hashable, float] | None = None,
    group_shares: Mapping[Hashable, float] | None = None,
    auc: float | Mapping[Hashable, float] | None = None,
    design_effect: float | None = None,
    pair: Pair | None = None,
) -> Plan:
    """Number of rows needed to detect a gap, to show that it is below a limit, or to repair it to one.

    Power is about the verdicts of :func:`xorder.audit`: a gap is detected if chance does not explain it, by Holm's rule
    where there are several pairs of groups, and below a limit if its interval lies inside. Scores are those of an
    audit, one group moved until the gap is what is asked about; or, where there is none yet, normal within each class
    of each group, of equal spread.

    Parameters
    ----------
    audit : Audit, default=None
        Audit of rows of the same kind. Where it has clusters, so will the rows.
    gap : float, default=None
        Smallest gap that should be detected, whichever group it favours; with ``limit``, the gap that there is,
        by default 0.
    limit : float, default=None
        Limit that the gap should be shown to be below.
    repair : bool, default=False
        Whether the gap is to be repaired to the limit first: rows for ``XOrder(max_gap=limit, confidence=confidence)``
        to make its promise.
    power : float, default=0.8
        Chance of success.
    confidence : float, default=0.95
        Confidence of the audit, or of the promise.
    metric : {"xauc", "prf", "parity"}, default="xauc"
        The gap.
    prevalence : float or dict, default=None
        Share of positives, or that of each group; without an audit.
    group_shares : dict, default=None
        Group -> its share of the rows, or its part; by default as in the audit, without one two groups of equal size.
    auc : float or dict, default=None
        AUC within the groups, or within each; without an audit.
    design_effect : float, default=None
        How many rows say as much as one row that stands alone; by default that of the audit's clusters, else 1.
    pair : tuple of two group labels, default=None
        Plan for these two groups alone; by default for every pair.

    Returns
    -------
    Plan
        Rows needed in all and in each group, and the power by rows.

    Raises
    ------
    InputError
        If arguments do not go together, or no number of rows suffices.

    References
    ----------
    .. [1] DeLong et al. (1988), Biometrics 44, 837-845.

    Examples
    --------
    >>> found = plan(gap=0.05, prevalence=0.1, auc=0.8, group_shares={"A": 0.7, "B": 0.3})
    >>> found.rows, found.by_group
    (7922, {'A': 5545, 'B': 2377})
    """
    check_metric(metric)
    confidence = check_confidence(confidence)
    question = _question(gap, limit, check_truth("repair", repair))
    # Plain numbers: with those of fewer bits the steps below would come to no end.
    gap, limit = (each if each is None else float(each) for each in (gap, limit))
    power = _check_share("power", check_number("power", power))
    tables, shares, rows = _population(audit, prevalence, group_shares, auc)
    groups = list(shares)
    pairs = list(combinations(range(len(groups)), 2))
    if pair is not None:
        first, second = check_pair(pair, groups)
        pairs = [(groups.index(first), groups.index(second))]
    for g in {g for both in pairs for g in both}:
        check_both_classes(tables[g], f"group {groups[g]!r}")
    effects = [_design_effect(audit, metric, (groups[a], groups[b]), design_effect) for a, b in pairs]
    needed = normal_quantile(1 - (1 - confidence) / (len(pairs) if question == "detect" else 1))
    # How far on the way from the gap to where an interval should end the gaps of samples just about do.
    spare = max(_NORMAL.inv_cdf(power), 0.1)
    on_way = 0.0 if repair else spare / (spare + needed)

    def aim(a: int, b: int, truth: float, worth: float) -> _Aim:
        case = partial(_with_gap, tables, metric, a, b, worth)
        ends = [(0, -limit), (1, limit)] if limit is not None else [(0 if truth > 0 else 1, 0.0)]
        return _Aim(case(truth), [(case(truth + on_way * (at - truth)), end, at) for end, at in ends], repair)

    aims = [
        [aim(a, b, wanted, 1 / effect) for wanted in ([gap, -gap] if gap else [0.0])]
        for (a, b), effect in zip(pairs, effects, strict=True)
    ]

    def power_at(n: float) -> float:
        # Of a gap of either sign the one that is harder to show counts.
        of_pairs = [min(each.power(n, needed) for each in both) for both in aims]
        return min(of_pairs) if question == "detect" else max(1 - sum(1 - each for each in of_pairs), 0.0)

    low, high = 1.0, float(2 * FEW)
    while power_at(high) < power:
        low, high = high, 2 * high
        if high > _MOST_ROWS:
            raise InputError(f"power {power:g} takes more rows than there are people; ask for less.")
    while high - low > max(1e-4 * high, 0.5):
        middle = (low + high) / 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    by_group = {group: math.ceil(high * share) for group, share in shares.items()}
    positives = {g: round(n * t.n1 / (t.n1 + t.n0)) for (g, n), t in zip(by_group.items(), tables, strict=True)}
    total, asked = sum(by_group.values()), (metric, question, gap or 0.0, limit, power, confidence)
    times = None if rows is None else total / rows
    return Plan(*asked, total, by_group, positives, times, len(pairs), max(effects), power_at)


def _question(gap: float | None, limit: float | None, repair: bool) -> str:
    """Return what is asked, of gap, limit and repair; refuse what is not a question."""
    if gap is None and limit is None:
        raise InputError("give gap= to detect a gap, or limit= to show that it is below one.")
    if repair and (limit is None or gap is not None):
        raise InputError("repair needs a limit, and no gap: how wide it is before does not matter.")
    if _check_share("gap", gap) >= _check_share("limit", limit) > 0:
        raise InputError(f"gap must be below limit; got {gap:g} and {limit:g}.")
    return "repair" if repair else "detect" if limit is None else "limit"


def _check_share(name: str, value: float | None) -> float:
    """Return a number between 0 and 1, or 0 where none is given."""
    if value is not None and not 0 < check_number(name, value) < 1:
        raise InputError(f"{name} must lie between 0 and 1; got {value!r}.")
    return float(value or 0.0)


def _population(
    audit: Audit | None, prevalence: Any, group_shares: Any, auc: Any
) -> tuple[list[ScoreTable], dict[Hashable, float], float | None]:
    """Return tables of the groups with the mass of one row in all, the share of each, and the rows of the audit."""
    if not isinstance(group_shares, Mapping | None) or len(group_shares or "AB") < 2:
        raise InputError(f"group_shares must name two groups or more, each with its share; got {group_shares!r}.")
    parts = {g: check_number(f"group_shares of {g!r}", part, above=0) for g, part in (group_shares or {}).items()}
    if audit is None:
        if prevalence is None or auc is None:
            raise InputError("there is nothing to plan from: give an audit, or prevalence= and auc=.")
        parts = parts or {"A": 0.5, "B": 0.5}
        tables = {g: _binormal(_of_group("prevalence", prevalence, g), _of_group("auc", auc, g)) for g in parts}
        rows, weight = None, 1.0
    else:
        if prevalence is not None or auc is not None:
            raise InputError("give an audit, or prevalence= and auc=, not both.")
        check_kind("audit", audit, Audit, "an Audit")
        if audit._tables is None:
            raise InputError("this audit holds no tables to plan with; make it with audit, or from tables or a frame.")
        tables = _normal_scores(audit._tables)
        masses = {group: table.n1 + table.n0 for group, table in tables.items()}
        rows = rows_of(audit._tables)
        weight = sum(masses.values()) / rows
        if parts and {*parts} != {*tables}:
            raise InputError(f"group_shares must name the groups {', '.join(map(repr, tables))}; got {group_shares!r}.")
        parts = parts or masses
    total = sum(parts.values())
    shares = {group: parts[group] / total for group in tables}
    scaled = [_times(table, weight * shares[group] / (table.n1 + table.n0)) for group, table in tables.items()]
    return scaled, shares, rows


def rows_of(tables: Tables) -> float:
    """Return how many rows tables hold: those of a sampling design have a weight each, counts are what they say."""
    if tables.rows is not None and any(table.positive_squares is not None for table in tables.values()):
        return float(tables.rows)
    return float(sum(table.n1 + table.n0 for table in tables.values()))


def _of_group(name: str, given: Any, group: Hashable) -> float:
    if isinstance(given, Mapping) and group not in given:
        raise InputError(f"{name} must name every group; got none for {group!r}.")
    return _check_share(name, given[group] if isinstance(given, Mapping) else given)


def _binormal(prevalence: float, auc: float) -> ScoreTable:
    """Scores normal in each class, of equal spread, as far apart as the AUC says; their mass is 1."""
    apart = math.sqrt(2) * _NORMAL.inv_cdf(auc)
    edges = np.linspace(min(apart, 0.0) - 6, max(apart, 0.0) + 6, _LEVELS + 1)
    positive, negative = (
        share * np.diff([_NORMAL.cdf(edge - mean) for edge in edges.tolist()])
        for share, mean in ((prevalence, apart), (1 - prevalence, 0.0))
    )
    return ScoreTable.from_masses((edges[1:] + edges[:-1]) / 2, positive, negative)


def _normal_scores(tables: Mapping[Hashable, ScoreTable]) -> dict[Hashable, ScoreTable]:
    """Replace scores by the normal quantiles of their ranks among all rows: audits know nothing else of them."""
    thin = {group: table.thinned(_LEVELS) for group, table in tables.items()}
    score, place = np.unique(np.concatenate([table.score for table in thin.values()]), return_inverse=True)
    mass = np.bincount(place, np.concatenate([table.mass for table in thin.values()]))
    normal = np.array([_NORMAL.inv_cdf(rank) for rank in ((np.cumsum(mass) - mass / 2) / mass.sum()).tolist()])
    return {group: table.at(normal[np.searchsorted(score, table.score)]) for group, table in thin.items()}


def _with_gap(tables: Sequence[ScoreTable], metric: str, a: int, b: int, worth: float, gap: float) -> _Case:
    """Move the scores of one group until a gap is as wanted."""
    if not METRICS[metric].counts_own:
        tables, a, b = [tables[a], tables[b]], 0, 1

    def moved(shift: float) -> list[ScoreTable]:
        return [table.at(table.score + shift) if g == b else table for g, table in enumerate(tables)]

    def is_above(shift: float) -> bool:
        return bool(METRICS[metric].estimate(moments(moved(shift)), a, b).value > gap)

    low, high = -_FURTHEST, _FURTHEST
    if not is_above(low) or is_above(high):
        raise InputError(f"a gap of {gap:g} in {metric} is more than groups like these can have; ask for less.")
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if is_above(middle) else (low, middle)
    return _Case(moved((low + high) / 2), metric, a, b, gap, worth)


def _design_effect(audit: Audit | None, metric: str, pair: Pair, given: float | None) -> float:
    """Return how many rows say as much as one that stands alone, by what is given or by the audit's clusters."""
    if given is not None:
        return check_number("design_effect", given, above=0)
    if audit is None or audit._units is None or audit._tables is None:
        return 1.0
    alone = METRICS[metric].estimate(moments(list(audit._tables.values())), *map(audit.groups.index, pair))
    return float((audit.gap(metric, pair).stderr / alone.stderr) ** 2)


def _times(table: ScoreTable, factor: float) -> ScoreTable:
    return ScoreTable(table.score, *(factor * mass for mass in table.sums))

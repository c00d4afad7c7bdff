"""Audit: everything a reader needs to judge how a score ranks each group, with its uncertainty."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xorder._html import audit_html
from xorder._metric import METRICS, auc_estimate, prf_of
from xorder._table import BinningError, FloatArray, ScoreTable, Tables, as_tables
from xorder._validation import WeightKind, check_tables
from xorder.exceptions import InputError, warn_caller
from xorder.metrics._gaps import Gap, interval, json_label
from xorder.metrics._placements import Moments, moments

if TYPE_CHECKING:
    from xorder.metrics._gaps import Gap


@dataclass(frozen=True, slots=True, eq=False)
class GroupMatrix:
    """Values for ordered pairs of groups: ``matrix[g, h]`` by label, ``matrix.values`` as an array.

    >>> matrix = GroupMatrix(("a", "b"), np.array([[0.8, 0.9], [0.6, 0.7]]))
    >>> matrix["a", "b"]
    0.9
    """

    groups: tuple[Hashable, ...]
    values: FloatArray

    def __getitem__(self, pair: tuple[Hashable, Hashable]) -> float:
        try:
            row, column = (self.groups.index(group) for group in pair)
        except (ValueError, TypeError):
            known = ", ".join(map(repr, self.groups))
            raise KeyError(f"{pair!r}: name two of the groups {known}") from None
        return float(self.values[row, column])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def __str__(self) -> str:
        names = [str(group) for group in self.groups]
        width = max([6, *map(len, names)])
        lines = [" " * width + "".join(f"  {name:>{width}}" for name in names)]
        for name, row in zip(names, self.values, strict=True):
            lines.append(f"{name:<{width}}" + "".join(f"  {value:>{width}.4f}" for value in row))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix as plain lists, ready for JSON; ``nan`` becomes ``None``."""
        values = [[None if np.isnan(value) else float(value) for value in row] for row in self.values]
        return {"groups": list(self.groups), "values": values}


# Below this AUC, and surely below one half, a score or a label is likely to be the wrong way round.
_UPSIDE_DOWN = 0.4


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """How a score ranks the members of each group; made by :func:`audit`.

    ``xauc[g, h]`` is the chance that a positive of g outranks a negative of h (its diagonal: the AUC within a
    group), ``prf[g]`` that it outranks a negative of any group. ``gaps`` holds a :class:`Gap` for each metric
    and pair of groups. ``positives`` and ``negatives`` count rows, or add up their weights. ``binning_error`` says
    how far all this can be from the truth where scores were put into bins, and is None where they were not.
    """

    groups: tuple[Hashable, ...]
    positives: dict[Hashable, float]
    negatives: dict[Hashable, float]
    auc: float
    auc_stderr: float
    auc_interval: tuple[float, float]
    xauc: GroupMatrix
    prf: dict[Hashable, float]
    gaps: list[Gap]
    confidence: float
    binning_error: BinningError | None = None

    def gap(self, metric: str, pair: tuple[Hashable, Hashable] | None = None) -> Gap:
        """Return the gap of a metric for a pair of groups; without a pair, the widest."""
        found = [gap for gap in self.gaps if gap.metric == metric]
        if pair is not None:
            found = [gap if gap.pair == tuple(pair) else gap.reversed() for gap in found if {*gap.pair} == {*pair}]
        if not found:
            raise InputError(
                f"no gap for metric {metric!r} and pair {pair!r}; metrics: {', '.join(METRICS)}; groups: "
                f"{', '.join(map(repr, self.groups))}."
            )
        return max(found, key=lambda gap: abs(gap.value) if np.isfinite(gap.value) else -1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and numbers, ready for JSON; ``nan`` becomes ``None``."""

        def plain(value: float) -> float | None:
            return float(value) if np.isfinite(value) else None

        return {
            "groups": [json_label(group) for group in self.groups],
            "positives": list(self.positives.values()),
            "negatives": list(self.negatives.values()),
            "auc": plain(self.auc),
            "auc_stderr": plain(self.auc_stderr),
            "auc_interval": [plain(end) for end in self.auc_interval],
            "xauc": self.xauc.to_dict()["values"],
            "prf": [plain(value) for value in self.prf.values()],
            "gaps": [gap.to_dict() for gap in self.gaps],
            "confidence": self.confidence,
        } | ({} if self.binning_error is None else {"binning_error": self.binning_error.to_dict()})

    def __str__(self) -> str:
        return audit_text(self)

    def _repr_html_(self) -> str:
        return audit_html(self, reading(self))

    def __repr__(self) -> str:
        return f"<Audit of {len(self.groups)} groups: AUC {self.auc:.4f}>"


def audit(
    y_true: Any,
    y_score: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    confidence: float = 0.95,
    weights_are: WeightKind = "counts",
    missing_group: str = "error",
) -> Audit:
    """Audit how a score ranks the members of different groups.

    Parameters
    ----------
    y_true : labels, 1 for the positive class, 0 for the other.
    y_score : scores; the higher, the higher the rank.
    sensitive_features : group of each row; any labels, any number of groups from two.
    sample_weight : weight of each row.
    confidence : of the intervals.
    weights_are : what weights mean for the uncertainty. ``"counts"``: a row of weight 2 is two rows.
        ``"sampling"``: weights correct for how rows were drawn, their scale means nothing, and a row of large
        weight is still one row, so intervals get wider. Values of the metrics are the same for both.
    missing_group : what to do with rows whose group is missing (None, NaN): ``"error"`` refuses them, ``"leave"``
        leaves them out, ``"group"`` takes them as a group of their own, ``"missing"``.

    Returns
    -------
    Audit
        Columns and numbers that cannot be computed are ``nan``, with a warning that names the group.

    Examples
    --------
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(n_samples=2000, random_state=0)
    >>> result = audit(people.y_true, people.y_score, sensitive_features=people.group)
    >>> gap = result.gap("xauc")
    >>> gap.pair, round(gap.value, 3), gap.interval[0] > 0
    (('A', 'B'), 0.231, True)
    """
    check_confidence(confidence)
    tables = check_tables(
        y_true, y_score, sensitive_features, sample_weight, weights_are=weights_are, missing_group=missing_group
    )
    return audit_tables(tables, confidence=confidence)


def audit_tables(tables: Tables | Mapping[Hashable, ScoreTable], *, confidence: float = 0.95) -> Audit:
    """Audit tables that are already built, group -> ScoreTable."""
    check_confidence(confidence)
    tables = as_tables(tables)
    groups = tuple(tables)
    if len(groups) < 2:
        found = f"there is only one: {groups[0]!r}" if groups else "there is none"
        said = "".join(f" {note}" for note in tables.notes)
        raise InputError(f"an audit compares at least two groups; {found}.{said}")
    m = moments(list(tables.values()))
    for message in (*tables.notes, *_cautions(groups, m)):
        warn_caller(message)
    overall = auc_estimate(m)
    reach = interval(overall, confidence)
    for message in upside_down(overall[0], reach):
        warn_caller(message)
    gaps = [
        Gap.from_estimate(metric.name, (groups[a], groups[b]), metric.estimate(m, a, b), confidence)
        for metric in METRICS.values()
        for a, b in combinations(range(len(groups)), 2)
    ]
    small = {group for group, is_small in zip(groups, _small(m), strict=True) if is_small}
    uncertain = [gap for gap in gaps if np.isfinite(gap.value) and np.isnan(gap.stderr)]
    flat = sorted({str(gap.pair) for gap in uncertain if small.isdisjoint(gap.pair)})
    if flat:
        warn_caller(
            f"placements do not vary between {'; '.join(flat[:5])}: the ranks separate the classes completely or "
            "not at all, so the sample cannot tell how uncertain the gap is."
        )
    return Audit(
        groups=groups,
        positives=dict(zip(groups, m.positives.tolist(), strict=True)),
        negatives=dict(zip(groups, m.negatives.tolist(), strict=True)),
        auc=overall[0],
        auc_stderr=overall[1],
        auc_interval=reach,
        xauc=GroupMatrix(groups, m.xauc),
        prf=dict(zip(groups, prf_of(m).tolist(), strict=True)),
        gaps=gaps,
        confidence=confidence,
        binning_error=tables.binning_error,
    )


def upside_down(auc: float, reach: tuple[float, float]) -> list[str]:
    """Say so where an AUC, with its interval, is that of a score or a label that is the wrong way round."""
    if not (auc < _UPSIDE_DOWN and reach[1] < 0.5):
        return []
    return [
        f"AUC is {auc:.2f}: positives are mostly ranked below negatives. Does a high score mean what the label counts "
        "as positive? If not, turn the score round, or name the other label."
    ]


def check_confidence(confidence: Any) -> None:
    """Refuse what is no share between 0 and 1."""
    if not (isinstance(confidence, Real) and 0 < float(confidence) < 1):
        raise InputError(f"confidence must lie between 0 and 1; got {confidence!r}. For 95 % pass 0.95.")


def _cautions(groups: tuple[Hashable, ...], m: Moments) -> Iterator[str]:
    """Say which groups lack a class, or have a single row of one."""
    for group, n1, n0, small in zip(groups, m.positives, m.negatives, _small(m), strict=True):
        counts = f"group {group!r} (positives {n1:g}, negatives {n0:g})"
        if not n1 > 0 or not n0 > 0:
            missing = " and no ".join(word for word, mass in (("positives", n1), ("negatives", n0)) if not mass > 0)
            yield f"{counts} has no {missing}: what compares them is nan."
        elif small:
            yield f"{counts} has a single row of a class: standard errors of its gaps are nan."


def _small(m: Moments) -> list[bool]:
    """Whether a group has a class from which no variance can be estimated."""
    return [
        any(not sample.mass**2 > (1 + 1e-9) * sample.spread for sample in samples)
        for samples in zip(m.positive, m.negative, strict=True)
    ]


# Below so many rows of a class the normal approximation is poor.
_FEW = 10


def audit_text(audit: Audit) -> str:
    """Lay out counts, matrix and gaps, and say in one sentence what the widest xAUC gap means."""
    names = [" ".join(str(group).split()) for group in audit.groups]
    width = max([5, *map(len, names)])
    low, high = audit.auc_interval
    percent = f"{100 * audit.confidence:.4g} %"
    lines = [f"AUC {_number(audit.auc)}   ({percent} interval {_number(low)} to {_number(high)})", ""]
    lines.append(f"{'group':<{width}}  {'positives':>12}  {'negatives':>12}  {'PRF':>8}")
    for name, group in zip(names, audit.groups, strict=True):
        lines.append(
            f"{name:<{width}}  {audit.positives[group]:>12,.10g}  {audit.negatives[group]:>12,.10g}  "
            f"{_number(audit.prf[group]):>8}"
        )
    lines += ["", "xAUC: chance that a positive of the row's group outranks a negative of the column's group"]
    lines += [str(audit.xauc), ""]
    pairs = [f"{gap.pair[0]} - {gap.pair[1]}" for gap in audit.gaps]
    wide = max([5, *map(len, pairs)])
    lines.append(f"{'gap':<7} {'pair':<{wide}}  {'value':>8}  {percent + ' interval':^20}  {'p (no gap)':>10}")
    for pair, gap in zip(pairs, audit.gaps, strict=True):
        ends = f"[{gap.interval[0]:+.4f}, {gap.interval[1]:+.4f}]" if np.isfinite(gap.stderr) else "not known"
        lines.append(f"{gap.metric:<7} {pair:<{wide}}  {gap.value:>+8.4f}  {ends:^20}  {_pvalue(gap.pvalue):>10}")
    lines += [f"  {metric.title}: {metric.meaning}" for metric in METRICS.values()]
    few = [
        name
        for name, group in zip(names, audit.groups, strict=True)
        if 0 < min(audit.positives[group], audit.negatives[group]) < _FEW
    ]
    if few:
        lines += [
            "",
            f"Fewer than {_FEW} positives or negatives: {', '.join(few)}. Intervals and p of these are rough.",
        ]
    if audit.binning_error is not None:
        lines += ["", f"Scores were binned, which moved AUC and gaps by at most {audit.binning_error.largest:.1e}."]
    said = reading(audit)
    return "\n".join([*lines, "", said] if said else lines)


def reading(audit: Audit) -> str:
    """Say in two sentences what the widest xAUC gap means, and how sure it is; nothing where none is known."""
    known = [gap for gap in audit.gaps if gap.metric == "xauc" and np.isfinite(gap.value)]
    if not known:
        return ""
    gap = max(known, key=lambda gap: abs(gap.value))
    favoured, other = gap.pair if gap.value >= 0 else gap.pair[::-1]
    return (
        f"A positive of {favoured} outranks a negative of {other} with chance {audit.xauc[favoured, other]:.3f}; "
        f"a positive of {other} outranks a negative of {favoured} with chance {audit.xauc[other, favoured]:.3f}.\n"
        + _verdict(audit, gap, other)
    )


def _verdict(audit: Audit, gap: Gap, lower: Hashable) -> str:
    if not np.isfinite(gap.stderr):
        return "Ranks vary too little in this sample to say how certain this gap is."
    sure = f"at {100 * audit.confidence:.4g} % confidence"
    pairs = sum(other.metric == gap.metric for other in audit.gaps)
    if pairs > 1:
        sure += f", allowing for the {pairs} pairs looked at"
    # The widest of many gaps is wide by chance more often than one; Bonferroni's rule allows for that.
    if gap.pvalue * pairs > 1 - audit.confidence:
        return f"This gap cannot be told from chance {sure}."
    return f"The score under-ranks the positives of {lower}; the gap cannot be put down to chance {sure}."


def _number(value: float) -> str:
    return f"{value:.4f}"


def _pvalue(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"

"""Audit: everything a reader needs to judge how a score ranks each group, with its uncertainty."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import Any, Literal

import numpy as np

from xorder._html import audit_html
from xorder._table import ScoreTable
from xorder._validation import check_tables, check_weights
from xorder.exceptions import InputError, XorderWarning
from xorder.metrics.deviation import Deviation
from xorder.metrics.gaps import GAPS, Gap, auc, interval, json_label, prf
from xorder.metrics.matrix import GroupMatrix
from xorder.metrics.moments import Moments, moments
from xorder.metrics.text import audit_text, reading

WeightKind = Literal["counts", "sampling"]

NOT_WHOLE = (
    "{} is not whole, yet read as counts of rows; if the weights come from a sampling design, pass "
    "weights_are='sampling' for honest intervals"
)


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """How a score ranks the members of each group; made by :func:`audit`.

    ``xauc[g, h]`` is the chance that a positive of g outranks a negative of h (its diagonal: the AUC within a
    group), ``prf[g]`` that it outranks a negative of any group. ``gaps`` holds a :class:`Gap` for each metric
    and pair of groups. ``positives`` and ``negatives`` count rows, or add up their weights. ``deviation`` says how
    far all this can be from the truth where scores were put into bins, and is None where they were not.
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
    deviation: Deviation | None = None

    def gap(self, metric: str, pair: tuple[Hashable, Hashable] | None = None) -> Gap:
        """Return the gap of a metric for a pair of groups; without a pair, the widest."""
        found = [gap for gap in self.gaps if gap.metric == metric]
        if pair is not None:
            found = [gap if gap.pair == tuple(pair) else gap.reversed() for gap in found if {*gap.pair} == {*pair}]
        if not found:
            raise InputError(
                f"no gap for metric {metric!r} and pair {pair!r}; metrics: {', '.join(GAPS)}; groups: "
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
        } | ({} if self.deviation is None else {"deviation": self.deviation.to_dict()})

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
    check_weights_are(weights_are)
    squares = None
    if sample_weight is not None:
        weight = check_weights(sample_weight)
        if weights_are == "sampling":
            # Their scale means nothing, but squares must stay in range, and no row may vanish in them.
            if not 1e-100 < weight.max() < 1e100:
                weight = np.ldexp(weight, -np.frexp(weight.max())[1])
            sample_weight = weight
            square = np.where(weight > 0, np.maximum(weight**2, np.finfo(np.float64).tiny), 0.0)
            squares = list(check_tables(y_true, y_score, sensitive_features, square).values())
        elif np.any(weight != np.floor(weight)):
            _warn(NOT_WHOLE.format("sample_weight"), stacklevel=3)
    tables = check_tables(y_true, y_score, sensitive_features, sample_weight)
    return audit_tables(tables, squares, confidence=confidence)


def audit_tables(
    tables: dict[Hashable, ScoreTable],
    squares: Sequence[ScoreTable] | None = None,
    *,
    confidence: float = 0.95,
    deviation: Deviation | None = None,
) -> Audit:
    """Audit tables that are already built, one a group.

    ``squares`` are tables of the same scores with sums of squared weights, where weights come from a sampling design;
    ``deviation`` is what binning of the scores can have moved.
    """
    check_confidence(confidence)
    groups = tuple(tables)
    if len(groups) < 2:
        raise InputError(f"an audit compares at least two groups; there is only one: {groups[0]!r}.")
    m = moments(list(tables.values()), squares)
    for message in _cautions(groups, m):
        _warn(message, stacklevel=4)
    overall = auc(m)
    gaps = [
        Gap.from_estimate(metric, (groups[a], groups[b]), estimate(m, a, b), confidence)
        for metric, estimate in GAPS.items()
        for a, b in combinations(range(len(groups)), 2)
    ]
    small = {group for group, is_small in zip(groups, _small(m), strict=True) if is_small}
    uncertain = [gap for gap in gaps if np.isfinite(gap.value) and np.isnan(gap.stderr)]
    flat = sorted({str(gap.pair) for gap in uncertain if small.isdisjoint(gap.pair)})
    if flat:
        _warn(
            f"placements do not vary between {'; '.join(flat[:5])}: the ranks separate the classes completely or "
            "not at all, so the sample cannot tell how uncertain the gap is",
            stacklevel=4,
        )
    return Audit(
        groups=groups,
        positives=dict(zip(groups, m.positives.tolist(), strict=True)),
        negatives=dict(zip(groups, m.negatives.tolist(), strict=True)),
        auc=overall[0],
        auc_stderr=overall[1],
        auc_interval=interval(overall, confidence),
        xauc=GroupMatrix(groups, m.xauc),
        prf=dict(zip(groups, prf(m).tolist(), strict=True)),
        gaps=gaps,
        confidence=confidence,
        deviation=deviation,
    )


def check_weights_are(kind: Any) -> None:
    """Refuse what is no meaning of weights."""
    if kind not in ("counts", "sampling"):
        raise InputError(f"weights_are must be 'counts' or 'sampling'; got {kind!r}.")


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
            yield f"{counts} has no {missing}: what compares them is nan"
        elif small:
            yield f"{counts} has a single row of a class: standard errors of its gaps are nan"


def _small(m: Moments) -> list[bool]:
    """Whether a group has a class from which no variance can be estimated."""
    return [
        any(not sample.mass**2 > (1 + 1e-9) * sample.spread for sample in samples)
        for samples in zip(m.positive, m.negative, strict=True)
    ]


def _warn(message: str, stacklevel: int) -> None:
    """Warn about the line that called :func:`audit`, which is ``stacklevel`` frames up."""
    warnings.warn(message + ".", XorderWarning, stacklevel=stacklevel)

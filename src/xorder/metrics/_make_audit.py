"""Audits of rows and of tables, and how two of the same rows differ."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from xorder._metric import METRICS, auc_estimate, chance_interval, prf_estimate, xauc_estimate
from xorder._parameters import WeightKind, check_confidence, check_number
from xorder._table import ScoreTable, Tables, as_tables
from xorder._validation import check_rows
from xorder.exceptions import InputError, warn_caller
from xorder.metrics._audit import Audit, GroupMatrix
from xorder.metrics._cuts import CUTS, Cut, check_cuts
from xorder.metrics._gaps import Difference, Gap, are_few, change_of, with_holm
from xorder.metrics._placements import Moments, changes
from xorder.metrics._units import moments_of

# Below this AUC, if its interval ends below one half, the score or the label is likely to be the wrong way round.
_UPSIDE_DOWN = 0.4


def audit(
    y_true: Any,
    y_score: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    weights_are: WeightKind = "counts",
    cuts: Sequence[Cut] = CUTS,
    confidence: float = 0.95,
    missing_group: str = "error",
    clusters: Any = None,
    tolerance: float | None = None,
) -> Audit:
    """Audit how a score ranks the members of different groups.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, 1 for the positive class, 0 for the other.
    y_score : array-like of shape (n_samples,)
        Scores; the higher, the higher the rank.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row; any labels, two groups or more.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    weights_are : {"counts", "sampling"}, default="counts"
        What weights mean for the uncertainty. ``"counts"``: a row of weight 2 is two rows. ``"sampling"``: weights
        correct for how rows were drawn, their scale means nothing, and a row of large weight is still one row, so
        intervals get wider. Values of the metrics are the same for both.
    cuts : sequence of float, int or Threshold, default=(0.01, 0.05, 0.1, 0.2)
        Cuts of the list to report: a float in (0, 1) is a share of it, an int from 1 up a number of places, a
        :class:`xorder.Threshold` a score.
    confidence : float, default=0.95
        Confidence of the intervals.
    missing_group : {"error", "leave", "group"}, default="error"
        What to do with rows whose group is missing (None, NaN): ``"error"`` refuses them, ``"leave"`` leaves them
        out, ``"group"`` takes them as a group of their own, ``"missing"``.
    clusters : array-like of shape (n_samples,), default=None
        Who or what each row belongs to, such as the patient of an encounter. Rows of one cluster may be alike, and
        standard errors, intervals and p-values allow for that [1]_; values stay as they are. A cluster may have rows
        in several groups. The band of the worst cut does not know clusters, and is left out.
    tolerance : float, default=None
        Widest xAUC gap that is tolerated; the ``verdict`` of the audit is about it.

    Returns
    -------
    Audit
        AUC, chances between groups and gaps, with their uncertainty. What cannot be computed is ``nan``, with a
        warning that names the group.

    Raises
    ------
    InputError
        If there is only one group, or an argument is not what it must be.

    References
    ----------
    .. [1] Obuchowski (1997), Nonparametric analysis of clustered ROC curve data, Biometrics 53, 567-578.

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
    rows = y_true, y_score, sensitive_features, sample_weight
    checked = check_rows(*rows, weights_are=weights_are, missing_group=missing_group, beside={"clusters": clusters})
    tables = checked.tables()
    if clusters is not None:
        tables = replace(tables, held=checked.held(clusters))
    return audit_tables(tables, cuts=cuts, confidence=confidence, tolerance=tolerance)


def audit_tables(
    tables: Tables | Mapping[Hashable, ScoreTable],
    *,
    cuts: Sequence[Cut] = CUTS,
    confidence: float = 0.95,
    tolerance: float | None = None,
) -> Audit:
    """Audit tables that are already built.

    Parameters
    ----------
    tables : mapping
        Group -> :class:`xorder.ScoreTable`.
    cuts : sequence of float, int or Threshold, default=(0.01, 0.05, 0.1, 0.2)
        Cuts of the list to report, as in :func:`audit`.
    confidence : float, default=0.95
        Confidence of the intervals.
    tolerance : float, default=None
        Widest xAUC gap that is tolerated, as in :func:`audit`.

    Returns
    -------
    Audit
        As from :func:`audit`.
    """
    confidence = check_confidence(confidence)
    tables = as_tables(tables)
    if len(tables) < 2:
        found = f"there is only one: {next(iter(tables))!r}" if tables else "there is none"
        said = "".join(f" {note}" for note in tables.notes)
        raise InputError(f"an audit compares at least two groups; {found}.{said}")
    if not tables.totals.any():
        raise InputError("the tables to audit hold no rows.")
    if tolerance is not None:
        tolerance = check_number("tolerance", tolerance, at_least=0)
    result, cautions = measured(tables, confidence, cuts, tolerance)
    for message in (*tables.notes, *cautions):
        warn_caller(message)
    return result


def measured(
    tables: Tables, confidence: float, cuts: Sequence[Cut] = CUTS, tolerance: float | None = None
) -> tuple[Audit, list[str]]:
    """Return the audit of checked tables of any number of groups, and what its readers should know."""
    if cuts is not CUTS:
        cuts = check_cuts(cuts, float(tables.totals[:2].sum()))
    groups = tuple(tables)
    m = moments_of(tables)
    overall = auc_estimate(m)
    reach = chance_interval(overall, confidence)
    samples = dict(zip(groups, zip(m.positive, m.negative, strict=True), strict=True))
    too_few = tuple(group for group, both in samples.items() if any(are_few(one.mass, one.spread) for one in both))
    gaps = []
    for metric in METRICS.values():
        found = [
            Gap.from_estimate(metric.name, (groups[a], groups[b]), metric.estimate(m, a, b), confidence)
            for a, b in combinations(range(len(groups)), 2)
        ]
        gaps += with_holm(found, too_few)
    cells = {(g, h): xauc_estimate(m, a, b) for a, g in enumerate(groups) for b, h in enumerate(groups)}
    prf = {group: prf_estimate(m, a) for a, group in enumerate(groups)}
    result = Audit(
        groups=groups,
        positives=dict(zip(groups, m.positives.tolist(), strict=True)),
        negatives=dict(zip(groups, m.negatives.tolist(), strict=True)),
        auc=overall[0],
        auc_stderr=overall[1],
        auc_interval=reach,
        xauc=GroupMatrix(groups, m.xauc),
        prf={group: found.value for group, found in prf.items()},
        gaps=gaps,
        confidence=confidence,
        xauc_interval={pair: chance_interval(found, confidence) for pair, found in cells.items()},
        prf_interval={group: chance_interval(found, confidence) for group, found in prf.items()},
        cuts=tuple(cuts),
        tolerance=tolerance,
        too_few=too_few,
        binning_error=tables.binning_error,
    )
    object.__setattr__(result, "_tables", tables)
    object.__setattr__(result, "_units", m.units)
    return result, [*_cautions(result, m), *upside_down(overall[0], reach)]


def paired_changes(first: Audit, second: Audit, metric: str, name: str) -> tuple[Difference, ...]:
    """How two audits of the same rows differ: AUC, then the gap of each pair, the second less the first.

    Errors are paired, row by row. ``name`` is that of the second's scores. Empty where an audit holds no tables.
    """
    one, two, confidence = first._tables, second._tables, first.confidence
    if one is None or two is None:
        return ()
    if one.held is not None and two.held is not None:
        from xorder.metrics._compare import compare_tables

        both = replace(one, held=one.held._replace(scores=(one.held.scores[0], two.held.scores[0])), notes=())
        found = compare_tables(both, [name], cuts=(), confidence=confidence).differences
        return tuple(each for each in found if each.what in ("auc", metric))
    change = changes(list(two.values()), list(one.values()))
    aucs = (first.auc, second.auc)
    of_auc = Difference.between("auc", name, None, None, aucs, change_of(change, "auc", 0, 1), confidence)
    of_gaps = []
    for gap in (gap for gap in first.gaps if gap.metric == metric):
        error = change_of(change, metric, *map(first.groups.index, gap.pair))
        gaps = (gap.value, second.gap(metric, gap.pair).value)
        of_gaps.append(Difference.between(metric, name, gap.pair, None, gaps, error, confidence))
    return (replace(of_auc, pvalue_holm=of_auc.pvalue), *with_holm(of_gaps, first.too_few))


def upside_down(auc: float, reach: tuple[float, float]) -> list[str]:
    """Say so where an AUC, with its interval, is that of a score or a label that is the wrong way round."""
    if not (auc < _UPSIDE_DOWN and reach[1] < 0.5):
        return []
    return [
        f"AUC is {auc:.2f}: positives are mostly ranked below negatives. Does a high score mean what the label counts "
        "as positive? If not, turn the score round, or name the other label."
    ]


def _cautions(audit: Audit, m: Moments) -> Iterator[str]:
    """Say which groups lack a class or have a single row of one, and between which ranks do not vary."""
    small = set()
    for group, n1, n0, *samples in zip(audit.groups, m.positives, m.negatives, m.positive, m.negative, strict=True):
        counts = f"group {group!r} (positives {n1:g}, negatives {n0:g})"
        # From a class of one row no variance can be estimated.
        if any(not sample.mass**2 > (1 + 1e-9) * sample.spread for sample in samples):
            small.add(group)
        if not n1 > 0 or not n0 > 0:
            missing = " and no ".join(word for word, mass in (("positives", n1), ("negatives", n0)) if not mass > 0)
            yield f"{counts} has no {missing}: what compares them is nan."
        elif group in small:
            yield f"{counts} has a single row of a class: standard errors of its gaps are nan."
    flat = sorted(
        {
            str(gap.pair)
            for gap in audit.gaps
            if np.isfinite(gap.value) and np.isnan(gap.stderr) and small.isdisjoint(gap.pair)
        }
    )
    if flat:
        yield (
            f"placements do not vary between {'; '.join(flat[:5])}: the ranks separate the classes completely or "
            "not at all, so the uncertainty of the gap cannot be estimated."
        )

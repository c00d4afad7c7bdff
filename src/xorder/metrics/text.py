"""An audit as a table that a person can read."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from xorder.metrics.audit import Audit
    from xorder.metrics.gaps import Gap

_MEANING = {
    "xauc": "xAUC gap: positives of the first outranking negatives of the second, minus the reverse",
    "prf": "PRF gap: positives of the first outranking any negative, minus those of the second",
    "parity": "parity gap: members of the first outranking members of the second, minus the reverse",
}

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
    lines += [f"  {_MEANING[metric]}" for metric in _MEANING]
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

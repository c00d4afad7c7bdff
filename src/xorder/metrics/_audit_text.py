"""An audit in words: the tables that are printed, and two sentences on what the xAUC gaps amount to."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from xorder._metric import METRICS
from xorder._present import count, group_names, interval_text, level, number, pvalue_text, signed
from xorder.metrics._cuts import cut_text
from xorder.metrics._gaps import FEW, judge

if TYPE_CHECKING:
    from xorder.metrics._audit import Audit

# Pairs of groups whose cuts are printed.
_MOST_PAIRS = 6

# Texts show names of groups in full.
ANY_LENGTH = 10_000


def audit_text(audit: Audit) -> str:
    """Lay out counts, matrix and gaps, and say in one sentence what the xAUC gaps amount to."""
    names = dict(zip(audit.groups, group_names(audit.groups, ANY_LENGTH), strict=True))
    percent = level(audit.confidence)
    groups = [
        [
            name,
            count(audit.positives[group]),
            count(audit.negatives[group]),
            number(audit.xauc[group, group]),
            interval_text(audit.xauc_interval[group, group], sign=""),
            number(audit.prf[group]),
            interval_text(audit.prf_interval[group], sign=""),
        ]
        for group, name in names.items()
    ]
    several = len(audit.groups) > 2
    gaps = [
        [
            gap.metric,
            f"{names[gap.pair[0]]} - {names[gap.pair[1]]}",
            signed(gap.value),
            interval_text(gap.interval) if np.isnan(gap.stderr) else "[{}, {}]".format(*map(signed, gap.interval)),
            pvalue_text(gap.pvalue),
            *([pvalue_text(gap.pvalue_holm)] if several else []),
        ]
        for gap in audit.gaps
    ]
    head = ["gap", "pair", "value", f"{percent} interval", "p (no gap)", *(["p (all pairs)"] if several else [])]
    lines = [
        f"AUC {number(audit.auc)}   ({percent} interval {interval_text(audit.auc_interval, sign='')})",
        "",
        *(
            line.rstrip()
            for line in aligned(
                [
                    ["group", "positives", "negatives", "AUC", f"{percent} interval", "PRF", f"{percent} interval"],
                    *groups,
                ],
                *("<5", ">9", ">9", ">6", "^16", ">6", "^16"),
            )
        ),
        "",
        "xAUC: chance that a positive of the row's group outranks a negative of the column's group",
        str(audit.xauc),
        "",
        *aligned([head, *gaps], *("<6", "<5", ">8", "^20", ">10", ">13")[: len(head)]),
        *(f"  {metric.title}: {metric.meaning}" for metric in METRICS.values()),
        *_cut_lines(audit, names, percent),
    ]
    if audit.too_few:
        few = ", ".join(names[group] for group in audit.too_few)
        lines += ["", f"Fewer than {FEW} positives or negatives: {few}. Too few to say whether their gaps are chance."]
    if audit.clusters is not None:
        lines += [
            "",
            f"Errors allow for {audit.clusters:,} clusters of rows. The band of the worst cut cannot, and is left out.",
        ]
    if audit.binning_error is not None:
        lines += ["", f"Scores were binned, which moved AUC and gaps by at most {audit.binning_error.largest:.1e}."]
    said = reading(audit)
    return "\n".join([*lines, "", said] if said else lines)


def _cut_lines(audit: Audit, names: dict[Hashable, str], percent: str) -> list[str]:
    """Lay out the worst cut of each pair and the cuts to report, the pairs of the widest worst cuts first."""
    found = audit._cut_gaps()
    each = 1 + len(audit.cuts)
    pairs = sorted(
        (found[start : start + each] for start in range(0, len(found), each)),
        key=lambda gaps: (np.isnan(gaps[0].interval[0]), -abs(gaps[0].value)),
    )
    rows = [
        [
            cut_text(at) if at is not None else f"worst, {100 * gap.cut:.3g} %" if np.isfinite(gap.cut) else "worst",
            f"{names[gap.pair[0]]} - {names[gap.pair[1]]}",
            number(gap.rates[0]),
            number(gap.rates[1]),
            signed(gap.value),
            "[{}, {}]".format(*map(signed, gap.interval)) if np.isfinite(gap.interval[0]) else "not known",
        ]
        for gaps in pairs[:_MOST_PAIRS]
        for at, gap in zip((None, *audit.cuts), gaps, strict=True)
    ]
    if not rows:
        return []
    more = [f"... and {len(pairs) - _MOST_PAIRS} more pairs of groups"] if len(pairs) > _MOST_PAIRS else []
    headings = ["first part of the list", "pair", "first", "second", "gap", f"{percent} interval"]
    return [
        "",
        "Sensitivity at a cut: the share of a group's positives in the first part of the list",
        *(line.rstrip() for line in aligned([headings, *rows], "<22", "<5", ">8", ">8", ">8", "^20")),
        *more,
        "  worst: the widest of all cuts, with a band that holds at all of them at once",
    ]


def reading(audit: Audit) -> str:
    """Say in two sentences what the xAUC gap to speak of means, and how sure it is; nothing where none is known."""
    verdict = judge(audit, "xauc")
    if verdict.gap is None:
        return ""
    names = dict(zip(audit.groups, group_names(audit.groups, ANY_LENGTH), strict=True))
    first, second = verdict.gap.pair
    favoured, lower = names[first], names[second]
    sure = f"at {level(audit.confidence)} confidence"
    if verdict.pairs > 1:
        sure += f", allowing for the {verdict.pairs} pairs looked at"
    said = "Ranks vary too little in this sample to say how certain this gap is."
    if verdict.few:
        few = " and ".join(names[group] for group in verdict.gap.pair if group in audit.too_few)
        said = f"There are too few positives or negatives of {few} to say whether this gap is chance."
    elif verdict.kind == "chance":
        said = f"This gap cannot be told from chance {sure}."
    elif verdict.clear:
        slightly = " slightly" if verdict.kind == "small" else ""
        said = f"The score{slightly} under-ranks the positives of {lower}; the gap cannot be put down to chance {sure}."
    return (
        f"A positive of {favoured} outranks a negative of {lower} with chance {number(audit.xauc[first, second], 3)}; "
        f"a positive of {lower} outranks a negative of {favoured} with chance {number(audit.xauc[second, first], 3)}.\n"
        f"{said}"
    )


def aligned(rows: list[list[str]], *looks: str) -> list[str]:
    """Lay out rows in columns, each with a side and a least width, as in ``"<5"``."""
    widths = [
        max(int(look[1:]), *map(len, column)) for look, column in zip(looks, zip(*rows, strict=True), strict=True)
    ]
    return [
        "  ".join(f"{cell:{look[0]}{width}}" for cell, look, width in zip(row, looks, widths, strict=True))
        for row in rows
    ]

"""An audit in words: what the gaps amount to, then the tables behind it, no wider than a terminal."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from xorder._metric import METRICS
from xorder._present import count, group_names, interval_text, laid_out, level, number, pvalue_text, signed, wrapped
from xorder._table import FloatArray
from xorder.metrics._cuts import cut_text
from xorder.metrics._gaps import FEW, Pair, judge

if TYPE_CHECKING:
    from xorder.metrics._audit import Audit

# Gaps that are printed unless all are asked for.
_MOST_GAPS = 10

# Texts show names of groups in full.
ANY_LENGTH = 10_000

# Names up to this long head the columns of a matrix; others are numbered.
_SHORT = 8


def audit_text(
    audit: Audit,
    width: int = 80,
    metric: str = "xauc",
    everything: bool = False,
    pair: Pair | None = None,
    reference: Hashable | None = None,
) -> str:
    """Say what the gaps of a metric amount to, and lay out counts, matrix, gaps and cuts.

    The widest gaps alone are shown, and the cuts of the pair spoken of, unless everything is asked for, or some pairs.
    """
    names = dict(zip(audit.groups, group_names(audit.groups, ANY_LENGTH), strict=True))
    spoken_of = judge(audit, metric).gap
    every = list(combinations(audit.groups, 2))
    pairs = None if reference is None else [each for each in every if reference in each]
    pairs = pairs if pair is None else [pair]
    of_cuts = pairs or (every if everything else [spoken_of.pair] if spoken_of else [])
    parts = [
        wrapped(reading(audit, metric, pair), width),
        f"AUC {number(audit.auc)}   ({_interval(audit)} {interval_text(audit.auc_interval, sign='')})",
        "\n".join(_group_lines(audit, names, width)),
        "\n".join(matrix_lines(audit.groups, audit.xauc.values, width, everything)),
        "\n".join(_gap_lines(audit, names, width, metric, everything, pairs)),
        "\n".join(_cut_lines(audit, names, width, of_cuts)),
    ]
    notes, clusters = [few_text(audit.too_few)], audit.clusters
    if clusters is not None:
        notes += [f"Errors allow for {clusters:,} clusters of rows. The band of the worst cut cannot, and is left out."]
    if audit.binning_error is not None:
        notes += [f"Scores were binned, which moved AUC and gaps by at most {audit.binning_error.largest:.1e}."]
    return "\n\n".join(part for part in (*parts, *(wrapped(note, width) for note in notes)) if part)


def _interval(audit: Audit) -> str:
    return f"{level(audit.confidence)} interval"


def few_text(groups: Sequence[Hashable], what: str = "are chance") -> str:
    """Warn of groups with few rows; nothing where there are none."""
    few = ", ".join(group_names(groups, ANY_LENGTH))
    return f"Fewer than {FEW} positives or negatives: {few}. Too few to say whether their gaps {what}." if few else ""


def _group_lines(audit: Audit, names: dict[Hashable, str], width: int) -> list[str]:
    head = ["group", "positives", "negatives", "AUC", _interval(audit), "PRF", _interval(audit)]
    rows = [
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
    return laid_out([head, *rows], ("<5", ">9", ">9", ">6", "^16", ">6", "^16"), width)


def matrix_lines(groups: Sequence[Hashable], values: FloatArray, width: int, everything: bool = True) -> list[str]:
    """Lay out the matrix of xAUC; columns are numbered where names are long."""
    names = group_names(groups, ANY_LENGTH)
    said = ["xAUC: chance that a positive of the row outranks a negative of the column"]
    heads = names
    if max(map(len, names)) > _SHORT:
        heads = [str(place) for place in range(1, len(names) + 1)]
        names = [f"{place} {name}" for place, name in zip(heads, names, strict=True)]
    columns = ["<6", *[f">{max(6, *map(len, heads))}"] * len(heads)]
    if sum(int(look[1:]) + 2 for look in columns) > width and not everything:
        return [f"The matrix of {len(names)} groups is in the table xauc: --table xauc, table('xauc')."]
    rows = [[name, *map(number, row)] for name, row in zip(names, values.tolist(), strict=True)]
    return said + laid_out([["", *heads], *rows], columns, width)


def _gap_lines(
    audit: Audit, names: dict[Hashable, str], width: int, metric: str, everything: bool, pairs: list[Pair] | None
) -> list[str]:
    """Lay out the gaps: of two groups, or where everything is asked for, of all metrics; else the widest of one."""
    several = len(audit.groups) > 2
    metrics = list(METRICS) if everything or not several or len(pairs or ()) == 1 else [metric]
    chosen = [gap for gap in audit.gaps if gap.metric in metrics]
    if pairs is not None:
        # In the order in which a pair was named.
        either = [gap if gap.pair in pairs else gap.reversed() for gap in chosen]
        chosen = [gap for gap in either if gap.pair in pairs]
    more: list[str] = []
    if several and not everything:
        chosen = sorted(chosen, key=lambda gap: -abs(gap.value) if np.isfinite(gap.value) else 1.0)
        left = len(chosen) - _MOST_GAPS
        if left > 0:
            more = [f"... and {left} narrower {'gap' if left == 1 else 'gaps'}; all with --all, or in the table gaps"]
        chosen = chosen[:_MOST_GAPS]
    head = ["gap", "pair", "value", _interval(audit), "p", *(["p (all pairs)"] if several else [])]
    rows = [
        [
            gap.metric,
            f"{names[gap.pair[0]]} - {names[gap.pair[1]]}",
            signed(gap.value),
            interval_text(gap.interval) if np.isnan(gap.stderr) else "[{}, {}]".format(*map(signed, gap.interval)),
            pvalue_text(gap.pvalue),
            *([pvalue_text(gap.pvalue_holm)] if several else []),
        ]
        for gap in chosen
    ]
    meanings = [wrapped(f"{METRICS[name].title}: {METRICS[name].meaning}", width, "  ") for name in metrics]
    looks = ("<6", "<5", ">8", "^20", ">8", ">13")[: len(head)]
    return [*laid_out([head, *rows], looks, width, long=1), *more, *meanings]


def _cut_lines(audit: Audit, names: dict[Hashable, str], width: int, pairs: Sequence[Pair]) -> list[str]:
    """Lay out the worst cut and the cuts to report, of some pairs."""
    if audit._tables is None or not pairs:
        return []
    gaps = [(at, audit.cut_gap(at, pair)) for pair in pairs for at in (None, *audit.cuts)]
    rows = [
        [
            cut_text(at) if at is not None else f"worst, {100 * gap.cut:.3g} %" if np.isfinite(gap.cut) else "worst",
            f"{names[gap.pair[0]]} - {names[gap.pair[1]]}",
            *map(number, gap.rates),
            signed(gap.value),
            "[{}, {}]".format(*map(signed, gap.interval)) if np.isfinite(gap.interval[0]) else "not known",
        ]
        for at, gap in gaps
    ]
    head = ["cut", "pair", "first", "second", "gap", _interval(audit)]
    return [
        wrapped("Sensitivity at a cut: the share of a group's positives in the first part of the list", width),
        *laid_out([head, *rows], ("<14", "<5", ">7", ">7", ">8", "^20"), width, long=1),
        wrapped("worst: the widest of all cuts, with a band that holds at all of them at once", width, "  "),
    ]


def reading(audit: Audit, metric: str = "xauc", pair: Pair | None = None) -> str:
    """Say what the gap to speak of means, and how sure it is; nothing where none is known."""
    verdict = judge(audit, metric)
    gap = verdict.gap
    if pair is not None:
        gap = audit.gap(metric, pair)
        gap = gap if gap.value >= 0 else gap.reversed()
    if gap is None or not np.isfinite(gap.value):
        return ""
    names = dict(zip(audit.groups, group_names(audit.groups, ANY_LENGTH), strict=True))
    first, second = gap.pair
    favoured, lower = names[first], names[second]
    sure = f"{level(audit.confidence)} confidence"
    if verdict.pairs > 1:
        sure += f", allowing for {verdict.pairs} pairs"
    kind = verdict.readings.get(gap.pair, "not known")
    slightly = "slightly " if kind == "not chance" and verdict.kind == "small" and gap is verdict.gap else ""
    few = " and ".join(names[group] for group in gap.pair if group in audit.too_few)
    said = f"The score ranks {lower} {slightly}lower than {favoured}"
    if not gap.value:
        said = f"The score ranks {favoured} and {lower} alike"
    if few:
        said += f"; there are too few positives or negatives of {few} to say whether that is chance."
    elif kind == "not chance":
        said += f", and chance does not explain it ({sure})."
    elif kind == "may be chance":
        said += f", which may be chance ({sure})."
    else:
        said += "; ranks vary too little in this sample to say how certain that is."
    if metric != "xauc":
        return f"{said} The {METRICS[metric].title} is {number(abs(gap.value), 3)}."
    return (
        f"{said} A positive of {favoured} outranks a negative of {lower} with chance "
        f"{number(audit.xauc[first, second], 3)}; a positive of {lower} outranks a negative of {favoured} with chance "
        f"{number(audit.xauc[second, first], 3)}."
    )

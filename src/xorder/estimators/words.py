"""A repair in words."""

from __future__ import annotations

import math
from typing import Any


def repair_text(summary: dict[str, Any], tradeoff: float | None, *, moves: bool) -> str:
    """Say what a repair did on the sample it was learnt from, and how close to the best possible that is."""
    reference, moved = summary["reference"], summary["moved"]
    several = isinstance(moved, list)
    movers = f"groups {', '.join(map(str, moved))}" if several else f"group {moved}"
    first, second = summary["pair"]
    lines = [
        f"Scores of {movers} are adjusted; those of group {reference} stay as they are."
        if moves
        else "All scores are left as they are.",
        f"{summary['metric']} gap  {_signed(summary['disparity_before'])} -> {_signed(summary['disparity_after'])}   "
        f"({first} minus {second}, on the sample learnt from)",
        f"AUC       {summary['auc_before']:.4f} -> {summary['auc_after']:.4f}{_certificate(summary, tradeoff)}",
    ]
    if several:
        lines.insert(2, f"largest gap left between any two groups: {summary['worst_gap']:.4f}")
    for what, groups in (("left alone", summary["left"]), ("counted with the reference", summary["merged"])):
        if groups:
            lines.append(f"{what}: group {', '.join(map(str, groups))}")
    return "\n".join(lines)


def _certificate(summary: dict[str, Any], tradeoff: float | None) -> str:
    if summary["optimality_gap"] is None:
        return ""
    gap = _rounded_up(summary["optimality_gap"])
    best = "best possible at this gap" if tradeoff is None else "best possible"
    measured = "" if tradeoff is None else f"AUC less {tradeoff:g} times the gap: "
    unit = " AUC" if tradeoff is None else ""
    return f"   ({measured}within {gap}{unit} of the {best}, with the order kept in each group)"


def _signed(value: float) -> str:
    """Four decimals with a sign, and no minus before nothing."""
    return f"{round(value, 4) + 0.0:+.4f}"


def _rounded_up(gap: float) -> str:
    """Two significant digits, never less than the gap itself; plain zero where it is zero."""
    if gap == 0:
        return "0"
    digits = 1 - math.floor(math.log10(gap))
    return f"{math.ceil(gap * 10.0**digits) / 10.0**digits:.{max(digits, 0)}f}"

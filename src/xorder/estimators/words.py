"""A repair in words."""

from __future__ import annotations

import math
from typing import Any


def repair_text(summary: dict[str, Any], tradeoff: float | None, *, moves: bool) -> str:
    """Say what a repair did on the sample it was learnt from, and how close to the best possible that is."""
    reference, moved = summary["reference"], summary["moved"]
    gap = _rounded_up(summary["optimality_gap"])
    if tradeoff is None:
        certificate = f"within {gap} AUC of the best possible at this gap"
    else:
        certificate = f"AUC less {tradeoff:g} times the gap: within {gap} of the best possible"
    who = f"Scores of group {moved} are adjusted; those of group {reference} stay as they are."
    return (
        f"{who if moves else 'All scores are left as they are.'}\n"
        f"{summary['metric']} gap  {_signed(summary['disparity_before'])} -> {_signed(summary['disparity_after'])}   "
        f"({reference} minus {moved}, on the sample learnt from)\n"
        f"AUC       {summary['auc_before']:.4f} -> {summary['auc_after']:.4f}   "
        f"({certificate}, with the order kept in each group)"
    )


def _signed(value: float) -> str:
    """Four decimals with a sign, and no minus before nothing."""
    return f"{round(value, 4) + 0.0:+.4f}"


def _rounded_up(gap: float) -> str:
    """Two significant digits, never less than the gap itself; plain zero where it is zero."""
    if gap == 0:
        return "0"
    digits = 1 - math.floor(math.log10(gap))
    return f"{math.ceil(gap * 10.0**digits) / 10.0**digits:.{max(digits, 0)}f}"

"""What a fitted repair tells of its training sample, and how that is written as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

SUMMARY = {
    "reference": "reference_",
    "moved": "moved_",
    "pair": "pair_",
    "left": "left_",
    "merged": "merged_",
    "metric": "metric",
    "auc_before": "auc_before_",
    "auc_after": "auc_",
    "disparity_before": "disparity_before_",
    "disparity_after": "disparity_",
    "worst_gap": "worst_gap_",
    "bound": "bound_",
    "optimality_gap": "gap_",
}
"""What a saved map tells of its training sample, and the attribute that holds it."""

NUMBERS = tuple(SUMMARY)[list(SUMMARY).index("metric") + 1 :]


def plain(value: Any) -> Any:
    """As JSON has it: lists for tuples, and null for what is not known."""
    if isinstance(value, tuple):
        return list(value)
    return None if isinstance(value, float) and np.isnan(value) else value

"""Ranking fairness metrics and the audit: functions of rows, or of tables already built."""

from typing import TYPE_CHECKING, Any

from xorder._lazy import lazy_names
from xorder.metrics.audit import Audit, audit, audit_tables
from xorder.metrics.gaps import Gap
from xorder.metrics.matrix import GroupMatrix
from xorder.metrics.values import (
    parity_difference,
    prf_by_group,
    prf_difference,
    xauc_difference,
    xauc_matrix,
)

if TYPE_CHECKING:
    from xorder.metrics.scorers import (
        GapScorer,
        auc_minus_prf_difference,
        auc_minus_xauc_difference,
        make_gap_scorer,
        neg_parity_difference,
        neg_prf_difference,
        neg_xauc_difference,
    )

__all__ = [
    "Audit",
    "Gap",
    "GapScorer",
    "GroupMatrix",
    "auc_minus_prf_difference",
    "auc_minus_xauc_difference",
    "audit",
    "audit_tables",
    "make_gap_scorer",
    "neg_parity_difference",
    "neg_prf_difference",
    "neg_xauc_difference",
    "parity_difference",
    "prf_by_group",
    "prf_difference",
    "xauc_difference",
    "xauc_matrix",
]

# Scorers are made for scikit-learn, which is loaded when one is asked for.
_SCORERS = (
    "GapScorer",
    "auc_minus_prf_difference",
    "auc_minus_xauc_difference",
    "make_gap_scorer",
    "neg_parity_difference",
    "neg_prf_difference",
    "neg_xauc_difference",
)


def __getattr__(name: str) -> Any:
    return lazy_names(__name__, dict.fromkeys(_SCORERS, "scorers"))(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

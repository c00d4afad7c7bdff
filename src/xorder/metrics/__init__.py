"""Ranking fairness metrics and the audit: functions of rows, or of tables already built."""

from typing import TYPE_CHECKING

from xorder._lazy import lazy_names
from xorder.metrics._audit import Audit, GroupMatrix
from xorder.metrics._cuts import CutGap, Threshold
from xorder.metrics._functions import parity_difference, prf_by_group, prf_difference, xauc_difference, xauc_matrix
from xorder.metrics._gaps import Difference, Gap
from xorder.metrics._make_audit import audit, audit_tables

if TYPE_CHECKING:
    from xorder.metrics._compare import Comparison, compare, compare_audits, compare_map
    from xorder.metrics._ll144 import ll144
    from xorder.metrics._plan import Plan, plan
    from xorder.metrics._scorers import (
        GapScorer,
        auc_minus_prf_difference,
        auc_minus_xauc_difference,
        make_gap_scorer,
        neg_parity_difference,
        neg_prf_difference,
        neg_xauc_difference,
    )
    from xorder.metrics._sheet import AuditTable

__all__ = [
    "Audit",
    "AuditTable",
    "Comparison",
    "CutGap",
    "Difference",
    "Gap",
    "GapScorer",
    "GroupMatrix",
    "Plan",
    "Threshold",
    "auc_minus_prf_difference",
    "auc_minus_xauc_difference",
    "audit",
    "audit_tables",
    "compare",
    "compare_audits",
    "compare_map",
    "ll144",
    "make_gap_scorer",
    "neg_parity_difference",
    "neg_prf_difference",
    "neg_xauc_difference",
    "parity_difference",
    "plan",
    "prf_by_group",
    "prf_difference",
    "xauc_difference",
    "xauc_matrix",
]

# Comparisons and tables are asked for by few, and scorers are made for scikit-learn, which is slow to load.
_COMPARING = ("Comparison", "compare", "compare_audits", "compare_map")
_LATER = {name: "_compare" if name in _COMPARING else "_scorers" for name in __all__ if name not in globals()}
_LATER |= {"AuditTable": "_sheet", "Plan": "_plan", "ll144": "_ll144", "plan": "_plan"}

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Ranking fairness metrics and the audit: functions of rows, or of tables already built."""

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

__all__ = [
    "Audit",
    "Gap",
    "GroupMatrix",
    "audit",
    "audit_tables",
    "parity_difference",
    "prf_by_group",
    "prf_difference",
    "xauc_difference",
    "xauc_matrix",
]

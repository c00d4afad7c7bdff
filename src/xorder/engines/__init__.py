"""Rows where they are: tables and audits of frames and files, and score maps applied to them."""

from xorder.engines._apply import Applied, apply_to_file, apply_to_frame
from xorder.engines._ll144 import ll144_frame
from xorder.engines._match_groups import GroupMaps
from xorder.engines._tables import audit_frame, compare_frame, tables_of

__all__ = [
    "Applied",
    "GroupMaps",
    "apply_to_file",
    "apply_to_frame",
    "audit_frame",
    "compare_frame",
    "ll144_frame",
    "tables_of",
]

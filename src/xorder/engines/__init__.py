"""Rows where they are: tables and audits of frames and files, and score maps applied to them."""

from xorder.engines._apply import apply_to_file, apply_to_frame, check_matched
from xorder.engines._files import files_of
from xorder.engines._match_groups import GroupMaps, warn_of_other_scale
from xorder.engines._tables import BINS, audit_frame, tables_of

__all__ = [
    "BINS",
    "GroupMaps",
    "apply_to_file",
    "apply_to_frame",
    "audit_frame",
    "check_matched",
    "files_of",
    "tables_of",
    "warn_of_other_scale",
]

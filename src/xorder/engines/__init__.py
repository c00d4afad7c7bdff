"""Rows where they are: tables and audits of frames and files, and score maps applied to them."""

from typing import TYPE_CHECKING

from xorder._lazy import lazy_names
from xorder.engines._apply import Applied, apply_to_file, apply_to_frame
from xorder.engines._match_groups import GroupMaps
from xorder.engines._tables import audit_frame, compare_frame, tables_of

if TYPE_CHECKING:
    from xorder.engines._ll144 import ll144_frame

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

# The table of a law is asked for by few.
__getattr__ = lazy_names(__name__, {"ll144_frame": "_ll144"})


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

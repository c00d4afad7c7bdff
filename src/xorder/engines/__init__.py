"""Rows where they are: tables and audits of frames and files, and score maps applied to them."""

from typing import TYPE_CHECKING

from xorder._lazy import lazy_names

if TYPE_CHECKING:
    from xorder.engines._apply import Applied, apply_to_file, apply_to_frame
    from xorder.engines._apply_cut import CutMoves
    from xorder.engines._ll144 import ll144_frame
    from xorder.engines._match_groups import GroupMaps
    from xorder.engines._tables import audit_frame, compare_frame, tables_of

__all__ = [
    "Applied",
    "CutMoves",
    "GroupMaps",
    "apply_to_file",
    "apply_to_frame",
    "audit_frame",
    "compare_frame",
    "ll144_frame",
    "tables_of",
]

# Who reads rows need not write them, and a map is held without either.
_LATER = {
    **dict.fromkeys(("Applied", "apply_to_file", "apply_to_frame"), "_apply"),
    **dict.fromkeys(("audit_frame", "compare_frame", "tables_of"), "_tables"),
    **{"CutMoves": "_apply_cut", "GroupMaps": "_match_groups", "ll144_frame": "_ll144"},
}

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Rows where they are: tables and audits of frames and files, and score maps applied to them."""

from xorder.engines.adjusted_file import adjust_file
from xorder.engines.apply import map_frame
from xorder.engines.apply_file import map_file
from xorder.engines.file_tables import files_of, tables_of_file
from xorder.engines.frame_audit import audit_frame, notes_of
from xorder.engines.frame_tables import FrameTables, tables_of_frame
from xorder.engines.rows import Rows, add_column, check_rows, read_rows

__all__ = [
    "FrameTables",
    "Rows",
    "add_column",
    "adjust_file",
    "audit_frame",
    "check_rows",
    "files_of",
    "map_file",
    "map_frame",
    "notes_of",
    "read_rows",
    "tables_of_file",
    "tables_of_frame",
]

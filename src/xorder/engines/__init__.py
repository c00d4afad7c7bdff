"""Files of rows: read scores, labels and groups from csv or parquet; write a file with one more column."""

from xorder.engines.rows import Rows, add_column, read_rows

__all__ = ["Rows", "add_column", "read_rows"]

"""A report people want to open: one self-contained HTML page on how a score ranks each group."""

from xorder.reporting._report import Report, report, report_tables

__all__ = ["Report", "report", "report_tables"]

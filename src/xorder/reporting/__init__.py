"""For people to read: one HTML page on how a score ranks each group, and statements for reviewers as Markdown."""

from xorder.reporting._report import Report, report, report_frame, report_tables
from xorder.reporting._statements import statements

__all__ = ["Report", "report", "report_frame", "report_tables", "statements"]

"""xorder: audit how fairly a risk score ranks people of different groups, and repair it after the fact."""

import sklearn  # noqa: F401  # loads a tenth of a second faster before other modules than after them

from xorder import datasets, exceptions, metrics
from xorder._table import ScoreTable
from xorder.engines import audit_frame
from xorder.estimators import ExpectedDisparity, FairRanker, XOrder, expected_disparity, load
from xorder.metrics import Audit, Gap, audit
from xorder.ordering import Disparity, Frontier, Ordering, frontier, order
from xorder.report import Report, report, report_tables
from xorder.transfer import ScoreMap

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Disparity",
    "ExpectedDisparity",
    "FairRanker",
    "Frontier",
    "Gap",
    "Ordering",
    "Report",
    "ScoreMap",
    "ScoreTable",
    "XOrder",
    "audit",
    "audit_frame",
    "datasets",
    "exceptions",
    "expected_disparity",
    "frontier",
    "load",
    "metrics",
    "order",
    "report",
    "report_tables",
]

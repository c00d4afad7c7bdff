"""xorder: audit how fairly a risk score ranks people of different groups, and repair it after the fact."""

from typing import TYPE_CHECKING

from xorder import datasets, exceptions, metrics
from xorder._lazy import lazy_names
from xorder._metric import PairGains
from xorder._table import ScoreTable
from xorder.engines import audit_frame, compare_frame
from xorder.estimators import ExpectedGap
from xorder.metrics import Audit, CutGap, Gap, Threshold, audit
from xorder.ordering import Frontier, Ordering, frontier, order
from xorder.reporting import Report, report, report_tables, statements
from xorder.transfer import ScoreMap

if TYPE_CHECKING:
    from xorder.estimators import FairRanker, XOrder, expected_gap, load
    from xorder.metrics import Comparison, compare

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Comparison",
    "CutGap",
    "ExpectedGap",
    "FairRanker",
    "Frontier",
    "Gap",
    "Ordering",
    "PairGains",
    "Report",
    "ScoreMap",
    "ScoreTable",
    "Threshold",
    "XOrder",
    "audit",
    "audit_frame",
    "compare",
    "compare_frame",
    "datasets",
    "exceptions",
    "expected_gap",
    "frontier",
    "load",
    "metrics",
    "order",
    "report",
    "report_tables",
    "statements",
]

# What needs scikit-learn is loaded when it is asked for: the command line does without.
_LATER = dict.fromkeys(("FairRanker", "XOrder", "expected_gap", "load"), "estimators") | {"plotting": "plotting"}
_LATER |= dict.fromkeys(("Comparison", "compare"), "metrics")


__getattr__ = lazy_names(__name__, _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

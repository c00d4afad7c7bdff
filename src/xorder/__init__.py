"""xorder: audit how fairly a risk score ranks people of different groups, and repair it after the fact."""

from typing import TYPE_CHECKING

from xorder._lazy import lazy_names

if TYPE_CHECKING:
    from xorder import datasets, exceptions, metrics
    from xorder import plotting as plotting
    from xorder._metric import PairGains
    from xorder._table import ScoreTable
    from xorder.engines import audit_frame, compare_frame
    from xorder.estimators import ExpectedGap, FairRanker, XOrder, expected_gap, load
    from xorder.metrics import Audit, Comparison, CutGap, Gap, Plan, Threshold, audit, compare, plan
    from xorder.ordering import Frontier, Ordering, frontier, order
    from xorder.reporting import Report, report, report_frame, report_tables, statements
    from xorder.transfer import ScoreMap

__version__ = "0.2.0"

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
    "Plan",
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
    "plan",
    "report",
    "report_frame",
    "report_tables",
    "statements",
]

# Everything is loaded when it is asked for: `xorder --help` then needs no numpy, and an audit no repair.
_LATER = {
    name: module
    for module, names in {
        "_metric": ("PairGains",),
        "_table": ("ScoreTable",),
        "engines": ("audit_frame", "compare_frame", "engines"),
        "estimators": ("ExpectedGap", "FairRanker", "XOrder", "estimators", "expected_gap", "load"),
        "metrics": ("Audit", "Comparison", "CutGap", "Gap", "Plan", "Threshold", "audit", "compare", "metrics", "plan"),
        "ordering": ("Frontier", "Ordering", "frontier", "order", "ordering"),
        "reporting": ("Report", "report", "report_frame", "report_tables", "reporting", "statements"),
        "transfer": ("ScoreMap", "transfer"),
        "datasets": ("datasets",),
        "exceptions": ("exceptions",),
        "plotting": ("plotting",),
    }.items()
    for name in names
}

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})

"""Pictures of audits and repairs, in the manner of scikit-learn: each holds its numbers, and ``plot`` draws them."""

from typing import TYPE_CHECKING

from xorder._lazy import lazy_names

if TYPE_CHECKING:
    from xorder.plotting._calibration import CalibrationByGroupDisplay
    from xorder.plotting._cross_roc import CrossRocDisplay
    from xorder.plotting._cut_gap import CutGapDisplay
    from xorder.plotting._score_map import ScoreMapDisplay
    from xorder.plotting._score_shift import ScoreShiftDisplay
    from xorder.plotting._tradeoff import TradeoffDisplay
    from xorder.plotting._xauc_matrix import XaucMatrixDisplay

__all__ = [
    "CalibrationByGroupDisplay",
    "CrossRocDisplay",
    "CutGapDisplay",
    "ScoreMapDisplay",
    "ScoreShiftDisplay",
    "TradeoffDisplay",
    "XaucMatrixDisplay",
]

# Displays know estimators, and so need scikit-learn; a page that draws the same curves does without.
_MODULES = dict(
    zip(
        __all__,
        ("_calibration", "_cross_roc", "_cut_gap", "_score_map", "_score_shift", "_tradeoff", "_xauc_matrix"),
        strict=True,
    )
)


__getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

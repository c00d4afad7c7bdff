"""Pictures of audits and repairs, in the manner of scikit-learn: each holds its numbers, and ``plot`` draws them."""

from xorder.plotting.calibration import CalibrationByGroupDisplay
from xorder.plotting.cross_roc import CrossRocDisplay
from xorder.plotting.score_map import ScoreMapDisplay
from xorder.plotting.score_shift import ScoreShiftDisplay
from xorder.plotting.tradeoff import TradeoffDisplay
from xorder.plotting.xauc_matrix import XaucMatrixDisplay

__all__ = [
    "CalibrationByGroupDisplay",
    "CrossRocDisplay",
    "ScoreMapDisplay",
    "ScoreShiftDisplay",
    "TradeoffDisplay",
    "XaucMatrixDisplay",
]

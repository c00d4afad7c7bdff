"""Pictures of audits and repairs, in the manner of scikit-learn: each holds its numbers, and ``plot`` draws them."""

from xorder.plotting._calibration import CalibrationByGroupDisplay
from xorder.plotting._cross_roc import CrossRocDisplay
from xorder.plotting._cut_gap import CutGapDisplay
from xorder.plotting._gap import GapDisplay
from xorder.plotting._moves import MovesDisplay
from xorder.plotting._net_benefit import NetBenefitDisplay
from xorder.plotting._score_map import ScoreMapDisplay
from xorder.plotting._score_shift import ScoreShiftDisplay
from xorder.plotting._tradeoff import TradeoffDisplay
from xorder.plotting._xauc_matrix import XaucMatrixDisplay

__all__ = [
    "CalibrationByGroupDisplay",
    "CrossRocDisplay",
    "CutGapDisplay",
    "GapDisplay",
    "MovesDisplay",
    "NetBenefitDisplay",
    "ScoreMapDisplay",
    "ScoreShiftDisplay",
    "TradeoffDisplay",
    "XaucMatrixDisplay",
]

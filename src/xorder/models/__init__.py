"""The paper's base scorers, as scikit-learn classifiers."""

from xorder.models._linear import LinearScorer, PairwiseLinearScorer, pairwise_squared_hinge
from xorder.models._rankboost import RankBoost

__all__ = ["LinearScorer", "PairwiseLinearScorer", "RankBoost", "pairwise_squared_hinge"]

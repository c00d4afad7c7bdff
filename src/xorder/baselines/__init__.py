"""What the paper compares with."""

from xorder._lazy import lazy_names
from xorder.baselines.post_logit import PostLogit

__all__ = [
    "ConstrainedRanker",
    "CorrelationRegularized",
    "FairRankingProblem",
    "PairBatch",
    "PostLogit",
    "pair_batches",
    "pairwise_correlation",
]

# These need torch.
__getattr__ = lazy_names(
    __name__,
    {
        "ConstrainedRanker": "constrained",
        "CorrelationRegularized": "correlation",
        "FairRankingProblem": "constrained_problem",
        "PairBatch": "pairs",
        "pair_batches": "pairs",
        "pairwise_correlation": "correlation",
    },
)

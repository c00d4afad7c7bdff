"""What the paper compares with: one logistic function after training, and two ways to train for a small gap."""

from xorder._lazy import lazy_names
from xorder.baselines._post_logit import PostLogit

__all__ = [
    "ConstrainedRanker",
    "CorrelationRegularized",
    "FairRankingProblem",
    "PairBatch",
    "PostLogit",
    "pair_batches",
    "pairwise_correlation",
]

# They need torch, which takes seconds to load and may be missing.
__getattr__ = lazy_names(
    __name__,
    {
        "ConstrainedRanker": "_constrained",
        "CorrelationRegularized": "_correlation",
        "FairRankingProblem": "_constrained",
        "PairBatch": "_pairs",
        "pair_batches": "_pairs",
        "pairwise_correlation": "_correlation",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""What the paper compares with: one logistic function after training, and two ways to train for a small gap."""

from xorder._lazy import lazy_names
from xorder.baselines._post_logit import PostLogit

# They need torch, which takes seconds to load and may be missing.
_LATER = {
    "ConstrainedRanker": "_constrained",
    "CorrelationRegularized": "_correlation",
    "FairRankingProblem": "_constrained",
    "PairBatch": "_pairs",
    "pair_batches": "_pairs",
    "pairwise_correlation": "_correlation",
}

__all__ = ["PostLogit", *_LATER]

__getattr__ = lazy_names(__name__, _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""What the paper compares with: one logistic function after training, and two ways to train for a small gap."""

from typing import TYPE_CHECKING

from xorder._lazy import lazy_names
from xorder.baselines._post_logit import PostLogit

if TYPE_CHECKING:
    from xorder.baselines._constrained import ConstrainedRanker, FairRankingProblem, PairBatch, pair_batches
    from xorder.baselines._correlation import CorrelationRegularized, pairwise_correlation

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
_LATER = dict.fromkeys(("ConstrainedRanker", "FairRankingProblem", "PairBatch", "pair_batches"), "_constrained")
_LATER |= dict.fromkeys(("CorrelationRegularized", "pairwise_correlation"), "_correlation")

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""What the paper compares with."""

from functools import partial

from xorder._lazy import lazy_names
from xorder._optional import import_optional
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

_MODULES = {
    "ConstrainedRanker": "_constrained",
    "CorrelationRegularized": "_correlation",
    "FairRankingProblem": "_constrained",
    "PairBatch": "_pairs",
    "pair_batches": "_pairs",
    "pairwise_correlation": "_correlation",
}

_NEEDS = {
    "_constrained": ("torch", "cooper"),
    "_correlation": ("torch",),
    "_pairs": ("torch",),
}

__getattr__ = lazy_names(__name__, _MODULES, needs=_NEEDS, require=partial(import_optional, extra="train"))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

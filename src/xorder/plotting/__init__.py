"""Display classes in scikit-learn's manner: they hold numbers, ``plot`` draws them (extra ``plot``)."""

from xorder.plotting.tradeoff import TradeoffDisplay

__all__ = ["TradeoffDisplay"]

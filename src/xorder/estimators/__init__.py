"""Estimators in scikit-learn's manner."""

from xorder.estimators.xorder import XOrder, load

__all__ = ["XOrder", "load"]

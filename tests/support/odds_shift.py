"""Repairs that are quick and know any number of groups: one shift of the log-odds for each but the first, or none."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator

from xorder.exceptions import InputError


class OddsShift(BaseEstimator):
    """Shift each group's log-odds until it is on equal terms with the first group."""

    def __init__(self, metric="xauc", max_gap=0.0):
        self.metric = metric
        self.max_gap = max_gap

    def fit(self, y_score, y_true, *, sensitive_features, sample_weight=None):
        groups, code = np.unique(np.asarray(sensitive_features), return_inverse=True)
        weight = np.ones(len(y_score)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        odds = logit(np.clip(y_score, 1e-6, 1 - 1e-6))
        positive = np.asarray(y_true) == 1
        parts = [
            [(odds[mask], weight[mask]) for mask in ((code == k) & positive, (code == k) & ~positive)]
            for k in range(len(groups))
        ]
        for group, part in zip(groups.tolist(), parts, strict=True):
            if min(len(scores) for scores, _ in part) == 0:
                raise InputError(f"group {group!r} lacks a class.")
        self.shifts_ = {group: _balance(parts[0], part) for group, part in zip(groups.tolist(), parts, strict=True)}
        return self

    def transform(self, y_score, *, sensitive_features):
        groups = np.asarray(sensitive_features)
        for group in np.unique(groups).tolist():
            if group not in self.shifts_:
                raise InputError(f"group {group!r} was not seen in fit.")
        shift = np.array([self.shifts_[group] for group in groups.tolist()])
        moved = expit(logit(np.clip(y_score, 1e-6, 1 - 1e-6)) + shift)
        return np.where(shift == 0, y_score, moved)


class Leave(BaseEstimator):
    """A repair that asks nothing of its rows and moves nobody."""

    def fit(self, y_score, y_true, *, sensitive_features, sample_weight=None):
        self.fitted_ = True
        return self

    def transform(self, y_score, *, sensitive_features):
        return np.asarray(y_score)


def _balance(first, other):
    low, high = -20.0, 20.0
    if first is other:
        return 0.0
    for _ in range(40):
        middle = (low + high) / 2
        lead = _outranks(first[0], other[1], -middle) - _outranks(other[0], first[1], middle)
        low, high = (middle, high) if lead > 0 else (low, middle)
    return (low + high) / 2


def _outranks(positives, negatives, shift):
    """Chance that one of the positives, moved by a shift, outranks one of the negatives."""
    order = np.argsort(negatives[0])
    below = np.append(0.0, np.cumsum(negatives[1][order]))
    found = below[np.searchsorted(negatives[0][order], positives[0] + shift)]
    return float(found @ positives[1] / (positives[1].sum() * below[-1]))

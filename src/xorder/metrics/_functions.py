"""The metrics as plain functions of rows, for any number of groups.

All take ``y_true, y_score, *, sensitive_features, sample_weight=None``. Groups are listed in sorted order. A
group without positives or without negatives gives ``nan`` where its own rows are needed.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations
from typing import Any

import numpy as np

from xorder._metric import METRICS, prf_of
from xorder._validation import check_tables
from xorder.exceptions import InputError
from xorder.metrics._audit import GroupMatrix
from xorder.metrics._gaps import Pair
from xorder.metrics._placements import moments


def xauc_matrix(y_true: Any, y_score: Any, *, sensitive_features: Any, sample_weight: Any = None) -> GroupMatrix:
    r"""Chance that a positive of one group (row) outranks a negative of another (column).

    .. math:: A[g, h] = P(S_g^+ > S_h^-) + \tfrac12 P(S_g^+ = S_h^-)

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, 1 for the positive class, 0 for the other.
    y_score : array-like of shape (n_samples,)
        Scores; the higher, the higher the rank.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.

    Returns
    -------
    GroupMatrix
        The chances, by label or as an array.

    References
    ----------
    .. [1] Kallus and Zhou (2019), The fairness of risk scores beyond classification: bipartite ranking and the xAUC
       metric, NeurIPS.

    Examples
    --------
    >>> groups = ["x", "x", "x", "y", "y", "y"]
    >>> print(xauc_matrix([1, 0, 0, 1, 1, 0], [0.9, 0.5, 0.1, 0.6, 0.3, 0.2], sensitive_features=groups))
                 x       y
    x       1.0000  1.0000
    y       0.7500  1.0000
    """
    tables = check_tables(y_true, y_score, sensitive_features, sample_weight)
    return GroupMatrix(tuple(tables), moments(list(tables.values())).xauc)


def prf_by_group(
    y_true: Any, y_score: Any, *, sensitive_features: Any, sample_weight: Any = None
) -> dict[Hashable, float]:
    """Chance that a positive of each group outranks a negative of any group (pairwise ranking fairness).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, 1 for the positive class, 0 for the other.
    y_score : array-like of shape (n_samples,)
        Scores; the higher, the higher the rank.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.

    Returns
    -------
    dict
        Group -> chance.

    References
    ----------
    .. [1] Beutel et al. (2019), Fairness in recommendation ranking through pairwise comparisons, KDD.
    .. [2] Narasimhan et al. (2020), Pairwise fairness for ranking and regression, AAAI.

    Examples
    --------
    >>> groups = ["x", "x", "x", "y", "y", "y"]
    >>> prf = prf_by_group([1, 0, 0, 1, 1, 0], [0.9, 0.5, 0.1, 0.6, 0.3, 0.2], sensitive_features=groups)
    >>> {group: round(value, 4) for group, value in prf.items()}
    {'x': 1.0, 'y': 0.8333}
    """
    tables = check_tables(y_true, y_score, sensitive_features, sample_weight)
    return dict(zip(tables, prf_of(moments(list(tables.values()))).tolist(), strict=True))


def xauc_difference(
    y_true: Any, y_score: Any, *, sensitive_features: Any, sample_weight: Any = None, pair: Pair | None = None
) -> float:
    """Signed gap xAUC(a, b) - xAUC(b, a) of a pair of groups.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, 1 for the positive class, 0 for the other.
    y_score : array-like of shape (n_samples,)
        Scores; the higher, the higher the rank.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    pair : tuple, default=None
        Labels of two groups, first minus second; by default the pair, in sorted order, whose gap is widest.

    Returns
    -------
    float
        The signed gap; ``nan`` if the gap of any pair considered is.

    References
    ----------
    .. [1] Kallus and Zhou (2019), The fairness of risk scores beyond classification: bipartite ranking and the xAUC
       metric, NeurIPS.

    Examples
    --------
    >>> groups = ["x", "x", "x", "y", "y", "y"]
    >>> xauc_difference([1, 0, 0, 1, 1, 0], [0.9, 0.5, 0.1, 0.6, 0.3, 0.2], sensitive_features=groups)
    0.25
    """
    return _difference("xauc", y_true, y_score, sensitive_features, sample_weight, pair)


def prf_difference(
    y_true: Any, y_score: Any, *, sensitive_features: Any, sample_weight: Any = None, pair: Pair | None = None
) -> float:
    """Signed gap PRF(a) - PRF(b) of a pair of groups.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, 1 for the positive class, 0 for the other.
    y_score : array-like of shape (n_samples,)
        Scores; the higher, the higher the rank.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    pair : tuple, default=None
        Labels of two groups, first minus second; by default the pair, in sorted order, whose gap is widest.

    Returns
    -------
    float
        The signed gap; ``nan`` if the gap of any pair considered is.

    References
    ----------
    .. [1] Beutel et al. (2019), Fairness in recommendation ranking through pairwise comparisons, KDD.
    .. [2] Narasimhan et al. (2020), Pairwise fairness for ranking and regression, AAAI.
    """
    return _difference("prf", y_true, y_score, sensitive_features, sample_weight, pair)


def parity_difference(
    y_true: Any, y_score: Any, *, sensitive_features: Any, sample_weight: Any = None, pair: Pair | None = None
) -> float:
    """Signed label-free gap Pr(S_a > S_b) - Pr(S_b > S_a) of a pair of groups.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, 1 for the positive class, 0 for the other.
    y_score : array-like of shape (n_samples,)
        Scores; the higher, the higher the rank.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    pair : tuple, default=None
        Labels of two groups, first minus second; by default the pair, in sorted order, whose gap is widest.

    Returns
    -------
    float
        The signed gap; ``nan`` if the gap of any pair considered is.
    """
    return _difference("parity", y_true, y_score, sensitive_features, sample_weight, pair)


def _difference(
    metric: str, y_true: Any, y_score: Any, sensitive_features: Any, sample_weight: Any, pair: Pair | None
) -> float:
    tables = check_tables(y_true, y_score, sensitive_features, sample_weight)
    groups = list(tables)
    if pair is not None and not (len(pair) == 2 and set(pair) <= set(groups)):
        raise InputError(f"pair must name two of the groups {groups}; got {pair!r}.")
    if len(groups) < 2:
        raise InputError(f"a gap needs two groups; sensitive_features holds {groups[0]!r} only.")
    m = moments(list(tables.values()))
    pairs = combinations(groups, 2) if pair is None else [pair]
    gaps = np.array([METRICS[metric].estimate(m, groups.index(a), groups.index(b))[0] for a, b in pairs])
    # argmax of an array with nan is the first nan
    return float(gaps[np.abs(gaps).argmax()])

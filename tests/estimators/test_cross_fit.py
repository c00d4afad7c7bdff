"""How rows of tables are dealt to folds; what comes of trying a repair in them is in test_expected.py."""

from __future__ import annotations

import numpy as np

from xorder.estimators._cross_fit import _dealt


def test_folds_are_equal_and_hold_everybody_once():
    rows = np.array([1, 0, 7, 500, 3, 1, 1, 88])
    dealt = _dealt(rows, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(dealt, np.rint(dealt))
    np.testing.assert_array_equal(dealt.sum(axis=1), rows)
    assert np.ptp(dealt.sum(axis=0)) <= 1
    assert (dealt[3] > 80).all(), "a score that many share goes to all folds"


def test_billions_are_dealt_too():
    rows = np.array([3_000_000_000, 1, 2_000_000_000])
    dealt = _dealt(rows, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(dealt.sum(axis=1), rows)
    assert dealt[0].min() > 0.19 * rows[0]

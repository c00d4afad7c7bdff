"""scikit-learn's own checks of estimators, for the repairs of scores."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from support.effort import LONG
from xorder import XOrder
from xorder.baselines import PostLogit


class OfInputs:
    """Makes what the checks do not pass from what they do: a score and a group from the inputs, two classes."""

    def fit(self, X, y, sample_weight=None):
        X, y = validate_data(self, X, y, dtype=np.float64)
        score, groups = _score_and_groups(X)
        return super().fit(score, np.floor(y) % 2 == 1, sensitive_features=groups, sample_weight=sample_weight)

    def transform(self, X):
        score, groups = _score_and_groups(validate_data(self, X, reset=False, dtype=np.float64))
        return super().transform(score, sensitive_features=groups).reshape(-1, 1)

    def fit_transform(self, X, y, sample_weight=None):
        return self.fit(X, y, sample_weight).transform(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        return tags


class XOrderOfInputs(OfInputs, XOrder):
    pass


class PostLogitOfInputs(OfInputs, PostLogit):
    pass


def _score_and_groups(X):
    """The first input is the score; whole numbers go to the two groups in pairs, others by their digits."""
    whole = np.floor(np.abs(X[:, 0]) % 1e6)
    odd = (np.floor((whole + 1) / 2) + np.floor((np.abs(X[:, 0]) % 1) * 31.5)) % 2 == 1
    return X[:, 0], np.where(odd, "odd", "even")


CANNOT_APPLY = {
    "check_fit2d_1sample": "one person is one group; the refusal asks for two groups, the check for words on samples",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")
@parametrize_with_checks(
    [
        XOrderOfInputs(),
        *[XOrderOfInputs(small_groups="repair", do_no_harm=False)] * LONG,
        XOrderOfInputs(small_groups="repair", method="frontier"),
        PostLogitOfInputs(),
    ],
    expected_failed_checks=lambda estimator: CANNOT_APPLY,
)
def test_scikit_learn_checks(estimator, check):
    # Arrays of other libraries are turned into NumPy's; there is nothing of theirs to check.
    if getattr(check, "func", check).__name__ != "check_array_api_input":
        check(estimator)

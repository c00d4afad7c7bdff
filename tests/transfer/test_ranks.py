import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xorder.transfer import middle_ranks

scores = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=12)


@given(scores)
def test_rank_is_the_share_below_plus_half_the_ties(values):
    expected = [
        (sum(other < value for other in values) + sum(other == value for other in values) / 2) / len(values)
        for value in values
    ]
    np.testing.assert_allclose(middle_ranks(values), expected)


@given(scores, st.data())
def test_mass_counts_as_rows(values, data):
    mass = data.draw(st.lists(st.integers(1, 3), min_size=len(values), max_size=len(values)))
    often = middle_ranks(np.repeat(values, mass))
    np.testing.assert_allclose(middle_ranks(values, mass), often[np.cumsum(mass) - 1])


@given(scores)
def test_ranks_depend_on_the_order_only(values):
    np.testing.assert_array_equal(middle_ranks(values), middle_ranks(np.exp(values)))


def test_one_score_is_in_the_middle():
    np.testing.assert_array_equal(middle_ranks([17.0]), [0.5])

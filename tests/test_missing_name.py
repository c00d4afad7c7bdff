"""A group that is called what people without a group are called."""

import numpy as np
import pytest

from xorder import XOrder
from xorder._groups import naming_missing
from xorder.datasets import simulate_population
from xorder.exceptions import InputError


@pytest.mark.parametrize("choice", ["leave", "group"])
@pytest.mark.parametrize("nothing", [None, np.nan])
def test_it_is_not_mixed_up_with_people_without_a_group(choice, nothing):
    people = simulate_population(600, random_state=0)
    group = people.group.astype(object)
    group[::5], group[1::5] = "missing", nothing
    with pytest.raises(InputError, match="a group that is called 'missing', as rows without a group are called"):
        XOrder(missing_group=choice).fit(people.y_score, people.y_true, sensitive_features=group)


def test_each_alone_is_fine():
    assert naming_missing(["missing", "A"]).tolist() == ["missing", "A"]
    assert naming_missing([None, "A", np.nan]).tolist() == ["missing", "A", "missing"]

"""What a missing or unseen group is: one rule, in arrays here, in engines and on the command line elsewhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import xorder
from xorder import XOrder
from xorder._groups import is_missing, look_alike
from xorder.datasets import simulate_population
from xorder.exceptions import InputError, XorderWarning

PEOPLE = simulate_population(600, random_state=0)


def with_missing(nothing: object) -> np.ndarray:
    groups = PEOPLE.group.astype(object)
    groups[[7, 70, 300]] = nothing
    return groups


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA, pd.NaT], ids=repr)
def test_missing_groups_in_audits_and_repairs(nothing: object) -> None:
    groups = with_missing(nothing)
    known = np.array([not is_missing(group) for group in groups])
    with pytest.raises(InputError, match="3 rows have none, the first in row 7"):
        xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=groups)
    with pytest.warns(XorderWarning, match="^3 rows without a group are left out.$"):
        left = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=groups, missing_group="leave")
    alone = xorder.audit(PEOPLE.y_true[known], PEOPLE.y_score[known], sensitive_features=PEOPLE.group[known])
    assert left.to_dict() == alone.to_dict()
    with pytest.warns(XorderWarning, match="'missing'"):
        own = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=groups, missing_group="group")
    assert own.groups == ("A", "B", "missing")
    assert own.positives["missing"] + own.negatives["missing"] == 3

    repair = XOrder(missing_group="leave")
    with pytest.warns(XorderWarning, match="3 rows without a group are left out"):
        repair.fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=groups)
    adjusted = repair.transform(PEOPLE.y_score, sensitive_features=groups)
    np.testing.assert_array_equal(adjusted[~known], PEOPLE.y_score[~known])
    assert not np.array_equal(adjusted[known], PEOPLE.y_score[known])


def test_unseen_groups_are_refused_or_left() -> None:
    repair = XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    groups = np.where(np.arange(600) % 100 == 3, "C", PEOPLE.group)
    with pytest.raises(InputError, match=r"group 'C' was not seen in fit \(6 rows, the first in row 3\)"):
        repair.transform(PEOPLE.y_score, sensitive_features=groups)
    left = repair.set_params(unseen_group="leave").transform(PEOPLE.y_score, sensitive_features=groups)
    whole = repair.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group)
    np.testing.assert_array_equal(left, np.where(groups == "C", PEOPLE.y_score, whole))


def test_a_choice_that_is_none() -> None:
    with pytest.raises(InputError, match="missing_group must be one of error, leave, group; got 'drop'"):
        xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, missing_group="drop")


def test_groups_that_look_alike_are_said() -> None:
    assert look_alike(["A", "B", 1]) == []
    (said,) = look_alike(["Female", "Female ", "female", "Male"])
    assert said.startswith("groups 'Female', 'Female ', 'female' differ in blanks or case alone")
    groups = np.where(np.arange(600) % 2 == 0, np.char.add(PEOPLE.group, " "), PEOPLE.group)
    with pytest.warns(XorderWarning, match="differ in blanks or case alone"):
        assert len(xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=groups).groups) == 4


def test_indexes_with_the_same_labels_in_another_order_are_questioned() -> None:
    frame = pd.DataFrame({"s": PEOPLE.y_score, "y": PEOPLE.y_true, "g": PEOPLE.group})
    shuffled = frame.sample(frac=1, random_state=0)
    with pytest.warns(XorderWarning, match=r"y_true and y_score have the same pandas index in another order") as told:
        xorder.audit(frame.y, shuffled.s, sensitive_features=shuffled.g)
    assert told[0].filename == __file__
    # Other labels, and the same in the same order, are fine.
    other = shuffled.reset_index(drop=True).set_axis(range(1000, 1600))
    xorder.audit(other.y, other.s.set_axis(range(600)), sensitive_features=other.g)
    mixed = shuffled.set_axis([str(row) if row % 2 else row for row in range(600)])
    with pytest.warns(XorderWarning, match="in another order"):
        xorder.audit(mixed.y[::-1], mixed.s, sensitive_features=mixed.g)

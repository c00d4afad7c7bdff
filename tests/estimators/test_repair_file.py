"""A fitted repair, saved and read back; what is refused is in tests/transfer/test_map_file.py."""

from __future__ import annotations

import numpy as np

import xorder
from support.shifted_groups import population
from xorder import XOrder
from xorder.datasets import simulate_population


def sample():
    people = simulate_population(300)
    return people.y_score, people.y_true, people.group


def test_settings_of_numpy_types_can_be_saved(tmp_path):
    score, label, group = sample()
    repair = XOrder(tradeoff=np.float32(0.5)).fit(score, label, sensitive_features=group)
    repair.save(tmp_path / "map.json")
    assert xorder.load(tmp_path / "map.json").tradeoff == 0.5


def test_bounds_survive_saving(tmp_path):
    score, label, group = sample()
    repair = XOrder(bounds=(0, 2)).fit(score, label, sensitive_features=group)
    repair.save(tmp_path / "map.json")
    again = xorder.load(tmp_path / "map.json")
    assert list(again.bounds) == [0, 2]
    np.testing.assert_array_equal(
        again.transform(score, sensitive_features=group), repair.transform(score, sensitive_features=group)
    )


def test_a_saved_repair_of_many_groups_comes_back(tmp_path):
    score, y, group = population()
    repair = XOrder(metric="prf").fit(score, y, sensitive_features=group)
    repair.save(tmp_path / "map.json")
    again = xorder.load(tmp_path / "map.json")
    np.testing.assert_array_equal(
        again.transform(score, sensitive_features=group), repair.transform(score, sensitive_features=group)
    )
    assert again.to_dict() == repair.to_dict()
    assert again.describe() == repair.describe()
    assert "Scores of groups B, C, D are adjusted; those of group A stay as they are." in again.describe()
    assert "largest gap left between any two groups: 0.0" in again.describe()

"""Within a tolerance, beyond it, or neither: the same rule for every pair."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from support.effort import draws
from xorder import audit, audit_frame
from xorder.datasets import simulate_population
from xorder.exceptions import InputError


def found(size: int = 3000, **options: object):
    people = simulate_population(size)
    return audit(people.y_true, people.y_score, sensitive_features=people.group, **options)


def test_within_beyond_and_neither() -> None:
    result = found()
    low, high = result.gap("xauc", ("A", "B")).interval
    assert result.against(high + 0.001) == "within"
    assert result.against(low - 0.001) == "beyond"
    assert result.against((low + high) / 2) == "cannot tell"
    assert result.verdict is None
    assert found(tolerance=0.05).verdict == "beyond"
    assert found(tolerance=0.05).to_dict()["verdict"] == "beyond"
    assert result.against(1.0, metric="parity") == "within"


def test_cuts_count_if_they_are_asked_for() -> None:
    result = found()
    low, high = result.cut_gap(pair=("A", "B")).interval
    assert result.against(1.0, tolerance_cut=high + 0.001) == "within"
    assert result.against(1.0, tolerance_cut=0.02) == "beyond"
    assert result.against(1.0, tolerance_cut=(result.cut_gap().value + high) / 2) == "cannot tell"
    assert low < high
    # Of all cuts the worst alone is beyond.
    none = found(cuts=[0.01])
    assert none.against(1.0, tolerance_cut=0.1) == "beyond"


def test_a_group_of_few_rows_cannot_be_told() -> None:
    people = simulate_population(2000)
    group = people.group.astype(object)
    group[:12] = "C"
    result = audit(people.y_true, people.y_score, sensitive_features=group)
    assert result.too_few == ("C",)
    assert result.against(2.0) == "cannot tell"
    assert result.against(0.01) == "beyond", "what is beyond is so whatever the others are"


@pytest.mark.slow
def test_among_many_groups_at_the_tolerance_few_are_called_beyond() -> None:
    """Gaps of exactly 0 with a tolerance of 0: by Holm's rule about 5 % of samples have one that is beyond."""
    rng, beyond = np.random.default_rng(0), 0
    tries = draws(200)
    for _ in range(tries):
        group, label = rng.integers(0, 5, 1500), rng.integers(0, 2, 1500)
        result = audit(label, label + rng.normal(size=1500), sensitive_features=group, cuts=())
        beyond += result.against(0.0) == "beyond"
    # Three standard errors above; without the rule about 30 % would be.
    assert beyond <= 0.05 * tries + 3 * np.sqrt(0.05 * 0.95 * tries)


@pytest.mark.parametrize("wrong", [-0.1, float("nan"), "0.1"])
def test_a_tolerance_is_a_number_from_0_up(wrong: object) -> None:
    with pytest.raises(InputError, match="tolerance must be"):
        found(tolerance=wrong)


def test_frames_have_it_too() -> None:
    people = simulate_population(3000)
    frame = pl.DataFrame({"s": people.y_score, "y": people.y_true, "g": people.group})
    assert audit_frame(frame, score="s", label="y", group="g", tolerance=0.05).verdict == "beyond"

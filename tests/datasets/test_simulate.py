"""The simulated population does what its page says, and the same each time."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from xorder import audit
from xorder.datasets import Population, simulate_population
from xorder.exceptions import InputError


def gap(people: Population, metric: str = "xauc"):
    return audit(people.y_true, people.y_score, sensitive_features=people.group).gap(metric)


def test_columns():
    people = simulate_population(500)
    assert people.y_score.shape == people.y_true.shape == people.group.shape == (500,)
    assert people.y_score.dtype == np.float64
    assert 0 < people.y_score.min() < people.y_score.max() < 1
    assert set(people.y_true.tolist()) == {0, 1}
    assert set(people.group.tolist()) == {"A", "B"}
    with pytest.raises(FrozenInstanceError):
        people.group = people.group[:1]


def test_the_seed_decides_the_draw_and_leaves_the_global_state_alone():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    one, two, other = (simulate_population(100, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.y_score, two.y_score)
    np.testing.assert_array_equal(one.y_true, two.y_true)
    np.testing.assert_array_equal(one.group, two.group)
    assert not np.array_equal(one.y_score, other.y_score)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_group_b_is_under_ranked():
    found = gap(simulate_population(20_000))
    assert found.pair == ("A", "B")
    assert found.interval[0] > 0.15


def test_a_larger_penalty_makes_a_larger_gap():
    gaps = [gap(simulate_population(5000, penalty=penalty)).value for penalty in (0.0, 0.5, 1.0, 2.0)]
    assert gaps == sorted(gaps)
    assert gaps[-1] - gaps[0] > 0.3


def test_noise_makes_the_ranks_of_b_worse_and_leaves_those_of_a():
    clear, noisy = (simulate_population(20_000, noise_b=noise) for noise in (0.0, 2.0))
    before, after = (audit(p.y_true, p.y_score, sensitive_features=p.group).xauc for p in (clear, noisy))
    assert after["A", "A"] == before["A", "A"]
    assert after["B", "B"] < before["B", "B"] - 0.05


@pytest.mark.parametrize(("group", "center"), [("A", -0.8), ("B", -1.4)])
def test_outcomes_follow_the_latent_risk_of_each_group(group, center):
    people = simulate_population(40_000)
    # E[1 / (1 + exp(-z))] for z of N(center, 1.5), by adding up narrow strips
    z = np.linspace(center - 12, center + 12, 24_001)
    density = np.exp(-((z - center) ** 2) / (2 * 1.5**2)) / (1.5 * np.sqrt(2 * np.pi))
    expected = np.sum(density / (1 + np.exp(-z))) * (z[1] - z[0])
    assert people.y_true[people.group == group].mean() == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0, 0), (0.2, 0.18, 0.22), (1.0, 1, 1)])
def test_the_share_of_b(share, low, high):
    assert low <= np.mean(simulate_population(5000, share_b=share).group == "B") <= high


@pytest.mark.parametrize("options", [{"n_samples": 0}, {"share_b": -0.1}, {"share_b": 1.5}, {"share_b": np.nan}])
def test_what_cannot_be_drawn(options):
    ((name, value),) = options.items()
    must = "a whole number from 1 up" if name == "n_samples" else "a number from 0 to 1"
    with pytest.raises(InputError, match=f"{name} must be {must}; got {value}"):
        simulate_population(**options)

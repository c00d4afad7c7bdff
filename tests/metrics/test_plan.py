"""Plans: rows that a question takes, against plain formulas and against audits of samples of that size."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

import xorder
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.metrics._gaps import judge

KNOWN = {"prevalence": 0.3, "auc": 0.8}


@pytest.fixture(scope="module")
def audit() -> xorder.Audit:
    people = simulate_population(3000, random_state=0)
    return xorder.audit(people.y_true, people.y_score, sensitive_features=people.group, cuts=())


def variance(prevalence: float, auc: float, share: float) -> float:
    """Variance of the xAUC gap of alike groups times the rows, by numerical integration."""
    apart = math.sqrt(2) * stats.norm.ppf(auc)
    grid = np.linspace(-10, 10, 200_001)
    step = grid[1] - grid[0]
    of_positive = (stats.norm.cdf(grid + apart) - auc) ** 2
    one = float(np.sum(of_positive * stats.norm.pdf(grid)) * step)
    classes = 1 / prevalence + 1 / (1 - prevalence)
    return one * classes * (1 / share + 1 / (1 - share))


@pytest.mark.parametrize(("power", "confidence"), [(0.8, 0.95), (0.9, 0.95), (0.8, 0.99)])
@pytest.mark.parametrize("share", [0.5, 0.2])
def test_a_small_gap_takes_what_the_textbook_says(power: float, confidence: float, share: float) -> None:
    shares = {"A": 1 - share, "B": share}
    found = xorder.plan(gap=0.02, power=power, confidence=confidence, group_shares=shares, **KNOWN)
    quantiles = stats.norm.ppf((1 + confidence) / 2) + stats.norm.ppf(power)
    assert found.rows == pytest.approx(variance(0.3, 0.8, share) * (quantiles / 0.02) ** 2, rel=0.02)
    assert sum(found.by_group.values()) == found.rows
    assert found.by_group["B"] == pytest.approx(share * found.rows, abs=1)
    assert found.positives["B"] == pytest.approx(0.3 * share * found.rows, abs=1)


@pytest.mark.slow
def test_a_small_limit_takes_what_the_textbook_says() -> None:
    found = xorder.plan(limit=0.02, **KNOWN)
    quantiles = stats.norm.ppf(0.975) + stats.norm.ppf(0.9)
    assert found.rows == pytest.approx(variance(0.3, 0.8, 0.5) * (quantiles / 0.02) ** 2, rel=0.02)
    near = xorder.plan(limit=0.02, gap=0.01, **KNOWN)
    assert near.rows > 2 * found.rows
    repaired = xorder.plan(limit=0.02, repair=True, **KNOWN)
    assert repaired.rows == pytest.approx(variance(0.3, 0.8, 0.5) * (stats.norm.ppf(0.975) / 0.02) ** 2, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("question", [{"gap": 0.15}, {"limit": 0.15}])
def test_samples_of_that_size_succeed_as_often(question: dict[str, float]) -> None:
    found = xorder.plan(**question, **KNOWN)
    rng, hits = np.random.default_rng(0), 0
    apart, gap = math.sqrt(2) * stats.norm.ppf(0.8), question.get("gap", 0.0)
    shift = (stats.norm.ppf(0.8 + gap / 2) - stats.norm.ppf(0.8 - gap / 2)) / math.sqrt(2)
    for _ in range(120):
        label, group = rng.random(found.rows) < 0.3, rng.random(found.rows) < 0.5
        score = rng.standard_normal(found.rows) + apart * label + shift * group
        seen = xorder.audit(label, score, sensitive_features=group.astype(int), cuts=())
        if "gap" in question:
            hits += judge(seen, "xauc").readings[0, 1] == "not chance"
        else:
            hits += seen.against(question["limit"]) == "within"
    assert 0.68 <= hits / 120 <= 0.92


def test_power_rises_with_rows_and_is_met_where_it_is_planned() -> None:
    found = xorder.plan(gap=0.1, **KNOWN)
    rows, power = zip(*found.curve, strict=True)
    assert list(power) == sorted(power)
    assert rows[0] < found.rows < rows[-1]
    assert found.power_at(found.rows) == pytest.approx(0.8, abs=0.005)
    with pytest.raises(InputError, match="rows must be"):
        found.power_at(0)


@pytest.mark.slow
def test_a_design_effect_multiplies_the_rows() -> None:
    alone, alike = (xorder.plan(gap=0.05, design_effect=effect, **KNOWN) for effect in (None, 2.0))
    assert alike.rows == pytest.approx(2 * alone.rows, rel=0.01)
    assert alike.design_effect == 2


def test_clusters_of_an_audit_are_its_design_effect(audit: xorder.Audit) -> None:
    people = simulate_population(1500, random_state=0)
    twice = {"y_true": np.repeat(people.y_true, 2), "y_score": np.repeat(people.y_score, 2)}
    who = np.repeat(np.arange(1500), 2)
    groups = np.repeat(people.group, 2)
    seen = xorder.audit(**twice, sensitive_features=groups, clusters=who, cuts=())
    found = xorder.plan(seen, gap=0.1)
    assert found.design_effect == pytest.approx(2, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["xauc", "prf", "parity"])
def test_from_an_audit(audit: xorder.Audit, metric: str) -> None:
    found = xorder.plan(audit, gap=0.05, metric=metric)
    assert found.times == pytest.approx(found.rows / 3000)
    # The error of the audit, of people with a wider gap, is nearly that of the plan.
    needed = (2.8 * audit.gap(metric).stderr / 0.05) ** 2
    assert found.times == pytest.approx(needed, rel=0.2)
    assert xorder.plan(audit, gap=0.05, metric=metric, pair=("B", "A")).rows == pytest.approx(found.rows, rel=0.01)


def test_other_shares_than_those_of_the_audit(audit: xorder.Audit) -> None:
    usual, few = (xorder.plan(audit, gap=0.1, group_shares={"A": 1 - b, "B": b}) for b in (0.5, 0.05))
    assert few.rows > 3 * usual.rows
    assert few.by_group["B"] == pytest.approx(0.05 * few.rows, abs=1)


def test_sampling_weights_of_any_scale_take_the_same_rows() -> None:
    people = simulate_population(1500, random_state=0)
    rows = (people.y_true, people.y_score)
    settings = {"sensitive_features": people.group, "cuts": ()}
    plain = xorder.plan(xorder.audit(*rows, **settings), gap=0.1)
    weighted = xorder.audit(*rows, sample_weight=np.full(1500, 37.0), weights_are="sampling", **settings)
    found = xorder.plan(weighted, gap=0.1)
    assert found.rows == pytest.approx(plain.rows, rel=0.01)
    assert found.positives["A"] == pytest.approx(plain.positives["A"], rel=0.02)


@pytest.mark.slow
def test_many_pairs_take_more() -> None:
    two = xorder.plan(gap=0.1, group_shares={"A": 1, "B": 1}, **KNOWN)
    three = xorder.plan(gap=0.1, group_shares={"A": 1, "B": 1, "C": 1}, **KNOWN)
    quantiles = [stats.norm.ppf(1 - 0.025 / pairs) + stats.norm.ppf(0.8) for pairs in (1, 3)]
    assert three.rows / two.rows == pytest.approx(1.5 * (quantiles[1] / quantiles[0]) ** 2, rel=0.03)
    assert (two.pairs, three.pairs) == (1, 3)
    assert "allowing for 3 pairs" in str(three)


def test_few_rows_are_too_few_to_say_anything() -> None:
    found = xorder.plan(gap=0.6, prevalence=0.1, auc=0.9)
    assert min(found.positives.values()) > 10


def test_it_says_what_it_is_about(audit: xorder.Audit) -> None:
    text = str(xorder.plan(audit, limit=0.05, confidence=0.9, power=0.7, design_effect=1.5))
    assert "to show that the gap is below 0.05, where it is 0, takes" in " ".join(text.split())
    assert "(70 % power, 90 % confidence, design effect 1.5)" in " ".join(text.split())
    assert "times as many as were audited" in " ".join(text.split())
    found = xorder.plan(limit=0.1, repair=True, **KNOWN)
    assert "to repair the gap to 0.1, and promise that" in str(found)
    assert repr(found) == f"<Plan to repair: {found.rows:,} rows for 80 % power>"
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["groups"] == ["A", "B"]
    assert sum(record["by_group"]) == record["rows"]
    assert len(record["curve"]) == 7


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "give gap= to detect a gap, or limit= to show"),
        ({"gap": 0.05}, "nothing to plan from: give an audit, or prevalence= and auc="),
        ({"gap": 0, **KNOWN}, "gap must lie between 0 and 1; got 0"),
        ({"gap": 1.5, **KNOWN}, "gap must lie between 0 and 1"),
        ({"gap": "x", **KNOWN}, "gap must be a finite number; got 'x'"),
        ({"gap": 0.1, "limit": 0.1, **KNOWN}, "gap must be below limit; got 0.1 and 0.1"),
        ({"gap": 0.1, "repair": True, **KNOWN}, "repair needs a limit, and no gap"),
        ({"gap": 0.1, "power": 1, **KNOWN}, "power must lie between 0 and 1"),
        ({"gap": 0.1, "confidence": 95, **KNOWN}, "confidence must lie between 0 and 1"),
        ({"gap": 0.1, "metric": "x", **KNOWN}, "metric must be one of"),
        ({"gap": 0.1, "prevalence": {"A": 0.1}, "auc": 0.8}, "prevalence must name every group; got none for 'B'"),
        ({"gap": 0.1, "prevalence": 0.1, "auc": 1.0}, "auc must lie between 0 and 1"),
        ({"gap": 0.1, "group_shares": [0.5, 0.5], **KNOWN}, "group_shares must name two groups or more"),
        ({"gap": 0.1, "group_shares": {"A": 1, "B": 0}, **KNOWN}, "group_shares of 'B' must be"),
        ({"gap": 0.1, "pair": ("A", "C"), **KNOWN}, "pair must be two of the groups 'A', 'B'"),
        ({"gap": 0.1, "design_effect": 0, **KNOWN}, "design_effect must be a finite number above 0"),
        ({"gap": 0.95, "metric": "prf", **KNOWN}, "more than groups like these can have"),
    ],
)
def test_what_is_no_question_is_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        xorder.plan(**settings)  # type: ignore[arg-type]


def test_what_does_not_go_with_an_audit(audit: xorder.Audit) -> None:
    with pytest.raises(InputError, match="give an audit, or prevalence= and auc=, not both"):
        xorder.plan(audit, gap=0.1, auc=0.8)
    with pytest.raises(InputError, match="group_shares must name the groups 'A', 'B'"):
        xorder.plan(audit, gap=0.1, group_shares={"A": 1, "C": 1})


@pytest.mark.filterwarnings("ignore::xorder.exceptions.XorderWarning")
def test_a_group_without_a_class_cannot_be_planned_for() -> None:
    seen = xorder.audit([0, 1, 0, 1, 0, 0], [0.1, 0.5, 0.3, 0.4, 0.2, 0.6], sensitive_features=list("AAAABB"))
    with pytest.raises(InputError, match="group 'B' has no positives"):
        xorder.plan(seen, gap=0.1)

"""Unadjusted gaps on the paper's splits, for all three base models: its figures, or why not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from experiments.unadjusted import MODELS, PAPER, Figures, gaps
from support.real_data import stored_problem

pytestmark = pytest.mark.slow

DATA = ("compas", "adult", "framingham")

# The variant of each base model that shares the settings found, or found out, of the code behind the paper.
AS_PUBLISHED = (
    "LinearScorer(accumulate_gradients=True)",
    "the same, test part scaled by itself",
    "brief training on unscaled inputs",
    "RankBoost(stump_weight='ratio')",
)

# Where a model as it should be differs from the paper by more than a deviation; all explained by those variants.
ELSEWHERE = {
    ("compas", "PairwiseLinearScorer()"),
    ("adult", "RankBoost()"),
    ("framingham", "LinearScorer()"),
}


# Where the first few of the ten splits say as much, and a model takes seconds for each.
FEW = {
    ("compas", "PairwiseLinearScorer()"): 3,
    ("compas", "brief training on unscaled inputs"): 3,
    ("compas", "RankBoost()"): 3,
    ("compas", "RankBoost(stump_weight='ratio')"): 3,
    ("adult", "PairwiseLinearScorer()"): 3,
    ("adult", "RankBoost()"): 3,
}


@cache
def measured(name: str, shown: str) -> tuple[Figures, Figures]:
    column, model, scaled_by = MODELS[shown]
    problem = stored_problem(name)
    problem = replace(problem, splits=problem.splits[: FEW.get((name, shown))])
    return gaps(problem, model, scaled_by=scaled_by), PAPER[name, column]


def within_a_deviation(found: Figures, paper: Figures) -> bool:
    return abs(found.xauc - paper.xauc) <= paper.xauc_deviation and abs(found.prf - paper.prf) <= paper.prf_deviation


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("shown", AS_PUBLISHED)
def test_trained_as_published_all_nine_are_within_a_deviation(name: str, shown: str) -> None:
    assert within_a_deviation(*measured(name, shown))


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("shown", [shown for shown in MODELS if shown not in AS_PUBLISHED])
def test_trained_well_six_of_nine_are(name: str, shown: str) -> None:
    assert within_a_deviation(*measured(name, shown)) == ((name, shown) not in ELSEWHERE)


@pytest.mark.parametrize("name", DATA)
def test_the_papers_linear_figures_come_out_to_the_digit(name: str) -> None:
    found, paper = measured(name, "the same, test part scaled by itself")
    assert found == pytest.approx(paper, abs=0.00055)


def test_brief_training_is_as_unsteady_on_framingham_as_in_the_paper() -> None:
    brief, paper = measured("framingham", "brief training on unscaled inputs")
    well, _ = measured("framingham", "PairwiseLinearScorer()")
    assert paper.xauc_deviation == 0.089
    assert brief.xauc_deviation > 0.05 > 0.035 > well.xauc_deviation

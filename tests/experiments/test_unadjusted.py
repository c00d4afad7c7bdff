"""Unadjusted gaps on the paper's splits, for all three base models: its figures, or why not.

What is compared with the paper are the committed results of all ten splits; that the models still give these is tried
on the first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments.__main__ import RESULTS
from experiments.store import Row, read
from experiments.unadjusted import MODELS, PAPER, Figures
from experiments.unadjusted import gaps as unadjusted_gaps
from support.needs import package
from support.real_data import stored_problem

pytestmark = pytest.mark.slow

DATA = ("compas", "adult", "framingham")
OWN_SCALE = "the same, test part scaled by itself"

# What the committed rows call each model.
AS_IT_SHOULD_BE = {"LinearScorer()": "linear", "PairwiseLinearScorer()": "linear-auc", "RankBoost()": "rankboost"}
# The variant of each base model that shares the settings found, or found out, of the code behind the paper.
AS_PUBLISHED = {
    "LinearScorer(accumulate_gradients=True)": "linear-published",
    "brief training on unscaled inputs": "linear-auc-published",
    "RankBoost(stump_weight='ratio')": "rankboost-published",
}
NAMES = AS_IT_SHOULD_BE | AS_PUBLISHED

# Where a model as it should be differs from the paper by more than a deviation; all explained by those variants.
ELSEWHERE = {
    ("compas", "PairwiseLinearScorer()"),
    ("adult", "RankBoost()"),
    ("framingham", "LinearScorer()"),
}


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [row for row in read(RESULTS) if row["method"] == "unadjusted" and row["splits"] == "stored"]


def committed(rows: list[Row], name: str, shown: str, splits: int = 10) -> Figures:
    """Figures of the first splits of the committed results."""
    found = [row for row in rows if (row["data"], row["model"]) == (name, NAMES[shown]) and row["split"] < splits]
    assert len(found) == splits
    gaps = np.abs([[row["xauc_test"], row["prf_test"]] for row in found])
    (xauc, prf), (xauc_deviation, prf_deviation) = gaps.mean(axis=0), gaps.std(axis=0)
    return Figures(xauc, xauc_deviation, prf, prf_deviation)


def measured(name: str, shown: str, splits: int) -> Figures:
    """Figures of models that are trained now."""
    _, model, scaled_by = MODELS[shown]
    problem = stored_problem(name)
    return unadjusted_gaps(replace(problem, splits=problem.splits[:splits]), model, scaled_by=scaled_by)


def within_a_deviation(found: Figures, paper: Figures) -> bool:
    return abs(found.xauc - paper.xauc) <= paper.xauc_deviation and abs(found.prf - paper.prf) <= paper.prf_deviation


def test_every_model_is_compared() -> None:
    assert {*MODELS} == {*NAMES, OWN_SCALE}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("shown", NAMES)
def test_models_still_give_the_committed_results(rows: list[Row], name: str, shown: str) -> None:
    if shown.startswith("brief"):
        package("torch")
    # Torch trains in single precision, and rows keep seven digits.
    close = 1e-3 if shown.startswith("brief") else 1e-5
    assert measured(name, shown, 1) == pytest.approx(committed(rows, name, shown, 1), abs=close)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("shown", AS_PUBLISHED)
def test_trained_as_published_all_nine_are_within_a_deviation(rows: list[Row], name: str, shown: str) -> None:
    assert within_a_deviation(committed(rows, name, shown), PAPER[name, MODELS[shown][0]])


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("shown", AS_IT_SHOULD_BE)
def test_trained_well_six_of_nine_are(rows: list[Row], name: str, shown: str) -> None:
    found = within_a_deviation(committed(rows, name, shown), PAPER[name, MODELS[shown][0]])
    assert found == ((name, shown) not in ELSEWHERE)


@pytest.mark.parametrize("name", DATA)
def test_the_papers_linear_figures_come_out_to_the_digit(name: str) -> None:
    assert measured(name, OWN_SCALE, 10) == pytest.approx(PAPER[name, "linear"], abs=0.00055)


def test_brief_training_is_as_unsteady_on_framingham_as_in_the_paper(rows: list[Row]) -> None:
    brief = committed(rows, "framingham", "brief training on unscaled inputs")
    well = committed(rows, "framingham", "PairwiseLinearScorer()")
    assert PAPER["framingham", "linear for AUC"].xauc_deviation == 0.089
    assert brief.xauc_deviation > 0.05 > 0.035 > well.xauc_deviation

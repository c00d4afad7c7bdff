"""How far a parameter is raised, and what goes with what."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.cells import Cell
from experiments.protocol import Sweep, finished, is_over, mean_gap, sweeps
from experiments.registry import METHODS, TRADEOFFS


@pytest.mark.parametrize(
    ("gaps", "over"),
    [
        ([0.2], False),
        ([0.00009], True),
        ([0.2, 0.1], False),
        ([0.2, 0.00009], True),
        # Not fallen once, then twice.
        ([0.2, 0.2], False),
        ([0.2, 0.21, 0.2], True),
        ([0.2, 0.21, 0.19], False),
        # By less than 0.0001 is not at all.
        ([0.2, 0.19995, 0.19992], True),
        ([0.2, 0.1, 0.05, 0.06], False),
        ([0.2, 0.1, 0.05, 0.06, 0.055], True),
        ([0.2, 0.1, 0.05, 0.06, 0.04], False),
        # No split worked.
        ([0.2, None], True),
    ],
)
def test_when_to_stop(gaps: list[float | None], over: bool) -> None:
    assert is_over(gaps) is over


def test_the_mean_is_over_absolute_values_of_splits_that_worked() -> None:
    rows: list[dict[str, Any]] = [{"xauc_train": 0.2}, {"xauc_train": -0.1}, {"error": "no"}, {"xauc_train": None}]
    assert mean_gap(rows, "xauc") == pytest.approx(0.15)
    assert mean_gap([{"error": "no"}], "xauc") is None


def run_through(sweep: Sweep, gaps: dict[float, list[float]], *, reverse: bool = False) -> list[Cell]:
    """Cells in the order in which they are handed out, each answered at once by a made-up gap."""
    rows: dict[Any, Any] = {}
    order = []
    while cells := sweep.next_cells(rows):
        cell = cells[-1 if reverse else 0]
        assert cell.parameter is not None
        order.append(cell)
        rows[cell] = {"xauc_train": gaps.get(cell.parameter, [0.0, 0.0])[cell.split]}
    return order


def test_a_sweep_goes_by_the_mean_over_splits_not_by_one_split() -> None:
    sweep = Sweep("german", "stored", "linear", "xorder-dp", "xauc", 2)
    # One split is fair at once; the mean is so at the third step.
    gaps = {0.0: [0.0, 0.2], 0.01: [0.0, -0.1], 0.02: [0.00005, 0.00005]}
    cells = run_through(sweep, gaps)
    assert [(cell.parameter, cell.split) for cell in cells] == [(p, s) for p in TRADEOFFS[:3] for s in (0, 1)]
    assert {*run_through(sweep, gaps, reverse=True)} == {*cells}


def test_a_grid_is_run_to_its_end() -> None:
    sweep = Sweep("german", "stored", "linear", "fair-ranker", "xauc", 2)
    assert len(run_through(sweep, {})) == 2 * len(METHODS["fair-ranker"].parameters)


def test_the_papers_pairs_of_model_and_method() -> None:
    pairs = {(sweep.model, sweep.method) for sweep in sweeps("stored", 10, data=["compas"])}
    assert ("linear", "corr-reg") in pairs
    assert ("linear-auc", "constrained") in pairs
    for model in ("rankboost", "boosting"):
        assert {method for name, method in pairs if name == model} == {
            "unadjusted",
            "post-logit",
            "xorder-dp",
            "xorder-frontier",
            "fair-ranker",
        }
    assert {method for name, method in pairs if name.endswith("published")} == {"unadjusted"}


def test_filters_leave_what_was_asked_for_and_the_unadjusted() -> None:
    found = sweeps("stored", 10, data=["adult"], models=["rankboost"], metrics=["prf"])
    assert {sweep.metric for sweep in found if sweep.method != "unadjusted"} == {"prf"}
    assert sum(sweep.method == "unadjusted" for sweep in found) == 1
    assert not sweeps("stored", 10, models=["rankboost"], methods=["corr-reg"])


def test_with_retry_failed_cells_are_open_again() -> None:
    row = {"data": "d", "splits": "s", "model": "m", "method": "x", "metric": "xauc", "parameter": 1.0, "split": 0}
    assert len(finished([{**row, "error": "no"}])) == 1
    assert not finished([{**row, "error": "no"}], retry=True)

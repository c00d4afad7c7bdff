"""The study of repairs: what it measures, that it goes on where it stopped, and that the page says what it found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments import generalisation, repair_tables, training_scores
from experiments.candidates import SMOOTH
from experiments.generalisation import measures, simulate, simulated_row, split_row
from experiments.repair_tables import PAGE, RESULTS, Study, filled, paired, read
from xorder import audit

pytestmark = pytest.mark.slow

CELL = ("german", "linear", "400")


def test_measures_are_those_of_an_audit() -> None:
    rows = simulate(0.3, 500, 0)
    # Tied scores, some of which straddle cuts.
    score, y, groups = rows["new"].round(2), rows["ny"], rows["ng"]
    found = measures(y, score, groups, "B")
    expected = audit(y, score, sensitive_features=groups)
    at = [expected.cut_gap(at=cut, pair=("A", "B")).value for cut in (0.05, 0.2)]
    assert found[:2] == pytest.approx([expected.auc, abs(expected.gap("xauc").value)], abs=5e-5)
    assert found[3:5] == pytest.approx(np.abs(at), abs=5e-5)
    cuts = [abs(expected.cut_gap(at=float(cut), pair=("A", "B")).value) for cut in np.linspace(0.02, 0.98, 97)]
    assert max(cuts) - 5e-5 <= found[2] < max(cuts) + 0.01


def test_share_of_the_top() -> None:
    y, groups = np.tile([1, 0], 50), np.repeat(["A", "B"], 50)
    assert measures(y, np.arange(100.0), groups, "B")[5:] == [1.0] * 4
    assert measures(y, np.arange(100.0), groups, "A")[5:] == [0.0] * 4
    # All tie: everyone has the same part of every place.
    assert measures(y, np.zeros(100), groups, "A")[5:] == [0.5] * 4


def test_a_run_reads_scores_and_adds_only_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair_tables, "RESULTS", tmp_path / "repairs.jsonl.gz")
    monkeypatch.setattr(generalisation, "CELLS", [CELL])
    monkeypatch.setattr(generalisation, "SIMULATED", {})
    monkeypatch.setattr(generalisation, "SPLITS", 2)
    for number in range(2):
        np.savez(tmp_path / f"german-linear-400-{number}.npz", **simulate(0.3, 400, number))
    generalisation.run(tmp_path, only=None, jobs=1)
    rows = read_from(tmp_path)
    assert [row["split"] for row in rows] == [0, 1]
    assert set(rows[0]["held_out"]) == set(repair_tables.ALL)
    monkeypatch.setattr(generalisation, "split_row", None)
    generalisation.run(tmp_path, only=None, jobs=1)
    assert read_from(tmp_path) == rows


def read_from(folder: Path) -> list[dict[str, object]]:
    assert repair_tables.RESULTS.parent == folder
    return repair_tables.read()


def test_scores_that_are_missing_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def write(problem: object, cell: object, number: int, path: Path) -> None:
        made.append(number)
        np.savez(path, **simulate(0.3, 300, number))

    monkeypatch.setattr(generalisation, "LOADERS", {"german": lambda splits: None})
    monkeypatch.setattr(generalisation, "scores_of_split", write)
    monkeypatch.setattr(generalisation, "SPLITS", 2)
    np.savez(tmp_path / "german-linear-400-0.npz", **simulate(0.3, 300, 0))
    rows = generalisation._run_cell(CELL, tmp_path, jobs=1)
    assert made == [1]
    assert [row["split"] for row in rows] == [0, 1]


def test_tables_of_a_small_study() -> None:
    rows = [split_row(CELL, number, simulate(0.4, 400, number)) for number in range(2)]
    rows.append(simulated_row("no gap", "300", jobs=1, draws=3))
    rows.append(simulated_row("clear gap", "300", jobs=1, draws=3))
    study = Study(rows)
    assert list(study.simulated) == [("no gap", "300"), ("clear gap", "300")]
    page = "\n".join(f"<!-- table: {name} -->\n<!-- end -->" for name in repair_tables.TABLES if name != "summary")
    text = filled(page, rows)
    assert filled(text, rows) == text
    assert all(f"\n| {name} | " in text for name in SMOOTH)
    assert "| german, linear, 400 | " in text


def test_paired_errors() -> None:
    assert paired([1.0, 3.0]) == pytest.approx((2.0, 1.0))


def test_the_page_has_the_tables_of_the_committed_results() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, read()) == page
    assert all(f"<!-- table: {name} -->" in page for name in repair_tables.TABLES)
    older = training_scores.read()
    assert training_scores.table(older) in page
    assert training_scores.harm(older) in page


def test_the_committed_results_are_whole_and_small() -> None:
    assert RESULTS.stat().st_size < 1_000_000
    study = Study(read())
    assert set(study.cells) == set(generalisation.CELLS)
    assert all(len(study.of_cell(cell)) == generalisation.SPLITS for cell in study.cells)
    expected = {(gap, size) for gap in generalisation.SIMULATED for size in generalisation.SIMULATED_SIZES}
    assert set(study.simulated) == expected
    assert all(len(found["unadjusted"]) == generalisation.DRAWS for found in study.simulated.values())

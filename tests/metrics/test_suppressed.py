"""What a table does not show cannot be told from another table, from a comparison or from a note."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

import xorder


def rows_of(*groups: tuple[str, int, int], seed: int = 0) -> tuple[np.ndarray, ...]:
    """Rows of groups with so many positives and negatives each, and scores that go up with the outcome."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.repeat(name, n1 + n0) for name, n1, n0 in groups])
    y = np.concatenate([np.repeat([1, 0], [n1, n0]) for _, n1, n0 in groups])
    return y, 1 / (1 + np.exp(-(y + rng.normal(size=y.size)))), group


def audited(*groups: tuple[str, int, int], cuts: Iterable[float] = (0.3,)) -> xorder.Audit:
    y, score, group = rows_of(*groups)
    return xorder.audit(y, score, sensitive_features=group, cuts=list(cuts))


def hidden(audit: xorder.Audit, table: str, column: str, **settings: object) -> set[str]:
    return {row["group"] for row in audit.table(table, suppress=11, **settings).rows if row[column] is None}


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 0.5, 0.8])
def test_groups_hidden_in_one_table_are_hidden_in_all(share: float) -> None:
    audit = audited(("A", 60, 200), ("B", 100, 90), ("C", 7, 400), cuts=[share])
    assert hidden(audit, "groups", "positives") == {"A", "C"}
    assert hidden(audit, "cuts", "of") >= {"A", "C"}
    assert hidden(audit, "scores", "rows") == {"A", "C"}


def test_no_comparison_tells_a_hidden_reference() -> None:
    groups = ("A", 60, 200), ("B", 100, 90), ("C", 7, 400), ("D", 150, 150)
    found = audited(*groups).table("cuts", reference="C", suppress=11).rows
    shown = [row for row in found if row["group"] in ("B", "D")]
    assert all(row["value"] is not None for row in shown)
    assert {row[name] for row in shown for name in ("difference", "ratio", "ratio_low", "impact_ratio")} == {None}
    beside = audited(*groups).table("cuts", reference="D", suppress=11).rows
    assert all(row["difference"] is not None for row in beside if row["group"] == "B")


def test_few_people_below_a_cut_are_as_telling_as_few_above() -> None:
    y, score, group = rows_of(("A", 200, 200), ("B", 150, 150), ("C", 150, 150))
    # All of B but four positives and four negatives are above the cut, and half of the others.
    below = np.concatenate([np.flatnonzero((group == "B") & (y == label))[:4] for label in (0, 1)])
    score = np.where(group == "B", 0.9, np.where(np.arange(y.size) % 2, 0.9, 0.1))
    score[below] = 0.1
    audit = xorder.audit(y, score, sensitive_features=group, cuts=[xorder.Threshold(0.5)])
    assert "B" in hidden(audit, "cuts", "value")
    score[group == "B"] = 0.9
    all_above = xorder.audit(y, score, sensitive_features=group, cuts=[xorder.Threshold(0.5)])
    assert hidden(all_above, "cuts", "count") == set()


class Lowered:
    """A map that puts nearly all of group C below the others, and keeps the others."""

    def transform(self, y_score: np.ndarray, sensitive_features: np.ndarray) -> np.ndarray:
        return y_score - (0.375 if sensitive_features[0] == "C" else 0)


def test_small_counts_after_a_repair_are_hidden() -> None:
    audit = audited(("A", 200, 200), ("B", 200, 200), ("C", 100, 100), cuts=[0.5])
    assert hidden(audit, "cuts", "value") == set()
    left = [row["after"] for row in audit.table("moves", repair=Lowered()).rows if row["group"] == "C"]
    assert 0 < left[0] < 11
    assert "C" in hidden(audit, "cuts", "after", repair=Lowered())


def test_a_note_has_no_small_count() -> None:
    y, score, group = rows_of(("A", 60, 200), ("B", 100, 90))
    score[:4] = 1.0
    audit = xorder.audit(y, score, sensitive_features=group)
    assert audit.table("calibration").notes[0].startswith("4 rows have a score of exactly 0 or 1")
    assert audit.table("calibration", suppress=11).notes[0].startswith("Fewer than 11 rows have a score")
    assert audit.table("calibration", suppress=3).notes[0].startswith("4 rows have a score")

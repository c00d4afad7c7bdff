"""Statements hold the numbers of the audit, leave the rest open, and show no small count."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

import xorder
from xorder.datasets import simulate_population
from xorder.exceptions import InputError
from xorder.reporting import statements

PEOPLE = simulate_population(1500, random_state=1)
MADE = datetime(2026, 11, 3, 9, 30, tzinfo=timezone(timedelta(hours=1)))


def audited(**settings: object) -> xorder.Audit:
    return xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, **settings)


def cells(line: str) -> list[str]:
    """Split a row of a table where a bar is not escaped, as Markdown does."""
    return [cell.strip() for cell in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]]


def tables(text: str) -> dict[str, list[dict[str, str]]]:
    """All numbered tables, by caption up to its first comma or colon."""
    found = {}
    for caption, body in re.findall(r"^\*\*Table \d+\.\*\* ([^\n]+)\.\n\n((?:\|[^\n]*\n)+)", text, re.M):
        head, _, *rows = (cells(line) for line in body.splitlines())
        assert {len(row) for row in rows} == {len(head)}
        found[re.split(r"[,:]", caption)[0]] = [dict(zip(head, row, strict=True)) for row in rows]
    return found


def six_groups(names: list[str]) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    group = rng.choice(len(names), 1500)
    y = (rng.random(1500) < 0.3).astype(int)
    score = 1 / (1 + np.exp(-(1.5 * y - 1 - 0.2 * group + rng.normal(size=1500))))
    return y, score, np.array(names, dtype=object)[group]


def test_counts_auc_and_gaps_are_those_of_the_audit() -> None:
    audit = audited(tolerance=0.05)
    found = tables(statements(audit))
    rows = {row["group"]: row for row in found["Rows and outcomes by group"]}
    auc = {row["group"]: row["AUC (95 % interval)"] for row in found["Discrimination by group"]}
    for group in audit.groups:
        positives, negatives = audit.positives[group], audit.negatives[group]
        assert rows[group]["with the outcome"] == f"{positives:,.0f}"
        assert rows[group]["rows"] == f"{positives + negatives:,.0f}"
        low, high = audit.xauc_interval[group, group]
        assert auc[group] == f"{audit.xauc[group, group]:.4f} ({low:.4f} to {high:.4f})"
    assert auc["all groups"].startswith(f"{audit.auc:.4f} (")
    (gap,) = found["The xAUC gap of each two groups"]
    expected = audit.gap("xauc", ("A", "B"))
    low, high = expected.interval
    assert gap["gap (95 % interval)"] == f"{expected.value:+.4f} ({low:+.4f} to {high:+.4f})"
    assert (gap["p, all pairs (Holm)"], gap["reading"]) == ("< 0.0001", "not chance")


def test_rates_calibration_net_benefit_and_scores_are_those_of_the_tables() -> None:
    audit = audited(cuts=[0.1, xorder.metrics.Threshold(0.4)])
    found = tables(statements(audit, thresholds=[0.15]))
    rates = {(row["at"], row["group"], row["rate"]): row for row in audit.table("cuts").rows}
    for row in found["Rates at each cut of the list"]:
        for name, column in (("sensitivity", "sensitivity"), ("ppv", "PPV")):
            each = rates[row["cut"], row["group"], name]
            assert row[column] == f"{each['value']:.4f} ({each['low']:.4f} to {each['high']:.4f})"
    assert len(found["Rates at each cut of the list"]) == 6
    for row in found["Rates less those of A"]:
        each = rates[row["cut"], row["group"], "selected"]
        assert row["share selected"].startswith(f"{each['difference']:+.4f} (")
    slopes = [f"{row['slope']:.4f}" for row in audit.table("calibration").rows]
    shown = found["Calibration of the score as a probability"]
    assert [row["slope"].partition(" ")[0] for row in shown] == slopes
    benefit = [f"{row['net_benefit']:+.4f}" for row in audit.table("net_benefit", thresholds=[0.15]).rows]
    assert [row["net benefit"].partition(" ")[0] for row in found["Net benefit by group"]] == benefit
    assert {row["threshold"] for row in found["Net benefit by group"]} == {"0.15"}
    medians = [f"{row['median']:.4f}" for row in audit.table("scores").rows]
    assert [row["median"] for row in found["Distribution of the scores by group and outcome"]] == medians


def test_the_header_says_what_was_run(tmp_path: Path) -> None:
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for number, file in enumerate(files):
        file.write_bytes(b"x" * (3 + number))
    text = statements(
        audited(tolerance=0.3, confidence=0.9),
        title="Score | of\nthe ward",
        source=files,
        names={"score": "risk_score", "group": "sex & age"},
        made=MADE,
        command="xorder audit '*.csv'",
    )
    header = text.partition("\n## ")[0]
    assert header.startswith("# Score \\| of the ward\n")
    assert "- **Date:** 2026-11-03 08:30 UTC\n" in header
    for file in files:
        data = file.read_bytes()
        assert f"{file}: {len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}" in header
    assert "- **Columns:** score: risk_score, group: sex & age\n" in header
    assert "- **Rows:** 1,500\n" in header
    assert "- **Confidence of intervals:** 90 %\n" in header
    assert f"xorder {xorder.__version__}" in header
    assert f"numpy {np.__version__}" in header
    assert "\n    xorder audit '*.csv'" in header
    assert f"tolerance:** 0.3 for xAUC gaps; verdict: {audited(confidence=0.9).against(0.3)}\n" in header


def test_nothing_is_claimed_and_there_is_a_line_to_sign() -> None:
    text = statements(audited())
    assert text.count("It does not claim that any law or guideline is complied with.") == 2
    assert text.endswith("complied with.\n")
    assert "| Name | Role | Date | Signature |" in text
    assert "tolerance:** none" in text
    assert text.count("- [ ] ") > 30


def test_the_items_are_cited_by_number() -> None:
    items = re.findall(r"^### (.*?): ", statements(audited()), re.M)
    tripod = ["12e", "14", "15", "20a and 20b", "21", "23a", "23b", "25", "26"]
    assert items == [*tripod, "Annex IV, point 2(g)", "Annex IV, point 3"]


def test_the_date_is_now_by_default() -> None:
    before = datetime.now(UTC).replace(second=0, microsecond=0)
    (shown,) = re.findall(r"Date:\*\* (.*) UTC", statements(audited()))
    assert before <= datetime.strptime(shown, "%Y-%m-%d %H:%M").replace(tzinfo=UTC) <= datetime.now(UTC)


def test_scores_that_are_not_probabilities_say_so_in_their_place() -> None:
    audit = xorder.audit(PEOPLE.y_true, 100 * PEOPLE.y_score, sensitive_features=PEOPLE.group)
    text = statements(audit)
    assert text.count("Not known: calibration and net benefit need scores that are probabilities") == 2
    assert "Rates at each cut of the list" in tables(text)


def test_an_audit_without_cuts_says_so_in_place_of_their_tables() -> None:
    text = statements(audited(cuts=[]), repair=Raised())
    assert text.count("No cut is reported.") == 3
    assert not any("cut of the list" in caption for caption in tables(text))


def test_all_that_is_in_braces_is_filled_in_and_leaves_no_gap() -> None:
    text = statements(audited())
    assert not re.search(r"[{}]", text)
    assert "\n\n\n" not in text


def test_clusters_and_weights_are_said() -> None:
    text = statements(audited(clusters=np.arange(1500) // 3))
    assert "- **Clusters:** 500, which errors allow for\n" in text
    assert "Errors allow for 500 clusters of rows; performance by cluster was not examined." in text
    assert "counts are sums of weights" in statements(audited(sample_weight=np.full(1500, 2)))


def test_six_groups_with_long_names() -> None:
    names = [f"{letter} " + "of a rather long description " * 4 for letter in "ABCDEF"]
    y, score, group = six_groups(names)
    audit = xorder.audit(y, score, sensitive_features=group)
    found = tables(statements(audit))
    assert [row["group"] for row in found["Rows and outcomes by group"]] == [*map(str.strip, names), "all groups"]
    gaps = found["The xAUC gap of each two groups"]
    assert len(gaps) == 15
    widths = [abs(float(row["gap (95 % interval)"].partition(" ")[0])) for row in gaps]
    assert widths == sorted(widths, reverse=True)
    assert len(found["Rates at each cut of the list"]) == 4 * 7


def test_names_do_not_break_tables() -> None:
    names = ["a|b", "line\nbreak", "back\\|slash", "<b>bold</b>", "`code` *x* [y](z)", ""]
    y, score, group = six_groups(names)
    text = statements(xorder.audit(y, score, sensitive_features=group))
    found = {row["group"] for row in tables(text)["Rows and outcomes by group"]}
    assert found == {
        "a\\|b",
        "line break",
        "back\\\\\\|slash",
        "\\<b>bold\\</b>",
        "\\`code\\` \\*x\\* \\[y\\](z)",
        "(empty)",
        "all groups",
    }
    assert "\r" not in text


def test_many_pairs_are_cut_short() -> None:
    names = [f"group {number}" for number in range(9)]
    y, score, group = six_groups(names)
    text = statements(xorder.audit(y, score, sensitive_features=group))
    assert len(tables(text)["The xAUC gap of each two groups"]) == 30
    assert "... and 6 more pairs" in text


@pytest.mark.slow
def test_a_repair_says_what_it_changes() -> None:
    repair = xorder.XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
    audit = audited()
    text = statements(audit, repair=repair)
    found = tables(text)
    moves = audit.table("moves", repair=repair).rows
    changes = found["What the map changes at each cut of the list"]
    assert [row["enter"] for row in changes] == [f"{row['enters']:,.0f}" for row in moves]
    adjusted = repair.transform(PEOPLE.y_score, sensitive_features=PEOPLE.group)
    after = xorder.audit(PEOPLE.y_true, adjusted, sensitive_features=PEOPLE.group)
    (gap,) = found["The xAUC gap of each two groups"]
    assert float(gap["after the map"]) == pytest.approx(after.gap("xauc", ("A", "B")).value, abs=6e-5)
    assert f"AUC of all rows after it: {after.auc:.4f}." in text
    assert "groups whose scores are moved: B" in text
    assert {row["scores"] for row in found["Calibration of the score as a probability"]} == {"as they are", "adjusted"}
    assert "no longer probabilities" in text


def test_adjusted_scores_that_are_not_probabilities_keep_the_calibration_of_the_score() -> None:
    class Doubled:
        def transform(self, y_score: np.ndarray, sensitive_features: np.ndarray) -> np.ndarray:
            return 2 * y_score

    text = statements(audited(), repair=Doubled())
    assert "Of adjusted scores not known: calibration and net benefit need" in text
    assert {row["scores"] for row in tables(text)["Calibration of the score as a probability"]} == {"as they are"}


def test_another_metric_has_its_gaps_beside_those_of_xauc() -> None:
    text = statements(audited(), metric="prf", tolerance=0.05)
    assert {"The xAUC gap of each two groups", "The PRF gap of each two groups"} <= set(tables(text))
    assert f"0.05 for PRF gaps; verdict: {audited().against(0.05, metric='prf')}" in text


class Raised:
    """A map that raises the scores of B and, more so, of C, and keeps the others."""

    def transform(self, y_score: np.ndarray, sensitive_features: np.ndarray) -> np.ndarray:
        power = {"B": 0.9, "C": 0.7}
        return y_score ** power.get(sensitive_features[0], 1.0)


COUNTS = ("rows", "with the outcome", "without it", "rows selected", "selected", "selected after", "enter", "leave")


@pytest.mark.slow
@pytest.mark.parametrize("with_repair", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_suppression_leaves_no_small_count(seed: int, with_repair: bool) -> None:
    rng = np.random.default_rng(seed)
    group = rng.choice(["A", "B", "C", "D"], 900, p=[0.6, 0.25, 0.12, 0.03]).astype(object)
    y = (rng.random(900) < 0.25).astype(int)
    score = np.round(1 / (1 + np.exp(-(y - 1 + rng.normal(size=900)))), 3)
    score[:4] = 1.0
    group[5:8] = None
    unit = rng.integers(0, 7, 900)
    with pytest.warns(xorder.exceptions.XorderWarning, match="3 rows without a group"):
        audit = xorder.audit(y, score, sensitive_features=group, missing_group="leave", clusters=unit)
    repair = Raised() if with_repair else None
    plain, text = (statements(audit, repair=repair, suppress=least) for least in (None, 11))
    assert any(
        0 < _count(row[name]) < 11 for rows in tables(plain).values() for row in rows for name in COUNTS if name in row
    )
    for rows in tables(text).values():
        for row in rows:
            for name in COUNTS:
                if name in row and row[name] != "not shown":
                    assert _count(row[name]) == 0 or _count(row[name]) >= 11
    # Counts that are in no table: rows without a group, those of scores at 1, and clusters.
    assert "3 rows without a group are left out" in plain
    assert "fewer than 11 rows without a group are left out" in text
    assert "4 rows have a score of exactly" in plain
    assert "Fewer than 11 rows have a score of exactly" in text
    assert "- **Clusters:** 7" in plain
    assert "- **Clusters:** fewer than 11" in text
    assert max(map(len, re.findall(r"\.(\d+)", text.partition("## TRIPOD")[2].partition(";385")[2]))) == 2


def _count(text: str) -> float:
    return float(text.replace(",", ""))


def test_a_group_that_is_hidden_cannot_be_told_from_the_others() -> None:
    """At each cut, where one group is hidden, another is, too, in every table that has counts there."""
    rng = np.random.default_rng(5)
    group = rng.choice(["A", "B", "C"], 600, p=[0.5, 0.4, 0.1])
    y = (rng.random(600) < 0.3).astype(int)
    score = 1 / (1 + np.exp(-(y + rng.normal(size=600))))
    audit = xorder.audit(y, score, sensitive_features=group, cuts=[0.1, 0.3, 0.5])
    found = tables(statements(audit, repair=Raised(), suppress=11))
    named = (
        ("Rates at each cut of the list", "rows selected"),
        ("What the map changes at each cut of the list", "selected"),
    )
    for at in ("10 %", "30 %", "50 %"):
        seen = {
            row["group"]
            for name, column in named
            for row in found[name]
            if row["cut"] == at and row[column] != "not shown"
        }
        assert len({"A", "B", "C"} - seen) != 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"names": {"colour": "x"}}, "names must have keys among score"),
        ({"tolerance_cut": 0.1}, "tolerance_cut comes besides tolerance="),
        ({"tolerance": -1}, "tolerance must be"),
        ({"metric": "auc"}, "metric must be"),
        ({"thresholds": [2]}, "thresholds must be probabilities"),
        ({"source": "nowhere.csv"}, "source must be a file that can be read"),
        ({"reference": "Z"}, "reference must be one of"),
    ],
)
def test_what_is_wrong_is_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        statements(audited(), **settings)

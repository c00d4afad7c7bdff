"""``xorder audit`` gives what the Python function gives."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import xorder
from support.command_line import Ran
from support.people_files import FORMATS, LABELLED, PEOPLE, table, write


@pytest.fixture(params=FORMATS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write(tmp_path / f"people.{request.param}", table())


def test_audit_as_json_holds_the_numbers_of_the_python_function(succeed: Callable[..., str], file: Path) -> None:
    expected = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert json.loads(succeed("audit", file, *LABELLED, "--json")) == expected.to_dict()


def test_audit_as_text_is_the_printed_audit(succeed: Callable[..., str], file: Path) -> None:
    expected = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert succeed("audit", file, *LABELLED) == f"{expected}\n"


def test_audit_at_another_confidence(succeed: Callable[..., str], file: Path) -> None:
    wide, narrow = (
        json.loads(succeed("audit", file, *LABELLED, "--json", "--confidence", level)) for level in ("0.99", "0.5")
    )
    expected = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, confidence=0.5)
    assert narrow == expected.to_dict()
    assert wide["auc_interval"][0] < narrow["auc_interval"][0]


@pytest.mark.parametrize("kind", ["counts", "sampling"])
def test_audit_with_weights(succeed: Callable[..., str], file: Path, kind: str) -> None:
    expected = xorder.audit(
        PEOPLE.y_true,
        PEOPLE.y_score,
        sensitive_features=PEOPLE.group,
        sample_weight=table()["weight"],
        weights_are=kind,
    )
    found = succeed("audit", file, *LABELLED, "--weight", "weight", "--weights-are", kind, "--json")
    assert json.loads(found) == expected.to_dict()
    assert expected.auc != xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group).auc


def test_more_than_two_values_are_warned_of(run: Callable[..., Ran], tmp_path: Path) -> None:
    columns = table()
    outcome = [("no", "yes")[y] for y in columns["outcome"]]
    outcome[outcome.index("no")] = "unknown"
    people = write(tmp_path / "people.csv", columns | {"outcome": outcome})
    ran = run("audit", people, *LABELLED, "--positive", "yes")
    assert ran.code == 0
    assert re.fullmatch(r"xorder: warning: [^\n]*'unknown'[^\n]*\n", ran.err)


def test_a_score_that_is_upside_down(run: Callable[..., Ran], tmp_path: Path) -> None:
    people = write(tmp_path / "people.csv", table() | {"score": [-score for score in table()["score"]]})
    ran = run("audit", people, *LABELLED)
    assert "positives are mostly ranked below negatives" in ran.err
    assert ran.code == 0


def test_groups_that_look_alike(run: Callable[..., Ran], tmp_path: Path) -> None:
    groups = [f"{group} " if row % 9 == 0 else group for row, group in enumerate(table()["group"])]
    ran = run("audit", write(tmp_path / "people.csv", table() | {"group": groups}), *LABELLED)
    assert "groups 'A', 'A ' differ in blanks or case alone" in ran.err


def test_a_row_without_a_group(refuse: Callable[..., str], tmp_path: Path) -> None:
    columns = table()
    columns["group"][9] = ""
    people = write(tmp_path / "people.csv", columns)
    error = refuse("audit", people, *LABELLED)
    assert "column 'group' must name a group for each row; 1 row has none, line 11." in error


def test_a_group_of_one_class_is_audited_with_a_warning(run: Callable[..., Ran], tmp_path: Path) -> None:
    columns = table()
    columns["outcome"] = [
        0 if group == "B" else y for group, y in zip(columns["group"], columns["outcome"], strict=True)
    ]
    people = write(tmp_path / "people.csv", columns)
    ran = run("audit", people, *LABELLED)
    assert ran.code == 0
    assert re.fullmatch(r"xorder: warning: group 'B' [^\n]*no positives[^\n]*\n", ran.err)
    assert "not known" in ran.out
    ran = run("audit", people, *LABELLED, "--json")
    assert (ran.code, ran.err.count("\n")) == (0, 1)
    assert json.loads(ran.out)["xauc"][1] == [None, None]


@pytest.mark.parametrize(
    ("written", "cut"), [("5%", 0.05), ("2.5%", 0.025), ("40", 40), ("score:0.3", xorder.Threshold(0.3))]
)
def test_a_cut_is_a_share_a_number_of_places_or_a_score(
    succeed: Callable[..., str], people: Path, written: str, cut: object
) -> None:
    found = json.loads(succeed("audit", people, *LABELLED, "--cut", written, "--json"))["cuts"]
    audit = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert [gap["value"] for gap in found] == [audit.cut_gap().value, audit.cut_gap(cut).value]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("5", None),
        (
            "five",
            "a cut is a share of the list such as 5%, a number of places such as 200, or a score such as score:0.3; "
            "got 'five'",
        ),
        ("500%", "a cut is a share of the list such as 5%"),
        ("0", "a cut is a share of the list such as 5%"),
        ("1000000", "must be from 1 up to the number of rows"),
    ],
)
def test_what_is_not_a_cut(run: Callable[..., Ran], people: Path, written: str, words: str | None) -> None:
    ran = run("audit", people, *LABELLED, "--cut", written)
    assert (ran.code == 0) == (words is None)
    assert words is None or words in " ".join(ran.err.split())


class TestTables:
    @pytest.mark.parametrize("name", ["groups", "cuts", "calibration", "net_benefit", "scores"])
    def test_those_of_python(self, succeed: Callable[..., str], file: Path, name: str) -> None:
        expected = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group).table(name)
        assert json.loads(succeed("audit", file, *LABELLED, "--table", name, "--format", "json")) == expected.to_dict()
        assert succeed("audit", file, *LABELLED, "--table", name) == expected.to_markdown() + "\n"
        assert succeed("audit", file, *LABELLED, "--table", name, "--format", "csv") == expected.to_csv()

    def test_several_and_a_file(self, succeed: Callable[..., str], file: Path, tmp_path: Path) -> None:
        names = ("--table", "groups", "--table", "gaps", "--suppress", "11")
        both = json.loads(succeed("audit", file, *LABELLED, *names, "--json"))
        assert [each["table"] for each in both] == ["groups", "gaps"]
        told = succeed("audit", file, *LABELLED, *names, "-o", tmp_path / "tables.md")
        assert told == f"Wrote groups, gaps to {tmp_path / 'tables.md'}.\n"
        text = (tmp_path / "tables.md").read_text(encoding="utf-8")
        assert text.startswith("## groups\n\n| group")
        assert "\n## gaps\n" in text

    def test_before_and_after_a_map(self, succeed: Callable[..., str], file: Path, tmp_path: Path) -> None:
        succeed("fit", file, *LABELLED, "-o", tmp_path / "map.json")
        told = succeed("audit", file, *LABELLED, "--cut", "40", "--table", "moves", "--map", tmp_path / "map.json")
        assert "| 40 places |" in told
        audit = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, cuts=[40])
        repair = xorder.load(tmp_path / "map.json")
        assert told == audit.table("moves", repair=repair).to_markdown() + "\n"

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--suppress", "11"], "--suppress is about tables"),
            (["--format", "csv", "-o", "x.csv"], "--format and --output are about tables"),
            (["--table", "groups", "--table", "gaps", "--format", "csv"], "a csv file holds one table"),
            (["--table", "cuts", "--cut", "100000"], "a number of places must be from 1 up to the number of rows"),
            (["--table", "cuts", "--reference", "Z"], "must be one of"),
            (["--table", "net_benefit", "--threshold", "20"], "--threshold must be probabilities between 0 and 1"),
            (["--table", "moves"], "needs a repair"),
            (["--table", "cuts", "--suppress", "0"], "suppress"),
        ],
    )
    def test_mistakes(self, refuse: Callable[..., str], file: Path, options: list[str], said: str) -> None:
        assert said in refuse("audit", file, *LABELLED, *options)


def test_the_text_is_about_the_metric_and_pair_asked_for(succeed: Callable[..., str], file: Path) -> None:
    found = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert succeed("audit", file, *LABELLED, "--metric", "prf") == found.describe(metric="prf") + "\n"
    assert succeed("audit", file, *LABELLED, "--pair", "B", "A", "--all") == (
        found.describe(pair=("B", "A"), everything=True) + "\n"
    )

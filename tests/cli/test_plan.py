"""``xorder plan``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.command_line import Ran
from support.people_files import LABELLED

KNOWN = ["--prevalence", "0.3", "--auc", "0.8"]


@pytest.mark.slow
def test_from_a_few_numbers(run: Callable[..., Ran]) -> None:
    said = run("plan", "--gap", "0.1", *KNOWN).out
    assert said.startswith("xAUC gap: to detect a gap of 0.1 takes ")
    record = json.loads(run("plan", "--gap", "0.1", *KNOWN, "--json").out)
    assert f"{record['rows']:,} people" in " ".join(said.split())
    shares = ["--group-shares", "men=3,women=1", "--prevalence", "men=0.1,women=0.2", "--auc", "0.8"]
    record = json.loads(run("plan", "--limit", "0.1", "--repair", *shares, "--design-effect", "2", "--json").out)
    assert record["groups"] == ["men", "women"]
    assert record["question"] == "repair"
    assert record["by_group"][0] == pytest.approx(3 * record["by_group"][1], abs=3)


def test_from_a_file(run: Callable[..., Ran], people: Path) -> None:
    record = json.loads(run("plan", str(people), *LABELLED, "--gap", "0.2", "--json").out)
    assert record["times"] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give --gap to detect a gap, or --limit to show that it is below one"),
        (["--gap", "0.1"], "give an audit, or --prevalence and --auc"),
        (["--gap", "0.1", "--score", "score", *KNOWN], "name FILE, or leave them out"),
        (["people.csv", "--gap", "0.1"], "the following options are required: --score, --label, --group"),
        (["--gap", "2", *KNOWN], "--gap must lie between 0 and 1; got 2.0"),
        (["--gap", "0.1", "--prevalence", "x", "--auc", "0.8"], "give a number such as 0.1, or one per group"),
    ],
)
def test_what_is_wrong_takes_one_line(refuse: Callable[..., str], arguments: list[str], words: str) -> None:
    assert words in refuse("plan", *arguments)


@pytest.mark.slow
def test_fit_promises_and_looks_ahead(run: Callable[..., Ran], people: Path, tmp_path: Path) -> None:
    asked = ["fit", people, *LABELLED, "-o", tmp_path / "map.json", "--force", "--confidence", "0.9"]
    said = " ".join(run(*asked, "--max-gap", "0.15", "--next", "2000").out.split())
    assert "With 90 % confidence, among all people of whom these 900 rows are a sample, the xAUC gap" in said
    assert "90 % interval after" in said
    assert "Of 2,000 new people like these, the gap A - B will lie between" in said
    ran = run(*asked, "--max-gap", "0.02", "--json", "--next", "500")
    record = json.loads(ran.out)
    assert ran.err == ""
    assert record["promise"]["needed"] > 900
    assert record["next"]["rows"] == 500
    low, high = record["next"]["interval"]
    assert low < 0 < high
    assert json.loads((tmp_path / "map.json").read_text())["summary"]["promise"] == record["promise"]


def test_fit_looks_ahead_to_people_only(refuse: Callable[..., str], people: Path, tmp_path: Path) -> None:
    asked = ["fit", people, *LABELLED, "-o", tmp_path / "new.json"]
    assert "--next must be a finite number above 0; got 0.0" in refuse(*asked, "--next", "0")

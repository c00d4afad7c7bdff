"""``xorder audit --table ll144`` gives the table of the Python function, without a label."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.command_line import Ran, one_line
from support.people_files import FORMATS, write
from xorder.metrics import ll144

TABLE = ["--score", "fit", "--group", "sex", "--group", "race", "--table", "ll144"]


def columns() -> dict[str, list[Any]]:
    rng = np.random.default_rng(2)
    sex = rng.choice(["f", "m", ""], 300, p=[0.5, 0.4, 0.1])
    race = rng.choice(["A", "B", "C"], 300)
    return {
        "fit": np.round(rng.random(300), 3).tolist(),
        "sex": sex.tolist(),
        "race": race.tolist(),
        "hired": rng.integers(0, 2, 300).tolist(),
    }


PEOPLE = columns()
CATEGORIES = {name: PEOPLE[name] for name in ("sex", "race")}


@pytest.fixture
def applicants(tmp_path: Path) -> Path:
    return write(tmp_path / "applicants.csv", PEOPLE)


@pytest.mark.parametrize("ending", FORMATS)
def test_the_table_is_that_of_the_python_function(succeed: Callable[..., str], tmp_path: Path, ending: str) -> None:
    file = write(tmp_path / f"applicants.{ending}", PEOPLE)
    wanted = ll144(PEOPLE["fit"], sensitive_features=CATEGORIES)
    assert json.loads(succeed("audit", file, *TABLE, "--format", "json")) == wanted.to_dict()
    assert succeed("audit", file, *TABLE) == f"{wanted.to_markdown()}\n"


def test_the_table_as_csv_in_a_file(run: Callable[..., Ran], applicants: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    ran = run("audit", applicants, *TABLE, "--format", "csv", "-o", out)
    assert (ran.code, ran.out) == (0, f"Wrote ll144 to {out}.\n")
    assert ran.err == (
        "xorder: warning: People of unknown category count for the median and for shares, and belong to no category.\n"
    )
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    wanted = ll144(PEOPLE["fit"], sensitive_features=CATEGORIES).rows
    assert [row["category"] for row in rows] == [row["category"] for row in wanted]
    assert [int(row["people"]) for row in rows] == [row["people"] for row in wanted]
    assert {row["impact_ratio"] for row in rows if row["category"] == "unknown"} == {""}


def test_one_column_has_no_combinations(succeed: Callable[..., str], applicants: Path) -> None:
    found = json.loads(succeed("audit", applicants, "--score", "fit", "--group", "sex", "--table", "ll144", "--json"))
    assert {row["by"] for row in found["rows"]} == {"all", "sex"}


def test_small_numbers_are_suppressed(succeed: Callable[..., str], applicants: Path) -> None:
    found = json.loads(succeed("audit", applicants, *TABLE, "--suppress", "20", "--json"))
    assert found == ll144(PEOPLE["fit"], sensitive_features=CATEGORIES, suppress=20).to_dict()
    assert None in [row["people"] for row in found["rows"]]


def test_beside_tables_of_an_audit_a_label_is_needed(run: Callable[..., Ran], applicants: Path) -> None:
    # Without missing_group these refuse rows of unknown category, which ll144 counts.
    both = ["--table", "groups", "--missing-group", "leave"]
    ran = run("audit", applicants, *TABLE, *both, "--label", "hired", "--json")
    assert [table["table"] for table in json.loads(ran.out)] == ["ll144", "groups"]
    needed = "xorder audit: error: the following arguments are required: --label (see 'xorder audit --help')\n"
    assert one_line(run("audit", applicants, *TABLE, *both)) == needed
    assert one_line(run("audit", applicants, *both, *TABLE)) == needed
    assert one_line(run("audit", applicants, *TABLE[:6])) == needed


def test_weights_are_refused(run: Callable[..., Ran], applicants: Path) -> None:
    said = one_line(run("audit", applicants, *TABLE, "--weight", "hired"))
    assert said == "xorder: error: --weight does not go with --table ll144: the law counts people, each once.\n"


@pytest.mark.parametrize(
    "idle", [["--tolerance", "0.1"], ["--cut", "5%"], ["--missing-group", "leave"], ["--threshold", "0.1"]]
)
def test_options_that_would_do_nothing_are_refused(run: Callable[..., Ran], applicants: Path, idle: list[str]) -> None:
    said = one_line(run("audit", applicants, *TABLE, *idle))
    assert said == f"xorder: error: {idle[0]} has no meaning for --table ll144 alone; leave it out.\n"

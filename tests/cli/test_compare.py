"""``xorder compare`` gives what the Python functions give, and the exit code of an audit says what is tolerated."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import xorder
from support.command_line import Ran, one_line
from support.people_files import LABELLED, PEOPLE, table, write

OTHER = np.round(PEOPLE.y_score + 0.1 * (PEOPLE.group == "B"), 6)
PERSON = [f"p{row // 3}" for row in range(len(PEOPLE.y_true))]


@pytest.fixture(params=["csv", "parquet"])
def people(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write(tmp_path / f"people.{request.param}", table() | {"new": OTHER.tolist(), "person": PERSON})


def test_two_scores_of_a_file(succeed: Callable[..., str], people: Path) -> None:
    rows = {"sensitive_features": PEOPLE.group, "clusters": PERSON}
    expected = xorder.compare(PEOPLE.y_true, PEOPLE.y_score, {"new": OTHER}, **rows)
    compare = ("compare", people, *LABELLED, "--other", "new", "--cluster", "person")
    found = json.loads(succeed(*compare, "--json"))
    for one, two in zip(found.pop("differences"), expected.to_dict()["differences"], strict=True):
        assert {name: pytest.approx(value) if isinstance(value, float) else value for name, value in two.items()} | {
            "interval": pytest.approx(two["interval"])
        } == one
    assert found.items() <= expected.to_dict().items()
    assert succeed(*compare) == f"{expected}\n"


def test_before_and_after_a_map(succeed: Callable[..., str], people: Path, saved: Path) -> None:
    found = json.loads(succeed("compare", people, *LABELLED, "--map", saved, "--json"))
    adjusted = xorder.load(saved).transform(PEOPLE.y_score, sensitive_features=PEOPLE.group)
    expected = xorder.compare(PEOPLE.y_true, PEOPLE.y_score, {"after": adjusted}, sensitive_features=PEOPLE.group)
    for one, two in zip(found["differences"], expected.to_dict()["differences"], strict=True):
        assert (one["value"], one["stderr"]) == pytest.approx((two["value"], two["stderr"]), rel=1e-6)


def test_two_saved_audits(succeed: Callable[..., str], people: Path, tmp_path: Path) -> None:
    for name, score in (("one", "score"), ("two", "new")):
        columns = [score if word == "score" else word for word in LABELLED]
        (tmp_path / name).write_text(succeed("audit", people, *columns, "--json"), encoding="utf-8")
    assert "Two different samples" in succeed("compare", tmp_path / "one", tmp_path / "two")


def test_what_cannot_be_compared_is_told(run: Callable[..., Ran], people: Path, tmp_path: Path) -> None:
    given = ("compare", people, *LABELLED)
    assert "name what to compare with: --other COLUMN, or --map MAP" in one_line(run(*given))
    assert "the following options are required: --score, --label, --group" in one_line(run("compare", people))
    assert "has no column 'nobody'" in one_line(run(*given, "--other", "nobody"))
    assert "is no JSON" in one_line(run("compare", people, people))
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    assert "that is no audit" in one_line(run("compare", tmp_path / "other.json", tmp_path / "other.json"))


@pytest.mark.parametrize(
    ("tolerance", "code", "word"), [("1", 0, "within"), ("0.01", 1, "beyond"), ("gap", 3, "cannot tell")]
)
def test_the_exit_code_says_what_became_of_the_tolerance(
    run: Callable[..., Ran], people: Path, tolerance: str, code: int, word: str
) -> None:
    gap = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group).gap("xauc").value
    limit = f"{abs(gap):.4f}" if tolerance == "gap" else tolerance
    ran = run("audit", people, *LABELLED, "--tolerance", limit)
    assert ran.code == code
    assert ran.out.endswith(f"Tolerance {float(limit):g} for xauc gaps: {word}.\n")
    record = run("audit", people, *LABELLED, "--tolerance", limit, "--json")
    assert (record.code, json.loads(record.out)["verdict"]) == (code, word)


def test_a_tolerance_of_cuts_comes_besides(run: Callable[..., Ran], people: Path) -> None:
    alone = run("audit", people, *LABELLED, "--tolerance-cut", "0.1")
    assert "--tolerance-cut comes besides --tolerance" in one_line(alone)
    ran = run("audit", people, *LABELLED, "--tolerance", "1", "--tolerance-cut", "0.001")
    assert ran.code in (1, 3)


def test_a_map_of_numbers_serves_their_texts(
    succeed: Callable[..., str], run: Callable[..., Ran], tmp_path: Path
) -> None:
    numbers = np.where(PEOPLE.group == "B", 2, 1)
    saved = tmp_path / "numbers.json"
    repair = xorder.XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=numbers)
    repair.save(saved)
    people = write(tmp_path / "numbers.csv", table() | {"group": numbers.tolist()})
    found = json.loads(succeed("compare", people, *LABELLED, "--map", saved, "--json"))
    adjusted = repair.transform(PEOPLE.y_score, sensitive_features=numbers)
    expected = xorder.compare(PEOPLE.y_true, PEOPLE.y_score, {"after": adjusted}, sensitive_features=numbers)
    assert found["groups"] == ["1", "2"]
    for one, two in zip(found["differences"], expected.to_dict()["differences"], strict=True):
        assert (one["value"], one["stderr"]) == pytest.approx((two["value"], two["stderr"]), rel=1e-6)
    others = write(tmp_path / "others.csv", table() | {"group": (numbers + 1).tolist()})
    assert "group '3' was not seen in fit" in one_line(run("compare", others, *LABELLED, "--map", saved))


def test_options_that_saved_audits_cannot_use_are_refused(
    succeed: Callable[..., str], run: Callable[..., Ran], people: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "audit.json"
    saved.write_text(succeed("audit", people, *LABELLED, "--cut", "20", "--json"), encoding="utf-8")
    assert "at 20 places" in succeed("compare", saved, saved, "--confidence", "0.9")
    ran = run("compare", saved, saved, "--score", "score", "--cut", "5%", "--cluster", "person")
    assert (
        "two saved audits hold numbers, and no rows: they cannot be compared with --cluster, --cut, --score."
        in one_line(ran)
    )

"""``xorder apply`` adds the scores that the Python class gives, and changes nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import xorder
from support.command_line import Ran
from support.people_files import COLUMNS, FORMATS, PEOPLE, ROWS, read, table, write


@pytest.fixture(params=FORMATS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write(tmp_path / f"people.{request.param}", table())


def test_apply_to_another_score_is_told(run: Callable[..., Ran], saved: Path, people: Path, tmp_path: Path) -> None:
    text = people.read_text(encoding="utf-8").splitlines()
    other = tmp_path / "percent.csv"
    place = text[0].split(",").index("score")
    lines = [text[0]]
    for line in text[1:]:
        cells = line.split(",")
        cells[place] = repr(100 * float(cells[place]))
        lines.append(",".join(cells))
    other.write_text("\n".join(lines) + "\n", encoding="utf-8")
    ran = run("apply", other, *COLUMNS, "--map", saved, "-o", tmp_path / "out.csv")
    assert ran.code == 0
    assert "is it the same score, on the same scale?" in ran.err
    assert ran.err.count("\n") == 1


def test_apply_adds_the_transformed_scores(
    succeed: Callable[..., str], saved: Path, file: Path, tmp_path: Path
) -> None:
    out = file.with_name(f"out.{file.name.partition('.')[2]}")
    printed = succeed("apply", file, *COLUMNS, "--map", saved, "-o", out)
    assert printed == f"Wrote {ROWS} rows to {out}; the new column is 'adjusted'.\n"
    expected = xorder.load(saved).transform(PEOPLE.y_score, sensitive_features=PEOPLE.group)
    assert np.any(expected != PEOPLE.y_score)
    before, after = read(file), read(out)
    assert list(after) == [*before, "adjusted"]
    assert [float(value) for value in after.pop("adjusted")] == expected.tolist()
    assert after == before


def test_apply_as_json(succeed: Callable[..., str], saved: Path, file: Path) -> None:
    out = file.with_name(f"out.{file.name.partition('.')[2]}")
    printed = succeed("apply", file, *COLUMNS, "--map", saved, "-o", out, "--into", "fair", "--json")
    assert json.loads(printed) == {"rows": ROWS, "left_alone": 0, "column": "fair", "output": str(out)}
    assert list(read(out))[-1] == "fair"


def test_each_byte_stays_but_for_the_new_column(succeed: Callable[..., str], saved: Path, tmp_path: Path) -> None:
    records = [
        ('\ufeffname; "group";score;note;', "adjusted", "\r\n"),
        ('"Smith; ""Jo""";A;0.50;a;', "{}", "\r\n"),
        ("\r\n", None, ""),
        (' é ;B; 5e-1;"two\nlines";', "{}", "\n"),
        ("z;B;.25;;x", "{}", ""),
    ]
    people = tmp_path / "people.csv"
    people.write_bytes("".join(start + end for start, _, end in records).encode())
    repair = xorder.load(saved)
    adjusted = iter(repair.transform([0.5, 0.5, 0.25], sensitive_features=["A", "B", "B"]).tolist())
    expected = "".join(
        start + (f";{new.format(next(adjusted)) if new == '{}' else new}" if new else "") + end
        for start, new, end in records
    )
    group = ' "group"'
    succeed("apply", people, "--score", "score", "--group", group, "--map", saved, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == expected.encode()


def test_a_map_learnt_on_integer_groups(succeed: Callable[..., str], tmp_path: Path) -> None:
    groups = np.where(PEOPLE.group == "A", 1, 2)
    repair = xorder.XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=groups)
    repair.save(tmp_path / "map.json")
    for ending in FORMATS:
        people = write(tmp_path / f"people.{ending}", table() | {"group": groups.tolist()})
        out = tmp_path / f"out.{ending}"
        succeed("apply", people, *COLUMNS, "--map", tmp_path / "map.json", "-o", out)
        expected = repair.transform(PEOPLE.y_score, sensitive_features=groups)
        assert [float(value) for value in read(out)["adjusted"]] == expected.tolist()


def test_labels_and_rows_of_one_group_only_are_no_need(
    succeed: Callable[..., str], saved: Path, tmp_path: Path
) -> None:
    people = write(tmp_path / "people.csv", {"group": ["B"], "score": [0.3]})
    succeed("apply", people, *COLUMNS, "--map", saved, "-o", tmp_path / "out.csv")
    expected = xorder.load(saved).transform([0.3], sensitive_features=["B"])
    assert float(read(tmp_path / "out.csv")["adjusted"][0]) == expected[0] > 0.3


def test_the_input_itself_may_be_replaced(
    succeed: Callable[..., str], refuse: Callable[..., str], saved: Path, people: Path
) -> None:
    arguments = ["apply", people, *COLUMNS, "--map", saved, "-o", people]
    assert "--force" in refuse(*arguments)
    succeed(*arguments, "--force")
    assert list(read(people)) == [*table(), "adjusted"]
    assert read(people)["id"] == [str(number) for number in table()["id"]]


def test_an_unknown_group_is_named_with_the_known_ones(refuse: Callable[..., str], saved: Path, tmp_path: Path) -> None:
    people = write(tmp_path / "people.csv", {"group": ["A", "Zeta"], "score": [0.3, 0.4]})
    error = refuse("apply", people, *COLUMNS, "--map", saved, "-o", tmp_path / "out.csv")
    assert "'Zeta'" in error
    assert "'A', 'B'" in error


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text[: len(text) // 2], "damaged"),
        (lambda text: text.replace('"B"', '"C"'), "checksum"),
        (lambda text: re.sub(r'("auc": 0\.)\d', r"\g<1>1", text), "checksum"),
        (lambda text: re.sub(r'("version": )\d', r"\g<1>99", text), "version"),
        (lambda _: "", "not a map"),
        (lambda _: "id,score\n1,2\n", "not a map"),
        (lambda _: "{}", "not a map"),
    ],
)
def test_a_damaged_map(
    refuse: Callable[..., str],
    saved: Path,
    people: Path,
    tmp_path: Path,
    damage: Callable[[str], str],
    words: str,
) -> None:
    text = saved.read_text(encoding="utf-8")
    assert damage(text) != text
    saved.write_text(damage(text), encoding="utf-8")
    error = refuse("apply", people, *COLUMNS, "--map", saved, "-o", tmp_path / "out.csv")
    assert str(saved) in error
    assert words in error


def test_a_map_that_is_not_there(refuse: Callable[..., str], people: Path, tmp_path: Path) -> None:
    error = refuse("apply", people, *COLUMNS, "--map", tmp_path / "no.json", "-o", tmp_path / "out.csv")
    assert "no map file" in error


def test_a_folder_for_a_map(refuse: Callable[..., str], people: Path, tmp_path: Path) -> None:
    error = refuse("apply", people, *COLUMNS, "--map", tmp_path, "-o", tmp_path / "out.csv")
    assert "folder" in error


@pytest.mark.parametrize("ending", FORMATS)
def test_a_column_that_exists(refuse: Callable[..., str], saved: Path, tmp_path: Path, ending: str) -> None:
    people, out = write(tmp_path / f"people.{ending}", table()), tmp_path / f"out.{ending}"
    error = refuse("apply", people, *COLUMNS, "--map", saved, "-o", out, "--into", "weight")
    assert "'weight' already" in error
    assert "--into" in error


@pytest.mark.parametrize(("ending", "other"), [("csv", "parquet"), ("parquet", "csv"), ("parquet", "csv.gz")])
def test_an_output_of_another_format(
    refuse: Callable[..., str], saved: Path, tmp_path: Path, ending: str, other: str
) -> None:
    people = write(tmp_path / f"people.{ending}", table())
    error = refuse("apply", people, *COLUMNS, "--map", saved, "-o", tmp_path / f"out.{other}")
    assert f"name a {ending} file" in error


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_unseen_groups(
    succeed: Callable[..., str], refuse: Callable[..., str], saved: Path, tmp_path: Path, ending: str
) -> None:
    columns = table()
    columns["group"][20] = columns["group"][30] = "C"
    people, out = write(tmp_path / f"people.{ending}", columns), tmp_path / f"out.{ending}"
    arguments = ["apply", people, *COLUMNS, "--map", saved, "-o", out]
    place = "line 22" if ending == "csv" else "row 20"
    error = refuse(*arguments)
    assert f"group 'C' was not seen in fit (2 rows, the first in {place}); the known groups are 'A', 'B'" in error
    assert error.endswith("or leave its scores as they are with --unseen-group leave.\n")
    succeed(*arguments, "--unseen-group", "leave")
    assert [float(read(out)["adjusted"][row]) for row in (20, 30)] == [columns["score"][row] for row in (20, 30)]


class TestExplain:
    def test_one_row_is_explained_as_python_does(
        self, succeed: Callable[..., str], saved: Path, file: Path, tmp_path: Path
    ) -> None:
        out = file.with_name(f"out.{file.name.partition('.')[2]}")
        apply = ("apply", file, *COLUMNS, "--map", saved, "-o", out, "--force", "--explain", "3")
        expected = xorder.load(saved).explain(float(PEOPLE.y_score[2]), str(PEOPLE.group[2]))
        assert succeed(*apply).splitlines()[1] == f"Row 3: {expected}"
        assert json.loads(succeed(*apply, "--json"))["explained"] == expected

    @pytest.mark.parametrize("row", ["0", str(ROWS + 1), "-1"])
    def test_a_row_that_is_not_there(self, refuse: Callable[..., str], saved: Path, people: Path, row: str) -> None:
        error = refuse("apply", people, *COLUMNS, "--map", saved, "-o", people.with_name("o.csv"), f"--explain={row}")
        assert f"there is no row {row} to explain: {people} has {ROWS} rows, the first being 1." in error


class TestCut:
    """``--cut`` adds who is in and who is out, before and after."""

    def test_who_enters_and_leaves_is_said_and_written(
        self, succeed: Callable[..., str], saved: Path, file: Path
    ) -> None:
        out = file.with_name(f"out.{file.name.partition('.')[2]}")
        apply = ("apply", file, *COLUMNS, "--map", saved, "-o", out, "--force", "--cut", "200")
        printed = succeed(*apply)
        found = read(out)
        assert list(found) == [*table(), "adjusted", "selected_before", "selected_after"]
        adjusted = np.array(found["adjusted"], dtype=float)
        first, second = (set(np.argsort(-scores)[:200].tolist()) for scores in (PEOPLE.y_score, adjusted))
        for name, chosen in (("selected_before", first), ("selected_after", second)):
            assert found[name] == ["in" if row in chosen else "out" for row in range(ROWS)]
        counts = {}
        for group in "AB":
            own = set(np.flatnonzero(PEOPLE.group == group).tolist())
            counts[group] = [len(rows & own) for rows in (second - first, first - second, first & second)]
        assert counts["B"][0] > 0
        lines = [f"  {group}: {one} enter, {two} leave, {both} stay in" for group, (one, two, both) in counts.items()]
        enter, leave, stay = map(sum, zip(*counts.values(), strict=True))
        assert printed.splitlines() == [
            f"Wrote {ROWS} rows to {out}; the new columns are 'adjusted', 'selected_before' and 'selected_after'.",
            f"Cut at 200 places: {enter} enter, {leave} leave, {stay} stay in.",
            *lines,
        ]
        result = json.loads(succeed(*apply, "--json"))
        assert result["cut"] == "200 places"
        assert result["selected_columns"] == ["selected_before", "selected_after"]
        moves = {move["group"]: [move[name] for name in ("enters", "leaves", "stays_in")] for move in result["moves"]}
        assert moves == counts

    def test_ties_are_left_to_the_user(self, succeed: Callable[..., str], saved: Path, tmp_path: Path) -> None:
        groups = ["A", "A", "A", "A", "", "Z"]
        people = write(tmp_path / "people.csv", {"group": groups, "score": [0.9, 0.5, 0.5, 0.5, 0.7, 0.1]})
        leave = ["--missing-group", "leave", "--unseen-group", "leave"]
        apply = ("apply", people, *COLUMNS, "--map", saved, "-o", people, "--force", *leave)
        printed = succeed(*apply, "--cut", "50%")
        assert printed.splitlines()[1:] == [
            "Cut at 50 %: 0 enter, 0 leave, 2 stay in.",
            "  A: 0 enter, 0 leave, 1 stay in",
            "  missing or unseen: 0 enter, 0 leave, 1 stay in",
            "Tied at the cut, where places are too few for all of them: 3 before, 3 after. They are in none of these "
            "counts; which of them to take is for you to decide.",
        ]
        found = read(people)
        assert found["selected_before"] == found["selected_after"] == ["in", "tied", "tied", "tied", "in", "out"]
        people = write(people, {"group": groups, "score": [0.9, 0.5, 0.5, 0.5, 0.7, 0.1]})
        moves = json.loads(succeed(*apply, "--cut", "3", "--json"))["moves"]
        assert [(move["group"], move["tied_before"], move["tied_after"]) for move in moves] == [
            ("A", 3, 3),
            (None, 0, 0),
        ]
        people = write(people, {"group": groups, "score": [0.9, 0.5, 0.5, 0.5, 0.7, 0.1]})
        assert "score from 0.5: 0 enter, 0 leave, 5 stay in." in succeed(*apply, "--cut", "score:0.5")

    @pytest.mark.parametrize(
        ("cuts", "words"),
        [
            (["901"], "a number of places must be from 1 up to the number of rows, 900; got 901."),
            (["0.1%"], "0.1 % of 900 rows is less than one place; name a larger share, or a number of places."),
            (["0"], "a cut is a share of the list such as 5%"),
            (["100%"], "a cut is a share of the list such as 5%"),
            (["150%"], "a cut is a share of the list such as 5%"),
            (["few"], "a cut is a share of the list such as 5%"),
            (["5%", "200"], "--cut is given twice; give it once"),
        ],
    )
    def test_cuts_that_are_refused(
        self, refuse: Callable[..., str], saved: Path, file: Path, cuts: list[str], words: str
    ) -> None:
        out = file.with_name(f"out.{file.name.partition('.')[2]}")
        options = [word for cut in cuts for word in ("--cut", cut)]
        assert words in refuse("apply", file, *COLUMNS, "--map", saved, "-o", out, *options)
        assert not out.exists()

    def test_columns_that_are_there(self, refuse: Callable[..., str], saved: Path, tmp_path: Path) -> None:
        people = write(tmp_path / "people.csv", table() | {"selected_after": ["in"] * ROWS})
        apply = ("apply", people, *COLUMNS, "--map", saved, "-o", tmp_path / "out.csv", "--cut", "5%")
        error = refuse(*apply)
        assert "has a column 'selected_after' already, which --cut adds; rename it or drop it first." in error
        error = refuse(*apply, "--into", "selected_before")
        assert "--into must not be 'selected_before', which is a column that --cut adds; choose another name." in error
        assert not (tmp_path / "out.csv").exists()


def test_another_column_than_fit_had_is_told(
    run: Callable[..., Ran], succeed: Callable[..., str], people: Path, tmp_path: Path
) -> None:
    succeed("fit", people, *COLUMNS, "--label", "outcome", "-o", tmp_path / "m.json")
    other = tmp_path / "other.csv"
    text = people.read_text(encoding="utf-8")
    other.write_text(text.replace("score", "risk", 1), encoding="utf-8")
    columns = ["risk" if word == "score" else word for word in COLUMNS]
    ran = run("apply", other, *columns, "--map", tmp_path / "m.json", "-o", tmp_path / "out.csv")
    assert ran.code == 0
    assert "fitted to scores of the column 'score', and is applied to 'risk'; is it the same score?" in ran.err

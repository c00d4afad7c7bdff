"""What commands share: files, columns, outputs and options; what is wrong with them takes one line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import xorder
from support.command_line import Ran, files, one_line, shell
from support.people_files import COLUMNS, LABELLED, PEOPLE, ROWS, commands, read, table, write
from xorder._metric import METRICS

SEXES = ("female", "male")


@pytest.mark.parametrize("command", ["audit", "fit", "apply"])
class TestInput:
    """What is wrong with the file is told the same way by each command that reads one."""

    def test_a_missing_column_shows_the_nearest(
        self, refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path, command: str
    ) -> None:
        arguments = commands(people, saved, tmp_path)[command]
        arguments[arguments.index("score")] = "Scores"
        error = refuse(*arguments)
        assert "no column 'Scores'" in error
        assert "did you mean 'score'?" in error

    def test_a_column_like_no_other_shows_them_all(
        self, refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path, command: str
    ) -> None:
        arguments = commands(people, saved, tmp_path)[command]
        arguments[arguments.index("group")] = "xyzzy"
        assert "'id', 'group', 'outcome', 'score', 'weight'" in refuse(*arguments)

    @pytest.mark.parametrize("bad", ["nan", "inf", "-Infinity", "", "0,5", "n/a"])
    def test_a_score_that_is_no_finite_number(
        self, refuse: Callable[..., str], saved: Path, tmp_path: Path, command: str, bad: str
    ) -> None:
        columns = table()
        columns["score"][41] = bad
        people = write(tmp_path / "people.csv", columns)
        error = refuse(*commands(people, saved, tmp_path)[command])
        assert "column 'score' must be finite; line 43 " in error
        assert (f"holds {bad!r}" if bad else "is empty") in error

    def test_a_score_of_nan_in_parquet(
        self, refuse: Callable[..., str], saved: Path, tmp_path: Path, command: str
    ) -> None:
        columns = table()
        columns["score"][41] = float("nan")
        people = write(tmp_path / "people.parquet", columns)
        assert "row 41 holds 'nan'" in refuse(*commands(people, saved, tmp_path)[command])

    def test_an_empty_file(
        self, refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path, command: str
    ) -> None:
        people.write_bytes(b"")
        assert "is empty" in refuse(*commands(people, saved, tmp_path)[command])

    def test_a_header_and_no_rows(
        self, refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path, command: str
    ) -> None:
        people.write_text("group,outcome,score\n", encoding="utf-8")
        assert "no rows" in refuse(*commands(people, saved, tmp_path)[command])

    def test_ten_thousand_groups(self, refuse: Callable[..., str], saved: Path, tmp_path: Path, command: str) -> None:
        ids = list(range(10_000))
        columns = {"group": ids, "outcome": [number % 2 for number in ids], "score": ids}
        people = write(tmp_path / "people.csv", columns)
        error = refuse(*commands(people, saved, tmp_path)[command])
        words = "group '0' was not seen in fit" if command == "apply" else "more than 100 distinct values"
        assert words in error
        assert len(error) < 300

    def test_bytes_that_are_not_utf_8(
        self,
        succeed: Callable[..., str],
        refuse: Callable[..., str],
        people: Path,
        saved: Path,
        tmp_path: Path,
        command: str,
    ) -> None:
        lines = people.read_bytes().splitlines(keepends=True)
        lines[0] = b"ann\xe9e," + lines[0]
        lines[1:] = [b"1," + line for line in lines[1:]]
        lines[7] = b"\xfc" + lines[7]
        people.write_bytes(b"".join([lines[0].replace(b"\xe9", b"e"), *lines[1:]]))
        error = refuse(*commands(people, saved, tmp_path)[command])
        assert "line 8:" in error
        assert "0xfc" in error
        assert "--encoding latin-1" in error
        people.write_bytes(b"".join(lines))
        assert "line 1:" in refuse(*commands(people, saved, tmp_path)[command])
        succeed(*commands(people, saved, tmp_path)[command], "--encoding", "latin-1")
        if command == "apply":
            written = (tmp_path / "new.csv").read_bytes().splitlines(keepends=True)
            assert [line.rpartition(b",")[0] + b"\n" for line in written] == lines

    def test_an_encoding_that_does_not_exist(
        self, refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path, command: str
    ) -> None:
        assert "'klingon'" in refuse(*commands(people, saved, tmp_path)[command], "--encoding", "klingon")

    def test_a_folder(self, refuse: Callable[..., str], saved: Path, tmp_path: Path, command: str) -> None:
        (tmp_path / "sub.csv").mkdir()
        assert "is a folder" in refuse(*commands(tmp_path / "sub.csv", saved, tmp_path)[command])

    def test_a_file_that_does_not_exist(
        self, refuse: Callable[..., str], saved: Path, tmp_path: Path, command: str
    ) -> None:
        error = refuse(*commands(tmp_path / "people.csv", saved, tmp_path)[command])
        assert f"{tmp_path / 'people.csv'} does not exist" in error

    def test_an_unknown_ending(
        self, refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path, command: str
    ) -> None:
        people = people.rename(tmp_path / "people.xlsx")
        error = refuse(*commands(people, saved, tmp_path)[command])
        assert "the format of" in error
        assert ".parquet" in error
        assert ".csv.gz" in error

    def test_a_record_of_too_many_fields(
        self, refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path, command: str
    ) -> None:
        people.write_bytes(people.read_bytes() + b"1,A,0,0.5,1,surplus\n")
        assert f"line {ROWS + 2}:" in refuse(*commands(people, saved, tmp_path)[command])

    def test_a_file_name_with_a_line_break(
        self, refuse: Callable[..., str], saved: Path, tmp_path: Path, command: str
    ) -> None:
        refuse(*commands(tmp_path / "two\nlines.csv", saved, tmp_path)[command])


class TestLabels:
    @pytest.fixture
    def words(self, tmp_path: Path) -> Path:
        columns = table()
        return write(tmp_path / "words.csv", columns | {"outcome": [("no", "yes")[y] for y in columns["outcome"]]})

    @pytest.mark.parametrize("command", ["audit", "fit"])
    def test_words_need_the_positive_one(
        self, succeed: Callable[..., str], refuse: Callable[..., str], words: Path, tmp_path: Path, command: str
    ) -> None:
        arguments = commands(words, tmp_path, tmp_path)[command]
        error = refuse(*arguments)
        assert "first in line 2" in error
        assert "name it with --positive." in error
        found = json.loads(succeed(*arguments, "--positive", "yes", "--json"))
        expected = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
        assert found["auc" if command == "audit" else "auc_before"] == pytest.approx(expected.auc, abs=1e-12)

    def test_a_positive_value_that_is_not_there(self, refuse: Callable[..., str], words: Path) -> None:
        error = refuse("audit", words, *LABELLED, "--positive", "ja")
        assert "'ja'" in error
        assert "'yes'" in error
        assert "'no'" in error


class TestGroups:
    def test_one_group_cannot_be_compared(self, refuse: Callable[..., str], tmp_path: Path) -> None:
        people = write(tmp_path / "people.csv", table() | {"group": ["all"] * ROWS})
        assert "only one: 'all'" in refuse("audit", people, *LABELLED)
        assert "two groups" in refuse("fit", people, *LABELLED, "-o", tmp_path / "map.json")


class TestColumns:
    """What a missing or unseen group is, what weights are, and what is noticed: the same in each command."""

    @pytest.fixture
    def with_blanks(self, tmp_path: Path) -> Path:
        columns = table()
        columns["group"] = ["  " if row % 10 == 3 else group for row, group in enumerate(columns["group"])]
        return write(tmp_path / "blanks.csv", columns)

    @pytest.mark.slow
    @pytest.mark.parametrize("command", ["audit", "fit", "apply", "report"])
    def test_missing_groups(
        self,
        run: Callable[..., Ran],
        refuse: Callable[..., str],
        with_blanks: Path,
        saved: Path,
        tmp_path: Path,
        command: str,
    ) -> None:
        known = commands(with_blanks, saved, tmp_path) | {"report": ["report", with_blanks, *LABELLED]}
        arguments = [*known[command], "--json"]
        assert f"{ROWS // 10} rows have none, the first in line 5" in refuse(*arguments)
        for choice, groups in (("leave", ["A", "B"]), ("group", ["A", "B", "missing"])):
            force = ["--force"] if command in ("fit", "apply") else []
            if command == "apply" and choice == "group":
                error = refuse(*arguments, "--missing-group", choice, *force)
                assert f"group 'missing' was not seen in fit ({ROWS // 10} rows, the first in line 5)" in error
                continue
            ran = run(*arguments, "--missing-group", choice, *force)
            assert ran.code == 0, ran.err
            if command == "audit":
                assert json.loads(ran.out)["groups"] == groups
            if command == "apply":
                found = read(tmp_path / "new.csv")
                stays = [row for row, group in enumerate(found["group"]) if not group.strip()]
                assert [found["adjusted"][row] for row in stays] == [found["score"][row] for row in stays]
            elif choice == "leave":
                assert f"{ROWS // 10} rows without a group are left out" in ran.err

    @pytest.mark.parametrize("command", ["audit", "fit", "apply"])
    def test_an_option_given_twice(
        self, refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path, command: str
    ) -> None:
        arguments = commands(people, saved, tmp_path)[command]
        assert "--score is given twice" in refuse(*arguments, "--score", "outcome")
        assert "--json is given twice" in refuse(*arguments, "--json", "--json")

    def test_one_column_for_two_things(self, refuse: Callable[..., str], people: Path) -> None:
        error = refuse("audit", people, "--score", "score", "--label", "score", "--group", "group")
        assert error == "xorder: error: --score and --label both name the column 'score'; each needs one of its own.\n"


class TestOutput:
    @pytest.mark.parametrize("command", ["fit", "apply"])
    def test_an_existing_file_is_replaced_only_by_force(
        self,
        succeed: Callable[..., str],
        refuse: Callable[..., str],
        people: Path,
        saved: Path,
        tmp_path: Path,
        command: str,
    ) -> None:
        arguments = commands(people, saved, tmp_path)[command]
        out = Path(str(arguments[-1]))
        out.write_text("mine", encoding="utf-8")
        error = refuse(*arguments)
        assert str(out) in error
        assert "--force" in error
        succeed(*arguments, "--force")
        if command == "fit":
            assert xorder.load(out).moved_ == ("B",)
        else:
            assert len(read(out)["adjusted"]) == ROWS

    @pytest.mark.parametrize("command", ["fit", "apply"])
    def test_a_replaced_file_survives_a_failure(
        self, refuse: Callable[..., str], saved: Path, tmp_path: Path, command: str
    ) -> None:
        columns = table()
        columns["score"][-1] = "bad"
        arguments = commands(write(tmp_path / "people.csv", columns), saved, tmp_path)[command]
        Path(str(arguments[-1])).write_text("mine", encoding="utf-8")
        assert f"line {ROWS + 1} holds 'bad'" in refuse(*arguments, "--force")

    @pytest.mark.parametrize("command", ["fit", "apply"])
    def test_a_folder_that_does_not_exist(
        self, refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path, command: str
    ) -> None:
        arguments = commands(people, saved, tmp_path / "missing")[command]
        error = refuse(*arguments)
        assert str(tmp_path / "missing") in error
        assert "does not exist" in error

    @pytest.mark.parametrize("command", ["fit", "apply"])
    def test_a_folder_for_an_output(
        self, refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path, command: str
    ) -> None:
        arguments = commands(people, saved, tmp_path)[command]
        Path(str(arguments[-1])).mkdir()
        assert "is a folder" in refuse(*arguments, "--force")

    @pytest.mark.slow
    @pytest.mark.skipif(os.name != "posix", reason="limits on the size of files are those of POSIX")
    @pytest.mark.parametrize(
        ("command", "ending"), [("fit", "csv"), ("apply", "csv"), ("apply", "csv.gz"), ("apply", "parquet")]
    )
    def test_a_full_disk_leaves_nothing(self, saved: Path, tmp_path: Path, command: str, ending: str) -> None:
        people = write(tmp_path / f"people.{ending}", table())
        out = tmp_path / ("new.json" if command == "fit" else f"new.{ending}")
        arguments = commands(people, saved, tmp_path)[command]
        arguments[-1] = out
        launcher = (
            "import resource, sys, pyarrow.parquet; from xorder.cli import main;"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); sys.exit(main(sys.argv[1:]))"
        )
        before = files(tmp_path)
        ran = shell(*arguments, launch=[sys.executable, "-c", launcher])
        error = one_line(ran, code=70)
        assert str(out) in error
        assert "too large" in error
        assert "not your mistake" in error
        assert files(tmp_path) == before


class TestValues:
    @pytest.mark.parametrize(
        ("command", "option", "value", "words"),
        [
            ("audit", "--confidence", "95", "0.95"),
            ("audit", "--confidence", "0", "between 0 and 1"),
            ("audit", "--confidence", "nan", "between 0 and 1"),
            ("audit", "--confidence", "high", "'high'"),
            ("audit", "--weights-are", "guesses", "sampling"),
            ("fit", "--max-gap", "-0.1", "between 0 and 1"),
            ("fit", "--max-gap", "1.5", "between 0 and 1"),
            ("fit", "--max-gap", "nan", "between 0 and 1"),
            ("fit", "--max-gap", "a lot", "'a lot'"),
            ("fit", "--tradeoff", "-1", "from 0 up"),
            ("fit", "--tradeoff", "inf", "from 0 up"),
            ("fit", "--tradeoff", "nan", "from 0 up"),
            ("fit", "--tradeoff", "1,5", "'1,5'"),
            ("fit", "--metric", "auc", "parity"),
            ("fit", "--method", "magic", "frontier"),
            ("fit", "--no-such", "1", "--no-such"),
            ("fit", "--no-such", "two\nlines", "--no-such"),
            ("apply", "--label", "outcome", "--label"),
            ("apply", "--into", "", "--into"),
        ],
    )
    def test_a_bad_value(
        self,
        refuse: Callable[..., str],
        people: Path,
        saved: Path,
        tmp_path: Path,
        command: str,
        option: str,
        value: str,
        words: str,
    ) -> None:
        assert words in refuse(*commands(people, saved, tmp_path)[command], f"{option}={value}")

    @pytest.mark.parametrize(
        ("values", "words"),
        [("-1", "line 2 "), ("nan", "line 2 "), ("heavy", "line 2 "), ("0", "all weights are zero")],
    )
    def test_bad_weights(self, refuse: Callable[..., str], tmp_path: Path, values: str, words: str) -> None:
        people = write(tmp_path / "people.csv", table() | {"weight": [values] * ROWS})
        assert words in refuse("audit", people, *LABELLED, "--weight", "weight")
        assert words in refuse("fit", people, *LABELLED, "--weight", "weight", "-o", tmp_path / "map.json")


class TestLarge:
    """Files that go through DuckDB, made large by saying that everything is."""

    @pytest.fixture(params=["csv", "csv.gz", "parquet"])
    def file(self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr("xorder.engines._tables.in_engine", lambda files, large=0: True)
        return write(tmp_path / f"people.{request.param}", table())

    @pytest.mark.slow
    def test_audit_and_fit_give_the_same_numbers(
        self, succeed: Callable[..., str], file: Path, repair: xorder.XOrder, tmp_path: Path
    ) -> None:
        found = json.loads(succeed("audit", file, *LABELLED, "--json"))
        assert found == xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group).to_dict()
        told = json.loads(succeed("fit", file, *LABELLED, "-o", tmp_path / "map.json", "--json"))
        assert {name: told[name] for name in repair.to_dict()} == repair.to_dict()

    def test_apply_gives_the_same_numbers(
        self, succeed: Callable[..., str], file: Path, saved: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / f"out.{file.name.partition('.')[2]}"
        succeed("apply", file, *COLUMNS, "--map", saved, "-o", out)
        expected = xorder.load(saved).transform(PEOPLE.y_score, sensitive_features=PEOPLE.group)
        np.testing.assert_array_equal([float(value) for value in read(out)["adjusted"]], expected)

    def test_a_complaint_names_the_place(self, refuse: Callable[..., str], file: Path) -> None:
        columns = table()
        columns["score"][200] = float("nan")
        write(file, columns)
        error = refuse("audit", file, *LABELLED)
        assert ("row 200" if file.suffix == ".parquet" else "line 202") in error
        assert "column 'score' must be finite" in error

    def test_many_files_are_one(self, succeed: Callable[..., str], tmp_path: Path) -> None:
        for part in range(3):
            write(tmp_path / f"part{part}.parquet", {name: column[part::3] for name, column in table().items()})
        found = json.loads(succeed("audit", tmp_path / "part*.parquet", *LABELLED, "--json"))
        assert found == xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group).to_dict()


class TestCombinations:
    """Several columns of groups: each combination is a group, named in the order of the columns given."""

    @pytest.fixture
    def people(self, tmp_path: Path) -> Path:
        return write(tmp_path / "people.csv", table() | {"sex": [SEXES[row % 2] for row in range(ROWS)]})

    @pytest.mark.parametrize("names", [("group", "sex"), ("sex", "group")])
    def test_they_are_audited(self, succeed: Callable[..., str], people: Path, names: tuple[str, str]) -> None:
        columns = table() | {"sex": [SEXES[row % 2] for row in range(ROWS)]}
        groups = [f"{one} & {other}" for one, other in zip(*(columns[name] for name in names), strict=True)]
        expected = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=groups)
        first, second = names
        arguments = [people, "--score", "score", "--label", "outcome", "--group", first, "--group", second]
        assert json.loads(succeed("audit", *arguments, "--json")) == expected.to_dict()

    @pytest.mark.slow
    def test_they_are_repaired_and_reported_on(self, run: Callable[..., Ran], people: Path, tmp_path: Path) -> None:
        out = tmp_path / "map.json"
        combined = ["--group", "sex"]
        assert run("fit", people, *LABELLED, *combined, "-o", out).code == 0
        repair = xorder.load(out)
        groups = [f"{group} & {SEXES[row % 2]}" for row, group in enumerate(PEOPLE.group)]
        assert set(repair.maps_) == set(groups)
        assert run("apply", people, *COLUMNS, *combined, "--map", out, "-o", tmp_path / "out.csv").code == 0
        adjusted = [float(value) for value in read(tmp_path / "out.csv")["adjusted"]]
        assert adjusted == repair.transform(PEOPLE.y_score, sensitive_features=groups).tolist()
        told = json.loads(run("report", people, *LABELLED, *combined, "--map", out, "--json").out)
        assert told["names"]["group"] == "group & sex"

    def test_a_missing_part_is_a_missing_group(self, refuse: Callable[..., str], tmp_path: Path) -> None:
        sexes = ["" if row == 7 else SEXES[row % 2] for row in range(ROWS)]
        people = write(tmp_path / "people.csv", table() | {"sex": sexes})
        error = refuse("audit", people, *LABELLED, "--group", "sex")
        assert "must name a group for each row; 1 row has none, line 9." in error
        assert "'sex'" in error

    def test_a_column_that_is_not_there(self, refuse: Callable[..., str], people: Path) -> None:
        assert "no column 'sexes'" in refuse("audit", people, *LABELLED, "--group", "sexes")


class TestIdle:
    """Options that have no effect are said to have none, and everything else happens as without them."""

    @pytest.mark.parametrize(
        ("command", "option", "words"),
        [
            ("audit", ["--weights-are", "sampling"], "--weights-are has no effect without --weight."),
            ("fit", ["--weights-are", "counts"], "--weights-are has no effect without --weight."),
            pytest.param(
                "report",
                ["--unseen-group", "leave"],
                "--unseen-group has no effect without --map.",
                marks=pytest.mark.slow,
            ),
            pytest.param("report", ["--force"], "--force has no effect without --output.", marks=pytest.mark.slow),
        ],
    )
    def test_what_needs_another_option(
        self,
        run: Callable[..., Ran],
        people: Path,
        saved: Path,
        tmp_path: Path,
        command: str,
        option: list[str],
        words: str,
    ) -> None:
        known = commands(people, saved, tmp_path) | {"report": ["report", people, *LABELLED, "--json"]}
        ran = run(*known[command], *option)
        assert (ran.code, ran.err) == (0, f"xorder: warning: {words}\n")
        assert ran.out == run(*known[command], *(["--force"] if command == "fit" else [])).out

    def test_what_has_effect_is_not_noted(self, succeed: Callable[..., str], people: Path, tmp_path: Path) -> None:
        succeed("audit", people, *LABELLED, "--weight", "weight", "--weights-are", "sampling", "--encoding", "utf-8")
        succeed("fit", people, *LABELLED, "-o", tmp_path / "map.json", "--unseen-group", "leave", "--force")

    @pytest.mark.parametrize("command", ["audit", "fit", "apply"])
    def test_an_encoding_of_parquet(self, run: Callable[..., Ran], saved: Path, tmp_path: Path, command: str) -> None:
        people = write(tmp_path / "people.parquet", table())
        ran = run(*commands(people, saved, tmp_path)[command], "--encoding", "latin-1")
        assert (ran.code, ran.err) == (0, "xorder: warning: --encoding has no effect on parquet files.\n")

    def test_an_encoding_of_many_files_of_parquet(self, run: Callable[..., Ran], tmp_path: Path) -> None:
        for part in range(2):
            write(tmp_path / f"part{part}.parquet", {name: column[part::2] for name, column in table().items()})
        ran = run("audit", tmp_path / "part*.parquet", *LABELLED, "--encoding", "latin-1")
        assert (ran.code, ran.err) == (0, "xorder: warning: --encoding has no effect on parquet files.\n")


@pytest.mark.parametrize("command", ["fit", "report"])
def test_a_metric_that_was_added_is_a_choice(
    succeed: Callable[..., str], refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    assert "'prf2'" in refuse(command, "--metric", "prf2")
    monkeypatch.setitem(METRICS, "prf2", METRICS["prf"])
    assert "{xauc,prf,parity,prf2}" in succeed(command, "--help")

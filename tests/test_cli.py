"""Every command as a user runs it: the right numbers, or one line that says what to do and nothing written."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import xorder
from support.command_line import Ran, files, one_line, shell
from xorder._validation import check_tables
from xorder.estimators import expected_gap_tables

# So many that a repair is learnt at once; of fewer, the best of all interleavings is searched for.
ROWS = 900
PEOPLE = xorder.datasets.simulate_population(ROWS, random_state=3)
NEW = xorder.datasets.simulate_population(200, random_state=4)
FORMATS = ["csv", "csv.gz", "parquet"]
COLUMNS = ["--score", "score", "--group", "group"]
LABELLED = [*COLUMNS, "--label", "outcome"]
SCRIPT = Path(sys.executable).with_name("xorder")


def table(people: xorder.datasets.Population = PEOPLE) -> dict[str, list[object]]:
    return {
        "id": list(range(1, people.y_true.size + 1)),
        "group": people.group.tolist(),
        "outcome": people.y_true.tolist(),
        "score": people.y_score.tolist(),
        "weight": [1 + number % 3 for number in range(people.y_true.size)],
    }


def write(path: Path, columns: dict[str, list[object]]) -> Path:
    """Write columns in the format that the ending says."""
    if path.name.endswith(".parquet"):
        pq.write_table(pa.table(columns), path)
        return path
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    data = buffer.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    return path


def read(path: Path) -> dict[str, list[object]]:
    """Read columns back; cells of csv files are text."""
    if path.name.endswith(".parquet"):
        return pq.read_table(path).to_pydict()
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.name.endswith(".gz") else data).decode()
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write(tmp_path / "people.csv", table())


@pytest.fixture(scope="module")
def repair() -> xorder.XOrder:
    """A repair of groups A and B."""
    return xorder.XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)


@pytest.fixture
def saved(repair: xorder.XOrder, tmp_path: Path) -> Path:
    """Its map, in a file."""
    path = tmp_path / "map.json"
    repair.save(path)
    return path


class TestNumbers:
    """The command line gives what the Python functions give."""

    @pytest.fixture(params=FORMATS)
    def file(self, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
        return write(tmp_path / f"people.{request.param}", table())

    def test_audit_as_json_holds_the_numbers_of_the_python_function(
        self, succeed: Callable[..., str], file: Path
    ) -> None:
        expected = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
        assert json.loads(succeed("audit", file, *LABELLED, "--json")) == expected.to_dict()

    def test_audit_as_text_is_the_printed_audit(self, succeed: Callable[..., str], file: Path) -> None:
        expected = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
        assert succeed("audit", file, *LABELLED) == f"{expected}\n"

    def test_audit_at_another_confidence(self, succeed: Callable[..., str], file: Path) -> None:
        wide, narrow = (
            json.loads(succeed("audit", file, *LABELLED, "--json", "--confidence", level)) for level in ("0.99", "0.5")
        )
        expected = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group, confidence=0.5)
        assert narrow == expected.to_dict()
        assert wide["auc_interval"][0] < narrow["auc_interval"][0]

    @pytest.mark.parametrize("kind", ["counts", "sampling"])
    def test_audit_with_weights(self, succeed: Callable[..., str], file: Path, kind: str) -> None:
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

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("ending", "options", "settings"),
        [
            *((ending, [], {}) for ending in FORMATS),
            ("csv", ["--metric", "prf"], {"metric": "prf"}),
            ("csv", ["--max-gap", "0.05"], {"max_gap": 0.05}),
            ("csv", ["--tradeoff", "0.1"], {"tradeoff": 0.1}),
            ("csv", ["--solver", "greedy"], {"solver": "greedy"}),
            ("csv", ["--adjust", "A"], {"adjust": "A"}),
        ],
    )
    def test_fit_learns_what_the_python_class_learns(
        self,
        succeed: Callable[..., str],
        tmp_path: Path,
        ending: str,
        options: list[str],
        settings: dict[str, object],
    ) -> None:
        file, out = write(tmp_path / f"people.{ending}", table()), tmp_path / "map.json"
        printed = json.loads(succeed("fit", file, *LABELLED, "-o", out, "--json", *options))
        repair = xorder.XOrder(**settings).fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
        before = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
        gap = before.gap(repair.metric, (repair.reference_, repair.moved_))
        assert printed.pop("gap_before_interval") == pytest.approx(list(gap.interval), rel=1e-12)
        tables = check_tables(PEOPLE.y_true, PEOPLE.y_score, PEOPLE.group, None)
        expected = expected_gap_tables(repair, tables).to_dict()
        assert printed.pop("expected") == json.loads(json.dumps(expected))
        assert printed == repair.summary() | {"map": str(out)}
        learnt = xorder.load(out)
        assert learnt.get_params() == repair.get_params()
        for scores, groups in ((PEOPLE.y_score, PEOPLE.group), (NEW.y_score, NEW.group)):
            np.testing.assert_array_equal(
                learnt.transform(scores, sensitive_features=groups),
                repair.transform(scores, sensitive_features=groups),
            )

    @pytest.mark.slow
    def test_fit_with_weights(
        self, succeed: Callable[..., str], people: Path, repair: xorder.XOrder, tmp_path: Path
    ) -> None:
        printed = json.loads(succeed("fit", people, *LABELLED, "--weight", "weight", "-o", tmp_path / "m", "--json"))
        weighted = xorder.XOrder().fit(
            PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group, sample_weight=table()["weight"]
        )
        assert printed["auc_before"] == weighted.auc_before_ != repair.auc_before_
        assert printed["auc_after"] == weighted.auc_

    @pytest.mark.slow
    def test_fit_says_what_it_did_and_wrote(
        self, succeed: Callable[..., str], people: Path, repair: xorder.XOrder, tmp_path: Path
    ) -> None:
        printed = succeed("fit", people, *LABELLED, "-o", tmp_path / "m.json")
        gap = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group).gap("xauc", ("A", "B"))
        low, high = gap.interval
        sure = f"95 % interval {low:+.4f} to {high:+.4f}."
        tables = check_tables(PEOPLE.y_true, PEOPLE.y_score, PEOPLE.group, None)
        expected = expected_gap_tables(repair, tables)
        assert expected.caution in str(expected)
        assert printed == (f"{repair.report()}\nThe gap before: {sure}\n\n{expected}\n\nWrote {tmp_path / 'm.json'}\n")

    def test_fit_of_very_few_says_that_nothing_can_be_expected(self, run: Callable[..., Ran], tmp_path: Path) -> None:
        file = tmp_path / "few.csv"
        file.write_text("s,y,g\n.9,1,A\n.4,0,A\n.8,1,B\n.1,0,B\n.3,1,A\n.2,0,A\n", encoding="utf-8")
        fit = ("fit", file, "--score", "s", "--label", "y", "--group", "g")
        printed = run(*fit, "-o", tmp_path / "m.json")
        assert "What to expect on new people cannot be told: the repair cannot be learnt without fold" in printed.out
        assert "group 'B' (positives 1, negatives 1) has a single row of a class" in printed.err
        assert json.loads(run(*fit, "-o", tmp_path / "n.json", "--json").out)["expected"] is None

    @pytest.mark.slow
    def test_fit_says_when_a_gap_cannot_be_told_from_chance(self, succeed: Callable[..., str], tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        rows = zip(rng.random(200), rng.integers(0, 2, 200), rng.choice(["A", "B"], 200), strict=True)
        file = tmp_path / "noise.csv"
        file.write_text("s,y,g\n" + "".join(f"{s},{y},{g}\n" for s, y, g in rows), encoding="utf-8")
        printed = succeed("fit", file, "--score", "s", "--label", "y", "--group", "g", "-o", tmp_path / "m.json")
        assert "It cannot be told from chance; repairing it may do more harm than good." in printed

    def test_apply_to_another_score_is_told(
        self, run: Callable[..., Ran], saved: Path, people: Path, tmp_path: Path
    ) -> None:
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
        self, succeed: Callable[..., str], saved: Path, file: Path, tmp_path: Path
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

    def test_apply_as_json(self, succeed: Callable[..., str], saved: Path, file: Path) -> None:
        out = file.with_name(f"out.{file.name.partition('.')[2]}")
        printed = succeed("apply", file, *COLUMNS, "--map", saved, "-o", out, "--into", "fair", "--json")
        assert json.loads(printed) == {"rows": ROWS, "column": "fair", "output": str(out)}
        assert list(read(out))[-1] == "fair"


class TestApply:
    def test_each_byte_stays_but_for_the_new_column(
        self, succeed: Callable[..., str], saved: Path, tmp_path: Path
    ) -> None:
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

    def test_a_map_learnt_on_integer_groups(self, succeed: Callable[..., str], tmp_path: Path) -> None:
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
        self, succeed: Callable[..., str], saved: Path, tmp_path: Path
    ) -> None:
        people = write(tmp_path / "people.csv", {"group": ["B"], "score": [0.3]})
        succeed("apply", people, *COLUMNS, "--map", saved, "-o", tmp_path / "out.csv")
        expected = xorder.load(saved).transform([0.3], sensitive_features=["B"])
        assert float(read(tmp_path / "out.csv")["adjusted"][0]) == expected[0] > 0.3

    def test_the_input_itself_may_be_replaced(
        self, succeed: Callable[..., str], refuse: Callable[..., str], saved: Path, people: Path
    ) -> None:
        arguments = ["apply", people, *COLUMNS, "--map", saved, "-o", people]
        assert "--force" in refuse(*arguments)
        succeed(*arguments, "--force")
        assert list(read(people)) == [*table(), "adjusted"]
        assert read(people)["id"] == [str(number) for number in table()["id"]]

    def test_an_unknown_group_is_named_with_the_known_ones(
        self, refuse: Callable[..., str], saved: Path, tmp_path: Path
    ) -> None:
        people = write(tmp_path / "people.csv", {"group": ["A", "Zeta"], "score": [0.3, 0.4]})
        error = refuse("apply", people, *COLUMNS, "--map", saved, "-o", tmp_path / "out.csv")
        assert "'Zeta'" in error
        assert "'A', 'B'" in error

    @pytest.mark.parametrize(
        ("damage", "words"),
        [
            (lambda text: text[: len(text) // 2], "damaged"),
            (lambda text: text.replace('"B"', '"C"'), "checksum"),
            (lambda text: re.sub(r'("auc_after": 0\.)\d', r"\g<1>1", text), "checksum"),
            (lambda text: text.replace('"version": 1', '"version": 2'), "version"),
            (lambda _: "", "not a map"),
            (lambda _: "id,score\n1,2\n", "not a map"),
            (lambda _: "{}", "not a map"),
        ],
    )
    def test_a_damaged_map(
        self,
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

    def test_a_map_that_is_not_there(self, refuse: Callable[..., str], people: Path, tmp_path: Path) -> None:
        error = refuse("apply", people, *COLUMNS, "--map", tmp_path / "no.json", "-o", tmp_path / "out.csv")
        assert "no map file" in error

    def test_a_folder_for_a_map(self, refuse: Callable[..., str], people: Path, tmp_path: Path) -> None:
        error = refuse("apply", people, *COLUMNS, "--map", tmp_path, "-o", tmp_path / "out.csv")
        assert "folder" in error

    def test_a_map_by_rank_is_refused(self, refuse: Callable[..., str], people: Path, tmp_path: Path) -> None:
        repair = xorder.XOrder(transfer="rank")
        repair.fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)
        repair.save(tmp_path / "rank.json")
        error = refuse("apply", people, *COLUMNS, "--map", tmp_path / "rank.json", "-o", tmp_path / "out.csv")
        assert "rank" in error

    @pytest.mark.parametrize("ending", FORMATS)
    def test_a_column_that_exists(self, refuse: Callable[..., str], saved: Path, tmp_path: Path, ending: str) -> None:
        people, out = write(tmp_path / f"people.{ending}", table()), tmp_path / f"out.{ending}"
        error = refuse("apply", people, *COLUMNS, "--map", saved, "-o", out, "--into", "weight")
        assert "'weight' already" in error
        assert "--into" in error

    @pytest.mark.parametrize(("ending", "other"), [("csv", "parquet"), ("parquet", "csv"), ("parquet", "csv.gz")])
    def test_an_output_of_another_format(
        self, refuse: Callable[..., str], saved: Path, tmp_path: Path, ending: str, other: str
    ) -> None:
        people = write(tmp_path / f"people.{ending}", table())
        error = refuse("apply", people, *COLUMNS, "--map", saved, "-o", tmp_path / f"out.{other}")
        assert f"name a {ending} file" in error


def commands(file: Path, saved: Path, folder: Path) -> dict[str, list[object]]:
    """Each command that reads a table, with all it needs."""
    ending = "parquet" if file.name.endswith(".parquet") else "csv"
    return {
        "audit": ["audit", file, *LABELLED],
        "fit": ["fit", file, *LABELLED, "-o", folder / "new.json"],
        "apply": ["apply", file, *COLUMNS, "--map", saved, "-o", folder / f"new.{ending}"],
    }


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
        assert "no known format" in error
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

    def test_more_than_two_values_are_warned_of(self, run: Callable[..., Ran], tmp_path: Path) -> None:
        columns = table()
        outcome = [("no", "yes")[y] for y in columns["outcome"]]
        outcome[outcome.index("no")] = "unknown"
        people = write(tmp_path / "people.csv", columns | {"outcome": outcome})
        ran = run("audit", people, *LABELLED, "--positive", "yes")
        assert ran.code == 0
        assert re.fullmatch(r"xorder: warning: [^\n]*'unknown'[^\n]*\n", ran.err)


class TestGroups:
    def test_one_group_cannot_be_compared(self, refuse: Callable[..., str], tmp_path: Path) -> None:
        people = write(tmp_path / "people.csv", table() | {"group": ["all"] * ROWS})
        assert "only one: 'all'" in refuse("audit", people, *LABELLED)
        assert "two groups" in refuse("fit", people, *LABELLED, "-o", tmp_path / "map.json")

    @pytest.mark.slow
    def test_people_of_unknown_group_are_refused_left_or_a_group(
        self, run: Callable[..., Ran], succeed: Callable[..., str], refuse: Callable[..., str], tmp_path: Path
    ) -> None:
        columns = table()
        columns["group"] = ["" if row % 10 == 0 else group for row, group in enumerate(columns["group"])]
        people, out = write(tmp_path / "people.csv", columns), tmp_path / "map.json"
        error = refuse("fit", people, *LABELLED, "-o", out)
        assert (
            f"column 'group' must name a group for each row; {ROWS // 10} rows have none, the first in line 2." in error
        )
        assert error.endswith("with --missing-group leave or --missing-group group.\n")
        left = run("fit", people, *LABELLED, "-o", out, "--missing-group", "leave", "--json")
        assert json.loads(left.out)["left"] == ["missing"]
        assert left.err == f"xorder: warning: {ROWS // 10} rows without a group are left out.\n"
        group = ("--missing-group", "group", "--force", "--json")
        told = json.loads(succeed("fit", people, *LABELLED, "-o", out, *group))
        assert {told["reference"], *told["moved"]} == {"A", "B", "missing"}
        adjusted = tmp_path / "out.csv"
        succeed("apply", people, *COLUMNS, "--map", out, "-o", adjusted)
        known = [group or None for group in columns["group"]]
        repair = xorder.XOrder(missing_group="group").fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=known)
        expected = repair.transform(PEOPLE.y_score, sensitive_features=known)
        np.testing.assert_array_equal([float(value) for value in read(adjusted)["adjusted"]], expected)

    @pytest.mark.slow
    def test_three_groups_are_audited_and_repaired(self, succeed: Callable[..., str], tmp_path: Path) -> None:
        groups = ["ABC"[number % 3] for number in range(ROWS)]
        people = write(tmp_path / "people.csv", table() | {"group": groups})
        found = json.loads(succeed("audit", people, *LABELLED, "--json"))
        assert found == xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=groups).to_dict()
        told = json.loads(succeed("fit", people, *LABELLED, "-o", tmp_path / "map.json", "--json"))
        assert sorted([told["reference"], *told["moved"]]) == ["A", "B", "C"]
        assert told["worst_gap"] < 0.02 < abs(told["gap_before"])
        assert "interval" in succeed("fit", people, *LABELLED, "-o", tmp_path / "map.json", "--force")
        succeed(
            "apply",
            people,
            "--score",
            "score",
            "--group",
            "group",
            "--map",
            tmp_path / "map.json",
            "-o",
            tmp_path / "out.csv",
        )

    def test_a_group_of_one_class_is_audited_with_a_warning(self, run: Callable[..., Ran], tmp_path: Path) -> None:
        columns = table()
        columns["outcome"] = [
            0 if group == "B" else y for group, y in zip(columns["group"], columns["outcome"], strict=True)
        ]
        people = write(tmp_path / "people.csv", columns)
        ran = run("audit", people, *LABELLED)
        assert ran.code == 0
        assert re.fullmatch(r"xorder: warning: group 'B' [^\n]*no positives[^\n]*\n", ran.err)
        assert "nan" in ran.out
        ran = run("audit", people, *LABELLED, "--json")
        assert (ran.code, ran.err.count("\n")) == (0, 1)
        assert json.loads(ran.out)["xauc"][1] == [None, None]
        ran = run("fit", people, *LABELLED, "-o", tmp_path / "map.json")
        assert "group 'B' has no positives" in one_line(ran)
        assert not (tmp_path / "map.json").exists()

    def test_a_row_without_a_group(self, refuse: Callable[..., str], tmp_path: Path) -> None:
        columns = table()
        columns["group"][9] = ""
        people = write(tmp_path / "people.csv", columns)
        error = refuse("audit", people, *LABELLED)
        assert "column 'group' must name a group for each row; 1 row has none, line 11." in error

    def test_a_group_to_adjust_that_is_not_there(
        self, refuse: Callable[..., str], people: Path, tmp_path: Path
    ) -> None:
        error = refuse("fit", people, *LABELLED, "-o", tmp_path / "map.json", "--adjust", "C")
        assert "['A', 'B']" in error
        assert "'C'" in error


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
            assert xorder.load(out).moved_ == "B"
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
        error = one_line(ran)
        assert str(out) in error
        assert "too large" in error
        assert files(tmp_path) == before

    @pytest.mark.slow
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
    def test_standard_output_on_a_full_disk(self, people: Path) -> None:
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            command = [sys.executable, "-m", "xorder.cli", "audit", str(people), *LABELLED]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        assert "No space left" in one_line(Ran(done.returncode, "", done.stderr))

    @pytest.mark.slow
    def test_a_reader_that_stops_reading_is_no_error(self, people: Path) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        command = [sys.executable, "-m", "xorder.cli", "audit", str(people), *LABELLED]
        try:
            done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=120, check=False)
        finally:
            os.close(writing)
        assert (done.returncode, done.stderr) == (0, b"")

    @pytest.mark.slow
    @pytest.mark.skipif(os.name != "posix", reason="head and the quoting of its line are those of POSIX")
    def test_piping_into_head(self, people: Path) -> None:
        line = f"{shlex.quote(str(SCRIPT))} audit {shlex.quote(str(people))} {' '.join(LABELLED)} | head -1"
        done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=120, check=False)
        auc = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group).auc
        assert done.stdout.startswith(f"AUC {auc:.4f} ")
        assert done.stdout.count("\n") == 1
        assert done.stderr == ""

    @pytest.mark.slow
    def test_a_name_that_the_terminal_cannot_show_is_escaped(self, tmp_path: Path) -> None:
        columns = table()
        columns["group"] = ["Ålesund" if group == "A" else group for group in columns["group"]]
        people = write(tmp_path / "people.csv", columns)
        ran = shell("audit", people, *LABELLED, env=os.environ | {"PYTHONIOENCODING": "ascii"})
        assert (ran.code, ran.err) == (0, "")
        assert r"\xc5lesund" in ran.out


class TestOptions:
    def test_tradeoff_and_max_gap_exclude_each_other(
        self, refuse: Callable[..., str], people: Path, tmp_path: Path
    ) -> None:
        arguments = ["fit", people, *LABELLED, "-o", tmp_path / "map.json", "--tradeoff", "1"]
        for value in ("0.1", "0"):
            error = refuse(*arguments, "--max-gap", value)
            assert "--tradeoff or --max-gap, not both" in error

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
            ("fit", "--solver", "magic", "frontier"),
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

    def test_no_command(self, refuse: Callable[..., str]) -> None:
        assert "COMMAND" in refuse()

    def test_an_unknown_command_shows_the_known(self, refuse: Callable[..., str]) -> None:
        error = refuse("repair")
        assert "'repair'" in error
        for name in OPTIONS:
            assert name in error

    @pytest.mark.parametrize(
        ("command", "missing"),
        [
            ("audit", ["FILE", "--score", "--group", "--label"]),
            ("fit", ["FILE", "--score", "--group", "--label", "--output"]),
            ("apply", ["FILE", "--score", "--group", "--map", "--output"]),
        ],
    )
    def test_what_is_missing_is_listed(self, refuse: Callable[..., str], command: str, missing: list[str]) -> None:
        error = refuse(command)
        assert error.startswith(f"xorder {command}: error: ")
        assert set(re.findall(r"FILE|--[a-z]+", error.partition(" (see")[0])) == set(missing)


READING = {"--missing-group", "--json", "--score", "--group", "--encoding", "--memory"}
OPTIONS = {
    "audit": READING | {"--label", "--positive", "--weight", "--weights-are", "--confidence"},
    "fit": READING
    | {
        "--label",
        "--positive",
        "--weight",
        "--weights-are",
        "--output",
        "--force",
        "--metric",
        "--max-gap",
        "--tradeoff",
    }
    | {"--solver", "--adjust", "--bounds", "--reference", "--transfer", "--do-no-harm"}
    | {"--min-group-size", "--small-groups", "--unseen-group"},
    "apply": READING | {"--map", "--output", "--force", "--into", "--unseen-group"},
    "report": READING
    | {"--label", "--positive", "--weight", "--output", "--force", "--before-after", "--metric", "--title"}
    | {"--confidence", "--weights-are", "--unseen-group"},
    "demo": {"--out", "--rows", "--seed", "--force"},
}


class TestOneRule:
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

    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_unseen_groups(
        self, succeed: Callable[..., str], refuse: Callable[..., str], saved: Path, tmp_path: Path, ending: str
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

    @pytest.mark.slow
    def test_survey_weights_are_noticed_and_rows_dealt_whole(self, run: Callable[..., Ran], tmp_path: Path) -> None:
        weights = [2000 + row % 7 for row in range(ROWS)]
        people = write(tmp_path / "people.csv", table() | {"weight": weights})
        told = {}
        for kind in ("counts", "sampling"):
            ran = run(
                *("fit", people, *LABELLED, "--weight", "weight", "--weights-are", kind, "--json"),
                *("-o", tmp_path / f"{kind}.json"),
            )
            told[kind] = json.loads(ran.out)
            noticed = f"column 'weight' adds up to {sum(weights):,} and is read as counts, so {ROWS} rows pass for that"
            assert (noticed in ran.err) == (kind == "counts"), ran.err
            assert "--weights-are sampling" in ran.err or kind == "sampling"
        # A repair of some people is not perfect on others: it was, where each of them was in all folds.
        low, high = told["sampling"]["expected"]["after"]["gaps"][0]["interval"]
        assert high - low > 0.05
        assert abs(told["counts"]["expected"]["after"]["gaps"][0]["value"]) > 1e-3

    @pytest.mark.parametrize("command", ["audit", "fit", "apply"])
    def test_an_option_given_twice(
        self, refuse: Callable[..., str], people: Path, saved: Path, tmp_path: Path, command: str
    ) -> None:
        arguments = commands(people, saved, tmp_path)[command]
        assert "--group is given twice" in refuse(*arguments, "--group", "outcome")
        assert "--json is given twice" in refuse(*arguments, "--json", "--json")

    def test_a_map_that_knows_other_groups_is_not_reported_on(
        self, refuse: Callable[..., str], saved: Path, tmp_path: Path
    ) -> None:
        columns = table()
        columns["group"][20] = columns["group"][30] = "C"
        people = write(tmp_path / "people.csv", columns)
        error = refuse("report", people, *LABELLED, "--before-after", saved, "--json")
        assert "people.csv: group 'C' was not seen in fit (2 rows, the first in line 22)" in error

    @pytest.mark.slow
    def test_a_report_deals_rows_to_folds_as_fit_does(self, run: Callable[..., Ran], tmp_path: Path) -> None:
        weights = [200 + 37 * row % 3800 for row in range(ROWS)]
        people = write(tmp_path / "people.csv", table() | {"weight": weights})
        weighted = [people, *LABELLED, "--weight", "weight", "--weights-are", "sampling", "--json"]
        fitted = json.loads(run("fit", *weighted, "-o", tmp_path / "map.json").out)["expected"]["after"]
        reported = json.loads(run("report", *weighted).out)["expected"]
        assert reported["auc"] == pytest.approx(fitted["auc"], abs=1e-12)
        assert reported["gap"] == pytest.approx(fitted["gaps"][0]["value"], abs=1e-12)

    def test_one_column_for_two_things(self, refuse: Callable[..., str], people: Path) -> None:
        error = refuse("audit", people, "--score", "score", "--label", "score", "--group", "group")
        assert error == "xorder: error: --score and --label both name the column 'score'; each needs one of its own.\n"

    def test_a_score_that_is_upside_down(self, run: Callable[..., Ran], tmp_path: Path) -> None:
        people = write(tmp_path / "people.csv", table() | {"score": [-score for score in table()["score"]]})
        ran = run("audit", people, *LABELLED)
        assert "positives are mostly ranked below negatives" in ran.err
        assert ran.code == 0

    def test_groups_that_look_alike(self, run: Callable[..., Ran], tmp_path: Path) -> None:
        groups = [f"{group} " if row % 9 == 0 else group for row, group in enumerate(table()["group"])]
        ran = run("audit", write(tmp_path / "people.csv", table() | {"group": groups}), *LABELLED)
        assert "groups 'A', 'A ' differ in blanks or case alone" in ran.err


class TestReport:
    @pytest.mark.slow
    def test_the_page_and_its_numbers(self, succeed: Callable[..., str], people: Path, tmp_path: Path) -> None:
        page = tmp_path / "page.html"
        printed = succeed("report", people, *LABELLED, "-o", page)
        numbers = json.loads(succeed("report", people, *LABELLED, "--json"))
        found = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
        assert numbers["source"]["name"] == "people.csv"
        assert numbers["finding"]["value"] == pytest.approx(found.gap("xauc").value)
        assert printed.endswith(f"Wrote {page}\n")
        assert numbers["source"]["sha256"] in page.read_text(encoding="utf-8")
        assert [path.name for path in sorted(tmp_path.iterdir())] == ["page.html", "people.csv"]

    @pytest.mark.slow
    def test_what_a_saved_map_does(self, succeed: Callable[..., str], people: Path, saved: Path) -> None:
        numbers = json.loads(succeed("report", people, *LABELLED, "--before-after", saved, "--json"))
        assert numbers["path"]["stops"][-1]["auc"] == pytest.approx(xorder.load(saved).auc_)

    def test_what_cannot_be_written_is_refused_first(
        self, refuse: Callable[..., str], people: Path, tmp_path: Path
    ) -> None:
        assert "-o report.html" in refuse("report", people, *LABELLED)
        assert "is an input itself" in refuse("report", people, *LABELLED, "-o", people, "--force")
        (tmp_path / "page.html").write_text("mine", encoding="utf-8")
        assert "--force" in refuse("report", people, *LABELLED, "-o", tmp_path / "page.html")
        assert (tmp_path / "page.html").read_text(encoding="utf-8") == "mine"


class TestLarge:
    """Files that go through DuckDB, made large by saying that everything is."""

    @pytest.fixture(params=["csv", "csv.gz", "parquet"])
    def file(self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        for module in ("_tables", "_apply"):
            monkeypatch.setattr(f"xorder.engines.{module}.in_engine", lambda files, large=0: True)
        return write(tmp_path / f"people.{request.param}", table())

    @pytest.mark.slow
    def test_audit_and_fit_give_the_same_numbers(
        self, succeed: Callable[..., str], file: Path, repair: xorder.XOrder, tmp_path: Path
    ) -> None:
        found = json.loads(succeed("audit", file, *LABELLED, "--json"))
        assert found == xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group).to_dict()
        told = json.loads(succeed("fit", file, *LABELLED, "-o", tmp_path / "map.json", "--json"))
        assert {name: told[name] for name in repair.summary()} == repair.summary()

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


class TestHelp:
    @pytest.mark.parametrize("command", OPTIONS)
    def test_every_option_is_in_the_help_of_its_command(self, succeed: Callable[..., str], command: str) -> None:
        text = succeed(command, "--help").partition("\noptions:\n")[2]
        listed = {name for line in re.findall(r"^  (-.*)$", text, re.M) for name in re.findall(r"--[a-z-]+", line[:40])}
        assert listed == OPTIONS[command] | {"--help"}

    @pytest.mark.parametrize("command", OPTIONS)
    def test_every_option_is_explained(self, succeed: Callable[..., str], command: str) -> None:
        text = succeed(command, "--help").partition("\noptions:\n")[2]
        for entry in re.split(r"\n  (?=-)", text):
            names, _, explanation = re.sub(r"\n\s{4,}", "   ", entry).strip().partition("   ")
            explanation = explanation or names.partition("  ")[2]
            assert explanation.strip(), entry

    def test_every_command_is_in_the_help(self, succeed: Callable[..., str]) -> None:
        text = succeed("--help")
        for command in OPTIONS:
            assert re.search(rf"^    {command} +\w", text, re.M)

    def test_the_version(self, succeed: Callable[..., str]) -> None:
        assert succeed("--version") == f"xorder {xorder.__version__}\n"


class TestProcess:
    """The same through the installed script and the module."""

    @pytest.mark.slow
    @pytest.mark.parametrize("launch", [[str(SCRIPT)], [sys.executable, "-m", "xorder.cli"]], ids=["script", "module"])
    def test_all_three_commands(self, people: Path, tmp_path: Path, launch: list[str]) -> None:
        ran = shell("audit", "people.csv", *LABELLED, launch=launch, cwd=tmp_path)
        expected = xorder.audit(PEOPLE.y_true, PEOPLE.y_score, sensitive_features=PEOPLE.group)
        assert ran == Ran(0, f"{expected}\n", "")
        ran = shell("fit", "people.csv", *LABELLED, "-o", "map.json", launch=launch, cwd=tmp_path)
        assert (ran.code, ran.err) == (0, "")
        ran = shell("apply", "people.csv", *COLUMNS, "--map", "map.json", "-o", "out.csv", launch=launch, cwd=tmp_path)
        assert ran == Ran(0, f"Wrote {ROWS} rows to out.csv; the new column is 'adjusted'.\n", "")
        assert [path.name for path in sorted(tmp_path.iterdir())] == ["map.json", "out.csv", "people.csv"]

    @pytest.mark.slow
    def test_an_error_has_its_exit_code_and_no_traceback(self, tmp_path: Path) -> None:
        ran = shell("audit", "none.csv", *LABELLED, launch=[str(SCRIPT)], cwd=tmp_path)
        assert one_line(ran) == "xorder: error: none.csv does not exist; check the name and the folder.\n"

    @pytest.mark.slow
    def test_a_usage_error_has_its_exit_code_and_no_traceback(self) -> None:
        assert "COMMAND" in one_line(shell(launch=[str(SCRIPT)]))

    @pytest.mark.slow
    def test_parquet_without_its_package_names_the_extra(self, tmp_path: Path) -> None:
        people = write(tmp_path / "people.parquet", table())
        launcher = (
            "import sys; sys.modules['pyarrow'] = None; from xorder.cli import main; sys.exit(main(sys.argv[1:]))"
        )
        ran = shell("audit", people, *LABELLED, launch=[sys.executable, "-c", launcher])
        assert "pip install 'xorder[parquet]'" in one_line(ran)

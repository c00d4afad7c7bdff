"""The program: its commands and their help, through the installed script and the modules."""

from __future__ import annotations

import gzip
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import xorder
from support.command_line import Ran, one_line, shell
from support.people_files import COLUMNS, LABELLED, PEOPLE, ROWS, table, write

SCRIPT = Path(sys.executable).with_name("xorder")
READING = {"--missing-group", "--json", "--score", "--group", "--encoding", "--memory"}
OPTIONS = {
    "audit": READING
    | {"--label", "--positive", "--weight", "--weights-are", "--confidence", "--cut", "--cluster"}
    | {"--tolerance", "--metric", "--tolerance-cut"}
    | {
        "--table",
        "--format",
        "--map",
        "--reference",
        "--threshold",
        "--suppress",
        "--statements",
        "--output",
        "--force",
        "--all",
        "--pair",
    },
    "compare": READING
    | {"--label", "--positive", "--weight", "--weights-are", "--confidence", "--cut", "--cluster", "--other", "--map"},
    "fit": READING
    | {
        "--cluster",
        "--label",
        "--positive",
        "--weight",
        "--weights-are",
        "--output",
        "--force",
        "--metric",
        "--max-cut-gap",
        "--max-gap",
        "--tradeoff",
    }
    | {"--method", "--bounds", "--reference", "--do-no-harm", "--no-do-no-harm"}
    | {"--min-group-size", "--small-groups", "--unseen-group", "--confidence", "--next"},
    "apply": READING
    | {"--map", "--output", "--force", "--into", "--cut", "--unseen-group", "--explain", "--escape-formulas"},
    "report": READING
    | {"--label", "--positive", "--weight", "--output", "--force", "--map", "--metric", "--title"}
    | {"--confidence", "--weights-are", "--unseen-group", "--cluster"}
    | {"--high-is", "--model", "--period", "--author", "--tolerance", "--open"},
    "demo": {"--output", "--rows", "--seed", "--force", "--open"},
}


class TestUsage:
    def test_no_command_shows_the_help(self, succeed: Callable[..., str]) -> None:
        assert succeed() == succeed("--help")

    def test_a_pattern_that_the_shell_has_expanded(self, refuse: Callable[..., str], people: Path) -> None:
        other = write(people.with_name("other.csv"), table())
        assert "; FILE is one name: put a pattern such as 'part-*.csv' in quotes" in refuse(
            "audit", people, other, *LABELLED
        )

    def test_an_unknown_command_shows_the_known(self, refuse: Callable[..., str]) -> None:
        error = refuse("repair")
        assert "'repair'" in error
        for name in OPTIONS:
            assert name in error

    @pytest.mark.parametrize(
        ("arguments", "meant"),
        [
            (["audti", "f.csv"], "audit"),
            (["Fit"], "fit"),
            (["data", "feth"], "fetch"),
            (["data", "build-mimic"], "build-mimic3"),
            (["audit", "f.csv", *LABELLED, "--missing-group", "groups"], "group"),
        ],
    )
    def test_a_misspelt_word_gets_a_suggestion(
        self, refuse: Callable[..., str], arguments: list[str], meant: str
    ) -> None:
        error = refuse(*arguments)
        assert "invalid choice: " in error
        assert f"; did you mean {meant}? (see 'xorder" in error

    def test_a_word_that_is_like_no_command_gets_none(self, refuse: Callable[..., str]) -> None:
        assert "did you mean" not in refuse("xyz")

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

    @pytest.mark.parametrize("command", [*([name] for name in OPTIONS), ["data", "list"], ["data", "build-eicu"]])
    def test_an_unknown_option_points_to_the_help_of_the_command(
        self, refuse: Callable[..., str], command: list[str]
    ) -> None:
        needed = {"apply": ["--map", "m", "-o", "n"], "fit": ["-o", "n"], "build-eicu": ["tables", "-o", "n"]}
        columns = [] if command[0] in ("demo", "data") else ["FILE", "--score", "s", "--group", "g"]
        labels = ["--label", "y"] if columns and command != ["apply"] else []
        name = " ".join(["xorder", *command])
        error = refuse(*command, *columns, *labels, *needed.get(command[-1], []), "--no-such", "two\nlines")
        assert error.startswith(f"{name}: error: unrecognized arguments: --no-such")
        assert error.endswith(f" (see '{name} --help')\n")


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
            names, _, explanation = entry.partition("\n\n")[0].strip().partition("  ")
            assert re.match(r"[A-Z].*[^.]$", (explanation or names.partition("\n")[2]).strip(), re.S), entry

    @pytest.mark.parametrize("command", [*OPTIONS, "data"])
    def test_help_has_groups_and_two_examples_in_80_columns(self, succeed: Callable[..., str], command: str) -> None:
        text = succeed(command, "--help")
        examples = text.partition("\nexamples:\n")[2].splitlines()
        assert [line.startswith(f"  xorder {command} ") for line in examples] == [True, True]
        assert max(map(len, examples)) <= 80
        if command in ("audit", "fit", "apply", "report", "compare"):
            assert text.index("\nrows:\n") < text.index("\noutput:\n") < text.index("\nreading:\n")

    def test_every_command_is_in_the_help(self, succeed: Callable[..., str]) -> None:
        text = succeed("--help")
        for command in OPTIONS:
            assert re.search(rf"^    {command} +\w", text, re.M)

    def test_the_exit_codes_are_in_the_help(self, succeed: Callable[..., str]) -> None:
        codes = re.findall(r"\b\d+(?=:\s)", succeed("--help").partition("Exit codes: ")[2])
        assert codes == ["0", "1", "3", "2", "70", "130"]

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
        assert "COMMAND" in one_line(shell("audti", launch=[str(SCRIPT)]))

    @pytest.mark.slow
    def test_parquet_without_its_package_names_the_extra(self, tmp_path: Path) -> None:
        people = write(tmp_path / "people.parquet", table())
        launcher = (
            "import sys; sys.modules['pyarrow'] = None; from xorder.cli import main; sys.exit(main(sys.argv[1:]))"
        )
        ran = shell("audit", people, *LABELLED, launch=[sys.executable, "-c", launcher])
        assert "pip install 'xorder[parquet]'" in one_line(ran)

    @pytest.mark.slow
    def test_no_command_loads_another_and_no_help_loads_scikit_learn(self) -> None:
        launcher = f"""
import contextlib, io, sys
from xorder.cli import main
for command in {[*OPTIONS, "data"]!r}:
    before = set(sys.modules)
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main([command, "--help"])
    print(command, *(name for name in set(sys.modules) - before if name.startswith("xorder.cli.")))
print("sklearn" in sys.modules)
"""
        loaded = shell(launch=[sys.executable, "-c", launcher]).out
        assert loaded == "".join(f"{name} xorder.cli._{name}\n" for name in [*OPTIONS, "data"]) + "False\n"


class TestStreams:
    """A dash is standard input, or standard output."""

    def test_rows_from_standard_input(
        self, succeed: Callable[..., str], people: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        expected = succeed("audit", people, *LABELLED)
        for content in (people.read_bytes(), gzip.compress(people.read_bytes())):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
            assert succeed("audit", "-", *LABELLED) == expected

    @pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n"])
    def test_what_is_wrong_with_it_is_said_of_standard_input(
        self, refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch, content: bytes
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert refuse("audit", "-", *LABELLED).startswith("xorder: error: standard input ")

    def test_a_closed_standard_input(self, refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", None)
        assert "standard input is closed" in refuse("audit", "-", *LABELLED)

    @pytest.mark.slow
    def test_a_map_and_rows_to_standard_output(self, people: Path, tmp_path: Path) -> None:
        fitted = shell("fit", "people.csv", *LABELLED, "-o", "-", cwd=tmp_path)
        assert (fitted.code, fitted.err.splitlines()[-1]) == (0, "Wrote standard output")
        (tmp_path / "map.json").write_text(fitted.out, encoding="utf-8")
        applied = shell("apply", "-", *COLUMNS, "--map", "map.json", "-o", "-", cwd=tmp_path, input=people.read_text())
        assert applied.err == f"Wrote {ROWS} rows to standard output; the new column is 'adjusted'.\n"
        assert applied.out.splitlines()[0].endswith(",adjusted")
        assert len(applied.out.splitlines()) == ROWS + 1
        assert sorted(path.name for path in tmp_path.iterdir()) == ["map.json", "people.csv"]

    @pytest.mark.parametrize("option", ["--json", "--open"])
    def test_two_uses_of_standard_output_are_refused(
        self, refuse: Callable[..., str], people: Path, option: str
    ) -> None:
        assert "-o - takes all of standard output" in refuse("report", people, *LABELLED, "-o", "-", option)


class TestColour:
    """Bold and colour where a terminal is, or where the environment asks for them."""

    @pytest.mark.parametrize(
        ("environment", "terminal", "painted"),
        [
            ({}, False, False),
            ({}, True, True),
            ({"TERM": "dumb"}, True, False),
            ({"NO_COLOR": "1"}, True, False),
            ({"FORCE_COLOR": "1"}, False, True),
            ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ],
    )
    def test_who_gets_it(
        self,
        run: Callable[..., Ran],
        people: Path,
        monkeypatch: pytest.MonkeyPatch,
        environment: dict[str, str],
        terminal: bool,
        painted: bool,
    ) -> None:
        for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
        ran = run("audit", people, *LABELLED, "--tolerance", "0.01")
        assert ran.out.startswith("\x1b[1mThe score ranks B lower than A") == painted
        assert ("\x1b[31mTolerance 0.01" in ran.out) == painted == ("\x1b[" in ran.out)

"""``xorder data``: what it lists, fetches and builds is what the Python functions give; errors are one line each."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from support import eicu_tables, mimic3_tables
from support.command_line import Ran, shell
from support.needs import terminals
from support.raw_tables import draw_rows, give, header_of, public_text, serve, small_set, write_csv
from support.real_data import data_file
from xorder import datasets
from xorder.datasets import _catalogue as catalogue
from xorder.datasets._raw_file import parse_table

NAMES = ["compas", "adult", "framingham", "german"]
BUILDS = ["mimic3", "eicu"]
BUILD_OPTIONS = {"--json", "--output", "--force", "--memory", "--spill"}
OPTIONS = {
    "list": {"--json", "--data-home"},
    "info": {"--json", "--data-home"},
    "fetch": {"--json", "--data-home", "--all"},
    "build-mimic3": BUILD_OPTIONS | {"--apply-ranges"},
    "build-eicu": BUILD_OPTIONS,
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("XORDER_DATA", raising=False)
    monkeypatch.setenv("XORDER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of small generated tables."""
    folder = tmp_path_factory.mktemp("tables")
    return {
        "mimic3": mimic3_tables.write_tables(folder / "mimic3", mimic3_tables.make_tables(), compress=True),
        "eicu": eicu_tables.write_tables(folder / "eicu", eicu_tables.draw_tables()),
    }


# Looked for before the fixture above hides XORDER_DATA.
@pytest.fixture(scope="module")
def open_files() -> Path:
    return data_file("german/german_raw.csv").parents[1]


@pytest.fixture(scope="module", params=BUILDS)
def demo(request: pytest.FixtureRequest) -> Path:
    return data_file(f"{request.param}_demo")


@pytest.fixture
def beginning() -> list[str]:
    return ["data"]


def run_python(line: str) -> object:
    """Run the Python line that a command prints."""
    names: dict[str, object] = {}
    exec(line, names)
    return names["problem"]


def publish(monkeypatch: pytest.MonkeyPatch, name: str, url: str) -> bytes:
    """Let a set of few rows be published at an address; return its file."""
    rows = draw_rows(name)
    small = small_set(name, rows)
    monkeypatch.setitem(catalogue.OPEN_SETS, name, replace(small, file=replace(small.file, urls=(url,), member=None)))
    return public_text(name, rows).encode()


class TestList:
    def test_none_is_here(self, succeed: Callable[..., str], cache: Path) -> None:
        printed = succeed("list")
        for name in NAMES:
            one = catalogue.OPEN_SETS[name]
            assert re.search(rf"^{name} +{one.rows:,} +{one.inputs}  {re.escape(one.label)} ", printed, re.M)
            assert f"licence: {one.licence}\n" in printed
            assert f"not here (xorder data fetch {name})\n" in printed
        for name in BUILDS:
            assert re.search(rf"^{name} +xorder data build-{name} FOLDER -o {name}.parquet$", printed, re.M)
        assert max(map(len, printed.splitlines())) <= 80
        assert not cache.exists()

    def test_one_is_here(self, succeed: Callable[..., str], tmp_path: Path) -> None:
        home = tmp_path / "my data"
        home.mkdir()
        (home / "german.data").touch()
        printed = succeed("list", "--data-home", home)
        assert f"file:    {home / 'german.data'}\n" in printed
        assert f"not here (xorder data fetch compas --data-home '{home}')\n" in printed

    def test_as_json(self, succeed: Callable[..., str], tmp_path: Path) -> None:
        (tmp_path / "german.data").touch()
        listed = json.loads(succeed("list", "--data-home", tmp_path, "--json"))
        assert list(listed["built"]) == BUILDS
        for found, entry in zip(listed["sets"], catalogue.available(data_home=tmp_path), strict=True):
            assert {key: found[key] for key in entry.to_dict()} == entry.to_dict()
            assert f"load_{entry.name}(data_home={str(tmp_path)!r})" in found["python"]

    @pytest.mark.parametrize("name", catalogue.OPEN_SETS)
    def test_groups_are_those_of_the_problem(self, name: str) -> None:
        rows = draw_rows(name, 300)
        parts = catalogue.OPEN_SETS[name].prepare(
            parse_table(write_csv(rows, header_of(name)), small_set(name, rows).file.layout)
        )
        assert tuple(np.unique(parts.groups.astype(str))) == catalogue.OPEN_SETS[name].groups

    def test_a_home_that_is_no_folder(self, refuse: Callable[..., str], tmp_path: Path) -> None:
        wrong = tmp_path / "data_home or XORDER"
        assert f": --data-home names {wrong}, which is not a folder" in refuse("list", "--data-home", wrong)

    @pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
    def test_a_variable_that_names_no_folder(
        self,
        run: Callable[..., Ran],
        succeed: Callable[..., str],
        tmp_path: Path,
        cache: Path,
        monkeypatch: pytest.MonkeyPatch,
        options: list[str],
    ) -> None:
        cache.mkdir()
        (cache / "german.data").touch()
        (tmp_path / "home").mkdir()
        expected = {home: succeed("list", *home, *options) for home in ((), ("--data-home", tmp_path / "home"))}
        monkeypatch.setenv("XORDER_DATA", str(tmp_path / "gone"))
        for home, printed in expected.items():
            ran = run("list", *home, *options)
            assert (ran.code, ran.out) == (0, printed)
            assert str(cache / "german.data") in printed
            warned = f"xorder: warning: XORDER_DATA names {tmp_path / 'gone'}, which is not a folder, so nothing is "
            # Said once, not for each set.
            assert ran.err == warned + "looked for there; correct it.\n"


class TestInfo:
    @pytest.mark.parametrize("name", NAMES)
    def test_all_there_is_to_know(self, succeed: Callable[..., str], cache: Path, name: str) -> None:
        printed = succeed("info", name)
        entry = catalogue.describe(name)
        words = " ".join(printed.split())
        for text in (entry.description, entry.source, entry.licence, *(f"- {one}" for one in entry.warnings)):
            assert text in words
        lines = printed.splitlines()
        for address in (*entry.urls, entry.save_as):
            assert f"  {address}" in lines
        assert all(len(line) < 80 for line in lines if not line.startswith(("  http", "  /")))
        assert f"xorder data fetch {name}\n" in printed
        assert lines[-1] == f"  from xorder.datasets import load_{name}; problem = load_{name}()"
        assert not cache.exists()

    def test_where_it_is(self, succeed: Callable[..., str], tmp_path: Path) -> None:
        (tmp_path / "german.data").touch()
        printed = succeed("info", "german", "--data-home", tmp_path)
        assert f"File: {tmp_path / 'german.data'}\n" in printed
        assert "by hand" not in printed

    def test_as_json(self, succeed: Callable[..., str]) -> None:
        found = json.loads(succeed("info", "adult", "--json"))
        assert {key: found[key] for key in catalogue.describe("adult").to_dict()} == catalogue.describe(
            "adult"
        ).to_dict()

    def test_another_name(self, refuse: Callable[..., str]) -> None:
        assert "'titanic' is not an open data set; choose one of compas, adult, framingham, german." in refuse(
            "info", "titanic"
        )

    @pytest.mark.parametrize("command", ["info", "fetch"])
    @pytest.mark.parametrize("name", BUILDS)
    def test_a_set_that_is_built(self, refuse: Callable[..., str], command: str, name: str) -> None:
        assert f"xorder data build-{name} FOLDER" in refuse(command, name)


class TestFetch:
    def test_from_its_origin(
        self, succeed: Callable[..., str], cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        answers: list[bytes] = []
        with serve(lambda request: give(answers[0])(request)) as (address, asked):
            answers.append(publish(monkeypatch, "german", f"{address}/german.data"))
            expected = cache / "german" / "german.data"
            # Named twice, and fetched again: downloaded once.
            for _ in range(2):
                assert succeed("fetch", "german", "german") == f"german: verified, {expected}\n"
            assert asked == ["/german.data"]
            assert expected.read_bytes() == answers[0]
            home = tmp_path / "new" / "home"
            found = json.loads(succeed("fetch", "german", "--data-home", home, "--json"))
            assert found == {"files": {"german": str(home / "german" / "german.data")}, "failures": {}}

    @pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
    def test_a_failure_does_not_stop_the_others(
        self, run: Callable[..., Ran], cache: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
    ) -> None:
        bodies: dict[str, bytes] = {}
        with serve(lambda request: give(bodies.get(request.path, b"gone"))(request)) as (address, _):
            for name in NAMES:
                bodies[f"/{name}.csv"] = publish(monkeypatch, name, f"{address}/{name}.csv")
            del bodies["/adult.csv"]
            ran = run("fetch", "titanic", *NAMES, *options)
        kept = {name: str(cache / name / f"{name}.csv") for name in NAMES if name != "adult"}
        if options:
            printed = json.loads(ran.out)
            assert printed["files"] == kept
            assert list(printed["failures"]) == ["titanic", "adult"]
        else:
            assert ran.out == "".join(f"{name}: verified, {path}\n" for name, path in kept.items())
        assert ran.code == 2
        first, second = ran.err.splitlines()
        assert first.startswith("xorder: error: 'titanic' is not an open data set; choose one of compas")
        assert second.startswith("xorder: error: cannot download the adult table")
        assert second.endswith("or in a folder that --data-home or XORDER_DATA names.")
        assert {str(path) for path in cache.rglob("*") if path.is_file()} == set(kept.values())

    def test_all(self, succeed: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        for name in NAMES:
            (tmp_path / f"{name}.csv").write_bytes(publish(monkeypatch, name, f"http://127.0.0.1:9/{name}.csv"))
        printed = succeed("fetch", "--all", "--data-home", tmp_path)
        assert printed == "".join(f"{name}: verified, {tmp_path / name}.csv\n" for name in NAMES)

    def test_a_file_that_is_not_the_set(self, refuse: Callable[..., str], tmp_path: Path) -> None:
        (tmp_path / "german.data").write_text("A11 6\n")
        assert "german.data" in refuse("fetch", "german", "--data-home", tmp_path)

    @pytest.mark.parametrize("names", [[], ["compas", "--all"]])
    def test_which(self, refuse: Callable[..., str], names: list[str]) -> None:
        assert "either the names of sets to fetch (compas, adult, framingham, german) or --all" in refuse(
            "fetch", *names
        )

    @pytest.mark.slow
    def test_files_at_hand(self, succeed: Callable[..., str], open_files: Path) -> None:
        for name in NAMES:
            printed = succeed("fetch", name, "--data-home", open_files)
            assert printed == f"{name}: verified, {catalogue.describe(name, data_home=open_files).path}\n"
        problem = run_python(succeed("info", "german", "--data-home", open_files).splitlines()[-1].strip())
        assert problem.X.shape == (1000, 57)


@pytest.mark.parametrize("name", BUILDS)
class TestBuild:
    @pytest.mark.slow
    def test_the_cohort_and_the_summary_of_the_python_function(
        self, succeed: Callable[..., str], tables: dict[str, Path], tmp_path: Path, name: str
    ) -> None:
        out, expected = tmp_path / "cohort.parquet", tmp_path / "expected.parquet"
        printed = succeed(f"build-{name}", tables[name], "-o", out, "--memory", "500 MiB", "--spill", tmp_path)
        summary = getattr(datasets, f"build_{name}")(tables[name], expected)
        said = str(summary).replace(str(expected), str(out))
        *_, load = lines = printed.splitlines()
        assert printed.startswith(f"{said}\nWrote {out}\n")
        assert len(lines) == said.count("\n") + 4
        assert pq.read_table(out).to_pandas().equals(pq.read_table(expected).to_pandas())
        assert sorted(tmp_path.iterdir()) == [out, expected]
        assert len(run_python(load.strip()).y) > 0

    @pytest.mark.slow
    def test_as_json(self, succeed: Callable[..., str], tables: dict[str, Path], tmp_path: Path, name: str) -> None:
        out = tmp_path / "cohort.parquet"
        printed = json.loads(succeed(f"build-{name}", tables[name], "-o", out, "--json"))
        summary = getattr(datasets, f"build_{name}")(tables[name], out, overwrite=True)
        assert printed["output"] == str(out)
        assert len(run_python(printed["python"]).y) > 0
        assert {"output", "python", *type(summary).__dataclass_fields__} - {"path"} == set(printed)
        assert (printed["deaths"], printed["long_stays"]) == (summary.deaths, summary.long_stays)
        if name == "eicu":
            assert printed["steps"] == dict(summary.steps)
            assert printed["gender"] == dict(summary.gender)
            assert printed["readings"] == list(summary.readings)

    def test_an_output_that_exists(
        self,
        succeed: Callable[..., str],
        refuse: Callable[..., str],
        tables: dict[str, Path],
        tmp_path: Path,
        name: str,
    ) -> None:
        out = tmp_path / "cohort.parquet"
        out.write_text("precious")
        assert "exists already" in refuse(f"build-{name}", tables[name], "-o", out)
        succeed(f"build-{name}", tables[name], "-o", out, "--force")
        assert pq.read_table(out).num_rows > 0

    @pytest.mark.parametrize(
        "memory", ["lots", "", "2", "0", "-1", "-5GB", "none", "nan", "1e3GB", "2GB!", "99999999TB"]
    )
    def test_an_amount_of_memory(
        self, refuse: Callable[..., str], tables: dict[str, Path], tmp_path: Path, name: str, memory: str
    ) -> None:
        error = refuse(f"build-{name}", tables[name], "-o", tmp_path / "x.parquet", f"--memory={memory}")
        assert "--memory must be an amount such as" in error
        assert repr(memory) in error

    def test_too_little_memory(
        self, refuse: Callable[..., str], tables: dict[str, Path], tmp_path: Path, name: str
    ) -> None:
        error = refuse(
            f"build-{name}", tables[name], "-o", tmp_path / "x.parquet", "--memory", "1kb", "--spill", tmp_path
        )
        assert "raise it (such as --memory 8GB)" in error

    def test_what_is_wrong_with_the_folders(
        self, refuse: Callable[..., str], tables: dict[str, Path], tmp_path: Path, name: str
    ) -> None:
        (tmp_path / "empty").mkdir()
        out = ["-o", tmp_path / "x.parquet"]
        assert "does not exist" in refuse(f"build-{name}", tmp_path / "none", *out)
        assert "holds none of the" in refuse(f"build-{name}", tmp_path / "empty", *out)
        other = tables[next(one for one in BUILDS if one != name)]
        assert "holds none of the" in refuse(f"build-{name}", other, *out)
        assert ": --spill must be a folder" in refuse(f"build-{name}", tables[name], *out, "--spill", tmp_path / "no")
        if Path("/proc/self").exists():
            error = refuse(f"build-{name}", tables[name], *out, "--spill", "/proc")
            assert ": --spill must be a folder that files can be written to, and /proc is not (" in error
        assert "create it first" in refuse(f"build-{name}", tables[name], "-o", tmp_path / "no" / "x.parquet")

    @pytest.mark.parametrize("ending", ["csv", "CSV.gz"])
    def test_tables_are_never_replaced(
        self, refuse: Callable[..., str], tmp_path: Path, name: str, ending: str
    ) -> None:
        table = tmp_path / f"PATIENTS.{ending}"
        table.write_text("precious")
        assert "name it *.parquet" in refuse(f"build-{name}", tmp_path, "-o", table, "--force")

    def test_without_its_packages(
        self,
        refuse: Callable[..., str],
        tables: dict[str, Path],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
    ) -> None:
        monkeypatch.setitem(sys.modules, "duckdb", None)
        error = refuse(f"build-{name}", tables[name], "-o", tmp_path / "x.parquet")
        assert "needs duckdb, which is not installed" in error
        assert "pip install 'xorder[data]'" in error


def test_ranges_are_applied_if_asked_for(succeed: Callable[..., str], tables: dict[str, Path], tmp_path: Path) -> None:
    for path, options in ((tmp_path / "all.parquet", []), (tmp_path / "credible.parquet", ["--apply-ranges"])):
        succeed("build-mimic3", tables["mimic3"], "-o", path, *options)
        note = json.loads(pq.read_schema(path).metadata[b"xorder.cohort"])
        assert note["apply_ranges"] == bool(options)


@pytest.mark.slow
def test_the_demo(demo: Path, tmp_path: Path) -> None:
    name = demo.name.partition("_")[0]
    words = {"mimic3": "\n       57  with readings in the first 48 hours", "eicu": "2,520 unit stays\n"}[name]
    ran = shell("data", f"build-{name}", demo, "-o", "cohort.parquet", cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert words in ran.out
    assert f"\nWrote cohort.parquet\nIn Python\n  from xorder.datasets import load_{name}; " in ran.out
    assert [path.name for path in tmp_path.iterdir()] == ["cohort.parquet"]


class TestProgress:
    @pytest.mark.slow
    def test_one_line_on_a_terminal(self, tables: dict[str, Path], tmp_path: Path) -> None:
        pty = terminals()
        terminal, end = pty.openpty()
        command = [
            sys.executable,
            "-m",
            "xorder.cli",
            "data",
            "build-eicu",
            tables["eicu"],
            "-o",
            tmp_path / "c.parquet",
        ]
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=end, timeout=120, check=False)
        os.close(end)
        shown = b""
        while chunk := _read(terminal):
            shown += chunk
        os.close(terminal)
        assert done.returncode == 0
        assert b"\x1b" not in done.stdout
        assert b"\n" not in shown
        assert re.search(rb"\rreading patient \[#{20}\] 100 %, \d+ s\x1b\[K\r", shown)
        assert shown.endswith(b"\r\x1b[K")

    def test_the_line_is_wiped_when_the_build_fails(
        self, run: Callable[..., Ran], tables: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        ran = run("build-mimic3", tables["mimic3"], "-o", tmp_path / "x.parquet", "--memory", "1KB")
        assert ran.code == 2
        assert re.search(r"\x1b\[K\r\x1b\[K(\x1b\[31m)?xorder: error:(\x1b\[0m)? the memory allowed", ran.err)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        # Linux says so when the other end is closed.
        return b""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize(
    ("signals", "code"),
    [([signal.SIGINT], 130), ([signal.SIGTERM], 143), ([signal.SIGTERM] * 2, 143)],
    ids=["ctrl-c", "sigterm", "sigterm twice"],
)
def test_a_signal_leaves_nothing(tables: dict[str, Path], tmp_path: Path, signals: list[int], code: int) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    for path in tables["mimic3"].iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    events = folder / "CHARTEVENTS.csv.gz"
    header, body = gzip.decompress(events.read_bytes()).split(b"\n", 1)
    events.write_bytes(gzip.compress(header + b"\n") + gzip.compress(body) * 500)
    there = sorted(tmp_path.rglob("*"))
    # A process in the background ignores Ctrl-C, and its children inherit that.
    start = (
        "import signal; from xorder.cli import program; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "signal.signal(signal.SIGTERM, signal.SIG_DFL); program()"
    )
    command = [sys.executable, "-c", start, "data", "build-mimic3", folder, "-o", tmp_path / "c.parquet"]
    process = subprocess.Popen(
        list(map(str, [*command, "--spill", tmp_path])), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("xorder-spill-*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)
    for number in signals:
        process.send_signal(number)
        time.sleep(0.02)
    out, err = process.communicate(timeout=60)
    # A query that is broken off may leave objects behind that DuckDB's own bindings count at the end.
    err = err.partition("nanobind: leaked")[0]
    assert (process.returncode, out, err) == (code, "", "")
    assert sorted(tmp_path.rglob("*")) == there


class TestHelp:
    @pytest.mark.parametrize("command", OPTIONS)
    def test_every_option_is_explained(self, succeed: Callable[..., str], command: str) -> None:
        text = succeed(command, "--help").partition("\noptions:\n")[2]
        entries = [re.sub(r"\n\s+", "  ", entry).strip() for entry in re.split(r"\n  (?=-)", "\n" + text)[1:]]
        explained = {re.findall(r"--[a-z-]+", names)[-1] for names in (entry.partition("  ")[0] for entry in entries)}
        assert explained == OPTIONS[command] | {"--help"}
        assert all(re.match(r"[A-Z].*[^.]$", entry.partition("  ")[2].strip()) for entry in entries)

    def test_commands(self, succeed: Callable[..., str], refuse: Callable[..., str]) -> None:
        for text in (succeed("--help"), refuse("biuld")):
            assert all(command in text for command in OPTIONS)
        assert "COMMAND" in refuse()
        assert "FOLDER, -o/--output" in refuse("build-mimic3")
        assert "--apply-ranges" in refuse("build-eicu", "folder", "-o", "x.parquet", "--apply-ranges")

"""Files that change, race, blow up or are left behind; streams, disks, memory and signals that fail."""

from __future__ import annotations

import gzip
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.command_line import Ran, files, one_line, shell
from support.needs import package
from support.people_files import COLUMNS, LABELLED, ROWS
from xorder import _atomic
from xorder._atomic import atomic_path, spill_folder
from xorder.cli._program import harmless
from xorder.engines import _csv_file, _sources, apply_to_file
from xorder.engines._csv_file import read_csv
from xorder.estimators import load_fitted
from xorder.exceptions import InputError

POSIX = pytest.mark.skipif(os.name != "posix", reason="streams, signals and locks are those of POSIX")
LAUNCH = [sys.executable, "-m", "xorder.cli"]
pytestmark = [POSIX]


class TestFilesThatChange:
    @pytest.mark.parametrize("change", ["grows", "shrinks", "is replaced", "is gone"])
    @pytest.mark.parametrize("command", ["audit", "fit", "apply"])
    def test_while_they_are_read(
        self, command: str, change: str, people: Path, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from xorder.cli import main

        real = _csv_file._batches
        before = people.read_bytes()

        def changing(*given: Any) -> Any:
            for batch in real(*given):
                yield batch
                if change == "grows":
                    people.write_bytes(before + b"".join(before.splitlines(keepends=True)[1:3]))
                elif change == "shrinks":
                    people.write_bytes(before[: len(before) // 2])
                else:
                    people.unlink()
                    if change == "is replaced":
                        people.write_bytes(before)

        monkeypatch.setattr(_csv_file, "_batches", changing)
        out = tmp_path / "out"
        end = {"apply": ["--map", saved, "-o", out.with_suffix(".csv")], "fit": ["-o", out.with_suffix(".json")]}
        columns = COLUMNS if command == "apply" else LABELLED
        code = main([command, str(people), *map(str, [*columns, *end.get(command, [])])])
        assert code == 2
        assert not [path for path in tmp_path.iterdir() if path.name.startswith(("out", ".xorder"))]

    @pytest.mark.parametrize("fails", [True, False])
    def test_it_is_said_in_one_line(self, fails: bool, people: Path) -> None:
        def read() -> None:
            with _atomic.unchanged([people]):
                people.write_text("x")
                if fails:
                    raise InputError("quotes do not pair up")

        with pytest.raises(InputError, match=r"people\.csv was changed while it was read\. Wait until"):
            read()


class TestRaces:
    @pytest.mark.parametrize("links", [True, False])
    def test_no_output_is_replaced_that_came_meanwhile(
        self, links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: Any, **__: Any) -> None:
            raise PermissionError(1, "Operation not permitted")

        if not links:
            monkeypatch.setattr(os, "link", refuse)
        target = tmp_path / "out.csv"

        def write() -> None:
            with atomic_path(target, overwrite=False) as temporary:
                temporary.write_text("mine")
                target.write_text("another's")

        with pytest.raises(InputError, match=r"out\.csv exists already"):
            write()
        assert target.read_text() == "another's"
        target.unlink()
        with atomic_path(target, overwrite=False) as temporary:
            temporary.write_text("mine")
        assert target.read_text() == "mine"
        assert [*files(tmp_path)] == [str(target)]

    def test_of_many_at_once_one_wins(self, tmp_path: Path) -> None:
        target, ready, won = tmp_path / "out", threading.Barrier(8), []

        def write(number: int) -> None:
            try:
                with atomic_path(target, overwrite=False) as temporary:
                    temporary.write_text(str(number))
                    ready.wait(20)
                won.append(str(number))
            except InputError:
                pass

        threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert won == [target.read_text()]
        assert [*files(tmp_path)] == [str(target)]


@pytest.mark.parametrize("length", [248, 255])
def test_names_as_long_as_the_file_system_allows(length: int, tmp_path: Path) -> None:
    with atomic_path(tmp_path / ("x" * length)) as temporary:
        temporary.write_text("new")
    assert [len(path.name) for path in tmp_path.iterdir()] == [length]


KILLED = """
import os, signal, sys
from pathlib import Path
from xorder._atomic import atomic_path, spill_folder
with atomic_path(sys.argv[1] + "/out.csv") as temporary, spill_folder(sys.argv[1]) as folder:
    temporary.write_text("half")
    (Path(folder) / "rows.tmp").write_text("rows")
    if sys.argv[2] == "live":
        print("ready", flush=True)
        sys.stdin.read()
    else:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_what_a_killed_run_left_is_removed_by_the_next_and_what_a_live_one_has_is_not(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, tmp_path, "dead"], timeout=60, check=False)
    dead = {path.name for path in tmp_path.iterdir()}
    assert len(dead) == 2
    live = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path, "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert live.stdout is not None
        assert live.stdout.readline() == b"ready\n"
        there = {path.name for path in tmp_path.iterdir()}
        assert not dead & there
        assert len(there) == 2
        with atomic_path(tmp_path / "other"), spill_folder(tmp_path):
            pass
        assert {path.name for path in tmp_path.iterdir()} == there | {"other"}
    finally:
        live.communicate(timeout=30)
    assert {path.name for path in tmp_path.iterdir()} == {"out.csv", "other"}


def test_only_what_is_ours_is_removed(tmp_path: Path) -> None:
    kept = [tmp_path / name for name in (".xorder-a.part", "xorder-spill-b", "xorder-spill-c", ".people.csv.abc.part")]
    kept[0].symlink_to(tmp_path / "elsewhere")
    kept[1].mkdir()
    os.mkfifo(kept[2])
    kept[3].write_text("x")
    with atomic_path(tmp_path / "out"):
        pass
    assert all(os.path.lexists(path) for path in kept)


def closed(number: int) -> Callable[[], None]:
    return lambda: os.close(number)


def launched(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*LAUNCH, *map(str, arguments)], timeout=120, check=False, **options)


@pytest.mark.slow
class TestStreams:
    def test_a_closed_output_is_nobody_reading(self, people: Path, saved: Path, tmp_path: Path) -> None:
        done = launched("audit", people, *LABELLED, stderr=subprocess.PIPE, preexec_fn=closed(1))
        assert (done.returncode, done.stderr) == (0, b"")
        out = tmp_path / "out.csv"
        done = launched(
            "apply", people, *COLUMNS, "--map", saved, "-o", out, stderr=subprocess.PIPE, preexec_fn=closed(1)
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert out.read_text().count("\n") == ROWS + 1

    def test_errors_do_not_go_elsewhere(self, tmp_path: Path) -> None:
        done = launched("audit", tmp_path / "none.csv", *LABELLED, stdout=subprocess.PIPE, preexec_fn=closed(2))
        assert (done.returncode, done.stdout) == (2, b"")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
    def test_a_full_output_is_not_the_users_mistake(self, people: Path, saved: Path, tmp_path: Path) -> None:
        out = tmp_path / "out.csv"
        with Path("/dev/full").open("w") as full:
            done = launched("apply", people, *COLUMNS, "--map", saved, "-o", out, stdout=full, stderr=subprocess.PIPE)
            assert done.returncode == 70
            assert b"standard output: No space left on device; what was printed is lost, but no file" in done.stderr
            assert done.stderr.count(b"\n") == 1
            assert out.read_text().count("\n") == ROWS + 1
            assert launched("audit", tmp_path / "none.csv", *LABELLED, stderr=full).returncode == 2

    @pytest.mark.parametrize("delay", [0.03, 0.08, 0.15, 0.3])
    def test_an_interrupt_while_packages_are_loaded(self, delay: float, people: Path) -> None:
        """From the first line of our own code on; before that it is Python that ends."""
        code = "import xorder.cli, sys; print('ours', flush=True); xorder.cli.program()"
        command = [sys.executable, "-c", code, "audit", people, *LABELLED]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ours\n"
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode in (0, 130)
        assert err == b""

    def test_too_little_memory_ends_in_one_line(self, people: Path) -> None:
        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (60 << 20, 60 << 20))

        done = launched("audit", people, *LABELLED, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limited)
        assert done.returncode == 70
        assert done.stderr.startswith(b"xorder: error: ")
        assert done.stderr.count(b"\n") == 1


def test_a_thread_that_cannot_be_started(people: Path, run: Callable[..., Ran], monkeypatch: Any) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("can't start new thread")

    from xorder.engines import _tables

    monkeypatch.setattr(_tables, "open_small_file", refuse)
    said = one_line(run("audit", people, *LABELLED), 70)
    assert "out of memory or threads" in said
    assert "a fault in xorder" not in said


@pytest.mark.slow
def test_a_full_disk_does_not_blame_the_rows(people: Path, saved: Path, tmp_path: Path) -> None:
    """DuckDB's own words for it have JSON in them."""
    package("duckdb")
    pa, pq = package("pyarrow"), package("pyarrow.parquet")
    rows = pa.table({"score": [k / 7919 % 1 for k in range(200_000)], "group": ["A", "B"] * 100_000})
    source, out = tmp_path / "rows.parquet", tmp_path / "out.parquet"
    pq.write_table(rows, source)
    out.write_text("old")
    code = (
        "import resource, sys; from xorder.engines import apply_to_file; from xorder.estimators import load_fitted\n"
        "from xorder.exceptions import InputError\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "try: apply_to_file(load_fitted(sys.argv[1]).group_maps(), *sys.argv[2:], score='score', group='group',"
        " overwrite=True)\n"
        "except InputError as error: print(error)\n"
        "import os; sys.stdout.flush(); os._exit(0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, saved, source, out], capture_output=True, text=True, timeout=120, check=False
    )
    assert f"could not write {out}: File too large; nothing was changed." in done.stdout, done
    assert out.read_text() == "old"


def test_a_damaged_parquet_file_that_arrow_cannot_tell_of(tmp_path: Path, monkeypatch: Any, run: Any) -> None:
    pa, pq = package("pyarrow"), package("pyarrow.parquet")

    def refuse(*_: Any, **__: Any) -> None:
        raise pa.ArrowNotImplementedError("Integers with more than 64 bits not implemented")

    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"score": [0.5], "group": ["A"], "outcome": [1]}), path)
    for name in ("read_metadata", "read_schema", "ParquetFile"):
        monkeypatch.setattr(pq, name, refuse)
    assert "cannot be read as parquet" in one_line(run("audit", path, *LABELLED))


HEADER = b"score,outcome,group\n"


class TestBombs:
    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (b"\0" * (16 << 20), "holds a NUL byte"),
            (b"a" * (16 << 20), "has more than 16 MiB or 1,048,576 lines"),
            (b'0.5,1,"' + b"a\n" * (8 << 20), "has more than 16 MiB or 1,048,576 lines"),
            (b'0.5,1,"' + b"a" * 70_000 + b"\n" * 4_000, "has more than 16 MiB or 1,048,576 lines"),
        ],
        ids=["NUL", "one line", "an open quote", "an open quote of few lines"],
    )
    def test_a_small_file_that_unpacks_to_much(
        self, body: bytes, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With smaller limits, so that it is soon seen that they are kept to."""
        monkeypatch.setattr(_csv_file, "_LONGEST", 1 << 16)
        monkeypatch.setattr(_csv_file, "_MOST_LINES", 1 << 12)
        path, read = tmp_path / "bomb.csv.gz", []
        path.write_bytes(gzip.compress(HEADER + body, 1))
        tracemalloc.start()
        try:
            with pytest.raises(InputError, match=words):
                list(read_csv(path, ["score"], "utf-8", read.append))
            assert tracemalloc.get_traced_memory()[1] < 40 << 20
        finally:
            tracemalloc.stop()

    def test_blank_lines_before_the_header(self, tmp_path: Path, monkeypatch: Any) -> None:
        monkeypatch.setattr(_csv_file, "_MOST_LINES", 1000)
        path = tmp_path / "blank.csv"
        path.write_bytes(b"\n" * 600_000 + HEADER)
        with pytest.raises(InputError, match="begins with more than 1,000 blank lines"):
            next(iter(read_csv(path, ["score"], "utf-8", lambda share: None)))

    def test_rows_held_in_memory_keep_to_the_limit(self, people: Path, run: Callable[..., Ran]) -> None:
        said = one_line(run("audit", people, *LABELLED, "--memory", "10kB"))
        assert "takes more memory than allowed; allow more, such as --memory 8GB" in said

    def test_gzip_says_how_much_it_unpacks_to(self, tmp_path: Path) -> None:
        path = tmp_path / "much.csv.gz"
        path.write_bytes(gzip.compress(b"0.5,1,A\n" * 400_000))
        assert _sources._unpacked(str(path)) == 3_200_000

    def test_a_map_file_has_a_largest_size(self, saved: Path, tmp_path: Path, monkeypatch: Any) -> None:
        from xorder.transfer import _map_file

        repair = load_fitted(saved)
        monkeypatch.setattr(_map_file, "LARGEST_FILE", saved.stat().st_size - 1)
        with pytest.raises(InputError, match="it is larger than 0 MiB"):
            load_fitted(saved)
        with pytest.raises(InputError, match="knots takes more than the 0 MiB that a map file may have"):
            repair.save(tmp_path / "new.json")
        assert not (tmp_path / "new.json").exists()


FORMULAS = 'score,group,=note\r\n0.5,A,"=cmd|x, ""y"""\r\n-0.5,B,-1e-5\r\n0.2,B,"a\r\nb"\r\n0.1,A,@x\r\n0.3,A,+ab\r\n'


class TestFormulas:
    def test_they_are_named_and_kept(self, saved: Path, tmp_path: Path, run: Callable[..., Ran]) -> None:
        path, out = tmp_path / "f.csv", tmp_path / "out.csv"
        path.write_bytes(FORMULAS.encode())
        ran = run("apply", path, *COLUMNS, "--map", saved, "-o", out)
        assert ran.code == 0
        assert "would take for formulas, such as '=note'; --escape-formulas writes them as text" in ran.err
        assert b'0.5,A,"=cmd|x, ""y""",' in out.read_bytes()

    def test_they_are_escaped_on_demand(self, saved: Path, tmp_path: Path, run: Callable[..., Ran]) -> None:
        path, out = tmp_path / "f.csv", tmp_path / "out.csv"
        path.write_bytes(FORMULAS.encode())
        ran = run("apply", path, *COLUMNS, "--map", saved, "-o", out, "--escape-formulas", "--into", "=1+1")
        assert (ran.code, ran.err) == (0, "")
        lines = out.read_bytes().decode().split("\r\n")
        assert lines[0] == "score,group,'=note,'=1+1"
        assert lines[1].startswith('0.5,A,"\'=cmd|x, ""y""",')
        assert lines[2].startswith("-0.5,B,-1e-5,")
        assert lines[3] == '0.2,B,"a'
        assert [line.split(",")[2] for line in lines[5:7]] == ["'@x", "'+ab"]

    @pytest.mark.parametrize("cell", ["-5", "+5.5e-3", "-inf", "a=b", "", "-.5", "nan"])
    def test_numbers_are_none(self, cell: str) -> None:
        assert not _csv_file.is_formula(cell)


class TestNames:
    @pytest.mark.parametrize("text", ["\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\u202eabc", "\rover", "\x08"])
    def test_control_characters_are_shown_not_obeyed(self, text: str, tmp_path: Path, run: Any) -> None:
        assert harmless(text).isprintable()
        ran = run("audit", tmp_path / f"{text}.csv", *LABELLED)
        assert ran.code == 2
        assert ran.err.strip().isprintable()

    def test_groups_and_columns_with_escapes(self, tmp_path: Path, run: Callable[..., Ran]) -> None:
        path = tmp_path / "odd.csv"
        rows = [f"{(7 * k) % 40 / 40},{k % 3 % 2},{'A' if k % 2 else 'B' + chr(27) + '[2J'}" for k in range(60)]
        path.write_text("\n".join([f"sc{chr(27)}ore,outcome,group", *rows]))
        for extra in ([], ["--all"], ["--table", "gaps"], ["--table", "gaps", "--format", "csv"], ["--json"]):
            ran = run("audit", path, "--score", "sc\x1bore", "--label", "outcome", "--group", "group", *extra)
            assert ran.code == 0
            assert "\x1b" not in ran.out + ran.err

    def test_colours_of_our_own_stay(self) -> None:
        assert harmless("\x1b[1mbold\x1b[0m", painted=True) == "\x1b[1mbold\x1b[0m"
        assert harmless("\x1b[2Jx", painted=True) == "\\x1b[2Jx"


def test_apply_refuses_parquet_files_that_changed(saved: Path, tmp_path: Path, monkeypatch: Any) -> None:
    pa, pq = package("pyarrow"), package("pyarrow.parquet")
    source, out = tmp_path / "rows.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"score": [0.5, 0.25], "group": ["A", "B"]}), source)
    from xorder.engines import _apply

    real = _apply.write_parquet

    def changing(*given: Any) -> None:
        real(*given)
        pq.write_table(pa.table({"score": [0.5], "group": ["A"]}), source)

    monkeypatch.setattr(_apply, "write_parquet", changing)
    with pytest.raises(InputError, match=r"rows\.parquet was changed while it was read"):
        apply_to_file(load_fitted(saved).group_maps(), source, out, score="score", group="group")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.json", "rows.parquet"]


def test_shell_runs_what_is_installed() -> None:
    assert shell("--version").code == 0

"""Downloads from a server on loopback: a whole verified file, or none and the reason; never a leftover."""

from __future__ import annotations

import io
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.raw_tables import draw_rows, give, public_text, serve, small_set
from xorder.datasets import _download as module
from xorder.datasets._download import DownloadError, Progress, byte_bar, download
from xorder.exceptions import InputError

BODY = random.Random(0).randbytes(200_000)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little patience, and no proxy."""
    monkeypatch.setattr(module, "_ANSWER", 0.5)
    monkeypatch.setattr(module, "_WHOLE", 5.0)
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def accept(path: Path, url: str) -> None:
    if path.read_bytes() != BODY:
        raise InputError(f"{url} must hold other bytes.")


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def reason(folder: Path, *urls: str) -> str:
    """Why no address gave the file; nothing may be left of it."""
    before = files(folder)
    with pytest.raises(DownloadError) as caught:
        download(urls, folder, accept)
    assert files(folder) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_good_file(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    with serve(give(BODY)) as (address, asked):
        path = download([f"{address}/d/f.csv?x=1"], tmp_path / "new", accept, progress=lambda *step: seen.append(step))
    assert path == tmp_path / "new" / "f.csv"
    assert files(tmp_path) == ["new/f.csv"]
    assert asked == ["/d/f.csv?x=1"]
    assert seen[-1] == (200_000, 200_000)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    if os.name == "posix":
        umask = os.umask(0)
        os.umask(umask)
        assert path.stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_wrong_content_is_not_kept_and_not_asked_for_again(tmp_path: Path) -> None:
    with serve(give(BODY[:-1] + b"!")) as (address, asked):
        assert reason(tmp_path, f"{address}/f") == f"{address}/f: must hold other bytes"
    assert asked == ["/f"]


def test_what_is_there_stays_if_the_new_one_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(BODY)
    with serve(give(b"other")) as (address, _):
        reason(tmp_path, f"{address}/f")
    assert (tmp_path / "f").read_bytes() == BODY


def test_a_cut_connection_is_tried_once_more(tmp_path: Path) -> None:
    cut = give(BODY[:70_000], promised=len(BODY))
    with serve(cut) as (address, asked):
        assert reason(tmp_path, f"{address}/f") == f"{address}/f: the connection ended after 70,000 of 200,000 bytes"
        assert len(asked) == 2
    with serve(cut, give(BODY)) as (address, asked):
        assert download([f"{address}/f"], tmp_path, accept).read_bytes() == BODY
        assert len(asked) == 2


def test_a_cut_connection_in_chunks(tmp_path: Path) -> None:
    def cut(request: BaseHTTPRequestHandler) -> None:
        request.protocol_version = "HTTP/1.1"
        request.send_response(200)
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        request.wfile.write(b"400\r\nonly a part")
        request.close_connection = True

    with serve(cut) as (address, _):
        assert "the connection broke" in reason(tmp_path, f"{address}/f")


def test_a_reset_connection(tmp_path: Path) -> None:
    def reset(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "100000")
        request.end_headers()
        request.wfile.write(b"x" * 10)
        request.wfile.flush()
        at_once = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
        request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        request.connection.close()

    with serve(reset) as (address, _):
        assert "the connection" in reason(tmp_path, f"{address}/f")


@pytest.mark.parametrize(("status", "times"), [(404, 1), (403, 1), (500, 2), (503, 2)])
def test_an_answer_that_is_an_error(tmp_path: Path, status: int, times: int) -> None:
    with serve(give(b"sorry", status=status)) as (address, asked):
        assert reason(tmp_path, f"{address}/f").startswith(f"{address}/f: the server answered {status} ")
        assert len(asked) == times


def test_refused_and_unknown_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{closed_port()}/f"
    # Windows tries for two seconds, and has other words for it.
    monkeypatch.setattr(module, "_ANSWER", 10.0)
    said = reason(tmp_path, url)
    assert said.startswith(f"{url}: no connection ({'Connection refused' if os.name == 'posix' else ''}")
    assert "no connection (" in reason(tmp_path, "http://no-such-host.invalid/f")


@pytest.mark.slow
def test_a_server_that_hangs_before_it_answers_and_after(tmp_path: Path) -> None:
    freed = threading.Event()

    def hang(request: BaseHTTPRequestHandler) -> None:
        freed.wait(60)

    def hang_later(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(BODY)))
        request.end_headers()
        request.wfile.write(BODY[:1000])
        request.wfile.flush()
        freed.wait(60)

    try:
        for answer in (hang, hang_later):
            with serve(answer) as (address, asked):
                assert reason(tmp_path, f"{address}/f") == f"{address}/f: no answer within 0.5 s"
                assert len(asked) == 1
                assert not freed.is_set()
    finally:
        freed.set()


def test_a_server_that_trickles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def trickle(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        try:
            for _ in range(200):
                request.wfile.write(b"x")
                time.sleep(0.02)
        except OSError:
            pass

    with serve(trickle) as (address, _):
        monkeypatch.setattr(module, "_WHOLE", 0.2)
        assert reason(tmp_path, f"{address}/f").endswith("the file did not arrive within 0.2 s")


def test_a_file_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 1 << 16)
    with serve(give(BODY)) as (address, _):
        assert "the file is larger than 0 MiB" in reason(tmp_path, f"{address}/f")


def test_the_next_address_is_tried_and_every_reason_told(tmp_path: Path) -> None:
    refused = f"http://127.0.0.1:{closed_port()}/f"
    with serve(give(b"gone", status=404), give(b"wrong"), give(BODY)) as (address, asked):
        urls = [f"{address}/a", f"{address}/b", refused, f"{address}/c.csv"]
        assert download(urls, tmp_path, accept) == tmp_path / "c.csv"
        assert asked == ["/a", "/b", "/c.csv"]
    assert files(tmp_path) == ["c.csv"]
    with serve(give(b"gone", status=404)) as (address, _):
        told = reason(tmp_path, f"{address}/a", refused).split("; ")
    assert [each.partition(": ")[0] for each in told] == [f"{address}/a", refused]


def test_a_redirection(tmp_path: Path) -> None:
    def elsewhere(request: BaseHTTPRequestHandler) -> None:
        request.send_response(302)
        request.send_header("Location", "/there")
        request.end_headers()

    with serve(elsewhere, give(BODY)) as (address, asked):
        assert download([f"{address}/f.csv"], tmp_path, accept).name == "f.csv"
        assert asked == ["/f.csv", "/there"]


def test_the_proxy_of_the_environment_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(give(BODY)) as (address, asked):
        monkeypatch.setenv("http_proxy", address)
        download(["http://data.invalid/f.csv"], tmp_path, accept)
        assert asked == ["http://data.invalid/f.csv"]


def test_an_interruption_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with serve(give(BODY)) as (address, _), pytest.raises(KeyboardInterrupt):
        download([f"{address}/f"], tmp_path, accept, progress=interrupt)
    assert files(tmp_path) == []


def test_a_failure_takes_away_only_folders_of_its_own_that_are_empty(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "below"
    with serve(give(b"wrong")) as (address, _):
        reason(folder, f"{address}/f")
        assert list(tmp_path.iterdir()) == []

        def verify(path: Path, url: str) -> None:
            (folder / "of another").touch()
            raise InputError("no")

        with pytest.raises(DownloadError):
            download([f"{address}/f"], folder, verify)
        assert files(tmp_path) == ["new/below/of another"]
        (folder / "of another").unlink()
        reason(folder, f"{address}/f")
        assert folder.is_dir()


def test_a_folder_that_another_process_takes_away_between_two_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "new"
    # Not the sleep of all threads: one that Spark has left behind may call it.
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: folder.rmdir()))
    with serve(give(b"", status=503), give(BODY)) as (address, _):
        assert download([f"{address}/f"], folder, accept).read_bytes() == BODY


def test_a_full_disk_is_not_blamed_on_the_network(tmp_path: Path) -> None:
    def full(done: int, total: int | None) -> None:
        raise OSError(28, "No space left on device")

    with serve(give(BODY)) as (address, asked):
        with pytest.raises(InputError, match=r"could not write .*: No space left on device; nothing was changed"):
            download([f"{address}/f", f"{address}/g"], tmp_path, accept, progress=full)
        assert asked == ["/f"]
    assert files(tmp_path) == []


def test_a_file_that_another_process_fetched_first_and_is_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows does not replace it; it is as good as ours, if it is."""

    def in_use(self: Path, target: Path) -> Path:
        target.write_bytes(there)
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(Path, "replace", in_use)
    with serve(give(BODY)) as (address, asked):
        there = BODY
        assert download([f"{address}/f"], tmp_path, accept).read_bytes() == BODY
        there = b"other"
        with pytest.raises(InputError, match="must hold other bytes"):
            download([f"{address}/f"], tmp_path, accept)
        assert asked == ["/f", "/f"]
    assert files(tmp_path) == ["f"]


FETCH = """
import sys
from dataclasses import replace
from xorder.datasets._open_set import OPEN_SETS
from xorder.datasets._raw_file import load_raw
url, rows, sha256 = sys.argv[1:]
layout = replace(OPEN_SETS["german"].file.layout, rows=int(rows), sha256=sha256)
table = load_raw(replace(OPEN_SETS["german"].file, urls=(url,), layout=layout))
sys.stdout.write(str(len(table["age"])))
"""


def start_fetching(url: str, rows: list[list[str]], cache: Path) -> subprocess.Popen[str]:
    layout = small_set("german", rows).file.layout
    environ = {**os.environ, "XORDER_CACHE": str(cache), "XORDER_DATA": ""}
    command = [sys.executable, "-c", FETCH, url, str(layout.rows), layout.sha256]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("broken", [False, True])
def test_two_processes_at_once(tmp_path: Path, broken: bool) -> None:
    """Both are in the middle of the file at the same time; if the answer to one is cut off, the other is not harmed."""
    rows = draw_rows("german", 300)
    body = public_text("german", rows).encode()
    both_here = threading.Barrier(2)

    def in_step(*, cut: bool) -> Callable[[BaseHTTPRequestHandler], None]:
        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(200)
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body[:5000])
            request.wfile.flush()
            both_here.wait(20)
            request.wfile.write(b"" if cut else body[5000:])

        return answer

    whole = in_step(cut=False)
    with serve(in_step(cut=broken), whole, give(b"gone", status=404)) as (address, asked):
        running = [start_fetching(f"{address}/german.data", rows, tmp_path) for _ in range(2)]
        results = [(*process.communicate(timeout=60), process.returncode) for process in running]
    outputs = sorted(out for out, _, _ in results)
    if broken:
        # the one that was cut off asks again, is told 404, and fails alone
        assert outputs == ["", "300"]
        assert len(asked) == 3
        assert "answered 404" in "".join(err for _, err, _ in results)
    else:
        assert outputs == ["300", "300"], results
        assert len(asked) == 2
    assert files(tmp_path) == ["german/german.data"]
    assert (tmp_path / "german" / "german.data").read_bytes() == body


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestBar:
    def test_on_a_terminal(self) -> None:
        out = Terminal()
        with byte_bar("adult", out) as show:
            show(0, 4_000_000)
            show(1_000_000, 4_000_000)
            show(5_000_000, None)
        lines = out.getvalue().split("\r")
        assert lines[1] == "adult [" + " " * 30 + "] 0.0 of 4.0 MB\x1b[K"
        assert lines[2] == "adult [" + "#" * 7 + " " * 23 + "] 1.0 of 4.0 MB\x1b[K"
        assert lines[3] == "adult [" + " " * 30 + "] 5.0 MB\x1b[K"
        assert lines[4:] == ["\x1b[K"]

    def test_more_than_was_promised(self) -> None:
        out = Terminal()
        with byte_bar("adult", out) as show:
            show(3, 2)
        assert "#" * 30 + "]" in out.getvalue()

    def test_the_line_is_wiped_after_a_failure(self) -> None:
        def fail(show: Progress) -> None:
            show(1, 2)
            raise InputError

        out = Terminal()
        with pytest.raises(InputError), byte_bar("adult", out) as show:
            fail(show)
        assert out.getvalue().endswith("\r\x1b[K")

    @pytest.mark.parametrize("out", [None, io.StringIO()])
    def test_silent_elsewhere(self, out: io.StringIO | None) -> None:
        with byte_bar("adult", out) as show:
            show(1, 2)
        assert out is None or out.getvalue() == ""

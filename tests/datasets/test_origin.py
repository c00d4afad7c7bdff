"""Where a raw file is looked for, in which order, under which names, and what is said when it is nowhere."""

from __future__ import annotations

import gzip
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from support.raw_tables import draw_rows, give, header_of, public_text, serve, small_set, write_csv
from xorder.datasets._catalogue import OPEN_SETS
from xorder.datasets._raw_file import RawFile, cache_folder, data_folders, fetch_raw, find_raw, load_raw
from xorder.exceptions import InputError, XorderWarning

NAMES = list(OPEN_SETS)
ROWS = {name: draw_rows(name) for name in NAMES}
# On Windows a path is absolute with its drive only.
FAST = str(Path("/fast").absolute())


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """A data_home, the folder XORDER_DATA names, and the cache; loopback is reached without any proxy."""
    folders = tmp_path / "home", tmp_path / "named", tmp_path / "cache"
    for folder in folders[:2]:
        folder.mkdir()
    monkeypatch.setenv("XORDER_DATA", str(folders[1]))
    monkeypatch.setenv("XORDER_CACHE", str(folders[2]))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return folders


def raw_file(name: str, url: str = "http://127.0.0.1:9/none.csv") -> RawFile:
    """The file of a set with 40 rows, to be had nowhere else."""
    return replace(small_set(name, ROWS[name]).file, urls=(url,))


def put(path: Path, name: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = write_csv(ROWS[name], header_of(name)).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


class TestFolders:
    def test_order(self, places: tuple[Path, Path, Path]) -> None:
        home, named, cache = places
        raw = raw_file("german")
        assert list(data_folders()) == [named, cache]
        assert list(data_folders(home)) == [home, named, cache]
        for one in (None, home):
            assert find_raw(raw, one) is None
        in_cache = put(cache / "german" / "german_raw.csv", "german")
        assert find_raw(raw) == find_raw(raw, home) == in_cache
        in_named = put(named / "german.data", "german")
        assert find_raw(raw) == find_raw(raw, home) == in_named
        in_home = put(home / "german" / "german.csv.gz", "german")
        assert find_raw(raw) == in_named
        assert find_raw(raw, home) == find_raw(raw, str(home)) == in_home
        for one in (None, home):
            assert len(load_raw(raw, one)["age"]) == 40

    def test_no_folder_is_named(self, places: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        for value in ("", None):
            if value is None:
                monkeypatch.delenv("XORDER_DATA")
            else:
                monkeypatch.setenv("XORDER_DATA", value)
            assert list(data_folders()) == [places[2]]

    def test_a_home_that_is_no_folder(self, tmp_path: Path, places: tuple[Path, Path, Path]) -> None:
        put(places[2] / "german.data", "german")
        with pytest.raises(InputError, match=r"data_home names .*gone, which is not a folder"):
            load_raw(raw_file("german"), tmp_path / "gone")

    def test_a_variable_that_names_no_folder(
        self, places: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home, _, cache = places
        monkeypatch.setenv("XORDER_DATA", str(tmp_path / "lost"))
        words = r"XORDER_DATA names .*lost, which is not a folder, so nothing is looked for there"
        with pytest.warns(XorderWarning, match=words), pytest.raises(InputError, match="cannot download"):
            load_raw(raw_file("german"))
        in_cache = put(cache / "german.data", "german")
        with pytest.warns(XorderWarning, match=words):
            assert find_raw(raw_file("german"), home) == in_cache
        with pytest.warns(XorderWarning, match=words):
            assert len(load_raw(raw_file("german"))["age"]) == 40
        # What is found before has no need of it, and warnings are errors here.
        in_home = put(home / "german.data", "german")
        assert find_raw(raw_file("german"), home) == in_home

    def test_no_folder_for_a_cache(self, places: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        def fail() -> Path:
            raise RuntimeError("Could not determine home directory.")

        for name in ("XORDER_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(Path, "home", fail)
        assert find_raw(raw_file("german")) is None
        with pytest.raises(InputError, match="Name one with XORDER_CACHE"):
            load_raw(raw_file("german"))
        put(places[1] / "german.data", "german")
        assert len(load_raw(raw_file("german"), places[0])["age"]) == 40

    def test_a_tilde_is_the_home_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        monkeypatch.setenv("XORDER_DATA", "~/named")
        assert list(data_folders("~/home"))[:2] == [tmp_path / "home", tmp_path / "named"]


class TestCacheFolder:
    @pytest.fixture(autouse=True)
    def user(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Path, "home", lambda: Path("/u"))

    @pytest.mark.parametrize(
        ("platform", "environ", "expected"),
        [
            ("linux", {}, "/u/.cache/xorder"),
            ("freebsd14", {}, "/u/.cache/xorder"),
            ("linux", {"XDG_CACHE_HOME": FAST}, f"{FAST}/xorder"),
            ("linux", {"XDG_CACHE_HOME": "relative"}, "/u/.cache/xorder"),
            ("linux", {"XDG_CACHE_HOME": ""}, "/u/.cache/xorder"),
            ("darwin", {"XDG_CACHE_HOME": FAST}, "/u/Library/Caches/xorder"),
            ("win32", {"LOCALAPPDATA": "/local"}, "/local/xorder/Cache"),
            ("win32", {}, "/u/AppData/Local/xorder/Cache"),
            ("win32", {"LOCALAPPDATA": "/local", "XORDER_CACHE": "/mine"}, "/mine"),
            ("linux", {"XORDER_CACHE": "", "XDG_CACHE_HOME": FAST}, f"{FAST}/xorder"),
        ],
    )
    def test_as_the_system_has_it(self, platform: str, environ: dict[str, str], expected: str) -> None:
        assert cache_folder(platform, environ) == Path(expected)

    def test_no_home(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail() -> Path:
            raise RuntimeError("Could not determine home directory.")

        monkeypatch.setattr(Path, "home", fail)
        with pytest.raises(InputError, match="Name one with XORDER_CACHE"):
            cache_folder("linux", {})


@pytest.mark.parametrize("name", NAMES)
class TestNames:
    def test_every_name_is_found_in_the_folder_and_below(self, name: str, places: tuple[Path, Path, Path]) -> None:
        home, raw = places[0], OPEN_SETS[name].file
        asked = [*raw.names, *(url.rpartition("/")[2] for url in raw.urls)]
        assert {"adult": "adult.data", "german": "german.data"}.get(name, raw.names[0]) in asked
        for base in (home, home / name):
            for each in asked:
                for end in ("", ".gz"):
                    path = put(base / f"{each}{end}", name)
                    assert find_raw(raw, home) == path
                    path.unlink()

    def test_the_archive_of_the_origin_may_lie_there(self, name: str, places: tuple[Path, Path, Path]) -> None:
        zipped = [url for url in OPEN_SETS[name].file.urls if url.endswith(".zip")]
        assert bool(zipped) == (name in ("adult", "german"))
        for url in zipped:
            with zipfile.ZipFile(places[0] / url.rpartition("/")[2], "w") as archive:
                archive.writestr("Index", "1")
                archive.writestr(f"{name}.data", public_text(name, ROWS[name]))
            raw = replace(raw_file(name), urls=(url,))
            assert len(load_raw(raw, places[0])["age"]) == 40

    def test_nowhere(self, name: str, places: tuple[Path, Path, Path]) -> None:
        home = places[0]
        with pytest.raises(InputError) as caught:
            load_raw(raw_file(name), home)
        assert str(home / name / "none.csv") in str(caught.value)
        assert list(home.iterdir()) == []


def test_another_file_of_that_name(places: tuple[Path, Path, Path]) -> None:
    path = places[0] / "framingham.csv"
    path.write_text("male,age,education,TenYearCHD\n1,39,4,0\n")
    with pytest.raises(InputError) as caught:
        load_raw(raw_file("framingham"), places[0])
    assert str(caught.value).startswith(f"{path} must have the columns sex, sbp, dbp")
    assert "among its 4 columns there is no sex, sbp" in str(caught.value)


class TestFetch:
    def test_into_the_cache_once(self, places: tuple[Path, Path, Path]) -> None:
        body = public_text("german", ROWS["german"]).encode()
        with serve(give(body)) as (address, asked):
            raw = raw_file("german", f"{address}/some/german.data")
            path = fetch_raw(raw)
            assert path == places[2] / "german" / "german.data"
            assert path.read_bytes() == body
            assert fetch_raw(raw) == path
            assert len(load_raw(raw)["age"]) == 40
            assert asked == ["/some/german.data"]

    def test_into_a_folder_that_is_created(self, places: tuple[Path, Path, Path]) -> None:
        new = places[0] / "a" / "b"
        with serve(give(public_text("adult", ROWS["adult"]).encode())) as (address, _):
            raw = raw_file("adult", f"{address}/adult.data")
            assert fetch_raw(raw, new) == new / "adult" / "adult.data"
        assert not places[2].exists()
        assert len(load_raw(raw, new)["age"]) == 40

    def test_one_that_is_there_is_verified(self, places: tuple[Path, Path, Path]) -> None:
        path = put(places[1] / "german.csv", "german")
        assert fetch_raw(raw_file("german")) == path
        path.write_text(path.read_text().replace("A11", "A12"))
        with pytest.raises(InputError, match="but other values"):
            fetch_raw(raw_file("german"))

    def test_loading_downloads_if_no_folder_was_named(self, places: tuple[Path, Path, Path]) -> None:
        with serve(give(public_text("compas", ROWS["compas"]).encode())) as (address, asked):
            raw = raw_file("compas", f"{address}/c.csv")
            assert len(load_raw(raw)["age"]) == 40
            assert len(load_raw(raw)["age"]) == 40
        assert asked == ["/c.csv"]
        assert [each.name for each in places[2].rglob("*")] == ["compas", "c.csv"]

    def test_offline(self, places: tuple[Path, Path, Path]) -> None:
        with pytest.raises(InputError) as caught:
            load_raw(raw_file("german"))
        message = str(caught.value)
        assert message.startswith("cannot download the german table (http://127.0.0.1:9/none.csv: no connection (")
        assert f"Get http://127.0.0.1:9/none.csv by another way and save it as {places[2]}" in message
        assert message.endswith("none.csv, or in a folder that data_home or XORDER_DATA names.")
        assert not places[2].exists()

    def test_loading_downloads_into_data_home(self, places: tuple[Path, Path, Path]) -> None:
        home, _, cache = places
        with serve(give(public_text("compas", ROWS["compas"]).encode())) as (address, asked):
            raw = raw_file("compas", f"{address}/c.csv")
            for _ in range(2):
                assert len(load_raw(raw, home)["age"]) == 40
        assert asked == ["/c.csv"]
        assert (home / "compas" / "c.csv").is_file()
        assert not cache.exists()

    def test_into_a_folder_though_it_is_elsewhere(self, places: tuple[Path, Path, Path]) -> None:
        put(places[2] / "german.data", "german")
        with serve(give(public_text("german", ROWS["german"]).encode())) as (address, _):
            path = fetch_raw(raw_file("german", f"{address}/german.data"), places[0])
        assert path == places[0] / "german" / "german.data"

    def test_a_failure_leaves_no_new_folder(self, places: tuple[Path, Path, Path]) -> None:
        (places[0] / "old").mkdir()
        for folder in (places[0] / "old", places[0] / "old" / "a" / "b"):
            with pytest.raises(InputError, match="cannot download"):
                fetch_raw(raw_file("german"), folder)
            assert list(places[0].rglob("*")) == [places[0] / "old"]

    def test_a_folder_that_cannot_be_written(self, places: tuple[Path, Path, Path]) -> None:
        (places[0] / "file").write_text("")
        with pytest.raises(InputError, match="cannot create the folder"):
            fetch_raw(raw_file("german"), places[0] / "file")

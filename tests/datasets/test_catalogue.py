"""What the command line says of the open sets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.real_data import data_home
from xorder.datasets import _catalogue as catalogue
from xorder.exceptions import InputError, XorderWarning


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("XORDER_DATA", raising=False)
    monkeypatch.setenv("XORDER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_none_is_here(cache: Path) -> None:
    entries = catalogue.available()
    assert [entry.name for entry in entries] == ["compas", "adult", "framingham", "german"]
    assert all(entry.path is None for entry in entries)
    assert [entry.save_as.relative_to(cache).as_posix() for entry in entries] == [
        "compas/compas-scores-two-years.csv",
        "adult/adult.zip",
        "framingham/2.20.Framingham.csv",
        "german/statlog+german+credit+data.zip",
    ]
    assert not cache.exists()


def test_one_is_here(tmp_path: Path) -> None:
    path = tmp_path / "german.data"
    path.write_text("")
    entry = catalogue.describe("german", data_home=tmp_path)
    assert entry.path == path
    assert entry.save_as == tmp_path / "german" / "statlog+german+credit+data.zip"
    assert entry.to_dict()["path"] == str(path)
    assert catalogue.describe("german").path is None


def test_found_elsewhere_than_in_data_home(tmp_path: Path, cache: Path) -> None:
    cache.mkdir()
    (cache / "german.data").write_text("")
    (tmp_path / "home").mkdir()
    entry = catalogue.describe("german", data_home=tmp_path / "home")
    assert entry.path == cache / "german.data"
    assert entry.save_as == tmp_path / "home" / "german" / "statlog+german+credit+data.zip"


def test_a_variable_that_names_no_folder(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir()
    (cache / "german.data").write_text("")
    monkeypatch.setenv("XORDER_DATA", str(tmp_path / "lost"))
    with pytest.warns(XorderWarning, match=r"XORDER_DATA names .*lost, which is not a folder"):
        entries = catalogue.available()
    assert [entry.name for entry in entries if entry.path] == ["german"]


@pytest.mark.parametrize("name", list(catalogue.OPEN_SETS))
def test_as_plain_values(name: str) -> None:
    entry = catalogue.describe(name)
    plain = json.loads(json.dumps(entry.to_dict()))
    assert set(plain) == set(type(entry).__dataclass_fields__)
    assert plain["rows"] == catalogue.OPEN_SETS[name].rows
    for listed in ("groups", "warnings", "urls"):
        assert plain[listed] == entry.to_dict()[listed] == list(getattr(entry, listed))
    assert plain["path"] is None


def test_another_name() -> None:
    for call in (catalogue.describe, catalogue.fetch):
        with pytest.raises(InputError, match="'titanic' is not an open data set; choose one of compas, adult"):
            call("titanic")


@pytest.mark.slow
@pytest.mark.parametrize("name", list(catalogue.OPEN_SETS))
def test_real_files_are_found_and_verified(name: str) -> None:
    home = data_home(name)
    path = catalogue.fetch(name, data_home=home)
    assert path == catalogue.describe(name, data_home=home).path
    assert path.is_relative_to(home)


@pytest.mark.slow
def test_needs_no_optional_package() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['pandas', 'pyarrow', 'duckdb', 'tqdm']));"
        "from xorder.datasets import _catalogue; _catalogue.available()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from xorder._atomic import atomic_path
from xorder.exceptions import InputError

POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_new_file_is_there_when_the_block_ends(tmp_path):
    target = tmp_path / "out.json"
    with atomic_path(target) as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path
        assert not target.exists()
    assert target.read_text() == "new"
    assert files(tmp_path) == ["out.json"]


def test_until_then_readers_see_the_old_file(tmp_path):
    target = tmp_path / "out.json"
    target.write_text("old")
    with atomic_path(target) as temporary:
        temporary.write_text("half of the ne")
        assert target.read_text() == "old"
    assert target.read_text() == "half of the ne"


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(3), MemoryError()])
def test_a_crash_leaves_the_old_file_and_nothing_else(tmp_path, error):
    target = tmp_path / "out.json"
    target.write_text("old")

    def write_and_fail():
        with atomic_path(target) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(type(error)):
        write_and_fail()
    assert target.read_text() == "old"
    assert files(tmp_path) == ["out.json"]


def test_a_crash_where_there_was_no_file_leaves_none(tmp_path):
    def write_and_fail():
        with atomic_path(tmp_path / "out.json") as temporary:
            temporary.write_text("half")
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        write_and_fail()
    assert files(tmp_path) == []


def test_a_full_disk_is_told_in_one_sentence(tmp_path):
    target = tmp_path / "out.json"
    target.write_text("old")

    def write_and_fail():
        with atomic_path(target):
            raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"out\.json: No space left on device; nothing was changed\.$"):
        write_and_fail()
    assert target.read_text() == "old"
    assert files(tmp_path) == ["out.json"]


@POSIX
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_permissions_are_those_of_a_plain_open(tmp_path, umask):
    before = os.umask(umask)
    try:
        (tmp_path / "plain").write_text("x")
        with atomic_path(tmp_path / "atomic") as temporary:
            temporary.write_text("x")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    plain, atomic = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "atomic"))
    assert oct(atomic) == oct(plain)


@POSIX
def test_a_replaced_file_keeps_its_permissions(tmp_path):
    target = tmp_path / "out.json"
    target.write_text("old")
    target.chmod(0o640)
    with atomic_path(target) as temporary:
        temporary.write_text("new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_nothing_is_left_beside_a_read_only_file(tmp_path):
    """Which Windows refuses to replace."""
    target = tmp_path / "out.json"
    target.write_text("old")
    target.chmod(0o444)
    with suppress(InputError), atomic_path(target) as temporary:
        temporary.write_text("new")
    assert files(tmp_path) == ["out.json"]
    target.chmod(0o644)


def test_a_file_that_cannot_be_removed_does_not_hide_the_reason(tmp_path, monkeypatch):
    def refuse(self, missing_ok=False):
        raise PermissionError(13, "Permission denied")

    def write_and_fail():
        with atomic_path(tmp_path / "out.json"):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(InputError, match="No space left on device"):
        write_and_fail()


@pytest.mark.skipif(os.name != "nt", reason="elsewhere a name may have a colon")
def test_a_name_with_a_colon_on_windows(tmp_path):
    with pytest.raises(InputError, match="a name on Windows has no ':'"), atomic_path(tmp_path / "at 12:30.json"):
        pytest.fail("the block must not run")
    assert files(tmp_path) == []


def test_an_existing_file_can_be_protected(tmp_path):
    target = tmp_path / "out.json"
    target.write_text("old")
    with pytest.raises(InputError, match="exists already"), atomic_path(target, overwrite=False):
        pytest.fail("the block must not run")
    assert target.read_text() == "old"


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError, match="is a folder; name a file"), atomic_path(tmp_path):
        pytest.fail("the block must not run")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match=r"the folder .*none does not exist"), atomic_path(tmp_path / "none" / "x"):
        pytest.fail("the block must not run")


def test_text_paths(tmp_path):
    with atomic_path(str(tmp_path / "a b ü.json")) as temporary:
        temporary.write_text("x")
    assert files(tmp_path) == ["a b ü.json"]


def test_a_name_that_is_too_long_is_told_in_one_sentence(tmp_path):
    words = "File name too long" if os.name == "posix" else "cannot write"
    with pytest.raises(InputError, match=words), atomic_path(tmp_path / ("x" * 300)):
        pytest.fail("the block must not run")

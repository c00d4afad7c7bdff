"""Splits: random ones that are the same everywhere, stored ones that fit the rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from xorder.datasets.splits import check_splits, make_splits, random_splits, stored_splits
from xorder.exceptions import InputError


def store(folder: Path, **arrays: object) -> Path:
    path = folder / "splits" / "people.npz"
    path.parent.mkdir(exist_ok=True)
    np.savez(path, **{key: np.asarray(value) for key, value in arrays.items()})
    return path


def complaint(folder: Path, n_rows: int = 4, **arrays: object) -> str:
    store(folder, **arrays)
    with pytest.raises(InputError) as caught:
        stored_splits("people", n_rows, data_home=folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestRandom:
    @pytest.mark.parametrize(
        ("n_rows", "n_test"), [(2, 1), (3, 1), (4, 2), (10, 3), (11, 4), (1000, 300), (6167, 1851)]
    )
    def test_each_row_is_in_one_part(self, n_rows: int, n_test: int) -> None:
        for split in random_splits(n_rows, 4):
            assert len(split.test) == n_test
            assert sorted([*split.train, *split.test]) == list(range(n_rows))
            assert split.train.dtype == split.test.dtype == np.intp

    def test_a_split_depends_on_its_number_only(self) -> None:
        few, many = random_splits(50, 2), random_splits(50, 5)
        for one, two in zip(few, many, strict=False):
            np.testing.assert_array_equal(one.test, two.test)
        assert len({tuple(split.test) for split in many}) == 5

    def test_the_same_on_every_machine(self) -> None:
        assert [split.test.tolist() for split in random_splits(10, 3)] == [[1, 2, 3], [2, 4, 9], [3, 6, 7]]

    def test_rows_are_drawn_evenly(self) -> None:
        counts = np.zeros(20)
        for split in random_splits(20, 2000):
            counts[split.test] += 1
        assert abs(counts / 2000 - 0.3).max() < 0.05

    @pytest.mark.parametrize("n_rows", [0, 1])
    def test_too_few_rows(self, n_rows: int) -> None:
        with pytest.raises(InputError, match=f"at least 2 rows; got {n_rows}"):
            random_splits(n_rows, 1)


class TestStored:
    def test_read(self, tmp_path: Path) -> None:
        store(
            tmp_path, train_0=[3, 0, 1], test_0=[2], train_1=np.array([2, 3], np.int32), test_1=np.array([1, 0], "u1")
        )
        one, two = stored_splits("people", 4, data_home=tmp_path)
        assert (one.train.tolist(), one.test.tolist()) == ([3, 0, 1], [2])
        assert (two.train.tolist(), two.test.tolist()) == ([2, 3], [1, 0])
        assert one.train.dtype == two.test.dtype == np.intp

    def test_found_by_the_environment_and_in_the_cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        named, cache = tmp_path / "named", tmp_path / "cache"
        named.mkdir()
        cache.mkdir()
        monkeypatch.setenv("XORDER_DATA", str(named))
        monkeypatch.setenv("XORDER_CACHE", str(cache))
        with pytest.raises(InputError) as caught:
            make_splits("stored", 4, name="people")
        for folder in (named, cache):
            assert str(folder / "splits" / "people.npz") in str(caught.value)
        assert "or ask for random ones with splits=10" in str(caught.value)
        store(cache, train_0=[0, 1], test_0=[2, 3])
        assert make_splits("stored", 4, name="people")[0].test.tolist() == [2, 3]
        store(named, train_0=[2, 3], test_0=[0, 1])
        assert make_splits("stored", 4, name="people")[0].test.tolist() == [0, 1]

    @pytest.mark.parametrize(
        ("train", "test"),
        [
            ([0, 1], [2]),
            ([0, 1, 2], [2, 3]),
            ([0, 1, 2], [4]),
            ([0, 1, -1], [3]),
            ([0, 1, 2, 3, 4], []),
            ([0.0, 1.0, 2.0], [3.0]),
            ([[0, 1, 2]], [[3]]),
            ([True, False], [2, 3]),
        ],
    )
    def test_row_numbers_that_do_not_fit(self, tmp_path: Path, train: list[int], test: list[int]) -> None:
        message = complaint(tmp_path, train_0=[0, 1], test_0=[2, 3], train_1=train, test_1=test)
        assert message.endswith(
            "split 1: the training and the test part together must hold each row number from 0 to 3 once."
        )

    def test_other_arrays(self, tmp_path: Path) -> None:
        assert "it holds train_0." in complaint(tmp_path, train_0=[0])
        assert "it holds test_1, train_1." in complaint(tmp_path, train_1=[0], test_1=[1])
        assert "it holds a." in complaint(tmp_path, a=[0])

    def test_damaged_or_dangerous_files(self, tmp_path: Path) -> None:
        assert "cannot read" in complaint(tmp_path, train_0=np.array([{}], dtype=object), test_0=[1])
        path = store(tmp_path, train_0=[0, 1], test_0=[2, 3])
        good = path.read_bytes()
        for content in (b"", b"text", good[:-40], good[:60], b"\x93NUMPY"):
            path.write_bytes(content)
            with pytest.raises(InputError, match="cannot read"):
                stored_splits("people", 4, data_home=tmp_path)

    def test_one_array_alone(self, tmp_path: Path) -> None:
        path = store(tmp_path, train_0=[0])
        with path.open("wb") as handle:
            np.save(handle, np.arange(4))
        with pytest.raises(InputError, match="cannot read"):
            stored_splits("people", 4, data_home=tmp_path)


def test_which_are_made() -> None:
    assert make_splits(None, 10, name="people") == ()
    assert len(make_splits(np.int64(2), 10, name="people")) == 2
    for wrong in (0, -3, True, 2.0, "all", ()):
        with pytest.raises(InputError, match="splits must be None"):
            check_splits(wrong)

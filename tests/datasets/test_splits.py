"""Splits: random ones that are the same everywhere, and the paper's, which are too."""

from __future__ import annotations

import numpy as np
import pytest

from support.real_data import data_file
from xorder.datasets import _problem
from xorder.datasets._catalogue import OPEN_SETS
from xorder.datasets._problem import StoredSplits, check_splits, make_splits, random_splits, stored_splits
from xorder.exceptions import InputError


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


@pytest.fixture(params=OPEN_SETS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stored(name: str) -> StoredSplits:
    return OPEN_SETS[name].stored


class TestStored:
    def test_anywhere(self, name: str, stored: StoredSplits) -> None:
        """No file and no folder are needed; a hash of the published row numbers is."""
        rows = OPEN_SETS[name].rows
        splits = make_splits("stored", rows, stored)
        assert len(splits) == 10
        for split in splits:
            assert len(split.test) == -(-3 * rows // 10)
            assert split.train.dtype == split.test.dtype == np.intp
            np.testing.assert_array_equal(np.sort(np.concatenate(split)), np.arange(rows))

    def test_those_of_the_published_files(self, name: str, stored: StoredSplits) -> None:
        archive = np.load(data_file(f"splits/{name}.npz"))
        splits = stored_splits(stored, stored.rows)
        assert sorted(archive) == sorted(f"{part}_{i}" for i in range(len(splits)) for part in ("train", "test"))
        for number, split in enumerate(splits):
            # In the same order too.
            np.testing.assert_array_equal(split.train, archive[f"train_{number}"])
            np.testing.assert_array_equal(split.test, archive[f"test_{number}"])

    def test_other_rows(self, stored: StoredSplits) -> None:
        with pytest.raises(InputError, match=f"splits are for {stored.rows:,} rows; this table has 40"):
            make_splits("stored", 40, stored)

    def test_another_way_to_shuffle_is_noticed(self, stored: StoredSplits, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_problem, "_SEED", 12346)
        with pytest.raises(InputError, match="shuffles in another way"):
            stored_splits(stored, stored.rows)


def test_which_are_made() -> None:
    nothing = StoredSplits(0, (), "")
    assert make_splits(None, 10, nothing) == ()
    assert len(make_splits(np.int64(2), 10, nothing)) == 2
    for wrong in (0, -3, True, 2.0, "all", ()):
        with pytest.raises(InputError, match="splits must be None"):
            check_splits(wrong, stored=True)
        with pytest.raises(InputError, match="splits must be None"):
            make_splits(wrong, 10, nothing)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no splits are stored for clinical data"):
        make_splits("stored", 10)

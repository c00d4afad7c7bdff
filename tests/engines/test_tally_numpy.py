"""Sums over batches: those that a dict adds up, by threads that share the work."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xorder.engines import _tally_numpy as tally_numpy
from xorder.engines._tally import CELLS, FIRST_CELL, Batch, Bins, bin_of, in_use
from xorder.engines._tally_numpy import KeyCounts, _GuessedBins, cells_of, keys_of, side_by_side

KEYS = st.one_of(st.integers(-5, 5), st.integers(-(1 << 62), 1 << 62))


class TestKeyCounts:
    """Also where keys meet in the table or become too many."""

    @pytest.fixture(autouse=True)
    def tiny_table(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # With four places, nearly all keys meet.
        monkeypatch.setattr(tally_numpy, "_TABLE_BITS", 2)

    @given(
        batches=st.lists(st.lists(st.tuples(KEYS, st.integers(0, 2), st.integers(0, 9)), max_size=20), max_size=5),
        limit=st.integers(1, 30),
    )
    def test_sums_are_those_of_a_dict(self, batches: list[list[tuple[int, int, int]]], limit: int) -> None:
        shifts = (0, 3, 40, 62)
        counts = KeyCounts(3, limit=limit, shifts=shifts, sums=2)
        wanted: dict[tuple[int, int], int] = {}
        for batch in batches:
            keys, columns, weights = (np.array([row[place] for row in batch], dtype=np.int64) for place in range(3))
            counts.add(keys, columns, [weights.astype(float), weights.astype(float) ** 2])
            for key, column, weight in batch:
                wanted[key, column] = wanted.get((key, column), 0) + weight
        distinct = [len({key >> shift for key, _ in wanted}) for shift in shifts]
        least = next((shift for shift, size in zip(shifts, distinct, strict=True) if size <= limit), shifts[-1])
        assert counts.shift == least
        assert sorted(counts.keys.tolist()) == sorted({key >> least for key, _ in wanted})
        for slot, key in enumerate(counts.keys.tolist()):
            for column in range(3):
                total = sum(mass for (old, of), mass in wanted.items() if old >> least == key and of == column)
                assert counts.masses[0, slot, column] == total
        assert counts.masses[1].sum() == sum(weight**2 for batch in batches for _, _, weight in batch)

    def test_rows_without_weights_count_one(self) -> None:
        counts = KeyCounts(2, limit=10)
        for _ in range(3):
            counts.add(np.array([7, 7, 8]), np.array([0, 1, 1], dtype=np.int16))
        order = np.argsort(counts.keys)
        assert counts.masses[0][order].tolist() == [[3, 3], [0, 3]]


class TestSideBySide:
    @pytest.mark.parametrize("threads", [1, 3])
    def test_each_batch_is_worked_on_once(self, threads: int) -> None:
        worked_on: list[int] = []
        side_by_side(iter(range(1000)), worked_on.append, threads)
        assert sorted(worked_on) == list(range(1000))

    def test_threads_share_the_work(self) -> None:
        threads: set[int] = set()

        def work(batch: int) -> None:
            time.sleep(0.001)
            threads.add(threading.get_ident())

        side_by_side(iter(range(60)), work, 2)
        assert len(threads) == 2

    @pytest.mark.parametrize("threads", [1, 3])
    def test_an_error_ends_the_work_and_is_raised(self, threads: int) -> None:
        read = []

        def batches() -> Iterator[int]:
            for number in range(10_000):
                read.append(number)
                yield number

        def work(batch: int) -> None:
            if batch == 5:
                raise RuntimeError("five")
            time.sleep(0.001)

        with pytest.raises(RuntimeError, match="five"):
            side_by_side(batches(), work, threads)
        assert len(read) < 100

    def test_an_error_of_the_reader_is_raised(self) -> None:
        def batches() -> Iterator[int]:
            yield 1
            raise OSError("disk")

        with pytest.raises(OSError, match="disk"):
            side_by_side(batches(), lambda batch: None, 2)


class TestGuessedBins:
    """Bins of all rows, put together from those that the first rows make likely, hold what a pass over all gives."""

    CODES, BINS = 4, 3000

    def put_together(self, score: np.ndarray, code: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the sums of a pass, and those put together, None where that cannot be done."""
        rows = Batch(score, code.astype(np.int16), None)
        guessed = _GuessedBins([rows.where(np.arange(score.size) < first)], self.CODES, self.BINS)
        fine = guessed.bin_of(rows) * self.CODES + code
        guessed.sums = np.bincount(fine, minlength=len(guessed) * self.CODES).reshape(1, -1, self.CODES).astype(float)
        by_cell = np.bincount(cells_of(keys_of(score)) * self.CODES + code, minlength=CELLS * self.CODES)
        assert np.array_equal(guessed.by_cell()[0], by_cell.reshape(CELLS, self.CODES))
        cell = np.flatnonzero(in_use(guessed.by_cell()))
        bins = Bins.for_masses(cell + FIRST_CELL, guessed.by_cell()[0, cell], self.BINS)
        position = bin_of(keys_of(score), *bins.lookup()) * self.CODES + code
        wanted = np.bincount(position, minlength=len(bins) * self.CODES).reshape(1, -1, self.CODES)
        found = guessed.put_together(bins)
        if found is not None:
            for batch in guessed.kept or ():
                place = bin_of(keys_of(batch.score), *bins.lookup())
                np.add.at(found[0], (place, batch.code), 1.0)
        return wanted, found

    @pytest.mark.parametrize("seed", range(3))
    def test_sums_are_those_of_a_pass(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        # Many in few cells, some in many, of either sign.
        score = np.concatenate([0.5 + rng.random(5000) / 20, rng.standard_normal(500) ** 5])
        rng.shuffle(score)
        code = (score > 0.5).astype(np.int64) + 2 * rng.integers(0, 2, score.size)
        wanted, found = self.put_together(score, code, 3000)
        assert found is not None
        assert np.array_equal(found, wanted)

    def test_first_rows_unlike_the_others_need_a_pass(self) -> None:
        rng = np.random.default_rng(0)
        score = np.concatenate([0.5 + rng.random(20_000) / 2, 0.5 + rng.random(40_000) / 1000])
        assert self.put_together(score, np.arange(score.size) % 4, 20_000)[1] is None

    def test_rows_that_first_ones_do_not_show_are_not_kept_if_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tally_numpy, "_MOST_KEPT", 1000)
        score = np.sort(np.random.default_rng(0).random(5000))
        assert self.put_together(score, np.arange(score.size) % 4, 2000)[1] is None

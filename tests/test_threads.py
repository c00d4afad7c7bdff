"""Threads where they pay, and the same outcome without."""

from __future__ import annotations

import threading

import pytest

from xorder._table import WORTH_THREADS, in_threads


@pytest.mark.parametrize(("rows", "elsewhere"), [(WORTH_THREADS - 1, False), (WORTH_THREADS, True)])
def test_only_large_jobs_start_threads(rows: int, elsewhere: bool) -> None:
    at_work = []

    def add(one: int, two: int) -> int:
        at_work.append(threading.current_thread())
        return one + two

    assert in_threads(rows, add, [1, 2, 3], [10, 20, 30]) == [11, 22, 33]
    assert (threading.current_thread() not in at_work) is elsewhere


@pytest.mark.parametrize("rows", [0, WORTH_THREADS])
def test_an_error_of_a_part_is_raised(rows: int) -> None:
    with pytest.raises(ZeroDivisionError):
        in_threads(rows, lambda divisor: 1 / divisor, [1, 0])

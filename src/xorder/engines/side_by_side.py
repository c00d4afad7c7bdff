"""Batches of rows worked on by several threads, each with sums of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Batch = TypeVar("Batch")
State = TypeVar("State")

# More would wait for the one reader, and each has sums that take memory.
_MOST_THREADS = 4


def thread_count() -> int:
    """How many threads there are to be."""
    return min(_MOST_THREADS, os.cpu_count() or 1)


def side_by_side(batches: Iterator[Batch], work: Callable[[Batch, State], None], states: Sequence[State]) -> None:
    """Call ``work(batch, state)`` for each batch, in one thread for each state; a batch goes to whoever is free.

    An error ends all of them, and is raised.
    """
    if len(states) == 1:
        for batch in batches:
            work(batch, states[0])
        return
    reading, over = threading.Lock(), threading.Event()

    def run(state: State) -> None:
        try:
            while not over.is_set():
                with reading:
                    batch = next(batches, None)
                if batch is None:
                    return
                work(batch, state)
        except BaseException:
            over.set()
            raise

    with ThreadPoolExecutor(len(states)) as threads:
        try:
            for done in [threads.submit(run, state) for state in states]:
                done.result()
        except BaseException:
            # Also if this thread is interrupted: the others would go on to the last batch.
            over.set()
            raise

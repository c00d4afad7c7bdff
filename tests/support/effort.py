"""How many cases a test draws: a third in the gate, and all of them in a long run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

One = TypeVar("One")

LONG = os.environ.get("XORDER_TESTS") == "long"


def draws(number: int, at_least: int = 10) -> int:
    """Return how many of ``number`` cases to try; the draws are the same in each run, so the gate has the first."""
    return number if LONG else min(number, max(number // 3, at_least))


def some(cases: Iterable[One], start: int = 0) -> Iterable[One]:
    """Yield every third case; tests of one kind that start differently have them all between them."""
    return cases if LONG else islice(cases, start % 3, None, 3)

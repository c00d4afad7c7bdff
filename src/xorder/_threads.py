"""Parts of one job on all cores, where the job is large enough to pay for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Part = TypeVar("Part")

# Starting threads takes as long as sorting this many rows; on a busy machine far longer.
WORTH_THREADS = 50_000


def in_threads(rows: int, function: Callable[..., Part], *parts: Iterable[Any]) -> list[Part]:
    """Return what ``map`` of the function over the parts gives; ``rows`` is the size of all parts together."""
    if rows < WORTH_THREADS:
        return list(map(function, *parts))
    with ThreadPoolExecutor() as threads:
        return list(threads.map(function, *parts))

"""One line that says how far a run is and how long it may still take."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from experiments.protocol import Sweep
from experiments.store import Row

# Seconds between lines where they are not written over each other.
_EVERY = 60.0


class Progress:
    """Counts cells; the time left is what all parameters of unfinished sweeps would take at the pace so far."""

    def __init__(self, sweeps: Sequence[Sweep], rows: Mapping[Any, Row], out: TextIO | None = None) -> None:
        self.sweeps, self.rows = sweeps, rows
        self.out = sys.stderr if out is None else out
        self.begin = self.shown = time.monotonic()
        self.count = self.failed = self.models = 0
        self.pace: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self.last = time.monotonic()

    def prepared(self) -> None:
        self.models += 1
        self._show(f"{self.models:,} sets of base scores")

    def done(self, row: Row) -> None:
        now = time.monotonic()
        # The time from one row to the next is the cell's share of all processes.
        self.pace[row["data"], row["method"]].append(now - self.last)
        self.last = now
        self.count += 1
        self.failed += "error" in row
        self._show(f"{row['data']} {row['model']} {row['method']} {row['metric']}")

    def left(self) -> float:
        """Seconds that all that is open may take."""
        seconds = 0.0
        for sweep in self.sweeps:
            if sweep.next_cells(self.rows):
                seconds += sweep.at_most_left(self.rows) * self._pace_of(sweep.data, sweep.method)
        return seconds

    def _pace_of(self, data: str, method: str) -> float:
        """Mean seconds of a cell: of this method on these data, else on any, else of any method."""
        found = (
            self.pace.get((data, method))
            or [value for place, values in self.pace.items() if place[1] == method for value in values]
            or [value for values in self.pace.values() for value in values]
        )
        return sum(found) / len(found)

    def _show(self, what: str) -> None:
        now = time.monotonic()
        if now - self.shown < (0.5 if self.out.isatty() else _EVERY):
            return
        self.shown = now
        text = f"{self.count:,} cells in {_minutes(now - self.begin)}, {self.failed} failed; now {what}"
        if self.count > 20:
            text += f"; about {_minutes(self.left())} left"
        if self.out.isatty():
            self.out.write(f"\r\x1b[2K{text}")
        else:
            self.out.write(text + "\n")
        self.out.flush()

    def end(self) -> None:
        start = "\r\x1b[2K" if self.out.isatty() else ""
        took = _minutes(time.monotonic() - self.begin)
        self.out.write(f"{start}{self.count:,} cells run in {took}, {self.failed} failed.\n")
        self.out.flush()


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"

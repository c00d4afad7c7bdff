"""Run cells on several processes, one thread each, write each row as it comes, and say how long it may still take."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.cells import Cell, prepare, run_cell
from experiments.progress import Progress
from experiments.protocol import Sweep, finished
from experiments.registry import METHODS, add_cohort
from experiments.scores import problem_of
from experiments.store import Row, Store
from experiments.versions import VERSIONS
from xorder.exceptions import XorderError

Job = Callable[[], Any]


def run(
    sweeps: Sequence[Sweep],
    store: Store,
    folder: Path,
    *,
    processes: int = 1,
    retry: bool = False,
    again: bool = False,
    additions: Sequence[str] = (),
    cohorts: Sequence[str] = (),
    progress: Progress | None = None,
) -> list[Row]:
    """Run what is missing of the sweeps; return all their rows.

    ``retry`` is for cells that failed, ``again`` for all cells. ``folder`` keeps base scores. ``additions`` are files
    and ``cohorts`` cohort files that each process loads.
    """
    rows = finished(store.rows(), retry=retry)
    if again:
        named = {(sweep.data, sweep.splits, sweep.model, sweep.method, sweep.metric) for sweep in sweeps}
        rows = {cell: row for cell, row in rows.items() if cell[:5] not in named}
    _check_data(sweeps, rows)
    progress = progress or Progress(sweeps, rows)
    workers = Workers(processes, additions, cohorts)
    try:
        for _ in workers.each([partial(prepare, *scores, folder) for scores in _shared_scores(sweeps, rows)]):
            progress.prepared()
        _run_cells(sweeps, rows, store, folder, workers, progress)
    finally:
        workers.close()
        progress.end()
    cells = (cell for sweep in sweeps for value in METHODS[sweep.method].parameters for cell in sweep.cells(value))
    return [rows[cell] for cell in cells if cell in rows]


def _check_data(sweeps: Sequence[Sweep], rows: dict[Any, Row]) -> None:
    """Load what is needed once before anything runs: data that cannot be had are told now, not by every cell."""
    needed = {(sweep.data, sweep.splits, sweep.count) for sweep in sweeps if sweep.next_cells(rows)}
    for place in sorted(needed):
        try:
            problem_of(*place)
        except XorderError:
            raise
        except Exception:
            # A mistake in a loader of one's own is for its cells to tell.
            continue


def _shared_scores(sweeps: Sequence[Sweep], rows: dict[Any, Row]) -> list[tuple[Any, ...]]:
    """Scores that unfinished sweeps need, each once."""
    needed: dict[tuple[Any, ...], None] = {}
    for sweep in sweeps:
        kind = "folds" if METHODS[sweep.method].uses_folds else "base"
        for cell in sweep.next_cells(rows):
            needed[kind, sweep.data, sweep.splits, sweep.count, sweep.model, cell.split] = None
    return list(needed)


def _run_cells(
    sweeps: Sequence[Sweep], rows: dict[Any, Row], store: Store, folder: Path, workers: Workers, progress: Progress
) -> None:
    """Hand out cells sweep by sweep; a sweep whose step is not finished lets those behind it go first."""
    started: set[Cell] = set()
    waiting = list(sweeps)

    def ready() -> Iterator[tuple[Cell, Job]]:
        while waiting:
            found = None
            for sweep in list(waiting):
                cells = sweep.next_cells(rows)
                if not cells:
                    waiting.remove(sweep)
                found = next((cell for cell in cells if cell not in started), None)
                if found:
                    break
            if found is None:
                return
            started.add(found)
            yield found, partial(run_cell, found, sweep.count, folder)

    for cell, row in workers.run(ready):
        if isinstance(row, BaseException):
            row = {**cell._asdict(), "seed": cell.split, "versions": VERSIONS, "error": f"{type(row).__name__}: {row}"}
        store.append(row)
        rows[cell] = row
        progress.done(row)


class Workers:
    """Processes that run jobs; or, for one process, the caller's own."""

    def __init__(self, processes: int, additions: Sequence[str], cohorts: Sequence[str]) -> None:
        self.processes = processes
        self.setup = (tuple(additions), tuple(cohorts))
        self.pool = self._new_pool(processes) if processes > 1 else None

    def _new_pool(self, processes: int) -> ProcessPoolExecutor:
        # Read by numerical libraries when a new process loads them.
        os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
        return ProcessPoolExecutor(processes, get_context("spawn"), initializer=_set_up, initargs=self.setup)

    def each(self, jobs: Sequence[Job]) -> Iterator[Any]:
        """Run jobs, in any order; yield what came of each."""
        rest = iter(enumerate(jobs))
        for _, outcome in self.run(lambda: rest):
            yield outcome

    def run(self, ready: Callable[[], Iterator[tuple[Any, Job]]]) -> Iterator[tuple[Any, Any]]:
        """Run what ``ready()`` gives, asking again whenever something has ended; yield name and outcome of each."""
        if self.pool is None:
            with one_thread():
                while (job := next(ready(), None)) is not None:
                    yield job[0], job[1]()
            return
        running: dict[Future[Any], tuple[Any, Job]] = {}
        while True:
            lost: list[tuple[Any, Job]] = []
            # One more than there are processes, so that none waits for the next job.
            while not lost and len(running) <= self.processes and (job := next(ready(), None)) is not None:
                try:
                    running[self.pool.submit(job[1])] = job
                except BrokenProcessPool:
                    lost.append(job)
            if not running and not lost:
                return
            ended = set(running) if lost else wait(running, return_when=FIRST_COMPLETED).done
            for future in ended:
                job = running.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    lost.append(job)
                else:
                    yield job[0], error or future.result()
            if lost:
                lost += running.values()
                running.clear()
                yield from self._one_by_one(lost)

    def _one_by_one(self, jobs: list[tuple[Any, Job]]) -> Iterator[tuple[Any, Any]]:
        """A process died, and all that ran went with it: run each alone, to find which one it is."""
        alone = self._new_pool(1)
        for name, job in jobs:
            try:
                yield name, alone.submit(job).result()
            except BrokenProcessPool:
                alone = self._new_pool(1)
                yield name, RuntimeError("the process that ran it died; it may have run out of memory")
        alone.shutdown()
        self.pool = self._new_pool(self.processes)

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold numerical libraries to one thread, as in a process of its own: sums in other orders differ a little."""
    with threadpool_limits(1):
        yield


def _set_up(additions: Sequence[str], cohorts: Sequence[str]) -> None:
    """Make a new process ready: it ends with its parent, and knows what was added."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    load_additions(additions, cohorts)


def _end_with(sentinel: Any) -> None:
    connection.wait([sentinel])
    os._exit(1)


def load_additions(additions: Sequence[str], cohorts: Sequence[str]) -> list[str]:
    """Run the files that add data sets, models or methods; return the names of clinical problems added."""
    for number, path in enumerate(additions):
        spec = importlib.util.spec_from_file_location(f"experiments_added_{number}", path)
        if spec is None or spec.loader is None:
            raise ValueError(f"{path} is no Python file")
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return [name for path in cohorts for name in add_cohort(path)]

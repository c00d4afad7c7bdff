"""Hostile input, a case at a time: ``python tools/fuzz.py --cases 10000 --seconds 60 --kind csv --seed 1``.

Each case is drawn from the seed, its kind and its number alone, so that a failure is repeated by the line printed with
it. It is accepted and right, refused in xorder's own way, or it failed: any other exception, a warning of another
package, a wrong number, a file left behind, a process that died or did not end.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import re
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).resolve().parent.parent

# Shares of the cases; kinds that take long get few.
SHARES = {
    "table": 450,
    "map": 330,
    "door": 60,
    "metric": 40,
    "sql": 40,
    "csv": 25,
    "gzip": 12,
    "mapfile": 10,
    "order": 8,
    "parquet": 5,
    "command": 5,
    "errors": 4,
    "audit": 4,
    "fit": 4,
    "engines": 3,
}
PATIENCE = 20
"""Seconds of the processor that a case may take before it counts as one that does not end."""
STILL = 600
"""Seconds by the clock after which one that does nothing at all does; a busy machine may be slow to start."""


def cases_of(kinds: list[str]) -> dict[str, Callable[[Random, Path], None]]:
    """Load the cases; slow, so it is done in the process that runs them."""
    for folder in (HERE, HERE / "src", HERE / "tests"):
        sys.path.insert(0, str(folder))
    from support.fuzz_arrays import ARRAYS
    from support.fuzz_files import FILES

    return {kind: (ARRAYS | FILES)[kind] for kind in kinds}


def outcome(case: Callable[[Random, Path], None], kind: str, seed: int, number: int, place: Path) -> str:
    """Run one case; return "accepted", "refused", or what is wrong."""
    from support.fuzz_arrays import RefusedError

    try:
        case(Random(f"{seed} {kind} {number}"), place)
    except RefusedError:
        return "refused"
    except Exception as error:
        if os.environ.get("FUZZ_TRACEBACK"):
            traceback.print_exc()
        last = traceback.extract_tb(error.__traceback__)[-1]
        said = " ".join(str(error).split())[:600]
        return f"{type(error).__name__}: {said} ({Path(last.filename).name}:{last.lineno})"
    return "accepted"


Plan = dict[str, Sequence[int]]
"""By kind, the numbers of the cases."""


def work(plan: Plan, seed: int, until: float, now: Any, send: Callable[[dict[str, Any]], None]) -> None:
    """Run the cases of a plan; ``now`` always holds the number of the one at work."""
    cases = cases_of(list(plan))
    from xorder.exceptions import XorderWarning

    place = Path(tempfile.mkdtemp(prefix="fuzz-"))
    os.chdir(place)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", XorderWarning)
            for kind, numbers in plan.items():
                folder = place / kind
                folder.mkdir()
                os.chdir(folder)
                send({"kind": kind, "done": 0})
                began, counts = time.process_time(), {"accepted": 0, "refused": 0, "failed": 0}
                for done, number in enumerate(numbers, 1):
                    if time.monotonic() > until:
                        break
                    struct.pack_into("<q", now, 0, number)
                    # The signal ends the process, as nobody listens to it.
                    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
                    said = outcome(cases[kind], kind, seed, number, folder)
                    counts[said if said in counts else "failed"] += 1
                    if said not in counts:
                        send({"kind": kind, "number": number, "failed": said})
                    if not done % 256:
                        taken = time.process_time() - began
                        send({"kind": kind, "counts": counts, "done": done, "seconds": taken})
                        began, counts = time.process_time(), {"accepted": 0, "refused": 0, "failed": 0}
                signal.setitimer(signal.ITIMER_PROF, 0)
                taken = time.process_time() - began
                send({"kind": kind, "counts": counts, "done": len(numbers), "seconds": taken})
    finally:
        os.chdir(HERE)
        shutil.rmtree(place, ignore_errors=True)


class Tally:
    """Counts by kind, and the failures."""

    def __init__(self, seed: int, most: int, log: str | None = None) -> None:
        self.seed, self.most, self.log = seed, most, log
        self.counts: dict[str, dict[str, float]] = {}
        self.alike: dict[tuple[str, str], int] = {}

    def add(self, kind: str, counts: dict[str, int], seconds: float = 0.0) -> None:
        mine = self.counts.setdefault(kind, {"accepted": 0, "refused": 0, "failed": 0, "seconds": 0.0})
        for name, count in (counts | {"seconds": seconds}).items():
            mine[name] += count

    def fail(self, kind: str, number: int, said: str) -> None:
        if self.log is not None:
            with Path(self.log).open("a", encoding="utf-8") as file:
                file.write(f"{kind} {self.seed} {number} {said}\n")
        # What failed in the same way before is counted, and not shown again.
        way = kind, re.sub(r"[-+]?\d[-+.\de]*", "#", said.partition("(")[0])[:60] + said.rpartition("(")[2]
        self.alike[way] = self.alike.get(way, 0) + 1
        if self.alike[way] == 1 and len(self.alike) <= self.most:
            again = f"python tools/fuzz.py --kind {kind} --seed {self.seed} --first {number} --cases 1"
            print(f"{said}\n    {again}", flush=True)

    def table(self) -> str:
        """Return the counts as a table of Markdown."""
        lines = ["| kind | cases | accepted | refused | failed | seconds |", "|---|---:|---:|---:|---:|---:|"]
        names = ("accepted", "refused", "failed")
        rows = {**self.counts, "all": {n: sum(c[n] for c in self.counts.values()) for n in (*names, "seconds")}}
        for kind, counts in rows.items():
            numbers = [sum(counts[name] for name in names), *(counts[name] for name in names), counts["seconds"]]
            lines.append(f"| {kind} | " + " | ".join(f"{number:,.0f}" for number in numbers) + " |")
        return "\n".join(lines)


def watched(plan: Plan, seed: int, until: float, tally: Tally) -> Plan:
    """Run a plan in a process of its own; return what is left of it if that process dies or stands still."""
    now = mmap.mmap(-1, 8)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        code = 1
        try:
            with os.fdopen(writing, "w") as pipe:

                def send(what: dict[str, Any]) -> None:
                    pipe.write(json.dumps(what) + "\n")
                    pipe.flush()

                work(plan, seed, until, now, send)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    done, kind, moved, last = dict.fromkeys(plan, 0), "", time.monotonic(), ("", -1)
    os.set_blocking(reading, False)
    buffer, stuck = b"", False
    try:
        while True:
            try:
                part = os.read(reading, 1 << 16)
            except BlockingIOError:
                part = None
            if part == b"":
                break
            *lines, buffer = (buffer + (part or b"")).split(b"\n")
            for line in lines:
                said = json.loads(line)
                kind = said["kind"]
                if "failed" in said:
                    tally.fail(kind, said["number"], said["failed"])
                elif "counts" in said:
                    tally.add(kind, said["counts"], said["seconds"])
                    done[kind] = said["done"]
            (number,) = struct.unpack_from("<q", now, 0)
            if (kind, number) != last or not kind:
                last, moved = (kind, number), time.monotonic()
            elif time.monotonic() - moved > STILL:
                stuck = True
                os.kill(child, signal.SIGKILL)
            if part is None:
                time.sleep(0.05)
    finally:
        os.close(reading)
        if sys.exc_info()[0] is not None:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if not status:
        return {}
    (number,) = struct.unpack_from("<q", now, 0)
    code = os.waitstatus_to_exitcode(status)
    why = "did not end" if stuck or code == -signal.SIGPROF else f"ended the process, {code}"
    tally.fail(kind or "none", number, f"the case {why}")
    if not kind:
        return {}
    # What the process counted since it last reported is lost with it.
    at = plan[kind].index(number)
    tally.add(kind, {"accepted": at - done[kind], "refused": 0, "failed": 1})
    later = list(plan)[list(plan).index(kind) + 1 :]
    return {kind: plan[kind][at + 1 :]} | {name: plan[name] for name in later}


def main(arguments: list[str] | None = None) -> int:
    """Run; the exit code says whether something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000, help="Cases in all, dealt to the kinds (default 10000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Seconds after which no case is begun")
    parser.add_argument("--kind", action="append", choices=SHARES, help="Kind of cases; may be given several times")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="Number of the first case")
    parser.add_argument("--show", type=int, default=40, help="Failures to print (default 40)")
    parser.add_argument("--log", metavar="FILE", help="File to add a line to for each case that fails")
    parser.add_argument("--again", metavar="FILE", help="Run the cases of a log, and no others")
    options = parser.parse_args(arguments)
    kinds = options.kind or list(SHARES)
    total = sum(SHARES[kind] for kind in kinds)
    left: Plan = {
        kind: range(options.first, options.first + max(1, round(options.cases * SHARES[kind] / total)))
        for kind in kinds
    }
    if options.again is not None:
        lines = [line.split(" ", 3) for line in Path(options.again).read_text(encoding="utf-8").splitlines()]
        options.seed = int(lines[0][1])
        left = {kind: [int(line[2]) for line in lines if line[0] == kind] for kind in {line[0] for line in lines}}
    until, tally = time.monotonic() + options.seconds, Tally(options.seed, options.show, options.log)
    while left:
        left = watched(left, options.seed, until, tally)
    print(tally.table())
    if tally.alike:
        print(f"\n{sum(tally.alike.values())} failures, of {len(tally.alike)} kinds:")
        for (kind, said), count in sorted(tally.alike.items(), key=lambda pair: -pair[1])[: options.show]:
            print(f"{count:>8} {kind}: {said}")
    return int(bool(tally.alike))


if __name__ == "__main__":
    raise SystemExit(main())

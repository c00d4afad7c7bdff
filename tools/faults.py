"""Commands while something fails, more of it than the gate has time for: ``python tools/faults.py [MODE ...]``.

``points``: every open, write, rename, folder, thread and print of our own code fails, each once, in twelve commands.
``arrays``: every array of 1 MB or more finds no memory, on 150,000 rows. ``memory``: ten limits of address space.
``sizes``: ten limits of the size of a file, as a disk that gets full, which reaches what DuckDB writes, too.
``kill``: SIGKILL at random moments, a hundred times; the next run removes what was left. Each prints a table.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
for _folder in (HERE, HERE / "tests", HERE / "src"):
    sys.path.insert(0, str(_folder))

from support.command_line import Ran  # noqa: E402
from support.fault_runs import COMMANDS, OLD, Command, Scene, complaints  # noqa: E402
from support.faults import KINDS  # noqa: E402

PATIENCE = 120
# From too little for Python itself to enough for everything.
MEMORY = [int(80 * 1.5**step) for step in range(10)]
SIZES = [0, 1, 2, 4, 8, 16, 32, 64, 128, 1024]
# What a large file is, for a child, in which nothing can be replaced.
LARGE = "from xorder.engines import _tables as t; t.in_engine = lambda *_, **__: True; "
START = "import sys; {}from xorder.cli import program; program()"


def child(scene: Scene, command: Command, *, force: bool, limit: str = "") -> subprocess.Popen[str]:
    """Start a command as a process of its own, in a group of its own, below a limit of the shell."""
    words = [*command.words, *(["--force"] if force and command.output else [])]
    launch = ["-m", "xorder"] if not command.large else ["-c", START.format(LARGE)]
    return subprocess.Popen(
        ["/bin/sh", "-c", f'{limit} exec "$@"', "sh", sys.executable, *launch, *words],
        cwd=scene.folder,
        env=os.environ | {"TMPDIR": str(scene.temporary), "PYTHONPATH": str(HERE / "src"), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(running: subprocess.Popen[str]) -> Ran | None:
    """Wait for a child; kill it and all it started if that takes too long, and return None."""
    try:
        out, err = running.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        return None
    return Ran(running.returncode, out, err)


def limited(scene: Scene, name: str, limit: str) -> tuple[str, str | None]:
    """Run a command below a limit; return how it ended, and what is wrong."""
    command = COMMANDS[name]
    scene.put_back(command.output, OLD)
    ran = ended(child(scene, command, force=True, limit=limit))
    if ran is None:
        return "hangs", "it does not end"
    # A library, or the loader, ended the process: nothing of ours can print a line then.
    aborted = ran.code < 0 or ran.code in (127, 134, 139) or "OpenBLAS error" in ran.err
    kept = command.output is None or (scene.folder / command.output).read_bytes() == OLD
    if aborted:
        return "aborted", None if kept else "the output is another"
    said = scene.complaint(command, ran, OLD)
    return {0: "done"}.get(ran.code, f"exit {ran.code}"), said


def points(scene: Scene, options: argparse.Namespace) -> list[str]:
    return _in_process(scene, KINDS, options.command or list(COMMANDS), 1 << 20)


def arrays(scene: Scene, options: argparse.Namespace) -> list[str]:
    names = options.command or [name for name in COMMANDS if name != "report"]
    large = Scene(Path(tempfile.mkdtemp(dir=scene.temporary.parent)), 150_000)
    return _in_process(large, ("array",), names, 1 << 20)


def _in_process(scene: Scene, kinds: tuple[str, ...], names: list[str], at_least: int) -> list[str]:
    wrong: list[str] = []
    print(f"| command | {' | '.join(kinds)} |\n|---|{'---:|' * len(kinds)}")
    for name in names:
        counts = []
        for kind in kinds:
            count, said = complaints(scene, name, kind, at_least=at_least)
            counts.append(str(count))
            wrong += said
        print(f"| {name} | {' | '.join(counts)} |", flush=True)
    return wrong


def memory(scene: Scene, options: argparse.Namespace) -> list[str]:
    return _steps(scene, options, MEMORY, lambda step: f"ulimit -v {step * 1024};", "MB of address space")


def sizes(scene: Scene, options: argparse.Namespace) -> list[str]:
    # In blocks of 512 bytes; SIGXFSZ is ignored, as Python does itself once it runs.
    return _steps(scene, options, SIZES, lambda step: f"trap '' XFSZ; ulimit -f {step};", "blocks of a file")


def _steps(
    scene: Scene, options: argparse.Namespace, steps: list[int], limit: Callable[[int], str], what: str
) -> list[str]:
    wrong: list[str] = []
    print(f"| command | {' | '.join(map(str, steps))} | {what}\n|---|{'---|' * len(steps)}")
    for name in options.command or list(COMMANDS):
        ends = []
        for step in steps:
            end, said = limited(scene, name, limit(step))
            ends.append(end)
            if said is not None:
                wrong.append(f"{name} with {step} {what}: {said}")
        print(f"| {name} | {' | '.join(ends)} |", flush=True)
    return wrong


def undated(content: bytes | None) -> bytes:
    """What a file holds, but for when a map was fitted, and the checksum over that."""
    return re.sub(rb'"(fitted|checksum)": "[^"]*"', b"", content or b"")


def kill(scene: Scene, options: argparse.Namespace) -> list[str]:
    """Kill commands that write, at moments spread over the time that they take, and run each once more."""
    wrong: list[str] = []
    chance = random.Random(options.seed)
    scene = Scene(Path(tempfile.mkdtemp(dir=scene.temporary.parent)), options.people)
    names = [name for name in options.command or COMMANDS if COMMANDS[name].output and name != "report"]
    takes = {}
    for name in names:
        scene.put_back(COMMANDS[name].output, None)
        began = time.monotonic()
        ended(child(scene, COMMANDS[name], force=False))
        takes[name] = time.monotonic() - began
    counts: Counter[str] = Counter()
    for number in range(options.runs):
        name = names[number % len(names)]
        command, old = COMMANDS[name], OLD if number % 2 else None
        output = scene.folder / str(command.output)
        scene.put_back(command.output, old)
        running = child(scene, command, force=old is not None)
        time.sleep(chance.uniform(0.1, 1.05) * takes[name])
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        now = output.read_bytes() if output.exists() else None
        left = [path for path in (*scene.folder.iterdir(), *scene.temporary.iterdir()) if str(path) not in scene.before]
        left = [path for path in left if path != output]
        counts["ended before" if running.returncode != -signal.SIGKILL else "killed"] += 1
        counts["left something"] += bool(left)
        if now != old:
            counts["new output"] += 1
        for path, content in scene.before.items():
            if Path(path).read_bytes() != content:
                wrong.append(f"{name}, run {number}: {path} changed")
        # The next run takes the place of the one that was killed, and clears up after it.
        if now == old or now is not None:
            again = ended(child(scene, command, force=True))
            if again is None or again.code:
                wrong.append(f"{name}, run {number}: the next run failed: {again}")
            elif now != old and undated(now) != undated(output.read_bytes()):
                wrong.append(f"{name}, run {number}: half an output")
            still = [path for path in left if path.exists()]
            counts["left after the next run"] += bool(still)
            if still:
                wrong.append(f"{name}, run {number}: the next run left {still}")
            for path in still:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    print("\n".join(f"{count:>5} {what}" for what, count in counts.items()))
    return wrong


MODES = {"points": points, "arrays": arrays, "memory": memory, "sizes": sizes, "kill": kill}


def main(arguments: list[str] | None = None) -> int:
    """Run the modes named, or all; the exit code says whether something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", nargs="*", help=f"{', '.join(MODES)} (default all)")
    parser.add_argument("--command", action="append", choices=COMMANDS, help="Command; may be given several times")
    parser.add_argument("--runs", type=int, default=100, help="Runs of kill (default 100)")
    parser.add_argument("--people", type=int, default=100_000, help="Rows of the files of kill (default 100000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if not set(options.mode) <= set(MODES):
        parser.error(f"a mode is one of {', '.join(MODES)}")
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    wrong = []
    try:
        scene = Scene(folder)
        for mode in options.mode or MODES:
            print(f"\n{mode}\n")
            wrong += MODES[mode](scene, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(["", *wrong, f"{len(wrong)} wrong"]))
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())

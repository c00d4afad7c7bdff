"""Run the tests that count with floating-point numbers under several kernels of OpenBLAS, with one and two threads.

A sum of floats depends on its order, and the order on the processor: a test that passes on one machine may fail on
another. ``python tools/kernels.py [PYTEST-ARGUMENT...]`` runs the quick tests and those of the models eight times and
prints a table. A kernel that this processor cannot run is skipped, and that is said.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

KERNELS = ("Prescott", "Haswell", "Zen", "SkylakeX")
THREADS = (1, 2)
# OpenBLAS calls a kernel by the oldest processor that shares it.
ALIASES = {"{'Katmai'}": "{'Prescott'}"}
PYTEST = (sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "-p", "no:cacheprovider")
SENSITIVE = ("tests/models", "tests/metrics", "tests/ordering", "tests/transfer", "tests/estimators", "tests/baselines")
# No test of the models is slow, and so all of them are among these.
QUICK = ("-m", "not slow", *SENSITIVE)

# The kernel in use, after a product that would stop a processor without its instructions.
PROBE = """
import numpy as np, scipy.linalg, threadpoolctl
for size in (3, 64, 200):
    a = np.random.default_rng(0).normal(size=(size, size)); a @ a; np.linalg.svd(a); scipy.linalg.solve(a, a)
print({pool["architecture"] for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"})
"""


def environment(kernel: str, threads: int = 1) -> dict[str, str]:
    count = {name: str(threads) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    return os.environ | count | {"OPENBLAS_CORETYPE": kernel}


def why_not(kernel: str) -> str | None:
    """Return why a kernel cannot be tried here, or None."""
    probe = subprocess.run(
        [sys.executable, "-c", PROBE], env=environment(kernel), capture_output=True, text=True, check=False
    )
    if probe.returncode:
        return f"skipped: this processor cannot run it (exit code {probe.returncode})"
    taken = probe.stdout.strip()
    if ALIASES.get(taken, taken) != str({kernel}):
        return f"skipped: this build of OpenBLAS took {taken} instead"
    return None


def main(arguments: list[str]) -> int:
    failed = False
    for kernel in KERNELS:
        reason = why_not(kernel)
        if reason:
            print(f"{kernel:9} {reason}", flush=True)
            continue
        for threads in THREADS:
            ran = subprocess.run(
                [*PYTEST, *(arguments or QUICK)],
                env=environment(kernel, threads),
                capture_output=True,
                text=True,
                check=False,
            )
            print(f"{kernel:9} {threads} threads: {re.sub('=+', '', ran.stdout.splitlines()[-1]).strip()}", flush=True)
            if ran.returncode:
                failed = True
                print(ran.stdout, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

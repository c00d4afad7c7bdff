"""A real Spark standalone cluster on loopback: one master and three workers, each a process of its own.

``with cluster(folder) as running:`` starts it from the pip package and stops it, whatever happens inside.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.needs import java, package

_PATIENCE = 60.0

# For processes that live a minute: the first compiler alone, and no threads to collect garbage.
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass(frozen=True)
class Cluster:
    """A cluster that runs: where its master is, and its worker processes."""

    master: str
    workers: list[subprocess.Popen[bytes]]
    folder: Path

    def kill_worker(self, number: int) -> None:
        """Kill a worker and the executors below it, as a machine that loses power does."""
        _kill(self.workers[number])


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Start a master and three workers of one core each; logs go to ``folder``."""
    java()
    pyspark = package("pyspark", "spark")
    home = Path(pyspark.__file__).parent
    port, web = _free_port(), _free_port()
    with ExitStack() as stack:
        arguments = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web)]
        stack.enter_context(_process(home, folder, "master", "org.apache.spark.deploy.master.Master", *arguments))
        _wait(lambda: _alive_workers(web) is not None, "the master", folder)
        workers = [
            stack.enter_context(
                _process(
                    home,
                    folder,
                    f"worker-{number}",
                    "org.apache.spark.deploy.worker.Worker",
                    *("--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", str(_free_port())),
                    *("--work-dir", str(folder / f"work-{number}"), f"spark://127.0.0.1:{port}"),
                )
            )
            for number in range(3)
        ]
        _wait(lambda: _alive_workers(web) == 3, "three workers", folder)
        yield Cluster(f"spark://127.0.0.1:{port}", workers, folder)


@contextmanager
def session(running: Cluster) -> Iterator[Any]:
    """Open a session on the cluster, its driver bound to loopback; closed again at the end."""
    from support import backends

    sql = package("pyspark.sql", "spark")
    # One driver per process: a local session that other tests opened is closed first, and opened again when asked for.
    active = sql.SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    backends.spark_session.cache_clear()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": _SHORT_LIVED,
        "spark.executor.memory": "700m",
        "spark.executor.extraJavaOptions": _SHORT_LIVED,
        "spark.executor.cores": "1",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "3",
        "spark.default.parallelism": "3",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = sql.SparkSession.builder.master(running.master).appName("xorder-cluster")
    for name, value in settings.items():
        builder = builder.config(name, value)
    opened = builder.getOrCreate()
    try:
        yield opened
    finally:
        opened.stop()


@contextmanager
def _process(home: Path, folder: Path, name: str, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": _SHORT_LIVED,
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "PYSPARK_PYTHON": sys.executable,
    }
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *command],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            # A group of its own, so that all it starts can be killed with it.
            start_new_session=True,
        )
    try:
        yield process
    finally:
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=_PATIENCE)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _alive_workers(web: int) -> int | None:
    """Ask the master how many workers it has; None if it does not answer yet."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{web}/json/", timeout=5) as answer:
            return answer.read().decode().count('"state" : "ALIVE"')
    except OSError:
        return None


def _wait(ready: Any, what: str, folder: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while not ready():
        if time.monotonic() > until:
            logs = "\n".join(path.read_text(errors="replace")[-2_000:] for path in sorted(folder.glob("*.log")))
            pytest.fail(f"{what} did not start within {_PATIENCE:g} s\n{logs}")
        time.sleep(0.3)

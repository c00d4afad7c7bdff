"""The fixture that runs a test over every engine, and the Spark session behind one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import backends


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Return the one local Spark session of the run; stopped at its end."""
    session = backends.spark_session()
    yield session
    session.stop()
    backends.spark_session.cache_clear()


@pytest.fixture(params=backends.NAMES)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> backends.Backend:
    """Return each engine in turn: ``backend(columns)`` is its native frame, ``backend.name`` its name."""
    if request.param == "spark":
        request.getfixturevalue("spark")
    return backends.Backend(request.param, tmp_path)

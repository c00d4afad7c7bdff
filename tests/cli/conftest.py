"""What tests of commands share: a file of people, and a map."""

from __future__ import annotations

from pathlib import Path

import pytest

import xorder
from support.people_files import PEOPLE, table, write


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write(tmp_path / "people.csv", table())


@pytest.fixture(scope="module")
def repair() -> xorder.XOrder:
    """A repair of groups A and B."""
    return xorder.XOrder().fit(PEOPLE.y_score, PEOPLE.y_true, sensitive_features=PEOPLE.group)


@pytest.fixture
def saved(repair: xorder.XOrder, tmp_path: Path) -> Path:
    """Its map, in a file."""
    path = tmp_path / "map.json"
    repair.save(path)
    return path

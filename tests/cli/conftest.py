"""What tests of commands share: a file of people, and a map."""

from __future__ import annotations

from pathlib import Path

import pytest

import xorder
from support.people_files import PEOPLE, table, write
from xorder.reporting import _numbers


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages take fewer steps along the way, as it is not about them here."""
    monkeypatch.setattr(_numbers, "PARTS", (1.0,))


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

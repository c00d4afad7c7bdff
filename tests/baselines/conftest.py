"""What training with torch costs a run that leaves slow tests out: nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

# All their tests are slow, and torch takes seconds to load.
USE_TORCH = ("test_constrained.py", "test_correlation.py")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import these files where slow tests are left out."""
    return True if collection_path.name in USE_TORCH and config.option.markexpr == "not slow" else None

"""No screen is needed, and no figure stays open: more than twenty would warn, and warnings are errors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")

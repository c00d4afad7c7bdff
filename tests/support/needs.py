"""What some tests need and some machines lack: each is asked for here, and skips with its reason where it is not.

``XORDER_REQUIRE`` lists what must be there, as ``.ci/run`` does: data, java, browser, torch, spark, or the name of a
package. A test that would skip for want of it then fails.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def lacks(need: str, reason: str) -> None:
    """Skip what is running with this reason, or fail where the need must be met."""
    if need in os.environ.get("XORDER_REQUIRE", "").split():
        pytest.fail(f"{reason}; but XORDER_REQUIRE says that {need} is here", pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def package(name: str, need: str | None = None) -> Any:
    """Return an optional package, or a module of it; the need is called by its own name unless another is given."""
    top = name.partition(".")[0]
    if importlib.util.find_spec(top) is None:
        lacks(need or top, f"{top} is not installed")
    return importlib.import_module(name)


def java() -> None:
    """Ask for what Spark runs on."""
    if shutil.which("java") is None:
        lacks("java", "Spark needs Java, which is not installed")


def browser() -> str:
    """Return the path of a browser."""
    if CHROMIUM is None:
        lacks("browser", "there is no Chromium on the PATH")
    return str(CHROMIUM)


def terminals() -> Any:
    """Return the module of pseudo-terminals, which a bare root may be without."""
    try:
        import pty

        for end in pty.openpty():
            os.close(end)
        return pty
    except (ImportError, OSError) as error:
        pytest.skip(f"this system has no pseudo-terminals ({error})")

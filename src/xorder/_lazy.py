"""Names of a package that are loaded when first asked for, so that importing it stays light."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names live in the modules given, name by name, or are modules.

    Type checkers are not to see it, as to them it has any name; they read imports behind ``TYPE_CHECKING``.
    """

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{modules[name]}")
        found = module if name == modules[name] else getattr(module, name)
        # The next time it is there, as if it had been imported.
        setattr(sys.modules[package], name, found)
        return found

    return load

"""Names of a package that are loaded when first asked for, so that importing it stays light."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

# Modules of a package, and the optional packages that each of them needs.
Needs = Mapping[str, tuple[str, ...]]


def lazy_names(
    package: str, modules: Mapping[str, str], *, needs: Needs | None = None, require: Callable[..., Any] | None = None
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names live in the modules given, name by name.

    What a module ``needs`` is asked for first, by ``require(needed, purpose=name)``, so that a message about what is
    missing speaks of the name that was asked for.
    """

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if needs and require:
            for needed in needs.get(modules[name], ()):
                require(needed, purpose=name)
        return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)

    return load


def drop_missing(names: list[str], modules: Mapping[str, str], needs: Needs) -> None:
    """Take out of a package's ``__all__`` what cannot be loaded here, so that ``import *`` gives what can."""
    here = {needed: _is_installed(needed) for all_needed in needs.values() for needed in all_needed}
    names[:] = [name for name in names if all(here[needed] for needed in needs.get(modules.get(name, ""), ()))]


def _is_installed(module: str) -> bool:
    """Whether a package is there, without loading it."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False

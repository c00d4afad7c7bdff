"""Every public name has a docstring that numpydoc accepts: types, defaults, what is returned."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

import pytest

from support.needs import package
from support.pages import PACKAGES

validate = package("numpydoc.validate", "docs").validate

# The house begins a docstring on the line of its quotes, and asks for no longer summary, example or list of relatives.
HOUSE_STYLE = {"GL01", "GL02", "GL03", "ES01", "EX01", "SA01", "SS06"}


def public_objects() -> Iterator[str]:
    """Classes and functions of each package's ``__all__`` with the public methods written in xorder."""
    seen = set()
    for name in PACKAGES:
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            if not (inspect.isclass(value) or inspect.isfunction(value)) or value in seen:
                continue
            seen.add(value)
            yield f"{name}.{public}"
            for method, found in vars(value).items() if inspect.isclass(value) else ():
                if not method.startswith("_") and (inspect.isfunction(found) or isinstance(found, classmethod)):
                    yield f"{name}.{public}.{method}"


@pytest.mark.parametrize("name", list(public_objects()))
def test_numpydoc_accepts_it(name: str) -> None:
    found = [error for error in validate(name)["errors"] if error[0] not in HOUSE_STYLE]
    assert not found

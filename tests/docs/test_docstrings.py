"""Every public name has a docstring that numpydoc accepts: types, defaults, what is returned."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

import pytest

from support.needs import package
from support.pages import PACKAGES
from xorder.exceptions import MissingExtraError

# Names that need torch load it.
pytestmark = pytest.mark.slow

validate = package("numpydoc.validate", "numpydoc").validate

# The house begins a docstring on the line of its quotes, and asks for no longer summary, example or list of relatives.
HOUSE_STYLE = {"GL01", "GL02", "GL03", "ES01", "EX01", "SA01", "SS06"}


def public_objects(name: str) -> Iterator[str]:
    """Classes and functions of a package's ``__all__`` with the public methods written in xorder."""
    module = importlib.import_module(name)
    for public in module.__all__:
        try:
            value = getattr(module, public)
        except MissingExtraError:
            continue
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        yield f"{name}.{public}"
        for method, found in vars(value).items() if inspect.isclass(value) else ():
            if not method.startswith("_") and (inspect.isfunction(found) or isinstance(found, classmethod)):
                yield f"{name}.{public}.{method}"


@pytest.mark.parametrize("name", PACKAGES)
def test_numpydoc_accepts_every_public_name(name: str) -> None:
    names = list(public_objects(name))
    assert names
    found = {one: [error for error in validate(one)["errors"] if error[0] not in HOUSE_STYLE] for one in names}
    assert {one: errors for one, errors in found.items() if errors} == {}

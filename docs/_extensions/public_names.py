"""The directive ``public-names``: every name that a package offers, from its docstrings.

What a package lists in ``__all__`` is what the page shows, so that no name is forgotten. A name that ``xorder`` itself
offers is described there, once, and linked from the page of its package.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Collection
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from xorder.exceptions import MissingExtraError

TOP = "xorder"


def public_names(package: str) -> dict[str, Any]:
    """Return what a package offers, by name, without the packages, which have pages of their own."""
    module = importlib.import_module(package)
    names = {name: _loaded(module, name) for name in module.__all__}
    return {name: value for name, value in names.items() if value is not None and not isinstance(value, ModuleType)}


def _loaded(module: ModuleType, name: str) -> Any:
    """Return what has a name; None where the packages that it needs are not installed."""
    try:
        return getattr(module, name)
    except MissingExtraError:
        return None


def home_of(package: str, name: str) -> str:
    """Return the package whose page describes a name."""
    return TOP if name in public_names(TOP) else package


def reference(package: str) -> str:
    """Write the table of a package's names, then each of them, as reStructuredText; the page has named the module."""
    names = public_names(package)
    lines = [".. autosummary::", "   :nosignatures:", ""]
    for name, value in names.items():
        if inspect.isclass(value) or inspect.isroutine(value):
            home = home_of(package, name)
            lines.append(f"   {name}" if home == package else f"   ~{home}.{name}")
    for name, value in names.items():
        if home_of(package, name) == package:
            lines += ["", *_description(f"{package}.{name}", value)]
    return "\n".join(lines)


class PublicNames(SphinxDirective):
    """``.. public-names:: xorder.metrics``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the parsed reference."""
        self.env.note_dependency(importlib.import_module(self.arguments[0]).__file__)
        return self.parse_text_to_nodes(reference(self.arguments[0]))


def _description(name: str, value: Any) -> list[str]:
    if inspect.isclass(value):
        lines = [f".. {'autoexception' if issubclass(value, BaseException) else 'autoclass'}:: {name}"]
        # What displays share is written once, and shown with each; estimators would show what scikit-learn gives them.
        return [*lines, "   :inherited-members:"] if name.startswith(f"{TOP}.plotting.") else lines
    if inspect.isroutine(value):
        return [f".. autofunction:: {name}"]
    # A constant: names to choose from, or an object made beforehand, whose class is described.
    if isinstance(value, Collection):
        words = f"To choose from: {', '.join(f'``{choice}``' for choice in value)}."
    else:
        words = f"A :class:`{type(value).__name__}`, ready for use."
    return [f".. py:data:: {name}", "", f"   {words}"]


def find_public(app: Any, env: Any, node: Any, content: Any) -> nodes.Node | None:
    """Resolve what a docstring names as its own module knows it, such as ``:func:`audit```, if only one name fits."""
    if node.get("refdomain") != "py":
        return None
    names = node["reftarget"].split(".")
    # Also a name of a package that is described on the page of xorder: xorder.metrics.Audit is xorder.Audit.
    wanted = names[2:] if names[0] == TOP and len(names) > 2 else names
    domain = env.domains["py"]
    found = [
        full
        for full, entry in domain.objects.items()
        if not entry.aliased and full.split(".")[-len(wanted) :] == wanted
    ]
    if len(found) != 1:
        return None
    return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], found[0], node, content)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("public-names", PublicNames)
    app.connect("missing-reference", find_public)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

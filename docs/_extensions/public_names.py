"""The directive ``public-names`` lists the names that a package offers; each has a page, made of its docstring.

What a package lists in ``__all__`` is what is shown, so that no name is forgotten. A name that ``xorder`` itself offers
is described there, once, and linked from the page of its package. The pages of names are written into ``api/names``
when a build begins.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

from xorder.exceptions import MissingExtraError

TOP = "xorder"
FOLDER = "names"


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


def page_of(package: str, name: str, value: Any) -> str:
    """Return the file of a name's page: on some disks ``Audit`` and ``audit`` would be one file, so classes say it."""
    return f"{package}.{name}{'-class' if inspect.isclass(value) else ''}"


def pages(package: str) -> dict[str, str]:
    """Return the pages of the functions and classes that are described here, by file."""
    return {
        page_of(package, name, value): _page(f"{package}.{name}", value)
        for name, value in sorted(public_names(package).items(), key=lambda item: inspect.isclass(item[1]))
        if home_of(package, name) == package and _has_page(value)
    }


def _has_page(value: Any) -> bool:
    return inspect.isclass(value) or inspect.isroutine(value)


def _page(name: str, value: Any) -> str:
    lines = [
        name,
        "=" * len(name),
        "",
        f".. currentmodule:: {name.rpartition('.')[0]}",
        "",
        ".. highlight:: default",
        "",
    ]
    if not inspect.isclass(value):
        return "\n".join([*lines, f".. autofunction:: {name}", ""])
    lines.append(f".. {'autoexception' if issubclass(value, BaseException) else 'autoclass'}:: {name}")
    # What displays share is written once, and shown with each; estimators would show what scikit-learn gives them.
    if name.startswith(f"{TOP}.plotting."):
        lines.append("   :inherited-members:")
    return "\n".join([*lines, ""])


def reference(package: str) -> str:
    """Write the tables of a package's names as reStructuredText, and its constants; the page has named the module."""
    names = public_names(package)
    kinds = {"Functions": inspect.isroutine, "Classes": inspect.isclass}
    lines: list[str] = []
    for title, is_kind in kinds.items():
        found = {name: value for name, value in names.items() if is_kind(value)}
        if found:
            lines += [f".. rubric:: {title}", "", ".. autosummary::", "   :nosignatures:", ""]
            lines += [f"   {_listed(package, name)}" for name in found] + [""]
    constants = {name: value for name, value in names.items() if not _has_page(value)}
    lines += [".. rubric:: Constants", ""] if constants else []
    for name, value in constants.items():
        lines += [*_constant(name, value), ""]
    own = [f"   {_title(page)} <{FOLDER}/{page}>" for page in pages(package)]
    return "\n".join([*lines, *(["", ".. toctree::", "   :hidden:", "", *own] if own else [])])


def _listed(package: str, name: str) -> str:
    home = home_of(package, name)
    return name if home == package else f"~{home}.{name}"


def _title(page: str) -> str:
    return page.rpartition(".")[2].removesuffix("-class")


def _constant(name: str, value: Any) -> list[str]:
    """Describe names to choose from, or an object made beforehand, whose class is described elsewhere."""
    if isinstance(value, Collection):
        words = f"To choose from: {', '.join(f'``{choice}``' for choice in value)}."
    else:
        words = f"A :class:`{type(value).__name__}`, ready for use."
    return [f".. py:data:: {name}", "", f"   {words}"]


class PublicNames(SphinxDirective):
    """``.. public-names:: xorder.metrics``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the parsed reference."""
        self.env.note_dependency(importlib.import_module(self.arguments[0]).__file__)
        return self.parse_text_to_nodes(reference(self.arguments[0]))


def packages(folder: Path) -> Iterator[str]:
    """Return the packages that have a page in a folder."""
    for page in sorted(folder.glob("*.rst")):
        _, directive, rest = page.read_text(encoding="utf-8").partition(".. public-names:: ")
        if directive:
            yield rest.split()[0]


def write_pages(folder: Path) -> None:
    """Write the pages of all names, where they have changed; remove those of names that are gone."""
    wanted = {f"{page}.rst": text for package in packages(folder) for page, text in pages(package).items()}
    (folder / FOLDER).mkdir(exist_ok=True)
    for old in (folder / FOLDER).glob("*.rst"):
        if old.name not in wanted:
            old.unlink()
    for file, text in wanted.items():
        path = folder / FOLDER / file
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


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


def link_code(app: Any, doctree: nodes.document, page: str) -> None:
    """Link names in code to the reference: ``xorder.audit``, and classes by their name alone, such as ``FairRanker``.

    A page need not say so, and stays readable where no Sphinx is at work.
    """
    domain = app.env.domains["py"]
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().removesuffix("()")
        full = name if name.startswith(f"{TOP}.") else f"{TOP}.{name}"
        entry = domain.objects.get(full)
        named = entry and (full == name or entry.objtype == "class")
        if named and entry.docname != page and not isinstance(literal.parent, nodes.reference):
            link = make_refnode(app.builder, page, entry.docname, entry.node_id, literal.deepcopy(), full)
            literal.replace_self(link)


def mend_links(app: Any, page: str, template: str, context: Any, doctree: Any) -> None:
    """Let the pages of source code lead back to the right places.

    ``viewcode`` takes it that all names of a file are described in one package: whichever it met first.
    """
    if page.startswith("_modules/") and "body" in context:
        context["body"] = _LINK_BACK.sub(r"\1#\2\3\4", context["body"])


# The page of a name, and a place on it that ends with that name or with one of its methods.
_LINK_BACK = re.compile(rf"({FOLDER}/([\w.]+\.)(\w+)(?:-class)?\.html)#[\w.]*\.\3((?:\.\w+)?(?=\"))")


def setup(app: Any) -> dict[str, bool]:
    """Register the directive, and write the pages before Sphinx looks for them."""
    app.add_directive("public-names", PublicNames)
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / "api"))
    app.connect("missing-reference", find_public)
    app.connect("doctree-resolved", link_code)
    app.connect("html-page-context", mend_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

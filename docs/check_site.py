"""Check the pages as built: python docs/check_site.py FOLDER.

Every link within the site must lead to a page, a file or a place on a page, every page must be linked from another, and
nothing may be loaded from elsewhere, so that the site works from disk.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Made by Sphinx for its own use; nothing links to some of them.
_UNLINKED = {"index.html", "search.html", "genindex.html", "py-modindex.html"}
_LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "video": "src"}
_LOADING_LINKS = {"stylesheet", "preload", "modulepreload", "icon"}


@dataclass
class Page:
    """What a page offers and asks for: places on it, links from it, and what a browser loads for it."""

    places: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value is not None}
        self.page.places.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.page.links.append(found["href"])
        if tag in _LOADING and _LOADING[tag] in found:
            self.page.loaded.append(found[_LOADING[tag]])
        if tag == "link" and "href" in found and _LOADING_LINKS & set(found.get("rel", "").split()):
            self.page.loaded.append(found["href"])


def read_page(text: str) -> Page:
    """Read what a page offers and asks for."""
    reader = _Reader()
    reader.feed(text)
    return reader.page


def problems(site: Path) -> list[str]:
    """Return what is wrong with a built site, one sentence each."""
    files = {path.relative_to(site).as_posix(): path for path in site.rglob("*.html")}
    # The theme keeps templates among its files.
    pages = {
        name: read_page(path.read_text("utf-8")) for name, path in files.items() if not name.startswith("_static/")
    }
    if not pages:
        return [f"{site} holds no pages"]
    found: list[str] = []
    linked = set(_UNLINKED)
    for name, page in pages.items():
        found += [f"{name} loads {address}, which is not on this disk" for address in page.loaded if _remote(address)]
        for address in (*page.links, *page.loaded):
            if _remote(address) or urlsplit(address).scheme:
                continue
            parts = urlsplit(address)
            target = (site / name).parent / unquote(parts.path) if parts.path else site / name
            target = target.resolve()
            if not target.is_file():
                found.append(f"{name} links to {address}, which is not there")
                continue
            other = target.relative_to(site.resolve()).as_posix()
            if other != name:
                linked.add(other)
            place = unquote(parts.fragment)
            if place and other in pages and place not in pages[other].places:
                found.append(f"{name} links to {address}, but there is no such place on that page")
    return found + [f"no page links to {name}" for name in sorted(pages.keys() - linked)]


def _remote(address: str) -> bool:
    return urlsplit(address).scheme in ("http", "https") or address.startswith("//")


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]))
    sys.exit("\n".join(wrong) if wrong else 0)

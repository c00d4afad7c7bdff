"""What a page of the report prints, read back from its HTML: tables by caption, texts by section, and scripts."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """Reads a page as a browser's text would show it, without running anything."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: dict[str, list[list[str]]] = {}
        self.text: dict[str, str] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.fields: dict[str, str] = {}
        self._open: list[str] = []
        self._section = "head"
        self._rows: list[list[str]] = []
        self._caption = ""
        self._field: tuple[str, int] | None = None
        self.feed(text)
        self.close()

    @property
    def island(self) -> Any:
        return next(json.loads(script) for script in self.scripts if script.startswith("["))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag in ("meta", "input", "link", "img", "br"):
            return
        self._open.append(tag)
        if tag in ("section", "header", "footer"):
            self._section = attributes.get("id") or tag
        elif tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
        elif tag == "script":
            self.scripts.append("")
        if "data-field" in attributes:
            self._field = (str(attributes["data-field"]), len(self._open))
            self.fields[self._field[0]] = ""

    def handle_endtag(self, tag: str) -> None:
        if self._field and len(self._open) == self._field[1]:
            self._field = None
        assert self._open.pop() == tag, f"{tag} closes what is not open"
        if tag == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, data: str) -> None:
        if "script" in self._open:
            self.scripts[-1] += data
        elif "style" not in self._open and "svg" not in self._open:
            self.text[self._section] = self.text.get(self._section, "") + data
            if "caption" in self._open:
                self._caption += data
            elif self._open and ("td" in self._open or "th" in self._open):
                self._rows[-1][-1] += data
            if self._field:
                self.fields[self._field[0]] += data

    @property
    def everything(self) -> str:
        return " ".join(self.text.values())

    def table(self, beginning: str) -> list[list[str]]:
        """Return the body of the table whose caption begins so, by rows of trimmed cells."""
        (found,) = (rows for caption, rows in self.tables.items() if caption.startswith(beginning))
        return [[cell.strip() for cell in row] for row in found]


def value(text: str) -> float:
    """Read a number as the page writes it."""
    return float(text.replace("−", "-").replace(",", "").replace(" %", "").replace(" points", ""))


def digits(number: float, places: int) -> float:
    """Round as the page does."""
    return round(number, places) + 0.0

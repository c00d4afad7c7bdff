"""Sections of our docstrings, as definition lists.

An entry is ``name : what it is``, in plain words. Napoleon and numpydoc take such words for types and link each of
them; here they are the description, together with the lines below them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_LISTS = {"Parameters", "Attributes"}
_SECTIONS = _LISTS | {"Returns", "Raises", "Notes", "Examples"}
# An absolute value, which reStructuredText would take for the name of a substitution.
_BARS = re.compile(r"(?<![\\`])\|(\w+)\|(?!`)")
_ENTRY = re.compile(r"^([\w*]+(?:, [\w*]+)*) : (.+)$")


def as_rst(lines: list[str]) -> list[str]:
    """Turn the sections of a docstring into reStructuredText; leave the rest as it is."""
    written: list[str] = []
    section = None
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line in _SECTIONS and following.startswith("---"):
            section = line
            written += ["", f".. rubric:: {line}", ""]
        elif line.startswith("---") and section and number and lines[number - 1] == section:
            continue
        elif section in _LISTS and (entry := _ENTRY.match(line)):
            written += _entry(*entry.groups(), below=following)
        else:
            written.append(line)
    return written


def _entry(names: str, words: str, *, below: str) -> Iterator[str]:
    # A blank line ends the entry before, or a paragraph that stands between two.
    yield ""
    yield ", ".join(f"``{name}``" for name in names.split(", "))
    # Choices are code: {"refit", "folds"}.
    words = re.sub(r"^\{[^}]*\}", r"``\g<0>``", words)
    body = below[4:] if below.startswith("    ") else ""
    new_sentence = body and (body[0].isupper() or (body.startswith("``") and words.endswith("}``")))
    yield f"    {words}{'.' if new_sentence and words[-1] not in '.:;,' else ''}"


def _process(app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [_BARS.sub(r"\\|\1\\|", line) for line in as_rst(lines)]


def setup(app: Any) -> dict[str, bool]:
    """Come after autodoc has read a docstring."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

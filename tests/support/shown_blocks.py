"""What a page shows, and what happens when it is done: the code blocks of Markdown pages, run in order.

- A ``python`` block is run; all of a page share their names, and a folder of their own. A ``text`` block right after it
  is what it prints; without one it prints nothing.
- A ``console`` block is run command by command: each ``$ xorder ...`` prints the lines below it.
- ``<!-- not run: why -->`` right before a block leaves it out.
- ``<!-- needs: compas -->`` anywhere says that the page needs that folder of real data; with ``as NAME``, that the
  folder is to be found under that name where the page runs.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from xorder.cli import main

_FENCE = re.compile(r"^(?P<fence>```+)(?P<language>[\w{}-]*)[^\n]*\n(?P<text>.*?)^(?P=fence)[ ]*$", re.M | re.S)
_NOT_RUN = re.compile(r"<!-- not run: (\S[^>]*) -->\s*\Z")
_NEEDS = re.compile(r"<!-- needs: ([\w-]+)(?: as ([\w.-]+))? -->")
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)
_DECIMAL = re.compile(r"(?<![\w.])[+-]?\d[\d,]*\.\d+(?![\w.])")


@dataclass(frozen=True)
class Block:
    """A block that is run: its language, its code, what is shown to come of it, and where that stands in the page.

    Of a console block the code is the commands and ``shown`` the whole block, as commands and output take turns.
    """

    language: str
    code: str
    shown: str
    span: tuple[int, int]
    line: int


def needs(page: str) -> list[tuple[str, str | None]]:
    """Return the folders of real data a page needs, each with the name it goes by there, if any."""
    return [(name, alias or None) for name, alias in _NEEDS.findall(page)]


def blocks(page: str) -> Iterator[Block]:
    """Return the blocks of a page that are run."""
    fences = list(_FENCE.finditer(page))
    for fence, after in zip_longest(fences, fences[1:]):
        language = fence["language"]
        if language not in ("python", "console") or _NOT_RUN.search(page[: fence.start()]):
            continue
        line = page.count("\n", 0, fence.start()) + 1
        if language == "console":
            yield Block(language, fence["text"], fence["text"], fence.span("text"), line)
        elif after and after["language"] == "text" and not page[fence.end() : after.start()].strip():
            yield Block(language, fence["text"], after["text"], after.span("text"), line)
        else:
            yield Block(language, fence["text"], "", (fence.end(), fence.end()), line)


def run_page(page: str, name: str) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page, in the folder we are in; give each with what came of it."""
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        if block.language == "console":
            yield block, "".join(_console(block.code, f"{name}, line {block.line}"))
        else:
            # As many empty lines before it as it has above it in the page, so that tracebacks name the right line.
            code = compile("\n" * block.line + block.code, name, "exec")
            yield block, _printed(lambda code=code: exec(code, names))


def assert_same(found: str, shown: str, where: str) -> None:
    """Compare texts; numbers with decimals may differ by one in the last digit that is shown."""
    assert _DECIMAL.sub("0.0", found) == _DECIMAL.sub("0.0", shown), f"{where}: found\n{found}\nshown\n{shown}"
    for one, other in zip(_DECIMAL.findall(found), _DECIMAL.findall(shown), strict=True):
        digits = len(other.partition(".")[2])
        off = abs(float(one.replace(",", "")) - float(other.replace(",", "")))
        same = len(one.partition(".")[2]) == digits and off < 1.5 * 10**-digits
        assert same, f"{where}: found {one}, shown {other}, in\n{found}"


def _console(text: str, where: str) -> Iterator[str]:
    commands = _COMMAND.findall(text)
    assert "".join(f"$ {line}\n{output}" for line, output in commands) == text, f"{where}: begins with no command"
    for line, _ in commands:
        program, *arguments = shlex.split(line)
        assert program == "xorder", f"{where}: only xorder is run here; mark the block as not run, and say why: {line}"
        yield f"$ {line}\n"
        yield _printed(lambda arguments=arguments: _succeed(arguments))


def _succeed(arguments: list[str]) -> None:
    assert main(arguments) == 0


def _printed(run: Callable[[], None]) -> str:
    """Run something; return what it prints, which must not be on standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run()
    assert err.getvalue() == ""
    return out.getvalue()


def linked_files(page: str, folder: Path) -> list[Path]:
    """Return the files of this project that a page links to or shows."""
    targets = re.findall(r"\]\(([^)\s]+)\)", _FENCE.sub("", page))
    names = [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:", target)]
    return [folder / name for name in names if name]

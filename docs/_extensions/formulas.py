"""Formulas as MathML, made when the pages are built: nothing is loaded from a network, and none of it is a script."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

# TeX reads \frac12 as one half; the converter would read twelve over what comes next.
_DIGITS = re.compile(r"(\\[td]?frac)\s*(\d)\s*(\d)")


# Of absolute values: without its side, a browser takes a bar for something that stands between two others.
_BARS = {'<mo class="mathopen">|</mo>': '<mo form="prefix">|</mo>', "<mo>|</mo>": '<mo form="postfix">|</mo>'}


def mathml(formula: str, *, as_block: bool = False) -> str:
    """Return a formula of TeX as MathML."""
    found = str(tex2mathml(_DIGITS.sub(r"\1{\2}{\3}", formula), as_block=as_block))
    for bar, sided in _BARS.items():
        found = found.replace(bar, sided)
    return found


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    writer.body.append(f'<div class="formula">{mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Offer the renderer to Sphinx, as ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""One self-contained page: numbers through an autoescaping template, with style, script and chart library inside."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from xorder._optional import import_optional
from xorder.reporting._charts import charts
from xorder.reporting._numbers import Drawn
from xorder.reporting._page_context import page_view

_PURPOSE = "The report"

# What the page asks of the bundle: of its libraries, only this one is always there by its name.
_EXPORTS = "window.vegaEmbed = vegaEmbed;"


def render(numbers: dict[str, Any], drawn: Drawn) -> str:
    """Return the page of a report as text."""
    jinja2 = import_optional("jinja2", extra="report", purpose=_PURPOSE)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(_packed("page.html.j2"))
    view = page_view(numbers, drawn)
    specs = charts(numbers, drawn)
    data = {"stops": view["stops"], "charts": specs}
    text: str = template.render(
        **view,
        charts=list(specs),
        style=_packed("page.css"),
        script=_packed("page.js"),
        library=_library(),
        island=script_json(data),
    )
    return text


def script_json(data: Any) -> str:
    """Write JSON that may stand inside a script element: no sign in it can end the element or open a comment.

    >>> script_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _library() -> str:
    """Vega and what embeds it as one script, from the package that has them; nothing is downloaded."""
    converter = import_optional("vl_convert", extra="report", purpose=_PURPOSE)
    bundle: str = converter.javascript_bundle(snippet=_EXPORTS)
    # Inside a string of the library this is the same text, and to the page it is no end of the script.
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _packed(name: str) -> str:
    return resources.files("xorder.reporting").joinpath(name).read_text(encoding="utf-8")

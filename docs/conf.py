"""How the documentation is built; why so: design/documentation.md."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

# Small extensions of our own lie there.
sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

from sphinx.util.inspect import TypeAliasForwardRef

import xorder

# By its name alone an alias is written only where it is the whole type, not within a union.
TypeAliasForwardRef.__repr__ = lambda self: self.name

project = "xorder"
author = "The xorder developers"
copyright = "the xorder developers, BSD-3-Clause"
release = version = xorder.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "formulas",
    "public_names",
    "sample_reports",
]
exclude_patterns = ["_build"]
# Values in docstrings are quoted as they are typed.
smartquotes = False

# Markdown
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
# A block that names no language is a drawing, or a command; the pages of the reference say otherwise. Not "none", which
# would take the colours of source code, too.
highlight_language = "output"

# Reference
autosummary_generate = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = dict.fromkeys(("FloatArray", "IntArray"), "ndarray") | {"ArrayLike": "ArrayLike"}
python_maximum_signature_line_length = 100
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
# scikit-learn adds these to every estimator for its metadata routing; they say the same everywhere.
_ROUTING = [
    f"set_{method}_request" for method in ("fit", "transform", "predict", "predict_proba", "decision_function", "score")
]
autodoc_default_options = {"members": True, "exclude-members": ", ".join(_ROUTING)}
autodoc_preserve_defaults = True
toc_object_entries_show_parents = "hide"
nitpicky = True
# Types of other packages, whose pages are on other sites, and types of our own that are not public: a signature names
# them all the same.
nitpick_ignore_regex = [
    ("py:class", r"(collections|numpy|os|sklearn)\..*|ndarray|ArrayLike|datetime"),
    ("py:class", r"xorder\.(.*\.)?_.*|FloatArray|IntArray|Tables|WeightKind|HighIs|GroupNames|Progress"),
]
# Not public, but worth naming to those who read the source.
nitpick_ignore = [("py:class", "CalibrationBins")]

# Pages
html_theme = "pydata_sphinx_theme"
html_title = f"xorder {release}"
html_static_path = ["_static"]
html_css_files = ["xorder.css"]
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
# Pages of no section need no list of its pages.
html_sidebars = {"index": [], "getting-started": [], "changelog": []}
html_theme_options = {
    "logo": {"text": "xorder"},
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "show_nav_level": 1,
    "navigation_depth": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True


def _list_design_notes(app: Any, page: str, source: list[str]) -> None:
    """Put the design notes into the tree of contents; their own list is also read where no Sphinx is at work."""
    if page == "design/README":
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def _leave_out_any(
    app: Any, what: str, name: str, value: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Take annotations that say nothing from a signature: what may be passed stands in the list of parameters."""
    return signature and re.sub(r": Any\b(?= = |[,)])", "", signature), returned


def setup(app: Any) -> None:
    """Connect what is of this file."""
    app.connect("autodoc-process-signature", _leave_out_any)
    app.connect("source-read", _list_design_notes)

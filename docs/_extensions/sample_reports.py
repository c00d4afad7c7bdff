"""The directive ``sample-reports``: cards that lead to reports of made-up people, which are made with the pages.

What a card says is what its report found, in the words of the report.
"""

from __future__ import annotations

import html
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import xorder
from xorder.datasets import simulate_population

FOLDER = "reports"
# People of each age, and how much too low their latent risk is read.
_AGES = {
    "18 to 34": (900, -0.6),
    "35 to 49": (1200, -0.6),
    "50 to 64": (1100, -0.4),
    "65 to 74": (900, -0.2),
    "75 to 84": (600, 0.2),
    "85 and older": (250, 0.6),
}


@cache
def samples() -> dict[str, tuple[str, xorder.Report]]:
    """Make the reports, each with the words of its card, by file."""
    made = "Made-up people, for documentation"
    two = simulate_population(4000, random_state=0)
    none = simulate_population(4000, penalty=-0.45, noise_b=0.0, random_state=1)
    drawn = [
        simulate_population(rows, share_b=1.0, penalty=penalty, noise_b=0.2, random_state=number)
        for number, (rows, penalty) in enumerate(_AGES.values())
    ]
    ages = np.repeat(list(_AGES), [rows for rows, _ in _AGES.values()])
    return {
        "two-groups.html": (
            "Two groups, a place in a care programme",
            xorder.report(
                *(two.y_true, two.y_score),
                sensitive_features=two.group,
                high_is="help",
                title="Who gets a place in the care programme?",
                model=made,
            ),
        ),
        "six-groups.html": (
            "Six ages, a bed on the ward",
            xorder.report(
                *(np.concatenate([people.y_true for people in drawn]), np.concatenate([p.y_score for p in drawn])),
                sensitive_features=ages,
                high_is="help",
                title="Who gets a bed, by age?",
                model=made,
            ),
        ),
        "no-gap.html": (
            "Two groups, whose claims are checked",
            xorder.report(
                *(none.y_true, none.y_score),
                sensitive_features=none.group,
                high_is="burden",
                tolerance=0.05,
                title="Whose claims are checked?",
                model=made,
            ),
        ),
    }


class SampleReports(SphinxDirective):
    """``{sample-reports}``: a card for each report."""

    def run(self) -> list[nodes.Node]:
        """Return the cards."""
        up = "../" * self.env.docname.count("/")
        cards = "".join(
            f'<a class="card-link" href="{up}{FOLDER}/{file}"><strong>{html.escape(words)}</strong>'
            f"<span>{html.escape(str(found).splitlines()[0])}</span></a>"
            for file, (words, found) in samples().items()
        )
        return [nodes.raw("", f'<div class="cards">{cards}</div>', format="html")]


def write_reports(app: Any, error: Exception | None) -> None:
    """Write the reports beside the pages."""
    if error is None and app.builder.format == "html":
        folder = Path(app.outdir) / FOLDER
        folder.mkdir(exist_ok=True)
        for file, (_, found) in samples().items():
            found.save(folder / file, overwrite=True)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive, and write the reports when the pages are there."""
    app.add_directive("sample-reports", SampleReports)
    app.connect("build-finished", write_reports)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

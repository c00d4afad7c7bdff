"""Scores of each group's positives and negatives, before and after a repair, as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder._curves import bin_edges, histogram
from xorder.exceptions import InputError
from xorder.metrics import Audit
from xorder.plotting._by_group import ByGroupDisplay
from xorder.plotting._scored import stages_of


@dataclass
class ScoreShiftDisplay(ByGroupDisplay):
    """Distributions of the scores of each group's positives (lines) and negatives (areas), before and after a repair.

    Numbers first: make it with :meth:`from_predictions`, :meth:`from_estimator` or :meth:`from_audit`, then
    :meth:`plot`.

    Parameters
    ----------
    curves : dict
        Stage ("before", "after") -> group -> array with a line each of middles of bins, the same for all, and the
        shares of positives and of negatives in them. Far outliers are counted in the bins at the ends.
    rates : dict
        Group -> (positives, all), as numbers of rows or sums of weights.
    confidence : float, default=0.95
        Confidence of the audit.
    name : str, default=None
        What the score is called.
    """

    _labels = ("score", "share of the class, %")
    _heading = "Scores of positives (lines) and negatives (areas)"

    @classmethod
    def from_audit(
        cls, audit: Audit, adjusted: Audit | None = None, *, bins: int = 20, name: str | None = None
    ) -> ScoreShiftDisplay:
        """Take the distributions of an audit and, where given, of one of the scores after a repair.

        Parameters
        ----------
        audit : Audit
            The audit.
        adjusted : Audit, default=None
            Audit of the same people's scores after a repair.
        bins : int, default=20
            Number of bins, up to 1000.
        name : str, default=None
            What the score is called.

        Returns
        -------
        ScoreShiftDisplay
            The numbers, ready to be drawn.
        """
        if not isinstance(bins, int | np.integer) or not 1 <= bins <= 1000:
            raise InputError(f"bins must be a whole number from 1 to 1000; got {bins!r}.")
        stages = {stage: each._by_cut().tables for stage, each in stages_of(audit, adjusted).items()}
        edges = bin_edges([table for found in stages.values() for table in found.values()], bins)
        middles = edges[:-1] / 2 + edges[1:] / 2
        curves = {
            stage: {g: np.stack([middles, *histogram(table, edges)[::-1]]) for g, table in found.items()}
            for stage, found in stages.items()
        }
        return cls(curves, cls._sizes(audit), audit.confidence, name)

    def _draw_stage(self, ax: Any, curve: Any, look: dict[str, Any], words: str) -> Any:
        middle, positive, negative = curve
        ax.fill_between(middle, 100 * negative, step="mid", color=look["color"], alpha=0.25, linewidth=0)
        return ax.plot(middle, 100 * positive, drawstyle="steps-mid", **({"label": words or "positives"} | look))[0]

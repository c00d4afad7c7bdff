"""Whether a score means the same for each group, as a picture."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from xorder.metrics import Audit
from xorder.plotting._by_group import ByGroupDisplay
from xorder.plotting._style import Ink


@dataclass
class CalibrationByGroupDisplay(ByGroupDisplay):
    """Observed share of positives against the score, for each group, before and (where given) after a repair.

    On the diagonal a score is the risk it says. Above it people are at more risk than their score says. The curve is
    that of an audit's table ``"calibration_curve"``: a smooth regression on the log odds of the score [1]_. Numbers
    first: make it with :meth:`from_predictions`, :meth:`from_estimator` or :meth:`from_audit`, then :meth:`plot`.

    Parameters
    ----------
    curves : dict
        Stage ("before", "after") -> group -> array with a line each of scores, the share observed there, and the ends
        of its pointwise band; empty where rows are too few.
    rates : dict
        Group -> (positives, all), as numbers of rows or sums of weights.
    confidence : float, default=0.95
        Confidence of the bands.
    name : str, default=None
        What the score is called.

    References
    ----------
    .. [1] Harrell (2015), Regression modeling strategies, 2nd edition, Springer.
    """

    _table, _columns = "calibration_curve", ("score", "observed", "low", "high")
    _labels = ("score", "observed share of positives")
    _heading = "Score against observed risk"

    @classmethod
    def from_audit(
        cls, audit: Audit, adjusted: Audit | None = None, *, name: str | None = None
    ) -> CalibrationByGroupDisplay:
        """Take the curves of an audit and, where given, of one of the scores after a repair; both are probabilities.

        Parameters
        ----------
        audit : Audit
            The audit.
        adjusted : Audit, default=None
            Audit of the same people's scores after a repair.
        name : str, default=None
            What the score is called.

        Returns
        -------
        CalibrationByGroupDisplay
            The numbers, ready to be drawn.
        """
        return cls._of_audits(audit, adjusted, name)

    def _draw_panel(self, ax: Any, group: Hashable, ink: Ink) -> None:
        ax.plot([0, 1], [0, 1], color=ink.muted, linewidth=0.8, zorder=1)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))

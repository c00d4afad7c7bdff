"""Whether acting on a score does each group more good than harm, as a picture."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xorder.metrics import Audit
from xorder.plotting._by_group import ByGroupDisplay
from xorder.plotting._style import Ink


@dataclass
class NetBenefitDisplay(ByGroupDisplay):
    """Net benefit of acting from a threshold on, for each group, beside acting on everybody and on nobody.

    At a threshold t, a false alarm counts t / (1 - t) of what a positive found is worth [1]_. Where the curve lies
    above both others, the score helps the group. Numbers first: make it with :meth:`from_predictions`,
    :meth:`from_estimator` or :meth:`from_audit`, then :meth:`plot`.

    Parameters
    ----------
    curves : dict
        Stage ("before", "after") -> group -> array with a line each of thresholds, net benefit, the ends of its
        interval, and the net benefit of acting on everybody.
    rates : dict
        Group -> (positives, all), as numbers of rows or sums of weights.
    confidence : float, default=0.95
        Confidence of the intervals.
    name : str, default=None
        What the score is called.

    References
    ----------
    .. [1] Vickers and Elkin (2006), Decision curve analysis: a novel method for evaluating prediction models, Medical
       Decision Making 26, 565-574.
    """

    _table, _columns = "net_benefit", ("threshold", "net_benefit", "low", "high", "treat_all")
    _labels = ("threshold", "net benefit, in positives per person")
    _heading = "What acting on the score is worth"

    @classmethod
    def from_audit(
        cls,
        audit: Audit,
        adjusted: Audit | None = None,
        *,
        thresholds: Sequence[float] | None = None,
        name: str | None = None,
    ) -> NetBenefitDisplay:
        """Take the net benefit of an audit and, where given, of one of the scores after a repair.

        Parameters
        ----------
        audit : Audit
            The audit.
        adjusted : Audit, default=None
            Audit of the same people's scores after a repair.
        thresholds : sequence of float, default=None
            Thresholds, probabilities; by default sixteen from 0.01 to 0.9.
        name : str, default=None
            What the score is called.

        Returns
        -------
        NetBenefitDisplay
            The numbers, ready to be drawn.
        """
        return cls._of_audits(audit, adjusted, name, thresholds)

    def _draw_panel(self, ax: Any, group: Hashable, ink: Ink) -> None:
        threshold, *_, everybody = self.curves["before"][group]
        ax.axhline(0.0, color=ink.muted, linewidth=0.8, label="act on nobody", zorder=1)
        ax.plot(threshold, everybody, color=ink.muted, linewidth=1.2, linestyle=":", label="act on everybody")
        every = [each[[1, 3]] for curves in self.curves.values() for each in curves.values()]
        best = max(float(np.nanmax(each, initial=0.0)) for each in every)
        ax.set(ylim=(-0.25 * best or -0.01, 1.1 * best or 0.01), xlim=(0, 1))

"""Audit: everything a reader needs to judge how a score ranks each group, with its uncertainty."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from xorder._html import audit_html
from xorder._metric import METRICS, check_metric
from xorder._parameters import brief, check_label, check_number, check_pair, check_truth, check_whole
from xorder._present import known, number
from xorder._table import BinningError, FloatArray, Pair, Tables
from xorder.exceptions import InputError, MissingExtraError, warn_caller
from xorder.metrics._audit_text import audit_text, few_text, matrix_lines, reading
from xorder.metrics._cuts import CUTS, Cut, CutGap, Cuts, Of, check_cut, check_of, cut_text
from xorder.metrics._gaps import Gap, against_tolerance, json_label, judge

if TYPE_CHECKING:
    from xorder.metrics._sheet import AuditTable
    from xorder.metrics._units import Units

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class GroupMatrix:
    """Values for ordered pairs of groups: ``matrix[g, h]`` by label, ``matrix.values`` as an array.

    Parameters
    ----------
    groups : tuple
        Labels of the groups, in the order of rows and columns.
    values : ndarray of shape (n_groups, n_groups)
        The values.

    Examples
    --------
    >>> matrix = GroupMatrix(("a", "b"), np.array([[0.8, 0.9], [0.6, 0.7]]))
    >>> matrix["a", "b"]
    0.9
    """

    groups: tuple[Hashable, ...]
    values: FloatArray

    def __getitem__(self, pair: Pair) -> float:
        try:
            row, column = (self.groups.index(group) for group in pair)
        except (ValueError, TypeError):
            raise KeyError(f"{pair!r}: name two of the groups {', '.join(map(repr, self.groups))}") from None
        return float(self.values[row, column])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def __str__(self) -> str:
        return "\n".join(matrix_lines(self.groups, self.values, 80)[1:])

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix as plain lists, ready for JSON.

        Returns
        -------
        dict
            The ``groups`` and the ``values``, row by row; ``nan`` becomes ``None``.
        """
        return {"groups": list(self.groups), "values": [[known(value) for value in row] for row in self.values]}


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """How a score ranks the members of each group; made by :func:`audit`.

    Parameters
    ----------
    groups : tuple
        Labels of the groups, sorted.
    positives, negatives : dict
        Number of rows of each group, or the sum of their weights.
    auc, auc_stderr : float
        AUC of all rows together, and its standard error.
    auc_interval : tuple of float
        Ends of the confidence interval of the AUC.
    xauc : GroupMatrix
        ``xauc[g, h]`` is the chance that a positive of g outranks a negative of h [1]_; its diagonal is the AUC within
        a group.
    prf : dict
        Group -> chance that its positives outrank a negative of any group [2]_ [3]_.
    gaps : list of Gap
        A gap for each metric and pair of groups.
    confidence : float
        Confidence of all intervals.
    xauc_interval : dict
        Pair of groups, in the order of ``xauc`` -> ends of the confidence interval of that chance.
    prf_interval : dict
        Group -> ends of the confidence interval of its PRF.
    too_few : tuple, default=()
        Groups with fewer than ten positives or ten negatives: too few to say whether their gaps are more than chance.
    binning_error : BinningError, default=None
        How far all this can be from the truth where scores were put into bins.
    cuts : tuple of float, int or Threshold, default=(0.01, 0.05, 0.1, 0.2)
        Cuts of the list that are reported; :meth:`cut_gap` knows any other.
    tolerance : float, default=None
        Widest xAUC gap that is tolerated, which :attr:`verdict` is about.

    References
    ----------
    .. [1] Kallus and Zhou (2019), The fairness of risk scores beyond classification: bipartite ranking and the xAUC
       metric, NeurIPS.
    .. [2] Beutel et al. (2019), Fairness in recommendation ranking through pairwise comparisons, KDD.
    .. [3] Narasimhan et al. (2020), Pairwise fairness for ranking and regression, AAAI.
    """

    groups: tuple[Hashable, ...]
    positives: dict[Hashable, float]
    negatives: dict[Hashable, float]
    auc: float
    auc_stderr: float
    auc_interval: tuple[float, float]
    xauc: GroupMatrix
    prf: dict[Hashable, float]
    gaps: list[Gap]
    confidence: float
    xauc_interval: dict[Pair, Ends]
    prf_interval: dict[Hashable, Ends]
    too_few: tuple[Hashable, ...] = ()
    binning_error: BinningError | None = None
    cuts: tuple[Cut, ...] = CUTS
    tolerance: float | None = None
    _tables: Tables | None = field(init=False, default=None, repr=False)
    _cuts: Cuts | None = field(init=False, default=None, repr=False)
    _units: Units | None = field(init=False, default=None, repr=False)

    @property
    def clusters(self) -> int | None:
        """Number of clusters that the errors allow for; None where each row is one by itself."""
        return None if self._units is None else self._units.count

    @property
    def verdict(self) -> str | None:
        """``"within"``, ``"beyond"`` or ``"cannot tell"`` of the tolerance; None without one."""
        return None if self.tolerance is None else self.against(self.tolerance)

    def against(self, tolerance: float, *, metric: str = "xauc", tolerance_cut: float | None = None) -> str:
        """Say whether all gaps are within a tolerance.

        Parameters
        ----------
        tolerance : float
            Widest gap that is tolerated between any two groups.
        metric : {"xauc", "prf", "parity"}, default="xauc"
            The gap.
        tolerance_cut : float, default=None
            Widest difference of sensitivities that is tolerated at any cut of the list.

        Returns
        -------
        {"within", "beyond", "cannot tell"}
            ``"beyond"`` if some gap is wider at the audit's confidence, by Holm's rule for all pairs; ``"within"`` if
            every interval lies inside; else, or where a group has too few rows, ``"cannot tell"``.
        """
        check_number("tolerance", tolerance, at_least=0)
        if tolerance_cut is not None:
            check_number("tolerance_cut", tolerance_cut, at_least=0)
        return against_tolerance(self, check_metric(metric).name, tolerance, tolerance_cut)

    def gap(self, metric: str, pair: Pair | None = None) -> Gap:
        """Return the gap of a metric for a pair of groups.

        Parameters
        ----------
        metric : {"xauc", "prf", "parity"}
            Name of the metric.
        pair : tuple, default=None
            Labels of two groups, first minus second; by default the pair whose gap is widest.

        Returns
        -------
        Gap
            The gap with its interval.

        Raises
        ------
        InputError
            If there is no such metric or group.
        """
        found = [gap for gap in self.gaps if isinstance(metric, str) and gap.metric == metric]
        if pair is not None:
            two = _as_pair(pair)
            found = [gap if gap.pair == two else gap.reversed() for gap in found if two in (gap.pair, gap.pair[::-1])]
        if not found:
            raise InputError(
                f"no gap for metric {brief(metric)} and pair {brief(pair)}; metrics: {', '.join(METRICS)}; groups: "
                f"{', '.join(map(repr, self.groups))}."
            )
        return max(found, key=lambda gap: abs(gap.value) if np.isfinite(gap.value) else -1.0)

    def cut_gap(self, at: Cut | None = None, pair: Pair | None = None, of: Of = "sensitivity") -> CutGap:
        """Return how two groups differ at a cut of the list, first minus second.

        Parameters
        ----------
        at : float, int or Threshold, default=None
            The cut: a share of the list in (0, 1), a number of places from 1 up, or a score. By default the worst of
            all cuts, with a band that holds at all of them at once.
        pair : tuple of two group labels, default=None
            The groups; by default those that differ most.
        of : {"sensitivity", "specificity", "selected"}, default="sensitivity"
            What is compared: the share of positives above the cut, of negatives below it, or of all rows above it.

        Returns
        -------
        CutGap
            The difference, where it is, and its interval.

        Raises
        ------
        InputError
            If there is no such cut or no such pair.
        """
        by_cut, of = self._by_cut(), check_of(of)
        pairs: list[Any] = list(combinations(self.groups, 2)) if pair is None else [check_pair(pair, self.groups)]
        cut = None if at is None else check_cut(at, by_cut.total)
        found = [by_cut.worst(each, of) if cut is None else by_cut.at(cut, each, of) for each in pairs]
        return max(found, key=lambda gap: abs(gap.value) if np.isfinite(gap.value) else -1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and numbers, ready for JSON.

        Returns
        -------
        dict
            The attributes by name; ``nan`` becomes ``None``.
        """
        return {
            "groups": [json_label(group) for group in self.groups],
            "positives": list(self.positives.values()),
            "negatives": list(self.negatives.values()),
            "auc": known(self.auc),
            "auc_stderr": known(self.auc_stderr),
            "auc_interval": _ends(self.auc_interval),
            "xauc": self.xauc.to_dict()["values"],
            "xauc_interval": [[_ends(self.xauc_interval[g, h]) for h in self.groups] for g in self.groups],
            "prf": [known(value) for value in self.prf.values()],
            "prf_interval": [_ends(self.prf_interval[group]) for group in self.groups],
            "gaps": [gap.to_dict() for gap in self.gaps],
            "cuts": [{"at": at} | gap.to_dict() for at, gap in self._named_cuts()],
            "confidence": self.confidence,
            "clusters": self.clusters,
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "too_few": [json_label(group) for group in self.too_few],
        } | ({} if self.binning_error is None else {"binning_error": self.binning_error.to_dict()})

    def table(
        self,
        what: str,
        *,
        reference: Hashable | None = None,
        repair: Any = None,
        thresholds: Sequence[float] | None = None,
        suppress: int | None = None,
    ) -> AuditTable:
        """Return a table of the audit, as rows of plain values.

        Parameters
        ----------
        what : {"groups", "xauc", "gaps", "cuts", "cut_gaps", "moves", "calibration", "calibration_curve", \
                "net_benefit", "scores"}
            Counts, AUC and PRF of each group; the chance that a positive of one group outranks a negative of another;
            the gaps; rates of each group at each of the cuts to report; differences of sensitivities at these and at
            the worst cut; who enters and who leaves by a repair; calibration, and its curve; net benefit; the
            distribution of the scores. The columns of each are listed in the documentation.
        reference : group label, default=None
            Group that differences and ratios are taken to; by default the largest.
        repair : XOrder, FairRanker or another fitted repair, default=None
            Show what it changes beside the scores as they are.
        thresholds : sequence of float, default=None
            Thresholds of net benefit; by default 16 between .01 and .9.
        suppress : int, default=None
            Do not show rows with a count from 1 up to less than this.

        Returns
        -------
        AuditTable
            The table, which can also be had as csv, Markdown or JSON.

        Raises
        ------
        InputError
            If there is no such table, or scores that are no probabilities are asked for their calibration.

        Examples
        --------
        >>> import xorder
        >>> from xorder.datasets import simulate_population
        >>> people = simulate_population(2000)
        >>> found = xorder.audit(people.y_true, people.y_score, sensitive_features=people.group, cuts=[0.1])
        >>> [(row["group"], round(row["value"], 2)) for row in found.table("cuts").rows if row["rate"] == "selected"]
        [('A', 0.12), ('B', 0.06), ('all groups', 0.1)]
        """
        from xorder.metrics._sheet import table_of  # Not needed otherwise.

        return table_of(self, what, reference=reference, repair=repair, thresholds=thresholds, suppress=suppress)

    def to_frame(
        self,
        what: str,
        *,
        reference: Hashable | None = None,
        repair: Any = None,
        thresholds: Sequence[float] | None = None,
        suppress: int | None = None,
    ) -> Any:
        """Return a table of the audit as a frame: of pandas, else of polars, else of pyarrow.

        Parameters
        ----------
        what : {"groups", "xauc", "gaps", "cuts", "cut_gaps", "moves", "calibration", "calibration_curve", \
                "net_benefit", "scores"}
            The table, as in :meth:`table`.
        reference : group label, default=None
            Group that differences and ratios are taken to; by default the largest.
        repair : XOrder, FairRanker or another fitted repair, default=None
            Show what it changes beside the scores as they are.
        thresholds : sequence of float, default=None
            Thresholds of net benefit.
        suppress : int, default=None
            Do not show rows with a count from 1 up to less than this.

        Returns
        -------
        DataFrame or Table
            One row per group, pair of groups, or group and cut; groups as text, ``nan`` where a number is not known.

        Examples
        --------
        >>> import xorder
        >>> from xorder.datasets import simulate_population
        >>> people = simulate_population(2000)
        >>> found = xorder.audit(people.y_true, people.y_score, sensitive_features=people.group, cuts=[0.05])
        >>> found.to_frame("cut_gaps")[["at", "first", "second", "value"]].round(2).values.tolist()
        [['worst', 'A', 'B', 0.3], ['5 %', 'A', 'B', 0.06]]
        """
        found = self.table(what, reference=reference, repair=repair, thresholds=thresholds, suppress=suppress)
        for note in found.notes:
            warn_caller(note)
        columns = {name: _column([row[name] for row in found.rows]) for name in found.columns}
        backend: Any = next((each for each in ("pandas", "polars", "pyarrow") if find_spec(each)), None)
        if backend is None:
            raise MissingExtraError("a frame needs pandas, polars or pyarrow; none is installed. Use to_dict instead.")
        import narwhals  # Not needed otherwise, and takes its time.

        return narwhals.from_dict(columns, backend=backend).to_native()

    def _by_cut(self) -> Cuts:
        """The cuts of the tables."""
        if self._tables is None:
            raise InputError("this audit holds no tables to cut; make it with audit, audit_tables or audit_frame.")
        if self._cuts is None:
            object.__setattr__(self, "_cuts", Cuts(self._tables, self.confidence, self._units))
        return cast(Cuts, self._cuts)

    def _named_cuts(self) -> list[tuple[str | None, CutGap]]:
        """The worst cut of each pair of groups, with None, then each of the cuts to report, with how it is written."""
        pairs = () if self._tables is None else combinations(self.groups, 2)
        names = [(None, None), *((at, cut_text(at)) for at in self.cuts)]
        return [(name, self.cut_gap(at, pair)) for pair in pairs for at, name in names]

    def _cut_gaps(self) -> list[CutGap]:
        """The same without what they are called."""
        return [gap for _, gap in self._named_cuts()]

    def describe(
        self,
        *,
        metric: str = "xauc",
        pair: Pair | None = None,
        reference: Hashable | None = None,
        everything: bool = False,
        width: int = 80,
    ) -> str:
        """Say what the gaps amount to, then lay out groups, matrix, gaps and cuts; ``print`` shows the same.

        Parameters
        ----------
        metric : {"xauc", "prf", "parity"}, default="xauc"
            The gap to speak of.
        pair : tuple of two group labels, default=None
            Show these two groups alone, first minus second.
        reference : group label, default=None
            Show the gaps between this group and each other.
        everything : bool, default=False
            Show all gaps of all metrics and the cuts of all pairs, not the ten widest.
        width : int, default=80
            Characters per line.

        Returns
        -------
        str
            The text.
        """
        check_metric(metric)
        if pair is not None:
            pair = check_pair(pair, self.groups)
        if reference is not None:
            check_label("reference", reference, self.groups)
        return audit_text(
            self, check_whole("width", width), metric, check_truth("everything", everything), pair, reference
        )

    def __str__(self) -> str:
        return audit_text(self)

    def _repr_html_(self) -> str:
        return audit_html(self, (reading(self), few_text(self.too_few)), judge(self, "xauc").readings)

    def __repr__(self) -> str:
        return f"<Audit of {len(self.groups)} groups: AUC {number(self.auc)}>"


def _column(values: list[Any]) -> Any:
    """A column of text, or of numbers that may not be known."""
    return values if any(isinstance(value, str) for value in values) else np.array(values, dtype=np.float64)


def _ends(interval: Ends) -> list[float | None]:
    return [known(end) for end in interval]


def _as_pair(pair: Any) -> Pair:
    """Return what was given for a pair of groups as a tuple, which is empty if it cannot be one."""
    try:
        return tuple(pair) if {*pair} else ()
    except TypeError:
        return ()  # type: ignore[return-value]

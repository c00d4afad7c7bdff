"""What a repair is asked for and what was fitted: settings, maps, what they do, in words."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from xorder import __version__
from xorder._groups import check_group_choices, unseen_error
from xorder._metric import METRICS
from xorder._parameters import brief, check_confidence, check_kind, check_number, check_word, in_range
from xorder._present import known, number
from xorder._table import FloatArray, ScoreTable, Tables, scores_at
from xorder._validation import check_groups, check_scores
from xorder.engines import GroupMaps
from xorder.engines._match_groups import warn_of_other_scale
from xorder.estimators._promise import Promise, rounded_up
from xorder.exceptions import InputError, warn_caller
from xorder.transfer import ScoreMap

if TYPE_CHECKING:
    from xorder.ordering import Ordering

METHODS = ("smooth", "frontier", "dp")
SMALL_GROUPS = ("leave", "merge", "error", "repair")

_CHOICES: dict[str, Collection[str]] = {"method": METHODS, "metric": METRICS, "small_groups": SMALL_GROUPS}
_AMOUNTS = ("max_gap", "tradeoff", "max_cut_gap", "confidence", "min_group_size")


@dataclass(frozen=True, slots=True)
class RepairSettings:
    """The parameters of :class:`xorder.XOrder`, of the same names and defaults.

    Parameters
    ----------
    method, metric : str
        How scores are adjusted, and the gap to close.
    max_gap, tradeoff : float
        Largest gap wanted, or points of AUC worth giving for one point of the gap.
    max_cut_gap : float
        Largest difference of sensitivities at any cut.
    confidence : float
        Confidence with which these limits are to hold among all people.
    reference : group label
        The group whose scores stay.
    bounds : tuple of float
        Lowest and highest score allowed.
    do_no_harm : bool
        Whether only as much is corrected as the evidence carries.
    min_group_size : float
        Rows below which a group is small.
    small_groups, missing_group, unseen_group : str
        What becomes of small groups, and of rows whose group is missing or unseen.
    """

    method: str = "smooth"
    metric: str = "xauc"
    max_gap: float = 0.0
    tradeoff: float | None = None
    max_cut_gap: float | None = None
    confidence: float | None = None
    reference: Hashable | None = None
    bounds: tuple[float, float] | None = None
    do_no_harm: bool | None = None
    min_group_size: float = 0
    small_groups: str = "leave"
    missing_group: str = "error"
    unseen_group: str = "error"

    @property
    def is_careful(self) -> bool:
        """Whether only as much is corrected as the evidence carries; by default the method decides."""
        return self.method == "smooth" if self.do_no_harm is None else bool(self.do_no_harm)

    def checked(self) -> RepairSettings:
        """Refuse settings that are wrong, or that do not go together.

        Returns
        -------
        RepairSettings
            The settings, with plain numbers.
        """
        for name, allowed in _CHOICES.items():
            check_word(name, getattr(self, name), allowed)
        check_group_choices(self.missing_group, self.unseen_group)
        check_kind("reference", self.reference, Hashable, "the label of a group, such as text")
        if not isinstance(self.do_no_harm, bool | np.bool_ | None):
            raise InputError(f"do_no_harm must be True, False or None; got {self.do_no_harm!r}.")
        rows: Any = self.min_group_size
        if not (isinstance(rows, Real) and in_range(rows, 0.0)):
            raise InputError(f"min_group_size must be a number of rows from 0 up; got {brief(rows)}.")
        for name in ("tradeoff", "max_cut_gap"):
            if getattr(self, name) is not None:
                from xorder.ordering._ordering import check_number as check_amount

                check_amount(getattr(self, name), name)
        if self.max_cut_gap is not None:
            if self.method == "dp":
                raise InputError("max_cut_gap is for methods 'smooth' and 'frontier'; got method 'dp'.")
            if self.method == "frontier" and self.is_careful:
                raise InputError("with method 'frontier' give max_cut_gap or do_no_harm, not both.")
        given: Any = self.max_gap
        given = 0.0 if given is None and self.tradeoff is not None else given
        if not (isinstance(given, Real) and in_range(given, 0.0, 1.0)):
            raise InputError(f"max_gap must lie between 0 and 1; got {brief(self.max_gap)}.")
        if self.tradeoff is not None and given:
            raise InputError("give tradeoff or max_gap, not both.")
        if self.confidence is not None:
            check_confidence(self.confidence)
            if self.method != "smooth" or self.tradeoff is not None:
                raise InputError("confidence is for method 'smooth' and limits: give max_gap or max_cut_gap.")
            if not (given or self.max_cut_gap) or self.max_cut_gap == 0:
                raise InputError("confidence needs limits above 0: give max_gap or max_cut_gap.")
        bounds = self.bounds if self.bounds is None else self._ends()
        amounts = {name: getattr(self, name) for name in _AMOUNTS}
        plain: Any = {name: float(each) for name, each in amounts.items() if not isinstance(each, int | float | None)}
        return replace(self, bounds=bounds, **plain)

    def _ends(self) -> tuple[float, float]:
        """Return the two bounds."""
        try:
            low, high = (check_number("bounds", end) for end in cast(Any, self.bounds))
        except (TypeError, ValueError):
            low = high = np.nan
        if not low < high:
            raise InputError(f"bounds must be two numbers, the lower one first; got {brief(self.bounds)}.")
        return low, high

    def _checked_bounds(self, tables: Tables) -> tuple[float, float] | None:
        """Return bounds that all scores lie between, or None."""
        if self.bounds is None:
            return None
        low, high = self._ends()
        lowest = min(table.score[-1] for table in tables.values())
        highest = max(table.score[0] for table in tables.values())
        if not (low <= lowest and highest <= high):
            raise InputError(
                f"bounds must be two numbers with all scores, {lowest:g} to {highest:g}, between; got "
                f"{brief(self.bounds)}."
            )
        return low, high


Pair = tuple[Hashable, Hashable]

# What is known of the sample that a repair was fitted to: labels of groups, then numbers.
LABELS = ("reference", "moved", "pair", "left", "merged")
NUMBERS = (
    *("auc_before", "gap_before", "auc", "gap"),
    *("worst_gap", "bound", "optimality_gap"),
    *("worst_cut_before", "worst_cut"),
)

# Quantiles of all scores that a map file holds, from which a score's place in the list is told.
_QUANTILES = 21

# Rows of each group that stand for all of it there, from its lowest to its highest.
_LEVELS = 1000


@dataclass(frozen=True, slots=True)
class LearntFrom:
    """The rows that a repair was fitted to, as far as its file tells.

    Parameters
    ----------
    rows : float
        Number of rows, or their weight where they were not counted.
    fitted : str
        When, in UTC.
    version : str
        Version of xorder.
    score : str or None
        Name of the column of scores, if it had one.
    group : list of str
        Names of the columns of groups.
    before, after : list of float
        Quantiles of all repaired groups' scores as they were, and adjusted, from the lowest to the highest.
    """

    rows: float
    fitted: str
    version: str
    score: str | None = None
    group: list[str] = field(default_factory=list)
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)

    def check(self) -> None:
        """Refuse a record whose values are of other kinds than those that are saved.

        Raises
        ------
        InputError
            If one is.
        """
        texts = [self.fitted, self.version, *self.group, *([] if self.score is None else [self.score])]
        numbers = [self.rows, *self.before, *self.after]
        if not (
            all(isinstance(each, list) for each in (self.group, self.before, self.after))
            and all(isinstance(each, str) for each in texts)
            and all(isinstance(each, int | float) and in_range(each) for each in numbers)
            and len(self.before) == len(self.after)
        ):
            raise InputError("what it was fitted to is not described as it should be")

    @classmethod
    def of(cls, tables: Tables, repaired: Tables, maps: Mapping[Hashable, ScoreMap]) -> LearntFrom:
        """Describe tables: all of them, and those of the repaired groups before and after the repair.

        Parameters
        ----------
        tables, repaired : Tables
            All tables, and those of the repaired groups, with what is counted with them.
        maps : mapping of group to ScoreMap
            Maps of the groups that move.

        Returns
        -------
        LearntFrom
            The record.
        """
        rows = sum(table.n1 + table.n0 for table in tables.values()) if tables.rows is None else tables.rows
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        before = {group: _levels(tables[group]) for group in repaired if group in tables}
        after = {}
        for group, table in repaired.items():
            levels = before[group] if table is tables.get(group) else _levels(table)
            after[group] = maps[group].apply(levels) if group in maps else levels
        was, became = _quantiles(before, tables), _quantiles(after, repaired)
        return cls(rows, now, __version__, **(tables.columns or {}), before=was, after=became)


def _levels(table: ScoreTable) -> FloatArray:
    """Scores at levels of equal mass."""
    return scores_at(table, (np.arange(_LEVELS) + 0.5) / _LEVELS)


def _quantiles(levels: Mapping[Hashable, FloatArray], tables: Tables) -> list[float]:
    """Quantiles of all groups' scores, to four digits; those next to the lowest and highest stand for these."""
    if not levels:
        return []
    score = np.concatenate(list(levels.values()))
    weight = np.repeat([tables[group].n1 + tables[group].n0 for group in levels], _LEVELS)
    order = np.argsort(score)
    place = np.cumsum(weight[order])
    share = np.clip(np.linspace(0.0, 1.0, _QUANTILES), 0.005, 0.995)
    found = score[order][np.searchsorted(place, share * place[-1])].tolist()
    # Rounded up, the largest of all numbers would be none.
    return [short if math.isfinite(short := float(f"{each:.4g}")) else each for each in found]


@dataclass(frozen=True, slots=True, eq=False)
class FittedRepair:
    """A repair that has been fitted: what :func:`xorder.estimators.learn_repair` returns.

    Parameters
    ----------
    settings : RepairSettings
        What was asked for.
    maps : dict of group to ScoreMap
        Maps of all groups, also of those whose scores stay.
    reference : group label
        The group whose scores stay.
    moved : tuple of group labels
        The groups whose scores move.
    pair : tuple of two group labels
        The groups that the gap is about, first minus second.
    left, merged : tuple of group labels
        Groups whose scores are left alone, and those counted with the reference.
    auc_before, gap_before : float
        AUC and gap of the sample it was fitted to.
    auc, gap : float
        The same after the repair.
    worst_gap : float
        Largest absolute gap left between any two repaired groups.
    bound : float
        The best AUC of any reordering with gaps no larger than ``worst_gap``; ``nan`` if not known.
    optimality_gap : float
        How far below the bound ``auc`` is.
    worst_cut_before, worst_cut : float
        Widest difference of sensitivities at any cut between any two repaired groups, before and after.
    learnt_from : LearntFrom
        The rows it was fitted to.
    kept_share : dict of group to float
        Share of its correction that was kept.
    ordering : Ordering or None
        How two groups interleave, where that was solved.
    notes : tuple of str
        What the user should hear.
    promise : Promise or None
        What can be said of all people, where the settings have a confidence.
    """

    settings: RepairSettings
    maps: dict[Hashable, ScoreMap]
    reference: Hashable
    moved: tuple[Hashable, ...]
    pair: Pair
    left: tuple[Hashable, ...]
    merged: tuple[Hashable, ...]
    auc_before: float
    gap_before: float
    auc: float
    gap: float
    worst_gap: float
    bound: float
    optimality_gap: float
    worst_cut_before: float
    worst_cut: float
    learnt_from: LearntFrom
    kept_share: dict[Hashable, float] = field(default_factory=dict)
    ordering: Ordering | None = None
    notes: tuple[str, ...] = ()
    promise: Promise | None = None

    def transform(self, y_score: Any, sensitive_features: Any) -> FloatArray:
        """Adjust scores.

        Parameters
        ----------
        y_score : array-like of shape (n_samples,)
            Scores to adjust.
        sensitive_features : array-like of shape (n_samples,)
            The group of each row.

        Returns
        -------
        ndarray of shape (n_samples,)
            Adjusted scores; those of the reference group, and of groups left alone, as they are.
        """
        score = check_scores(y_score)
        adjusted = np.array(score, dtype=np.float64)
        for group, mask in check_groups(sensitive_features, score.size, self.settings.missing_group, reserved=False):
            if group in self.maps:
                score_map = self.maps[group]
                if score_map.raw.size:
                    own = adjusted[mask]
                    warn_of_other_scale(group, score_map, score_map.outside(own), own.size)
                    adjusted[mask] = score_map.apply(own)
            elif self.settings.unseen_group == "error":
                raise unseen_error(repr(group), self.maps, int(mask.sum()), f"row {int(np.argmax(mask))}")
        return adjusted

    def group_maps(self) -> GroupMaps:
        """Return the maps as frames and files take them.

        Returns
        -------
        GroupMaps
            Maps with what becomes of missing and unseen groups.
        """
        return GroupMaps(self.maps, self.settings.missing_group, self.settings.unseen_group)

    def to_dict(self) -> dict[str, Any]:
        """Return what the repair did to the sample it was fitted to, ready for JSON.

        Returns
        -------
        dict
            Labels and numbers; ``nan`` becomes None.
        """
        labels = {name: getattr(self, name) for name in LABELS}
        return {
            **{name: list(value) if isinstance(value, tuple) else value for name, value in labels.items()},
            "metric": self.settings.metric,
            **{name: known(getattr(self, name)) for name in NUMBERS},
            "promise": None if self.promise is None else asdict(self.promise),
        }

    def text(self) -> str:
        """Say whose scores are adjusted, what that does to the sample, and how close to the best possible that is.

        Returns
        -------
        str
            A few lines of text.
        """
        return "\n".join([self.headline(), self.sample_text(), *([] if self.promise is None else [str(self.promise)])])

    def headline(self) -> str:
        """Say whose scores are adjusted, and whose are left alone.

        Returns
        -------
        str
            A line, and one more for groups that are set aside.
        """
        said = "All scores are left as they are."
        if self.moved:
            movers = f"{'groups' if len(self.moved) > 1 else 'group'} {', '.join(map(str, self.moved))}"
            said = f"Scores of {movers} are adjusted; those of group {self.reference} stay as they are."
        aside = (("left alone", self.left), ("counted with the reference", self.merged))
        return "\n".join([said, *(f"{what}: group {', '.join(map(str, each))}" for what, each in aside if each)])

    def sample_text(self) -> str:
        """Lay out what the repair does to the sample it was fitted to.

        Returns
        -------
        str
            A few lines of text.
        """
        first, second = self.pair
        lines = [
            f"{self.settings.metric} gap  {number(self.gap_before, sign='+')} -> {number(self.gap, sign='+')}   "
            f"({first} minus {second}, on the sample it was fitted to)",
            f"AUC       {number(self.auc_before)} -> {number(self.auc)}",
        ]
        if len(self.moved) > 1:
            lines.insert(1, f"largest gap left between any two groups: {self.worst_gap:.4f}")
        if not math.isnan(self.worst_cut):
            cut = f"{number(self.worst_cut_before)} -> {number(self.worst_cut)}"
            lines.append(f"worst cut {cut}   (widest difference of sensitivities, over all cuts of the list)")
        return "\n".join([*lines, *filter(None, [self.certificate()])])

    def certificate(self) -> str:
        """Say how close to the best possible the AUC on the sample is.

        Returns
        -------
        str
            A sentence; none where no bound is known.
        """
        if math.isnan(self.optimality_gap):
            return ""
        among = " among the groups repaired" if self.moved and (self.left or self.merged) else ""
        return (
            f"AUC {number(self.auc)}{among} is within {rounded_up(self.optimality_gap)} of the best possible "
            "at this gap with the order kept in each group."
        )

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the repair as JSON; :func:`xorder.estimators.load_fitted` reads it back.

        Parameters
        ----------
        path : str or path
            The file to write; it appears when it is complete.
        overwrite : bool, default=False
            Whether to replace a file that exists.
        """
        from xorder.estimators._repair_file import save_fitted

        save_fitted(self, path, overwrite=overwrite)

    def warn_of_other_columns(self, score: str, group: str | Sequence[str]) -> None:
        """Warn where the columns to adjust are called otherwise than those that the repair was fitted to.

        Parameters
        ----------
        score : str
            Name of the column of scores.
        group : str or sequence of str
            Names of the columns of groups.
        """
        learnt = self.learnt_from
        groups = list(group) if isinstance(group, list | tuple) else [cast(str, group)]
        for what, fitted, given in (("scores", [learnt.score], [score]), ("groups", learnt.group, groups)):
            if fitted and fitted != [None] and fitted != given:
                warn_caller(
                    f"the map was fitted to {what} of the column {', '.join(map(repr, fitted))}, and is applied to "
                    f"{', '.join(map(repr, given))}; is it the same {what[:-1]}?"
                )

    def explain(self, score: float, group: Hashable) -> str:
        """Say what becomes of one score, and why.

        Parameters
        ----------
        score : float
            The score.
        group : group label
            Its group.

        Returns
        -------
        str
            Two sentences: the scores and their places in the list, and the reason.
        """
        check_kind("sensitive_feature", group, Hashable, "the label of a group")
        raw = check_number("y_score", score)
        adjusted = float(self.transform([raw], [group])[0])
        places = ""
        if self.learnt_from.before:
            was, now = (
                100 * (1 - float(np.interp(value, known, np.linspace(0, 1, len(known)))))
                for value, known in ((raw, self.learnt_from.before), (adjusted, self.learnt_from.after))
            )
            stays = "stays at" if round(was) == round(now) else f"moves from {_place(was)} to"
            places = f", and {stays} {_place(now)} of the list"
        return f"The score {raw:.4g} of group {group} becomes {adjusted:.4g}{places}. {self._why(group)}"

    def _why(self, group: Hashable) -> str:
        if group in self.moved:
            first, second = self.pair
            return (
                f"Scores of group {group} are adjusted to bring the {self.settings.metric} gap between {first} and "
                f"{second} from {number(self.gap_before, sign='+')} to {number(self.gap, sign='+')}."
            )
        if group == self.reference:
            return f"Group {group} is the reference, whose scores stay as they are."
        if group in self.merged or group in self.left:
            return f"Scores of group {group} are left as they are, as there were too few rows to say more, or no group."
        return f"Scores of group {group} are left as they are, as its gap to group {self.reference} may be chance."

    def choosing(self, **settings: Any) -> FittedRepair:
        """Return the same repair with other settings of what becomes of missing and unseen groups.

        Parameters
        ----------
        **settings : dict
            Settings to change; None keeps what is set.

        Returns
        -------
        FittedRepair
            The repair with these settings.
        """
        chosen = {name: value for name, value in settings.items() if value is not None}
        return replace(self, settings=replace(self.settings, **chosen).checked())


def _place(percent: float) -> str:
    """A place in the list, in percent from its top."""
    return f"the upper {max(percent, 1):.0f} %" if percent < 99 else "the end"

"""A repair that has been learnt: its maps and what it did, applied to scores, told in words, saved and read back."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from xorder._groups import unseen_error
from xorder._table import FloatArray
from xorder._validation import check_groups, check_scores
from xorder.engines import GroupMaps
from xorder.engines._match_groups import warn_of_other_scale
from xorder.estimators._settings import RepairSettings
from xorder.exceptions import InputError, MapFileError
from xorder.ordering import Ordering
from xorder.transfer import ScoreMap, middle_ranks, read_maps, write_maps

Pair = tuple[Hashable, Hashable]

# What a map file tells of the sample learnt from: labels of groups, then numbers.
_LABELS = ("reference", "moved", "pair", "left", "merged")
_NUMBERS = (
    *("auc_before", "auc_after", "gap_before", "gap_after"),
    *("worst_gap", "bound", "optimality_gap"),
)


@dataclass(frozen=True, slots=True, eq=False)
class FittedRepair:
    """What :func:`xorder.estimators.learn_repair` gives.

    Attributes
    ----------
    settings : what was asked for
    maps : group -> ScoreMap, of all groups, those left alone among them
    reference, moved : the group whose scores stay, and those whose scores move
    pair : the two groups that the gaps are about, first minus second
    left, merged : groups whose scores are left alone, and those counted with the reference
    auc_before, auc_after, gap_before, gap_after, worst_gap : on the sample learnt from
    bound, optimality_gap : what no objective exceeds, and how far below it this one is at most; ``nan`` if not known
    trust : group -> share of its correction that was kept
    ordering : how two groups interleave, where that was solved
    notes : what the user should hear
    """

    settings: RepairSettings
    maps: dict[Hashable, ScoreMap]
    reference: Hashable
    moved: tuple[Hashable, ...]
    pair: Pair
    left: tuple[Hashable, ...]
    merged: tuple[Hashable, ...]
    auc_before: float
    auc_after: float
    gap_before: float
    gap_after: float
    worst_gap: float
    bound: float
    optimality_gap: float
    trust: dict[Hashable, float] = field(default_factory=dict)
    ordering: Ordering | None = None
    notes: tuple[str, ...] = ()

    def transform(self, y_score: Any, sensitive_features: Any) -> FloatArray:
        """Adjust scores; those of the reference group, and of groups left alone, come back as they are."""
        score = check_scores(y_score)
        adjusted = np.array(score, dtype=np.float64)
        for group, mask in check_groups(sensitive_features, score.size, self.settings.missing_group, reserved=False):
            if group in self.maps:
                adjusted[mask] = self._move(adjusted[mask], group)
            elif self.settings.unseen_group == "error":
                rows = int(np.count_nonzero(mask))
                raise unseen_error(repr(group), self.maps, rows, f"row {int(np.argmax(mask))}")
        return adjusted

    def _move(self, score: FloatArray, group: Hashable) -> FloatArray:
        learnt = self.maps[group]
        if self.settings.transfer == "rank" and learnt.raw.size:
            return learnt.apply(middle_ranks(score))
        warn_of_other_scale(group, learnt, learnt.outside(score), score.size)
        return learnt.apply(score)

    def group_maps(self) -> GroupMaps:
        """Return the maps as frames and files take them."""
        if self.settings.transfer == "rank":
            raise InputError(
                "transfer='rank' adjusts by rank in a batch, and needs all rows at once, so it cannot be applied to "
                "frames and files. Fit again with transfer='interpolate'."
            )
        return GroupMaps(self.maps, self.settings.missing_group, self.settings.unseen_group)

    def summary(self) -> dict[str, Any]:
        """Return what the repair did on the sample it was learnt from, ready for JSON."""
        moved = self.moved[0] if len(self.moved) == 1 else self.moved
        labels = {name: getattr(self, name) for name in _LABELS} | {"moved": moved}
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        return (
            {name: list(value) if isinstance(value, tuple) else value for name, value in labels.items()}
            | {"metric": self.settings.metric}
            | {name: None if math.isnan(value) else value for name, value in numbers.items()}
        )

    def text(self) -> str:
        """Say what the repair did on the sample it was learnt from, and how close to the best possible that is."""
        several = len(self.moved) != 1
        movers = f"groups {', '.join(map(str, self.moved))}" if several else f"group {self.moved[0]}"
        first, second = self.pair
        moves = any(learnt.raw.size for learnt in self.maps.values())
        lines = [
            f"Scores of {movers} are adjusted; those of group {self.reference} stay as they are."
            if moves
            else "All scores are left as they are.",
            f"{self.settings.metric} gap  {_signed(self.gap_before)} -> {_signed(self.gap_after)}   "
            f"({first} minus {second}, on the sample learnt from)",
            f"AUC       {self.auc_before:.4f} -> {self.auc_after:.4f}{self._certificate()}",
        ]
        if several:
            lines.insert(2, f"largest gap left between any two groups: {self.worst_gap:.4f}")
        for what, groups in (("left alone", self.left), ("counted with the reference", self.merged)):
            if groups:
                lines.append(f"{what}: group {', '.join(map(str, groups))}")
        return "\n".join(lines)

    def _certificate(self) -> str:
        if math.isnan(self.optimality_gap):
            return ""
        gap, tradeoff = _rounded_up(self.optimality_gap), self.settings.tradeoff
        best = "best possible at this gap" if tradeoff is None else "best possible"
        measured = "" if tradeoff is None else f"AUC less {tradeoff:g} times the gap: "
        unit = " AUC" if tradeoff is None else ""
        return f"   ({measured}within {gap}{unit} of the {best}, with the order kept in each group)"

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
        """Write the repair as JSON; :func:`load_fitted` reads it back."""
        settings, results = (
            {name: value.item() if isinstance(value, np.generic) else value for name, value in record.items()}
            for record in (settings_dict(self.settings), self.summary())
        )
        write_maps(path, self.maps, params=settings, summary=results, overwrite=overwrite)

    def choosing(self, **settings: Any) -> FittedRepair:
        """Return the same with other settings of what becomes of missing and unseen groups; None keeps what is set."""
        chosen = {name: value for name, value in settings.items() if value is not None}
        return replace(self, settings=replace(self.settings, **chosen).checked())


def settings_dict(settings: RepairSettings) -> dict[str, Any]:
    """Return settings by name."""
    return {each.name: getattr(settings, each.name) for each in fields(settings)}


def load_fitted(path: str | os.PathLike[str]) -> FittedRepair:
    """Read a repair that :meth:`FittedRepair.save` wrote, checking it in full."""
    maps, params, summary = read_maps(path)
    usual = settings_dict(RepairSettings())
    # Files of before there was a choice refuse unseen groups.
    if {"unseen_group", *params} != usual.keys() or summary.keys() != {*_LABELS, "metric", *_NUMBERS}:
        raise MapFileError(f"cannot use the map file {path}: its settings are not those of an XOrder.")
    moved = summary["moved"] if isinstance(summary["moved"], list) else [summary["moved"]]
    try:
        others = {*summary["left"], *summary["merged"], summary["reference"], *moved}
        known = others == set(maps) and len(summary["pair"]) == 2 and set(summary["pair"]) <= set(maps)
    except TypeError:
        known = False
    if not known:
        raise MapFileError(f"cannot use the map file {path}: its groups do not fit its summary.")
    try:
        settings = RepairSettings(**usual | params).checked()
        numbers: dict[str, Any] = {
            name: math.nan if summary[name] is None else float(summary[name]) for name in _NUMBERS
        }
        if summary["metric"] != settings.metric:
            raise InputError("the metrics of its settings and of its summary differ")
    except (InputError, TypeError, ValueError, OverflowError) as error:
        raise MapFileError(f"cannot use the map file {path}: its settings make no sense ({error}).") from None
    return FittedRepair(
        settings=settings,
        maps=maps,
        reference=summary["reference"],
        moved=tuple(moved),
        pair=(summary["pair"][0], summary["pair"][1]),
        left=tuple(summary["left"]),
        merged=tuple(summary["merged"]),
        **numbers,
    )


def _signed(value: float) -> str:
    """Four decimals with a sign, and no minus before nothing."""
    return f"{round(value, 4) + 0.0:+.4f}"


def _rounded_up(gap: float) -> str:
    """Two significant digits, never less than the gap itself; plain zero where it is zero."""
    if gap == 0:
        return "0"
    digits = 1 - math.floor(math.log10(gap))
    return f"{math.ceil(gap * 10.0**digits) / 10.0**digits:.{max(digits, 0)}f}"

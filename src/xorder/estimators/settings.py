"""What the settings of XOrder must be, alone and together."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

import numpy as np

from xorder._validation import DISADVANTAGED
from xorder.estimators import interleaved
from xorder.estimators.settle import MISSING_GROUPS, SMALL_GROUPS
from xorder.exceptions import InputError
from xorder.ordering import CALIBRATIONS, DISPARITIES, SOLVERS

TRANSFERS = (*interleaved.TRANSFERS, *CALIBRATIONS)

NO_WEIGHTS_BY_RANK = "transfer='rank' knows no weights: a batch to transform has none. Use 'interpolate'."

_CHOICES: dict[str, Collection[str]] = {
    "metric": DISPARITIES,
    "solver": SOLVERS,
    "transfer": TRANSFERS,
    "small_groups": SMALL_GROUPS,
    "missing_group": MISSING_GROUPS,
}


def check_settings(repair: Any) -> None:
    """Refuse settings of an :class:`xorder.XOrder` that are wrong, or that do not go together."""
    for name, allowed in _CHOICES.items():
        if not isinstance(getattr(repair, name), str) or getattr(repair, name) not in allowed:
            raise InputError(f"{name} must be one of {', '.join(allowed)}; got {getattr(repair, name)!r}.")
    for name in ("adjust", "reference"):
        if not isinstance(getattr(repair, name), Hashable):
            raise InputError(f"{name} must be the label of a group, such as text; got {getattr(repair, name)!r}.")
    if repair.reference is not None and repair.adjust == repair.reference != DISADVANTAGED:
        raise InputError(f"group {repair.reference!r} cannot both stay and move; leave out reference or adjust.")
    if not isinstance(repair.do_no_harm, bool | np.bool_):
        raise InputError(f"do_no_harm must be True or False; got {repair.do_no_harm!r}.")
    if repair.transfer in CALIBRATIONS and repair.solver != "frontier":
        raise InputError(f"transfer={repair.transfer!r} has no use for solver={repair.solver!r}; leave the solver out.")
    if repair.transfer == "rank" and repair.do_no_harm:
        raise InputError("transfer='rank' cannot go part of the way, which do_no_harm needs; use another transfer.")
    if not (isinstance(repair.min_group_size, int | float | np.number) and repair.min_group_size >= 0):
        raise InputError(f"min_group_size must be a number of rows from 0 up; got {repair.min_group_size!r}.")
    if repair.tradeoff is not None and repair.max_disparity != 0.0:
        raise InputError("give tradeoff or max_disparity, not both.")
    if repair.tradeoff is not None and not isinstance(repair.tradeoff, int | float | np.number):
        raise InputError(f"tradeoff must be a finite number from 0 up; got {repair.tradeoff!r}.")
    if not (isinstance(repair.max_disparity, int | float | np.number) and 0 <= repair.max_disparity <= 1):
        raise InputError(f"max_disparity must lie between 0 and 1; got {repair.max_disparity!r}.")

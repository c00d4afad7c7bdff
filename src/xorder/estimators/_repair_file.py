"""The file of a fitted repair: saved with its settings and results, and checked in full when it is loaded."""

from __future__ import annotations

import math
import os
from dataclasses import asdict
from typing import Any

import numpy as np

from xorder._parameters import check_number
from xorder.estimators._fitted import LABELS, NUMBERS, FittedRepair, LearntFrom, RepairSettings
from xorder.estimators._promise import Promise
from xorder.exceptions import InputError, MapFileError
from xorder.transfer import read_maps, write_maps

_RECORDS = ("learnt_from", "promise")


def save_fitted(repair: FittedRepair, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Write a repair as JSON."""
    settings, results = (
        {name: value.item() if isinstance(value, np.generic) else value for name, value in record.items()}
        for record in (asdict(repair.settings), repair.to_dict())
    )
    results["learnt_from"] = asdict(repair.learnt_from)
    write_maps(path, repair.maps, params=settings, summary=results, overwrite=overwrite)


def load_fitted(path: str | os.PathLike[str]) -> FittedRepair:
    """Read a repair that :meth:`FittedRepair.save` wrote, checking it in full.

    Parameters
    ----------
    path : str or path
        The file to read.

    Returns
    -------
    FittedRepair
        The repair.

    Raises
    ------
    MapFileError
        If the file is missing, damaged, changed by hand, or of another version.
    """
    maps, params, summary = read_maps(path)
    usual = asdict(RepairSettings())
    if params.keys() != usual.keys() or summary.keys() != {*LABELS, "metric", *NUMBERS, *_RECORDS}:
        raise MapFileError(f"cannot use the map file {path}: its settings are not those of an XOrder.")
    try:
        stay, moved = {*summary["left"], *summary["merged"], summary["reference"]}, set(summary["moved"])
        fits = (
            all(isinstance(summary[name], list) for name in LABELS if name != "reference")
            and moved == {group for group, score_map in maps.items() if score_map.raw.size}
            and stay <= set(maps) - moved
            and len(summary["pair"]) == 2
            and set(summary["pair"]) <= set(maps)
        )
    except TypeError:
        fits = False
    if not fits:
        raise MapFileError(f"cannot use the map file {path}: its groups do not fit its summary.")
    found: dict[str, Any] = {name: summary[name] if name == "reference" else tuple(summary[name]) for name in LABELS}
    try:
        settings = RepairSettings(**usual | params).checked()
        learnt_from = LearntFrom(**summary["learnt_from"])
        learnt_from.check()
        promise = None if summary["promise"] is None else Promise(**summary["promise"])
        promised = (promise and promise.confidence, summary["metric"])
        for name, value in ({} if promise is None else asdict(promise)).items():
            if name != "metric" and value is not None:
                check_number(name, value)
        if (settings.confidence, settings.metric) != promised:
            raise InputError("the promises or metrics of its settings and of its summary differ")
        figures = {name: summary[name] for name in NUMBERS if summary[name] is not None}
        for name, value in figures.items():
            # Shares and differences of shares, and a bound that may lie a little above 1.
            check_number(name, value, at_least=-2, at_most=2)
        found |= dict.fromkeys(NUMBERS, math.nan) | figures
        fitted = FittedRepair(settings, maps, learnt_from=learnt_from, promise=promise, **found)
        # What it says of itself can be said.
        fitted.text()
    except (InputError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise MapFileError(f"cannot use the map file {path}: its settings make no sense ({error}).") from None
    return fitted

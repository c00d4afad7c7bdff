"""Repairs read back from files."""

from __future__ import annotations

import os

import numpy as np

from xorder.estimators.record import NUMBERS, SUMMARY
from xorder.estimators.settings import check_settings
from xorder.estimators.xorder import XOrder
from xorder.exceptions import InputError, MapFileError
from xorder.transfer import read_maps


def load(path: str | os.PathLike[str]) -> XOrder:
    """Read an adjustment that :meth:`XOrder.save` wrote, checking it in full."""
    maps, params, summary = read_maps(path)
    if params.keys() != XOrder().get_params().keys() or summary.keys() != SUMMARY.keys():
        raise MapFileError(f"cannot use the map file {path}: its settings are not those of an XOrder.")
    moved = summary["moved"] if isinstance(summary["moved"], list) else [summary["moved"]]
    try:
        others = {*summary["left"], *summary["merged"], summary["reference"], *moved}
        known = others == set(maps) and len(summary["pair"]) == 2 and set(summary["pair"]) <= set(maps)
    except TypeError:
        known = False
    if not known:
        raise MapFileError(f"cannot use the map file {path}: its groups do not fit its summary.")
    repair = XOrder(**params)
    try:
        check_settings(repair)
        float(sum(summary[name] or 0.0 for name in NUMBERS))
    except (InputError, TypeError) as error:
        raise MapFileError(f"cannot use the map file {path}: its settings make no sense ({error}).") from None
    repair.maps_ = maps
    for name, attribute in SUMMARY.items():
        value = summary[name]
        if isinstance(value, list):
            value = tuple(value)
        setattr(repair, attribute, np.nan if value is None and name in NUMBERS else value)
    return repair

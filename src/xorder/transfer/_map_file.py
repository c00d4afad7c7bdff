"""The file of maps: JSON with settings, results, knots and a checksum; written whole, and checked when it is read."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any, NoReturn

from xorder._atomic import atomic_path, file_path
from xorder.exceptions import InputError, MapFileError
from xorder.transfer._score_map import ScoreMap

# Bytes of a map file: room for two million knots.
LARGEST_FILE = 96 << 20

FORMAT = "xorder-map"
VERSION = 3


def write_maps(
    path: str | os.PathLike[str],
    maps: dict[Hashable, ScoreMap],
    *,
    params: dict[str, Any],
    summary: dict[str, Any],
    overwrite: bool = True,
) -> None:
    """Write maps with the settings and results that explain them, atomically.

    Parameters
    ----------
    path : str or path-like
        File to write.
    maps : dict of hashable to ScoreMap
        Map of each group; labels are text, numbers or booleans.
    params : dict
        Settings of the repair.
    summary : dict
        What it came to.
    overwrite : bool, default=True
        Whether a file that is there is replaced.
    """
    for group in maps:
        if not isinstance(group, str | int | float | bool) or group != group or group in (float("inf"), -float("inf")):
            raise InputError(
                f"group {group!r} cannot be saved: labels must be text, numbers or booleans; "
                f"got {type(group).__name__}. Use text labels."
            )
    content = {
        "format": FORMAT,
        "version": VERSION,
        "params": params,
        "summary": summary,
        "groups": [{"group": group, **score_map.to_dict()} for group, score_map in maps.items()],
    }
    text = json.dumps(content | {"checksum": _checksum(content)}, allow_nan=False, indent=1)
    if len(text) >= LARGEST_FILE:
        knots = sum(score_map.raw.size for score_map in maps.values())
        raise InputError(
            f"a map of {knots:,} knots takes more than the {LARGEST_FILE >> 20} MiB that a map file may have; fit it "
            "to fewer distinct scores, or with method 'smooth'."
        )
    with atomic_path(path, overwrite=overwrite) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8", newline="\n")


def read_maps(path: str | os.PathLike[str]) -> tuple[dict[Hashable, ScoreMap], dict[str, Any], dict[str, Any]]:
    """Read maps, settings and summary.

    Parameters
    ----------
    path : str or path-like
        File that :func:`write_maps` wrote.

    Returns
    -------
    maps : dict of hashable to ScoreMap
        Map of each group.
    params : dict
        Settings of the repair.
    summary : dict
        What it came to.

    Raises
    ------
    MapFileError
        If the file is anything else, or was changed since; in one sentence.
    """
    content = _parse(file_path(path))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        _refuse(path, "it is not a map saved by xorder")
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        which = "an earlier" if type(version) is int and version < VERSION else "another"
        known = f"this one reads version {VERSION}. Fit again"
        _refuse(path, f"its format version is {str(version)[:20]}, of {which} xorder; {known}")
    checksum = content.pop("checksum", None)
    if not all(isinstance(content.get(key), kind) for key, kind in _PARTS.items()):
        _refuse(path, f"it lacks one of {', '.join(_PARTS)}")
    maps: dict[Hashable, ScoreMap] = {}
    for record in content["groups"]:
        group = record.get("group") if isinstance(record, dict) else None
        if not isinstance(group, str | int | float | bool) or group in maps:
            _refuse(path, "a group in it has no label, or the same as another")
        try:
            maps[group] = ScoreMap.from_dict(record)
        except InputError as error:
            _refuse(path, f"group {group!r}: {str(error).rstrip('.')}")
    if not maps:
        _refuse(path, "it holds no groups")
    if checksum != _checksum(content):
        _refuse(path, "its checksum does not match, so it was changed after it was saved")
    return maps, content["params"], content["summary"]


_PARTS = {"params": dict, "summary": dict, "groups": list}


def _parse(path: Path) -> Any:
    try:
        if path.is_dir():
            _refuse(path, "it is a folder")
        with path.open("rb") as file:
            if not file.read(64).lstrip().startswith(b"{"):
                _refuse(path, "it is not a map saved by xorder")
            file.seek(0)
            text = file.read(LARGEST_FILE + 1)
        if len(text) > LARGEST_FILE:
            _refuse(path, f"it is larger than {LARGEST_FILE >> 20} MiB, and no map of xorder is")
        return json.loads(text.decode("utf-8"), parse_constant=_no_constant)
    except MapFileError:
        raise
    except FileNotFoundError:
        raise MapFileError(f"there is no map file {path}.") from None
    except OSError as error:
        # What it was raised from shows whether the machine has run out of something.
        raise MapFileError(f"cannot use the map file {path}: {error.strerror or error}.") from error
    except RecursionError:
        _refuse(path, "it is nested too deeply to be a map")
    except UnicodeDecodeError:
        _refuse(path, "it is not text in UTF-8")
    except ValueError as error:
        _refuse(path, f"it is cut off or damaged ({error})")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number a map can hold")


def _checksum(content: dict[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def _refuse(path: str | os.PathLike[str], why: str) -> NoReturn:
    raise MapFileError(f"cannot use the map file {path}: {why}.") from None

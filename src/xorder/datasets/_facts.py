"""Facts about data sets, which are files of the package: ``adult.toml``, ``eicu.toml`` and so on."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def read_facts(name: str) -> dict[str, Any]:
    """Return what is written about a data set, by its name; lists come as tuples."""
    text = resources.files("xorder.datasets").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return {key: _fixed(value) for key, value in tomllib.loads(text).items()}


def _fixed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _fixed(inner) for key, inner in value.items()}
    return tuple(map(_fixed, value)) if isinstance(value, list) else value

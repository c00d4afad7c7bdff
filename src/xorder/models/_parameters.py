"""Checks of parameters, made when they are used: finite numbers from a range, whole numbers, one of some words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from xorder.exceptions import InputError


def check_positive(name: str, value: Any) -> float:
    """Return a finite number above 0."""
    if not (_is_number(value) and value > 0):
        raise InputError(f"{name} must be a finite number above 0; got {value!r}.")
    return float(value)


def check_not_negative(name: str, value: Any) -> float:
    """Return a finite number that is 0 or more."""
    if not (_is_number(value) and value >= 0):
        raise InputError(f"{name} must be 0 or more, and finite; got {value!r}.")
    return float(value)


def check_share(name: str, value: Any) -> float:
    """Return a number between 0 and 1."""
    if not (_is_number(value) and 0 <= value <= 1):
        raise InputError(f"{name} must be between 0 and 1; got {value!r}.")
    return float(value)


def check_finite(name: str, value: Any, *, otherwise: str) -> float:
    """Return a finite number; ``otherwise`` says what else the parameter may be."""
    if not _is_number(value):
        raise InputError(f"{name} must be a finite number or {otherwise}; got {value!r}.")
    return float(value)


def check_whole(name: str, value: Any, *, at_least: int = 1) -> int:
    """Return a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name} must be a whole number; got {value!r}.")
    if value < at_least:
        raise InputError(f"{name} must be at least {at_least}; got {value!r}.")
    return int(value)


def check_word(name: str, value: Any, words: Iterable[str]) -> str:
    """Return one of some words."""
    allowed = list(words)
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")
    return value


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)

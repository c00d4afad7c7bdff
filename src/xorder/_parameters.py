"""Checks of parameters, made when they are used: numbers within bounds, one of some words, what weights mean.

The command line adds its options from here, so that it shows its help without loading NumPy.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Hashable
from numbers import Integral, Real
from typing import Any, Literal, get_args

from xorder.exceptions import InputError

MISSING_GROUPS = ("error", "leave", "group")
UNSEEN_GROUPS = ("error", "leave")

# Tables of an audit.
TABLES = (
    *("groups", "xauc", "gaps", "cuts", "cut_gaps", "moves"),
    *("calibration", "calibration_curve", "net_benefit", "scores"),
)

HighIs = Literal["help", "burden"]

# What a high place in the list may be.
HIGH_IS: tuple[str, ...] = get_args(HighIs)

# Formats that they are printed in.
FORMATS = ("markdown", "csv", "json")


def brief(value: Any) -> str:
    """Return how Python writes a value, cut where it is long, for a message that says what came."""
    try:
        text = repr(value)
    except Exception:
        # A whole number of thousands of digits has no text, nor has what fails to write itself.
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def in_range(value: Any, low: float = -sys.float_info.max, high: float = sys.float_info.max) -> bool:
    """Whether a number lies between two; one that is too large for a float does not."""
    try:
        return low <= float(value) <= high
    except OverflowError:
        return False


def check_number(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    otherwise: str = "",
) -> float:
    """Return a finite number within bounds; ``otherwise`` says what else the parameter may be."""
    is_number = not isinstance(value, bool) and isinstance(value, Real) and in_range(value)
    # As a float, since NumPy would make the bounds numbers of the value's own type.
    if not (is_number and above < float(value) and at_least <= float(value) <= at_most):
        bounds = f" above {above:g}" if above > -math.inf else f" from {at_least:g} up" if at_least > -math.inf else ""
        must = f"a number from {at_least:g} to {at_most:g}" if at_most < math.inf else f"a finite number{bounds}"
        raise InputError(f"{name} must be {must}{otherwise and f' or {otherwise}'}; got {brief(value)}.")
    return float(value)


def check_confidence(confidence: Any) -> float:
    """Return a confidence between 0 and 1."""
    if not (isinstance(confidence, Real) and in_range(confidence) and 0 < float(confidence) < 1):
        raise InputError(f"confidence must lie between 0 and 1; got {brief(confidence)}. For 95 % pass 0.95.")
    return float(confidence)


def check_whole(name: str, value: Any, *, at_least: int = 1) -> int:
    """Return a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise InputError(f"{name} must be a whole number from {at_least} up; got {brief(value)}.")
    return int(value)


def check_seed(value: Any) -> Any:
    """Return what random numbers start from: a whole number, None, or a generator of NumPy."""
    is_seed = isinstance(value, Integral) and in_range(value, 0, 2**32 - 1)
    if not (is_seed or value is None or hasattr(value, "permutation")):
        raise InputError(f"random_state must be a whole number from 0 up to 2**32 - 1, or None; got {brief(value)}.")
    return value


def check_word(name: str, value: Any, words: Collection[str], *, otherwise: str = "") -> str:
    """Return one of some words; ``otherwise`` says what else the parameter may be."""
    if not isinstance(value, str) or value not in words:
        raise InputError(
            f"{name} must be one of {', '.join(words)}{otherwise and f', or {otherwise}'}; got {brief(value)}."
        )
    return value


def check_truth(name: str, value: Any) -> bool:
    """Return a truth value; NumPy's are some, and nothing else is, as "no" would be true."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise InputError(f"{name} must be True or False; got {brief(value)}.")
    return bool(value)


def check_label(name: str, value: Any, groups: Collection[Hashable]) -> Any:
    """Return the label of one of some groups."""
    if not isinstance(value, Hashable) or value not in groups:
        raise InputError(f"{name} must be one of {', '.join(map(repr, groups))}; got {brief(value)}.")
    return value


def check_kind(name: str, value: Any, kind: type, words: str) -> Any:
    """Return a value of a type; ``words`` say what it must be."""
    if not isinstance(value, kind):
        raise InputError(f"{name} must be {words}; got {brief(value)}.")
    return value


def check_pair(pair: Any, groups: Collection[Hashable]) -> Any:
    """Return the labels of two of some groups as a tuple."""
    try:
        found = tuple(pair)
        fits = len(found) == 2 == len({*found}) and {*found} <= {*groups}
    except TypeError:
        fits = False
    if not fits:
        raise InputError(f"pair must be two of the groups {', '.join(map(repr, groups))}; got {brief(pair)}.")
    return found


# What weights mean: how many rows each stands for, or how rows were drawn.
WeightKind = Literal["counts", "sampling"]


def check_weights_are(kind: Any) -> None:
    """Refuse a meaning of weights other than the two there are."""
    check_word("weights_are", kind, get_args(WeightKind))

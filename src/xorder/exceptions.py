"""What can go wrong, as types: every error a user can cause is an :class:`XorderError`; and how a warning is given."""

from __future__ import annotations

import sys
import warnings


class XorderError(Exception):
    """Base of all errors that xorder raises on purpose."""


class InputError(XorderError, ValueError):
    """What the user gave cannot be used; the message says what must hold, what came and what to do."""


class MapFileError(InputError):
    """A saved map is damaged, altered, or of a format this version does not know."""


class MissingExtraError(XorderError, ImportError):
    """An optional package is needed; the message names the extra that installs it."""


class XorderWarning(UserWarning):
    """A result that was computed but should be read with care."""


# Packages whose lines are not the caller's: our own, and what runs our context managers.
_OURS = ("xorder", "contextlib")


def warn_caller(message: str) -> None:
    """Warn of the line outside this package that led here, however many calls lie between."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, XorderWarning, stacklevel=level)

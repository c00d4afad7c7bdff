"""What can go wrong, as types: every error a user can cause is an :class:`XorderError`."""


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

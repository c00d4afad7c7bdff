"""How numbers and names are written on the page: fixed digits, a true minus sign, and words for what is not known."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Hashable, Iterable

UNKNOWN = "not known"

# Letters that a name has room for on the page; the whole of it is shown on pointing at it in the table of groups.
_LONGEST = 32

# Signs that turn the direction of the text around them.
_TURNING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def number(value: float | None, digits: int = 4) -> str:
    """Write a number with fixed digits.

    >>> number(0.80312), number(-1e-9), number(None)
    ('0.8031', '0.0000', 'not known')
    """
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def signed(value: float | None, digits: int = 4) -> str:
    """Write a number with its sign.

    >>> signed(0.25447), signed(-0.1), signed(float("nan"))
    ('+0.2545', '−0.1000', 'not known')
    """
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")


def points(value: float | None, digits: int = 1) -> str:
    """Write a share or a difference of shares in hundredths.

    >>> points(0.2544), points(None)
    ('25.4', 'not known')
    """
    return number(None if value is None else 100 * value, digits)


def signed_points(value: float | None, digits: int = 1) -> str:
    """Write a difference of shares in hundredths, with its sign."""
    return signed(None if value is None else 100 * value, digits)


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share in percent."""
    written = points(value, digits)
    return written if written == UNKNOWN else f"{written} %"


def level(confidence: float) -> str:
    """Write a confidence level: 95 %."""
    return f"{100 * confidence:.4g} %"


def count(value: float | None) -> str:
    """Write a count, or a sum of weights: whole, or with as many digits as can matter.

    >>> count(6499325.0), count(12.5), count(155.4338251), count(20345.678), count(0.012345), count(None)
    ('6,499,325', '12.5', '155.4', '20,346', '0.0123', 'not known')
    """
    if value is None or not math.isfinite(value):
        return UNKNOWN
    # Sums of many weights miss a whole number by what rounding leaves.
    whole = round(value)
    if abs(value) >= 1000 or abs(value - whole) <= 1e-9 * abs(value):
        return f"{whole:,}" if abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def called(name: str) -> str:
    """Speak of a group: 'group B', but not 'group group B'."""
    return name if name.lower().startswith("group") else f"group {name}"


def capital(text: str) -> str:
    """Return text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def listed(items: list[str]) -> str:
    """Write items as a list.

    >>> listed(["1 %", "5 %", "20 %"]), listed(["1 %"]), listed([])
    ('1 %, 5 % and 20 %', '1 %', '')
    """
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def pvalue(value: float | None) -> str:
    """Write a p-value with its sign of comparison."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def interval(ends: Iterable[float | None], digits: int = 4) -> str:
    """Write an interval of signed numbers."""
    low, high = (signed(end, digits) for end in ends)
    return UNKNOWN if UNKNOWN in (low, high) else f"{low} to {high}"


def interval_in_points(ends: Iterable[float | None]) -> str:
    """Write an interval of differences in hundredths.

    >>> interval_in_points([-0.012, 0.1]), interval_in_points([None, None])
    ('−1.2 to +10.0', 'not known')
    """
    return interval([None if end is None else 100 * end for end in ends], 1)


def at_most(value: float | None) -> str:
    """Write a limit with four digits, never less than it is.

    >>> at_most(0.00001), at_most(0.0), at_most(None)
    ('0.0001', '0.0000', 'not known')
    """
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return f"{math.ceil(value * 1e4) / 1e4:.4f}"


def one_line(text: object) -> str:
    """Return text without line breaks, control characters, or signs that turn the direction of what follows."""
    plain = " ".join(str(text).split())
    kept = (sign for sign in plain if unicodedata.category(sign) not in ("Cc", "Cs") and ord(sign) not in _TURNING)
    return "".join(kept).strip() or "(empty)"


def shortened(text: object, longest: int = _LONGEST) -> str:
    """Return text on one line, cut where it is longer than the page has room for.

    >>> shortened("a" * 100, longest=5), shortened("two\\nlines"), shortened("")
    ('aaaa…', 'two lines', '(empty)')
    """
    line = one_line(text)
    room = longest
    for place, sign in enumerate(line):
        # Signs of some scripts, and pictures, are as wide as two letters.
        room -= 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        if room < 0 or (room == 0 and place + 1 < len(line)):
            return line[:place].rstrip() + "…"
    return line


def display_names(groups: Iterable[Hashable]) -> list[str]:
    """Return a short name for each group; those that would be written alike are numbered.

    >>> display_names(["B", 1, "1"])
    ['B', '1 (1)', '1 (2)']
    """
    short = [shortened(group) for group in groups]
    seen: dict[str, int] = {}
    names = []
    for name in short:
        seen[name] = seen.get(name, 0) + 1
        names.append(name if short.count(name) == 1 else f"{name} ({seen[name]})")
    return names

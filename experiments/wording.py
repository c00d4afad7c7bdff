"""How numbers and tables are written in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from experiments.summary import half_width, mean


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def number(value: float, digits: int = 3) -> str:
    """A share without its leading 0, as the paper prints it."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def spread(value: float, deviation: float) -> str:
    return f"{number(value)} ± {number(deviation)}"


def signed(values: dict[int, float], digits: int = 3) -> str:
    """Mean of differences, with half its interval."""
    found = mean(values)
    sign = "-" if round(found, digits) < 0 else "+"
    return f"{sign}{number(abs(found), digits)} ± {number(half_width(values), digits)}"

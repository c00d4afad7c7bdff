"""The table that New York City's Local Law 144 asks for of a score: scoring rates and impact ratios by category.

6 RCNY 5-300 and 5-301, as read in November 2026. ``docs/ll144.md`` says how to use it, and what it is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from xorder._groups import BETWEEN, Combinations, ValuesApart, feature_columns, is_missing, look_alike
from xorder._parameters import check_whole
from xorder._table import IntArray, ScoreTable
from xorder._validation import check_scores, check_tables
from xorder.exceptions import InputError
from xorder.metrics._sheet import AuditTable, Row

ALL = "all"
"""What the row of all people is called."""

UNKNOWN = "unknown"
"""What the people without a category are called; a category of that name, in any case, is none."""

# A category with less than one in so many people may be left out of the impact ratios.
_ONE_IN = 50

# From this share of people on, those who score exactly the median are worth a note.
_MANY_TIED = 0.05

# Columns that are shown as they are where small numbers are suppressed: text, and whole numbers of people.
_TEXTS = ("by", "category", "below_2_percent")
_COUNTS = ("people", "above_median")


def ll144(y_score: Any, *, sensitive_features: Any, suppress: int | None = None) -> AuditTable:
    """Scoring rates and impact ratios of a score, as NYC Local Law 144 asks for.

    The scoring rate of a category is the share of its people who score above the median of the whole sample, in which
    people of unknown category count, too; a score at the median is not above it. The impact ratio is the scoring rate
    by the highest scoring rate among the categories, separately for each column and for their combinations.

    Parameters
    ----------
    y_score : array-like of shape (n_samples,)
        The scores; higher is better.
    sensitive_features : DataFrame, dict of columns, or array-like of shape (n_samples,) or (n_samples, n_columns)
        The categories, such as sex and race: each column by itself and, of several, each combination of columns. A
        category is unknown where it is missing, blank, or the word "unknown", in any case.
    suppress : int, optional
        Show no row with a count from 1 up to less than this, nor those from which it could be worked out; 11 is usual.
        Other numbers than counts have two digits then.

    Returns
    -------
    AuditTable
        A row for all people, then for each column or combination (``by``) one per ``category`` and one for those whose
        category is unknown, if there are some. The columns:

        - ``people``: their number, and ``share``, their part of all people;
        - ``above_median``: how many score above the median, and ``scoring_rate``, their part of the category;
        - ``impact_ratio``: the scoring rate by the highest one of the same ``by``;
        - ``below_2_percent``: "yes" for a category of less than 2 % of all people. The rules let an auditor leave such
          a category out: here it has no impact ratio, and its scoring rate is not taken for the highest;
        - ``median``: that of all scores.

        What does not apply is None: rates of unknown people, and all ratios where no score of a category that counts is
        above the median.

    Examples
    --------
    >>> found = ll144([1, 2, 3, 4, 5, 6], sensitive_features={"sex": ["f", "f", "m", "f", "m", "m"]})
    >>> [(row["category"], row["scoring_rate"], row["impact_ratio"]) for row in found.rows[1:]]
    [('f', 0.3333333333333333, 0.5), ('m', 0.6666666666666666, 1.0)]
    """
    score = check_scores(y_score)
    columns = feature_columns(sensitive_features)
    if not columns:
        raise InputError("sensitive_features must have a column; it has none.")
    for name, values in columns.items():
        if values.shape != score.shape:
            raise InputError(
                f"sensitive_features must have one value per row; got shape {values.shape} of column {name!r} for "
                f"{score.size:,} scores."
            )
    labels, rows = ValuesApart(columns).of_codes([_coded(values.tolist()) for values in columns.values()])
    groups = np.array(labels, dtype=object)[rows]
    return ll144_of(check_tables(np.zeros(score.size, dtype=bool), score, groups), list(columns), suppress)


def _coded(values: list[Any]) -> tuple[list[Any], IntArray]:
    """Return the distinct values of a column, missing ones as None, and each row's index among them."""
    seen: dict[Any, int] = {}
    try:
        codes = [seen.setdefault(None if is_missing(value) else value, len(seen)) for value in values]
    except TypeError as error:
        raise InputError(f"sensitive_features must hold plain labels such as text or numbers ({error}).") from error
    return list(seen), np.array(codes, dtype=np.int64)


Key = tuple[str | None, ...]
"""A value for each column, None where the column is not looked at, and empty for people of unknown category."""


class Count(NamedTuple):
    """How many people, and how many of them score above the median."""

    people: int
    above: int

    def is_small(self, least: int) -> bool:
        """Whether one of the numbers, or what is left of the other, would show few people."""
        return any(0 < number < least for number in (self.people, self.above, self.people - self.above))

    @property
    def rate(self) -> float:
        """The scoring rate."""
        return self.above / self.people


@dataclass(frozen=True, slots=True)
class Block:
    """The categories of one column, or of one combination of columns; ``unknown`` has the people without, if any."""

    columns: tuple[int, ...]
    by: str
    known: dict[Key, Count]
    names: dict[Key, str]
    unknown: dict[Key, Count]


def ll144_of(tables: Mapping[Any, ScoreTable], columns: Sequence[str], suppress: int | None = None) -> AuditTable:
    """Make the table of tables whose groups are labels of :class:`~xorder._groups.ValuesApart`, for these columns."""
    if suppress is not None:
        check_whole("suppress", suppress)
    lower, upper, tied = _middle(tables.values())
    counts: dict[tuple[str, ...], Count] = {}
    for label, table in tables.items():
        values = tuple("" if text.strip().lower() in ("", UNKNOWN) else text for text in json.loads(label))
        of_table = Count(round(float(table.mass.sum())), round(float(table.mass[table.score > lower].sum())))
        counts[values] = _together([counts.get(values, Count(0, 0)), of_table])
    everyone = _together(counts.values())
    chosen = [each for size in range(1, len(columns) + 1) for each in combinations(range(len(columns)), size)]
    blocks = [_block(each, columns, counts) for each in chosen]
    whole: Key = (None,) * len(columns)
    rows: dict[Key, Row] = {whole: _row(ALL, ALL, everyone, everyone) | {"scoring_rate": everyone.rate}}
    notes = _notes_on_values(columns, counts)
    if tied >= _MANY_TIED * everyone.people:
        notes.append(f"{tied / everyone.people:.0%} of all people score exactly the median, which is not above it.")
    left_out = []
    for block in blocks:
        small = [key for key, count in block.known.items() if _ONE_IN * count.people < everyone.people]
        highest = max((count.rate for key, count in block.known.items() if key not in small), default=0.0)
        if not highest:
            notes.append(f"{block.by}: no impact ratio, as no category of 2 % or more has people above the median.")
        for key, count in block.known.items():
            ratio = count.rate / highest if highest and key not in small else None
            rows[key] = _row(block.by, block.names[key], count, everyone) | {
                "scoring_rate": count.rate,
                "impact_ratio": ratio,
                "below_2_percent": "yes" if key in small else "no",
            }
        for key, count in block.unknown.items():
            rows[key] = _row(block.by, UNKNOWN, count, everyone) | {"above_median": None}
        if small:
            left_out.append(f"{block.by}: {', '.join(block.names[key] for key in small)}")
    if left_out:
        notes.append(
            f"Less than 2 % of all people, and left out of the impact ratios: {'; '.join(left_out)}. "
            "The rules want the reason for that published, with their number and scoring rate."
        )
    if any(block.unknown for block in blocks):
        notes.append("People of unknown category count for the median and for shares, and belong to no category.")
    if suppress is not None:
        hidden = _hidden({whole: everyone}, blocks, suppress)
        rows = {key: _with_little(row, key in hidden) for key, row in rows.items()}
        notes.append(
            f"Rows with a count of 1 to {suppress - 1} are suppressed, and further ones from which they could be told."
        )
    # Halves, as the sum of two large scores may be none.
    median = lower / 2 + upper / 2
    for row in rows.values():
        row["median"] = median if suppress is None else round(median, 2)
    return AuditTable("ll144", list(rows.values()), tuple(notes))


def _middle(tables: Iterable[ScoreTable]) -> tuple[float, float, float]:
    """Return the two scores around the middle of all rows, which may be one, and how many rows score the median.

    A score is above the median if it is above the lower of the two.
    """
    found = list(tables)
    score = np.concatenate([table.score for table in found])
    mass = np.concatenate([table.mass for table in found])
    order = np.argsort(score, kind="stable")
    below = mass[order].cumsum()
    places = np.searchsorted(below, [(below[-1] - 1) // 2, below[-1] // 2], side="right")
    lower, upper = score[order][places].tolist()
    return lower, upper, float(mass[score == lower].sum()) if lower == upper else 0.0


def _together(counts: Iterable[Count]) -> Count:
    people, above = (sum(numbers) for numbers in zip(*counts, strict=True))
    return Count(people, above)


def _block(chosen: tuple[int, ...], columns: Sequence[str], counts: Mapping[tuple[str, ...], Count]) -> Block:
    """Add up the rows by the values of some columns."""
    found: dict[Key, list[Count]] = {}
    unknown: dict[Key, list[Count]] = {}
    for values, count in counts.items():
        is_known = all(values[column] for column in chosen)
        key = tuple((value if is_known else "") if column in chosen else None for column, value in enumerate(values))
        (found if is_known else unknown).setdefault(key, []).append(count)
    names = [columns[column] for column in chosen]
    combined = Combinations(names)
    texts = {key: tuple(value for value in key if value is not None) for key in found}
    return Block(
        columns=chosen,
        by=BETWEEN.join(names),
        known={key: _together(found[key]) for key in sorted(found, key=texts.__getitem__)},
        names={key: own[0] if len(own) == 1 else str(combined[own]) for key, own in texts.items()},
        unknown={key: _together(own) for key, own in unknown.items()},
    )


def _row(by: str, category: str, count: Count, everyone: Count) -> Row:
    return {
        "by": by,
        "category": category,
        "people": count.people,
        "share": count.people / everyone.people,
        "above_median": count.above,
        "scoring_rate": None,
        "impact_ratio": None,
        "below_2_percent": None,
    }


def _notes_on_values(columns: Sequence[str], counts: Iterable[tuple[str, ...]]) -> list[str]:
    """Say which categories of a column differ in blanks or case alone."""
    of_columns = zip(columns, zip(*counts, strict=True), strict=True)
    return [f"{name}: {note}" for name, values in of_columns for note in look_alike(sorted(set(values)))]


def _hidden(everyone: Mapping[Key, Count], blocks: Sequence[Block], least: int) -> set[Key]:
    """Return the rows that must not be shown: small ones, and others until none is the only one hidden of a sum.

    Sums that a reader knows: categories and unknown people add up to all of them; the categories of a column and one
    more add up to those of the column. Where people are unknown the latter do not quite, and are taken to.
    """
    counts = dict(everyone)
    lines: list[list[Key]] = []
    for block in blocks:
        counts |= block.known | block.unknown
        lines.append([*block.known, *block.unknown])
        for other in blocks:
            if len(other.columns) == len(block.columns) + 1 and set(block.columns) < set(other.columns):
                lines += [[key, *(more for more in other.known if _agree(key, more))] for key in block.known]
    hidden = {key for key, count in counts.items() if count.is_small(least)}

    def telling(more: Iterable[Key] = ()) -> list[list[Key]]:
        return [line for line in lines if len(line) > 1 and len((hidden | {*more}).intersection(line)) == 1]

    while telling():
        # Whatever leaves the fewest sums that tell, and then the fewest people.
        shown = [key for key in telling()[0] if key not in hidden]
        hidden.add(min(shown, key=lambda key: (len(telling([key])), counts[key].people)))
    return hidden


def _agree(key: Key, more: Key) -> bool:
    return all(value in (None, other) for value, other in zip(key, more, strict=True))


def _with_little(row: Row, hide: bool) -> Row:
    """Return a row without its numbers, or with counts as they are and two digits of everything else."""
    return {
        name: value
        if name in _TEXTS or value is None or (not hide and name in _COUNTS)
        else None
        if hide
        else round(value, 2)
        for name, value in row.items()
    }

"""The table that New York City's Local Law 144 asks for of a score: scoring rates and impact ratios by category.

6 RCNY 5-300 and 5-301, as read in November 2026. ``docs/ll144.md`` says how to use it, and what it is not.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from xorder._groups import BETWEEN, Combinations, ValuesApart, feature_columns, is_missing, look_alike
from xorder._parameters import check_whole
from xorder._table import ScoreTable
from xorder._validation import check_scores, check_tables
from xorder.exceptions import InputError
from xorder.metrics._sheet import SUPPRESSED, AuditTable, Row

# What the row of all people is called.
ALL = "all"

# What the people without a category are called; a category of that name, in any case, is none.
UNKNOWN = "unknown"

# A category with less than one in so many people may be left out of the impact ratios.
_ONE_IN = 50

# From this share of people on, those who score exactly the median are worth a note.
_MANY_TIED = 0.05

# What is said of categories of less than 2 %.
_LEFT_OUT = """Less than 2 % of all people, and left out of the impact ratios: {}. \
The rules want the reason for that published, with their number and scoring rate."""

# A value for each column, None where the column is not looked at, and empty for people of unknown category.
Key = tuple[str | None, ...]


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
            came = f"got shape {values.shape} of column {name!r} for {score.size:,} scores"
            raise InputError(f"sensitive_features must have one value per row; {came}.")
    parts = [[None if is_missing(value) else value for value in values.tolist()] for values in columns.values()]
    labels = ValuesApart(columns)
    try:
        groups = np.array([labels[values] for values in zip(*parts, strict=True)], dtype=object)
    except TypeError as error:
        raise InputError(f"sensitive_features must hold plain labels such as text or numbers ({error}).") from error
    return ll144_of(check_tables(np.zeros(score.size, dtype=bool), score, groups), list(columns), suppress)


# The values of some rows, empty where they are unknown, the number of these rows, and that above the median.
Found = tuple[list[str], tuple[int, int]]


class People(NamedTuple):
    """Those that a row of the table is about: of a category, of none that is known, or all.

    Of these three, only a category has some text in its key.
    """

    by: str
    name: str
    key: Key
    number: int
    above: int
    rate: float


def ll144_of(tables: Mapping[Any, ScoreTable], columns: Sequence[str], suppress: int | None = None) -> AuditTable:
    """Make the table of tables whose groups are labels of :class:`~xorder._groups.ValuesApart`, for these columns."""
    if suppress is not None:
        check_whole("suppress", suppress)
    lower, upper, tied = _middle(tables)
    found = [["" if text.strip().lower() in ("", UNKNOWN) else text for text in json.loads(label)] for label in tables]
    counts = [(round(float(t.mass.sum())), round(float(t.mass[t.score > lower].sum()))) for t in tables.values()]
    chosen = [each for size in range(len(columns) + 1) for each in combinations(range(len(columns)), size)]
    blocks = [_block(each, columns, zip(found, counts, strict=True)) for each in chosen]
    everyone = blocks[0][0].number
    hidden = set() if suppress is None else _hidden(blocks, suppress)
    by_column = zip(columns, zip(*found, strict=True), strict=True)
    notes = [f"{name}: {note}" for name, texts in by_column for note in look_alike(sorted(set(texts)))]
    if tied >= _MANY_TIED * everyone:
        notes.append(f"{tied / everyone:.0%} of all people score exactly the median, which is not above it.")
    # Halves, as the sum of two large scores may be none.
    median = lower / 2 + upper / 2
    rows, left_out = list[Row](), list[str]()
    for block in blocks:
        small = [each for each in block if any(each.key) and _ONE_IN * each.number < everyone]
        large = [each for each in block if any(each.key) and each not in small]
        highest = max((each.rate for each in large), default=0.0)
        if not highest and block is not blocks[0]:
            notes.append(f"{block[0].by}: no impact ratio, as no category of 2 % or more has people above the median.")
        if small:
            left_out.append(f"{block[0].by}: {', '.join(each.name for each in small)}")
        for each in block:
            above, rate = (None, None) if "" in each.key else (each.above, each.rate)
            ratio = each.rate / highest if highest and each in large else None
            numbers: Row = {"people": each.number, "share": each.number / everyone}
            numbers |= {"above_median": above, "scoring_rate": rate, "impact_ratio": ratio}
            numbers = dict.fromkeys(numbers) if each.key in hidden else numbers
            below = "yes" if each in small else "no" if each in large else None
            rows.append({"by": each.by, "category": each.name, **numbers, "below_2_percent": below, "median": median})
    if left_out:
        notes.append(_LEFT_OUT.format("; ".join(left_out)))
    if any("" in each.key for block in blocks for each in block):
        notes.append("People of unknown category count for the median and for shares, and belong to no category.")
    if suppress is not None:
        rows = [{name: round(v, 2) if isinstance(v, float) else v for name, v in row.items()} for row in rows]
        notes.append(SUPPRESSED.format(suppress - 1))
    return AuditTable("ll144", rows, tuple(notes))


def _middle(tables: Mapping[Any, ScoreTable]) -> tuple[float, float, float]:
    """Return the two scores around the middle of all rows, which may be one, and how many rows score the median.

    A score is above the median if it is above the lower of the two.
    """
    score = np.concatenate([table.score for table in tables.values()])
    mass = np.concatenate([table.mass for table in tables.values()])
    order = np.argsort(score, kind="stable")
    below = mass[order].cumsum()
    places = np.searchsorted(below, [(below[-1] - 1) // 2, below[-1] // 2], side="right")
    lower, upper = score[order][places].tolist()
    return lower, upper, float(mass[score == lower].sum()) if lower == upper else 0.0


def _block(chosen: Sequence[int], columns: Sequence[str], found: Iterable[Found]) -> list[People]:
    """Add up the rows by the values of some columns, those of unknown category last; of no column, all of them."""
    people, above = Counter[Key](), Counter[Key]()
    for values, (number, higher) in found:
        is_known = all(values[column] for column in chosen)
        key = tuple((value if is_known else "") if column in chosen else None for column, value in enumerate(values))
        people[key] += number
        above[key] += higher
    names = [columns[column] for column in chosen]
    by, combined = BETWEEN.join(names) or ALL, Combinations(names)
    block = []
    for key in sorted(people, key=lambda key: ("" in key, [value or "" for value in key])):
        own = tuple(value for value in key if value is not None)
        name = UNKNOWN if "" in own else own[0] if len(own) == 1 else combined[own] or ALL
        block.append(People(by, name, key, people[key], above[key], above[key] / people[key]))
    return block


def _hidden(blocks: Sequence[Sequence[People]], least: int) -> set[Key]:
    """Return the rows that must not be shown: small ones, and others until none is the only one hidden of a sum.

    Sums that a reader knows: categories and unknown people add up to all of them; the categories of a column and one
    more add up to those of the column. Where people are unknown the latter do not quite, and are taken to.
    """
    people = {each.key: each for block in blocks for each in block}
    sums: dict[Any, list[Key]] = {}
    for block in blocks:
        keys = [each.key for each in block]
        sums[len(sums)] = keys
        sums |= {(column, key): [key] for column in range(len(keys[0])) for key in keys if any(key)}
    for key in people:
        for column, value in enumerate(key):
            whole = (*key[:column], None, *key[column + 1 :])
            if value and any(whole):
                sums[column, whole].append(key)
    # One of the numbers, or what is left of the other, would show few people.
    counts = {key: (own.number, own.above, own.number - own.above) for key, own in people.items()}
    hidden = {key for key, few in counts.items() if any(0 < count < least for count in few)}

    def telling(gone: set[Key]) -> list[list[Key]]:
        return [line for line in sums.values() if len(line) > 1 and len(gone.intersection(line)) == 1]

    while found := telling(hidden):
        # Whatever leaves the fewest sums that tell, and then the fewest people.
        shown = [key for key in found[0] if key not in hidden]
        hidden.add(min(shown, key=lambda key: (len(telling(hidden | {key})), people[key].number)))
    return hidden

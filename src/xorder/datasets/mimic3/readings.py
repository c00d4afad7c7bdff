"""From charted text to numbers: one SQL expression per way of reading, and the scan of the two event tables.

The expressions see the columns ``value`` (text), ``valueuom`` (its unit, as charted) and ``itemid``. A text that cannot
be read gives null and is left out.
"""

from __future__ import annotations

from typing import Any

from xorder._progress import Progress
from xorder.datasets.clinical import SourceTable, run
from xorder.datasets.mimic3.variables import VARIABLES, Variable

_NUMBER = "try_cast(value AS DOUBLE)"
_PLAIN = rf"CASE WHEN regexp_full_match(value, '\d+(\.\d*)?|\.\d+') THEN {_NUMBER} END"
_UNIT = "lower(coalesce(valueuom, ''))"
_POUNDS = 0.453592

READINGS = {
    "number": _NUMBER,
    # Laboratories write words, or signs such as < and >, where they have no number.
    "laboratory": _PLAIN,
    # A pressure is a number, or a pair such as 120/80.
    "first of pair": r"try_cast(CASE WHEN regexp_full_match(value, '\d+/\d+') THEN split_part(value, '/', 1) "
    "ELSE value END AS DOUBLE)",
    "second of pair": r"try_cast(CASE WHEN regexp_full_match(value, '\d+/\d+') THEN split_part(value, '/', 2) "
    "ELSE value END AS DOUBLE)",
    "coma scale": f"CASE WHEN {_NUMBER} BETWEEN 3 AND 15 THEN {_NUMBER} END",
    "fraction": f"CASE WHEN {_NUMBER} > 1 AND NOT contains({_UNIT}, 'torr') THEN {_NUMBER} / 100 ELSE {_NUMBER} END",
    "saturation": f"CASE WHEN ({_PLAIN}) <= 1 THEN 100 * ({_PLAIN}) ELSE ({_PLAIN}) END",
    # Nobody is 79 degrees Celsius warm, nor alive at 79 degrees Fahrenheit for long.
    "temperature": f"CASE WHEN {_NUMBER} >= 79 THEN ({_NUMBER} - 32) * 5 / 9 ELSE {_NUMBER} END",
    "weight": f"CASE WHEN contains({_UNIT}, 'oz') OR itemid = 3582 THEN {_NUMBER} / 16 * {_POUNDS} "
    f"WHEN contains({_UNIT}, 'lb') OR itemid IN (3581, 226531) THEN {_NUMBER} * {_POUNDS} ELSE {_NUMBER} END",
    "height": f"CASE WHEN contains({_UNIT}, 'in') OR itemid = 1394 THEN round_even({_NUMBER} * 2.54, 0) "
    f"ELSE {_NUMBER} END",
}


def read_events(
    database: Any, chart: SourceTable, laboratory: SourceTable, *, apply_ranges: bool, progress: Progress | None
) -> None:
    """Make the table ``readings`` (stay, variable, second, number, text) from one pass over each event table.

    It needs ``adults`` and ``candidates`` of :mod:`xorder.datasets.mimic3.stays`. As in the benchmark, an event counts
    if its admission is one of the adults' and its ICU stay, where it names one, is that admission's; it goes to the
    candidate stays of this patient that were in their first 48 hours at that time.
    """
    items = ", ".join(f"({item}, {number})" for number, variable in enumerate(VARIABLES) for item in variable.items)
    database.execute(f"CREATE TEMP TABLE items AS SELECT * FROM (VALUES {items}) AS listed(itemid, variable)")
    database.execute(
        "CREATE TEMP TABLE readings (stay INTEGER, variable TINYINT, second INTEGER, number DOUBLE, text VARCHAR)"
    )
    # DuckDB cannot know how many rows a csv file has, and may take the small tables for the larger side of a join: it
    # would then gather hundreds of millions of events in a hash table. As written, events stream past small tables.
    database.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    for table, same_stay in (
        (chart, "event.icustay_id IS NULL OR event.icustay_id = adult.icustay_id"),
        (laboratory, "true"),
    ):
        run(
            database,
            _scan(table, same_stay, apply_ranges=apply_ranges),
            step=f"reading {table.path.name}",
            reads=[table],
            progress=progress,
        )


def merged_readings(first: int, last: int) -> str:
    """Return SQL for the readings of stays ``first`` to ``last``, one per stay, variable and time, in this order.

    Of several the benchmark keeps the last after sorting, which for texts that it had not turned into numbers before
    (heart rate, say) is the last by text: 99 is kept, not 102.
    """
    by_text = ", ".join(str(number) for number, variable in enumerate(VARIABLES) if variable.by_text)
    return f"""
        SELECT stay, variable, second,
               CASE WHEN variable IN ({by_text}) THEN arg_max(number, text) ELSE max(number) END AS number
        FROM readings WHERE stay BETWEEN {first} AND {last} AND isfinite(number)
        GROUP BY stay, variable, second ORDER BY stay, variable, second"""


def _scan(table: SourceTable, same_stay: str, *, apply_ranges: bool) -> str:
    types = dict.fromkeys(("subject_id", "hadm_id", "icustay_id", "itemid"), "INTEGER") | {"charttime": "TIMESTAMP"}
    numbers = " ".join(
        f"WHEN {number} THEN {_reading(variable, apply_ranges=apply_ranges)}"
        for number, variable in enumerate(VARIABLES)
    )
    return f"""
        INSERT INTO readings
        SELECT candidate.stay, item.variable, date_diff('second', candidate.intime, event.charttime),
               CASE item.variable {numbers} END, event.value
        FROM {table.scan(**types)} AS event
        JOIN items AS item USING (itemid)
        JOIN adults AS adult ON adult.hadm_id = event.hadm_id AND adult.subject_id = event.subject_id
        JOIN candidates AS candidate ON candidate.subject_id = event.subject_id
        WHERE event.value IS NOT NULL AND ({same_stay})
          AND event.charttime BETWEEN candidate.intime AND candidate.intime + INTERVAL 48 HOUR"""


def _reading(variable: Variable, *, apply_ranges: bool) -> str:
    if variable.words:
        words = " ".join(f"WHEN '{word}' THEN {number}" for word, number in variable.words.items())
        number = f"CASE value {words} END::DOUBLE"
    else:
        number = READINGS[variable.reading]
    if not apply_ranges:
        return f"({number})"
    (lowest, highest), (low, high) = variable.outlier, variable.valid
    clipped = f"least(greatest(({number}), {low}), {high})"
    return f"(CASE WHEN ({number}) BETWEEN {lowest} AND {highest} THEN {clipped} END)"

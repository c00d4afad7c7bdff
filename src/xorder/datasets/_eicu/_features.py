"""The 60 inputs of the eICU problem, as a table: name, unit, where it comes from, and the SQL that makes it.

The paper names neither its inputs nor its cohort; these are our own. All are known a day after admission to the unit:
see ``docs/design/eicu-features.md``. What each is made from is listed in ``eicu.toml``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xorder.datasets._facts import read_facts


@dataclass(frozen=True, slots=True)
class Measurement:
    """A vital sign or a laboratory value, and what each source calls it.

    ``daily`` are the statistics of its hourly medians that are inputs. ``columns`` are columns of vitalPeriodic and
    vitalAperiodic, ``labs`` are values of ``labname`` in lab, ``grid`` is the column of hourly_48vars. Readings outside
    of ``low`` to ``high`` are taken for errors and left out.
    """

    name: str
    unit: str
    daily: tuple[str, ...]
    low: float
    high: float
    grid: str
    columns: tuple[str, ...] = ()
    labs: tuple[str, ...] = ()

    def plausible(self, value: str) -> str:
        """Return SQL for ``value`` where it lies in the range, and null elsewhere."""
        return _within(value, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Feature:
    """An input: ``sql`` makes it from the tables ``p`` (patient), ``aps``, ``pred`` and ``day`` (the first day)."""

    name: str
    unit: str
    source: str
    sql: str


FACTS = read_facts("eicu")

VITALS = tuple(Measurement(name, **facts) for name, facts in FACTS["vitals"].items())
LABS = tuple(Measurement(name, **facts) for name, facts in FACTS["labs"].items())

_ALIASES = {"patient": "p", "apacheApsVar": "aps", "apachePredVar": "pred"}


def _within(value: str, low: float, high: float) -> str:
    return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {value} END"


def _stated(
    name: str,
    source: str,
    unit: str = "0/1",
    within: tuple[float, float] = (0, 1),
    one_of: tuple[str, ...] = (),
    sql: str | None = None,
) -> Feature:
    """An input from one column of a table: where it is in a range, whether it is one of some texts, or by ``sql``."""
    table, _, column = source.partition(".")
    value = f"{_ALIASES[table]}.{column}"
    if one_of:
        listed = ", ".join(f"'{text}'" for text in one_of)
        sql = f"CASE WHEN {value} IS NOT NULL THEN {value} IN ({listed}) END"
        return Feature(name, unit, f"{source}: {', '.join(one_of)}", sql)
    return Feature(name, unit, source, sql or _within(value, *within))


def _daily(measurement: Measurement) -> list[Feature]:
    where = ", ".join((*measurement.columns, *(f"lab {lab}" for lab in measurement.labs)))
    return [
        Feature(name, measurement.unit, f"first day: {statistic} of {where}", f"day.{name}")
        for statistic in measurement.daily
        for name in [f"{measurement.name}_{statistic}"]
    ]


FEATURES: tuple[Feature, ...] = (
    *(_stated(name, **facts) for name, facts in FACTS["features"].items()),
    *(feature for measurement in (*VITALS, *LABS) for feature in _daily(measurement)),
)

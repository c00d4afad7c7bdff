"""Score maps inside Spark: groups are told apart by its own expressions, scores go through Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from xorder._optional import import_optional
from xorder.engines.apply import adjusting
from xorder.engines.labels import PLACE, Complaints, check_frame_columns, no_numbers
from xorder.exceptions import InputError
from xorder.transfer import ScoreMap
from xorder.transfer.sql import quoted_name

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_NUMBERS = (*_WHOLE, "float", "double", "decimal")


def map_spark(
    frame: Any, maps: Mapping[Hashable, ScoreMap], *, score: str, group: str, into: str, missing: Hashable | None
) -> Any:
    """Return the frame with one more column; nothing is computed yet.

    Executors need pyarrow and NumPy, which PySpark asks for anyway, and not xorder.
    """
    functions = import_optional("pyspark.sql.functions", extra="spark", purpose="Adjusting scores in Spark")
    types = dict(frame.dtypes)
    check_frame_columns(frame.columns, score=score, group=group, into=into)
    if types[score] != "boolean" and not types[score].startswith(_NUMBERS):
        raise no_numbers(score, f"their type is {types[score]}")
    complaints = Complaints(maps, score=score, group=group)
    number = _number(functions, types[group], maps, group=group, missing=missing, complaints=complaints)
    value = functions.col(quoted_name(score, "spark")).cast("double")
    finite = ~(value.isNull() | functions.isnan(value) | (functions.abs(value) == float("inf")))
    came = functions.coalesce(value.cast("string"), functions.lit("nan"))
    checked = functions.when(finite, value).otherwise(_failing(functions, complaints.score, came))
    if any(learnt.raw.size for learnt in maps.values()):
        in_batches = functions.arrow_udf(_in_batches(maps), "double")
        return frame.withColumn(into, in_batches(checked, number))
    return frame.withColumn(into, checked + 0 * number)


def _in_batches(maps: Mapping[Hashable, ScoreMap]) -> Callable[..., Any]:
    pa = import_optional("pyarrow", extra="spark", purpose="Adjusting scores in Spark")
    adjust = adjusting(maps)

    def adjusted(score: Any, number: Any) -> Any:
        values = adjust(score.to_numpy(zero_copy_only=False), number.to_numpy(zero_copy_only=False))
        return pa.array(values)

    # Spark learns from these how the function is to be called.
    adjusted.__annotations__ = dict.fromkeys(("score", "number", "return"), pa.Array)
    return adjusted


def _number(
    functions: Any,
    kind: str,
    maps: Mapping[Hashable, ScoreMap],
    *,
    group: str,
    missing: Hashable | None,
    complaints: Complaints,
) -> Any:
    """Return the number of a row's group among the maps, as an expression that fails for groups without one."""
    column = functions.col(quoted_name(group, "spark"))
    is_text = kind.startswith(("string", "varchar", "char"))
    if not (is_text or kind in ("boolean", "date") or kind.startswith(_NUMBERS)):
        raise InputError(f"column {group!r} must hold plain labels such as text or numbers; its type is {kind}.")
    lost = column.isNull() | functions.isnan(column) if kind in ("float", "double") else column.isNull()
    if missing is None:
        number = functions.when(lost, _failing(functions, complaints.missing, None))
    else:
        number = functions.when(lost, functions.lit(list(maps).index(missing)))
    for place, label in enumerate(maps):
        value = _value(label, kind, is_text=is_text)
        if value is not None:
            number = number.when(column == functions.lit(value), functions.lit(place))
    shown = column.cast("string")
    if is_text:
        shown = functions.concat(functions.lit("'"), shown, functions.lit("'"))
    return number.otherwise(_failing(functions, complaints.unknown, shown))


def _value(label: Hashable, kind: str, *, is_text: bool) -> str | bool | int | float | Decimal | date | None:
    """Return the label as the column would hold it, or None where it holds no such values."""
    if is_text or isinstance(label, str):
        return label if is_text and isinstance(label, str) else None
    if kind == "boolean":
        # In Python, True is 1.
        return bool(label) if label in (True, False) else None
    if isinstance(label, date) and not isinstance(label, datetime):
        return label if kind == "date" else None
    if kind == "date":
        return None
    if isinstance(label, int):
        return int(label)
    return label if isinstance(label, float | Decimal) else None


def _failing(functions: Any, message: str, value: Any) -> Any:
    before, _, after = message.partition(PLACE)
    if value is None:
        return functions.raise_error(functions.lit(message))
    return functions.raise_error(functions.concat(functions.lit(before), value, functions.lit(after)))

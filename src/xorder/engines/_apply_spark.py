"""Score maps inside Spark: groups are told apart by its own expressions, scores go through Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import reduce
from operator import and_, or_
from typing import Any

from xorder._groups import BETWEEN
from xorder._optional import import_optional
from xorder.engines._apply import adjusting
from xorder.engines._cells import ColumnNames, Kind, not_labels, not_numbers
from xorder.engines._match_groups import VALUE, Complaints, GroupMaps, check_frame_columns, columns_of
from xorder.transfer._sql import quoted_name

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")


def map_spark(frame: Any, maps: GroupMaps, names: ColumnNames, into: str) -> Any:
    """Return the frame with one more column; nothing is computed yet.

    Executors need pyarrow and NumPy, which PySpark asks for anyway, and not xorder.
    """
    functions = import_optional("pyspark.sql.functions", extra="spark", purpose="Adjusting scores in Spark")
    types = dict(frame.dtypes)
    tells_case = str(frame.sparkSession.conf.get("spark.sql.caseSensitive")).lower() == "true"
    check_frame_columns(frame.columns, names, into=into, ignores_case=None if tells_case else "Spark")
    score = names.score
    if _kind(types[score]) not in (Kind.NUMBER, Kind.DECIMAL, Kind.BOOLEAN):
        raise not_numbers(score, f"their type is {types[score]}")
    complaints = Complaints(maps, names)
    number = _number(functions, types, maps, names, complaints)
    value = functions.col(quoted_name(score, "spark")).cast("double")
    finite = ~(value.isNull() | functions.isnan(value) | (functions.abs(value) == float("inf")))
    came = functions.coalesce(value.cast("string"), functions.lit("nan"))
    checked = functions.when(finite, value).otherwise(_failing(functions, complaints.score, came))
    if any(score_map.raw.size for score_map in maps.maps.values()):
        in_batches = functions.arrow_udf(_in_batches(maps), "double")
        return frame.withColumn(into, in_batches(checked, number))
    return frame.withColumn(into, checked + 0 * number)


def _in_batches(maps: GroupMaps) -> Callable[..., Any]:
    pa = import_optional("pyarrow", extra="spark", purpose="Adjusting scores in Spark")
    adjust = adjusting(maps)

    def adjusted(score: Any, number: Any) -> Any:
        values = adjust(score.to_numpy(zero_copy_only=False), number.to_numpy(zero_copy_only=False))
        return pa.array(values)

    # Spark learns from these how the function is to be called.
    adjusted.__annotations__ = dict.fromkeys(("score", "number", "return"), pa.Array)
    return adjusted


def _number(
    functions: Any, types: Mapping[str, str], maps: GroupMaps, names: ColumnNames, complaints: Complaints
) -> Any:
    """Return the number of a row's group among the maps, as an expression that fails for groups without one."""
    kinds, columns, lost, shown = [], [], [], []
    for group in names.groups:
        column, kind = functions.col(quoted_name(group, "spark")), _kind(types[group])
        if kind is None:
            raise not_labels(group, f"its type is {types[group]}")
        kinds.append(kind)
        columns.append(column)
        is_floating = types[group] in ("float", "double")
        lost.append(column.isNull() | functions.isnan(column) if is_floating else column.isNull())
        written = (column.cast("double") if types[group] == "float" else column).cast("string")
        shown += [functions.lit(BETWEEN), functions.initcap(written) if kind == Kind.BOOLEAN else written]
    is_lost = reduce(or_, lost)
    if maps.of_missing is None:
        number = functions.when(is_lost, _failing(functions, complaints.missing, None))
    else:
        number = functions.when(is_lost, functions.lit(maps.of_missing))
    numbers = {label: position for position, label in enumerate(maps.maps)}
    for label, values in columns_of(maps, names, kinds):
        same = [column == functions.lit(_held(value)) for column, value in zip(columns, values, strict=True)]
        number = number.when(reduce(and_, same), functions.lit(numbers[label]))
    if maps.of_unseen is not None:
        return number.otherwise(functions.lit(maps.of_unseen))
    quote = functions.lit("'" if len(kinds) > 1 or kinds[0] == Kind.TEXT else "")
    return number.otherwise(_failing(functions, complaints.unseen, functions.concat(quote, *shown[1:], quote)))


def _kind(kind: str) -> Kind | None:
    """Return which values a type of Spark has, or None where they are not plain labels."""
    if kind.startswith(("string", "varchar", "char")):
        return Kind.TEXT
    if kind.startswith("decimal"):
        return Kind.DECIMAL
    if kind in _NUMBERS:
        return Kind.NUMBER
    return {"boolean": Kind.BOOLEAN, "date": Kind.DATE}.get(kind)


def _held(value: Any) -> Any:
    """Return a value as Spark takes it: it has no whole numbers of more than 64 bits."""
    is_long = isinstance(value, int) and not -(2**63) <= value < 2**63
    return Decimal(value) if is_long else value


def _failing(functions: Any, message: str, value: Any) -> Any:
    before, _, after = message.partition(VALUE)
    if value is None:
        return functions.raise_error(functions.lit(message))
    return functions.raise_error(functions.concat(functions.lit(before), value, functions.lit(after)))

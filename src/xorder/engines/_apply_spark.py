"""Score maps inside Spark: scores are checked and groups told apart by SQL, scores go through Arrow batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xorder._optional import import_optional
from xorder.engines._apply import adjusting
from xorder.engines._apply_duckdb import group_sql, score_sql
from xorder.engines._cells import ColumnNames
from xorder.engines._match_groups import GroupMaps, check_frame_columns


def map_spark(frame: Any, maps: GroupMaps, names: ColumnNames, into: str) -> Any:
    """Return the frame with one more column; nothing is computed yet.

    Executors need pyarrow and NumPy, which PySpark asks for anyway, and not xorder.
    """
    functions = import_optional("pyspark.sql.functions", extra="spark", purpose="Adjusting scores in Spark")
    types = dict(frame.dtypes)
    tells_case = str(frame.sparkSession.conf.get("spark.sql.caseSensitive")).lower() == "true"
    check_frame_columns(frame.columns, names, into=into, ignores_case=None if tells_case else "Spark")
    score = functions.expr(score_sql(types, names, dialect="spark"))
    number = functions.expr(group_sql(types, names, maps, range(maps.stays + 1), dialect="spark"))
    if any(score_map.raw.size for score_map in maps.maps.values()):
        in_batches = functions.arrow_udf(_in_batches(maps), "double")
        return frame.withColumn(into, in_batches(score, number))
    return frame.withColumn(into, score + 0 * number)


def _in_batches(maps: GroupMaps) -> Callable[..., Any]:
    pa = import_optional("pyarrow", extra="spark", purpose="Adjusting scores in Spark")
    adjust = adjusting(maps)

    def adjusted(score: Any, number: Any) -> Any:
        values = adjust(score.to_numpy(zero_copy_only=False), number.to_numpy(zero_copy_only=False))
        return pa.array(values)

    # Spark learns from these how the function is to be called.
    adjusted.__annotations__ = dict.fromkeys(("score", "number", "return"), pa.Array)
    return adjusted

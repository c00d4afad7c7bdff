"""The table of NYC Local Law 144, of rows wherever they are."""

from __future__ import annotations

from typing import Any

from xorder._progress import Progress
from xorder.engines._cells import ColumnNames, GroupNames
from xorder.engines._tables import BINS, tables_of
from xorder.metrics._ll144 import ll144_of
from xorder.metrics._sheet import AuditTable


def ll144_frame(
    frame: Any,
    *,
    score: str,
    group: GroupNames,
    suppress: int | None = None,
    bins: int = BINS,
    encoding: str = "utf-8",
    progress: Progress | None = None,
    memory: str = "2GB",
) -> AuditTable:
    """Scoring rates and impact ratios of a score, as NYC Local Law 144 asks for, where the rows are.

    Guarantee: exact, however many rows and scores there are; nothing but sums over the rows is kept, except of small
    files.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.Table, DuckDBPyRelation, \
            pyspark.sql.DataFrame, str or path
        The rows, or the path or glob of parquet or csv files.
    score : str
        The column of the score; higher is better.
    group : str or list of str
        The column of the categories, or several, such as ``["sex", "race"]``. A category is unknown where it is
        missing, blank, or the word "unknown", in any case.
    suppress : int, optional
        Show no row with a count from 1 up to less than this, as in :func:`xorder.metrics.ll144`.
    bins : int, default=1572864
        Scores are counted one by one if there are at most that many, and else only around the median.
    encoding : str, default="utf-8"
        The encoding of csv files.
    progress : callable, optional
        Called with what is being done and, if that is known, the share that is done.
    memory : str, default="2GB"
        How much memory DuckDB may use for files.

    Returns
    -------
    AuditTable
        The table of :func:`xorder.metrics.ll144`.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"fit": [1, 2, 3, 4, 5, 6], "sex": ["f", "f", "m", "f", "m", "m"]})
    >>> found = ll144_frame(frame, score="fit", group="sex")
    >>> [(row["category"], row["above_median"], row["impact_ratio"]) for row in found.rows[1:]]
    [('f', 1, 0.5), ('m', 2, 1.0)]
    """
    # The median is told apart however scores are binned, and nothing else is asked of the tables.
    asked: dict[str, Any] = {"label": None, "as_text": True, "binning_tolerance": 1, "apart": True, "bins": bins}
    tables = tables_of(frame, score=score, group=group, encoding=encoding, progress=progress, memory=memory, **asked)
    return ll144_of(tables, ColumnNames(score, group).groups, suppress)

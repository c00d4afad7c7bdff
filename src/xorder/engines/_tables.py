"""Tables of rows wherever they are: exact where distinct scores are few, binned where not; and an audit of them."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from xorder._arrays import LEAST_MASS, MOST_MASS
from xorder._atomic import unchanged
from xorder._groups import check_group_choices, is_missing, look_alike, notes_on_missing, written
from xorder._metric import METRICS
from xorder._parameters import WeightKind, check_confidence, check_number, check_weights_are, check_whole
from xorder._progress import Progress
from xorder._table import BinningError, FloatArray, HeldRows, IntArray, ScoreTable, Tables
from xorder._validation import check_clusters, no_cluster, notes_on_counts, out_of_range
from xorder.engines._cells import FRAME, ColumnNames, GroupNames, ReadingOptions, no_rows
from xorder.engines._sources import LARGE, FileReading, file_kind, find_files, in_engine, open_rows, open_small_file
from xorder.engines._tally import Bins, Leaves, Seen, Tally, check_same, in_use, split_leaves, totals_of
from xorder.engines._tally_numpy import scores_of
from xorder.exceptions import InputError
from xorder.metrics._audit import Audit
from xorder.metrics._compare import Comparison, compare_tables
from xorder.metrics._cuts import CUTS, Cut
from xorder.metrics._make_audit import audit_tables

# Bins by default: enough for a tolerance of 1e-6 wherever scores have a density.
BINS = 3 << 19

# Fewest parts that a leaf is cut into where its scores cannot all be told apart.
_FEWEST_PARTS = 16
_MOST_SPLITS = 4
# Rows that a file read row by row has at the most.
_MOST_ROWS = 1 << 31
# A split that leaves more than this of the error is the last.
_WORTHWHILE = 0.9

# Rows as long as they can be read, and what to call them.
_Source = AbstractContextManager[tuple[Tally, str]]


def audit_frame(
    frame: Any,
    *,
    score: str,
    label: str,
    group: GroupNames,
    weight: str | None = None,
    weights_are: WeightKind = "counts",
    cuts: Sequence[Cut] = CUTS,
    confidence: float = 0.95,
    positive: Any = None,
    missing_group: str = "error",
    binning_tolerance: float = 1e-6,
    bins: int = BINS,
    progress: Progress | None = None,
    memory: str = "2GB",
    cluster: str | None = None,
    tolerance: float | None = None,
) -> Audit:
    """Audit how a score ranks the members of different groups, where the rows are.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.Table, DuckDBPyRelation, \
            pyspark.sql.DataFrame, str or path
        The rows, or the path or glob of parquet or csv files. No more than sums over the rows is kept of many.
    score : str
        The column of the score.
    label : str
        The column of the label: 0 and 1, false and true, or text of these.
    group : str or list of str
        The column of the group; of several, each combination of values is a group, called ``Black & female``. A row
        without a value in one of them has no group.
    weight : str, optional
        The column of the weights.
    weights_are : {"counts", "sampling"}, default="counts"
        What weights mean, as in :func:`xorder.audit`.
    cuts : sequence of float, int or Threshold, default=(0.01, 0.05, 0.1, 0.2)
        Cuts of the list to report, as in :func:`xorder.audit`.
    confidence : float, default=0.95
        Level of the intervals.
    positive : object, optional
        The value of the label that counts as 1, all others being 0.
    missing_group : {"error", "leave", "group"}, default="error"
        Whether rows without a group are refused, left out, or a group of their own, named ``"missing"``.
    binning_tolerance : float, default=1e-6
        How far binning may move AUC and gaps where there are more distinct scores than ``bins``.
    bins : int, default=1572864
        Scores are told apart exactly if there are at most that many.
    progress : callable, optional
        Called with what is being done and, if that is known, the share that is done.
    memory : str, default="2GB"
        How much memory DuckDB may use for files.
    cluster : str, optional
        The column of who or what each row belongs to, as ``clusters`` of :func:`xorder.audit`. The rows are then read
        once more, and held in memory.
    tolerance : float, optional
        Widest xAUC gap that is tolerated, as in :func:`xorder.audit`.

    Returns
    -------
    Audit
        The audit. What binning can have moved is in its ``binning_error``, which is None where all scores were told
        apart.

    Raises
    ------
    InputError
        If rows cannot be used. Where rows have an order, the first is named: rows are counted from 0, lines of a csv
        file from 1.

    Examples
    --------
    >>> import polars
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(2000)
    >>> frame = polars.LazyFrame({"risk": people.y_score, "died": people.y_true, "sex": people.group})
    >>> found = audit_frame(frame, score="risk", label="died", group="sex")
    >>> round(found.gap("xauc").value, 3), found.binning_error
    (0.231, None)
    """
    check_confidence(confidence)
    tables = tables_of(
        frame,
        score=score,
        label=label,
        group=group,
        weight=weight,
        weights_are=weights_are,
        positive=positive,
        missing_group=missing_group,
        binning_tolerance=binning_tolerance,
        bins=bins,
        progress=progress,
        memory=memory,
        cluster=cluster,
    )
    return audit_tables(tables, cuts=cuts, confidence=confidence, tolerance=tolerance)


def compare_frame(
    frame: Any,
    *,
    score: str,
    other: str | Sequence[str],
    label: str,
    group: GroupNames,
    weight: str | None = None,
    weights_are: WeightKind = "counts",
    cluster: str | None = None,
    cuts: Sequence[Cut] = CUTS,
    confidence: float = 0.95,
    positive: Any = None,
    missing_group: str = "error",
    progress: Progress | None = None,
    memory: str = "2GB",
) -> Comparison:
    """Compare two or more scores of the same people, where the rows are.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.Table, DuckDBPyRelation, str or path
        The rows, as in :func:`audit_frame`; their scores are held in memory.
    score : str
        The column of the first score.
    other : str or sequence of str
        The column of the other score, or several.
    label : str
        The column of the label.
    group : str or list of str
        The column of the group, or several.
    weight : str, optional
        The column of the weights.
    weights_are : {"counts", "sampling"}, default="counts"
        What weights mean, as in :func:`xorder.audit`.
    cluster : str, optional
        The column of who or what each row belongs to.
    cuts : sequence of float, int or Threshold, default=(0.01, 0.05, 0.1, 0.2)
        Cuts of the list to compare, as in :func:`xorder.audit`.
    confidence : float, default=0.95
        Confidence of the intervals.
    positive : object, optional
        The value of the label that counts as 1, all others being 0.
    missing_group : {"error", "leave", "group"}, default="error"
        Whether rows without a group are refused, left out, or a group of their own, named ``"missing"``.
    progress : callable, optional
        Called with what is being done and, if that is known, the share that is done.
    memory : str, default="2GB"
        How much memory DuckDB may use for files.

    Returns
    -------
    Comparison
        Differences in AUC, gaps and cuts: each other score less the first.
    """
    others = [other] if isinstance(other, str) else list(other)
    tables = tables_of(
        frame,
        score=score,
        label=label,
        group=group,
        weight=weight,
        weights_are=weights_are,
        positive=positive,
        missing_group=missing_group,
        progress=progress,
        memory=memory,
        cluster=cluster,
        others=others,
    )
    return compare_tables(tables, others, cuts=cuts, confidence=confidence)


def tables_of(
    source: Any,
    *,
    score: str,
    label: str | None,
    group: GroupNames,
    weight: str | None = None,
    weights_are: WeightKind = "counts",
    positive: Any = None,
    missing_group: str = "error",
    as_text: bool = False,
    binning_tolerance: float = 1e-6,
    bins: int = BINS,
    encoding: str = "utf-8",
    progress: Progress | None = None,
    memory: str = "2GB",
    large: int = LARGE,
    cluster: str | None = None,
    others: Sequence[str] = (),
    apart: bool = False,
) -> Tables:
    """Build one table per group from rows in any engine, or in files.

    The tables are the same for the same rows, whatever engine holds them.

    A small csv file is read row by row, without an engine, and an error names its line; so is a small parquet file with
    ``as_text``. Other files go through DuckDB. A single csv file is read row by row, too, where DuckDB refuses what row
    by row nothing is wrong with: lines that end in different ways, columns whose names differ in case alone, encodings
    other than UTF-8.

    Guarantee: no more than sums over the rows, and at most 128 MB of rows between two passes, is kept; memory does not
    grow with files that go through DuckDB.

    Parameters
    ----------
    source : pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.Table, DuckDBPyRelation, \
            pyspark.sql.DataFrame, str or path
        The rows, or the path or glob of parquet or csv files. What is lazy stays lazy. Groups of csv files are text.
    score : str
        The column of the score.
    label : str or None
        The column of the label: 0 and 1, false and true, or text of these. With ``apart`` it may be None: all rows are
        negatives then.
    group : str or list of str
        The column of the group, or several, as in :func:`audit_frame`.
    weight : str, optional
        The column of the weights.
    weights_are : {"counts", "sampling"}, default="counts"
        What weights mean; ``"sampling"`` adds up squared weights too.
    positive : object, optional
        The value of the label that counts as 1, all others being 0.
    missing_group : {"error", "leave", "group"}, default="error"
        Whether rows without a group are refused, left out, or a group of their own, named ``"missing"``.
    as_text : bool, default=False
        Whether to take groups of files as they are written, whatever their type; small parquet files need no DuckDB
        then.
    binning_tolerance : float, default=1e-6
        Largest error of binning wanted, of AUC and of each gap.
    bins : int, default=1572864
        Scores are told apart exactly if there are at most that many; otherwise they are put into about that many bins,
        of widths that suit their density. Where that moves a metric by more than the tolerance, the heaviest bins are
        split in further passes. Files that are read row by row are exact.
    encoding : str, default="utf-8"
        The encoding of csv files.
    progress : callable, optional
        Called with what is being done and, if that is known, the share that is done.
    memory : str, default="2GB"
        How much memory DuckDB may use for files.
    large : int, default=67108864
        Bytes, unpacked, from which on a single file goes through DuckDB.
    cluster : str, optional
        The column of what each row belongs to; the rows are then held in memory, in a second pass.
    others : sequence of str, default=()
        Columns of other scores, held likewise.
    apart : bool, default=False
        Whether a group is a list of texts, written as JSON, one per column of the group and empty where there is no
        value, so that no row is without a group. The rows at the median of all scores are then told apart, however
        many scores there are.

    Returns
    -------
    Tables
        The tables, a mapping of each group to its :class:`ScoreTable`.

    Raises
    ------
    InputError
        If rows cannot be used, as in :func:`audit_frame`.
    """
    names = ColumnNames(score, group, label, weight, cluster, tuple(others))
    if label is None and not apart:
        raise InputError("label must be the name of a column; got None.")
    check_number("binning_tolerance", binning_tolerance, at_least=0)
    check_whole("bins", bins)
    check_group_choices(missing_group)
    check_weights_are(weights_are)
    squares = weights_are == "sampling" and weight is not None
    options = ReadingOptions(names, positive, missing_group, squares, encoding, memory, progress, apart)

    def built(source: _Source, limit: int | None = None) -> Tables:
        found = _built(source, names, squares, binning_tolerance, limit or bins, apart)
        return _as_written(found) if as_text else found

    if not isinstance(source, str | os.PathLike):
        return built(open_rows(source, options))
    files = find_files(source)
    # Others are not read by DuckDB.
    is_utf_8 = encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")
    if not is_utf_8 and len(files) > 1:
        raise InputError(f"{os.fspath(source)} names {len(files):,} files, which are read as utf-8 only; convert them.")

    def row_by_row() -> Tables:
        # As many as there can be rows: these are told apart, however many there are.
        return built(nullcontext(open_small_file(files[0], options)), _MOST_ROWS)

    is_csv = file_kind(files[0]) == "csv"
    with unchanged(files):
        if not is_utf_8 or ((is_csv or as_text) and not in_engine(files, large)):
            return row_by_row()
        try:
            return built(open_rows(source, options))
        except InputError:
            # Read row by row, the same complaint names the line.
            among = len(files) > 1
            for file in files if is_csv or as_text or not among else ():
                FileReading(file, options, among=among).check()
            if among or not is_csv:
                raise
            return row_by_row()


def _built(
    source: _Source, names: ColumnNames, squares: bool, tolerance: float, bins: int, middle_apart: bool
) -> Tables:
    """Tally the rows, and make a table of each group."""
    notes: list[str] = []
    with source as (rows, called):
        seen, found = rows.survey(bins)
        _check_seen(seen, names, called)
        groups, error = rows.coding.groups, None
        if found.shift == 0:
            leaves = Leaves(found.keys, found.keys, found.sums)
        else:
            cells = Bins.for_masses(found.keys, found.sums[0], bins)
            leaves = cells.leaves(rows.fill(cells))
            check_same(found.sums[0], leaves.masses)
            leaves, error, notes = _refined(rows, leaves, tolerance, bins)
            if middle_apart:
                leaves = _median_apart(rows, leaves)
                error = binning_error(groups, leaves)
            error = None if leaves.is_exact[in_use(leaves.sums)].all() else error
        held = _held(rows, names, called) if names.more else None
    # The middle of a bin; of the outermost, no score beyond those there are: probabilities stay such.
    score = np.clip(scores_of(leaves.first + (leaves.last - leaves.first) // 2), seen.low, seen.high) + 0.0
    sums, counted = leaves.sums, seen.rows - seen.left_out
    # What was kept of rows, and by DuckDB, is no longer needed, and makes room for the tables.
    del rows, found, leaves
    if names.weight is not None and not squares:
        total = float(sums[0].sum())
        notes += notes_on_counts(f"column {names.weight!r}", seen.whole_weights, total, counted)
    notes += [*look_alike(groups), *notes_on_missing(seen.left_out)]
    return Tables(
        {group: _table(score, sums[:, :, 2 * g : 2 * g + 2]) for g, group in enumerate(groups)},
        rows=counted,
        binning_error=error,
        notes=tuple(notes),
        weighted=names.weight is not None,
        held=held,
        columns={"score": names.score, "group": [names.group] if isinstance(names.group, str) else list(names.group)},
    )


def _held(rows: Tally, names: ColumnNames, source: str) -> HeldRows:
    """Collect the rows, in a pass of their own."""
    found, clusters = rows.collect(), None
    *others, last = (found.score, *found.more) if names.cluster is not None else (found.score, *found.more, None)
    if last is not None:
        blanks = source != FRAME
        if last.dtype == object and any(is_missing(label, blanks=blanks) for label in {*last.tolist()}):
            lost = sum(is_missing(label, blanks=blanks) for label in last.tolist())
            raise no_cluster(f"{'' if source == FRAME else f'{source}: '}column {names.cluster!r}", lost)
        clusters = check_clusters(last, last.size)
    scores = tuple(np.asarray(each, dtype=np.float64) for each in others)
    for name, score in zip(names.others, scores[1:], strict=True):
        if not np.isfinite(score).all():
            lost = int(np.count_nonzero(~np.isfinite(score)))
            raise InputError(f"column {name!r} must be finite; {lost:,} rows hold nothing, nan or inf.")
    code = found.code.astype(np.int64)
    return HeldRows(rows.coding.groups, code // 2, code % 2 == 1, found.weight, scores, clusters)


def _check_seen(seen: Seen, names: ColumnNames, source: str) -> None:
    """Refuse rows that cannot be used, in the words of an audit of arrays; none is dropped."""
    if not seen.rows:
        raise no_rows(source)
    within = "" if source == FRAME else f"{source}: "
    if seen.missing or seen.infinite:
        kinds = ((seen.missing, "nothing or nan"), (seen.infinite, "inf or -inf"))
        came = " and ".join(
            f"{count:,} {'row holds' if count == 1 else 'rows hold'} {what}" for count, what in kinds if count
        )
        raise InputError(f"{within}column {names.score!r} must be finite; {came}. Remove these rows or score them.")
    if names.weight is None:
        return
    weight = f"{within}column {names.weight!r}"
    if seen.bad_weights:
        raise InputError(
            f"{weight} must be finite and not negative; {seen.bad_weights:,} "
            f"{'row is' if seen.bad_weights == 1 else 'rows are'} not. Correct or remove them."
        )
    if not seen.largest_weight:
        raise InputError(f"{weight} must be above 0 for some row; all weights are zero.")
    if seen.least_weight < LEAST_MASS or seen.largest_weight > MOST_MASS:
        raise out_of_range(weight, seen.least_weight, seen.largest_weight)


def _table(score: FloatArray, sums: FloatArray) -> ScoreTable:
    """Return the table of a group with these sums, highest score first, of the leaves in which it is present."""
    kept = in_use(sums[:1])[::-1]
    return ScoreTable._owning(score[::-1][kept], *(each[::-1, side][kept] for each in sums for side in (1, 0)))


def _as_written(found: Tables) -> Tables:
    """Groups as text, sorted as such; values that are written alike, such as 1 and '1', are refused."""
    names = {group: written(group) for group in sorted(found, key=written)}
    if len(set(names.values())) < len(names):
        raise InputError("the group column has values that are written alike but differ, such as 1 and '1'.")
    return replace(
        found,
        by_group={names[group]: table for group, table in found.items()},
        binning_error=None if found.binning_error is None else found.binning_error.renamed(names),
        held=None if found.held is None else found.held._replace(labels=tuple(map(written, found.held.labels))),
    )


def _refined(rows: Tally, leaves: Leaves, tolerance: float, bins: int) -> tuple[Leaves, BinningError, list[str]]:
    """Split the heaviest leaves until the tolerance is met; say why where it cannot be."""
    groups = rows.coding.groups
    error, before, splits = binning_error(groups, leaves), np.inf, 0
    while (reached := error.largest) > tolerance and splits < _MOST_SPLITS and reached <= _WORTHWHILE * before:
        most = max(1, bins // _FEWEST_PARTS)
        leaves = _split(rows, leaves, heavy_leaves(groups, leaves, tolerance=tolerance, most=most), bins)
        error, before = binning_error(groups, leaves), reached
        splits += 1
    if reached <= tolerance:
        return leaves, error, []
    why = (
        f"binning can have moved AUC or a gap by {reached:.2g}, more than the tolerance {tolerance:g}, also after the "
        f"heaviest bins were split {splits} {'time' if splits == 1 else 'times'}; allow more than {bins:,} with bins=."
    )
    return leaves, error, [why]


def _median_apart(rows: Tally, leaves: Leaves) -> Leaves:
    """Split the leaves that hold the median, or the two scores around it, until their rows truly tie."""
    while True:
        below = leaves.masses.sum(axis=1).cumsum()
        middle = np.searchsorted(below, [(below[-1] - 1) // 2, below[-1] // 2], side="right")
        if leaves.is_exact[middle].all():
            return leaves
        leaves = _split(rows, leaves, middle[~leaves.is_exact[middle]], BINS)


def _split(rows: Tally, leaves: Leaves, numbers: IntArray, limit: int) -> Leaves:
    """Return the leaves with those of these numbers split, in another pass over the rows."""
    chosen = np.zeros(len(leaves), dtype=bool)
    chosen[numbers] = True
    heavy = leaves[chosen]
    parts = split_leaves(heavy, rows.split(heavy, limit))
    check_same(heavy.masses, parts.masses)
    return leaves[~chosen] + parts


# Leaves are split until the rest contributes at most this share of the tolerance,
_BELOW = 0.9
# or this share of the error there is: the few leaves that make up most of it are split as finely as can be.
_MOST_OF_IT = 0.05


def binning_error(groups: tuple[Hashable, ...], leaves: Leaves) -> BinningError:
    """Bound what the leaves that are not exact can have moved."""
    masses, is_exact = leaves.masses, leaves.is_exact
    return _error(groups, masses[~is_exact] if is_exact.any() else masses, totals_of(masses))


def heavy_leaves(groups: tuple[Hashable, ...], leaves: Leaves, *, tolerance: float, most: int) -> IntArray:
    """Choose the fewest leaves, at most ``most``, without which the error is below the tolerance, or far less."""
    totals = totals_of(leaves.masses)
    inexact = np.flatnonzero(~leaves.is_exact)
    share = leaves.masses[inexact] * _inverse(totals)
    # The sum over all pairs of samples is no less than what any metric has of a leaf.
    weight = share.sum(axis=1) ** 2 - (share**2).sum(axis=1)
    order = np.argsort(-weight, kind="stable")[: np.count_nonzero(weight > 0)]
    masses = leaves.masses[inexact[order]]
    wanted = max(_BELOW * tolerance, _MOST_OF_IT * _error(groups, masses, totals).largest)

    def suffices(split: int) -> bool:
        return _error(groups, masses[split:], totals).largest <= wanted

    fewest = bisect_left(range(min(most, order.size)), True, key=suffices)
    return np.sort(inexact[order[:fewest]])


def _error(groups: tuple[Hashable, ...], masses: FloatArray, totals: FloatArray) -> BinningError:
    tied = masses.T @ masses
    n0, n1 = totals[0::2], totals[1::2]
    between = 0.5 * tied[1::2, 0::2]
    xauc = between * np.outer(_inverse(n1), _inverse(n0))
    of_all_negatives, of_all_positives = _inverse(np.array([n0.sum(), n1.sum()])).tolist()
    prf: FloatArray = between.sum(axis=1) * _inverse(n1) * of_all_negatives
    negative_share = n0 * of_all_negatives
    auc = float(between.sum()) * of_all_positives * of_all_negatives
    size = len(groups)
    rows = _inverse(n0 + n1)
    above = 0.5 * tied.reshape(size, 2, size, 2).sum(axis=(1, 3)) * np.outer(rows, rows)
    # Both sides of a gap are linear in the chances, with coefficients from 0 up: so is what they can be off by.
    sides = {name: metric.side(xauc if metric.by_label else above, negative_share) for name, metric in METRICS.items()}
    gaps = {
        (name, (groups[a], groups[b])): float(side[a, b] + side[b, a])
        for name, side in sides.items()
        for a, b in combinations(range(size), 2)
    }
    return BinningError(groups, auc, xauc, dict(zip(groups, prf.tolist(), strict=True)), gaps)


def _inverse(totals: FloatArray) -> FloatArray:
    """One over each total; 0 where there is nothing at all."""
    return np.divide(1.0, totals, out=np.zeros(totals.shape), where=totals > 0)

"""The report: rows or tables in, numbers and one HTML page out."""

from __future__ import annotations

import hashlib
import html
import importlib.metadata
import os
import platform
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from xorder._atomic import atomic_path, file_path
from xorder._groups import BETWEEN
from xorder._parameters import HIGH_IS, HighIs, WeightKind, check_confidence, check_kind, check_number, check_word
from xorder._present import gap_title, number
from xorder._table import ScoreTable, Tables, as_tables
from xorder.estimators._expected import rows_and_tables
from xorder.exceptions import InputError
from xorder.reporting._numbers import Drawn, report_numbers
from xorder.reporting._page import display_names, render
from xorder.reporting._text import summary

if TYPE_CHECKING:
    from xorder._progress import Progress
    from xorder.engines._cells import GroupNames
    from xorder.estimators import FittedRepair, XOrder

_COLUMNS = ("score", "label", "group")
_SAID = ("model", "period", "author")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Report:
    """A report, made by :func:`report` or :func:`report_tables`: its numbers, and the page that prints them.

    Parameters
    ----------
    numbers : dict
        Every number of the report.
    drawn : object
        What is only drawn on the page: thinned curves.
    """

    numbers: dict[str, Any]
    drawn: Drawn

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the report as plain lists and numbers, ready for JSON.

        Returns
        -------
        dict
            The numbers; ``None`` is what is not known.
        """
        return self.numbers

    def html(self) -> str:
        """Return the page.

        Returns
        -------
        str
            One HTML document that needs nothing else.
        """
        return render(self.numbers, self.drawn)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the page to a file; it appears when it is complete.

        Parameters
        ----------
        path : str or path-like
            The file.
        overwrite : bool, default=False
            Whether to replace it if it exists.
        """
        text = self.html()
        with atomic_path(path, overwrite=overwrite) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")

    def __repr__(self) -> str:
        """Return what was found in one line."""
        said = summary(self.numbers, display_names(self.numbers), "with the outcome")
        metric, value = self.numbers["metric"], self.numbers["finding"].get("value")
        gap = "" if value is None else f", {gap_title(metric)} {number(value)}"
        return f"<Report: {said['headline']}; {len(self.numbers['groups'])} groups{gap}>"

    def __str__(self) -> str:
        """Return the page's first paragraph."""
        said = summary(self.numbers, display_names(self.numbers), "with the outcome")
        return "\n".join([f"{said['headline']}.", *said["sentences"], *said["cost"]])

    def _repr_html_(self) -> str:
        # In a frame of its own, so that neither its style nor its script meets those of the notebook.
        return (
            '<iframe sandbox="allow-scripts allow-downloads" title="xorder report" '
            f'style="width: 100%; height: 40rem; border: 0" srcdoc="{html.escape(self.html())}"></iframe>'
        )


def report(
    y_true: Any,
    y_score: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    repair: XOrder | None = None,
    metric: str | None = None,
    names: Mapping[str, str] | None = None,
    title: str | None = None,
    high_is: HighIs | None = None,
    model: str | None = None,
    period: str | None = None,
    author: str | None = None,
    tolerance: float | None = None,
    confidence: float = 0.95,
    weights_are: WeightKind = "counts",
    missing_group: str = "error",
    source: str | os.PathLike[str] | None = None,
    clusters: Any = None,
) -> Report:
    """Report how a score ranks people of different groups, for readers who do not read code.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, 1 for the positive class, 0 for the other.
    y_score : array-like of shape (n_samples,)
        Scores; the higher, the higher the rank.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row; any labels, two groups or more.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    repair : XOrder, default=None
        Fitted repair whose effect on these rows is reported; without one, what a repair could do.
    metric : {"xauc", "prf", "parity"}, default=None
        The gap to speak of; by default that of ``repair``, or xAUC.
    names : mapping, default=None
        What the columns are called, by the keys ``"score"``, ``"label"`` and ``"group"``.
    title : str, default=None
        Title of the page.
    high_is : {"help", "burden"}, default=None
        What a high place in the list brings: a bed, or a suspicion. Without it nobody is said to be ranked too low or
        too high.
    model, period, author : str, default=None
        What the page says of where the score comes from, when the rows were gathered, and who made it.
    tolerance : float, default=None
        Widest gap that is tolerated between any two groups; the page says whether all are within it.
    confidence : float, default=0.95
        Confidence of the intervals.
    weights_are : {"counts", "sampling"}, default="counts"
        What weights mean for the uncertainty, as in :func:`xorder.audit`.
    missing_group : {"error", "leave", "group"}, default="error"
        What to do with rows whose group is missing, as in :func:`xorder.audit`.
    source : str or path-like, default=None
        The file that the rows come from; its name and SHA-256 are noted on the page.
    clusters : array-like of shape (n_samples,), default=None
        Who or what each row belongs to, as in :func:`xorder.audit`.

    Returns
    -------
    Report
        The numbers, and the page.

    Raises
    ------
    InputError
        If there is only one group, or an argument is not what it must be.

    Examples
    --------
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(1000)
    >>> found = report(people.y_true, people.y_score, sensitive_features=people.group)
    >>> found.to_dict()["finding"]["verdict"], round(found.to_dict()["finding"]["value"], 3)
    ('clear', 0.229)
    """
    choices = {"weights_are": weights_are, "missing_group": missing_group}
    _, tables = rows_and_tables(y_true, y_score, sensitive_features, sample_weight, clusters, **choices)
    about = About(names, title, high_is, model, period, author, source)
    return report_fitted(tables, _fitted(repair), about, metric=metric, tolerance=tolerance, confidence=confidence)


def report_frame(
    frame: Any,
    *,
    score: str,
    label: str,
    group: GroupNames,
    weight: str | None = None,
    weights_are: WeightKind = "counts",
    cluster: str | None = None,
    positive: Any = None,
    missing_group: str = "error",
    repair: XOrder | None = None,
    metric: str | None = None,
    title: str | None = None,
    high_is: HighIs | None = None,
    model: str | None = None,
    period: str | None = None,
    author: str | None = None,
    tolerance: float | None = None,
    confidence: float = 0.95,
    progress: Progress | None = None,
    memory: str = "2GB",
) -> Report:
    """Report how a score ranks people of different groups, where the rows are.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.Table, DuckDBPyRelation, \
            pyspark.sql.DataFrame, str or path
        The rows, or the path or glob of parquet or csv files, as in :func:`xorder.audit_frame`. What is lazy stays
        lazy; of a single file the page notes name and SHA-256.
    score : str
        The column of the score.
    label : str
        The column of the label.
    group : str or list of str
        The column of the group, or several, of which each combination is a group.
    weight : str, optional
        The column of the weights.
    weights_are : {"counts", "sampling"}, default="counts"
        What weights mean for the uncertainty, as in :func:`xorder.audit`.
    cluster : str, optional
        The column of who or what each row belongs to, as in :func:`xorder.audit_frame`.
    positive : object, optional
        The value of the label that counts as 1, all others being 0.
    missing_group : {"error", "leave", "group"}, default="error"
        What to do with rows whose group is missing, as in :func:`xorder.audit`.
    repair : XOrder, default=None
        Fitted repair whose effect on these rows is reported; without one, what a repair could do.
    metric : {"xauc", "prf", "parity"}, default=None
        The gap to speak of; by default that of ``repair``, or xAUC.
    title : str, default=None
        Title of the page.
    high_is : {"help", "burden"}, default=None
        What a high place in the list brings, as in :func:`report`.
    model, period, author : str, default=None
        What the page says of where the score comes from, when the rows were gathered, and who made it.
    tolerance : float, default=None
        Widest gap that is tolerated between any two groups; the page says whether all are within it.
    confidence : float, default=0.95
        Confidence of the intervals.
    progress : callable, optional
        Called with what is being done and, if that is known, the share that is done.
    memory : str, default="2GB"
        How much memory DuckDB may use for files.

    Returns
    -------
    Report
        As from :func:`report`.

    Raises
    ------
    InputError
        If rows cannot be used, as in :func:`xorder.audit_frame`.

    Examples
    --------
    >>> import polars
    >>> from xorder.datasets import simulate_population
    >>> people = simulate_population(1000)
    >>> frame = polars.LazyFrame({"risk": people.y_score, "died": people.y_true, "sex": people.group})
    >>> report_frame(frame, score="risk", label="died", group="sex", high_is="help")
    <Report: Group B is ranked too low; 2 groups, xAUC gap 0.2286>
    """
    from xorder.engines import tables_of

    columns: dict[str, Any] = {"score": score, "label": label, "group": group}
    weights: dict[str, Any] = {"weight": weight, "weights_are": weights_are, "cluster": cluster}
    read: dict[str, Any] = {"positive": positive, "missing_group": missing_group, "progress": progress}
    tables = tables_of(frame, **columns, **weights, **read, memory=memory)
    # A pattern has no one file to be named.
    source = frame if isinstance(frame, str | os.PathLike) and file_path(frame).is_file() else None
    columns["group"] = BETWEEN.join([group] if isinstance(group, str) else group)
    about = About(columns, title, high_is, model, period, author, source)
    return report_fitted(tables, _fitted(repair), about, metric=metric, tolerance=tolerance, confidence=confidence)


def report_tables(
    tables: Tables | Mapping[Hashable, ScoreTable],
    *,
    repair: XOrder | None = None,
    metric: str | None = None,
    names: Mapping[str, str] | None = None,
    title: str | None = None,
    high_is: HighIs | None = None,
    model: str | None = None,
    period: str | None = None,
    author: str | None = None,
    tolerance: float | None = None,
    confidence: float = 0.95,
    source: str | os.PathLike[str] | None = None,
) -> Report:
    """Report on tables that are already built, such as those of rows that stay in a database.

    Parameters
    ----------
    tables : mapping
        Group -> :class:`xorder.ScoreTable`.
    repair : XOrder, default=None
        Fitted repair whose effect on these rows is reported; without one, what a repair could do.
    metric : {"xauc", "prf", "parity"}, default=None
        The gap to speak of; by default that of ``repair``, or xAUC.
    names : mapping, default=None
        What the columns are called, by the keys ``"score"``, ``"label"`` and ``"group"``.
    title : str, default=None
        Title of the page.
    high_is : {"help", "burden"}, default=None
        What a high place in the list brings: a bed, or a suspicion. Without it nobody is said to be ranked too low or
        too high.
    model, period, author : str, default=None
        What the page says of where the score comes from, when the rows were gathered, and who made it.
    tolerance : float, default=None
        Widest gap that is tolerated between any two groups; the page says whether all are within it.
    confidence : float, default=0.95
        Confidence of the intervals.
    source : str or path-like, default=None
        The file that the rows come from; its name and SHA-256 are noted on the page.

    Returns
    -------
    Report
        As from :func:`report`.
    """
    about = About(names, title, high_is, model, period, author, source)
    return report_fitted(tables, _fitted(repair), about, metric=metric, tolerance=tolerance, confidence=confidence)


class About(NamedTuple):
    """What a page says of itself: its words, and where its numbers come from; ``saved`` is the file of the map."""

    names: Mapping[str, str] | None = None
    title: str | None = None
    high_is: HighIs | None = None
    model: str | None = None
    period: str | None = None
    author: str | None = None
    source: str | os.PathLike[str] | None = None
    saved: str | os.PathLike[str] | None = None

    def facts(self) -> dict[str, Any]:
        """Check what was said, look up the files, and return it as numbers and text."""
        if self.high_is is not None:
            check_word("high_is", self.high_is, HIGH_IS)
        return {
            "title": "How the score ranks each group" if self.title is None else str(self.title),
            "high_is": self.high_is,
            "names": {key: str(name) for key, name in checked_names(self.names, _COLUMNS).items()},
            "about": {name: said and str(said) for name, said in self._asdict().items() if name in _SAID},
            "date": f"{_now():%Y-%m-%d}",
            "source": None if self.source is None else source_facts(self.source),
            "saved": None if self.saved is None else source_facts(self.saved),
            "versions": versions("xorder", "numpy", "scipy", "scikit-learn", "jinja2"),
        }


def report_fitted(
    tables: Tables | Mapping[Hashable, ScoreTable],
    repair: FittedRepair | None,
    about: About,
    *,
    metric: str | None,
    tolerance: float | None,
    confidence: float,
) -> Report:
    """Report on tables and on a repair without its estimator, which needs scikit-learn."""
    check_confidence(confidence)
    tables = as_tables(tables)
    empty = [group for group, table in tables.items() if not len(table)]
    if empty or len(tables) < 2:
        who = f"group {empty[0]!r} has none" if empty else "there is one group" if tables else "there are no groups"
        raise InputError(f"a report compares two groups or more, each with people; {who}.")
    if metric is None:
        metric = "xauc" if repair is None else repair.settings.metric
    if tolerance is not None:
        tolerance = check_number("tolerance", tolerance, at_least=0)
    facts = about.facts() | {"weighted": tables.weighted}
    numbers, drawn = report_numbers(
        tables, metric=metric, confidence=float(confidence), repair=repair, tolerance=tolerance
    )
    return Report(facts | numbers, drawn)


def _now() -> datetime:
    """Time of the report: now, or what SOURCE_DATE_EPOCH says, for pages that can be made again to the byte."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    return datetime.now(UTC) if fixed is None else datetime.fromtimestamp(int(fixed), UTC)


def _fitted(repair: XOrder | None) -> FittedRepair | None:
    if repair is None:
        return None
    if not hasattr(repair, "fitted_"):
        raise InputError("repair must be a fitted XOrder, such as xorder.load gives; fit it first.")
    return repair.fitted_.choosing(missing_group=repair.missing_group, unseen_group=repair.unseen_group)


def checked_names(names: Any, known: Sequence[str]) -> dict[str, Any]:
    """Return what columns are called; refuse others than those known."""
    given = {} if names is None else check_kind("names", names, Mapping, "a mapping of columns to their names")
    columns = {str(key): name for key, name in given.items()}
    if not set(columns) <= set(known):
        raise InputError(f"names must have keys among {', '.join(known)}; got {', '.join(columns)}.")
    return columns


def source_facts(source: str | os.PathLike[str]) -> dict[str, Any]:
    """Name, SHA-256 and size of a file."""
    path = file_path(source)
    try:
        with path.open("rb") as file:
            return {
                "name": path.name,
                "sha256": hashlib.file_digest(file, "sha256").hexdigest(),
                "bytes": path.stat().st_size,
            }
    except OSError as error:
        raise InputError(f"source must be a file that can be read; {path}: {error.strerror or error}.") from error


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python and of packages."""

    def version(package: str) -> str:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return "not known"

    return {"python": platform.python_version()} | {package: version(package) for package in packages}

"""ScoreTable and Tables: what arrays, frames and files turn into, and what all the rest works on instead of rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from xorder._arrays import LEAST_MASS, MOST_MASS, as_column, as_numbers, too_far_apart
from xorder._ranking import Ranking, rank_rows
from xorder.exceptions import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

Part = TypeVar("Part")

# Starting threads takes as long as sorting this many rows; on a busy machine far longer.
WORTH_THREADS = 50_000

# Scores per step of a sweep: few enough for its arrays to stay in the processor's cache, and for BLAS, which starts
# threads of its own for products of more than ten thousand, not to do so within ours.
STEP = 8_192

# Rows per step of moving scores: few enough for no step to take much room, and many enough for each of many groups.
_MOVED = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Mass of positives and negatives at each distinct score of one group, highest score first.

    Ties and sample weights are settled here, once: rows with the same score become one entry, and a row of
    weight 2 adds as much as two rows. Entries without mass are left out. The arrays are read-only.

    Where weights come from a sampling design, a row of large weight is still one row; ``positive_squares`` and
    ``negative_squares``, the sums of squared weights, say how uncertain the masses are. Where masses count rows, they
    are None.

    Parameters
    ----------
    score : array-like of shape (n_scores,)
        Distinct scores, falling.
    positive : array-like of shape (n_scores,)
        Mass of the positives at each score.
    negative : array-like of shape (n_scores,)
        Mass of the negatives at each score.
    positive_squares : array-like of shape (n_scores,), optional
        Sum of the squared weights of the positives at each score.
    negative_squares : array-like of shape (n_scores,), optional
        Sum of the squared weights of the negatives at each score.

    Examples
    --------
    >>> table = ScoreTable.from_arrays([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1])
    >>> table.score, table.positive, table.negative
    (array([0.9, 0.4, 0.1]), array([1., 1., 0.]), array([0., 1., 1.]))
    """

    score: FloatArray
    positive: FloatArray
    negative: FloatArray
    positive_squares: FloatArray | None = None
    negative_squares: FloatArray | None = None
    _totals: tuple[float, float] = field(init=False, repr=False)
    _pairs_within: float | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        if (self.positive_squares is None) != (self.negative_squares is None):
            raise InputError("a ScoreTable has sums of squared weights of both classes, or of neither.")
        for name in ("score", "positive", "negative", "positive_squares", "negative_squares"):
            if getattr(self, name) is None and name.endswith("squares"):
                continue
            column = np.ascontiguousarray(as_numbers(getattr(self, name), name), dtype=np.float64)
            if column.ndim != 1 or column.size != np.size(self.score):
                raise InputError("the columns of a ScoreTable must be one-dimensional and of one length.")
            if column.flags.writeable:
                # Somebody else may still write to it.
                column = column.copy()
                column.flags.writeable = False
            object.__setattr__(self, name, column)
        if self.score.size and not (np.isfinite(self.score[0]) and np.isfinite(self.score[-1])):
            raise InputError("the scores of a ScoreTable must be finite.")
        if not bool(np.all(self.score[1:] < self.score[:-1])):
            raise InputError("the scores of a ScoreTable must fall strictly, highest first.")
        for mass in self.sums:
            if mass.size and not 0 <= mass.min() <= mass.max() < np.inf:
                raise InputError("the masses of a ScoreTable must be finite and not negative.")
        if too_far_apart(self.positive) or too_far_apart(self.negative):
            raise InputError(f"the masses of a ScoreTable must be 0 or between {LEAST_MASS:g} and {MOST_MASS:g}.")
        if bool(np.any((self.positive == 0) & (self.negative == 0))):
            raise InputError("each score of a ScoreTable must have some mass.")
        object.__setattr__(self, "_totals", (float(self.positive.sum()), float(self.negative.sum())))

    @classmethod
    def from_arrays(cls, y_true: Any, y_score: Any, sample_weight: Any = None, *, squares: bool = False) -> ScoreTable:
        """Build the table of one group from its rows, in one sort.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels: 0 and 1, or booleans.
        y_score : array-like of shape (n_samples,)
            Finite scores.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; rows of weight 0 add nothing.
        squares : bool, default=False
            Whether to keep the sums of squared weights, for weights that come from a sampling design.

        Returns
        -------
        ScoreTable
            The table.
        """
        label, score = as_column(y_true, "y_true"), as_numbers(y_score, "y_score")
        if label.shape != score.shape or label.ndim != 1:
            raise InputError(f"y_true and y_score must be two columns of one length; got {label.shape}, {score.shape}.")
        try:
            positive, is_label = label == 1, label.dtype == bool or bool(np.all((label == 1) | (label == 0)))
        except TypeError:
            # pandas' NA answers neither yes nor no.
            is_label = False
        if not is_label:
            raise InputError("y_true must hold only 0 and 1. Encode the positive class as 1 and the other as 0.")
        if sample_weight is None:
            return RankedRows([0], (score, positive.view(np.uint8)))[0]
        weight = as_numbers(sample_weight, "sample_weight").astype(np.float64, copy=False)
        if weight.shape != score.shape:
            raise InputError(f"sample_weight must have one value per row; got {weight.shape} for {score.shape}.")
        if not np.all(weight >= 0) or too_far_apart(weight):
            raise InputError(f"sample_weight must be 0 or between {LEAST_MASS:g} and {MOST_MASS:g} in each row.")
        classes = positive, ~positive
        masses = [weight, weight**2] if squares else [weight]
        return cls.from_masses(
            score.astype(np.float64), *(np.where(rows, mass, 0.0) for mass in masses for rows in classes)
        )

    @classmethod
    def from_masses(
        cls, score: FloatArray, positive: FloatArray, negative: FloatArray, *squares: FloatArray
    ) -> ScoreTable:
        """Build the table from masses at scores in any order: those of equal scores add up, and what has none goes.

        Parameters
        ----------
        score : array-like of shape (n_masses,)
            The score of each mass.
        positive : array-like of shape (n_masses,)
            Masses of positives.
        negative : array-like of shape (n_masses,)
            Masses of negatives.
        *squares : array-like of shape (n_masses,)
            Sums of squared weights of positives and of negatives, where they are kept.

        Returns
        -------
        ScoreTable
            The table.
        """
        if not np.isfinite(score).all():
            raise InputError("the scores of a ScoreTable must be finite.")
        kept = np.flatnonzero(positive + negative)
        order = kept[np.argsort(-score[kept], kind="stable")]
        score = score[order]
        starts = np.flatnonzero(np.append(True, score[1:] != score[:-1])[: score.size])
        sums = (positive, negative, *squares)
        if not starts.size:
            return cls(score, *(mass[:0] for mass in sums))
        return cls._owning(score[starts] + 0.0, *(np.add.reduceat(mass[order], starts) for mass in sums))

    @classmethod
    def _owning(cls, *columns: NDArray[Any], totals: tuple[float, float] | None = None) -> ScoreTable:
        """Build a table of fresh arrays that nothing else holds, so that none needs to be copied.

        Where the ``totals`` of both classes come with them, they are counts at falling scores, and are not checked.
        """
        for column in columns:
            column.flags.writeable = False
        if totals is None:
            return cls(*columns)
        table = object.__new__(cls)
        values = (*columns, None, None, totals, None)
        for name, value in zip(cls.__dataclass_fields__, values, strict=True):
            object.__setattr__(table, name, value)
        return table

    def __add__(self, other: object) -> ScoreTable:
        """Return the table of both tables' rows together."""
        if not isinstance(other, ScoreTable):
            return NotImplemented
        mine, others = self.sums, other.sums
        if len(mine) != len(others):
            # A row that counts as one has a weight of one.
            mine, others = ((*sums[:2], *sums[-2:]) for sums in (mine, others))
        return self.from_masses(
            np.concatenate([self.score, other.score]), *map(np.concatenate, zip(mine, others, strict=True))
        )

    def at(self, score: FloatArray) -> ScoreTable:
        """Replace the scores by others in the same order; those that have become equal are one.

        Parameters
        ----------
        score : array-like of shape (n_scores,)
            The other scores, not rising.

        Returns
        -------
        ScoreTable
            A table with the same masses.
        """
        ties = np.asarray(score)[1:] == np.asarray(score)[:-1]
        if ties.any():
            return ScoreTable.from_masses(score, *self.sums)
        moved = replace(self, score=score)
        object.__setattr__(moved, "_pairs_within", self._pairs_within)
        return moved

    def thinned(self, levels: int) -> ScoreTable:
        """Merge neighbouring scores at their mean, to about so many levels of equal mass; a shorter table stays.

        Parameters
        ----------
        levels : int
            How many levels, at most about twice as many: a score that has a level's mass alone is left as it is.

        Returns
        -------
        ScoreTable
            A table of the same masses.
        """
        if len(self) <= levels:
            return self
        unit = (self.n1 + self.n0) / levels
        found = [np.zeros(1, dtype=np.intp)]
        for start, mass, below in self._steps():
            level, heavy = np.floor(below / unit), np.flatnonzero(mass >= unit)
            found += [start + part for part in (np.flatnonzero(level[1:] > level[:-1]), heavy, heavy + 1)]
        starts = np.unique(np.concatenate(found))
        starts = starts[starts < len(self)]
        sums = [np.add.reduceat(each, starts) for each in self.sums]
        # Means as distances from a score of the level, so that they cannot leave it by rounding.
        base = self.score[starts]
        moment, ends = np.empty(starts.size), np.append(starts[1:], len(self))
        at_once = max(STEP * starts.size // len(self), 1)
        for first in range(0, starts.size, at_once):
            some = slice(first, first + at_once)
            part = slice(starts[first], ends[some][-1])
            mass = self.positive[part] + self.negative[part]
            mass *= self.score[part] - np.repeat(base[some], (ends - starts)[some])
            moment[some] = np.add.reduceat(mass, starts[some] - part.start)
        return ScoreTable.from_masses(base + moment / (sums[0] + sums[1]), *sums)

    def _steps(self) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        """Yield parts that stay in the cache: where each starts, its masses, and the mass above it and down to each."""
        seen = 0.0
        for start in range(0, len(self), STEP):
            mass = self.positive[start : start + STEP] + self.negative[start : start + STEP]
            below = running(mass, seen)
            yield start, mass, below
            seen = float(below[-1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        return len(self.sums) == len(other.sums) and all(
            np.array_equal(mine, others)
            for mine, others in zip((self.score, *self.sums), (other.score, *other.sums), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return int(self.score.size)

    def __reduce__(self) -> tuple[type[ScoreTable], tuple[FloatArray, ...]]:
        return ScoreTable, (self.score, *self.sums)

    def __repr__(self) -> str:
        return f"ScoreTable({len(self):,} scores, positives {self.n1:,.12g}, negatives {self.n0:,.12g})"

    @property
    def sums(self) -> tuple[FloatArray, ...]:
        """Masses of positives and negatives and, where they are kept, their sums of squared weights."""
        if self.positive_squares is None or self.negative_squares is None:
            return self.positive, self.negative
        return self.positive, self.negative, self.positive_squares, self.negative_squares

    @property
    def spreads(self) -> tuple[FloatArray, FloatArray]:
        """Sums of squared weights, positives and negatives; of rows that count as one each, the masses."""
        return self.sums[-2:]  # type: ignore[return-value]

    @property
    def mass(self) -> FloatArray:
        """Mass of both classes at each score."""
        return self.positive + self.negative

    @property
    def n1(self) -> float:
        """Mass of all positives."""
        return self._totals[0]

    @property
    def n0(self) -> float:
        """Mass of all negatives."""
        return self._totals[1]

    @property
    def concordant(self) -> FloatArray:
        """Pair mass (positive above negative, ties one half) that the positives at each score bring in."""
        below = self.n0 - np.cumsum(self.negative)
        return self.positive * (below + 0.5 * self.negative)


def pairs_within(table: ScoreTable) -> float:
    """Pair mass (positive above negative, ties one half) of the whole table, counted once for each."""
    if table._pairs_within is None:
        total, below = 0.0, table.n0
        for start in range(0, len(table), STEP):
            positive, negative = table.positive[start : start + STEP], table.negative[start : start + STEP]
            above = np.cumsum(negative)
            total += float(positive @ (below - above + 0.5 * negative))
            below -= float(above[-1])
        object.__setattr__(table, "_pairs_within", total)
    return cast(float, table._pairs_within)


def scores_at(table: ScoreTable, shares: FloatArray) -> FloatArray:
    """Return the scores at which rising shares of the mass are reached, counted from the highest score."""
    wanted = shares * (table.n1 + table.n0)
    index = np.full(wanted.size, len(table) - 1)
    for start, _, below in table._steps():
        here = slice(*np.searchsorted(wanted, below[[0, -1]], side="right"))
        index[here] = start + np.searchsorted(below[1:], wanted[here])
    return np.asarray(table.score[index])


def check_both_classes(table: ScoreTable, name: str) -> None:
    """Raise if the table has no positives or no negatives, naming it."""
    if not isinstance(table, ScoreTable):
        raise InputError(f"{name} must be a ScoreTable; got {type(table).__name__}. Build one with from_arrays.")
    missing = [word for word, mass in (("positives", table.n1), ("negatives", table.n0)) if not mass > 0]
    if missing:
        raise InputError(
            f"{name} has no {' and no '.join(missing)} (positives {table.n1:g}, negatives {table.n0:g}); "
            "both are needed to compare how its members are ranked."
        )


Pair = tuple[Hashable, Hashable]


@dataclass(frozen=True, slots=True, eq=False)
class BinningError:
    """Bounds on what binning has moved: the AUC, each cell of the xAUC matrix, PRF of each group, and each gap.

    ``gaps`` has a key ``(metric, (a, b))`` for each metric and pair of groups. A group without a class, whose metrics
    are ``nan``, has 0.
    """

    groups: tuple[Hashable, ...]
    auc: float
    xauc: FloatArray
    prf: dict[Hashable, float]
    gaps: dict[tuple[str, Pair], float]

    def renamed(self, names: Mapping[Hashable, Hashable]) -> BinningError:
        """Return the same with other names of the groups, in the order in which these are given."""
        order = [self.groups.index(group) for group in names]
        metrics = dict.fromkeys(metric for metric, _ in self.gaps)
        return BinningError(
            groups=tuple(names.values()),
            auc=self.auc,
            xauc=self.xauc[np.ix_(order, order)],
            prf={name: self.prf[group] for group, name in names.items()},
            gaps={
                (metric, (names[a], names[b])): self.gap(metric, (a, b))
                for metric in metrics
                for a, b in combinations(names, 2)
            },
        )

    @property
    def largest(self) -> float:
        """The largest of the bounds on AUC and on the gaps, which the tolerance is about."""
        return max([self.auc, *self.gaps.values()])

    def gap(self, metric: str, pair: Pair) -> float:
        """Return the bound of a gap, the pair in either order."""
        return self.gaps[metric, pair] if (metric, pair) in self.gaps else self.gaps[metric, pair[::-1]]

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds as plain numbers, ready for JSON, gaps in the order of an audit's."""
        return {
            "auc": self.auc,
            "xauc": self.xauc.tolist(),
            "prf": list(self.prf.values()),
            "gaps": [*self.gaps.values()],
        }


class HeldRows(NamedTuple):
    """Rows in memory: their groups as numbers in a list of labels, classes, weights, scores (the first, then others).

    ``clusters`` are what the rows belong to, or None.
    """

    labels: tuple[Hashable, ...]
    group: NDArray[Any]
    positive: BoolArray
    weight: FloatArray | None
    scores: tuple[FloatArray, ...]
    clusters: NDArray[Any] | None

    def tables(self, number: int, *, squares: bool) -> Tables:
        """Return the tables of one of the scores."""
        masks = {label: self.group == place for place, label in enumerate(self.labels)}
        return tables_of_rows(self.scores[number], self.positive, self.weight, masks, squares=squares)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tables(Mapping[Hashable, ScoreTable]):
    """One :class:`ScoreTable` per group, in sorted order of the groups, and what is known of the rows behind them.

    Arrays, frames and files all turn into this, and audits, repairs and reports take it.

    Parameters
    ----------
    by_group : mapping of group to ScoreTable
        The table of each group.
    rows : int, optional
        Number of rows; None where they were not counted.
    binning_error : BinningError, optional
        How far each metric can be from that of the scores as they are; None where all were told apart.
    notes : tuple of str, default=()
        What a user should hear before these tables are used.
    weighted : bool, default=False
        Whether masses are sums of weights.
    held : HeldRows, optional
        The rows themselves, where a question needs more of them than tables tell.
    columns : dict, optional
        Names of the columns: ``"score"``, and ``"group"``, a list; None of rows that came without names.
    """

    by_group: Mapping[Hashable, ScoreTable]
    rows: int | None = None
    binning_error: BinningError | None = None
    notes: tuple[str, ...] = ()
    weighted: bool = False
    columns: dict[str, Any] | None = None
    held: HeldRows | None = None

    def __post_init__(self) -> None:
        if isinstance(self.by_group, RankedRows):
            return
        if not isinstance(self.by_group, Mapping) or not all(
            isinstance(table, ScoreTable) for table in self.by_group.values()
        ):
            raise InputError("tables must be a dict that holds a ScoreTable for each group.")
        if any(group is None or group != group for group in self.by_group):
            raise InputError(f"a group of the tables has no name; call the rows of unknown group {MISSING!r}.")
        object.__setattr__(self, "by_group", {group: self.by_group[group] for group in sorted_groups(self.by_group)})

    def __getitem__(self, group: Hashable) -> ScoreTable:
        return self.by_group[group]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.by_group)

    def __len__(self) -> int:
        return len(self.by_group)

    def __repr__(self) -> str:
        return f"Tables({', '.join(f'{group!r}: {table!r}' for group, table in self.items())})"

    @property
    def ranking(self) -> Ranking | None:
        """The rows behind the tables from the highest score down, where they count one each and most scores differ."""
        return self.by_group.ranking if isinstance(self.by_group, RankedRows) else None

    @property
    def totals(self) -> FloatArray:
        """Mass of the positives and of the negatives of each group, in two rows; then their sums of squared weights."""
        if isinstance(self.by_group, RankedRows):
            return np.tile(self.by_group.counts.reshape(-1, 2).T[::-1], (2, 1)).astype(np.float64)
        sums = [(table.n1, table.n0, *(float(each.sum()) for each in table.spreads)) for table in self.values()]
        return np.array(sums, dtype=np.float64).reshape(-1, 4).T

    def replacing(self, by_group: Mapping[Hashable, ScoreTable]) -> Tables:
        """Return other tables of the same rows, or of some of their groups."""
        same = [*self.items()] == [*by_group.items()]
        return replace(self, by_group=self.by_group if same else by_group, notes=())

    def moved(self, by_group: Mapping[Hashable, Callable[[FloatArray], FloatArray]]) -> Tables:
        """Return the tables with other scores of some groups, by functions that keep their order."""
        ranking = self.ranking
        if ranking is None:
            tables = {group: self[group].at(scores(self[group].score)) for group, scores in by_group.items()}
            return self.replacing(dict(self) | tables)
        score, group_of = ranking.scores(slice(None)).astype(np.float64), ranking.code // np.uint8(2)
        for number, group in enumerate(self):
            if group in by_group:
                for start in range(0, score.size, _MOVED):
                    own = start + np.flatnonzero(group_of[start : start + _MOVED] == number)
                    score[own] = by_group[group](score.take(own))
        return replace(self, by_group=RankedRows([*self], (score, ranking.code)), notes=())

    def __add__(self, other: object) -> Tables:
        """Return the tables of both sets of rows together, such as those of two days."""
        if not isinstance(other, Tables):
            return NotImplemented
        if self.binning_error is not None or other.binning_error is not None:
            raise InputError("tables of binned scores cannot be added up: bins differ. Build them with more bins.")
        both = {group: self.get(group, _EMPTY) + other.get(group, _EMPTY) for group in {**self, **other}}
        rows = None if self.rows is None or other.rows is None else self.rows + other.rows
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        columns = self.columns if self.columns == other.columns else None
        return Tables(both, rows, notes=notes, weighted=self.weighted or other.weighted, columns=columns)


def tables_of_rows(
    score: NDArray[Any],
    positive: BoolArray,
    weight: FloatArray | None,
    masks: dict[Hashable, BoolArray],
    *,
    squares: bool,
    settled: bool = True,
) -> Tables:
    """Turn rows into one table per group, whose rows a mask tells.

    Unless ``settled``, rows may still be those of the caller, and are ranked when they are first asked for.
    """
    masks = {group: masks[group] for group in sorted_groups(masks)}
    rows = int(sum(map(np.count_nonzero, masks.values())))
    if weight is not None:

        def table(mask: BoolArray) -> ScoreTable:
            return ScoreTable.from_arrays(positive[mask], score[mask], weight[mask], squares=squares)

        tables = in_threads(rows, table, masks.values())
        return Tables(dict(zip(masks, tables, strict=True)), rows, weighted=True)
    code = positive.astype(np.min_scalar_type(2 * len(masks)))
    for number, mask in enumerate(masks.values()):
        code += np.multiply(mask, 2 * number, dtype=code.dtype)
    if rows < score.size:
        kept = np.flatnonzero(np.logical_or.reduce([*masks.values()]))
        score, code = score[kept], code[kept]
    found = RankedRows([*masks], (score, code))
    if settled:
        found.settle()
    return Tables(found, rows)


class RankedRows(Mapping[Hashable, ScoreTable]):
    """The tables of rows that count one each, made when one is asked for; rows come as they are, or ranked.

    A row that is not ranked yet has a score and a code, that of :class:`xorder._ranking.Ranking`.
    """

    def __init__(self, groups: Sequence[Hashable], rows: tuple[NDArray[Any], NDArray[Any]] | Ranking) -> None:
        self._groups = groups
        # Rows as they are, then ranked, or tables. Always whole: several threads may ask.
        self._rows = _shorter(rows) if isinstance(rows, Ranking) else rows

    @cached_property
    def counts(self) -> NDArray[Any]:
        """Numbers of rows by code."""
        rows = self._rows
        if isinstance(rows, Ranking):
            return rows.counts
        if isinstance(rows, list):
            return np.array([(table.n0, table.n1) for table in rows]).ravel()
        return np.bincount(rows[1], minlength=2 * len(self._groups))

    @property
    def ranking(self) -> Ranking | None:
        """The rows ranked; None where many scores are equal, of which tables are the shorter way."""
        found = self.settle()
        return found if isinstance(found, Ranking) else None

    def settle(self) -> Ranking | list[ScoreTable]:
        """Rank the rows, or make tables of them: from now on nobody else can write to them."""
        rows = self._rows
        if isinstance(rows, tuple):
            ranking = _ranked(*rows, 2 * len(self._groups))
            rows = self._rows = _of_rows(*rows, len(self._groups)) if ranking is None else _shorter(ranking)
        return rows

    @cached_property
    def _tables(self) -> dict[Hashable, ScoreTable]:
        found = self.settle()
        tables = _tables_of(found) if isinstance(found, Ranking) else found
        return dict(zip(self._groups, tables, strict=True))

    def __getitem__(self, group: Hashable) -> ScoreTable:
        return self._tables[group]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)


def _shorter(ranking: Ranking) -> Ranking | list[ScoreTable]:
    """Return ranked rows as they are, or tables where many scores are equal."""
    return ranking if ranking.are_distinct else _tables_of(ranking)


def _ranked(score: NDArray[Any], code: NDArray[Any], codes: int) -> Ranking | None:
    """Rank rows by falling score; None of no rows, and where keys would be too wide."""
    if not score.size:
        return None
    if not (np.isfinite(score.min()) and np.isfinite(score.max())):
        raise InputError("the scores of a ScoreTable must be finite.")
    return rank_rows(score, code, codes) if code.dtype == np.uint8 else None


def _tables_of(ranking: Ranking) -> list[ScoreTable]:
    """Return the table of each group of ranked rows."""
    totals = ranking.counts.astype(np.float64).reshape(-1, 2)[:, ::-1].tolist()
    return [
        ScoreTable._owning(*columns, totals=(positives, negatives))
        for columns, (positives, negatives) in zip(ranking.masses(), totals, strict=True)
    ]


def _of_rows(score: NDArray[Any], code: NDArray[Any], groups: int) -> list[ScoreTable]:
    """Return the table of each group of rows that cannot be ranked together."""
    label = (code % 2).astype(np.uint8)
    if groups == 1:
        masses = (np.asarray(label == each, dtype=np.float64) for each in (1, 0))
        return [ScoreTable.from_masses(score.astype(np.float64), *masses)]
    # A class takes less room than a class and a group.
    rows = (np.flatnonzero(code // 2 == group) for group in range(groups))
    return [RankedRows([0], (score[own], label[own]))[0] for own in rows]


def as_tables(tables: Any) -> Tables:
    """Return :class:`Tables` as they are, and make them of a dict, group -> ScoreTable."""
    return tables if isinstance(tables, Tables) else Tables(tables)


# The group of rows whose group is unknown, where they are one.
MISSING = "missing"


def sorted_groups(groups: Iterable[Any]) -> list[Any]:
    """Sort labels by value, or, where they cannot be compared with each other, by how they are written."""
    groups = list(groups)
    try:
        return sorted(groups)
    except TypeError:
        return sorted(groups, key=lambda label: (type(label).__name__, str(label)))


def find(score: FloatArray, among: FloatArray) -> tuple[NDArray[np.intp], BoolArray]:
    """How many of the falling scores ``among`` lie above each ``score``, and whether the next is equal to it."""
    key = np.append(-among, np.inf)
    place = np.searchsorted(key, -score)
    return place, key[place] == -score


def running(mass: FloatArray, start: float = 0.0) -> FloatArray:
    """Return a start and the sums of masses from there on: one more than there are masses."""
    sums = np.empty(mass.size + 1)
    sums[0], sums[1:] = start, mass
    return np.cumsum(sums, out=sums)


_EMPTY = ScoreTable(np.empty(0), np.empty(0), np.empty(0))


def in_threads(rows: int, function: Callable[..., Part], *parts: Iterable[Any]) -> list[Part]:
    """Return what ``map`` of the function over the parts gives; ``rows`` is the size of all parts together."""
    if rows < WORTH_THREADS:
        return list(map(function, *parts))
    with ThreadPoolExecutor() as threads:
        return list(threads.map(function, *parts))

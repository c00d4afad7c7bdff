"""One multiplier a group: K groups' calibrated odds, each times a factor, so that no group is ranked too low."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xorder._metric import check_metric
from xorder._table import FloatArray, ScoreTable
from xorder._validation import check_both_classes
from xorder.exceptions import InputError
from xorder.ordering._bounds import pair_bound, prf_bound
from xorder.ordering._chance_tables import Compressed
from xorder.ordering._descent import Chances, Goal, descend, measure, remembered, worst_gap
from xorder.ordering._flips import FLIPS_OF_TWO, polish
from xorder.ordering._frontier import check_max_gap, check_tradeoff
from xorder.ordering._hull import ROUNDING
from xorder.ordering._shifted_groups import Curve, Placed

# The descent on tables: steps of a stage at most; what a gap beyond the limit costs in each stage, and its first step.
_ROUNDS = 60
_STAGES = ((3.0, 0.5), (30.0, 0.02), (1000.0, 0.001))

# The descent by exact counts: its steps, or how often the tables are corrected where there are more places than that;
# promised gains that end it; how far below a limit it aims, at first and how often further below.
_EXACT_ROUNDS, _CORRECTIONS, _MANY_PLACES = 15, 5, 100_000
_TOLERANCE = 1e-6
_MARGIN = 1e-7
_MARGINS = 8

# The tables leave out the outermost people, so that a chance they tell is off by less than this.
_CLEARLY = 0.01

# How far exact counting looks around what the tables say, in widths of their smoothing; less where there are many
# places, as the tables are then nearly right and longer steps bring in more curvature than they gain.
_EXACT_RADIUS, _SHORT_RADIUS = 2.0, 0.25

# Up to so many places in all, more than two groups are polished flip by flip too; and how often each in turn.
_SMALL = 1000
_POLISHINGS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Multipliers:
    """What :func:`solve_multipliers` found, with everything counted exactly.

    ``shift`` holds the logarithm of each group's multiplier, 0 for the reference. ``gaps[g, h]`` is the signed gap of
    g and h, ``worst`` the largest of them. ``bound`` is a value that no ordering of the groups exceeds, ``nan``
    where none is known: of the objective for a tradeoff; else of the AUC, for orderings with gaps up to
    ``max_gap``, or up to ``worst`` where that could not be met.
    """

    metric: str
    reference: int
    tradeoff: float | None
    shift: FloatArray
    auc: float
    gaps: FloatArray
    worst: float
    bound: float

    @property
    def objective(self) -> float:
        """AUC minus tradeoff times the largest gap; the AUC alone where a largest gap was given instead."""
        return self.auc - (0.0 if self.tradeoff is None else self.tradeoff * self.worst)

    @property
    def optimality_gap(self) -> float:
        """How far from the best possible objective this one can be at most; ``nan`` without a bound."""
        return max(self.bound - self.objective, 0.0) if np.isfinite(self.bound) else np.nan


def solve_multipliers(
    tables: Sequence[ScoreTable],
    curves: Sequence[Curve],
    *,
    metric: str = "xauc",
    reference: int = 0,
    tradeoff: float | None = None,
    max_gap: float | None = None,
) -> Multipliers:
    """Find one multiplier of the calibrated odds for each of K groups.

    Group g stands at ``curves[g].log_odds(score) + shift[g]``. Either ``AUC - tradeoff * largest gap`` is made
    high, or the AUC with no gap above ``max_gap``.

    Guarantee: gaps and AUC are exact counts. A limit that the search can meet is met from inside. With two groups all
    flips around the answer have been tried, so a limit that binds is hit up to one pair of places. For two groups,
    and for PRF, ``bound`` holds for every ordering. Time of looking K groups up in each other a few times.
    """
    if len(tables) < 2 or len(tables) != len(curves):
        raise InputError(f"two groups or more are needed, each with a curve; got {len(tables)} and {len(curves)}.")
    for g, table in enumerate(tables):
        check_both_classes(table, f"group number {g}")
    check_metric(metric)
    if (tradeoff is None) == (max_gap is None):
        raise InputError("give tradeoff or max_gap, one of the two.")
    if not 0 <= reference < len(tables):
        raise InputError(f"reference must be the number of a group, 0 to {len(tables) - 1}; got {reference!r}.")
    goal = Goal(None, check_max_gap(max_gap)) if tradeoff is None else Goal(check_tradeoff(tradeoff), 0.0)
    placed = Placed(tables, curves, metric)
    exact = remembered(placed.chances)
    shift = _search(placed, exact, goal, reference)
    auc, gaps = measure(placed, exact, shift)
    worst = float(worst_gap(gaps))
    bound, allowed = np.nan, max(goal.allowed, worst)
    if len(tables) == 2:
        bound = pair_bound(tables[0], tables[1], metric, tradeoff=goal.tradeoff, allowed=allowed)
    elif metric == "prf":
        bound, _ = prf_bound(tables, tradeoff=goal.tradeoff, allowed=allowed, start=shift)
    for array in (shift, gaps):
        array.flags.writeable = False
    return Multipliers(
        metric=metric,
        reference=reference,
        tradeoff=goal.tradeoff,
        shift=shift,
        auc=float(auc),
        gaps=gaps,
        worst=worst,
        bound=bound,
    )


def _search(placed: Placed, exact: Chances, goal: Goal, reference: int) -> FloatArray:
    """Search on tables from several starts, then with exact counts, then flip by flip."""
    size, unshifted = len(placed), np.zeros(len(placed))
    sizes = [group.place.size for group in placed.groups]
    everywhere = 2 * float(np.ptp([[group.place[0], group.place[-1]] for group in placed.groups])) + 1.0
    if size == 2 and sizes[0] * sizes[1] <= FLIPS_OF_TWO:
        return polish(placed, goal, unshifted, reference, width=everywhere, rounds=1)

    def rank(shift: FloatArray) -> float:
        auc, gaps = measure(placed, exact, shift)
        return float(goal.rank(auc, worst_gap(gaps)))

    compressed = Compressed(placed)
    found = _on_tables(compressed, goal, reference)
    # Where the tables tell that shifts are worth much more than none, none need not be counted.
    tried = [found] if _clearly_better(compressed, goal, found, unshifted) else [unshifted, found]
    # A count takes long, and the tables are right but for a trifle: then each count serves a whole search on them.
    sharp = sum(sizes) > _MANY_PLACES and compressed.is_sharp
    rounds = _CORRECTIONS if sharp else _EXACT_ROUNDS
    window = radius = compressed.doubt * (_SHORT_RADIUS if sharp else _EXACT_RADIUS)
    margin, excess = _MARGIN, 0.0
    for _ in range(_MARGINS):
        # Counts go in steps: aim a little below the limit, to end up inside it.
        aim = replace(goal, allowed=max(goal.allowed - margin, 0.0), steep=_STAGES[1][0])
        if sharp:
            found = _corrected(found, exact, compressed, aim, reference, radius=radius)
            radius /= 4
        else:
            found = descend(
                found, exact, compressed, aim, reference, radius=radius, rounds=rounds, tolerance=_TOLERANCE
            )
        tried.append(found)
        excess = float(worst_gap(measure(placed, exact, found)[1])) - goal.allowed
        if goal.tradeoff is not None or excess <= ROUNDING or aim.allowed == 0:
            break
        margin = max(4 * margin, 1.5 * excess)
    if goal.tradeoff is None and margin > 16 * _MARGIN and excess <= ROUNDING:
        tried.append(_towards(tried[-2], tried[-1], rank, halves=rounds))
    best = max(tried, key=rank)
    again = [best] if size == 2 else []
    if sum(sizes) <= _SMALL:
        # Few places make steep steps, which slopes do not show: all flips, from several starts.
        again, window = [*tried, _on_tables(compressed, Goal(None, 0.0), reference)], everywhere
    polished = [polish(placed, goal, start, reference, width=window, rounds=_POLISHINGS) for start in again]
    return max([best, *polished], key=rank)


def _on_tables(compressed: Compressed, goal: Goal, reference: int) -> FloatArray:
    """Best shifts as far as the tables tell: of two groups all differences, of more a descent from two starts."""
    placed = compressed.placed
    if len(placed) == 2:
        apart, auc, chance = compressed.differences()
        best = apart[np.argmax(goal.merit(placed.overall(auc), worst_gap(placed.gaps(chance))))]
        return np.array([0.0, -best] if reference == 0 else [best, 0.0])

    def merit(shift: FloatArray) -> float:
        auc, gaps = measure(placed, compressed.chances, shift)
        return float(goal.merit(auc, worst_gap(gaps)))

    ends = []
    for end in (np.zeros(len(placed)), _against_reference(compressed, reference)):
        for steep, radius in _STAGES if goal.tradeoff is None else _STAGES[:1]:
            stage = replace(goal, steep=steep)
            end = descend(
                end, compressed.chances, compressed, stage, reference, radius=radius, rounds=_ROUNDS, tolerance=1e-8
            )
        ends.append(end)
    return max(ends, key=merit)


def _clearly_better(compressed: Compressed, goal: Goal, shift: FloatArray, other: FloatArray) -> bool:
    """Whether shifts are better than others by more than the tables can be off.

    With a limit: their largest gap is clearly less beyond it, or clearly within it and their AUC clearly higher.
    """
    auc, worst = np.empty(2), np.empty(2)
    for place, one in enumerate((shift, other)):
        auc[place], gaps = measure(compressed.placed, compressed.chances, one)
        worst[place] = worst_gap(gaps)
    if goal.tradeoff is not None:
        value = auc - goal.tradeoff * worst
        return bool(value[0] > value[1] + _CLEARLY)
    beyond = np.maximum(worst - goal.allowed, 0.0)
    is_within = bool(worst[0] <= goal.allowed - _CLEARLY)
    return bool(beyond[1] - beyond[0] > _CLEARLY or (is_within and auc[0] > auc[1] + _CLEARLY))


def _corrected(
    start: FloatArray, exact: Chances, compressed: Compressed, goal: Goal, reference: int, *, radius: float
) -> FloatArray:
    """Search on the tables, moved to agree with an exact count; count where that led; again until both agree.

    Steps become shorter each time: how far the tables are off then changes less on the way.
    """
    placed, best = compressed.placed, start

    def merit(chances: Chances, shift: FloatArray) -> float:
        auc, gaps = measure(placed, chances, shift)
        return float(goal.merit(auc, worst_gap(gaps)))

    for _ in range(_CORRECTIONS):
        off = [count - read for count, read in zip(exact(best), compressed.chances(best), strict=True)]

        def moved(shift: FloatArray, off: list[FloatArray] = off) -> tuple[FloatArray, FloatArray]:
            auc, chance = compressed.chances(shift)
            return auc + off[0], chance + off[1]

        found = descend(best, moved, compressed, goal, reference, radius=radius, rounds=_ROUNDS, tolerance=1e-8)
        missed = merit(moved, found) - merit(exact, found)
        best = max(best, found, key=lambda shift: merit(exact, shift))
        if missed <= _TOLERANCE:
            break
        radius /= 4
    return best


def _towards(
    outside: FloatArray, inside: FloatArray, rank: Callable[[FloatArray], float], *, halves: int
) -> FloatArray:
    """Go back as far as pays from shifts inside a limit to those before them, by halves."""
    low, high = 0.0, 1.0
    best = inside
    for _ in range(halves):
        share = (low + high) / 2
        shift = inside + share * (outside - inside)
        if rank(shift) > rank(best):
            best, low = shift, share
        else:
            high = share
    return best


def _against_reference(compressed: Compressed, reference: int) -> FloatArray:
    """Shift each group by itself to where neither it nor the reference outranks the other more often."""
    size = len(compressed.placed)
    low, high = np.full(size, -compressed.span), np.full(size, compressed.span)
    low[reference] = high[reference] = 0.0
    for _ in range(40):
        middle = (low + high) / 2
        chance = compressed.chances(middle)[1]
        above = chance[:, reference] > chance[reference, :]
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray((low + high) / 2)

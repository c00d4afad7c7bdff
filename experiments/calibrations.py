"""Two more ways to calibrate a group, which lost to the straight line on new people (docs/generalisation.md).

Both join the centres of blocks, as pooling adjacent violators makes them, by straight lines. They take the place of
``xorder.ordering.logistic_calibration`` in ``solve_multipliers``.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit

from xorder import ScoreTable
from xorder.ordering import Calibration, logistic_calibration

# Rows by which a bent block is drawn to the line.
PULL = 20.0

# Share of a group's weight that they are at most.
PULL_SHARE = 0.2

# Rows by which a plain block is drawn to the group's overall share.
PRIOR = 1.0

# The least and the most that they are, as shares of a group's weight.
PRIOR_SHARES = (1e-9, 0.02)


def block_calibration(table: ScoreTable, *, unit: bool) -> Calibration:
    """Join the centres of blocks; each block's odds are those of its rows and one more of the group's overall share.

    So pure blocks are finite; blocks that this brings out of order are joined. The ends go on with the slope of the
    logistic fit.
    """
    least, most = (share * (table.n1 + table.n0) for share in PRIOR_SHARES)
    return _joined(table, unit, min(max(PRIOR, least), most), towards_line=False)


def bent_calibration(table: ScoreTable, *, unit: bool) -> Calibration:
    """Bend the line of the logistic fit towards the blocks: as with blocks alone, but each is drawn to the line.

    A block's odds are those of its rows and as many as twenty more (a fifth of the group at most) that are as the line
    says: where rows are few the line decides, where they are many the blocks do.
    """
    return _joined(table, unit, min(PULL, PULL_SHARE * (table.n1 + table.n0)), towards_line=True)


def _joined(table: ScoreTable, unit: bool, prior: float, *, towards_line: bool) -> Calibration:
    line = logistic_calibration(table, unit=unit)
    (start, end), (low, high) = line.positions, line.values
    slope = (high - low) / (end - start)
    position = line.axis.position(table.score)
    kept = isotonic_regression(table.positive / table.mass, weights=table.mass, increasing=False).blocks[:-1]
    p, n, moment = table.positive, table.negative, position * table.mass
    while True:
        p, n, moment = (np.add.reduceat(column, kept) for column in (p, n, moment))
        center = moment / (p + n)
        share = expit(low + slope * (center - start)) if towards_line else table.n1 / (table.n1 + table.n0)
        odds = (p + prior * share) / (n + prior * (1 - share))
        falls = (odds[1:] < odds[:-1] * (1 - 1e-9)) & (center[1:] < center[:-1] - 1e-12 * np.abs(center[:-1]))
        if falls.all():
            break
        kept = np.flatnonzero(np.append(True, falls))
    center, value = center[::-1], np.log(odds[::-1])
    positions = np.concatenate([[center[0] - 1], center, [center[-1] + 1]])
    return Calibration(line.axis, positions, np.concatenate([[value[0] - slope], value, [value[-1] + slope]]))

"""K groups in bins: the chances that one outranks another as smooth functions of how far apart they are shifted.

The chance that g outranks h depends on their two shifts through the difference alone. In bins of equal width it is a
cross-correlation of two histograms, so one Fourier transform a group tells it for every difference at once, and after
that a trial of shifts costs a look into a table.
"""

from __future__ import annotations

import numpy as np

from xorder._table import FloatArray
from xorder.ordering._shifted_groups import Group, Placed

# Bins of the axis, and numbers in all tables together at most.
_BINS = 4096
_NUMBERS = 8_000_000

# Share of each class beyond the binned range, on either side; such places count as being at its ends.
_TAIL = 5e-4


class Compressed:
    """Tables of the chances, read off and differentiated at any shifts."""

    def __init__(self, placed: Placed) -> None:
        size = len(placed)
        bins = _BINS
        while bins > 128 and bins * size**2 * 4 > _NUMBERS:
            bins //= 2
        ends = np.array([_central(group) for group in placed.groups])
        low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
        self.step = max(high - low, 1e-6) / (bins - 1)
        self.span = bins * self.step
        transforms = [_transforms(group, low, self.step, bins) for group in placed.groups]
        spread = np.array([1 / np.sqrt(group.place.size) for group in placed.groups])
        # Smoothed over the distance of neighbouring flips in short lists, where the chance itself is a staircase.
        deviation = np.maximum(1.0, 2 * bins * np.outer(spread, spread))
        self.doubt = self.step * float(deviation.max())
        # Every list is so long that nothing had to be smoothed.
        self.is_sharp = bool(deviation.max() <= 1.0)
        self.placed = placed
        self.auc = _tables(transforms, deviation, 0, 1)
        self.chance = self.auc if placed.by_label else _tables(transforms, deviation, 2, 2)

    def chances(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both matrices of :class:`Placed` at some shifts, read off the tables."""
        auc = self._read(self.auc, shift)[0]
        np.fill_diagonal(auc, self.placed.within)
        return auc, auc if self.placed.by_label else self._read(self.chance, shift)[0]

    def differences(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """For two groups: every difference of shifts in the tables, and both matrices at each."""
        count = self.auc.shape[2]
        apart = (np.arange(count) - (count - 1) / 2) * self.step
        found = []
        for tables in (self.auc, self.chance):
            matrices = np.full((count, 2, 2), 0.5)
            matrices[:, 0, 1], matrices[:, 1, 0] = tables[0, 1], tables[1, 0][::-1]
            found.append(matrices)
        found[0][:, [0, 1], [0, 1]] = self.placed.within
        return apart, found[0], found[0] if self.placed.by_label else found[1]

    def slopes(self, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivatives by each group's shift: of the overall AUC (K), and of the gaps (K x K x K, the shift first)."""
        return (
            self.placed.overall(_by_shift(self._read(self.auc, shift)[1])),
            self.placed.gaps(_by_shift(self._read(self.chance, shift)[1])),
        )

    def _read(self, tables: FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Value and slope of each table at the difference of the two shifts."""
        apart = np.clip((shift[:, None] - shift[None, :] + self.span) / self.step, 0, tables.shape[2] - 1.000001)
        index = apart.astype(np.int64)
        rows, columns = np.indices(index.shape)
        value, after = tables[rows, columns, index], tables[rows, columns, index + 1]
        return value + (apart - index) * (after - value), (after - value) / self.step


def _by_shift(slope: FloatArray) -> FloatArray:
    """Turn slopes by difference into slopes by each shift: raising g lifts row g, and lowers column g."""
    own = np.eye(len(slope))
    return np.asarray(slope * (own[:, :, None] - own[:, None, :]))


def _central(group: Group) -> tuple[float, float]:
    ends = []
    for below in (group.positive_below, group.negative_below):
        places = np.searchsorted(below[1:], [_TAIL * below[-1], (1 - _TAIL) * below[-1]])
        ends.append(group.place[np.minimum(places, group.place.size - 1)])
    return float(np.min(ends)), float(np.max(ends))


def _transforms(group: Group, low: float, step: float, bins: int) -> FloatArray:
    """Fourier transforms of the histograms of positives, negatives and both, each of total 1."""
    index = np.clip(np.rint((group.place - low) / step), 0, bins - 1).astype(np.int64)
    masses = (group.positive, group.negative, group.positive + group.negative)
    histograms = np.stack([np.bincount(index, mass / mass.sum(), minlength=bins) for mass in masses])
    return np.asarray(np.fft.rfft(histograms, 4 * bins, axis=1))


def _tables(transforms: list[FloatArray], deviation: FloatArray, above: int, below: int) -> FloatArray:
    """Chance, at differences from -bins to bins steps, that class ``above`` of g outranks class ``below`` of h."""
    size, frequencies = len(transforms), transforms[0].shape[1]
    length = 2 * (frequencies - 1)
    bins = length // 4
    tables = np.empty((size, size, 2 * bins + 1))
    angle = 2 * np.pi * np.arange(frequencies) / length
    for g in range(size):
        for h in range(size):
            # Mass of pairs by how many bins h's member lies above g's; smoothed by a bell of that deviation.
            product = transforms[h][below] * np.conj(transforms[g][above])
            smooth = np.exp(-0.5 * (angle * min(deviation[g, h], bins / 4)) ** 2)
            lead = np.roll(np.fft.irfft(product * smooth, length), length // 2)
            total = np.cumsum(lead)
            tables[g, h] = (total - 0.5 * lead)[length // 2 - bins : length // 2 + bins + 1]
    return tables

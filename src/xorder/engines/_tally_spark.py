"""Rows on a Spark cluster: every sum is taken there, by native expressions, and only sums come to the driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xorder._optional import import_optional
from xorder._table import FloatArray, IntArray
from xorder.engines._cells import Coding, ReadingOptions
from xorder.engines._tally import CELL_BITS, POSITION_BITS, SPLIT_SHIFTS, Batch, Bins, Counted, Leaves, Seen, spread_of

# Spark counts distinct values to within a few hundredths; with as many more than the limit, there are too many.
_SURELY = 1.25

_FRACTION_BITS = 52
_SMALLEST_NORMAL = 2.0**-1022


class SparkRows:
    """Sums over a DataFrame of PySpark: :class:`~xorder.engines._tally.Tally` on a cluster.

    ``frame`` is one of narwhals, with the columns score, label, those of the group and, if there is one, weight.
    """

    def __init__(self, frame: Any, groups: Sequence[str], options: ReadingOptions, *, coding: Coding) -> None:
        self.coding = coding
        self._f = f = import_optional("pyspark.sql.functions", extra="spark", purpose="Reading Spark DataFrames")
        self._squares, self._watch = options.squares, options.watch
        self._weighted = options.names.weight is not None
        self._more = options.names.more
        rows = frame.select(*coding.columns(frame, groups, known=True), *self._more).to_native()
        score = f.col("score").cast("double")
        # Adding 0 makes 0 of -0.
        self._rows = rows.withColumn("score", score + f.lit(0.0))
        self._keyed = self._rows.withColumn("key", self._key())

    def collect(self) -> Batch:
        """Bring all rows that belong to a group to the driver, with the columns that are not added up."""
        self._watch("collecting rows", None)
        import narwhals as nw

        found = nw.from_native(self._rows.filter(self._f.col("code") < self.coding.size)).collect()
        return Batch.of(found, self._more)

    def survey(self, limit: int) -> tuple[Seen, Counted]:
        """Look at all rows: sums by key if there are at most ``limit`` keys, else by cell."""
        f = self._f
        self._watch("reading scores", None)
        score = f.col("score")
        missing = score.isNull() | f.isnan(score)
        usable = ~missing & (f.abs(score) < f.lit(np.inf))
        weight = f.col("weight").cast("double") if self._weighted else f.lit(1.0)
        fit = f.coalesce(~f.isnan(weight) & (weight >= 0) & (weight < f.lit(np.inf)), f.lit(False))
        good = usable & fit
        found = self._rows.agg(
            f.count(f.lit(1)).alias("rows"),
            f.count_if(f.col("code") >= self.coding.size).alias("left_out"),
            f.count_if(missing).alias("missing"),
            f.count_if(~missing & ~usable).alias("infinite"),
            f.count_if(~fit).alias("bad_weights"),
            f.min(f.when(good, score)).alias("low"),
            f.max(f.when(good, score)).alias("high"),
            f.coalesce(f.min(f.when(good & (weight > 0), weight)), f.lit(np.inf)).alias("least_weight"),
            f.max(f.when(good, weight)).alias("largest_weight"),
            (f.count_if(good & (weight != f.floor(weight))) == 0).alias("whole_weights"),
            f.approx_count_distinct(f.when(good, score)).alias("distinct"),
        ).collect()[0]
        seen = Seen(**{name: value for name, value in found.asDict().items() if name != "distinct"})
        if seen.rows == 0 or seen.missing or seen.infinite or seen.bad_weights:
            return seen, Counted(0, np.empty(0, dtype=np.int64), np.empty((1 + self._squares, 0, self.coding.size)))
        if found["distinct"] <= _SURELY * limit:
            counted = self._sums(self._keyed, 0)
            if counted.keys.size <= limit:
                return seen, counted
        return seen, self._sums(self._keyed.withColumn("key", f.shiftright("key", CELL_BITS)), CELL_BITS)

    def fill(self, bins: Bins) -> FloatArray:
        """Sums by bin."""
        f = self._f
        self._watch("filling bins", None)
        cells = self._local({"cell": bins.cell, "parts": bins.parts, "start": bins.starts})
        key = f.col("key")
        position = f.shiftright(key, CELL_BITS - POSITION_BITS).bitwiseAND(f.lit((1 << POSITION_BITS) - 1))
        rows = (
            self._keyed.withColumn("cell", f.shiftright("key", CELL_BITS))
            .join(f.broadcast(cells), "cell", "left")
            .withColumn("key", f.shiftright(position * f.col("parts"), POSITION_BITS) + f.col("start"))
        )
        found = self._sums(rows, 0)
        sums = np.zeros((1 + self._squares, len(bins), self.coding.size))
        sums[:, found.keys] = found.sums
        return sums

    def split(self, leaves: Leaves, limit: int) -> Counted:
        """Sums by position within some of the leaves, as :meth:`~xorder.engines._tally.Tally.split` says."""
        f = self._f
        self._watch("splitting bins", None)
        ranges = self._local(
            {
                "cell": leaves.first >> CELL_BITS,
                "leaf": np.arange(len(leaves), dtype=np.int64),
                "first": leaves.first,
                "last": leaves.last,
                # A factor, as Spark shifts by the same number of bits in each row only.
                "spread": 1 << spread_of(leaves),
            }
        )
        rows = (
            self._keyed.withColumn("cell", f.shiftright("key", CELL_BITS))
            .join(f.broadcast(ranges), "cell")
            .where((f.col("key") >= f.col("first")) & (f.col("key") <= f.col("last")))
            .withColumn("key", f.shiftleft("leaf", CELL_BITS) + (f.col("key") - f.col("first")) * f.col("spread"))
        )
        distinct = rows.agg(*(f.approx_count_distinct(f.shiftright("key", shift)) for shift in SPLIT_SHIFTS)).collect()
        likely = [shift for shift, about in zip(SPLIT_SHIFTS, distinct[0], strict=True) if about <= _SURELY * limit]
        for shift in (*likely, SPLIT_SHIFTS[-1]):
            found = self._sums(rows.withColumn("key", f.shiftright("key", shift)), shift)
            if found.keys.size <= limit:
                break
        return found

    def _sums(self, rows: Any, shift: int) -> Counted:
        """Add up by key and code on the cluster, and bring the sums here."""
        f = self._f
        weight = f.col("weight").cast("double") if self._weighted else None
        sums = [f.count(f.lit(1)).cast("double") if weight is None else f.sum(weight)]
        if self._squares and weight is not None:
            least = f.lit(float(np.finfo(np.float64).tiny))
            sums.append(f.sum(f.when(weight > 0, f.greatest(weight * weight, least)).otherwise(0.0)))
        names = [f"sum{number}" for number in range(len(sums))]
        table = (
            rows.where(f.col("code") < f.lit(self.coding.size))
            .groupBy("key", "code")
            .agg(*(total.alias(name) for total, name in zip(sums, names, strict=True)))
            .toArrow()
        )
        keys, position = np.unique(table["key"].to_numpy(), return_inverse=True)
        masses = np.zeros((len(sums), keys.size, self.coding.size))
        for number, name in enumerate(names):
            masses[number, position, table["code"].to_numpy()] = table[name].to_numpy()
        return Counted(shift, keys, masses)

    def _key(self) -> Any:
        """Return the key of the score as an expression; see :func:`xorder.engines._tally_numpy.keys_of`.

        Spark cannot look at the bits of a number, so exponent and fraction are worked out, exactly: powers of two are,
        and so are products with them. The logarithm may be off by one, which shows in the fraction.
        """
        f = self._f
        size = f.abs("score")
        guess = f.floor(f.log2(size))
        scaled = size * f.pow(f.lit(2.0), -guess)
        exponent = guess + f.when(scaled >= 2, 1).when(scaled < 1, -1).otherwise(0)
        fraction = f.when(scaled >= 2, scaled / 2).when(scaled < 1, scaled * 2).otherwise(scaled) - 1
        normal = (exponent + 1023) * f.lit(1 << _FRACTION_BITS) + (fraction * 2.0**_FRACTION_BITS).cast("bigint")
        tiny = (size * 2.0**1000 * 2.0**74).cast("bigint")
        bits = f.when(size < _SMALLEST_NORMAL, tiny).otherwise(normal)
        return f.when(f.col("score") < 0, -bits - 1).otherwise(bits)

    def _local(self, columns: dict[str, IntArray]) -> Any:
        """Return a small table of the driver as a DataFrame."""
        pa = import_optional("pyarrow", extra="spark", purpose="Reading Spark DataFrames")
        return self._rows.sparkSession.createDataFrame(pa.table(columns))

"""What only Spark has to work out: keys of scores without a look at their bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from support import backends
from xorder.engines._cells import ColumnNames, Distinct, ReadingOptions, coding
from xorder.engines._tally_numpy import keys_of
from xorder.engines._tally_spark import SparkRows


def test_keys_are_those_of_the_bits_for_every_size_of_number(spark: Any) -> None:
    import narwhals as nw

    powers = 2.0 ** np.arange(-1074, 1024)
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 1 << 63, 5000).view(np.float64)
    largest = np.finfo(np.float64).max
    size = np.concatenate(
        [powers, np.nextafter(powers, 0), np.nextafter(powers, np.inf), drawn[np.isfinite(drawn)], [0.0, largest]]
    )
    score = np.concatenate([size, -size])
    same = np.zeros(score.size, dtype=int)
    frame = backends.make("spark", {"score": score, "label": same, "group": same}, None)  # type: ignore[arg-type]
    options = ReadingOptions(ColumnNames("score", "group", "label"))
    coding_of_all = coding(Distinct([0]), Distinct([0]), options)
    rows = SparkRows(nw.from_native(frame), ["group"], options, coding=coding_of_all)
    found = rows._rows.withColumn("key", rows._key()).select("score", "key").toArrow()
    assert found.num_rows == score.size
    assert np.array_equal(found["key"].to_numpy(), keys_of(found["score"].to_numpy()))

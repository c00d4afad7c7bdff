"""A repair of rows that live elsewhere: learnt from sums over them, applied inside the engine that holds them."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from xorder._progress import Progress
from xorder._table import ScoreTable
from xorder._validation import MISSING, Tables
from xorder.engines.apply import map_frame
from xorder.engines.frame_tables import BINS, tables_of_frame
from xorder.estimators.settings import NO_WEIGHTS_BY_RANK, check_settings
from xorder.exceptions import InputError, XorderWarning
from xorder.transfer import ScoreMap


class OfFrames:
    """What :class:`xorder.XOrder` does with frames and files."""

    transfer: str
    missing_group: str
    do_no_harm: bool
    maps_: dict[Hashable, ScoreMap]

    def _fit_tables(self, tables: Tables, squares: Mapping[Hashable, ScoreTable] | None = None) -> Any:
        raise NotImplementedError

    def fit_frame(
        self,
        frame: Any,
        *,
        score: str,
        label: str,
        group: str,
        weight: str | None = None,
        positive: Any = None,
        tolerance: float = 1e-6,
        bins: int = BINS,
        progress: Progress | None = None,
        memory: str = "2GB",
    ) -> Self:
        """Learn the adjustment from rows where they are: columns of a frame of any engine, or of files.

        The parameters are those of :func:`xorder.audit_frame`. ``deviation_`` says how far binning can have moved AUC
        and gaps, where there are more distinct scores than ``bins``, about 1.5 million.
        """
        check_settings(self)
        if self.transfer == "rank" and weight is not None:
            raise InputError(NO_WEIGHTS_BY_RANK)
        found = tables_of_frame(
            frame,
            score=score,
            label=label,
            group=group,
            weight=weight,
            positive=positive,
            missing_group=self.missing_group,
            squares=bool(self.do_no_harm),
            tolerance=tolerance,
            bins=bins,
            progress=progress,
            memory=memory,
        )
        if found.note is not None:
            warnings.warn(found.note, XorderWarning, stacklevel=2)
        self._fit_tables(found.tables, found.spreads)
        self.deviation_ = found.deviation
        return self

    def transform_frame(self, frame: Any, *, score: str, group: str, into: str = "adjusted") -> Any:
        """Return the frame with one more column, of adjusted scores; what is lazy stays lazy, and no row is collected.

        ``frame`` is one of pandas, polars (eager or lazy), pyarrow or PySpark, or a relation of DuckDB; the path or
        glob of parquet or csv files comes back as such a relation, cells of csv files as text.
        """
        check_is_fitted(self, "maps_")
        if self.transfer == "rank":
            raise InputError("transfer='rank' adjusts by rank in a batch, which a frame is not; use 'interpolate'.")
        missing = MISSING if self.missing_group != "error" and MISSING in self.maps_ else None
        return map_frame(frame, self.maps_, score=score, group=group, into=into, missing=missing)

"""From an ordering of training scores to a map that adjusts any score."""

from xorder.transfer.ranks import middle_ranks
from xorder.transfer.score_map import ScoreMap
from xorder.transfer.spacing import map_through, realises, spaced_map, usual_bounds
from xorder.transfer.sql import repair_sql
from xorder.transfer.storage import read_maps, write_maps

__all__ = [
    "ScoreMap",
    "map_through",
    "middle_ranks",
    "read_maps",
    "realises",
    "repair_sql",
    "spaced_map",
    "usual_bounds",
    "write_maps",
]

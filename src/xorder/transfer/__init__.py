"""Maps that adjust any score of a group: built, applied, saved, and written as SQL."""

from xorder.transfer._map_file import read_maps, write_maps
from xorder.transfer._odds import OddsScale, map_at, shifted_map, usual_bounds
from xorder.transfer._score_map import ScoreMap
from xorder.transfer._spaced_map import map_through, realises, spaced_map
from xorder.transfer._sql import repair_sql

__all__ = [
    "OddsScale",
    "ScoreMap",
    "map_at",
    "map_through",
    "read_maps",
    "realises",
    "repair_sql",
    "shifted_map",
    "spaced_map",
    "usual_bounds",
    "write_maps",
]

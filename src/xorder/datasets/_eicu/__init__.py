"""The eICU problem, from the user's own copy of the tables."""

from xorder.datasets._eicu._build import EicuSummary, build_eicu
from xorder.datasets._eicu._load import load_eicu

__all__ = ["EicuSummary", "build_eicu", "load_eicu"]

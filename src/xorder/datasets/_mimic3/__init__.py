"""The paper's two MIMIC-III problems, from the user's own copy of the tables."""

from xorder.datasets._mimic3._build import Mimic3Summary, build_mimic3
from xorder.datasets._mimic3._load import load_mimic3

__all__ = ["Mimic3Summary", "build_mimic3", "load_mimic3"]

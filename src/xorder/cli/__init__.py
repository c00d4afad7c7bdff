"""The command line, a file per command: parse, call one public function, print."""

from typing import TYPE_CHECKING

from xorder._lazy import lazy_names
from xorder.cli._start import program

if TYPE_CHECKING:
    from xorder.cli._program import main
else:
    __getattr__ = lazy_names(__name__, {"main": "_program"})

__all__ = ["main", "program"]

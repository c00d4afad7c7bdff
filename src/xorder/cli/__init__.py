"""The command line, a file per command: parse, call one public function, print."""

from xorder.cli._program import main, program

__all__ = ["main", "program"]

"""``python -m xorder``: the command line, where no script of its name is on the path."""

import sys

from xorder.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""``python -m xorder.cli``: the command line."""

from xorder.cli import program

if __name__ == "__main__":
    program()

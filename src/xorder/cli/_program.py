"""The program: its parser, the options that commands share, and how a command runs and ends."""

from __future__ import annotations

import argparse
import difflib
import errno
import io
import json
import os
import re
import shlex
import shutil
import signal
import sys
import textwrap
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from xorder import __version__
from xorder._atomic import check_target, file_path, spill_folder
from xorder._parameters import MISSING_GROUPS, UNSEEN_GROUPS
from xorder._progress import Progress
from xorder.cli._errors import translated
from xorder.exceptions import InputError, XorderError, XorderWarning, warn_caller

if TYPE_CHECKING:
    from xorder._table import Tables
    from xorder.estimators import FittedRepair
    from xorder.metrics._cuts import Cut

# Each command has a module of its name, which adds its options and runs it.
_COMMANDS = {
    "audit": "Measure how a score ranks each group",
    "compare": "Compare two scores of the same people, before and after a map, or two saved audits",
    "plan": "Say how many people it takes to detect a gap, to show it below a limit, or to repair it to one",
    "fit": "Fit a repair of the scores, and save its map",
    "apply": "Adjust the scores of a file with a saved map",
    "report": "Write a page on how a score ranks each group, for people to read",
    "demo": "Show all of it on a simulated population",
    "data": "Get open data sets, and build cohorts from your own copy of MIMIC-III or eICU",
}


_EXAMPLES = "examples:\n  xorder {}\n  xorder {}"
# What stands in examples in place of braces.
_ROWS = "rows.csv --score s --label y --group g"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code, and print one line on standard error where that is not 0.

    0: done, and within the tolerance if one was given. 1: beyond it. 3: that cannot be told. 2: what the user gave is
    wrong. 70: any other failure, such as a full disk or a fault in xorder; what it has begun to write is removed. 130:
    interrupted, as by Ctrl-C; a program of its own that another signal ends has 128 plus its number.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal's encoding lacks is shown escaped, as it is on standard error.
        sys.stdout.reconfigure(errors="backslashreplace")
    options = argparse.Namespace()
    with warnings.catch_warnings():
        # Files are read in parts; what is true of many parts is said once.
        warnings.simplefilter("once", XorderWarning)
        warnings.showwarning = partial(_show_warning, options)
        try:
            _parser(next(iter(arguments), None)).parse_args(arguments or ["--help"], options)
            note_idle(options)
            options.as_typed = shlex.join(["xorder", *arguments])
            with _streams(options):
                code = options.run(options)
            sys.stdout.flush()
        except Exception as error:
            return _ended_by(error, options)
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
    return code or 0


def _parser(chosen: str | None) -> Parser:
    """Return the parser; only the module of the command chosen is loaded, and only its options are added."""
    codes = (
        "Exit codes: 0: done, and within --tolerance if that is given; 1: beyond it; 3: cannot be told; 2: the "
        "command or its input is wrong; 70: any other failure, such as a full disk or a fault in xorder "
        "(XORDER_TRACEBACK=1 in the environment shows where it happened); 130: interrupted."
    )
    parser = Parser(
        prog="xorder",
        usage="%(prog)s COMMAND ...",
        description="Audit how fairly a risk score ranks people of different groups, and repair it\nafter the fact.",
        epilog=_EXAMPLES.format("demo --open", "audit people.csv --score risk --label died --group sex")
        + f"\n\n'xorder COMMAND --help' has the options of a command.\n{textwrap.fill(codes, 79)}",
    )
    parser.add_argument(
        "--version", action="version", version=f"xorder {__version__}", help="Show the version and exit"
    )
    commands = parser.add_subparsers(title="commands", prog="xorder", required=True, metavar="COMMAND")
    for name, summary in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name == chosen:
            module = import_module(f"xorder.cli._{name}")
            module.add(command)
            _say_what_options_do(command, name)
            _group_options(command)
            command.epilog = _EXAMPLES.format(*(f"{name} {each}".format(_ROWS) for each in module.EXAMPLES))
            command.set_defaults(run=module.run)
    return parser


# Titles of the help, and the options listed below them; all others are below "options".
_TITLES = {
    "rows": "file second score other label positive group weight weights_are cluster missing_group",
    "what to measure": "metric cut reference pair all confidence tolerance tolerance_cut gap limit power",
    "who there will be": "prevalence auc group_shares design_effect next",
    "repair": "repair map method max_gap tradeoff max_cut_gap do_no_harm small_groups min_group_size unseen_group",
    "tables": "table format threshold suppress statements",
    "page": "title high_is model period author open",
    "output": "output force into escape_formulas json explain",
    "reading": "encoding memory",
}


def _say_what_options_do(command: argparse.ArgumentParser, name: str) -> None:
    """Add what ``help.md`` says of the options of a command, but for those that the command has described itself."""
    words = resources.files("xorder.cli").joinpath("help.md").read_text(encoding="utf-8")
    sections = dict(section.split("\n", 1) for section in words.split("\n## ")[1:])
    said = dict(re.findall(r"^- (\w+): (.*)", sections["several"] + sections[name], re.MULTILINE))
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                _say_what_options_do(each, name)
        else:
            action.help = action.help or said[action.dest]


def _group_options(command: Parser) -> None:
    """List the options of a command below titles, in one order for all commands."""
    for title, listed in _TITLES.items():
        names, group = listed.split(), command.add_argument_group(title)
        for actions in (command._positionals._group_actions, command._optionals._group_actions):
            group._group_actions += [action for action in actions if action.dest in names]
            actions[:] = [action for action in actions if action.dest not in names]
        group._group_actions.sort(key=lambda action, names=names: names.index(action.dest))  # type: ignore[misc]


@contextmanager
def _streams(options: argparse.Namespace) -> Iterator[None]:
    """Let - be standard input and output, by way of files in a folder that is removed in the end.

    What a command prints while its output goes to standard output goes to standard error.
    """
    given = vars(options)
    prints = given.get("output") == "-" and "kind" in given
    if not prints and given.get("file") != "-":
        yield
        return
    with spill_folder(None) as name:
        folder = Path(name)
        if options.file == "-":
            options.file = options.standard_input = str(_copied_input(folder))
        if not prints:
            yield
            return
        if options.json or given.get("open"):
            raise InputError("-o - takes all of standard output: leave out --json and --open, or name a file.")
        ending = "parquet" if options.file.lower().endswith(".parquet") else "csv"
        output = folder / f"standard-output.{options.kind or ending}"
        options.output = str(output)
        with redirect_stdout(io.StringIO()) as said:
            yield
        print(said.getvalue().replace(options.output, "standard output").strip(), file=sys.stderr)
        with output.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)


def _copied_input(folder: Path) -> Path:
    """Copy standard input to a file, whose name says what it is: files are read more than once."""
    if sys.stdin is None:
        raise InputError("standard input is closed; name a file.")
    head = sys.stdin.buffer.read(4)
    ending = {b"PAR1": "parquet", b"\x1f\x8b": "csv.gz"}
    path = folder / f"standard-input.{ending.get(head) or ending.get(head[:2], 'csv')}"
    with stage("reading standard input"), path.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def _is_broken_pipe(error: OSError) -> bool:
    """Whether our output is no longer read, which Windows reports as an invalid argument."""
    invalid = os.name == "nt" and error.errno == errno.EINVAL and error.filename is None
    return invalid or isinstance(error, BrokenPipeError)


# The machine has run out of something, or fails: space on the disk, the size of a file, open files, memory.
_OF_THE_MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}


def _ended_by(error: Exception, options: argparse.Namespace) -> int:
    """Print what ended a command, in one line; return the exit code."""
    if isinstance(error, ExceptionGroup):
        return max(_ended_by(each, options) for each in error.exceptions)
    if isinstance(error, OSError) and _is_broken_pipe(error):
        # Whoever reads our output has had enough; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, XorderError):
        message = translated(str(error), options)
    elif isinstance(error, OSError):
        # Files that are written are complete by the time that anything is printed.
        lost = "" if error.filename else "; what was printed is lost, but no file that was written"
        message = f"{error.filename or 'standard output'}: {error.strerror or error}{lost}."
    elif isinstance(error, MemoryError):
        message = "out of memory: there are too many rows to be held here at once."
    elif isinstance(error, ImportError) or "can't start new thread" in str(error):
        # NumPy puts a page of advice before the reason.
        message = f"out of memory or threads, or a package is damaged: {str(error).strip().splitlines()[-1]}."
    else:
        message = f"a fault in xorder, {type(error).__name__}: {error}."
    is_about_input = isinstance(error, XorderError) or (isinstance(error, OSError) and error.filename is not None)
    if is_about_input and not _is_of_the_machine(error):
        _print_line("error", message)
        return 2
    if os.environ.get("XORDER_TRACEBACK"):
        traceback.print_exception(error)
    _print_line("error", f"{message} This is not your mistake; XORDER_TRACEBACK=1 shows where it happened.")
    return 70


def _is_of_the_machine(error: BaseException | None) -> bool:
    """Whether an error, or what it was raised from, says that the machine has run out of something or fails."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _OF_THE_MACHINE):
            return True
        error = error.__cause__
    return False


def _print_line(kind: str, message: str) -> None:
    # A line that says what is being done may stand there.
    start = "\r\x1b[K" if sys.stderr is not None and sys.stderr.isatty() else ""
    kind = painted(f"xorder: {kind}:", "red" if kind == "error" else "yellow", sys.stderr)
    with suppress(OSError):
        print(f"{start}{kind} {harmless(' '.join(message.split()))}", file=sys.stderr)


# Colours of our own, and characters that a terminal would obey or that turn the direction of the text around them.
_OBEYED = re.compile(r"(\x1b\[\d{1,2}m)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str, *, painted: bool = False) -> str:
    """Return text with control characters in it shown, not obeyed; colours stay where it is ``painted``."""

    def shown(found: re.Match[str]) -> str:
        return found[1] if painted and found[1] else found[0].encode("unicode_escape").decode()

    return _OBEYED.sub(shown, text)


_LOOKS = {"bold": 1, "red": 31, "green": 32, "yellow": 33}


def painted(text: str, look: str, stream: TextIO | None = None) -> str:
    """Return text in bold or in a colour where a terminal shows it; NO_COLOR and FORCE_COLOR decide before that."""
    stream = sys.stdout if stream is None else stream
    shows = stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    if os.environ.get("NO_COLOR") or not (shows or os.environ.get("FORCE_COLOR")):
        return text
    return f"\x1b[{_LOOKS[look]}m{text}\x1b[0m"


# Exit codes of what became of a tolerance.
CODES = {"within": 0, "beyond": 1, "cannot tell": 3}


def judged(text: str, verdict: str) -> str:
    """Return what is said of a tolerance in the colour of its verdict."""
    return painted(text, {"within": "green", "beyond": "red"}.get(verdict, "yellow"))


def headed(text: str) -> str:
    """Return text with its first sentence in bold."""
    place = next(re.finditer(r"\.(?=\s)|$", text)).end()
    return painted(text[:place], "bold") + text[place:]


def _show_warning(
    options: argparse.Namespace, message: Warning | str, category: type[Warning], *_: Any, **__: Any
) -> None:
    if issubclass(category, XorderWarning):
        _print_line("warning", translated(str(message), options))


# Options that do nothing where none of some others, of those that the command has, is given.
_NEEDED = {"weights_are": ("weight",), "unseen_group": ("map",), "force": ("output", "statements"), "open": ("output",)}


class _Once(argparse.Action):
    """Stores a value, and refuses a second one: neither is what the user meant without a doubt.

    An option without a value stores True, or False where it is written as ``--no-...``.
    """

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        given = vars(namespace).setdefault("_given", set())
        if option_string is not None and self.dest in given:
            parser.error(f"{'/'.join(self.option_strings)} is given twice; give it once")
        given.add(self.dest)
        setattr(namespace, self.dest, values if self.nargs != 0 else not option_string.startswith("--no-"))


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as all other errors do; no option may be given twice."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(add_help=False, formatter_class=argparse.RawDescriptionHelpFormatter, **settings)
        self.register("action", None, _Once)
        self.register("action", "store", _Once)
        self.register("action", "store_true", partial(_Once, nargs=0, default=False))
        self.add_argument("-h", "--help", action="help", help="Show this help and exit")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; refuse what is unknown here, so that the line names the command whose help to see."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            is_expanded = not unknown[0].startswith("-") and Path(unknown[0]).exists()
            hint = "; FILE is one name: put a pattern such as 'part-*.csv' in quotes" if is_expanded else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        """Print the line, with the choice that looks most like a wrong one, and end with exit code 2."""
        wrong = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message)
        alike = difflib.get_close_matches(wrong[1], re.findall(r"[\w-]+", wrong[2]), n=1) if wrong else []
        if alike:
            message += f"; did you mean {alike[0]}?"
        self.exit(2, f"{self.prog}: error: {' '.join(message.split())} (see '{self.prog} --help')\n")


def given_options(options: argparse.Namespace) -> set[str]:
    """Return the names of what the user gave, not of what has a default; options that may be repeated are lists."""
    given = vars(options)
    return {*given.get("_given", ()), *(name for name, value in given.items() if isinstance(value, list))}


def add_input(
    command: argparse.ArgumentParser,
    *,
    labelled: bool,
    missing: str = "error",
    required: bool = True,
    nargs: Any = None,
) -> None:
    """Add the file and its columns; ``missing`` is the usual choice for rows without a group, or where it is from."""
    columns = f"FILE --score COLUMN {'--label COLUMN ' if labelled else ''}--group COLUMN"
    command.usage = f"%(prog)s {columns if required else f'[{columns}]'} [options]"
    command.add_argument("--json", action="store_true")
    command.add_argument("file", nargs=nargs, metavar="FILE")
    command.add_argument("--score", required=required, metavar="COLUMN")
    command.add_argument("--group", required=required, action="append", metavar="COLUMN")
    if labelled:
        command.add_argument("--label", required=required, metavar="COLUMN")
        add_options(command, {"positive": "VALUE", "weight": "COLUMN"})
        command.add_argument("--weights-are", choices=("counts", "sampling"), default="counts")
        command.add_argument("--memory", default="2GB", metavar="AMOUNT")
    command.add_argument(
        "--missing-group",
        choices=MISSING_GROUPS,
        default=missing if missing in MISSING_GROUPS else None,
        help="Choice for rows without a group: refuse them, leave them out and their scores alone, or take them as a "
        f"group (default {missing})",
    )
    command.add_argument("--encoding", default="utf-8")


def add_options(command: argparse.ArgumentParser, names: Mapping[str, str | None], **settings: Any) -> None:
    """Add options that differ in nothing but their names and what their values are called."""
    for name, metavar in names.items():
        command.add_argument(f"--{name}", metavar=metavar, **settings)


def add_unseen(command: argparse.ArgumentParser, usual: str | None) -> None:
    """Add what becomes of groups that fit did not see."""
    command.add_argument(
        "--unseen-group",
        choices=UNSEEN_GROUPS,
        default=usual,
        help="Choice for rows to adjust whose group was not in fit: refuse them, or leave their scores alone (default "
        f"{usual or 'as in fit'})",
    )


def read_cut(text: str) -> Cut:
    """Read a cut as the command line writes it."""
    from xorder.metrics import Threshold

    try:
        if text.startswith("score:"):
            return Threshold(float(text.removeprefix("score:")))
        cut = float(text.removesuffix("%")) / 100 if text.endswith("%") else int(text)
        if not (0 < cut < 1 if isinstance(cut, float) else cut >= 1):
            raise ValueError
        return cut
    except (ValueError, InputError):
        raise argparse.ArgumentTypeError(
            "a cut is a share of the list such as 5%, a number of places such as 200, or a score such as score:0.3; "
            f"got {text!r}"
        ) from None


def add_output(command: argparse.ArgumentParser, metavar: str, kind: str | None = None, **settings: Any) -> None:
    """Add the name of the file to write; one whose kind is said, or "" for that of the input, may be -."""
    if kind is not None:
        command.set_defaults(kind=kind)
    command.add_argument("-o", "--output", metavar=metavar, **{"required": True} | settings)
    command.add_argument("--force", action="store_true")


def open_page(path: str) -> None:
    """Open a page in the browser."""
    import webbrowser

    webbrowser.open(Path(path).resolve().as_uri())


def note_idle(options: argparse.Namespace) -> None:
    """Say which of the options given have no effect."""
    given = given_options(options)
    for name, needed in _NEEDED.items():
        others = {other: getattr(options, other) for other in needed if other in options}
        if name in given and others and not any(value is not None for value in others.values()):
            wanted = " or ".join(f"--{other}" for other in others)
            warn_caller(f"--{name.replace('_', '-')} has no effect without {wanted}.")
    if "encoding" in given and str(options.file).lower().endswith(".parquet"):
        options.encoding = "utf-8"
        warn_caller("--encoding has no effect on parquet files.")


def terminal_width() -> int:
    """Characters per line: those of the terminal, within reason; 80 where there is none."""
    return min(max(shutil.get_terminal_size().columns, 40), 120) if sys.stdout.isatty() else 80


def wrapped_lines(text: str) -> str:
    """Break lines that are wider than the terminal, but not one that names the file written."""
    width = terminal_width()
    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    lines = text.split("\n")
    return "\n".join(wrapper.fill(line) if len(line) > width and line[:6] != "Wrote " else line for line in lines)


def show(what: str | dict[str, Any]) -> None:
    """Print a result."""
    print(harmless(what, painted=True) if isinstance(what, str) else json.dumps(what, indent=2, allow_nan=False))


def chosen(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return options by their names, which are those of arguments of Python, too."""
    return {name: getattr(options, name) for name in names}


# Options that name the columns without which a file of rows says nothing.
_COLUMNS = ("score", "label", "group")


def check_columns(options: argparse.Namespace) -> None:
    """Refuse a file without its columns, where a command can also do without a file."""
    missing = [f"--{name}" for name, column in chosen(options, *_COLUMNS).items() if column is None]
    if missing:
        raise InputError(f"the following options are required: {', '.join(missing)}.")


def load_map(options: argparse.Namespace) -> FittedRepair | None:
    """Load the map, if there is one; warn if it was fitted to columns of other names."""
    if options.map is None:
        return None
    from xorder.estimators import load_fitted

    repair = load_fitted(options.map)
    repair.warn_of_other_columns(options.score, options.group)
    return repair


# Options that say how to read a file, which are called what the argument of Python is.
_READING = (*_COLUMNS, "positive", "weight", "weights_are", "missing_group", "encoding", "memory")


def read_tables(options: argparse.Namespace) -> Tables:
    """Read the tables of the file that a command names."""
    from xorder.engines import tables_of

    given = chosen(options, *_READING)
    given |= {"cluster": vars(options).get("cluster"), "others": vars(options).get("other") or ()}
    with progress_line(sys.stderr) as progress:
        return tables_of(options.file, **given, as_text=True, progress=progress)


def check_output(output: str, *, overwrite: bool, inputs: Sequence[str | None]) -> None:
    """Refuse what could not be written in the end before anything is read or computed."""
    from xorder.engines._sources import files_of

    check_target(file_path(output), overwrite=overwrite)
    if any(_is_same_file(output, file) for name in inputs if name for file in files_of(name)):
        raise InputError(f"{output} is an input itself; choose another name.")


def _is_same_file(one: str, other: str) -> bool:
    """Whether two names are those of one file; not by name, as on some systems case does not count."""
    return Path(one).exists() and Path(other).exists() and Path(one).samefile(other)


# Time between two lines of a log.
_LINE_SECONDS = 30.0


@contextmanager
def progress_line(out: TextIO | None, now: Callable[[], float] = time.monotonic) -> Iterator[Progress]:
    """Yield a function that shows on ``out`` what is being done: one line that changes if that is a terminal.

    In a log it adds a line every half minute, so that a short run adds none. Whoever stops reading stops nothing.
    """
    began = said = now()
    live = out is not None and out.isatty()

    def write(text: str) -> None:
        if out is not None:
            with suppress(OSError):
                out.write(text)
                out.flush()

    def show(step: str, share: float | None) -> None:
        nonlocal said
        if not live and now() - said < _LINE_SECONDS:
            return
        said = now()
        seconds = int(said - began)
        passed = f"{seconds // 60} min" if seconds >= 60 else f"{seconds} s"
        text = f"{step}, {passed}" if share is None else f"{step}, {100 * share:.0f} %, {passed}"
        if live and share is not None:
            text = text.replace(",", f" [{'#' * round(20 * share):.<20}]", 1)
        elif live and not seconds:
            text = f"{step} ..."
        # A line that is longer than the terminal is wide could not be overwritten.
        write(f"\r{text[: shutil.get_terminal_size().columns - 1]}\x1b[K" if live else f"xorder: {text}\n")

    try:
        yield show
    finally:
        if live:
            write("\r\x1b[K")


@contextmanager
def stage(doing: str) -> Iterator[None]:
    """Show on a terminal what is being done, until it is done."""
    with progress_line(sys.stderr) as progress:
        progress(doing, None)
        yield

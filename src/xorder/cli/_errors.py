"""Messages of the library in the words of the command line."""

from __future__ import annotations

import argparse
import re
import shlex

# Arguments of Python, and their options on the command line; all other options are named as their arguments are.
_OPTIONS = {
    "sensitive_features": "group",
    "y_true": "label",
    "y_score": "score",
    "sample_weight": "weight",
    "overwrite": "force",
    "repair": "map",
    "rows": "next",
    "thresholds": "threshold",
}


# Arguments that hold the rows of a column.
_ROWS = ("sensitive_features", "y_true", "y_score", "sample_weight")


# A message names an argument with an equals sign and maybe a value; by a word that is not English; or as the subject of
# its first sentence.
_NAMED = (
    re.compile(r"(?<![\w/.'\"-])(?P<name>[a-z_]+)=(?P<value>'[^']*'|\w+(?:\.\w+)*|)"),
    re.compile(r"(?<![\w/.'\"-])(?P<name>[a-z]+(?:_[a-z]+)+)(?![\w/.'\"-]*[/'\"=])\b(?P<value>)"),
    re.compile(r"(?:^|(?<=^give ))(?P<name>[a-z]+)(?P<value>)(?= (?:must|is|or)\b)"),
    re.compile(r"\b(?P<name>[a-z]+)(?P<value>)(?=(?: and [a-z]+)? both name)"),
)


def translated(message: str, options: argparse.Namespace) -> str:
    """Return a message of the library with columns of the file and options in place of arguments of Python."""
    from xorder._groups import BETWEEN  # Imported here, as it loads NumPy, which help does without.

    given = vars(options)
    message = message.replace(given.get("standard_input", "\0"), "standard input")

    def named(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"].strip("'")
        option = _OPTIONS.get(name, name)
        if name in _ROWS and "file" in given and given.get(option) is not None:
            columns = given[option] if option == "group" else [given[option]]
            return f"{options.file}: column {BETWEEN.join(map(repr, columns))}"
        if name in _ROWS or option not in given:
            return match[0]
        prefix = "--no-" if value == "False" else "--"
        words = "" if value in ("", "True", "False") else f" {shlex.quote(value)}"
        return prefix + option.replace("_", "-") + words

    for pattern in _NAMED:
        message = pattern.sub(named, message)
    return message

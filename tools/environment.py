"""Make a virtual environment for the Makefile, and say in one line what to do where that fails.

``python tools/environment.py VENV [--clear] [--constraints FILE] ARGUMENT...`` hands its arguments to pip. Written so
that a Python that is too old for xorder can still read it.
"""

import io
import os
import subprocess
import sys

# What --group and --build-constraint need; the constraints file pins it further.
PIP = "pip>=25.3"


def main(arguments):
    venv, arguments = arguments[0], arguments[1:]
    if sys.version_info < (3, 11):
        return (
            "xorder needs Python 3.11 or newer, and %s is %d.%d; name a newer one, for example: make PYTHON=python3.13"
            % ((sys.executable,) + tuple(sys.version_info[:2]))
        )
    python = os.path.join(venv, "Scripts" if os.name == "nt" else "bin", "python")
    log = venv.rstrip("/\\") + ".log"
    if "--clear" in arguments:
        arguments.remove("--clear")
        try:
            __import__("venv")
            __import__("ensurepip")
        except ImportError:
            return (
                "%s cannot make virtual environments: its modules venv and ensurepip are not installed. On Debian and "
                "Ubuntu: apt install python3-venv" % sys.executable
            )
        if not succeeds([sys.executable, "-m", "venv", "--clear", venv], log):
            return "no virtual environment could be made in %s; %s says why." % (venv, log)
    constraints = []
    if "--constraints" in arguments:
        at = arguments.index("--constraints")
        constraints = ["--constraint", arguments[at + 1]]
        del arguments[at : at + 2]
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    builds = ["--build-constraint", constraints[1]] if constraints else []
    for wanted in ([PIP], builds + arguments):
        if not succeeds(install + constraints + wanted, log):
            return (
                "packages could not be installed into %s: %s. Is there a network, and a package index that pip knows? "
                "%s has the whole story; make clean starts afresh." % (venv, reason(log), log)
            )
    os.remove(log)
    return None


def succeeds(command, log):
    with io.open(log, "w", encoding="utf-8", errors="replace") as file:
        return subprocess.call(command, stdout=file, stderr=subprocess.STDOUT) == 0


def reason(log):
    """Return the first error that pip names."""
    with io.open(log, encoding="utf-8", errors="replace") as file:
        errors = [line.strip() for line in file if line.startswith("ERROR")]
    return (errors[0][len("ERROR:") :].strip() if errors else "pip failed without a word").rstrip(".")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)

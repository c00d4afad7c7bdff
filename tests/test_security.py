"""What the source may not do: run code or programs, unpickle, or speak to the network, but where it is meant to."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import xorder

SOURCE = Path(xorder.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

# Modules that run code or programs, read what may do so, or open connections; and the files that may import one.
MODULES = {
    **dict.fromkeys(("pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "joblib", "yaml", "ctypes"), ()),
    **dict.fromkeys(("subprocess", "pty", "code", "codeop", "runpy", "multiprocessing", "asyncio"), ()),
    **dict.fromkeys(("socket", "ssl", "ftplib", "smtplib", "telnetlib", "xmlrpc", "requests", "httpx", "aiohttp"), ()),
    # `xorder data fetch` alone.
    **dict.fromkeys(("urllib.request", "urllib.error", "http"), ("datasets/_download.py",)),
    # `--open` shows a page that was just written.
    "webbrowser": ("cli/_program.py",),
}
NAMES = {"eval", "exec", "compile", "__import__", "breakpoint"}
# Of os and of objects. Expressions of pandas are those of our own files of facts.
ATTRIBUTES = {
    **dict.fromkeys(("system", "popen", "fork", "startfile", "posix_spawn", "posix_spawnp", "allow_pickle"), ()),
    **dict.fromkeys([f"{kind}{how}" for kind in ("exec", "spawn") for how in ("l", "le", "lp", "v", "ve", "vp")], ()),
    **dict.fromkeys(("eval", "query"), ("datasets/_open_set.py", "datasets/_cohort_file.py")),
}
# Methods of DuckDB, which has queries of its own.
QUERIES = {"engines/_apply_duckdb.py"}


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names] if node.module else []
    return []


def found_in(tree: ast.AST, file: str) -> list[str]:
    wrong = []
    for node in ast.walk(tree):
        for name in imported(node):
            for module, allowed in MODULES.items():
                if (name == module or name.startswith(f"{module}.")) and file not in allowed:
                    wrong.append(f"{file}:{node.lineno}: imports {name}")
        if isinstance(node, ast.Name) and node.id in NAMES:
            wrong.append(f"{file}:{node.lineno}: {node.id}")
        is_duckdb = isinstance(node, ast.Attribute) and node.attr == "query" and file in QUERIES
        if isinstance(node, ast.Attribute) and not is_duckdb and file not in ATTRIBUTES.get(node.attr, (file,)):
            wrong.append(f"{file}:{node.lineno}: .{node.attr}")
        if isinstance(node, ast.keyword) and node.arg in ("shell", "allow_pickle"):
            wrong.append(f"{file}: {node.arg}=")
    return wrong


@pytest.mark.slow
def test_nothing_runs_code_or_programs_or_speaks_to_the_network_but_fetch() -> None:
    wrong = []
    for path in FILES:
        wrong += found_in(ast.parse(path.read_text(encoding="utf-8")), path.relative_to(SOURCE).as_posix())
    assert len(FILES) > 100
    assert wrong == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import loads",
        "import subprocess as s",
        "import urllib.request",
        "from urllib import request",
        "import http.client",
        "eval('1')",
        "run = exec",
        "import os; os.system('x')",
        "import numpy as np; np.load('x', allow_pickle=True)",
        "frame.eval('a')",
        "import webbrowser",
    ],
)
def test_the_check_finds_what_it_is_for(code: str) -> None:
    assert found_in(ast.parse(code), "engines/_tables.py")

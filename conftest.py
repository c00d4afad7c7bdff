"""Doctests of modules whose packages are not installed are left out; the tests of these modules say so."""

from importlib.util import find_spec

collect_ignore = (
    []
    if find_spec("torch") and find_spec("cooper")
    else [f"src/xorder/baselines/{name}.py" for name in ("_constrained", "_correlation", "_pairs")]
)

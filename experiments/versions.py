"""Versions of what numbers depend on, as one line."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from platform import python_version

_PACKAGES = ("xorder", "numpy", "scipy", "scikit-learn", "torch", "cooper-optim")


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


VERSIONS = " ".join([f"python {python_version()}", *(f"{package} {_installed(package)}" for package in _PACKAGES)])

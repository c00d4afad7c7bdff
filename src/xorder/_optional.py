"""Optional imports: one message, naming the extra to install."""

from __future__ import annotations

import importlib
from typing import Any

from xorder.exceptions import MissingExtraError


def import_optional(module: str, *, extra: str, purpose: str) -> Any:
    """Import ``module``, or say which extra of xorder brings it and what it is needed for."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{purpose} needs {package}, which is not installed. Install it with: pip install 'xorder[{extra}]'"
        ) from error

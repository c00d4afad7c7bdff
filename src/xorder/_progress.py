"""What a long job calls to say how far it is."""

from __future__ import annotations

from collections.abc import Callable

# Takes, from another thread too, what is being done and the share that is done, None where that is not known.
Progress = Callable[[str, float | None], None]

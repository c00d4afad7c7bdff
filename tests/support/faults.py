"""Makes the n-th operation of our own code fail: an open, a write, a rename, a folder, a thread, a large array.

``with failing("write", 3) as fault:`` lets the third write, and on a disk that is full all that follow, fail;
``failing(kind, 0)`` fails nothing and counts, so that a test can go through every n. Of our own code are operations
that xorder asks for itself or through the standard library, not those of other packages.
"""

from __future__ import annotations

import builtins
import ctypes
import errno
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

KINDS = ("open", "write", "rename", "folder", "thread", "print")

# Not shutil, which removes folders: of what cannot be removed something is left.
_STANDARD = {
    *("io", "os", "pathlib", "tempfile", "gzip", "contextlib", "concurrent", "threading", "codecs", "glob"),
    *("posixpath", "genericpath", "support", "unittest", "_pyio", "csv", "json", "weakref", "warnings"),
}


class Fault:
    """Counts operations of one kind, and says which is to fail."""

    def __init__(self, kind: str, number: int) -> None:
        self.kind, self.number, self.count = kind, number, 0
        self._lock = threading.Lock()

    @property
    def hit(self) -> bool:
        return 0 < self.number <= self.count

    def due(self, *, lasting: bool = False) -> bool:
        """Count one operation; say whether it is to fail."""
        with self._lock:
            self.count += 1
            return self.count >= self.number > 0 if lasting else self.count == self.number


def _is_ours() -> bool:
    """Whether the standard library, if anything, lies between xorder and the call."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "").partition(".")[0]
        if name == "xorder":
            return True
        if name not in _STANDARD:
            return False
        frame = frame.f_back
    return False


class _RawFile(io.FileIO):
    """A file whose writes are counted, and fail from the one that is to fail on."""

    fault: Fault

    def write(self, data: Any) -> int:
        if self.fault.due(lasting=True):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


def _opened(fault: Fault, file: Any, mode: str, encoding: Any, errors: Any, newline: Any, closefd: bool) -> Any:
    """Open for writing as ``open`` does, above a raw file whose writes may fail."""
    raw = _RawFile(file, mode.replace("b", "").replace("t", ""), closefd=closefd)
    raw.fault = fault
    buffered: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
    return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)


def _refusing(fault: Fault, function: Callable[..., Any], error: Callable[[], BaseException]) -> Callable[..., Any]:
    def called(*arguments: Any, **options: Any) -> Any:
        if _is_ours() and fault.due():
            raise error()
        return function(*arguments, **options)

    return called


@contextmanager
def failing(kind: str, number: int, *, at_least: int = 1 << 20) -> Iterator[Fault]:
    """Let the operation of that kind and number fail; ``at_least`` is the size of an array that counts, in bytes."""
    fault = Fault(kind, number)
    if kind == "array":
        with _failing_arrays(fault, at_least):
            yield fault
        return
    plain_open = io.open

    def of_writing(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: Any = None,
        errors: Any = None,
        newline: Any = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        if set(mode) & set("wax+") and buffering == -1 and opener is None and _is_ours():
            return _opened(fault, file, mode, encoding, errors, newline, closefd)
        return plain_open(file, mode, buffering, encoding, errors, newline, closefd, opener)

    def system_error(code: int) -> Callable[[], OSError]:
        return lambda: OSError(code, os.strerror(code))

    with ExitStack() as stack:

        def replace(owner: Any, name: str, error: Callable[[], BaseException]) -> None:
            stack.enter_context(mock.patch.object(owner, name, _refusing(fault, getattr(owner, name), error)))

        if kind == "open":
            for owner, name in ((builtins, "open"), (io, "open"), (os, "open")):
                replace(owner, name, system_error(errno.EMFILE))
        elif kind == "write":
            for owner in (builtins, io):
                stack.enter_context(mock.patch.object(owner, "open", of_writing))
        elif kind == "rename":
            for name in ("replace", "rename", "link"):
                replace(os, name, system_error(errno.EIO))
        elif kind == "folder":
            for name in ("mkdir", "chmod"):
                replace(os, name, system_error(errno.ENOSPC))
        elif kind == "thread":
            replace(threading.Thread, "start", lambda: RuntimeError("can't start new thread"))
        elif kind == "print":
            stack.enter_context(mock.patch.object(sys, "stdout", _Output(fault)))
        else:
            raise ValueError(kind)
        yield fault


class _Output(io.StringIO):
    """Standard output on a disk that gets full."""

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self.fault = fault

    def write(self, text: str) -> int:
        if self.fault.due(lasting=True):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(text)


class _Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")]


class _Handler(ctypes.Structure):
    """What NumPy allocates the memory of arrays with (PyDataMem_Handler of its C interface)."""

    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("allocator", _Allocator)]


# Arguments of its functions, after a context: sizes, and for realloc the memory that there was. They let go of the lock
# of the interpreter themselves, so they are called with it held.
_CALLS = {
    "malloc": (ctypes.c_void_p, ctypes.c_size_t),
    "calloc": (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t),
    "realloc": (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t),
}
# Places of PyDataMem_GetHandler in the table of NumPy's C interface, since its release 1.22.
_GET_HANDLER = 305


def _default_handler() -> _Handler:
    """Return NumPy's own handler, where it lies, so that a change of it holds in every thread."""
    try:
        from numpy._core import _multiarray_umath as core
    except ImportError:
        from numpy.core import _multiarray_umath as core
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(core._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    get = ctypes.PYFUNCTYPE(ctypes.py_object)(table[_GET_HANDLER])
    return _Handler.from_address(pointer(get(), b"mem_handler"))


@contextmanager
def _failing_arrays(fault: Fault, at_least: int) -> Iterator[None]:
    """Let the n-th array of so many bytes find no memory, whoever of NumPy asks for it."""
    handler = _default_handler()
    if handler.name != b"default_allocator" or handler.version != 1:
        raise RuntimeError(f"NumPy allocates with {handler.name!r}, which is not known here")
    own = handler.allocator
    plain = {name: getattr(own, name) for name in _CALLS}
    inner = {name: ctypes.PYFUNCTYPE(ctypes.c_void_p, *kinds)(plain[name]) for name, kinds in _CALLS.items()}

    def outer(name: str) -> Callable[..., int | None]:
        def allocate(context: Any, first: Any, *rest: Any) -> int | None:
            size = rest[0] if name == "realloc" else first * (rest[0] if rest else 1)
            return None if size >= at_least and fault.due() else inner[name](context, first, *rest)

        return allocate

    # Kept, as what C calls must not be collected.
    kept = {name: ctypes.CFUNCTYPE(ctypes.c_void_p, *kinds)(outer(name)) for name, kinds in _CALLS.items()}
    try:
        for name, function in kept.items():
            setattr(own, name, ctypes.cast(function, ctypes.c_void_p).value)
        yield
    finally:
        for name, address in plain.items():
            setattr(own, name, address)

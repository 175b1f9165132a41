"""Exceptions: one class for each status of petal.h."""

from __future__ import annotations

from typing import Any, Dict, Type

from petal._native import ffi, lib


class Error(Exception):
    """A call failed. The text says why, for people.

    `status` is the number of enum petal_status, `os_error` the errno of the failed system call or
    0, `file` the file concerned or "", `offset` the place in that file or in a filter's text.
    """

    status: int = 0
    os_error: int = 0
    file: str = ""
    offset: int = 0


class IO(Error):
    """PETAL_IO: input/output error."""


class Corrupt(Error):
    """PETAL_CORRUPT: stored data is damaged."""


class NoMemory(Error, MemoryError):
    """PETAL_NO_MEMORY: out of memory."""


class Invalid(Error, ValueError):
    """PETAL_INVALID: invalid argument."""


class NotFound(Error):
    """PETAL_NOT_FOUND: no such database, table or column family."""


class Exists(Error):
    """PETAL_EXISTS: it exists already."""


class Busy(Error):
    """PETAL_BUSY: in use by another opener, or given up."""


class Unsupported(Error):
    """PETAL_UNSUPPORTED: written by a newer format version."""


class ReadOnly(Error):
    """PETAL_READ_ONLY: the database, the table or the snapshot takes no writes."""


class NoSpace(Error):
    """PETAL_NO_SPACE: no space left on the device."""


class Conflict(Error):
    """PETAL_CONFLICT: a row that a transaction has read or written was written to since it began."""


class Timeout(Error):
    """PETAL_TIMEOUT: the connection's timeout has passed."""


class Closed(Invalid):
    """The connection, or what was made from it, is closed."""


def class_name(status: str) -> str:
    """The name of a status' exception: NotFound of PETAL_NOT_FOUND."""
    words = status[len("PETAL_"):].split("_")
    return "".join(word if len(word) == 2 and word == "IO" else word.capitalize() for word in words)


CLASSES: Dict[int, Type[Error]] = {
    number: globals().get(class_name(name), Error)
    for number, name in ffi.typeof("enum petal_status").elements.items()
    if number
}
CLASSES[lib.PY_CLOSED] = Closed


def of(error: Any, status: int) -> Error:
    """The exception for a call that left that petal_error."""
    made = CLASSES.get(status, Error)(text(error.text))
    made.status = status if status != lib.PY_CLOSED else lib.PETAL_INVALID
    made.os_error = error.os_error
    made.file = text(error.file)
    made.offset = error.offset
    return made


def text(characters: Any) -> str:
    """A text of C's. File names that are no UTF-8 stay what os.fsencode makes bytes of."""
    result: str = ffi.string(characters).decode("utf-8", "surrogateescape")
    return result

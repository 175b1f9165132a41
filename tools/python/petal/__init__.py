"""Petal for Python: an embedded database with HBase's data model, and happybase's interface."""

from petal._native import ffi as _ffi
from petal._native import lib as _lib
from petal.batch import Batch
from petal.connection import Connection, open, restore, verify
from petal.errors import (
    IO,
    Busy,
    Closed,
    Conflict,
    Corrupt,
    Error,
    Exists,
    Invalid,
    NoMemory,
    NoSpace,
    NotFound,
    ReadOnly,
    Timeout,
    Unsupported,
)
from petal.kv import KeyValue, KeyValueBatch
from petal.pool import ConnectionPool, NoConnectionsAvailable
from petal.snapshot import Snapshot
from petal.table import Table
from petal.transaction import Transaction

__version__: str = _ffi.string(_lib.petal_version()).decode("ascii")

__all__ = [
    "Batch",
    "Busy",
    "Closed",
    "Connection",
    "ConnectionPool",
    "Conflict",
    "Corrupt",
    "Error",
    "Exists",
    "IO",
    "Invalid",
    "KeyValue",
    "KeyValueBatch",
    "NoConnectionsAvailable",
    "NoMemory",
    "NoSpace",
    "NotFound",
    "ReadOnly",
    "Snapshot",
    "Table",
    "Timeout",
    "Transaction",
    "Unsupported",
    "open",
    "restore",
    "verify",
]

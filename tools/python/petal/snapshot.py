"""Snapshots: reads as of one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from petal import errors
from petal._core import NULL, Database, Owned
from petal._native import ffi, lib
from petal.kv import KeyValue
from petal.table import Table

if TYPE_CHECKING:
    from petal.connection import Connection


class Snapshot:
    """The database as it was when Connection.snapshot was called, until it is closed: by close(),
    by the end of a `with` block, by the collector or with its connection."""

    def __init__(self, connection: "Connection") -> None:
        self.connection = connection
        self._database: Database = connection._database
        made = ffi.new("py_reader **")
        self._database.run(lib.py_snapshot_open, self._database.pointer, made)
        self._owned = Owned(made[0], lib.py_reader_free)

    @property
    def _reader(self) -> Any:
        pointer = self._owned.pointer
        if pointer == NULL:
            raise errors.Closed("the snapshot is closed")
        return pointer

    def table(self, name: Union[str, bytes], use_prefix: bool = True) -> Table:
        """The table of that name at this snapshot; it takes no writes."""
        return Table(self.connection.table(name, use_prefix).name, self.connection, self)

    def kv(self, name: Union[str, bytes]) -> KeyValue:
        """The key-value map of that name at this snapshot; it takes no writes."""
        return KeyValue(self.connection, self.connection._table_name(name), {}, self)

    def close(self) -> None:
        """Let go of it. Closing again does nothing."""
        lib.py_reader_close(self._owned.pointer)

    def __enter__(self) -> "Snapshot":
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()

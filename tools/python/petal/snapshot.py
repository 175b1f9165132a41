"""Views: reads as of one moment, by snapshots and transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from petal import errors
from petal._core import NULL, Database, Owned
from petal._native import ffi, lib
from petal.kv import KeyValue
from petal.table import Table

if TYPE_CHECKING:
    from petal.connection import Connection


class View:
    """The database as it was when the view was made, until it is closed: by close(), by the end of
    a `with` block, by the collector or with its connection."""

    def __init__(self, connection: "Connection", begin: Any, *arguments: Any) -> None:
        self.connection = connection
        self._database: Database = connection._database
        made = ffi.new("py_part **")
        self._database.run(begin, self._database.pointer, *arguments, made)
        self._owned = Owned(made[0], lib.py_part_free)

    @property
    def _reader(self) -> Any:
        pointer = self._owned.pointer
        if pointer == NULL:
            raise errors.Closed("the %s is closed" % type(self).__name__.lower())
        return pointer

    def _writer(self) -> Any:
        """What writes go to."""
        raise errors.ReadOnly("a snapshot takes no writes")

    def _add(self, add: Any, table: Owned, row: Any, what: Any, timestamp: int) -> None:
        """Have add_cells or add_deletes add to it."""
        self._writer()

    def table(self, name: Union[str, bytes], use_prefix: bool = True) -> Table:
        """The table of that name at this moment."""
        return Table(self.connection.table(name, use_prefix).name, self.connection, self)

    def kv(self, name: Union[str, bytes]) -> KeyValue:
        """The key-value map of that name at this moment."""
        return KeyValue(self.connection, self.connection._table_name(name), {}, self)

    def close(self) -> None:
        """Let go of it. Closing again does nothing."""
        lib.py_part_close(self._owned.pointer)


class Snapshot(View):
    """The database as it was when Connection.snapshot was called. Its tables and maps take no
    writes."""

    def __enter__(self) -> "Snapshot":
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()

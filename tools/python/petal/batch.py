"""Batches of writes to a table, as happybase's Batch has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional

from petal import errors
from petal._core import Bytes, Columns, Owned, as_bytes, as_copied, time_of
from petal._native import ffi, lib

if TYPE_CHECKING:
    from petal.table import Table


def add_cells(
    to: Any, table: Owned, row: Bytes, data: Mapping[Any, Any], timestamp: int, error: Any
) -> None:
    """Add the puts of a row to a batch or a transaction. If it fails that may have some of them."""
    add, of = lib.py_batch_put, table.pointer
    if type(row) is not bytes:
        row = as_bytes(row)
    for column, value in data.items():
        if type(column) is not bytes:
            column = as_bytes(column)
        if type(value) is not bytes:
            value = as_copied(value)
        status = add(
            to, of, row, len(row), column, len(column), timestamp, value, len(value), error
        )
        if status:
            raise errors.of(error, status)


def add_deletes(
    to: Any, table: Owned, row: Bytes, columns: Columns, timestamp: int, error: Any
) -> None:
    """Add the deletion of a row, or of these columns and families of it, as add_cells."""
    if columns is not None and not isinstance(columns, (tuple, list)):
        raise TypeError("'columns' must be a tuple or list")
    key, of = as_bytes(row), table.pointer
    if columns is None:
        status = lib.py_batch_delete_row(to, of, key, len(key), timestamp, error)
        if status:
            raise errors.of(error, status)
    for name in [as_bytes(column) for column in columns or ()]:
        status = lib.py_batch_delete(to, of, key, len(key), name, len(name), timestamp, error)
        if status:
            raise errors.of(error, status)


class Batch:
    """Writes that are sent together, made by Table.batch.

    The bytes of a write are copied when it is added. The writes are applied in the order in which
    they were added, all or none.
    """

    def __init__(
        self,
        table: "Table",
        timestamp: Optional[int] = None,
        batch_size: Optional[int] = None,
        transaction: bool = False,
        wal: bool = True,
    ) -> None:
        if batch_size is not None:
            if transaction:
                raise TypeError("'transaction' cannot be used when 'batch_size' is specified")
            if not batch_size > 0:
                raise ValueError("'batch_size' must be > 0")
        self._table = table
        self._timestamp = time_of(timestamp)
        self._batch_size = batch_size
        self._transaction = transaction
        self._wal = wal
        self._logged = False  # some write of the batch asks for the log
        self._database = table.connection._database
        self._batch = self._database.batch()
        self._error = ffi.new("petal_error *")
        self._half = False  # it may have a part of a put or delete that failed

    def put(self, row: Bytes, data: Mapping[Any, Any], wal: Optional[bool] = None) -> None:
        """As Table.put."""
        self._add(add_cells, row, data, wal, len(data) > 1)

    def delete(self, row: Bytes, columns: Columns = None, wal: Optional[bool] = None) -> None:
        """As Table.delete."""
        self._add(add_deletes, row, columns, wal, columns is not None and len(columns) > 1)

    def _add(self, add: Any, row: Bytes, what: Any, wal: Optional[bool], several: bool) -> None:
        table = self._database.table(self._table.name)
        self._logged |= bool(self._wal if wal is None else wal)
        try:
            add(self._batch.pointer, table, row, what, self._timestamp, self._error)
        except BaseException:
            self._half |= several
            raise
        self._send_if_full()

    def _send_if_full(self) -> None:
        if self._batch_size and lib.py_batch_count(self._batch.pointer) >= self._batch_size:
            self.send()

    def send(self) -> None:
        """Apply the writes. If it fails none is, and they stay in the batch."""
        if self._half:
            raise errors.Invalid("a put or delete into the batch failed half-way: clear() it")
        status = lib.py_batch_write(
            self._batch.pointer, 0 if self._logged else lib.PETAL_SKIP_WAL,
            self._table.connection._deadline, self._error,
        )
        if status:
            raise errors.of(self._error, status)
        self._logged = False

    def clear(self) -> None:
        """Drop the writes that were not sent."""
        lib.py_batch_clear(self._batch.pointer)
        self._half = self._logged = False

    def __len__(self) -> int:
        """The number of its writes: each column of a put is one."""
        count: int = lib.py_batch_count(self._batch.pointer)
        return count

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> "Batch":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None and (self._transaction or self._half):
            self.clear()
            return
        self.send()

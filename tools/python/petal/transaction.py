"""Transactions: reads and writes of any rows, tables and maps that happen as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from petal import errors
from petal._core import Owned, durability_of
from petal._native import ffi, lib
from petal.snapshot import View

if TYPE_CHECKING:
    from petal.connection import Connection


class Transaction(View):
    """What Connection.transaction begins. Its tables and maps are the database as it was then, with
    the transaction's own writes, which nobody else sees before they are committed: all of them, or
    none with petal.Conflict, if others have written meanwhile to a row that was read or written
    here. Then begin anew, as Connection.transact does.

    The end of a `with` block commits; an exception in it, abort() or the collector drops the
    writes. Afterwards every use is petal.Closed. Threads that share one take turns.
    """

    def __init__(self, connection: "Connection", durability: Union[None, int, str]) -> None:
        super().__init__(
            connection, lib.py_transaction_begin, durability_of(durability), connection._deadline
        )
        self._half = False  # it may have a part of a put or delete that failed
        self._over = False

    def _writer(self) -> Any:
        return self._reader

    def _add(self, add: Any, table: Owned, row: Any, what: Any, timestamp: int) -> None:
        try:
            add(self._writer(), table, row, what, timestamp, ffi.new("petal_error *"))
        except BaseException:
            self._half |= what is None or len(what) > 1
            raise

    def commit(self) -> None:
        """Write all, or nothing and raise. Either way the transaction is over."""
        over, self._over = self._over, True
        if self._half and not over:
            self.close()
            raise errors.Invalid("a put or delete in the transaction failed half-way")
        self._database.run(lib.py_transaction_commit, self._owned.pointer)

    def close(self) -> None:
        """As abort()."""
        self._over = True
        super().close()

    def abort(self) -> None:
        """Drop the writes. When it is over already, this does nothing."""
        self.close()

    def __enter__(self) -> "Transaction":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self.abort()
        elif not self._over:
            self.commit()

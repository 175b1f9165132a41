"""A pool of connections, as happybase's ConnectionPool. One connection serves any number of threads
just as well: the pool is for programs that have it already."""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import Any, Iterator, Optional

from petal.connection import Connection


class NoConnectionsAvailable(RuntimeError):
    """All connections of the pool were in use for as long as the caller wanted to wait."""


class ConnectionPool:
    """At most `size` connections at a time, all of one open database. The other arguments are those
    of Connection, except autoconnect."""

    def __init__(self, size: int, **arguments: Any) -> None:
        if not isinstance(size, int):
            raise TypeError("Pool 'size' arg must be an integer")
        if not size > 0:
            raise ValueError("Pool 'size' arg must be greater than zero")
        self._free: "queue.LifoQueue[Connection]" = queue.LifoQueue(maxsize=size)
        self._of_thread = threading.local()
        arguments["autoconnect"] = False
        for _ in range(size):
            self._free.put(Connection(**arguments))
        # What is wrong with the arguments is told here.
        with self.connection():
            pass

    @contextlib.contextmanager
    def connection(self, timeout: Optional[float] = None) -> Iterator[Connection]:
        """A connection, for the `with` block. Within it the thread gets the same one again. Waits
        at most `timeout` seconds, then raises NoConnectionsAvailable."""
        connection: Optional[Connection] = getattr(self._of_thread, "connection", None)
        if connection is not None:
            yield connection
            return
        try:
            connection = self._free.get(True, timeout)
        except queue.Empty:
            raise NoConnectionsAvailable(
                "No connection available from pool within specified timeout"
            ) from None
        self._of_thread.connection = connection
        try:
            connection.open()
            yield connection
        finally:
            del self._of_thread.connection
            self._free.put(connection)

"""Tables: rows of columns, as happybase's Table has them."""

from __future__ import annotations

from collections import OrderedDict
from struct import Struct
from typing import Any, Dict, List, Mapping, Optional, Tuple

from petal import errors
from petal._core import (
    LATEST,
    NULL,
    Bytes,
    Columns,
    Database,
    Fetch,
    Named,
    Owned,
    Scan,
    as_bytes,
    as_value,
    integer,
    loads,
    names,
    open_scan,
    short_names,
    time_of,
    view,
)
from petal._native import ffi, lib
from petal.batch import Batch, add_cells, add_deletes

pack_counter = Struct(">q").pack

py_get = lib.py_get
py_put = lib.py_put

# A put of more columns does not leave its batch to the next.
KEPT_COLUMNS = 32

# Lists of columns that were made before.
known_columns: Dict[Tuple[bytes, ...], bytes] = {}
KNOWN_COLUMNS = 256


def column_list(columns: Columns) -> bytes:
    if not columns:
        if columns is None or isinstance(columns, (tuple, list)):
            return b""
    if not isinstance(columns, (tuple, list)):
        raise TypeError("'columns' must be a tuple or list")
    try:
        return known_columns[tuple(columns)]
    except (KeyError, TypeError):
        pass
    made = names(columns)
    if all(type(column) is bytes for column in columns):
        if len(known_columns) >= KNOWN_COLUMNS:
            known_columns.clear()
        known_columns[tuple(columns)] = made
    return made


def sort_row(item: Tuple[bytes, Dict[bytes, Any]]) -> Tuple[bytes, "OrderedDict[bytes, Any]"]:
    return item[0], OrderedDict(item[1])


class Table(Named):
    """A table of a connection, made by Connection.table. It need not exist yet.

    Any number of threads may use it at once.
    """

    # table[...] is no sequence.
    __iter__ = None

    # ---- its description ----

    def families(self) -> Dict[bytes, Dict[str, Any]]:
        """The column families and their settings, under happybase's names and under Petal's."""
        database, table = self._open()
        call = database.take()
        status = lib.py_table_describe(table.pointer, call)
        if status:
            raise database.failed(call, status)
        found: List[bytes] = loads(view(call.bytes, call.size))
        described = {
            name: describe(name, call.families[place]) for place, name in enumerate(found)
        }
        database.calls.append(call)
        return described

    def regions(self) -> List[Dict[str, Any]]:
        """The regions in the order of rows: happybase's keys, and files, file_bytes,
        memtable_bytes and cells of petal_region_info. An empty key is an open end. Scans of these
        ranges give the table's rows, each once: with one snapshot, in several threads."""
        database, table = self._open()
        return [
            {
                "name": b"%b,%b,%d" % (self.name, start, number),
                "start_key": start,
                "end_key": end,
                "id": number,
                "version": 1,
                "server_name": b"",
                "port": 0,
                "files": files,
                "file_bytes": file_bytes,
                "memtable_bytes": memtable_bytes,
                "cells": cells,
            }
            for number, start, end, files, file_bytes, memtable_bytes, cells in database.ask(
                lib.py_table_regions, table.pointer
            )
        ]

    def split(self, row: Optional[Bytes] = None, region: int = 0) -> None:
        """Split the region that has the row before it; or the region of that id, after a flush, in
        the middle of its store files, without one each that has a middle. petal.Invalid: a region
        begins with the row already, or there is no middle."""
        if row is not None and region:
            raise TypeError("split takes a row or a region, not both")
        key = b"" if row is None else as_bytes(row)
        if row is not None and not key:
            raise errors.Invalid("a region is split before a row, which is not empty")
        database, table = self._open()
        database.run(
            lib.py_table_split, table.pointer, key, len(key), integer("region", region, 0, 2**32)
        )

    def merge(self, region: int, other: int) -> None:
        """Merge two regions that are neighbours into one, which keeps the id of the first."""
        database, table = self._open()
        database.run(
            lib.py_table_merge,
            table.pointer,
            integer("region", region, 0, 2**32),
            integer("other", other, 0, 2**32),
        )

    # ---- reads ----

    def row(
        self,
        row: Bytes,
        columns: Columns = None,
        timestamp: Optional[int] = None,
        include_timestamp: bool = False,
    ) -> Dict[bytes, Any]:
        """A row, as a dict of columns (b"family:qualifier") to values, or to (value, timestamp)
        with `include_timestamp`. An empty dict: the row has no such cells.

        `columns` is a list of columns and of families (b"family" or b"family:"). `timestamp`:
        only versions that are older.
        """
        if type(row) is not bytes:
            row = as_bytes(row)
        listed = column_list(columns) if columns is not None else b""
        limit = LATEST if timestamp is None else time_of(timestamp)
        database, table = self._handles
        if database is None or database is not self.connection._opened:
            database, table = self._open()
        reader = NULL if self._view is None else self._view._reader
        call = database.take()
        status = py_get(
            table.pointer, row, len(row), reader, listed, len(listed), limit,
            self.connection._deadline, 1 if include_timestamp else 0, call,
        )
        if status:
            raise database.failed(call, status)
        size = call.size
        answer: Dict[bytes, Any] = loads(view(call.bytes, size))
        database.give(call, size)
        return answer

    def rows(
        self,
        rows: Any,
        columns: Columns = None,
        timestamp: Optional[int] = None,
        include_timestamp: bool = False,
    ) -> List[Tuple[bytes, Dict[bytes, Any]]]:
        """Several rows, as a list of (row, dict), as of one moment. Rows without cells are not in
        it. The other arguments are those of row()."""
        if isinstance(rows, (bytes, str, bytearray, memoryview)):
            raise TypeError("'rows' must be a list of rows")
        listed = column_list(columns)
        limit = time_of(timestamp)
        keys = names(rows)
        database, table = self._open()
        if not keys:
            return []
        found: List[Tuple[bytes, Dict[bytes, Any]]] = database.ask(
            lib.py_rows, table.pointer, keys, len(keys), self._reader(), listed,
            len(listed), limit, self.connection._deadline, int(bool(include_timestamp)),
        )
        return found

    def cells(
        self,
        row: Bytes,
        column: Bytes,
        versions: Optional[int] = None,
        timestamp: Optional[int] = None,
        include_timestamp: bool = False,
    ) -> List[Any]:
        """Versions of one column, the newest first: values, or (value, timestamp) with
        `include_timestamp`. At most `versions`, and only those older than `timestamp`."""
        if versions is None:
            versions = 2**31 - 1
        elif not isinstance(versions, int):
            raise TypeError("'versions' argument must be a number or None")
        elif versions < 1:
            raise ValueError("'versions' argument must be at least 1 (or None)")
        limit = time_of(timestamp)
        key = as_bytes(row)
        listed = names([column])
        shape = lib.PY_ONE_COLUMN | (lib.PY_TIMESTAMPS if include_timestamp else 0)
        database, table = self._open()
        found: List[Any] = database.ask(
            lib.py_cells, table.pointer, key, len(key), self._reader(), listed,
            len(listed), limit, min(versions, 2**31 - 1), self.connection._deadline, shape,
        )
        return found

    def scan(
        self,
        row_start: Optional[Bytes] = None,
        row_stop: Optional[Bytes] = None,
        row_prefix: Optional[Bytes] = None,
        columns: Columns = None,
        filter: Optional[Bytes] = None,
        timestamp: Optional[int] = None,
        include_timestamp: bool = False,
        batch_size: int = 1000,
        scan_batching: Optional[int] = None,
        limit: Optional[int] = None,
        sorted_columns: bool = False,
        reverse: bool = False,
    ) -> Scan:
        """The rows from `row_start` (included) to `row_stop` (not included), or those with
        `row_prefix`, as an iterator of (row, dict) over the table as it is at this call.

        `filter` is a text in HBase's filter language. `limit`: at most so many rows. `reverse`:
        from high to low, `row_start` being the high end. `batch_size`: fetch at most so many rows
        at a time. `scan_batching`: split rows into pieces of at most so many cells, which count as
        rows. `sorted_columns`: give OrderedDicts (dicts are in order, too).
        """
        if batch_size < 1:
            raise ValueError("'batch_size' must be >= 1")
        if limit is not None and limit < 1:
            raise ValueError("'limit' must be >= 1")
        if scan_batching is not None and scan_batching < 1:
            raise ValueError("'scan_batching' must be >= 1")
        if row_prefix is not None and (row_start is not None or row_stop is not None):
            raise TypeError("'row_prefix' cannot be combined with 'row_start' or 'row_stop'")
        wanted = ffi.new("py_scan *")
        kept = {
            name: as_bytes(b"" if given is None else given)
            for name, given in (
                ("start", row_start), ("stop", row_stop), ("prefix", row_prefix),
                ("filter", filter),
            )
        }
        pointers = {name: ffi.from_buffer("char[]", given) for name, given in kept.items()}
        wanted.start, wanted.start_size = pointers["start"], len(kept["start"])
        wanted.stop, wanted.stop_size = pointers["stop"], len(kept["stop"])
        wanted.prefix, wanted.prefix_size = pointers["prefix"], len(kept["prefix"])
        if filter is not None:
            wanted.filter, wanted.filter_size = pointers["filter"], len(kept["filter"])
        listed = column_list(columns)
        column_pointer = ffi.from_buffer("char[]", listed)
        wanted.read.columns, wanted.read.columns_size = column_pointer, len(listed)
        wanted.read.view = self._reader()
        wanted.read.time_limit = time_of(timestamp)
        wanted.read.versions = 1
        wanted.read.deadline_ms = self.connection._deadline
        wanted.read.shape = lib.PY_TIMESTAMPS if include_timestamp else 0
        # Of pieces of rows the limit counts the pieces.
        wanted.row_limit = 0 if limit is None or scan_batching else limit
        wanted.batch = scan_batching or 0
        wanted.reversed = reverse
        most = min(batch_size, 1 << 20)
        database, table = self._open()
        reader = open_scan(database, lib.py_scan_open, table, wanted)
        return Scan(
            Fetch(database, reader, lib.py_scan_next, most, limit if scan_batching else None),
            sort_row if sorted_columns else None,
        )

    # ---- writes ----

    def put(
        self,
        row: Bytes,
        data: Mapping[Any, Any],
        timestamp: Optional[int] = None,
        wal: bool = True,
    ) -> None:
        """Store the cells of `data`, a dict of columns to values, all or none. Other columns of the
        row stay. `timestamp` is the store's time if not given. `wal` false: only in memory."""
        database, table = self._handles
        if database is None or database is not self.connection._opened:
            database, table = self._open()
        stamp = LATEST if timestamp is None else time_of(timestamp)
        if self._view is not None:
            self._view._add(add_cells, table, row, data, stamp)
            return
        durability = 0 if wal else lib.PETAL_SKIP_WAL
        if len(data) != 1:
            self._put_cells(database, table, row, data, stamp, durability)
            return
        for column, value in data.items():
            if type(row) is not bytes:
                row = as_bytes(row)
            if type(column) is not bytes:
                column = as_bytes(column)
            if type(value) is not bytes:
                value = as_value(value)
            call = database.take()
            status = py_put(
                table.pointer, row, len(row), column, len(column), stamp, value, len(value),
                durability, self.connection._deadline, call,
            )
            if status:
                raise database.failed(call, status)
            database.calls.append(call)

    def _put_cells(
        self,
        database: Database,
        table: Owned,
        row: Bytes,
        data: Mapping[Any, Any],
        timestamp: int,
        durability: int,
    ) -> None:
        """Put several cells, by a batch that serves again if it stays small."""
        call = database.take()
        error = ffi.addressof(call, "error")
        batch = database.take_batch()
        try:
            add_cells(batch.pointer, table, row, data, timestamp, error)
            status = lib.py_batch_write(
                batch.pointer, durability, self.connection._deadline, error
            )
            if status:
                raise errors.of(error, status)
        finally:
            database.calls.append(call)
        if len(data) <= KEPT_COLUMNS:
            database.batches.append(batch)

    def delete(
        self,
        row: Bytes,
        columns: Columns = None,
        timestamp: Optional[int] = None,
        wal: bool = True,
    ) -> None:
        """Delete the row, or only these columns and families of it. With `timestamp` only versions
        up to that one."""
        if self._view is not None:
            _, table = self._open()
            self._view._add(add_deletes, table, row, columns, time_of(timestamp))
            return
        with self.batch(timestamp=timestamp, transaction=True, wal=wal) as batch:
            batch.delete(row, columns)

    def batch(
        self,
        timestamp: Optional[int] = None,
        batch_size: Optional[int] = None,
        transaction: bool = False,
        wal: bool = True,
    ) -> Batch:
        """A batch of writes, to send by its send(), or at the end of a `with` block: all of them
        are applied, or none. With `batch_size` it is sent whenever it has so many cells.
        `transaction`: an exception in the `with` block drops it."""
        self._writes_at_once()
        return Batch(self, timestamp, batch_size, transaction, wal)

    # ---- counters ----

    def counter_get(self, row: Bytes, column: Bytes) -> int:
        """The value of a counter, which is made, as 0, if it is not there."""
        return self.counter_inc(row, column, 0)

    def counter_set(self, row: Bytes, column: Bytes, value: int = 0) -> None:
        self.put(row, {column: pack_counter(integer("value", value))})

    def counter_inc(self, row: Bytes, column: Bytes, value: int = 1) -> int:
        """Add to a counter, in one step; the sum."""
        database, table, transaction = self._writes()
        key, name = as_bytes(row), as_bytes(column)
        amount = integer("value", value)
        call = database.take()
        status = lib.py_increment(
            table.pointer, transaction, key, len(key), name, len(name), amount,
            self.connection._deadline, call,
        )
        if status:
            raise database.failed(call, status)
        total: int = call.number
        database.calls.append(call)
        return total

    def counter_dec(self, row: Bytes, column: Bytes, value: int = 1) -> int:
        return self.counter_inc(row, column, -value)

    # ---- as Python has it ----

    def __getitem__(self, key: Any) -> Any:
        """table[row] is the row's dict, table[row, column] a value; KeyError if there is none."""
        if isinstance(key, tuple):
            row, column = key
            values = self.cells(row, column, 1)
            if not values:
                raise KeyError(key)
            return values[0]
        found = self.row(key)
        if not found:
            raise KeyError(key)
        return found

    def __contains__(self, key: Any) -> bool:
        """Whether a row, or (row, column), has a cell."""
        try:
            self[key]
        except KeyError:
            return False
        return True

    def __setitem__(self, key: Tuple[Bytes, Bytes], value: Any) -> None:
        """table[row, column] = value"""
        if not isinstance(key, tuple):
            raise TypeError("assign to table[row, column]; put() stores several columns of a row")
        row, column = key
        self.put(row, {column: value})

    def __delitem__(self, key: Any) -> None:
        """del table[row], or table[row, column]; nothing happens if it is not there."""
        if isinstance(key, tuple):
            self.delete(key[0], [key[1]])
        else:
            self.delete(key)


def describe(name: bytes, family: Any) -> Dict[str, Any]:
    """A family's settings: happybase's, then petal_family_options."""
    own: Dict[str, Any] = {}
    for field, details in ffi.typeof("petal_family_options").fields:
        if details.type.kind == "enum":
            number = getattr(family, field)
            own[field] = next(
                known for known, value in short_names(details.type).items() if value == number
            )
        elif details.type.kind == "primitive" and field not in ("size", "attribute_count"):
            own[field] = getattr(family, field)
    return {
        "name": name + b":",
        "max_versions": own["versions"],
        "compression": own["compression"],
        "in_memory": own["in_memory"],
        "bloom_filter_type": own["bloom"],
        "bloom_filter_vector_size": 0,
        "bloom_filter_nb_hashes": 0,
        "block_cache_enabled": not own["no_block_cache"],
        "time_to_live": own["ttl_seconds"],
        **own,
    }

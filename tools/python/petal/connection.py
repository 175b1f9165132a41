"""Connections: an open database, as happybase's Connection has it."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterable, List, Optional, TypeVar, Union

from petal import _core, errors
from petal._core import (
    NULL,
    Bytes,
    Database,
    Path,
    as_bytes,
    close_database,
    file_path,
    integer,
    open_database,
    set_options,
)
from petal._native import ffi, lib
from petal.kv import KeyValue
from petal.snapshot import Snapshot
from petal.table import Table
from petal.transaction import Transaction

Result = TypeVar("Result")

COMPAT_MODES = ("0.90", "0.92", "0.94", "0.96", "0.98")
THRIFT_TRANSPORTS = ("buffered", "framed")
THRIFT_PROTOCOLS = ("binary", "compact")

# happybase's options of families, by Petal's names.
RENAMED = {
    "max_versions": "versions",
    "bloom_filter_type": "bloom",
    "time_to_live": "ttl_seconds",
}
WITHOUT_MEANING = ("name", "bloom_filter_vector_size", "bloom_filter_nb_hashes")
# HBase's codecs that Petal lacks.
AS_LZ4 = ("SNAPPY", "GZ", "LZO", "ZSTD", "BZIP2", "LZMA", "BROTLI")


def ensure_name(name: Any, what: str) -> bytes:
    if not isinstance(name, (bytes, str)):
        raise TypeError("%s must be a text or byte string" % what)
    return as_bytes(name)


class Connection:
    """A database, open. Its directory is `path`; `host` is another name for the argument.

    The next arguments are happybase's. `timeout` is the time that a call may take, in milliseconds:
    then it raises petal.Timeout. `table_prefix` and a separator begin the names of all tables.
    With `autoconnect` false, open() opens it. `port`, `compat`, `transport` and `protocol` have no
    effect.

    The others are petal_options of petal.h: `create` makes a database if there is none, and is the
    default unless `read_only`. Durability is a name: "SKIP_WAL", "ASYNC_WAL", "SYNC_WAL",
    "FSYNC_WAL".

    Connections of one process with the same path and options share the open database, and any
    number of threads may use one. close(), the end of a `with` block or the collector end it.
    """

    def __init__(
        self,
        path: Optional[Path] = None,
        port: Optional[int] = None,
        timeout: Optional[int] = None,
        autoconnect: bool = True,
        table_prefix: Union[None, str, bytes] = None,
        table_prefix_separator: Union[str, bytes] = b"_",
        compat: str = "0.98",
        transport: str = "buffered",
        protocol: str = "binary",
        *,
        host: Optional[Path] = None,
        create: Optional[bool] = None,
        error_if_exists: Optional[bool] = None,
        read_only: Optional[bool] = None,
        memory_bytes: Optional[int] = None,
        cache_bytes: Optional[int] = None,
        memtable_bytes: Optional[int] = None,
        open_files: Optional[int] = None,
        no_compaction: Optional[bool] = None,
        log_sync_interval_ms: Optional[int] = None,
        durability: Union[None, int, str] = None,
        no_log_mapping: Optional[bool] = None,
        map_files: Optional[bool] = None,
        refresh_at_snapshots: Optional[bool] = None,
        max_region_bytes: Optional[int] = None,
    ) -> None:
        self._opened: Optional[Database] = None
        if compat not in COMPAT_MODES:
            raise ValueError("'compat' must be one of %s" % ", ".join(COMPAT_MODES))
        if transport not in THRIFT_TRANSPORTS:
            raise ValueError("'transport' must be one of %s" % ", ".join(THRIFT_TRANSPORTS))
        if protocol not in THRIFT_PROTOCOLS:
            raise ValueError("'protocol' must be one of %s" % ", ".join(THRIFT_PROTOCOLS))
        if path is None:
            path = host
        elif host is not None:
            raise TypeError("'path' and 'host' are the same argument; give one")
        if path is None:
            raise TypeError("a path is needed: the directory of the database")
        if table_prefix is not None:
            table_prefix = ensure_name(table_prefix, "'table_prefix'")
        given = {
            "create": (not read_only) if create is None else create,
            "error_if_exists": error_if_exists,
            "read_only": read_only,
            "memory_bytes": memory_bytes,
            "cache_bytes": cache_bytes,
            "memtable_bytes": memtable_bytes,
            "open_files": open_files,
            "no_compaction": no_compaction,
            "log_sync_interval_ms": log_sync_interval_ms,
            "durability": durability,
            "no_log_mapping": no_log_mapping,
            "map_files": map_files,
            "refresh_at_snapshots": refresh_at_snapshots,
            "max_region_bytes": max_region_bytes,
        }
        self.path = self.host = file_path(path)
        self.port = port
        self.timeout = timeout
        self.compat = compat
        self.table_prefix: Optional[bytes] = table_prefix
        self.table_prefix_separator = ensure_name(
            table_prefix_separator, "'table_prefix_separator'"
        )
        # C takes the greatest number for "not at all".
        self._deadline = integer("timeout", timeout or 0, 0, lib.PETAL_NO_WAIT)
        self._options: Dict[str, Any] = {
            name: value for name, value in given.items() if value is not None
        }
        if autoconnect:
            self.open()

    def __repr__(self) -> str:
        return "<petal.Connection path=%r%s>" % (self.path, "" if self._opened else ", closed")

    # ---- open, close ----

    @property
    def _database(self) -> Database:
        database = self._opened
        if database is None:
            raise errors.Closed("the connection is closed")
        return database

    def open(self) -> None:
        """Open the database, unless it is open."""
        with _core.databases_lock:
            if self._opened is None:
                self._opened = open_database(self.path, self._options)

    def close(self) -> None:
        """Close the database: what is in memory goes to files. Snapshots and scans that are still
        open are closed first. Closing again does nothing; open() opens it again."""
        with _core.databases_lock:
            database, self._opened = self._opened, None
            if database is not None:
                close_database(database)

    def __enter__(self) -> "Connection":
        self.open()
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()

    # ---- tables ----

    def _table_name(self, name: Union[str, bytes]) -> bytes:
        name = ensure_name(name, "a table's name")
        if self.table_prefix is None:
            return name
        return self.table_prefix + self.table_prefix_separator + name

    def table(self, name: Union[str, bytes], use_prefix: bool = True) -> Table:
        """The table of that name. It is looked for when it is first used."""
        return Table(
            self._table_name(name) if use_prefix else ensure_name(name, "a table's name"), self
        )

    def tables(self) -> List[bytes]:
        """The names of the tables; with a prefix, of those that begin with it, without it."""
        found: List[bytes] = self._database.ask(lib.py_tables, self._database.pointer)
        if self.table_prefix is None:
            return found
        prefix = self._table_name(b"")
        return [name[len(prefix):] for name in found if name.startswith(prefix)]

    def create_table(
        self,
        name: Union[str, bytes],
        families: Dict[Any, Optional[Dict[str, Any]]],
        splits: Iterable[Bytes] = (),
    ) -> None:
        """Make a table of these families, each with a dict of options, or None: happybase's
        (max_versions, compression, in_memory, bloom_filter_type, block_cache_enabled, time_to_live)
        or those of petal_family_options in petal.h (versions, bloom, ttl_seconds, ...). A region
        begins at each row of `splits`."""
        made = Description(self._table_name(name), families, splits)
        self._database.run(lib.py_table_create, self._database.pointer, made.options)

    def alter_table(
        self, name: Union[str, bytes], families: Dict[Any, Optional[Dict[str, Any]]]
    ) -> None:
        """Make the table have these families: those not named are dropped with their data, new ones
        are added, all get the options given, or defaults."""
        made = Description(self._table_name(name), families)
        self._on(lib.py_table_alter, name, made.options)

    def _on(self, function: Any, name: Union[str, bytes], *arguments: Any) -> None:
        database = self._database
        database.run(function, database.table(self._table_name(name)).pointer, *arguments)

    def delete_table(self, name: Union[str, bytes], disable: bool = False) -> None:
        """Drop a table with its data. It must be disabled; with `disable` it is disabled first."""
        if disable:
            self.disable_table(name)
        elif self.is_table_enabled(name):
            raise errors.Invalid(
                "table %r is enabled: disable it first" % self._table_name(name).decode("utf-8")
            )
        self._on(lib.py_table_drop, name)

    def truncate_table(self, name: Union[str, bytes]) -> None:
        """Remove all cells in one step."""
        self._on(lib.py_table_truncate, name)

    def enable_table(self, name: Union[str, bytes]) -> None:
        """Let the table be used again."""
        handle = self._database.table(self._table_name(name)).pointer
        lib.py_table_disable(handle, False)
        self._on(lib.py_table_check, name)

    def disable_table(self, name: Union[str, bytes]) -> None:
        """Refuse reads and writes of the table in this process, until enable_table, or until the
        database is closed."""
        handle = self._database.table(self._table_name(name)).pointer
        if not lib.py_table_is_disabled(handle):
            self._on(lib.py_table_check, name)
            lib.py_table_disable(handle, True)

    def is_table_enabled(self, name: Union[str, bytes]) -> bool:
        handle = self._database.table(self._table_name(name)).pointer
        if lib.py_table_is_disabled(handle):
            return False
        self._on(lib.py_table_check, name)
        return True

    def compact_table(self, name: Union[str, bytes], major: bool = False) -> None:
        """With `major` flush the table and merge all its store files, and wait until it is done.
        Otherwise there is nothing to do: merging some files is due in the background anyway."""
        self._on(lib.py_table_flush if major else lib.py_table_check, name)
        if major:
            self._on(lib.py_table_compact, name)

    # ---- key -> value ----

    def kv(self, name: Union[str, bytes], **options: Any) -> KeyValue:
        """The key-value map of that name, which is made if it is not there; the options of its
        family are those of create_table, and only for a map that is made."""
        return KeyValue(self, self._table_name(name), family_options(options))

    # ---- the whole database ----

    def snapshot(self) -> Snapshot:
        """A read point: its tables and maps stay as they are at this call."""
        return Snapshot(self, lib.py_snapshot_open)

    def transaction(self, durability: Union[None, int, str] = None) -> Transaction:
        """Begin a transaction, of which the end of a `with` block commits the writes, all or none:
        petal.Conflict if others wrote meanwhile to what it read or wrote."""
        return Transaction(self, durability)

    def transact(
        self,
        function: Callable[[Transaction], Result],
        durability: Union[None, int, str] = None,
        attempts: Optional[int] = None,
    ) -> Result:
        """Call the function with a transaction, commit, and return what it returned. After
        petal.Conflict begin anew, in all at most `attempts` times, so it may run several times."""
        while True:
            try:
                with self.transaction(durability) as transaction:
                    return function(transaction)
            except errors.Conflict:
                if attempts is not None:
                    attempts -= 1
                    if attempts < 1:
                        raise

    def refresh(self) -> None:
        """Opened with read_only: show what another process has written by now. Else nothing."""
        self._database.run(lib.py_refresh, self._database.pointer)

    def flush(self) -> None:
        """Write what is in memory to store files, and wait until that is done."""
        self._database.run(lib.py_flush, self._database.pointer)

    def wait_idle(self) -> None:
        """Wait until no flush and no compaction is due or running."""
        self._database.run(lib.py_wait_idle, self._database.pointer)

    def checkpoint(self, directory: Path) -> None:
        """Copy the database as it is at one moment; store files are shared by hard links."""
        self._database.run(lib.py_checkpoint, self._database.pointer, c_path(directory))

    def backup(
        self, directory: Path, copy: bool = False, previous: Optional[Path] = None
    ) -> Dict[str, int]:
        """Back the database up: petal_backup of petal.h. The directory may hold an earlier backup,
        of which unchanged files stay. `copy`: share no files with the database. `previous`: another
        backup to share files with. What was done, as petal_backup_report."""
        report = ffi.new("petal_backup_report *")
        earlier = NULL if previous is None else c_path(previous)
        self._database.run(
            lib.py_backup, self._database.pointer, c_path(directory), copy, earlier, report
        )
        return fields(report)

    def stats(self) -> Dict[str, Any]:
        """petal_stats of petal.h as a dict. What is counted by kind of block is a dict in it."""
        found = ffi.new("petal_stats *")
        self._database.run(lib.py_stats, self._database.pointer, found)
        return statistics(found)

    def stats_text(self) -> str:
        """The statistics in Prometheus' text format."""
        found: bytes = self._database.ask(lib.py_stats_text, self._database.pointer)
        return found.decode("utf-8")


BLOCK_KINDS = ("data", "index", "filter")


def statistics(found: Any) -> Dict[str, Any]:
    result: Dict[str, Any] = {}
    for name, details in ffi.typeof("petal_stats").fields:
        value = getattr(found, name)
        if name == "background_error":
            result[name] = errors.of(value, value.status) if value.status else None
        elif details.type.kind == "array":
            result[name] = dict(zip(BLOCK_KINDS, value))
        else:
            result[name] = value
    return result


def fields(found: Any) -> Dict[str, int]:
    """A struct of numbers as a dict."""
    return {name: getattr(found, name) for name, _ in ffi.typeof(found).item.fields}


def c_path(path: Path) -> bytes:
    return os.fsencode(file_path(path))


def without_database(function: Any, found: Any, *arguments: Any) -> Dict[str, int]:
    """A call on databases that nobody has open, which fills `found`."""
    error = ffi.new("petal_error *")
    status = function(*arguments, found, error)
    if status:
        raise errors.of(error, status)
    return fields(found)


def restore(backup: Path, directory: Path, replace: bool = False) -> Dict[str, int]:
    """Make a database in `directory` of a backup: petal_restore of petal.h. `replace` the database
    that is there, which nobody has open. What was done, as petal_backup_report."""
    options = ffi.new("petal_restore_options *")
    options.size, options.replace = ffi.sizeof("petal_restore_options"), replace
    report = ffi.new("petal_backup_report *")
    return without_database(
        lib.petal_restore, report, c_path(backup), c_path(directory), options
    )


def verify(path: Path) -> Dict[str, int]:
    """Check all files of a database that nobody has open for writing: petal_verify of petal.h. What
    was looked at, as petal_check_counts; petal.Corrupt names the first fault."""
    return without_database(lib.petal_verify, ffi.new("petal_check_counts *"), c_path(path), NULL)


def family_options(options: Dict[str, Any]) -> Dict[str, Any]:
    """Options of a family by Petal's names and with its values."""
    made: Dict[str, Any] = {}
    for name, value in options.items():
        if name in WITHOUT_MEANING:
            continue
        if name == "block_cache_enabled":
            name, value = "no_block_cache", not value
        elif name == "time_to_live" and value <= 0:
            value = lib.PETAL_FOREVER
        elif name == "compression" and isinstance(value, str) and value.upper() in AS_LZ4:
            value = "LZ4"
        name = RENAMED.get(name, name)
        if name in made:
            raise TypeError("the option %r is given twice" % name)
        made[name] = value
    return made


class Description:
    """petal_table_options of a table, with the memory that they point to."""

    def __init__(
        self,
        name: bytes,
        families: Dict[Any, Optional[Dict[str, Any]]],
        splits: Iterable[Bytes] = (),
    ) -> None:
        if not isinstance(families, dict):
            raise TypeError("'families' arg must be a dictionary")
        if not families:
            raise ValueError("Cannot create table %r (no column families specified)" % name)
        self.memory: List[Any] = []
        self.options = ffi.new("petal_table_options *")
        self.options.size = ffi.sizeof("petal_table_options")
        self.options.family_count = len(families)
        self.array = ffi.new("petal_family_options[]", len(families))
        self.options.families = self.array
        self.set_name(self.options, name)
        for place, (family, options) in enumerate(families.items()):
            struct = ffi.addressof(self.array, place)
            struct.size = ffi.sizeof("petal_family_options")
            struct.versions = 3  # as happybase; petal.h has 1
            text = ensure_name(family, "a family's name")
            self.set_name(struct, text[:-1] if text.endswith(b":") else text)
            set_options(struct, family_options(options or {}), FAMILY_LEFT_OUT)
        rows = [as_bytes(row) for row in splits]
        self.rows = ffi.new("petal_slice[]", len(rows))
        for place, row in enumerate(rows):
            self.set_slice(self.rows[place], row)
        self.options.splits, self.options.split_count = self.rows, len(rows)

    def set_name(self, struct: Any, name: bytes) -> None:
        self.set_slice(struct.name, name)

    def set_slice(self, slice: Any, data: bytes) -> None:
        pointer = ffi.from_buffer("char[]", data)
        self.memory.append(pointer)
        slice.data, slice.size = pointer, len(data)


FAMILY_LEFT_OUT = ("name", "attributes", "attribute_count")


def open(path: Path, **options: Any) -> Connection:
    """Open the database in that directory; the options are those of Connection."""
    return Connection(path, **options)




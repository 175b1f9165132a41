"""What all classes stand on: an open database, and how its bytes go in and out."""

from __future__ import annotations

import atexit
import os
import pickle
import threading
import weakref
from numbers import Integral
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union,
)

from petal import errors
from petal._native import ffi, lib

if TYPE_CHECKING:
    from petal.connection import Connection
    from petal.snapshot import View

LATEST: int = lib.PETAL_LATEST
NULL = ffi.NULL

# A call that had a larger answer is freed after it, not kept.
KEPT_BYTES = 1 << 20
# A fetch of a scan ends about there, however many rows were asked for.
FETCH_BYTES = 1 << 18
FIRST_ROWS = 16

Bytes = Union[bytes, bytearray, memoryview, str]

loads = pickle.loads
from_buffer = ffi.from_buffer
view = ffi.buffer


def as_bytes(value: Any) -> bytes:
    """Bytes of a key or a name. Text is encoded in UTF-8. What may change is copied."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8")
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise TypeError(
            "bytes, a buffer or a text is needed, not %s" % type(value).__name__
        ) from None


def as_value(value: Any) -> Any:
    """Bytes that the library may read while other threads run: a view of bytes is taken as it is,
    what may change is copied."""
    if isinstance(value, memoryview) and type(value.obj) is bytes and value.c_contiguous:
        return from_buffer("char[]", value)
    return as_bytes(value)


def as_copied(value: Any) -> Any:
    """Bytes for a call that copies them, as those of batches: a buffer is taken as it is."""
    if isinstance(value, (bytearray, memoryview)):
        if isinstance(value, bytearray) or value.c_contiguous:
            return from_buffer("char[]", value)
    return as_bytes(value)


def time_of(timestamp: Optional[int]) -> int:
    """None: no limit for reads, the store's time for writes."""
    if timestamp is None:
        return LATEST
    return integer("timestamp", timestamp)


def integer(name: str, value: Any, least: int = -(2**63), limit: int = 2**63) -> int:
    """A number for C, which has so many bits; checked before a call is taken for it."""
    if not isinstance(value, Integral):
        raise TypeError("'%s' must be an integer" % name)
    if not least <= int(value) < limit:
        raise ValueError("'%s' must be from %d to %d" % (name, least, limit - 1))
    return int(value)


def names(items: Iterable[Any]) -> bytes:
    """A list of names as native/read.h describes it."""
    parts: List[bytes] = []
    for item in items:
        name = as_bytes(item)
        parts.append(len(name).to_bytes(4, "little"))
        parts.append(name)
    return b"".join(parts)


def set_options(struct: Any, values: Dict[str, Any], left_out: Tuple[str, ...]) -> None:
    """Set fields of a struct of options. An enumeration's value may be its name: "ROWCOL"."""
    fields = dict(ffi.typeof(struct).item.fields)
    for name in left_out + ("size",):
        del fields[name]
    for name, value in values.items():
        if name not in fields:
            raise TypeError("there is no option %r; there are: %s" % (name, ", ".join(fields)))
        if fields[name].type.kind == "enum" and isinstance(value, str):
            value = enumerated(fields[name].type, name, value)
        setattr(struct, name, value)


def short_names(enumeration: Any) -> Dict[str, int]:
    """The names of an enumeration, without what they have in common."""
    prefix = os.path.commonprefix(list(enumeration.relements))
    prefix = prefix[: prefix.rindex("_") + 1]
    return {name[len(prefix):]: number for name, number in enumeration.relements.items()}


def enumerated(enumeration: Any, option: str, name: str) -> int:
    known = short_names(enumeration)
    if name.upper() not in known:
        raise ValueError("%s cannot be %r, but: %s" % (option, name, ", ".join(known)))
    return known[name.upper()]


DURABILITY = ffi.typeof("enum petal_durability")


def durability_of(name: Union[None, int, str]) -> int:
    """None: the table's."""
    if name is None:
        return 0
    if isinstance(name, str):
        return enumerated(DURABILITY, "durability", name)
    return integer("durability", name, 0, 2**31)


class Owned:
    """What C made and Python frees.

    The collector ends objects that refer to each other in any order. One that comes later may still
    use this one, and finds NULL, which C takes for closed. (ffi.gc would leave it what was freed.)
    """

    def __init__(self, pointer: Any, free: Any) -> None:
        self.pointer = pointer
        self.free = free

    def __del__(self, nothing: Any = NULL) -> None:
        pointer, self.pointer = self.pointer, nothing
        self.free(pointer)


NOTHING = Owned(NULL, lib.py_table_free)


class Database(Owned):
    """An open database, which connections with the same path and options share.

    `calls` and `batches` are those that no thread uses. A thread takes one for each call, and gives
    it back. Lists take and give in one step.
    """

    def __init__(self, path: str, options: Dict[str, Any]) -> None:
        super().__init__(NULL, lib.py_database_free)
        self.calls: List[Any] = []
        self.batches: List[Owned] = []
        self.tables: Dict[bytes, Owned] = {}
        self.users = 0
        error = ffi.new("petal_error *")
        settings = ffi.new("petal_options *")
        settings.size = ffi.sizeof("petal_options")
        set_options(settings, options, ("env",))
        opened = ffi.new("py_database **")
        status = lib.py_open(os.fsencode(path), settings, opened, error)
        if status:
            raise errors.of(error, status)
        self.pointer = opened[0]

    def __del__(self, nothing: Any = NULL, free_call: Any = lib.py_call_free) -> None:
        calls, self.calls = self.calls, []
        for call in calls:
            free_call(call)
        super().__del__(nothing)

    def take(self) -> Any:
        try:
            return self.calls.pop()
        except IndexError:
            call = lib.py_call_new()
            if call == NULL:
                raise errors.NoMemory("out of memory") from None
            return call

    def give(self, call: Any, size: int) -> None:
        """Give a call back after an answer of that size."""
        if size <= KEPT_BYTES:
            self.calls.append(call)
        else:
            lib.py_call_free(call)

    def failed(self, call: Any, status: int) -> errors.Error:
        """The exception of a call that failed, which is given back."""
        error = errors.of(call.error, status)
        self.calls.append(call)
        return error

    def batch(self) -> Owned:
        """A new batch."""
        made = ffi.new("py_part **")
        self.run(lib.py_batch_new, self.pointer, made)
        return Owned(made[0], lib.py_part_free)

    def take_batch(self) -> Owned:
        """An empty one, as take() for calls."""
        try:
            return self.batches.pop()
        except IndexError:
            return self.batch()

    def run(self, function: Any, *arguments: Any) -> None:
        """A call that takes a petal_error last."""
        call = self.take()
        status = function(*arguments, ffi.addressof(call, "error"))
        if status:
            raise self.failed(call, status)
        self.calls.append(call)

    def ask(self, function: Any, *arguments: Any) -> Any:
        """A call that takes a py_call last, and leaves a pickle there."""
        call = self.take()
        status = function(*arguments, call)
        if status:
            raise self.failed(call, status)
        size = call.size
        answer = loads(view(call.bytes, size))
        self.give(call, size)
        return answer

    def table(self, name: bytes) -> Owned:
        """The handle of a table, which need not exist."""
        try:
            return self.tables[name]
        except KeyError:
            made = ffi.new("py_table **")
            self.run(lib.py_table_new, self.pointer, name, len(name), made)
            return self.tables.setdefault(name, Owned(made[0], lib.py_table_free))

    def close(self) -> None:
        error = ffi.new("petal_error *")
        status = lib.py_close(self.pointer, error)
        if status:
            raise errors.of(error, status)


# The open databases, by path and options. A forked child begins without any. The lock can be taken
# again, by the handler of a signal.
databases: "weakref.WeakValueDictionary[Any, Database]" = weakref.WeakValueDictionary()
databases_lock = threading.RLock()


def in_child() -> None:
    global databases, databases_lock
    databases = weakref.WeakValueDictionary()
    databases_lock = threading.RLock()


os.register_at_fork(after_in_child=in_child)


def open_database(path: str, options: Dict[str, Any]) -> Database:
    """The open database of that path and those options, or a new one; it has one more user. The
    caller has the lock."""
    key = (os.path.realpath(path), tuple(sorted(options.items())))
    database = databases.get(key)
    if database is None or not lib.py_database_is_open(database.pointer):
        database = Database(path, options)
        databases[key] = database
    database.users += 1
    return database


def close_database(database: Database) -> None:
    """One user less; the last one closes it. The caller has the lock, so that who opens it anew
    finds it closed."""
    database.users -= 1
    if database.users == 0:
        database.close()


def file_path(path: Any) -> str:
    """A path for C, whose texts end at a zero byte."""
    text = os.fsdecode(path)
    if "\0" in text:
        raise ValueError("the path has a zero byte")
    return text


@atexit.register
def close_all() -> None:
    """Close what is still open, while Python can still do so: closing flushes."""
    for database in list(databases.values()):
        try:
            database.close()
        except errors.Error:
            pass  # the log has the data


class Fetch:
    """The next items of an open scan, several at a time: few at first, in case no more are wanted.
    `most` is the largest number, `limit` the number of all."""

    def __init__(
        self,
        database: Database,
        reader: Owned,
        function: Any,
        most: int,
        limit: Optional[int] = None,
    ) -> None:
        self.database = database
        self.reader = reader
        self.function = function
        self.most = most
        self.count = min(FIRST_ROWS, most)
        self.left = limit
        self.ended = False

    def __call__(self) -> List[Any]:
        if self.ended:
            return []
        count = self.count if self.left is None else min(self.count, self.left)
        try:
            items: List[Any] = self.database.ask(
                self.function, self.reader.pointer, count, FETCH_BYTES
            )
        except errors.Closed:
            if self.ended:  # closed by another thread
                return []
            raise
        self.count = min(4 * count, self.most)
        if self.left is not None:
            self.left -= len(items)
        if not items or self.left == 0:
            self.close()
        return items

    def close(self) -> None:
        self.ended = True
        lib.py_part_close(self.reader.pointer)


def each(fetch: Fetch, convert: Optional[Callable[[Any], Any]]) -> Iterator[Any]:
    items = fetch()
    while items:
        yield from items if convert is None else map(convert, items)
        items = fetch()


class Scan(Iterator[Any]):
    """The items of a scan, in order, as they were when it was made.

    It ends by itself, by close(), by the end of a `with` block, or when it is collected. After
    petal.Timeout iteration goes on where it was.
    """

    def __init__(self, fetch: Fetch, convert: Optional[Callable[[Any], Any]] = None) -> None:
        self._fetch = fetch
        self._convert = convert
        self._items: Any = each(fetch, convert)

    def __iter__(self) -> Iterator[Any]:
        if self._items.gi_frame is None and not self._fetch.ended:
            self._items = each(self._fetch, self._convert)
        items: Iterator[Any] = self._items
        return items

    def __next__(self) -> Any:
        return next(self.__iter__())

    def close(self) -> None:
        """End it, and let go of what it holds. Closing again does nothing."""
        self._fetch.close()
        try:
            self._items.close()
        except ValueError:
            pass  # another thread is in it, and finds it closed

    def __enter__(self) -> "Scan":
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()


def open_scan(database: Database, function: Any, table: Owned, wanted: Any) -> Owned:
    """The reader that py_scan_open or py_map_scan_open makes."""
    reader = ffi.new("py_part **")
    database.run(function, table.pointer, wanted, reader)
    return Owned(reader[0], lib.py_part_free)


class Named:
    """What tables and maps are: a name in the database of a connection, seen at a view, which is a
    snapshot or a transaction, or None: as it is now."""

    def __init__(self, name: bytes, connection: "Connection", view: Optional["View"] = None) -> None:
        self.name = name
        self.connection = connection
        self._view = view
        # The open database, and the handle there. A pair, since other threads may replace it.
        self._handles: Tuple[Optional[Database], Owned] = (None, NOTHING)

    def __repr__(self) -> str:
        return "<petal.%s name=%r>" % (type(self).__name__, self.name)

    def _open(self) -> Tuple[Database, Owned]:
        """The connection's database, which may have been opened anew, and the handle there."""
        database = self.connection._database
        if self._handles[0] is not database:
            self._handles = database, self._handle(database)
        return database, self._handles[1]

    def _handle(self, database: Database) -> Owned:
        return database.table(self.name)

    def _writes(self) -> Tuple[Database, Owned, Any]:
        """As _open(), and the transaction that writes go to, or NULL: they are made at once."""
        database, handle = self._open()
        return database, handle, NULL if self._view is None else self._view._writer()

    def _writes_at_once(self) -> Tuple[Database, Owned]:
        """As _open(), for what no transaction does."""
        database, handle, transaction = self._writes()
        if transaction != NULL:
            raise errors.Invalid("a transaction is a batch itself: write to its tables and maps")
        return database, handle

    def _reader(self) -> Any:
        return NULL if self._view is None else self._view._reader


Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Columns = Optional[Union[List[Any], Tuple[Any, ...]]]

"""Plain key -> value: a mutable mapping of bytes to bytes, in the order of the keys."""

from __future__ import annotations

from collections.abc import ItemsView, MutableMapping, ValuesView
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Tuple, Union

from petal import errors
from petal._core import (
    NULL,
    Bytes,
    Database,
    Fetch,
    Named,
    Owned,
    Scan,
    as_bytes,
    as_copied,
    as_value,
    durability_of,
    integer,
    names,
    open_scan,
    set_options,
)
from petal._native import ffi, lib

if TYPE_CHECKING:
    from petal.connection import Connection
    from petal.snapshot import View

py_map_get = lib.py_map_get
py_map_put = lib.py_map_put
unpack = ffi.unpack

# Keys that a scan fetches at once, at most.
KEYS = 4096


class KeyValue(Named, MutableMapping):  # type: ignore[type-arg]
    """A map of a connection, made by Connection.kv, or of a snapshot or transaction.

    Iteration goes through the keys as they are when it begins. len() counts all keys. Any number of
    threads may use a map at once.
    """

    def __init__(
        self,
        connection: "Connection",
        name: bytes,
        options: Dict[str, Any],
        view: Optional["View"] = None,
    ) -> None:
        super().__init__(name, connection, view)
        self._options = options
        self._open()

    def _handle(self, database: Database) -> Owned:
        family = ffi.new("petal_family_options *")
        family.size = ffi.sizeof("petal_family_options")
        family.block_bytes = 4096  # as petal_kv_open
        set_options(family, self._options, ("name", "attributes", "attribute_count"))
        if self._view is not None:
            # Reading makes no map.
            database.run(lib.py_table_check, database.table(self.name).pointer)
        made = ffi.new("py_table **")
        database.run(lib.py_map_open, database.pointer, self.name, len(self.name), family, made)
        return Owned(made[0], lib.py_table_free)

    # ---- one key ----

    def __getitem__(self, key: Bytes) -> bytes:
        value: Optional[bytes] = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def get(self, key: Bytes, default: Any = None) -> Any:
        """The key's value, or `default`."""
        if type(key) is not bytes:
            key = as_bytes(key)
        database, map = self._handles
        if database is None or database is not self.connection._opened:
            database, map = self._open()
        reader = NULL if self._view is None else self._view._reader
        call = database.take()
        status = py_map_get(map.pointer, reader, key, len(key), call)
        if status:
            raise database.failed(call, status)
        if not call.found:
            database.calls.append(call)
            return default
        size = call.size
        value = unpack(call.bytes, size) if size else b""
        database.give(call, size)
        return value

    def __contains__(self, key: Any) -> bool:
        return self.get(key) is not None

    def put(
        self,
        key: Bytes,
        value: Any,
        ttl_ms: Optional[int] = None,
        durability: Union[None, int, str] = None,
    ) -> None:
        """Store a value, which lives for `ttl_ms` milliseconds if given. `durability` is one of
        Connection's; a transaction has its own."""
        if type(key) is not bytes:
            key = as_bytes(key)
        if type(value) is not bytes:
            value = as_value(value)
        database, map = self._handles
        if database is None or database is not self.connection._opened:
            database, map = self._open()
        level = 0 if durability is None else durability_of(durability)
        life = 0 if ttl_ms is None else integer("ttl_ms", ttl_ms)
        if self._view is not None:
            self._put_into(self._view._writer(), key, value, level, ttl_ms is not None, life)
            return
        call = database.take()
        status = py_map_put(
            map.pointer, key, len(key), value, len(value), level, ttl_ms is not None, life,
            self.connection._deadline, call,
        )
        if status:
            raise database.failed(call, status)
        database.calls.append(call)

    def _put_into(
        self, transaction: Any, key: bytes, value: Any, level: int, lives: bool, life: int
    ) -> None:
        if level:
            raise TypeError("a transaction has one durability: give it to Connection.transaction")
        database, map = self._open()
        database.run(
            lib.py_batch_map_put, transaction, map.pointer, key, len(key), value, len(value),
            lives, life,
        )

    __setitem__ = put

    def __delitem__(self, key: Bytes) -> None:
        """KeyError if the key is absent."""
        self.pop(key)

    def pop(self, key: Bytes, *default: Any) -> Any:
        """Delete the key in one step; its value."""
        if len(default) > 1:
            raise TypeError("pop takes a key and one default")
        while True:
            value = self.get(key)
            if value is None:
                self._writes()
                if default:
                    return default[0]
                raise KeyError(key)
            if self.compare_and_swap(key, value, None):
                return value

    def popitem(self) -> Tuple[bytes, bytes]:
        """Delete the lowest key; the key and its value."""
        while True:
            with self.scan() as items:
                for key, value in items:
                    if self.compare_and_swap(key, value, None):
                        return key, value
                    break
                else:
                    raise KeyError("the map is empty")

    def discard(self, key: Bytes) -> None:
        """Delete the key if it is present, without looking."""
        key = as_bytes(key)
        database, map, transaction = self._writes()
        if transaction != NULL:
            database.run(lib.py_batch_map_delete, transaction, map.pointer, key, len(key))
        else:
            database.run(lib.py_map_delete, map.pointer, key, len(key))

    def setdefault(self, key: Bytes, default: Any = None) -> Any:
        """The key's value; put the default if it is absent, in one step."""
        if default is None:
            raise TypeError("setdefault needs a value")
        default = as_bytes(default)
        while True:
            value = self.get(key)
            if value is not None:
                return value
            if self.compare_and_swap(key, None, default):
                return default

    def compare_and_swap(self, key: Bytes, expected: Any, value: Any) -> bool:
        """Put the value if the key has the expected one. None as the value: delete the key; None as
        the expected one: the key is absent. Whether it was as expected."""
        key = as_bytes(key)
        old, old_size = pointer(expected)
        new, new_size = pointer(value)
        database, map, transaction = self._writes()
        if transaction != NULL:
            # Nothing comes between what it reads and what it writes.
            if self.get(key) != (None if expected is None else bytes(old)):
                return False
            if value is None:
                self.discard(key)
            else:
                self.put(key, new)
            return True
        call = database.take()
        status = lib.py_map_swap(map.pointer, key, len(key), old, old_size, new, new_size, call)
        if status:
            raise database.failed(call, status)
        found: bool = call.found
        database.calls.append(call)
        return found

    # ---- many keys ----

    def get_many(self, keys: Iterable[Bytes]) -> List[Optional[bytes]]:
        """The keys' values as of one moment; None for those that are absent."""
        if isinstance(keys, (bytes, str, bytearray, memoryview)):
            raise TypeError("'keys' must be a list of keys")
        listed = names(keys)
        if not listed:
            return []
        database, map = self._open()
        found: List[Optional[bytes]] = database.ask(
            lib.py_map_get_many, map.pointer, self._reader(), listed, len(listed)
        )
        return found

    def scan(
        self,
        start: Optional[Bytes] = None,
        stop: Optional[Bytes] = None,
        prefix: Optional[Bytes] = None,
        reverse: bool = False,
        limit: Optional[int] = None,
    ) -> Scan:
        """Pairs of key and value, in order, with start <= key < stop and with the prefix; each may
        be left out. `reverse`: from high to low; `start` is the low end all the same."""
        return self._scan(True, True, start, stop, prefix, reverse, limit)

    def _scan(
        self,
        keys: bool,
        values: bool,
        start: Optional[Bytes] = None,
        stop: Optional[Bytes] = None,
        prefix: Optional[Bytes] = None,
        reverse: bool = False,
        limit: Optional[int] = None,
    ) -> Scan:
        if limit is not None and limit < 1:
            raise ValueError("'limit' must be >= 1")
        low, high = (ffi.from_buffer("char[]", end) for end in ends(start, stop, prefix))
        wanted = ffi.new("py_map_scan *")
        setattr(wanted, "from", low)
        wanted.from_size = len(low)
        wanted.to, wanted.to_size = high, len(high)
        wanted.reversed = reverse
        wanted.keys, wanted.values = keys, values
        wanted.deadline_ms = self.connection._deadline
        wanted.view = self._reader()
        database, map = self._open()
        reader = open_scan(database, lib.py_map_scan_open, map, wanted)
        return Scan(Fetch(database, reader, lib.py_map_scan_next, KEYS, limit))

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._scan(True, False))

    def __reversed__(self) -> Iterator[bytes]:
        return iter(self._scan(True, False, reverse=True))

    def items(self) -> "Items":
        return Items(self)

    def values(self) -> "Values":
        return Values(self)

    def __len__(self) -> int:
        return self._count(lib.py_map_count, self._reader())

    def __bool__(self) -> bool:
        """Whether there is a key."""
        with self._scan(True, False, limit=1) as keys:
            return any(True for _ in keys)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def update(self, *items: Any, **texts: Any) -> None:
        """Put all pairs, all or none, except those of one that is too large for a batch."""
        pairs = dict(*items, **texts).items()
        if self._writes()[2] != NULL:
            for key, value in pairs:
                self.put(key, value)
            return
        with self.batch() as batch:
            for key, value in pairs:
                batch.put(key, value)

    def clear(self) -> None:
        """Delete all keys. Not in one step: others may see some of them deleted."""
        self.delete_range()

    def delete_range(
        self,
        start: Optional[Bytes] = None,
        stop: Optional[Bytes] = None,
        prefix: Optional[Bytes] = None,
    ) -> int:
        """Delete the keys with start <= key < stop and with the prefix, in batches; how many."""
        low, high = ends(start, stop, prefix)
        if self._writes()[2] != NULL:
            keys = list(self._scan(True, False, start, stop, prefix))
            for key in keys:
                self.discard(key)
            return len(keys)
        return self._count(lib.py_map_delete_range, low, len(low), high, len(high))

    def batch(self) -> "KeyValueBatch":
        """Writes that are applied together: all or none, at the end of a `with` block; an exception
        in it drops them."""
        return KeyValueBatch(self)

    def _count(self, function: Any, *arguments: Any) -> int:
        """A call that leaves a number."""
        database, map = self._open()
        call = database.take()
        status = function(map.pointer, *arguments, call)
        if status:
            raise database.failed(call, status)
        number: int = call.number
        database.calls.append(call)
        return number


class Items(ItemsView):  # type: ignore[type-arg]
    """The pairs of a map."""

    _mapping: KeyValue

    def __iter__(self) -> Iterator[Tuple[bytes, bytes]]:
        return iter(self._mapping._scan(True, True))

    def __reversed__(self) -> Iterator[Tuple[bytes, bytes]]:
        return iter(self._mapping._scan(True, True, reverse=True))


class Values(ValuesView):  # type: ignore[type-arg]
    """The values of a map."""

    _mapping: KeyValue

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._mapping._scan(False, True))

    def __reversed__(self) -> Iterator[bytes]:
        return iter(self._mapping._scan(False, True, reverse=True))


class KeyValueBatch:
    """Writes to one map, made by KeyValue.batch. Bytes are copied when a write is added."""

    def __init__(self, map: KeyValue) -> None:
        self._database, self._map = map._writes_at_once()
        self._connection = map.connection
        self._batch = self._database.batch()
        self._error = ffi.new("petal_error *")

    def _check(self, status: int) -> None:
        if status:
            raise errors.of(self._error, status)

    def put(self, key: Bytes, value: Any) -> None:
        if type(key) is not bytes:
            key = as_bytes(key)
        if type(value) is not bytes:
            value = as_copied(value)
        self._check(
            lib.py_batch_map_put(
                self._batch.pointer, self._map.pointer, key, len(key), value, len(value), False, 0,
                self._error,
            )
        )

    def delete(self, key: Bytes) -> None:
        key = as_bytes(key)
        self._check(
            lib.py_batch_map_delete(
                self._batch.pointer, self._map.pointer, key, len(key), self._error
            )
        )

    __setitem__ = put
    __delitem__ = delete

    def send(self, durability: Union[None, int, str] = None) -> None:
        """Apply the writes. If it fails none is, and they stay in the batch."""
        self._check(
            lib.py_batch_write(
                self._batch.pointer, durability_of(durability), self._connection._deadline,
                self._error,
            )
        )

    def clear(self) -> None:
        """Drop the writes that were not sent."""
        lib.py_batch_clear(self._batch.pointer)

    def __len__(self) -> int:
        count: int = lib.py_batch_count(self._batch.pointer)
        return count

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> "KeyValueBatch":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.send()
        else:
            self.clear()


def ends(
    start: Optional[Bytes], stop: Optional[Bytes], prefix: Optional[Bytes]
) -> Tuple[bytes, bytes]:
    """The least key of a range, and the least above it; empty: there is none."""
    low, high, begin = (as_bytes(b"" if given is None else given) for given in (start, stop, prefix))
    above = begin.rstrip(b"\xff")
    if above:
        above = above[:-1] + bytes([above[-1] + 1])
    return max(low, begin), min(high or above, above or high)


def pointer(value: Any) -> Tuple[Any, int]:
    """Bytes for C, or NULL for None."""
    if value is None:
        return NULL, 0
    bytes_ = as_value(value)
    return bytes_, len(bytes_)

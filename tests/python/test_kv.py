"""Plain key -> value: a mutable mapping in the order of its keys."""

import time
from collections.abc import MutableMapping

import pytest

import petal


def test_a_mutable_mapping(kv):
    assert isinstance(kv, MutableMapping)
    assert not kv and len(kv) == 0 and list(kv) == []
    kv[b"b"] = b"2"
    kv["a"] = "1"
    kv[b"c"] = b""
    assert kv and len(kv) == 3
    assert kv[b"a"] == b"1" and kv["c"] == b""
    assert kv.get(b"d") is None and kv.get(b"d", 5) == 5
    assert b"c" in kv and b"d" not in kv
    assert list(kv) == list(kv.keys()) == [b"a", b"b", b"c"]
    assert list(kv.values()) == [b"1", b"2", b""]
    assert list(kv.items()) == [(b"a", b"1"), (b"b", b"2"), (b"c", b"")]
    assert list(reversed(kv)) == [b"c", b"b", b"a"]
    assert list(reversed(kv.items()))[0] == (b"c", b"")
    assert list(reversed(kv.values()))[0] == b""
    assert (b"a", b"1") in kv.items() and (b"a", b"2") not in kv.items()
    assert dict(kv) == {b"a": b"1", b"b": b"2", b"c": b""}
    assert kv.pop(b"a") == b"1" and kv.pop(b"a", 7) == 7
    with pytest.raises(KeyError):
        kv.pop(b"a")
    with pytest.raises(KeyError):
        del kv[b"a"]
    with pytest.raises(KeyError):
        kv[b"a"]
    with pytest.raises(TypeError):
        kv.pop(b"a", 1, 2)
    assert kv.setdefault(b"a", b"new") == b"new" == kv.setdefault(b"a", b"other")
    with pytest.raises(TypeError):
        kv.setdefault(b"a")
    assert kv.popitem() == (b"a", b"new")
    del kv[b"b"]
    kv.discard(b"c")
    kv.discard(b"c")
    with pytest.raises(KeyError):
        kv.popitem()
    kv.update({b"x": b"1"}, y=b"2")
    kv.update([(b"z", b"3")])
    assert len(kv) == 3
    kv.clear()
    assert not kv


def test_keys_and_values_of_any_size(kv):
    for size in (0, 1, 255, 256, 65535, 65536, 1 << 20, 10 << 20):
        value = bytes([size % 251]) * size
        kv[b"k"] = value
        assert kv[b"k"] == value
        assert list(kv.items()) == [(b"k", value)]
    key = b"\xff" * 32767
    kv[key] = b"long"
    assert kv[key] == b"long" and list(kv)[-1] == key
    for wrong in (b"", key + b"x"):
        with pytest.raises(petal.Invalid):
            kv[wrong] = b""
        with pytest.raises(petal.Invalid):
            kv[wrong]
    with pytest.raises(petal.Invalid):
        kv[b"k"] = bytes((10 << 20) + 1)


def test_scan(kv):
    kv.update({b"k%04d" % i: b"%d" % i for i in range(3000)})
    assert [key for key, _ in kv.scan(b"k0010", b"k0013")] == [b"k0010", b"k0011", b"k0012"]
    assert [key for key, _ in kv.scan(b"k0010", b"k0013", reverse=True)] == [
        b"k0012", b"k0011", b"k0010",
    ]
    assert len(list(kv.scan(prefix=b"k1"))) == 1000
    assert len(list(kv.scan(prefix=b"k1", start=b"k1990"))) == 10
    assert len(list(kv.scan(prefix=b"k1", start=b"k", stop=b"k2"))) == 1000
    assert len(list(kv.scan(prefix=b"k1", start=b"k", stop=b"k101"))) == 10
    assert list(kv.scan(prefix=b"k1", start=b"k2")) == list(kv.scan(prefix=b"\xff")) == []
    assert list(kv.scan(limit=2)) == [(b"k0000", b"0"), (b"k0001", b"1")]
    assert len(list(kv.scan(limit=2500))) == 2500
    assert list(kv.scan(b"k3")) == []
    with pytest.raises(ValueError):
        kv.scan(limit=0)
    with kv.scan() as items:
        next(items)
    assert list(items) == []
    # As they are when it begins.
    items = iter(kv)
    first = next(items)
    kv.clear()
    assert len([first] + list(items)) == 3000


def test_get_many(kv):
    kv.update({b"%d" % i: b"v%d" % i for i in range(100)})
    assert kv.get_many([b"5", b"none", "7", b"5"]) == [b"v5", None, b"v7", b"v5"]
    assert kv.get_many(b"%d" % i for i in range(1000))[:3] == [b"v0", b"v1", b"v2"]
    assert kv.get_many([]) == []
    with pytest.raises(TypeError):
        kv.get_many(b"5")


def test_compare_and_swap(kv):
    assert not kv.compare_and_swap(b"k", b"1", b"2")
    assert kv.compare_and_swap(b"k", None, b"1")
    assert not kv.compare_and_swap(b"k", None, b"2")
    assert kv.compare_and_swap(b"k", b"1", b"")
    assert kv.compare_and_swap(b"k", b"", b"3")
    assert kv.compare_and_swap(b"k", b"3", None)
    assert b"k" not in kv


def test_batch(db, kv):
    with kv.batch() as batch:
        batch[b"a"] = b"1"
        batch.put(b"b", bytearray(b"2"))
        del batch[b"a"]
        assert len(batch) and not kv
    assert dict(kv) == {b"b": b"2"}
    with pytest.raises(RuntimeError):
        with kv.batch() as batch:
            batch.put(b"c", b"3")
            raise RuntimeError
    assert dict(kv) == {b"b": b"2"}
    batch = kv.batch()
    batch.put(b"c", b"3")
    batch.send("FSYNC_WAL")
    assert db.stats()["log_syncs"] > 0
    assert kv[b"c"] == b"3"


def test_time_to_live(kv):
    kv.put(b"k", b"v", ttl_ms=1)
    kv.put(b"l", b"v", ttl_ms=100000, durability="FSYNC_WAL")
    time.sleep(0.01)
    assert b"k" not in kv and b"l" in kv
    with pytest.raises(ValueError):
        kv.put(b"k", b"v", durability="PERHAPS")


def test_delete_range(kv):
    kv.update({b"%02d" % i: b"" for i in range(100)})
    assert kv.delete_range(b"10", b"20") == 10
    assert kv.delete_range(prefix=b"3") == 10
    assert len(kv) == 80


def test_options_of_a_map(db):
    db.kv("m", versions=3, bloom="NONE")
    assert db.table("m").families()[b"v"]["versions"] == 3
    db.kv("m", versions=1)
    assert db.table("m").families()[b"v"]["versions"] == 3
    assert db.table("m").families()[b"v"]["block_bytes"] == 4096
    with pytest.raises(TypeError):
        db.kv("n", colour="red")


def test_a_map_that_was_dropped(db, kv):
    kv[b"k"] = b"v"
    db.delete_table("map", disable=True)
    with pytest.raises(petal.NotFound):
        kv[b"k"]
    with pytest.raises(petal.NotFound):
        kv[b"k"] = b"v"
    assert db.tables() == []
    db.kv("map")
    assert b"k" not in kv
    kv[b"k"] = b"w"
    db.truncate_table("map")
    assert not kv


def test_equality_is_identity(db, kv):
    assert kv == kv and kv != db.kv("map") and hash(kv)


def test_snapshot(db, kv):
    kv.update({b"a": b"1", b"b": b"2"})
    with db.snapshot() as snapshot:
        old = snapshot.kv("map")
        kv[b"a"] = b"new"
        kv[b"c"] = b"3"
        assert old[b"a"] == b"1" and b"c" not in old and len(old) == 2
        assert old.get_many([b"a", b"c"]) == [b"1", None]
        assert dict(old) == {b"a": b"1", b"b": b"2"}
        for write in (
            lambda: old.put(b"a", b""), lambda: old.pop(b"a"), old.clear, old.batch,
            lambda: old.discard(b"a"), lambda: old.setdefault(b"d", b""),
            lambda: old.pop(b"none", None),
        ):
            with pytest.raises(petal.ReadOnly):
                write()
        with pytest.raises(petal.NotFound):
            snapshot.kv("none")
    assert dict(kv) == {b"a": b"new", b"b": b"2", b"c": b"3"}
    for read in (lambda: old[b"a"], lambda: len(old), lambda: list(old), lambda: old.get_many("a")):
        with pytest.raises((petal.Closed, TypeError)):
            read()
    assert db.tables() == [b"map"]

"""The package says what petal.h says."""

import inspect
import os
import re
import subprocess
import sys

import pytest

import petal
from petal import errors
from petal._native import ffi, lib

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..", "..", "tools", "python")


def test_version(db):
    assert petal.__version__ == ffi.string(lib.petal_version()).decode()


def test_every_status_has_its_exception():
    statuses = ffi.typeof("enum petal_status").relements
    for name, number in statuses.items():
        if number == lib.PETAL_OK:
            continue
        found = errors.CLASSES[number]
        assert found is not petal.Error, "%s has no class %s" % (name, errors.class_name(name))
        assert found.__name__ in petal.__all__ and found.__doc__.startswith(name + ":")
        assert getattr(petal, found.__name__) is found


def test_every_option_is_an_argument():
    arguments = set(inspect.signature(petal.Connection).parameters)
    fields = {name for name, _ in ffi.typeof("petal_options").fields} - {"size", "env"}
    assert fields <= arguments, "petal.Connection lacks %s" % (fields - arguments)


def test_statistics(db, kv):
    kv[b"k"] = b"v"
    kv[b"k"]
    stats = db.stats()
    assert list(stats) == [name for name, _ in ffi.typeof("petal_stats").fields]
    assert stats["cells_written"] == 1 and stats["background_error"] is None
    assert set(stats["cache_bytes"]) == {"data", "index", "filter"}
    kinds = ffi.typeof("enum petal_block_kind").relements
    assert [kinds["PETAL_BLOCK_" + kind.upper()] for kind in stats["cache_bytes"]] == [0, 1, 2]
    assert re.search(r"^petal_\w+_total \d+$", db.stats_text(), re.M)


def test_checkpoint(db, kv, tmp_path):
    kv[b"k"] = b"v"
    db.checkpoint(str(tmp_path / "copy"))
    kv[b"k"] = b"w"
    with petal.open(str(tmp_path / "copy")) as copy:
        assert copy.kv("map")[b"k"] == b"v"
    with pytest.raises(petal.Exists):
        db.checkpoint(str(tmp_path / "copy"))


def test_reading_beside_a_writer(path):
    with petal.open(path) as db:
        db.kv("m")[b"k"] = b"1"
        with petal.open(path, read_only=True) as reader, petal.open(
            path, read_only=True, refresh_at_snapshots=True
        ) as other:
            db.kv("m")[b"k"] = b"2"
            db.kv("new")[b"k"] = b"1"
            assert reader.kv("m")[b"k"] == other.kv("m")[b"k"] == b"1"
            with other.snapshot() as snapshot:
                assert snapshot.kv("m")[b"k"] == b"2" and other.kv("new")[b"k"] == b"1"
            reader.refresh()
            assert reader.kv("m")[b"k"] == b"2" and reader.kv("new")[b"k"] == b"1"
        db.refresh()


def test_backup(db, kv, tmp_path):
    backup, other = tmp_path / "backup", str(tmp_path / "other")
    kv[b"k"] = b"v"
    first = db.backup(backup)
    assert first["files"] == first["linked"] + first["copied"] > 0
    kv[b"k"] = b"w"
    assert db.backup(backup)["skipped"] > 0
    assert db.backup(other, copy=True, previous=bytes(backup))["linked"] > 0
    with pytest.raises(petal.Invalid):
        db.backup(db.path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_bytes(b"x")
    with pytest.raises(petal.Exists):
        db.backup(tmp_path / "full")
    made = tmp_path / "made"
    assert petal.restore(backup, made)["copied"] > 0
    with petal.open(made) as found:
        assert found.kv("map")[b"k"] == b"w"
        found.kv("map")[b"k"] = b"x"
        with pytest.raises(petal.Busy):
            petal.restore(backup, made, replace=True)
    with pytest.raises(petal.Exists):
        petal.restore(backup, made)
    petal.restore(backup, made, replace=True)
    assert petal.verify(made)["tables"] == 1
    with petal.open(made, read_only=True) as found:
        assert found.kv("map")[b"k"] == b"w"
    store = next(made.glob("*.sst"))
    store.write_bytes(store.read_bytes()[:-1])
    with pytest.raises(petal.Corrupt) as caught:
        petal.verify(made)
    assert store.name in caught.value.file
    with pytest.raises(petal.NotFound):
        petal.verify(tmp_path / "none")


def test_snapshot_of_a_table(db, table):
    table.put(b"r", {b"cf:a": b"old"})
    table.put(b"s", {b"cf:a": b"old"})
    with db.snapshot() as snapshot:
        old = snapshot.table("t")
        with table.batch() as batch:
            for i in range(1000):
                batch.put(b"u%d" % i, {b"cf:a": b""})
            batch.put(b"r", {b"cf:a": b"new"})
            batch.delete(b"s")
        db.compact_table("t", major=True)
        assert old.row(b"r") == {b"cf:a": b"old"} and b"s" in old
        assert len(list(old.scan())) == len(old.rows([b"r", b"s", b"u1"])) == 2
        assert old.cells(b"r", b"cf:a") == [b"old"]
        for write in (
            lambda: old.put(b"r", {b"cf:a": b""}), lambda: old.put(b"r", {}), old.batch,
            lambda: old.delete(b"r"), lambda: old.counter_inc(b"r", b"cf:n"),
        ):
            with pytest.raises(petal.ReadOnly):
                write()
        scan = old.scan()
    # A scan has its own view.
    assert len(list(scan)) == 2
    with pytest.raises(petal.Closed):
        old.row(b"r")
    assert table.row(b"r") == {b"cf:a": b"new"}


def test_types():
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir",
         os.devnull, "petal"],
        cwd=PACKAGE, stdout=subprocess.PIPE, universal_newlines=True,
    )
    assert done.returncode == 0, done.stdout

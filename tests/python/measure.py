"""Measures what one operation costs in a loop in Python, next to other stores that Python has.

measure.py [KEYS]: prints README's table: nanoseconds of a processor for one operation, all threads
of the process together, the best of three runs. LMDB is left out where its package is missing.
"""

import dbm
import random
import shutil
import sqlite3
import sys
import tempfile
import time

import petal

KEYS = int(sys.argv[1]) if len(sys.argv) > 1 else 200000
VALUE = b"v" * 100
BATCH = 1000


def cost(work, count=KEYS, runs=3):
    best = float("inf")
    for _ in range(runs):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return "%d" % round(best / count * 1e9)


def each(operation, keys):
    def work():
        for key in keys:
            operation(key)

    return work


def pieces(keys):
    return [keys[i : i + BATCH] for i in range(0, len(keys), BATCH)]


def drain(make):
    def work():
        for _key, _value in make():
            pass

    return work


def of_map(folder, keys):
    with petal.open(folder + "/map", memory_bytes=256 << 20) as db:
        kv = db.kv("m")

        def batches():
            for piece in pieces(keys):
                with kv.batch() as batch:
                    for key in piece:
                        batch.put(key, VALUE)

        put = cost(each(lambda key: kv.put(key, VALUE), keys))
        batched = cost(batches)
        db.compact_table("m", major=True)
        return put, batched, cost(each(kv.__getitem__, keys)), cost(drain(kv.items))


def of_table(folder, keys):
    with petal.open(folder + "/table", memory_bytes=256 << 20) as db:
        db.create_table("t", {"cf": {"max_versions": 1}})
        table = db.table("t")

        def batches():
            for piece in pieces(keys):
                with table.batch() as batch:
                    for key in piece:
                        batch.put(key, {b"cf:a": VALUE})

        put = cost(each(lambda key: table.put(key, {b"cf:a": VALUE}), keys))
        batched = cost(batches)
        db.compact_table("t", major=True)
        return put, batched, cost(each(table.row, keys)), cost(drain(table.scan))


def of_sqlite(folder, keys):
    db = sqlite3.connect(folder + "/sqlite", isolation_level=None)
    db.executescript(
        "pragma journal_mode=wal; pragma synchronous=normal;"
        "create table t(k blob primary key, v blob) without rowid"
    )
    put = "insert or replace into t values(?, ?)"

    def batches():
        for piece in pieces(keys):
            db.execute("begin")
            db.executemany(put, [(key, VALUE) for key in piece])
            db.execute("commit")

    return (
        cost(each(lambda key: db.execute(put, (key, VALUE)), keys), runs=1),
        cost(batches),
        cost(each(lambda key: db.execute("select v from t where k=?", (key,)).fetchone()[0], keys)),
        cost(drain(lambda: db.execute("select k, v from t order by k"))),
    )


def of_dbm(folder, keys):
    with dbm.open(folder + "/dbm", "n") as db:
        put = cost(each(lambda key: db.__setitem__(key, VALUE), keys))
        return put, "-", cost(each(lambda key: db[key], keys)), "-"


def of_lmdb(folder, keys):
    import lmdb

    with lmdb.open(folder + "/lmdb", map_size=1 << 30, sync=False) as db:

        def put(key):
            with db.begin(write=True) as transaction:
                transaction.put(key, VALUE)

        def batches():
            for piece in pieces(keys):
                with db.begin(write=True) as transaction:
                    for key in piece:
                        transaction.put(key, VALUE)

        def get(key):
            with db.begin() as transaction:
                return transaction.get(key)

        def scan():
            with db.begin() as transaction:
                yield from transaction.cursor()

        return (
            cost(each(put, keys), runs=1),
            cost(batches),
            cost(each(get, keys)),
            cost(drain(scan)),
        )


def of_dict(folder, keys):
    values = {}

    def put(key):
        values[key] = VALUE

    return cost(each(put, keys)), "-", cost(each(values.__getitem__, keys)), "-"


STORES = {
    "petal, key → value": of_map,
    "petal, table of one column": of_table,
    "sqlite3, WAL": of_sqlite,
    "lmdb, no sync": of_lmdb,
    "dbm": of_dbm,
    "dict": of_dict,
}


def main():
    keys = [b"key%012d" % number for number in range(KEYS)]
    random.Random(1).shuffle(keys)
    print("| | put | put, by %d | get | scan |\n|---|---|---|---|---|" % BATCH)
    for name, measure in STORES.items():
        folder = tempfile.mkdtemp()
        try:
            print("| %s | %s |" % (name, " | ".join(measure(folder, keys))), flush=True)
        except ImportError:
            pass
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()

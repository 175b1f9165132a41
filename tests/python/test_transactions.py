"""Transactions: all of their writes or none, at one moment, whoever writes beside them."""

import gc
import threading

import pytest

import petal


def test_commit_and_abort(db, table, kv):
    table.put(b"a", {b"cf:n": b"1", b"cf:m": b"1"})
    with db.transaction() as t:
        rows, pairs = t.table("t"), t.kv("map")
        rows.put(b"a", {b"cf:n": b"2", b"cg:x": b"y"})
        rows[b"b", b"cf:n"] = b"3"
        rows.delete(b"a", [b"cf:m"])
        pairs[b"k"] = b"v"
        assert rows[b"a"] == {b"cf:n": b"2", b"cg:x": b"y"} and pairs[b"k"] == b"v"
        assert rows.rows([b"a", b"b", b"c"]) == list(rows.scan())
        assert rows.cells(b"b", b"cf:n") == [b"3"]
        assert table[b"a"] == {b"cf:n": b"1", b"cf:m": b"1"} and b"b" not in table and not kv
    assert table[b"a"] == {b"cf:n": b"2", b"cg:x": b"y"} and kv[b"k"] == b"v"
    with pytest.raises(ZeroDivisionError):
        with db.transaction() as t:
            t.kv("map")[b"k"] = b"w"
            1 / 0
    t = db.transaction("FSYNC_WAL")
    t.kv("map")[b"k"] = b"w"
    t.abort()
    t.abort()
    assert kv[b"k"] == b"v"
    syncs = db.stats()["log_syncs"]
    with db.transaction("FSYNC_WAL") as t:
        t.kv("map")[b"k"] = b"x"
    assert kv[b"k"] == b"x" and db.stats()["log_syncs"] > syncs
    with db.transaction() as t:
        t.kv("map")[b"k"] = b"y"
        t.commit()
    assert kv[b"k"] == b"y"


@pytest.mark.parametrize(
    "read",
    [
        lambda t: t.table("t").row(b"r"),
        lambda t: t.table("t").rows([b"q", b"r"]),
        lambda t: t.table("t").cells(b"r", b"cf:a"),
        lambda t: list(t.table("t").scan(row_prefix=b"r")),
        lambda t: t.table("t").put(b"r", {b"cf:b": b""}),
        lambda t: t.table("t").counter_inc(b"r", b"cf:n"),
        lambda t: t.kv("map").get(b"r"),
        lambda t: t.kv("map").get_many([b"q", b"r"]),
        lambda t: list(t.kv("map")),
        lambda t: len(t.kv("map")),
        lambda t: b"r" in t.kv("map"),
        lambda t: t.kv("map").discard(b"r"),
    ],
)
def test_conflicts(db, table, kv, read):
    t = db.transaction()
    read(t)
    t.table("t").put(b"s", {b"cf:a": b"1"})
    table.put(b"r", {b"cf:a": b"2"})
    kv[b"r"] = b"2"
    with pytest.raises(petal.Conflict):
        t.commit()
    assert b"s" not in table
    with pytest.raises(petal.Closed):
        t.commit()
    # What was neither read nor written does not count, and who only reads always commits.
    t = db.transaction()
    assert t.kv("map").get(b"q") is None
    kv[b"r"] = b"3"
    t.kv("map")[b"p"] = b"4"
    t.commit()
    with db.transaction() as t:
        read_only = t.kv("map")[b"r"]
        kv[b"r"] = b"5"
        assert t.kv("map")[b"r"] == read_only == b"3"


def test_counters_of_many_threads(db, table, kv):
    kv[b"n"] = b"0"

    def add(t):
        numbers = t.kv("map")
        numbers[b"n"] = b"%d" % (int(numbers[b"n"]) + 1)
        return t.table("t").counter_inc(b"n", b"cf:n", 2)

    sums = []

    def work():
        for _ in range(50):
            sums.append(db.transact(add))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kv[b"n"] == b"200" and table.counter_get(b"n", b"cf:n") == 400
    assert sorted(sums) == list(range(2, 402, 2))


def test_transact(db, kv):
    calls = []

    def spoiled(t):
        calls.append(t)
        t.kv("map")[b"k"] = b"mine"
        kv[b"k"] = b"%d" % len(calls)

    with pytest.raises(petal.Conflict):
        db.transact(spoiled, attempts=3)
    assert len(calls) == 3 and kv[b"k"] == b"3"
    with pytest.raises(ZeroDivisionError):
        db.transact(lambda t: 1 / 0)
    assert db.transact(lambda t: t.kv("map")[b"k"]) == b"3"


def test_a_map_acts_as_outside(db, kv):
    """Whatever is done to a map gives the same answers in a transaction."""
    pairs = {b"%03d" % i: b"v%d" % i for i in range(300)}
    db.kv("other").update(pairs)
    kv.update(pairs)
    db.table("map").put(b"005", {b"v:no pair": b""})
    db.table("other").put(b"005", {b"v:no pair": b""})

    def answers(map):
        yield map.pop(b"007"), map.pop(b"007", 1), map.setdefault(b"007", b"x"), map.popitem()
        yield map.compare_and_swap(b"010", "v10", bytearray(b"new"))
        yield map.compare_and_swap(b"010", b"v10", b"no"), map.compare_and_swap(b"011", b"v11", None)
        yield map.compare_and_swap(b"x", None, b"y"), map.compare_and_swap(b"x", None, b"z")
        yield len(map), bool(map), map[b"010"], b"011" in map, map.get_many([b"x", b"011", b"012"])
        map.update({b"u": b"1"}, w="2")
        map.discard(b"012")
        for reverse in (False, True):
            for ends in (
                (), (b"1",), (None, b"1"), (b"020", b"1"), (b"1", b"020"), (b"1", b"1"),
                (None, None, b"12"), (b"125", None, b"12"), (None, b"125", b"12"), (b"1", b"3", b"12"),
                (b"2", None, b"1"), (None, b"0", b"1"), (None, None, b"\xff"), (b"\xff\xff",),
            ):
                for limit in (None, 2):
                    yield ends, list(map.scan(*ends, reverse=reverse, limit=limit))
        yield list(reversed(map)), list(map.values()), map.delete_range(prefix=b"1")
        yield map.delete_range(b"2", b"250"), dict(map)
        map.put(b"short", b"life", ttl_ms=-(10**9))
        map.put(b"long", b"life", ttl_ms=10**9)
        yield b"short" in map, map[b"long"]
        map.clear()
        yield bool(map), list(map)

    outside = list(answers(db.kv("other")))
    t = db.transaction()
    assert list(answers(t.kv("map"))) == outside
    assert len(kv) == 300
    t.commit()
    assert not kv and not db.kv("other")


def test_what_a_transaction_refuses(db, table, kv):
    t = db.transaction()
    rows, pairs = t.table("t"), t.kv("map")
    for call in (rows.batch, pairs.batch):
        with pytest.raises(petal.Invalid):
            call()
    with pytest.raises(TypeError):
        pairs.put(b"k", b"v", durability="FSYNC_WAL")
    with pytest.raises(TypeError):
        pairs[b"k"] = 5
    with pytest.raises(petal.NotFound):
        t.kv("none")
    for call in (lambda: rows.put(b"r", {b"none:a": b""}), lambda: rows.delete(b"r", [b"none:a"])):
        with pytest.raises(petal.NotFound):
            call()
    pairs[b"k"] = b"v"
    t.commit()
    assert kv[b"k"] == b"v"
    # A put that got half-way is not committed.
    t = db.transaction()
    with pytest.raises(petal.NotFound):
        t.table("t").put(b"r", {b"cf:a": b"", b"none:a": b""})
    with pytest.raises(petal.Invalid):
        t.commit()
    assert b"r" not in table


def test_use_after_its_end(db, table, kv):
    for end in (lambda t: t.commit(), lambda t: t.abort(), lambda t: db.close()):
        t = db.transaction()
        rows, pairs = t.table("t"), t.kv("map")
        rows.put(b"r%d" % len(list(table.scan())), {b"cf:a": b""})
        scan, keys = rows.scan(), iter(pairs)
        end(t)
        for use in (
            lambda: rows.row(b"r"), lambda: rows.rows([b"r"]), lambda: rows.cells(b"r", b"cf:a"),
            rows.scan, lambda: rows.put(b"r", {b"cf:a": b""}), lambda: rows.delete(b"r"),
            lambda: rows.counter_inc(b"r", b"cf:n"), lambda: pairs.get(b"k"), pairs.items().__iter__,
            lambda: pairs.put(b"k", b""), lambda: pairs.discard(b"k"), lambda: len(pairs),
            lambda: pairs.get_many([b"k"]), lambda: pairs.update(k=b""), t.commit,
        ):
            with pytest.raises(petal.Closed):
                use()
        # Its scans go on.
        if db._opened is not None:
            assert len(list(scan)) > 0 and list(keys) == []
        t.abort()
        t.close()
    db.open()
    assert len(list(table.scan())) == 1


def test_the_collector_aborts(db, kv):
    t = db.transaction()
    t.kv("map")[b"k"] = b"v"
    scan = t.kv("map").scan()
    t.self = t
    del t
    gc.collect()
    assert list(scan) == [(b"k", b"v")] and not kv
    db.close()


def test_threads_share_a_transaction(db, table, kv):
    for i in range(2000):
        table.put(b"%04d" % i, {b"cf:a": b"1"})
    t = db.transaction()
    rows, wrong = t.table("t"), []

    def read():
        try:
            for i in range(500):
                with rows.scan(row_start=b"%04d" % i, batch_size=5, limit=30) as scan:
                    next(scan)
                    assert i % 10 or sum(1 for _ in scan) == 29
        except BaseException as error:
            wrong.append(error)

    def write(number):
        try:
            for i in range(500):
                t.kv("map")[b"%d-%d" % (number, i)] = rows[b"%04d" % i, b"cf:a"]
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=read), threading.Thread(target=read)]
    threads += [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    t.commit()
    assert len(kv) == 1000


def test_read_only_and_names(path):
    with petal.Connection(path, table_prefix="shop") as db:
        db.create_table("t", {"cf": {}})
        with db.transaction() as t:
            t.table("t").put(b"r", {b"cf:a": b"1"})
            t.table("shop_t", use_prefix=False).counter_dec(b"r", b"cf:n")
    with petal.open(path, read_only=True) as db:
        with db.transaction() as t:
            assert t.table("shop_t")[b"r", b"cf:a"] == b"1"
        t = db.transaction()
        with pytest.raises(petal.ReadOnly):
            t.table("shop_t").put(b"r", {b"cf:a": b"2"})
            t.commit()

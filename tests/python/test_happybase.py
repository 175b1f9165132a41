"""Connection, Table, Batch and ConnectionPool as happybase's documentation describes them."""

import threading
from collections import OrderedDict

import pytest

import petal


def test_arguments_of_a_connection(tmp_path):
    with pytest.raises(ValueError):
        petal.Connection(str(tmp_path / "x"), compat="0.1")
    with pytest.raises(ValueError):
        petal.Connection(str(tmp_path / "x"), transport="pigeon")
    with pytest.raises(ValueError):
        petal.Connection(str(tmp_path / "x"), protocol="none")
    with pytest.raises(TypeError):
        petal.Connection(str(tmp_path / "x"), table_prefix=123)
    with pytest.raises(TypeError):
        petal.Connection(str(tmp_path / "x"), table_prefix_separator=2.1)
    with pytest.raises(TypeError):
        petal.Connection()
    assert not list(tmp_path.iterdir())
    connection = petal.Connection(host=str(tmp_path / "y"), port=9090, timeout=5000)
    assert "y" in repr(connection)
    connection.close()


def test_lazy_connection(path):
    connection = petal.Connection(path, autoconnect=False)
    with pytest.raises(petal.Closed):
        connection.tables()
    connection.open()
    connection.open()
    connection.create_table("t", {"cf": {}})
    table = connection.table("t")
    table.put(b"r", {b"cf:a": b"1"})
    connection.close()
    connection.close()
    with pytest.raises(petal.Closed):
        table.row(b"r")
    connection.open()
    assert table.row(b"r") == {b"cf:a": b"1"}
    connection.close()


def test_prefix(path):
    with petal.Connection(path, table_prefix="mine") as mine:
        with petal.Connection(path, table_prefix=b"other", table_prefix_separator="-") as other:
            mine.create_table("t", {"cf": {}})
            other.create_table("u", {"cf": {}})
            assert mine.tables() == [b"t"]
            assert other.tables() == [b"u"]
            assert mine.table("t").name == b"mine_t"
            assert mine.table("other-u", use_prefix=False).name == b"other-u"
            assert petal.Connection(path).tables() == [b"mine_t", b"other-u"]


def test_tables_come_and_go(db):
    for families in (0, [], None):
        with pytest.raises(TypeError):
            db.create_table("t", families)
    with pytest.raises(ValueError):
        db.create_table("t", {})
    with pytest.raises(TypeError):
        db.create_table("t", {"cf": {"max_version": 3}})
    db.create_table("t", {"cf1": {}, "cf2:": None, b"cf3": {"max_versions": 1}})
    with pytest.raises(petal.Exists):
        db.create_table("t", {"cf": {}})
    assert db.tables() == [b"t"]
    with pytest.raises(petal.Invalid):
        db.delete_table("t")
    assert db.is_table_enabled("t")
    db.disable_table("t")
    db.disable_table("t")
    assert not db.is_table_enabled("t")
    with pytest.raises(petal.Invalid):
        db.table("t").row("r")
    with pytest.raises(petal.Invalid):
        db.table("t").put("r", {"cf1:a": b""})
    db.enable_table("t")
    db.table("t").put("r", {"cf1:a": b""})
    db.disable_table("t")
    db.delete_table("t")
    assert db.tables() == []
    for call in (db.is_table_enabled, db.disable_table, db.enable_table, db.compact_table):
        with pytest.raises(petal.NotFound):
            call("t")
    with pytest.raises(petal.NotFound):
        db.delete_table("t", disable=True)
    db.create_table("t", {"cf1": {}})
    assert db.is_table_enabled("t")
    assert db.table("t").row("r") == {}
    db.delete_table("t", disable=True)


def test_a_table_that_was_made_anew_is_found(db, table):
    table.put("r", {"cf:a": b"1"})
    db.delete_table("t", disable=True)
    for call in (table.families, lambda: table.row("r"), lambda: list(table.scan())):
        with pytest.raises(petal.NotFound):
            call()
    db.create_table("t", {"cf": {}})
    assert table.row("r") == {}
    table.put("r", {"cf:a": b"2"})
    db.truncate_table("t")
    assert list(table.scan()) == []
    table.put("r", {"cf:a": b"3"})
    assert table["r"] == {b"cf:a": b"3"}


def test_options_of_families(db):
    db.create_table(
        "t",
        {
            "a": dict(
                max_versions=7, compression="NONE", in_memory=True, bloom_filter_type="ROWCOL",
                bloom_filter_vector_size=8, bloom_filter_nb_hashes=2, block_cache_enabled=False,
                time_to_live=3600,
            ),
            "b": dict(
                versions=2, min_versions=1, ttl_seconds=60, keep_deleted_cells="TRUE",
                bloom="ROW_PREFIX", bloom_prefix_bytes=3, bloom_error_rate=0.02, block_bytes=8192,
                bloom_kind="RIBBON", new_version_behavior=True,
            ),
            "c": dict(compression="SNAPPY", time_to_live=-1),
        },
    )
    families = db.table("t").families()
    assert list(families) == [b"a", b"b", b"c"]
    expected = dict(
        name=b"a:", max_versions=7, compression="NONE", in_memory=True, bloom_filter_type="ROWCOL",
        block_cache_enabled=False, time_to_live=3600,
    )
    assert {name: families[b"a"][name] for name in expected} == expected
    expected = dict(
        versions=2, min_versions=1, ttl_seconds=60, keep_deleted_cells="TRUE", bloom="ROW_PREFIX",
        bloom_prefix_bytes=3, bloom_error_rate=0.02, block_bytes=8192, bloom_kind="RIBBON",
        new_version_behavior=True,
    )
    assert {name: families[b"b"][name] for name in expected} == expected
    expected = dict(max_versions=3, compression="LZ4", time_to_live=2**31 - 1, bloom="ROW")
    assert {name: families[b"c"][name] for name in expected} == expected
    for wrong in (
        dict(bloom="SOMETIMES"), dict(versions="two"), dict(versions=-1),
        dict(versions=1, max_versions=2), dict(size=8), dict(attributes=None),
    ):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            db.create_table("u", {"a": wrong})
    with pytest.raises(petal.Invalid):
        db.create_table("u", {"a": {}, b"a": {}})
    # What families() gives, create_table takes, as far as it has one name for each option.
    described = families[b"a"]
    db.create_table("v", {"a": {name: described[name] for name in list(described)[:9]}})
    assert db.table("v").families()[b"a"] == described
    db.alter_table("t", {"a": dict(versions=1), "d": {}})
    assert list(db.table("t").families()) == [b"a", b"d"]


def borders(table):
    return [(region["start_key"], region["end_key"]) for region in table.regions()]


def test_regions(db, table):
    (region,) = table.regions()
    assert region["start_key"] == region["end_key"] == b""
    assert region["name"] == b"t,,%d" % region["id"]
    with pytest.raises(petal.NotFound):
        db.table("none").regions()


def test_split_and_merge(db):
    db.create_table("s", {"cf": {}}, splits=[b"d", "b"])
    table = db.table("s")
    with table.batch() as batch:
        for row in "abcdef":
            batch.put(row, {b"cf:a": b"v"})
    db.flush()
    table.split(b"e")
    assert borders(table) == [(b"", b"b"), (b"b", b"d"), (b"d", b"e"), (b"e", b"")]
    first, second, third, _ = (region["id"] for region in table.regions())
    assert table.regions()[1]["name"] == b"s,b,%d" % second
    assert [region["files"] for region in table.regions()] == [1, 1, 1, 1]
    assert table.regions()[0]["cells"] == 1 and table.regions()[0]["file_bytes"] > 0
    assert table.regions()[0]["memtable_bytes"] == 0
    # Scans of the ranges give each row once.
    rows = [
        row
        for start, end in borders(table)
        for row, _ in table.scan(row_start=start or None, row_stop=end or None)
    ]
    assert rows == [b"a", b"b", b"c", b"d", b"e", b"f"]
    for wrong in (
        lambda: table.split(b"e"), lambda: table.split(b""), table.split,
        lambda: table.split(region=first), lambda: table.merge(first, third),
        lambda: table.merge(first, first),
    ):
        with pytest.raises(petal.Invalid):
            wrong()
    for none in (lambda: table.split(region=999), lambda: table.merge(first, 999)):
        with pytest.raises(petal.NotFound):
            none()
    with pytest.raises(TypeError):
        table.split(b"e", first)
    with pytest.raises(TypeError):
        table.merge("a", first)
    with pytest.raises(ValueError):
        table.split(region=2**32)
    table.merge(third, second)
    assert borders(table) == [(b"", b"b"), (b"b", b"e"), (b"e", b"")]
    for splits in ([b"b", b"b"], [b""]):
        with pytest.raises(petal.Invalid):
            db.create_table("again", {"cf": {}}, splits)
    with pytest.raises(petal.Invalid):
        petal.open(db.path + "-small", max_region_bytes=1)


def test_a_region_grows(tmp_path):
    with petal.open(str(tmp_path / "db"), max_region_bytes=1 << 16) as db:
        db.create_table("t", {"cf": {"block_bytes": 4096, "compression": "NONE"}})
        table = db.table("t")
        with table.batch() as batch:
            for i in range(200):
                batch.put(b"r%03d" % i, {b"cf:a": b"v" * 1000})
        db.flush()
        db.wait_idle()
        assert len(table.regions()) >= 3
        assert len(list(table.scan())) == 200


def test_row(table):
    with pytest.raises(TypeError):
        table.row(b"r", 123)
    with pytest.raises(TypeError):
        table.row(b"r", b"cf:a")
    with pytest.raises(TypeError):
        table.row(b"r", timestamp="late")
    table.put(b"r", {b"cf:a": b"old"}, timestamp=1234)
    table.put(b"r", {b"cf:a": b"new"}, timestamp=3456)
    table.put(b"r", {b"cf:b": b"2", b"cg:a": b"3"})
    table.put(b"r", {b"cg:": b"4"}, timestamp=1234)
    whole = {b"cf:a": b"new", b"cf:b": b"2", b"cg:": b"4", b"cg:a": b"3"}
    assert table.row(b"r") == whole
    assert list(table.row(b"r")) == sorted(whole)
    assert table.row(b"r", []) == whole
    assert table.row(b"r", [b"cf"]) == table.row(b"r", ("cf:",)) == {b"cf:a": b"new", b"cf:b": b"2"}
    assert table.row(b"r", [b"cf:a", b"cg"]) == {k: v for k, v in whole.items() if k != b"cf:b"}
    # A timestamp is a limit: versions below it.
    assert table.row(b"r", timestamp=3456) == {b"cf:a": b"old", b"cg:": b"4"}
    assert table.row(b"r", timestamp=1234) == {}
    assert table.row(b"r", [b"cf:a"], 3457, True) == {b"cf:a": (b"new", 3456)}
    assert isinstance(table.row(b"r", include_timestamp=True)[b"cf:b"][1], int)
    assert table.row(b"none") == {}
    with pytest.raises(petal.NotFound):
        table.row(b"r", [b"none:a"])


def test_rows(table):
    with pytest.raises(TypeError):
        table.rows([b"r"], object())
    with pytest.raises(TypeError):
        table.rows([b"r"], timestamp="late")
    with pytest.raises(TypeError):
        table.rows(b"abc")
    assert dict(table.rows([])) == {}
    keys = [b"r%03d" % i for i in range(400)]
    with table.batch(timestamp=4000) as batch:
        for key in keys:
            batch.put(key, {b"cf:a": key + b" old"})
    with table.batch() as batch:
        for key in keys:
            batch.put(key, {b"cf:a": key, b"cg:b": b""})
    assert dict(table.rows(keys)) == {key: {b"cf:a": key, b"cg:b": b""} for key in keys}
    assert dict(table.rows(tuple(keys), [b"cf:a"], 5000)) == {
        key: {b"cf:a": key + b" old"} for key in keys
    }
    # In the order asked for, without those that are not there, as often as asked for.
    found = table.rows([keys[7], b"none", keys[3], keys[7]], ["cf:a"], include_timestamp=True)
    assert [row for row, _ in found] == [keys[7], keys[3], keys[7]]
    assert found[0][1][b"cf:a"][0] == keys[7]


def test_rows_are_of_one_moment(table):
    keys = [b"r%03d" % i for i in range(1000)]
    stop = threading.Event()

    def write():
        number = 0
        while not stop.is_set():
            number += 1
            with table.batch() as batch:
                for key in keys:
                    batch.put(key, {b"cf:a": b"%d" % number})

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(200):
            assert len({data[b"cf:a"] for _, data in table.rows(keys)}) <= 1
    finally:
        stop.set()
        thread.join()


def test_cells(table):
    table.put(b"r", {b"cf:a": b"old", b"cf:": b"empty"}, timestamp=1234)
    table.put(b"r", {b"cf:a": b"new"})
    for wrong in ({"versions": "x"}, {"versions": 3, "timestamp": "x"}):
        with pytest.raises(TypeError):
            table.cells(b"r", b"cf:a", **wrong)
    with pytest.raises(ValueError):
        table.cells(b"r", b"cf:a", versions=0)
    assert table.cells(b"r", b"cf:a") == [b"new", b"old"]
    assert table.cells(b"r", b"cf:a", versions=1) == [b"new"]
    assert table.cells(b"r", b"cf:a", timestamp=2345, include_timestamp=True) == [(b"old", 1234)]
    assert table.cells(b"r", b"cf:") == [b"empty"]
    assert table.cells(b"r", b"cf") == [b"empty", b"new", b"old"]
    assert table.cells(b"none", b"cf:a") == []


def test_put(table):
    table.put(b"r", {b"cf:a": b"1", b"cg:b": b"2"})
    table.put(b"r", {})
    table.put(b"r", {b"cf:c": b"3"}, timestamp=5, wal=False)
    assert table.row(b"r") == {b"cf:a": b"1", b"cf:c": b"3", b"cg:b": b"2"}
    for data in ({b"cf": b"x"}, {b"cf:x": b"x", b"cf": b"x"}):
        with pytest.raises(ValueError, match="colon"):
            table.put(b"r", data)
    # All cells of a put or none.
    for data in ({b"cf:x": b"x", b"none:x": b"x"}, {b"none:x": b"x"}):
        with pytest.raises(petal.NotFound):
            table.put(b"r", data)
    with pytest.raises(petal.Invalid):
        table.put(b"", {b"cf:x": b"x"})
    with pytest.raises(petal.Invalid):
        table.put(b"r" * 32768, {b"cf:x": b"x"})
    with pytest.raises(petal.Invalid):
        table.put(b"r", {b"cf:x": b"x"}, timestamp=-5)
    assert b"cf:x" not in table.row(b"r")
    assert len(table.row(b"r")) == 3


def test_delete(table):
    def fill():
        for stamp in (10, 20):
            table.put(b"r", {b"cf:a": b"%d" % stamp, b"cf:b": b"b", b"cg:": b"c"}, timestamp=stamp)

    fill()
    table.delete(b"r", [b"cf:a"], timestamp=10)
    assert table.cells(b"r", b"cf:a") == [b"20"]
    table.delete(b"r", [b"cf:a", b"cg:"], timestamp=20)
    assert table.row(b"r") == {b"cf:b": b"b"}
    table.delete(b"r", ["cf"], timestamp=20)
    assert table.row(b"r") == {}
    table.put(b"s", {b"cf:a": b"1", b"cg:a": b"2"})
    table.delete(b"s")
    table.delete(b"s", [])
    assert table.row(b"s") == {}
    with pytest.raises(TypeError):
        table.delete(b"s", b"cf:a")


def test_batch(table):
    for wrong in ({"timestamp": "x"}, {"transaction": True, "batch_size": 10}):
        with pytest.raises(TypeError):
            table.batch(**wrong)
    with pytest.raises(ValueError):
        table.batch(batch_size=0)
    batch = table.batch()
    batch.put(b"r", {b"cf:a": b"1", b"cf:b": b"2"})
    batch.put(b"s", {b"cf:a": b"1"})
    batch.delete(b"none")
    assert table.row(b"r") == {}
    assert len(batch) == 5 and batch
    batch.send()
    assert len(batch) == 0 and batch
    batch.send()
    assert table.row(b"r") == {b"cf:a": b"1", b"cf:b": b"2"}
    batch.delete(b"r", [b"cf:a"])
    batch.put(b"s", {b"cf:b": b"3"})
    batch.clear()
    batch.delete(b"s")
    batch.send()
    assert [row for row, _ in table.scan()] == [b"r"]
    with table.batch(timestamp=77) as batch:
        batch.put(b"u", {b"cf:a": b"1"})
    assert table.row(b"u", include_timestamp=True) == {b"cf:a": (b"1", 77)}


def test_batch_and_exceptions(table):
    with pytest.raises(KeyError):
        with table.batch(transaction=True) as batch:
            batch.put(b"r", {b"cf:a": b"1"})
            raise KeyError
    assert table.row(b"r") == {}
    with pytest.raises(KeyError):
        with table.batch() as batch:
            batch.put(b"r", {b"cf:a": b"1"})
            raise KeyError
    assert table.row(b"r") == {b"cf:a": b"1"}


def test_a_batch_with_half_a_put_is_not_sent(table):
    batch = table.batch()
    with pytest.raises(petal.NotFound):
        batch.put(b"r", {b"cf:a": b"1", b"none:a": b"2"})
    batch.put(b"r", {b"cf:c": b"1"})
    with pytest.raises(petal.Invalid):
        batch.send()
    batch.clear()
    batch.put(b"s", {b"cf:a": b"1"})
    batch.send()
    assert [row for row, _ in table.scan()] == [b"s"]
    with pytest.raises(petal.NotFound):
        with table.batch() as batch:
            batch.delete(b"s", [b"cf:a", b"none:a"])
    assert table.row(b"s")


def test_batch_size(table):
    with table.batch(batch_size=20) as batch:
        for i in range(95):
            batch.put(b"r%03d" % i, {b"cf:": b"x"})
            assert len(batch) < 20
            assert sum(1 for _ in table.scan()) == (i + 1) // 20 * 20
    assert sum(1 for _ in table.scan(row_prefix=b"r")) == 95
    with table.batch(batch_size=20) as batch:
        for i in range(95):
            batch.delete(b"r%03d" % i)
    assert list(table.scan()) == []


def test_counters(table):
    assert table.counter_get(b"r", b"cf:n") == 0
    assert table.row(b"r") == {b"cf:n": bytes(8)}
    assert table.counter_inc(b"r", b"cf:n", 10) == 10
    table.counter_set(b"r", b"cf:n", 3)
    assert table.counter_inc(b"r", b"cf:n") == 4
    assert table.counter_dec(b"r", b"cf:n", 7) == -3
    assert table.counter_dec(b"r", b"cf:n", -7) == 4
    assert table.counter_get("r", "cf:n") == 4
    table.counter_set(b"r", b"cf:n")
    assert table.counter_get(b"r", b"cf:n") == 0
    table.put(b"r", {b"cf:text": b"four"})
    with pytest.raises(petal.Invalid):
        table.counter_inc(b"r", b"cf:text")


def test_counters_of_threads(table):
    def count():
        for _ in range(500):
            table.counter_inc(b"r", b"cf:n")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert table.counter_get(b"r", b"cf:n") == 2000


def test_text_is_encoded(table):
    table.put("zeile-ü", {"cf:é": "wert ñ"})
    assert table.row("zeile-ü") == {"cf:é".encode(): "wert ñ".encode()}
    assert table["zeile-ü", "cf:é"] == "wert ñ".encode()
    assert [row for row, _ in table.scan(row_prefix="zeile")] == ["zeile-ü".encode()]


def test_as_python_has_it(table):
    table[b"r", b"cf:a"] = b"1"
    table.put(b"r", {b"cf:b": b"2"})
    assert table[b"r"] == {b"cf:a": b"1", b"cf:b": b"2"}
    assert table[b"r", b"cf:b"] == b"2"
    assert b"r" in table and (b"r", b"cf:a") in table
    assert b"s" not in table and (b"r", b"cf:c") not in table
    del table[b"r", b"cf:a"]
    for key in (b"s", (b"r", b"cf:a")):
        with pytest.raises(KeyError):
            table[key]
    del table[b"r"]
    assert b"r" not in table
    with pytest.raises(TypeError):
        table[b"r"] = {}
    with pytest.raises(TypeError):
        iter(table)
    with pytest.raises(TypeError):
        table[3]


def test_scan(table):
    with table.batch() as batch:
        for i in range(2000):
            batch.put(b"a%05d" % i, {b"cf:a": b"1", b"cf:b": b"2", b"cg:a": b"3"})
            batch.put(b"b%05d" % i, {b"cf:a": b"4"})

    def rows(**arguments):
        return [row for row, _ in table.scan(**arguments)]

    assert len(rows()) == 4000
    assert rows() == sorted(rows())
    assert rows(row_start=b"a00012", row_stop=b"a00022") == [b"a%05d" % i for i in range(12, 22)]
    assert rows(row_start=b"x") == rows(row_start=b"x", row_stop=b"y") == []
    assert len(rows(row_stop=b"b00001")) == 2001
    assert len(rows(row_prefix=b"b", batch_size=499, limit=1000)) == 1000
    assert rows(row_prefix=b"b", batch_size=1, limit=3) == [b"b00000", b"b00001", b"b00002"]
    assert rows(row_prefix=b"b0199") == [b"b%05d" % i for i in range(1990, 2000)]
    assert rows(timestamp=5) == []
    backwards = rows(reverse=True)
    assert backwards == rows()[::-1]
    assert rows(reverse=True, row_start=b"a00002", row_stop=b"a00000") == [b"a00002", b"a00001"]
    assert rows(reverse=True, row_prefix=b"a0000", limit=2) == [b"a00009", b"a00008"]
    assert next(table.scan(columns=[b"cf:a", b"cg:a"])) == (
        b"a00000",
        {b"cf:a": b"1", b"cg:a": b"3"},
    )
    row, data = next(table.scan(include_timestamp=True, columns=["cg"]))
    assert data[b"cg:a"][0] == b"3" and isinstance(data[b"cg:a"][1], int)
    for text in (b"PrefixFilter('b0000')", "PrefixFilter('b0000')"):
        assert len(rows(filter=text)) == 10
    assert len(rows(filter="PrefixFilter('b0000')", limit=4)) == 4
    assert len(rows(filter="ValueFilter(=, 'binary:3') AND PrefixFilter('a0001')")) == 10
    row, data = next(table.scan(sorted_columns=True))
    assert isinstance(data, OrderedDict) and list(data) == [b"cf:a", b"cf:b", b"cg:a"]


def test_arguments_of_a_scan(table):
    for name in ("limit", "batch_size", "scan_batching"):
        with pytest.raises(ValueError):
            table.scan(**{name: 0})
    with pytest.raises(TypeError):
        table.scan(row_prefix=b"x", row_start=b"y")
    with pytest.raises(TypeError):
        table.scan(row_prefix=b"x", row_stop=b"y")
    with pytest.raises(TypeError):
        table.scan(row_start=5)
    with pytest.raises(petal.Invalid) as caught:
        table.scan(filter="PrefixFilter('x') AND Nonsense()")
    assert caught.value.offset > 0
    with pytest.raises(petal.NotFound):
        table.scan(columns=["none:a"])


def test_scan_in_pieces(table):
    table.put(b"r", {b"cf:%02d" % i: b"" for i in range(10)})
    table.put(b"s", {b"cf:%02d" % i: b"" for i in range(3)})
    sizes = [(row, len(data)) for row, data in table.scan(scan_batching=4)]
    assert sizes == [(b"r", 4), (b"r", 4), (b"r", 2), (b"s", 3)]
    assert len(list(table.scan(scan_batching=4, limit=2))) == 2
    assert len(list(table.scan(scan_batching=4, limit=2, batch_size=1))) == 2
    data = list(table.scan(scan_batching=4, limit=1, sorted_columns=True))[0][1]
    assert isinstance(data, OrderedDict)


def test_compaction(db, table):
    table.put(b"r", {b"cf:a": b"1"})
    db.compact_table("t")
    db.compact_table("t", major=True)
    assert db.stats()["compactions"] + db.stats()["flushes"] > 0
    assert table.row(b"r") == {b"cf:a": b"1"}


def test_pool(path):
    for wrong in ("abc", None):
        with pytest.raises(TypeError):
            petal.ConnectionPool(size=wrong, path=path)
    with pytest.raises(ValueError):
        petal.ConnectionPool(size=0, path=path)
    with pytest.raises(petal.Error):
        petal.ConnectionPool(size=1, path=path + "/not/there")
    pool = petal.ConnectionPool(size=2, host=path, table_prefix="p")
    with pool.connection() as connection:
        connection.create_table("t", {"cf": {}})
        with pool.connection() as inner:
            assert inner is connection
    seen = []

    def work(number):
        for i in range(50):
            with pool.connection() as connection:
                connection.table("t").put(b"%d-%d" % (number, i), {b"cf:a": b""})
                seen.append(connection)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, seen))) <= 2
    with pool.connection() as connection:
        assert sum(1 for _ in connection.table("t").scan()) == 200


def test_pool_without_a_free_connection(path):
    pool = petal.ConnectionPool(size=1, path=path)
    got = []

    def want():
        try:
            with pool.connection(timeout=0.01):
                pass
        except petal.NoConnectionsAvailable as error:
            got.append(error)

    with pool.connection():
        thread = threading.Thread(target=want)
        thread.start()
        thread.join()
    assert len(got) == 1
    with pool.connection(timeout=0.01):
        pass

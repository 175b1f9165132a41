"""What is taken for bytes, and what is not."""

import array
import mmap

import pytest

import petal


@pytest.mark.parametrize(
    "given",
    [
        b"value",
        bytearray(b"value"),
        memoryview(b"value"),
        memoryview(bytearray(b"value")),
        memoryview(b"-value-")[1:-1],
        memoryview(b"v-a-l-u-e-")[::2],
        "value",
        array.array("B", b"value"),
        type("Bytes", (bytes,), {})(b"value"),
    ],
)
def test_buffers(kv, table, given):
    kv[b"k"] = given
    assert kv[b"k"] == b"value"
    assert kv.compare_and_swap(given, None, given)
    assert kv[b"value"] == b"value"
    with kv.batch() as batch:
        batch.put(b"l", given)
        batch.put(given, b"x")
    assert kv[b"l"] == b"value" and kv[given] == b"x"
    table.put(b"r", {b"cf:a": given})
    table.put(given, {b"cf:a": given, b"cf:b": given})
    assert table.row(b"r") == {b"cf:a": b"value"}
    assert table.row(given) == {b"cf:a": b"value", b"cf:b": b"value"}
    assert [row for row, _ in table.scan(row_start=given, row_stop=b"valuf")] == [b"value"]
    with table.batch() as batch:
        batch.put(given, {b"cf:c": given})
    assert table.row(given, [b"cf:c"]) == {b"cf:c": b"value"}


def test_batches_copy(kv, table):
    given = bytearray(b"first")
    with kv.batch() as batch:
        batch.put(b"k", given)
        given[:] = b"other and longer"
    assert kv[b"k"] == b"first"


def test_a_mapped_file(kv):
    with mmap.mmap(-1, 4096) as mapped:
        mapped[:5] = b"bytes"
        kv[b"k"] = mapped
        kv[b"l"] = memoryview(mapped)[:5]
    assert kv[b"k"][:6] == b"bytes\0" and kv[b"l"] == b"bytes"


@pytest.mark.parametrize("wrong", [None, 5, 5.0, [b"x"], object(), True])
def test_other_types(kv, table, wrong):
    for call in (
        lambda: kv.put(b"k", wrong),
        lambda: kv.put(wrong, b"v"),
        lambda: kv[wrong],
        lambda: wrong in kv,
        lambda: kv.get_many([wrong]),
        lambda: table.put(b"r", {b"cf:a": wrong}),
        lambda: table.put(b"r", {b"cf:a": b"", b"cf:b": wrong}),
        lambda: table.put(wrong, {b"cf:a": b"v"}),
        lambda: table.put(b"r", {wrong: b"v"}),
        lambda: table.row(wrong),
        lambda: table.rows([wrong]),
        lambda: table.row(b"r", [wrong]),
        lambda: table.cells(b"r", wrong),
        lambda: table.counter_inc(wrong, b"cf:a"),
        lambda: table.batch().put(b"r", {b"cf:a": wrong}),
        lambda: table.batch().delete(wrong),
    ):
        with pytest.raises(TypeError):
            call()
    assert table.row(b"r") == {} and not kv


@pytest.mark.parametrize("wrong", [2**63, -(2**63) - 1, 2**100])
def test_numbers_that_are_too_large(path, kv, table, wrong):
    for call in (
        lambda: table.put(b"r", {b"cf:a": b""}, timestamp=wrong),
        lambda: table.put(b"r", {}, timestamp=wrong),
        lambda: table.batch(timestamp=wrong),
        lambda: table.delete(b"r", timestamp=wrong),
        lambda: table.row(b"r", timestamp=wrong),
        lambda: table.rows([b"r"], timestamp=wrong),
        lambda: table.scan(timestamp=wrong),
        lambda: table.counter_inc(b"r", b"cf:n", wrong),
        lambda: table.counter_set(b"r", b"cf:n", wrong),
        lambda: kv.put(b"k", b"v", ttl_ms=wrong),
        lambda: kv.put(b"k", b"v", durability=wrong),
        lambda: petal.Connection(path, timeout=wrong),
    ):
        with pytest.raises(ValueError):
            call()
    for number in (wrong, 1.5, "1", None):
        with pytest.raises((TypeError, ValueError)):
            table.counter_inc(b"r", b"cf:n", number)
    assert list(table.scan(batch_size=2**70)) == [] and not kv


def test_zero_bytes(kv, table):
    kv[b"\0"] = b"\0\0"
    kv[b"\0\0"] = b"a\0b"
    assert dict(kv) == {b"\0": b"\0\0", b"\0\0": b"a\0b"}
    table.put(b"\0r", {b"cf:\0": b"\0", b"cf:": b""})
    assert list(table.scan()) == [(b"\0r", {b"cf:": b"", b"cf:\0": b"\0"})]


def test_wide_and_large_rows(table):
    data = {b"cf:%06d" % i: b"%d" % i for i in range(100000)}
    table.put(b"wide", data)
    table.put(b"large", {b"cf:%d" % i: bytes(5 << 20) for i in range(4)})
    table.put(b"name", {b"cf:" + b"q" * 100000: b"long"})
    assert table.row(b"wide") == data
    found = dict(table.scan())
    assert found[b"wide"] == data
    assert found[b"large"][b"cf:3"] == bytes(5 << 20)
    assert found[b"name"] == {b"cf:" + b"q" * 100000: b"long"}
    assert len(table.rows([b"wide", b"large"])) == 2


def test_names_that_look_alike(db):
    """Two of one length and at one place of the memo, that differ where a family ends."""
    db.create_table("u", {"a": {}, "abv": {}})
    expected = {b"r%d" % i: {(b"a:v:0001", b"abv:0001")[i % 2]: b""} for i in range(9)}
    with db.table("u").batch() as batch:
        for row, data in expected.items():
            batch.put(row, data)
    assert dict(db.table("u").scan()) == expected


def test_columns_that_alternate(table):
    """Names that share a place in the memo of a pickle, and families of one spelling together."""
    expected = {}
    for i in range(300):
        data = {b"cf:%d" % (i * j % 97): b"%d" % j for j in range(20)}
        data[b"cg:%d" % i] = b"g"
        table.put(b"r%04d" % i, data)
        expected[b"r%04d" % i] = data
    assert dict(table.scan()) == expected
    assert dict(table.scan(batch_size=7)) == expected

"""No room on the disk, or in memory: an exception, and nothing is lost."""

import subprocess
import sys

import pytest

FULL_DISK = """
import os, sys, time, petal
path = sys.argv[1] + "/db"
value = os.urandom(50000)
db = petal.open(path, memtable_bytes=1 << 16)
db.create_table("t", {"cf": {}})
table, kv = db.table("t"), db.kv("map")
acknowledged = []
def fill(write):
    for i in range(1000):
        try:
            write(b"%04d" % i)
        except petal.NoSpace as error:
            assert error.os_error or str(error)
            return
        acknowledged.append(b"%04d" % i)
    sys.exit("the disk is not full")
def put(key): kv[key] = value
def in_a_batch(key):
    with kv.batch() as batch: batch[b"b" + key] = value; batch[b"c" + key] = b""
def in_a_transaction(key):
    with db.transaction() as t: t.kv("map")[b"t" + key] = value; t.table("t").counter_inc(b"r", b"cf:n")
def again(work):
    for turn in range(1000):
        try:
            return work()
        except petal.NoSpace:
            time.sleep(0.01)
fill(put)
count, counted = len(acknowledged), [0]
for write in (in_a_batch, in_a_transaction):
    before = len(acknowledged)
    fill(write)
    counted.append(len(acknowledged) - before)
def check(db):
    kv = db.kv("map")
    for number in range(count): assert kv[b"%04d" % number] == value
    assert len(list(kv.scan(prefix=b"b"))) == len(list(kv.scan(prefix=b"c"))) == counted[1]
    assert len(list(kv.scan(prefix=b"t"))) == counted[2]
check(db)
try:
    db.close()
except petal.NoSpace:
    pass
# Opened on the full disk, all is there; dropping a table makes room.
with petal.open(path, read_only=True) as db: check(db)
with petal.open(path) as db:
    check(db)
    # Flushes that are tried again take and give back what room there is, and files go later.
    again(lambda: db.delete_table("map", disable=True))
    again(lambda: db.kv("other").put(b"k", value))
    print(db.kv("other")[b"k"] == value)
"""


def test_a_full_disk(tmp_path):
    command = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=4m none "$0" && exec "$@"']
    command.append(str(tmp_path))
    try:
        subprocess.run(command + ["true"], check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system can be mounted here")
    done = subprocess.run(
        command + [sys.executable, "-X", "faulthandler", "-c", FULL_DISK, str(tmp_path)],
        timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_no_memory(run):
    """A process that may take no more memory gets MemoryError, and goes on when it may."""
    assert run(
        """
import resource, sys, petal
db = petal.open(sys.argv[1])
db.create_table("t", {"cf": {}})
table, kv = db.table("t"), db.kv("map")
value = bytes(3 << 20)
for i in range(8):
    table.put(b"%d" % i, {b"cf:a": value, b"cf:b": value})
    kv[b"%d" % i] = value
db.flush()
batch, t = kv.batch(), db.transaction()
def grow(add):
    for i in range(40): add(b"n%d" % i, value)
calls = [
    lambda: table.rows([b"%d" % i for i in range(8)]), lambda: list(table.scan()),
    lambda: kv.get_many([b"%d" % i for i in range(8)]), lambda: dict(kv),
    lambda: grow(batch.put), lambda: grow(t.kv("map").put),
]
failed = set()
for extra in (1, 8, 20):
    for number, call in enumerate(calls):
        with open("/proc/self/statm") as memory:
            used = int(memory.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (extra << 20), -1))
        try:
            call()
        except MemoryError:
            failed.add(number)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
assert len(failed) == len(calls), failed
t.abort(); batch.clear()
assert len(table.rows([b"%d" % i for i in range(8)])) == len(list(table.scan())) == 8
assert dict(kv) == {b"%d" % i: value for i in range(8)}
kv[b"k"] = b"v"
db.close()
print("goes on")
"""
    ) == "goes on\n"

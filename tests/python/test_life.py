"""Closing, threads, forks and the collector: an exception at worst, never a crash."""

import gc
import os
import threading
import time

import pytest

import petal


def fill(table, rows=2000):
    with table.batch() as batch:
        for i in range(rows):
            batch.put(b"r%05d" % i, {b"cf:a": b"%d" % i})


def uses(db, table, kv, scan, keys, snapshot, old, batch, pairs, transaction):
    return [
        lambda: table.row(b"r"), lambda: table.rows([b"r"]), lambda: table.cells(b"r", b"cf:a"),
        lambda: table.put(b"r", {b"cf:a": b""}),
        lambda: table.put(b"r", {b"cf:a": b"", b"cf:b": b""}),
        lambda: table.delete(b"r"), lambda: table.counter_inc(b"r", b"cf:n"), table.batch,
        table.scan, table.families, table.regions, lambda: table.split(b"m"), lambda: table.merge(1, 2), lambda: table[b"r"], lambda: b"r" in table,
        lambda: kv[b"k"], lambda: kv.put(b"k", b"v"), lambda: kv.pop(b"k"), lambda: list(kv),
        lambda: len(kv), kv.clear, lambda: kv.get_many([b"k"]), kv.batch, lambda: bool(kv),
        lambda: kv.compare_and_swap(b"k", None, b""), lambda: kv.scan(),
        lambda: list(scan), lambda: list(keys), lambda: old.row(b"r"), lambda: list(old.scan()),
        snapshot.table("t").families, lambda: snapshot.kv("map"),
        lambda: batch.put(b"r", {b"cf:a": b""}), lambda: batch.delete(b"r"),
        batch.send, lambda: pairs.put(b"k", b""), pairs.send,
        lambda: transaction.table("t").row(b"own"), lambda: list(transaction.table("t").scan(row_start=b"own", row_stop=b"p")),
        lambda: transaction.table("t").put(b"own", {b"cf:a": b""}),
        lambda: transaction.table("t").counter_inc(b"own", b"cf:n"),
        lambda: list(transaction.kv("map").scan(b"own", b"p")), lambda: transaction.kv("map").get(b"own"),
        transaction.commit, db.transaction, lambda: db.backup(db.path + "-backup"),
        db.tables, db.stats, db.stats_text, db.flush, db.wait_idle, db.snapshot,
        lambda: db.checkpoint(db.path + "-copy"), lambda: db.create_table("u", {"cf": {}}),
        lambda: db.delete_table("t", True), lambda: db.truncate_table("t"),
        lambda: db.compact_table("t", True), lambda: db.kv("other"),
        lambda: db.alter_table("t", {"cf": {}}), lambda: db.is_table_enabled("t"),
    ]


def objects(db):
    """Everything that a database gives, in use."""
    db.create_table("t", {"cf": {}})
    table, kv = db.table("t"), db.kv("map")
    fill(table)
    kv.update({b"k%05d" % i: b"" for i in range(5000)})
    scan, keys, snapshot = table.scan(), iter(kv), db.snapshot()
    old = snapshot.table("t")
    next(scan), next(keys), old.row(b"r")
    batch, pairs = table.batch(), kv.batch()
    batch.put(b"r", {b"cf:a": b""})
    pairs.put(b"k", b"")
    transaction = db.transaction()
    transaction.table("t").put(b"own", {b"cf:a": b""})
    next(transaction.table("t").scan(row_start=b"own", row_stop=b"p"))
    return table, kv, scan, keys, snapshot, old, batch, pairs, transaction


def test_use_after_closing(db):
    made = objects(db)
    db.close()
    for number, use in enumerate(uses(db, *made)):
        try:
            use()
        except petal.Closed:
            continue
        pytest.fail("use %d of what is closed is no error" % number)
    table, kv, scan, keys, snapshot, old, batch, pairs, transaction = made
    scan.close()
    snapshot.close()
    batch.clear()
    transaction.abort()
    assert len(batch) == 0 and "closed" in repr(db) and repr(table) and repr(kv)
    db.close()
    db.open()
    assert table.row(b"r00007") == {b"cf:a": b"7"} and len(kv) == 5000
    # What was of the closed database stays closed.
    for use in (lambda: list(old.scan()), lambda: old.row(b"r"), batch.send):
        with pytest.raises(petal.Closed):
            use()


def test_the_database_is_closed_while_things_are_open(db, path):
    made = objects(db)
    db.close()
    # Nothing is left that holds the lock.
    with petal.open(path, memory_bytes=8 << 20) as again:
        assert again.tables() == [b"map", b"t"]
    del made


def test_connections_of_a_path_share_the_database(path):
    first = petal.open(path)
    second = petal.open(path)
    first.create_table("t", {"cf": {}})
    assert second.tables() == [b"t"]
    with pytest.raises(petal.Busy):
        petal.open(path, memory_bytes=8 << 20)
    first.close()
    assert second.tables() == [b"t"]
    second.close()
    petal.open(path, memory_bytes=8 << 20).close()


def test_read_only(path):
    with pytest.raises(petal.NotFound):
        petal.open(path, read_only=True)
    with petal.open(path) as db:
        db.create_table("t", {"cf": {}})
        db.table("t").put(b"r", {b"cf:a": b"1"})
        db.kv("m")[b"k"] = b"v"
    with petal.open(path, read_only=True) as db:
        assert db.kv("m")[b"k"] == b"v"
        with pytest.raises(petal.ReadOnly):
            db.kv("n")
        assert db.table("t").row(b"r") == {b"cf:a": b"1"}
        with pytest.raises(petal.ReadOnly):
            db.table("t").put(b"r", {b"cf:a": b"2"})
        with pytest.raises(petal.ReadOnly):
            db.create_table("u", {"cf": {}})


def test_paths(tmp_path):
    with petal.open(tmp_path / "a") as first, petal.open(bytes(tmp_path / "a")) as second:
        first.kv("m")
        assert second.tables() == [b"m"]
        os.symlink(str(tmp_path / "a"), str(tmp_path / "b"))
        assert petal.open(tmp_path / "b").tables() == [b"m"]
    with pytest.raises(ValueError):
        petal.open(str(tmp_path / "c\0d"))
    with pytest.raises(ValueError):
        petal.open(tmp_path / "a").checkpoint("c\0d")
    assert sorted(os.listdir(str(tmp_path))) == ["a", "b"]


def test_connections_of_threads(path):
    """Threads that open and close: what one has open stays open."""
    wrong = []

    def work(number):
        try:
            for i in range(100):
                with petal.open(path) as db:
                    db.kv("m")[b"%d" % number] = b"%d" % i
                    assert db.kv("m")[b"%d" % number] == b"%d" % i
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_options_of_a_database(path):
    with pytest.raises(petal.NotFound):
        petal.open(path, create=False)
    petal.open(path, durability="FSYNC_WAL", map_files=True, no_log_mapping=True).close()
    with pytest.raises(petal.Exists):
        petal.open(path, error_if_exists=True)
    for wrong in ({"durability": "NEVER"}, {"memory_bytes": "much"}, {"memory_bytes": -1}):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            petal.open(path, **wrong)
    with pytest.raises(TypeError):
        petal.open(path, colour="red")
    with pytest.raises(petal.Invalid) as caught:
        petal.open(path, memory_bytes=10)
    assert "memory_bytes" in str(caught.value) and isinstance(caught.value, ValueError)


def test_errors(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(petal.Error) as caught:
        petal.open(str(tmp_path / "file"))
    error = caught.value
    assert error.status and error.os_error and str(tmp_path) in str(error) + error.file
    with petal.open(str(tmp_path / "db")) as db:
        db.kv("m")[b"k"] = b"v"
    for name in os.listdir(str(tmp_path / "db")):
        if name.endswith(".sst"):
            (tmp_path / "db" / name).unlink()
    with petal.open(str(tmp_path / "db")) as db:
        with pytest.raises(petal.Corrupt) as caught:
            db.kv("m")[b"k"]
        assert caught.value.file and isinstance(db.stats()["background_error"], petal.Corrupt)


def test_timeout(path):
    """No row is lost after a timeout, and none comes twice, nor a part of one."""
    with petal.open(path) as db:
        db.create_table("t", {"cf": {}})
        with db.table("t").batch() as batch:
            for i in range(300000):
                batch.put(b"r%06d" % i, {b"cf:a": b"x" if i % 100000 == 7 else b""})
            batch.put(b"wide", {b"cf:%06d" % i: b"x" if i % 3 else b"" for i in range(200000)})
        whole = list(db.table("t").scan(filter="ValueFilter(=, 'binary:x')"))
        assert len(whole) == 4
    with petal.Connection(path, timeout=1) as db:
        for pieces in (None, 50000):
            seen, timeouts = [], 0
            scan = db.table("t").scan(filter="ValueFilter(=, 'binary:x')", scan_batching=pieces)
            while True:
                try:
                    for row, data in scan:
                        if seen and seen[-1][0] == row:
                            seen[-1][1].update(data)
                        else:
                            seen.append((row, data))
                    break
                except petal.Timeout:
                    timeouts += 1
            assert seen == whole and timeouts > 0
        assert len(list(db.kv("map").scan())) == 0


def test_scans_left_half(db, table):
    fill(table)
    for _ in range(100):
        next(iter(table.scan()))
    for _ in range(100):
        scan = table.scan()
        next(scan)
        scan.close()
        scan.close()
        assert list(scan) == []
    for _ in range(10):
        with table.scan() as scan:
            for row, _data in scan:
                break
    unused = table.scan()
    del unused, scan
    gc.collect()
    db.close()


def test_reference_cycles(path):
    class Holder:
        pass

    for _ in range(5):
        holder = Holder()
        holder.self = holder
        holder.db = petal.open(path)
        if b"t" not in holder.db.tables():
            holder.db.create_table("t", {"cf": {}})
        holder.table = holder.db.table("t")
        fill(holder.table, 100)
        holder.scan = holder.table.scan()
        next(holder.scan)
        holder.iterator = iter(holder.scan)
        holder.snapshot = holder.db.snapshot()
        holder.batch = holder.table.batch()
        holder.transaction = holder.db.transaction()
        holder.rows = iter(holder.transaction.table("t").scan())
        next(holder.rows)
        holder.db.cycle = holder
        del holder
        gc.collect()
        # Collected, and so closed: it can be opened with other options.
        petal.open(path, memory_bytes=8 << 20).close()


def test_finalizers_of_a_cycle(run):
    """In a cycle the collector ends objects in any order, so a finalizer uses what was ended."""
    assert run(
        """
import gc, sys
sys.path.insert(0, %r)
import test_life, petal
wrong = []
class Late:
    def __del__(self):
        for number, use in enumerate(test_life.uses(self.db, *self.made)):
            # What closes is last to be used.
            try: use()
            except (petal.Closed, petal.Invalid, petal.NotFound, petal.Exists, KeyError): pass
            except petal.Error as error: wrong.append((number, error))
for turn in range(20):
    late = Late()
    late.db = petal.open(sys.argv[1] + str(turn))
    late.made = test_life.objects(late.db)
    # Finalizers run in the order of making: the first before those of the database, this one after.
    other = Late()
    other.db, other.made, other.late, late.other = late.db, late.made, late, other
    late.db.cycle = late
    late = other = None
    gc.collect()
assert not wrong, wrong
print(len(gc.garbage))
"""
        % os.path.dirname(os.path.abspath(__file__))
    ) == "0\n"


def test_the_collector_closes(path):
    scan = petal.open(path).kv("m").scan()
    with pytest.raises(petal.Busy):
        petal.open(path, memory_bytes=8 << 20)
    del scan
    petal.open(path, memory_bytes=8 << 20).close()


def test_threads_while_another_closes(path):
    for turn in range(20):
        db = petal.open(path)
        if turn == 0:
            db.create_table("t", {"cf": {}})
            fill(db.table("t"))
        table, kv, snapshot = db.table("t"), db.kv("map"), db.snapshot()
        begun = threading.Barrier(8)
        wrong = []

        def work(use, begun=begun, wrong=wrong):
            begun.wait()
            try:
                while True:
                    use()
            except petal.Closed:
                pass
            except BaseException as error:
                wrong.append(error)

        shared = table.scan()
        jobs = [
            lambda: table.put(b"x", {b"cf:a": b"1", b"cf:b": b"2"}),
            lambda: list(table.scan()),
            lambda: (table.row(b"r00001"), table.families()),
            lambda: (kv.put(b"k", b"v"), kv.get(b"k"), list(kv)),
            lambda: (snapshot.table("t").row(b"r00001"), db.stats(), db.tables()),
            lambda: next(shared, None) or db.snapshot().close(),
            lambda: db.transact(lambda t: (list(t.kv("map")), t.table("t").put(b"y", {b"cf:a": b""}))),
        ]
        threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
        for thread in threads:
            thread.start()
        begun.wait()
        time.sleep(0.002 * (turn % 5))
        if turn % 2:
            snapshot.close()
        db.close()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
        # A read at a snapshot that another thread has closed is petal.Closed as well.
        assert not wrong, wrong


def test_a_scan_of_many_threads(db, table):
    fill(table, 5000)
    scan = table.scan(batch_size=10)
    seen = []

    def work():
        while True:
            try:
                row, _ = next(scan)
            except StopIteration:
                return
            except ValueError:  # generator already executing
                continue
            seen.append(row)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == [b"r%05d" % i for i in range(5000)]


def test_a_batch_of_many_threads(db, table):
    batch = table.batch()

    def work(number):
        for i in range(300):
            batch.put(b"%d-%d" % (number, i), {b"cf:a": b""})
            if i % 50 == 0:
                batch.send()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    batch.send()
    assert sum(1 for _ in table.scan()) == 1200


def test_calls_let_other_threads_run(db):
    """While one thread is inside a long call, another one runs Python code."""
    kv = db.kv("map")
    with kv.batch() as batch:
        for i in range(300000):
            batch.put(b"%d" % i, b"")
    inside = threading.Event()
    counted = []

    def count():
        inside.set()
        counted.append(len(kv))
        inside.clear()

    thread = threading.Thread(target=count)
    thread.start()
    inside.wait()
    turns = 0
    while inside.is_set():
        turns += 1
        time.sleep(0)
    thread.join()
    assert counted == [300000]
    # A call that kept the interpreter's lock would leave a turn or two.
    assert turns > 10


def test_fork(run):
    assert run(
        """
import gc, os, sys, threading
sys.path.insert(0, %r)
import test_life, petal

db = petal.open(sys.argv[1])
made = test_life.objects(db)
pool = petal.ConnectionPool(size=1, path=sys.argv[1])
# Threads that are inside at the moment of the fork.
stop = False
def work():
    while not stop:
        list(made[0].scan(limit=50)); made[1].put(b'a', b'b')
# And one that opens and closes another database.
def reopen():
    while not stop: petal.open(sys.argv[1] + '-other').close()
threads = [threading.Thread(target=call) for call in (work, work, reopen)]
for thread in threads: thread.start()
for turn in range(10):
    child = os.fork()
    if child == 0:
        wrong = 0
        for number, use in enumerate(test_life.uses(db, *made)):
            try:
                use()
            except petal.Invalid:
                continue
            wrong += 1
        made[2].close(); made[4].close(); made[6].clear(); made[8].abort()
        try:
            petal.open(sys.argv[1])
            wrong += 1
        except petal.Busy:
            pass
        with petal.open(sys.argv[1] + '-of-the-child-%%d' %% turn) as own:
            own.kv('m')[b'k'] = b'v'
            assert own.kv('m')[b'k'] == b'v'
        db.close()
        del made, db, pool
        gc.collect()
        if wrong: os._exit(1)
        # By turns the child ends as a program does, and at once.
        if turn %% 2: os._exit(0)
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop = True
for thread in threads: thread.join()
assert made[0].row(b'r00007') == {b'cf:a': b'7'}
print('parent works')
db.close()
"""
        % os.path.dirname(os.path.abspath(__file__))
    ) == "parent works\n"


def test_a_child_opens_what_the_parent_closed(run):
    assert run(
        """
import os, sys, petal
db = petal.open(sys.argv[1]); db.kv('m')[b'k'] = b'v'
scan = db.kv('m').scan()
read, write = os.pipe()
child = os.fork()
if child == 0:
    os.read(read, 1)
    with petal.open(sys.argv[1]) as own: assert own.kv('m')[b'k'] == b'v'
    sys.exit(0)
db.close()
os.write(write, b'x')
assert os.waitpid(child, 0)[1] == 0
print(petal.open(sys.argv[1]).kv('m')[b'k'])
"""
    ) == "b'v'\n"


ENDS = {
    "a scan left half": "s = db.table('t').scan(); next(s)",
    "a generator left half": "s = iter(db.table('t').scan()); next(s)",
    "a snapshot": "s = db.snapshot(); t = s.table('t'); t.row(b'r')",
    "a transaction": "t = db.transaction(); s = t.table('t').scan(); next(s)",
    "a batch": "b = db.table('t').batch(); b.put(b'r', {b'cf:a': b''})",
    "a cycle": "db.cycle = [db, db.table('t').scan(), db.snapshot()]",
    "an exception": "s = db.table('t').scan(); next(s); sys.exit(0)",
    "a daemon thread": """
def work():
    while True:
        try: list(db.table('t').scan()); db.kv('m').put(b'k', b'v')
        except petal.Closed: return
for _ in range(3): threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)""",
    "a generator function": """
def each():
    with db.snapshot() as s:
        for item in s.table('t').scan(): yield item
g = each(); next(g)""",
    "atexit": "import atexit; atexit.register(lambda: db.table('t').row(b'r'))",
    "in __del__": """
class Late:
    def __del__(self):
        try: db.table('t').row(b'r'); self.scan.close()
        except petal.Closed: pass
late = Late(); late.scan = db.table('t').scan(); late.self = late""",
}


@pytest.mark.parametrize("what", ENDS)
def test_the_end_of_the_interpreter(run, path, what):
    run(
        "import sys, threading, time, petal\n"
        "db = petal.open(sys.argv[1]); db.create_table('t', {'cf': {}})\n"
        "db.table('t').put(b'r', {b'cf:a': b'1'}); db.table('t').put(b's', {b'cf:a': b'1'})\n"
        + ENDS[what]
    )
    with petal.open(path, read_only=True) as db:
        assert db.table("t").row(b"r") == {b"cf:a": b"1"}
        # What was open was closed in order: its memtables went to files, and the log has nothing.
        assert db.stats()["files_read"] == 1


def test_interrupted(run):
    """A signal's handler that closes the database while the main thread uses it."""
    assert run(
        """
import signal, sys, petal
db = petal.open(sys.argv[1]); db.create_table('t', {'cf': {}}); t = db.table('t')
signal.signal(signal.SIGALRM, lambda *_: db.close())
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    while True:
        t.put(b'r', {b'cf:a': b'1', b'cf:b': b'2'}); list(t.scan()); db.stats(); db.tables()
except petal.Closed:
    print('closed')
"""
    ) == "closed\n"

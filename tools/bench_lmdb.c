/* bench_lmdb.c -- LMDB as a bench_store. Built when its header is there. */
#ifdef HAVE_LMDB
#include "tools/bench_store.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

struct lmdb_bench {
    MDB_env *env;
    MDB_dbi dbi;
    MDB_txn *reader; /* kept and renewed, as a program that reads much does */
};

struct lmdb_iteration {
    MDB_txn *txn;
    MDB_cursor *cursor;
};

static void
check(int failed, const char *action)
{
    if (failed != 0)
        bench_fail(action, mdb_strerror(failed));
}

static void *
open_lmdb(const char *directory, const struct bench_memory *memory)
{
    struct lmdb_bench *bench = bench_alloc(sizeof *bench);
    MDB_txn *txn;

    (void)memory; /* LMDB has none: it reads from its mapping */
    check(mdb_env_create(&bench->env), "make an LMDB environment");
    check(mdb_env_set_mapsize(bench->env, (size_t)32 << 30), "size LMDB's map");
    check(mdb_env_open(bench->env, directory, MDB_NOSYNC | MDB_WRITEMAP, 0600), "open LMDB");
    check(mdb_txn_begin(bench->env, NULL, 0, &txn), "begin");
    check(mdb_dbi_open(txn, NULL, MDB_CREATE, &bench->dbi), "open LMDB's database");
    check(mdb_txn_commit(txn), "commit");
    return bench;
}

static void
close_lmdb(void *store)
{
    struct lmdb_bench *bench = store;

    if (bench->reader != NULL)
        mdb_txn_abort(bench->reader);
    mdb_env_close(bench->env);
    free(bench);
}

static MDB_val
value_of(petal_slice slice)
{
    return (MDB_val){slice.size, (void *)(uintptr_t)slice.data};
}

static void
put_lmdb(void *store, petal_slice key, petal_slice value)
{
    struct lmdb_bench *bench = store;
    MDB_val k = value_of(key), v = value_of(value);
    MDB_txn *txn;

    check(mdb_txn_begin(bench->env, NULL, 0, &txn), "begin");
    check(mdb_put(txn, bench->dbi, &k, &v, 0), "put");
    check(mdb_txn_commit(txn), "commit");
}

static bool
get_lmdb(void *store, petal_slice key, uint8_t sink[8])
{
    struct lmdb_bench *bench = store;
    MDB_val k = value_of(key), v;
    int failed;

    if (bench->reader == NULL)
        check(mdb_txn_begin(bench->env, NULL, MDB_RDONLY, &bench->reader), "begin");
    else
        check(mdb_txn_renew(bench->reader), "renew");
    failed = mdb_get(bench->reader, bench->dbi, &k, &v);
    if (failed == 0 && v.mv_size >= 8)
        memcpy(sink, v.mv_data, 8);
    mdb_txn_reset(bench->reader);
    if (failed != 0 && failed != MDB_NOTFOUND)
        check(failed, "get");
    return failed == 0;
}

static void *
iterate_lmdb(void *store)
{
    struct lmdb_bench *bench = store;
    struct lmdb_iteration *iteration = bench_alloc(sizeof *iteration);

    check(mdb_txn_begin(bench->env, NULL, MDB_RDONLY, &iteration->txn), "begin");
    check(mdb_cursor_open(iteration->txn, bench->dbi, &iteration->cursor), "open a cursor");
    return iteration;
}

static bool
step(void *iterator, MDB_val *key, MDB_cursor_op op, uint8_t sink[8])
{
    struct lmdb_iteration *iteration = iterator;
    MDB_val value;
    int failed = mdb_cursor_get(iteration->cursor, key, &value, op);

    if (failed == 0 && value.mv_size >= 8)
        memcpy(sink, value.mv_data, 8);
    return failed == 0;
}

static bool
seek_lmdb(void *iterator, petal_slice key, uint8_t sink[8])
{
    MDB_val k = value_of(key);

    return step(iterator, &k, key.size > 0 ? MDB_SET_RANGE : MDB_FIRST, sink);
}

static bool
next_lmdb(void *iterator, uint8_t sink[8])
{
    MDB_val key;

    return step(iterator, &key, MDB_NEXT, sink);
}

static void
end_lmdb(void *iterator)
{
    struct lmdb_iteration *iteration = iterator;

    mdb_cursor_close(iteration->cursor);
    mdb_txn_abort(iteration->txn);
    free(iteration);
}

const struct bench_store bench_store_lmdb = {
    .name = "lmdb",
    .settings =
        "Debian's build, NOSYNC|WRITEMAP, one transaction a put, reader renewed for each get",
    .open = open_lmdb,
    .close = close_lmdb,
    .put = put_lmdb,
    .flush = NULL,
    .get = get_lmdb,
    .iterate = iterate_lmdb,
    .seek = seek_lmdb,
    .next = next_lmdb,
    .end_iterate = end_lmdb,
};
#else
typedef int bench_lmdb_not_built; /* a translation unit may not be empty */
#endif

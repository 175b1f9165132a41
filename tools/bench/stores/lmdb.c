/* lmdb.c -- LMDB as a bench_store. Built when its header is there. */
#ifdef HAVE_LMDB
#include "tools/bench/harness/options.h"
#include "tools/bench/stores/store.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAP_BYTES    ((size_t)64 << 30) /* addresses only: the file grows as it is filled */
#define MOST_READERS (4 * BENCH_MOST_THREADS)

struct lmdb_bench {
    MDB_env *env;
    MDB_dbi dbi;
};

/* The reader is kept and renewed, as a program that reads much does; `reading`: it pins the pages
 * of what a get returned. */
struct lmdb_session {
    struct lmdb_bench *bench;
    MDB_txn *reader;
    bool reading;
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

static void
describe_lmdb(const struct bench_config *config, char *text, size_t bytes)
{
    int major, minor, patch;

    mdb_version(&major, &minor, &patch);
    snprintf(
        text, bytes,
        "%d.%d.%d, Debian's package; B+tree of %ld-byte pages in a mapped file, "
        "the system's cache, no compression%s, no log, %s, one transaction a put, reader renewed "
        "for each get",
        major, minor, patch, sysconf(_SC_PAGESIZE), config->compress ? " (cannot)" : "",
        config->sync ? "synced at each commit" : "NOSYNC|WRITEMAP");
}

/* A page that says of itself that it is no leaf, under a cursor that takes it for one. The library
 * has it mapped to write; its header is a number of 8 bytes, 2 of padding, 2 of flags. */
static void
misuse_lmdb(void *store)
{
    struct lmdb_bench *bench = store;
    MDB_val key = {1, (void *)"a"}, value = key;
    MDB_cursor *cursor;
    MDB_stat stat;
    MDB_txn *txn;
    uint8_t *page;

    check(mdb_txn_begin(bench->env, NULL, 0, &txn), "begin");
    check(mdb_put(txn, bench->dbi, &key, &value, 0), "put");
    key.mv_data = (void *)"b";
    check(mdb_put(txn, bench->dbi, &key, &value, 0), "put");
    check(mdb_txn_commit(txn), "commit");
    check(mdb_txn_begin(bench->env, NULL, MDB_RDONLY, &txn), "begin");
    check(mdb_stat(txn, bench->dbi, &stat), "ask for the size of a page");
    check(mdb_cursor_open(txn, bench->dbi, &cursor), "open a cursor");
    check(mdb_cursor_get(cursor, &key, &value, MDB_FIRST), "seek");
    page = (uint8_t *)((uintptr_t)key.mv_data & ~((uintptr_t)stat.ms_psize - 1));
    memset(page + 10, 0, 2);
    mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
}

static void *
open_lmdb(const char *directory, const struct bench_config *config)
{
    struct lmdb_bench *bench = bench_alloc(sizeof *bench);
    unsigned flags = MDB_NOTLS | (config->sync ? 0 : MDB_NOSYNC | MDB_WRITEMAP);
    MDB_txn *txn;

    check(mdb_env_create(&bench->env), "make an LMDB environment");
    check(mdb_env_set_mapsize(bench->env, MAP_BYTES), "size LMDB's map");
    check(mdb_env_set_maxreaders(bench->env, MOST_READERS), "make room for LMDB's readers");
    check(mdb_env_open(bench->env, directory, flags, 0600), "open LMDB");
    check(mdb_txn_begin(bench->env, NULL, 0, &txn), "begin");
    check(mdb_dbi_open(txn, NULL, MDB_CREATE, &bench->dbi), "open LMDB's database");
    check(mdb_txn_commit(txn), "commit");
    return bench;
}

static void
close_lmdb(void *store)
{
    struct lmdb_bench *bench = store;

    mdb_env_close(bench->env);
    free(bench);
}

static void *
attach_lmdb(void *store)
{
    struct lmdb_session *session = bench_alloc(sizeof *session);

    session->bench = store;
    return session;
}

static void
detach_lmdb(void *handle)
{
    struct lmdb_session *session = handle;

    if (session->reader != NULL)
        mdb_txn_abort(session->reader);
    free(session);
}

/* What the last get returned is no more needed. */
static void
end_reading(struct lmdb_session *session)
{
    if (session->reading)
        mdb_txn_reset(session->reader);
    session->reading = false;
}

static void
begin_reading(struct lmdb_session *session)
{
    end_reading(session);
    if (session->reader == NULL)
        check(mdb_txn_begin(session->bench->env, NULL, MDB_RDONLY, &session->reader), "begin");
    else
        check(mdb_txn_renew(session->reader), "renew");
    session->reading = true;
}

static MDB_val
value_of(petal_slice slice)
{
    return (MDB_val){slice.size, (void *)(uintptr_t)slice.data};
}

static void
put_many_lmdb(void *handle, const struct bench_pair *pairs, size_t count)
{
    struct lmdb_session *session = handle;
    MDB_txn *txn;

    end_reading(session);
    check(mdb_txn_begin(session->bench->env, NULL, 0, &txn), "begin");
    for (size_t i = 0; i < count; i++) {
        MDB_val k = value_of(pairs[i].key), v = value_of(pairs[i].value);

        check(mdb_put(txn, session->bench->dbi, &k, &v, 0), "put");
    }
    check(mdb_txn_commit(txn), "commit");
}

static void
put_lmdb(void *handle, petal_slice key, petal_slice value)
{
    put_many_lmdb(handle, &(struct bench_pair){key, value}, 1);
}

static bool
look_up(struct lmdb_session *session, petal_slice key, petal_slice *value)
{
    MDB_val k = value_of(key), v;
    int failed = mdb_get(session->reader, session->bench->dbi, &k, &v);

    *value = (petal_slice){NULL, 0};
    if (failed == MDB_NOTFOUND)
        return false;
    check(failed, "get");
    *value = (petal_slice){v.mv_data, v.mv_size};
    return true;
}

static bool
get_lmdb(void *handle, petal_slice key, petal_slice *value)
{
    begin_reading(handle);
    return look_up(handle, key, value);
}

static void
get_many_lmdb(void *handle, const petal_slice *keys, size_t count, petal_slice *values)
{
    begin_reading(handle);
    for (size_t i = 0; i < count; i++)
        look_up(handle, keys[i], &values[i]);
}

static void *
iterate_lmdb(void *handle)
{
    struct lmdb_session *session = handle;
    struct lmdb_iteration *iteration = bench_alloc(sizeof *iteration);

    check(mdb_txn_begin(session->bench->env, NULL, MDB_RDONLY, &iteration->txn), "begin");
    check(mdb_cursor_open(iteration->txn, session->bench->dbi, &iteration->cursor),
          "open a cursor");
    return iteration;
}

static bool
step(void *iterator, MDB_val *key, MDB_cursor_op operation, struct bench_pair *pair)
{
    struct lmdb_iteration *iteration = iterator;
    MDB_val value;
    int failed = mdb_cursor_get(iteration->cursor, key, &value, operation);

    if (failed == MDB_NOTFOUND)
        return false;
    check(failed, "scan");
    pair->key = (petal_slice){key->mv_data, key->mv_size};
    pair->value = (petal_slice){value.mv_data, value.mv_size};
    return true;
}

static bool
seek_lmdb(void *iterator, petal_slice key, struct bench_pair *pair)
{
    MDB_val k = value_of(key);

    return step(iterator, &k, key.size > 0 ? MDB_SET_RANGE : MDB_FIRST, pair);
}

static bool
next_lmdb(void *iterator, struct bench_pair *pair)
{
    MDB_val key;

    return step(iterator, &key, MDB_NEXT, pair);
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
    .title = "LMDB",
    .describe = describe_lmdb,
    .misuse = misuse_lmdb,
    .open = open_lmdb,
    .close = close_lmdb,
    .attach = attach_lmdb,
    .detach = detach_lmdb,
    .put = put_lmdb,
    .put_many = put_many_lmdb,
    .get = get_lmdb,
    .get_many = get_many_lmdb,
    .iterate = iterate_lmdb,
    .seek = seek_lmdb,
    .next = next_lmdb,
    .end_iterate = end_lmdb,
};
#else
typedef int bench_lmdb_not_built; /* a translation unit may not be empty */
#endif

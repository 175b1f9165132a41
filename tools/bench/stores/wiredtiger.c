/*
 * wiredtiger.c -- WiredTiger's B-tree as a bench_store. Built when its header is there.
 *
 * With the log on and `sync` off each commit is handed to the kernel (method=none), as the other
 * stores do it: left alone, WiredTiger would gather commits in memory, and a process that dies
 * would lose them.
 */
#ifdef HAVE_WIREDTIGER
#include "tools/bench/harness/options.h"
#include "tools/bench/stores/store.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <wiredtiger.h>

#define TABLE         "table:bench"
#define MOST_SESSIONS (2 * BENCH_MOST_THREADS) /* and WiredTiger's own */

struct wiredtiger_bench {
    WT_CONNECTION *connection;
};

struct wiredtiger_session {
    WT_SESSION *session;
    WT_CURSOR *cursor;  /* of gets and writes; stays where a get found its value */
    uint8_t **values;   /* copies for get_many, whose values outlive the cursor's place */
    size_t *capacities; /* of each */
    size_t value_count;
};

struct wiredtiger_iteration {
    WT_CURSOR *cursor;
    bool at; /* the cursor is at a pair */
};

static void
check(int failed, const char *action)
{
    if (failed != 0)
        bench_fail(action, wiredtiger_strerror(failed));
}

/* ---- setting up ---- */

static bool
has_extension(const char *file)
{
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);

    if (library != NULL)
        dlclose(library);
    return library != NULL;
}

/* The compressor to use, whose extension is libwiredtiger_NAME.so; NULL: none is there. */
static const char *
compressor(const struct bench_config *config)
{
    if (!config->compress)
        return NULL;
    if (has_extension("libwiredtiger_lz4.so"))
        return "lz4";
    return has_extension("libwiredtiger_snappy.so") ? "snappy" : NULL;
}

/* Pages are whole units of allocation: 4 KiB, or where blocks are no multiple of that 512 bytes. */
static size_t
allocation_size(const struct bench_config *config)
{
    return config->block_bytes % 4096 == 0 ? 4096 : 512;
}

static size_t
leaf_page_bytes(const struct bench_config *config)
{
    return (config->block_bytes + 511) / 512 * 512;
}

static void
describe_wiredtiger(const struct bench_config *config, char *text, size_t bytes)
{
    const char *name = compressor(config);
    int major, minor, patch;

    wiredtiger_version(&major, &minor, &patch);
    snprintf(text, bytes,
             "%d.%d.%d, Debian's package; B-tree, leaves of at most %zu bytes, %s, "
             "no filters "
             "(a B-tree has none), snapshot isolation, %s, checkpoint each minute",
             major, minor, patch, leaf_page_bytes(config), name != NULL ? name : "not compressed",
             !config->log   ? "no log"
             : config->sync ? "log with fsync() each time"
                            : "log with write() each time");
}

static void *
open_wiredtiger(const char *directory, const struct bench_config *config)
{
    struct wiredtiger_bench *bench = bench_alloc(sizeof *bench);
    const char *name = compressor(config);
    char extension[96] = "", text[512];
    WT_SESSION *session;

    if (name != NULL)
        snprintf(extension, sizeof extension, "extensions=[libwiredtiger_%s.so],", name);
    snprintf(text, sizeof text,
             "create,cache_size=%zu,session_max=%d,%slog=(enabled=%s,file_max=100MB),"
             "transaction_sync=(enabled=true,method=%s),checkpoint=(wait=60)",
             config->cache_bytes, MOST_SESSIONS, extension, config->log ? "true" : "false",
             config->sync ? "fsync" : "none");
    check(wiredtiger_open(directory, NULL, text, &bench->connection), "open WiredTiger");
    check(bench->connection->open_session(bench->connection, NULL, NULL, &session),
          "open a session");
    snprintf(text, sizeof text,
             "type=file,key_format=u,value_format=u,allocation_size=%zu,leaf_page_max=%zu,"
             "block_compressor=%s",
             allocation_size(config), leaf_page_bytes(config), name != NULL ? name : "none");
    check(session->create(session, TABLE, text), "make WiredTiger's table");
    check(session->close(session, NULL), "close a session");
    return bench;
}

static void
close_wiredtiger(void *store)
{
    struct wiredtiger_bench *bench = store;

    check(bench->connection->close(bench->connection, NULL), "close WiredTiger");
    free(bench);
}

/* Its assertions come with what it calls a diagnostic build, which alone prints blocks: it says
 * that it is none, or it is ended here in their place. */
static void
misuse_wiredtiger(void *store)
{
    WT_CONNECTION *connection = ((struct wiredtiger_bench *)store)->connection;
    WT_SESSION *session;

    check(connection->open_session(connection, NULL, NULL, &session), "open a session");
    if (session->verify(session, TABLE, "dump_blocks") == 0)
        abort();
}

static void
flush_wiredtiger(void *store)
{
    WT_CONNECTION *connection = ((struct wiredtiger_bench *)store)->connection;
    WT_SESSION *session;

    check(connection->open_session(connection, NULL, NULL, &session), "open a session");
    check(session->checkpoint(session, NULL), "make a checkpoint");
    check(session->close(session, NULL), "close a session");
}

static void
compact_wiredtiger(void *store)
{
    WT_CONNECTION *connection = ((struct wiredtiger_bench *)store)->connection;
    WT_SESSION *session;

    flush_wiredtiger(store);
    check(connection->open_session(connection, NULL, NULL, &session), "open a session");
    check(session->compact(session, TABLE, NULL), "compact");
    check(session->close(session, NULL), "close a session");
}

/* ---- sessions ---- */

static void *
attach_wiredtiger(void *store)
{
    WT_CONNECTION *connection = ((struct wiredtiger_bench *)store)->connection;
    struct wiredtiger_session *session = bench_alloc(sizeof *session);

    check(connection->open_session(connection, NULL, "isolation=snapshot", &session->session),
          "open a session");
    check(session->session->open_cursor(session->session, TABLE, NULL, NULL, &session->cursor),
          "open a cursor");
    return session;
}

static void
detach_wiredtiger(void *handle)
{
    struct wiredtiger_session *session = handle;

    for (size_t i = 0; i < session->value_count; i++)
        free(session->values[i]);
    free(session->values);
    free(session->capacities);
    check(session->session->close(session->session, NULL), "close a session");
    free(session);
}

static WT_ITEM
item_of(petal_slice slice)
{
    return (WT_ITEM){.data = slice.data, .size = slice.size};
}

static petal_slice
slice_of(const WT_ITEM *item)
{
    return (petal_slice){item->data != NULL ? item->data : "", item->size};
}

/* ---- pairs ---- */

static int
insert(WT_CURSOR *cursor, const struct bench_pair *pair)
{
    WT_ITEM key = item_of(pair->key), value = item_of(pair->value);

    cursor->set_key(cursor, &key);
    cursor->set_value(cursor, &value);
    return cursor->insert(cursor);
}

static void
put_wiredtiger(void *handle, petal_slice key, petal_slice value)
{
    struct bench_pair pair = {key, value};

    check(insert(((struct wiredtiger_session *)handle)->cursor, &pair), "put");
}

/* Who meets another's write to the same key begins anew, as WiredTiger wants it. */
static void
put_many_wiredtiger(void *handle, const struct bench_pair *pairs, size_t count)
{
    struct wiredtiger_session *session = handle;
    WT_SESSION *transaction = session->session;
    int failed;

    do {
        check(session->cursor->reset(session->cursor), "reset a cursor");
        check(transaction->begin_transaction(transaction, NULL), "begin");
        failed = 0;
        for (size_t i = 0; i < count && failed == 0; i++)
            failed = insert(session->cursor, &pairs[i]);
        if (failed != 0)
            check(transaction->rollback_transaction(transaction, NULL), "roll back");
        else
            failed = transaction->commit_transaction(transaction, NULL);
    } while (failed == WT_ROLLBACK);
    check(failed, "write a batch");
}

static void
remove_wiredtiger(void *handle, petal_slice key)
{
    WT_CURSOR *cursor = ((struct wiredtiger_session *)handle)->cursor;
    WT_ITEM item = item_of(key);
    int failed;

    cursor->set_key(cursor, &item);
    failed = cursor->remove(cursor);
    if (failed != WT_NOTFOUND)
        check(failed, "remove");
}

static bool
get_wiredtiger(void *handle, petal_slice key, petal_slice *value)
{
    WT_CURSOR *cursor = ((struct wiredtiger_session *)handle)->cursor;
    WT_ITEM item = item_of(key);
    int failed;

    cursor->set_key(cursor, &item);
    failed = cursor->search(cursor);
    if (failed == WT_NOTFOUND)
        return false;
    check(failed, "get");
    check(cursor->get_value(cursor, &item), "get");
    *value = slice_of(&item);
    return true;
}

static void
get_many_wiredtiger(void *handle, const petal_slice *keys, size_t count, petal_slice *values)
{
    struct wiredtiger_session *session = handle;

    if (session->value_count < count) {
        session->values = realloc(session->values, count * sizeof *session->values);
        session->capacities = realloc(session->capacities, count * sizeof *session->capacities);
        if (session->values == NULL || session->capacities == NULL)
            bench_fail("get many", "out of memory");
    }
    for (; session->value_count < count; session->value_count++) {
        session->values[session->value_count] = NULL;
        session->capacities[session->value_count] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        petal_slice found;

        values[i] = (petal_slice){NULL, 0};
        if (!get_wiredtiger(session, keys[i], &found))
            continue;
        if (session->capacities[i] < found.size + 1) {
            free(session->values[i]);
            session->capacities[i] = found.size + 1;
            session->values[i] = bench_alloc(session->capacities[i]);
        }
        memcpy(session->values[i], found.data, found.size);
        values[i] = (petal_slice){session->values[i], found.size};
    }
}

/* ---- iteration ---- */

static void *
iterate_wiredtiger(void *handle)
{
    WT_SESSION *session = ((struct wiredtiger_session *)handle)->session;
    struct wiredtiger_iteration *iteration = bench_alloc(sizeof *iteration);

    check(session->open_cursor(session, TABLE, NULL, NULL, &iteration->cursor), "open a cursor");
    return iteration;
}

/* The pair that the cursor came to; `failed` is what the step said. */
static bool
take(struct wiredtiger_iteration *iteration, int failed, struct bench_pair *pair)
{
    WT_ITEM key, value;

    iteration->at = failed == 0;
    if (failed == WT_NOTFOUND)
        return false;
    check(failed, "scan");
    check(iteration->cursor->get_key(iteration->cursor, &key), "scan");
    check(iteration->cursor->get_value(iteration->cursor, &value), "scan");
    pair->key = slice_of(&key);
    pair->value = slice_of(&value);
    return true;
}

static bool
seek_wiredtiger(void *iterator, petal_slice key, struct bench_pair *pair)
{
    struct wiredtiger_iteration *iteration = iterator;
    WT_CURSOR *cursor = iteration->cursor;
    WT_ITEM item = item_of(key);
    int failed, side;

    if (key.size == 0) {
        check(cursor->reset(cursor), "reset a cursor");
        return take(iteration, cursor->next(cursor), pair);
    }
    cursor->set_key(cursor, &item);
    failed = cursor->search_near(cursor, &side); /* next to it, on either side */
    if (failed == 0 && side < 0)
        failed = cursor->next(cursor);
    return take(iteration, failed, pair);
}

static bool
last_wiredtiger(void *iterator, struct bench_pair *pair)
{
    struct wiredtiger_iteration *iteration = iterator;

    check(iteration->cursor->reset(iteration->cursor), "reset a cursor");
    return take(iteration, iteration->cursor->prev(iteration->cursor), pair);
}

/* Steps from nowhere would begin at an end. */
static bool
next_wiredtiger(void *iterator, struct bench_pair *pair)
{
    struct wiredtiger_iteration *iteration = iterator;

    return iteration->at && take(iteration, iteration->cursor->next(iteration->cursor), pair);
}

static bool
previous_wiredtiger(void *iterator, struct bench_pair *pair)
{
    struct wiredtiger_iteration *iteration = iterator;

    return iteration->at && take(iteration, iteration->cursor->prev(iteration->cursor), pair);
}

static void
end_wiredtiger(void *iterator)
{
    struct wiredtiger_iteration *iteration = iterator;

    check(iteration->cursor->close(iteration->cursor), "close a cursor");
    free(iteration);
}

const struct bench_store bench_store_wiredtiger = {
    .name = "wiredtiger",
    .title = "WiredTiger",
    .describe = describe_wiredtiger,
    .misuse = misuse_wiredtiger,
    .open = open_wiredtiger,
    .close = close_wiredtiger,
    .flush = flush_wiredtiger,
    .compact = compact_wiredtiger,
    .attach = attach_wiredtiger,
    .detach = detach_wiredtiger,
    .put = put_wiredtiger,
    .put_many = put_many_wiredtiger,
    .remove = remove_wiredtiger,
    .get = get_wiredtiger,
    .get_many = get_many_wiredtiger,
    .iterate = iterate_wiredtiger,
    .seek = seek_wiredtiger,
    .last = last_wiredtiger,
    .next = next_wiredtiger,
    .previous = previous_wiredtiger,
    .end_iterate = end_wiredtiger,
};
#else
typedef int bench_wiredtiger_not_built; /* a translation unit may not be empty */
#endif

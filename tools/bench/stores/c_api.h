/*
 * c_api.h -- what the C interfaces of LevelDB and RocksDB have in common, once: their calls differ
 * in the prefix.
 *
 * Included by leveldb.c and rocksdb.c alone, after their structs: with API(name) for the library's
 * name of a call or type, and STORE(name) for the file's own. The structs `STORE(bench)` have db,
 * read, write, `STORE(session)` bench and batch.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void
check(const char *error, const char *action)
{
    if (error != NULL)
        bench_fail(action, error);
}

/* An iterator that stands nowhere has no key; without assertions what is read may not be there. */
static void
misuse(void *store)
{
    struct STORE(bench) *bench = store;
    size_t size;

    API(iter_key)(API(create_iterator)(bench->db, bench->read), &size);
}

static void *
attach(void *store)
{
    struct STORE(session) *session = bench_alloc(sizeof *session);

    session->bench = store;
    session->batch = API(writebatch_create)();
    return session;
}

static void
put(void *handle, petal_slice key, petal_slice value)
{
    struct STORE(bench) *bench = ((struct STORE(session) *)handle)->bench;
    char *error = NULL;

    API(put)(bench->db, bench->write, key.data, key.size, value.data, value.size, &error);
    check(error, "put");
}

static void
put_many(void *handle, const struct bench_pair *pairs, size_t count)
{
    struct STORE(session) *session = handle;
    char *error = NULL;

    API(writebatch_clear)(session->batch);
    for (size_t i = 0; i < count; i++)
        API(writebatch_put)
    (session->batch, pairs[i].key.data, pairs[i].key.size, pairs[i].value.data,
     pairs[i].value.size);
    API(write)(session->bench->db, session->bench->write, session->batch, &error);
    check(error, "write a batch");
}

static void *
iterate(void *handle)
{
    struct STORE(bench) *bench = ((struct STORE(session) *)handle)->bench;

    return API(create_iterator)(bench->db, bench->read);
}

static bool
take(API(iterator_t) * iterator, struct bench_pair *pair)
{
    if (!API(iter_valid)(iterator)) {
        char *error = NULL;

        API(iter_get_error)(iterator, &error);
        check(error, "scan");
        return false;
    }
    pair->key.data = API(iter_key)(iterator, &pair->key.size);
    pair->value.data = API(iter_value)(iterator, &pair->value.size);
    return true;
}

static bool
seek(void *iterator, petal_slice key, struct bench_pair *pair)
{
    if (key.size > 0)
        API(iter_seek)(iterator, key.data, key.size);
    else
        API(iter_seek_to_first)(iterator);
    return take(iterator, pair);
}

static bool
next(void *iterator, struct bench_pair *pair)
{
    API(iter_next)(iterator);
    return take(iterator, pair);
}

static void
end_iterate(void *iterator)
{
    API(iter_destroy)(iterator);
}

/* What both have of struct bench_store. */
#define C_API_CALLS                                                                                \
    .misuse = misuse, .attach = attach, .put = put, .put_many = put_many, .iterate = iterate,      \
    .seek = seek, .next = next, .end_iterate = end_iterate

/* fields.c -- see tools/bench/keys/fields.h. */
#include "tools/bench/keys/fields.h"

#include <stdlib.h>
#include <string.h>

#define ROW_END '\0'

void
bench_record_init(struct bench_record *record, const struct bench_store *store, void *session)
{
    *record = (struct bench_record){.store = store, .session = session};
}

void
bench_record_free(struct bench_record *record)
{
    free(record->bytes);
    *record = (struct bench_record){0};
}

/* Append a copy to `bytes`, which may move; returns its offset there. */
static size_t
keep(struct bench_record *record, const void *data, size_t size)
{
    size_t at = record->used;

    if (record->capacity - at < size) {
        record->capacity = 2 * (at + size) + 1024;
        record->bytes = realloc(record->bytes, record->capacity);
        if (record->bytes == NULL)
            bench_fail("keep a record", "out of memory");
    }
    if (size > 0)
        memcpy(record->bytes + at, data, size);
    record->used += size;
    return at;
}

static size_t
keep_key(struct bench_record *record, petal_slice row, petal_slice name)
{
    static const char end = ROW_END;
    size_t at = keep(record, row.data, row.size);

    keep(record, &end, 1);
    keep(record, name.data, name.size);
    return at;
}

void
bench_record_put(struct bench_record *record, petal_slice row, const struct bench_field *fields,
                 size_t count)
{
    struct bench_pair pairs[BENCH_MOST_FIELDS];
    size_t at[BENCH_MOST_FIELDS];

    if (record->store->put_fields != NULL) {
        record->store->put_fields(record->session, row, fields, count);
        return;
    }
    record->used = 0;
    for (size_t i = 0; i < count; i++)
        at[i] = keep_key(record, row, fields[i].name);
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct bench_pair){{record->bytes + at[i], row.size + 1 + fields[i].name.size},
                                       fields[i].value};
    record->store->put_many(record->session, pairs, count);
}

static bool
is_of_row(petal_slice key, petal_slice row)
{
    return key.size > row.size && memcmp(key.data, row.data, row.size) == 0 &&
           ((const char *)key.data)[row.size] == ROW_END;
}

size_t
bench_record_get(struct bench_record *record, petal_slice row, struct bench_field *fields,
                 size_t capacity)
{
    const struct bench_store *store = record->store;
    size_t starts[BENCH_MOST_FIELDS], key_bytes, count = 0;
    struct bench_pair pair;
    void *iterator;

    if (store->get_fields != NULL)
        return store->get_fields(record->session, row, fields, capacity);
    if (capacity > BENCH_MOST_FIELDS)
        capacity = BENCH_MOST_FIELDS;
    record->used = 0;
    keep_key(record, row, (petal_slice){NULL, 0});
    key_bytes = record->used;
    iterator = store->iterate(record->session);
    for (bool more = store->seek(iterator, (petal_slice){record->bytes, key_bytes}, &pair);
         more && count < capacity && is_of_row(pair.key, row);
         more = store->next(iterator, &pair), count++) {
        fields[count].name.size = pair.key.size - key_bytes;
        fields[count].value.size = pair.value.size;
        starts[count] =
            keep(record, (const char *)pair.key.data + key_bytes, fields[count].name.size);
        keep(record, pair.value.data, pair.value.size);
    }
    store->end_iterate(iterator);
    for (size_t i = 0; i < count; i++) {
        fields[i].name.data = record->bytes + starts[i];
        fields[i].value.data = record->bytes + starts[i] + fields[i].name.size;
    }
    return count;
}

/* A copy of the row of a key. */
static petal_slice
keep_row(struct bench_record *record, petal_slice key)
{
    const char *end = memchr(key.data, ROW_END, key.size);
    size_t size = end != NULL ? (size_t)(end - (const char *)key.data) : key.size;

    record->used = 0;
    keep(record, key.data, size);
    return (petal_slice){record->bytes, size};
}

size_t
bench_record_scan(struct bench_record *record, petal_slice row, size_t rows)
{
    const struct bench_store *store = record->store;
    petal_slice current = {NULL, 0};
    size_t seen = 0, fields = 0;
    struct bench_pair pair;
    void *iterator;

    if (store->scan_fields != NULL)
        return store->scan_fields(record->session, row, rows);
    record->used = 0;
    keep_key(record, row, (petal_slice){NULL, 0});
    iterator = store->iterate(record->session);
    for (bool more = store->seek(iterator, (petal_slice){record->bytes, record->used}, &pair); more;
         more = store->next(iterator, &pair), fields++) {
        if (seen == 0 || !is_of_row(pair.key, current)) {
            if (seen++ == rows)
                break;
            current = keep_row(record, pair.key);
        }
        if (pair.value.size > 0)
            record->sink ^= *(const uint8_t *)pair.value.data;
    }
    store->end_iterate(iterator);
    return fields;
}

/*
 * fields.h -- records, rows of named fields, in any bench_store: by its own put_fields, get_fields
 * and scan_fields, or, if it has none, with a key for each field: the row, a byte 0, the field's
 * name. So rows hold no such byte.
 *
 * Over plain keys the fields of one put are one batch. Each get and each scan is a seek and steps
 * of a new iterator, which sees the latest writes.
 *
 * Threads: one.
 */
#ifndef PETAL_TOOLS_BENCH_KEYS_FIELDS_H
#define PETAL_TOOLS_BENCH_KEYS_FIELDS_H

#include "tools/bench/stores/store.h"

#define BENCH_MOST_FIELDS 32

struct bench_record {
    const struct bench_store *store;
    void *session; /* the caller's */

    /* Over plain keys: the keys of a put, the bytes that a get copied out of its iterator. */
    char *bytes;
    size_t used, capacity;
    uint8_t sink; /* a byte of each value of a scan, so that values are read */
};

void bench_record_init(struct bench_record *record, const struct bench_store *store, void *session);
void bench_record_free(struct bench_record *record);

/* At most BENCH_MOST_FIELDS. */
void bench_record_put(struct bench_record *record, petal_slice row,
                      const struct bench_field *fields, size_t count);

/* All fields of the row, at most `capacity`, good until the next call; returns their number. */
size_t bench_record_get(struct bench_record *record, petal_slice row, struct bench_field *fields,
                        size_t capacity);

/* Read all fields of `rows` rows, from `row` on; returns the number of fields. */
size_t bench_record_scan(struct bench_record *record, petal_slice row, size_t rows);

#endif

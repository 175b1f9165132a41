/*
 * fields.h -- records, rows of named fields, in any bench_store: as its own put_fields and
 * get_fields have it, or, where it has none, with a key of its own for each field: row, a byte 0,
 * name of the field. So rows hold no such byte.
 *
 * Over plain keys the fields of one put are one batch; a get is a seek and steps, by an iterator of
 * its own, as it must see what is there now; so is a scan.
 *
 * Threads: one.
 */
#ifndef PETAL_TOOLS_BENCH_KEYS_FIELDS_H
#define PETAL_TOOLS_BENCH_KEYS_FIELDS_H

#include "tools/bench/stores/store.h"

#define BENCH_MOST_FIELDS 32

struct bench_record {
    const struct bench_store *store;
    void *session; /* of the caller's */

    /* Over plain keys: those of a put, and what a get copied out of its iterator. */
    char *bytes;
    size_t used, capacity;
    uint8_t sink; /* a byte of each value of a scan: so that it is read */
};

void bench_record_init(struct bench_record *record, const struct bench_store *store, void *session);
void bench_record_free(struct bench_record *record);

/* At most BENCH_MOST_FIELDS. */
void bench_record_put(struct bench_record *record, petal_slice row,
                      const struct bench_field *fields, size_t count);

/* All fields of the row, at most `capacity`; how many. Good until the next call. */
size_t bench_record_get(struct bench_record *record, petal_slice row, struct bench_field *fields,
                        size_t capacity);

/* Read all fields of `rows` rows, from `row` on; how many fields. */
size_t bench_record_scan(struct bench_record *record, petal_slice row, size_t rows);

#endif

/*
 * result.h -- the inside of a result: the answer's cells and bytes, and the scratch memory of a
 * get. All of it grows and stays, so a warm result makes a get without allocation.
 */
#ifndef PETAL_ENGINE_READ_RESULT_H
#define PETAL_ENGINE_READ_RESULT_H

#include "engine/read/collect.h"
#include "engine/state/db.h"
#include "sstable/file/sst_file.h"

struct petal_result {
    petal_db *db; /* not looked at when it is freed, which may be after petal_close */
    const petal_allocator *allocator;
    petal_cell *cells;
    size_t count, capacity;
    uint32_t turn;  /* of gets into it to be timed (engine/state/latency.h) */
    uint8_t *bytes; /* rows, qualifiers and values of the cells */
    size_t byte_count, byte_capacity;
    struct row_collect collect;
    struct sst_private_block block; /* the last one that a get needed and the cache did not want */
    petal_result **members;         /* of one that has the answers to many gets, for a piece */
    size_t member_count, member_capacity;
};

/* Have `count` members at least, which are the result's and used again. */
enum petal_status result_have_members(petal_result *result, size_t count, petal_error *error);

/* Forget the answer. */
static inline void
result_clear(petal_result *result)
{
    result->count = 0;
    result->byte_count = 0;
}

/* Forget the answer and begin one for `row`. */
enum petal_status result_start(petal_result *result, petal_slice row);

/* Append a cell with copies of its bytes. All are of one row, which the first one begins. */
enum petal_status result_add(petal_result *result, const petal_family *family,
                             const struct cell *cell);

/* Forget the answer and take a put for it. */
enum petal_status result_set(petal_result *result, const petal_family *family, petal_slice row,
                             petal_slice qualifier, int64_t timestamp, petal_slice value);

/* Append a put of the row that was begun, whose qualifier is given in two parts. */
enum petal_status result_append_put(petal_result *result, const petal_family *family,
                                    petal_slice row, petal_slice prefix, petal_slice rest,
                                    int64_t timestamp, petal_slice value);

/* Append copies of cells of the row that was begun; the names of their families are borrowed. */
enum petal_status result_append(petal_result *result, const petal_cell *cells, size_t count);

/* Append a copy of a value to an answer of values alone, without cells; they lie one after the
 * other in result->bytes, which may move. */
enum petal_status result_append_value(petal_result *result, petal_slice value);

/* Forget the answer and begin one of cells of any rows: make room for `count` cells whose rows,
 * qualifiers and values have `bytes` bytes together. After that result_add_row_cell cannot fail. */
enum petal_status result_reserve(petal_result *result, size_t count, size_t bytes);

/* Append one cell with its row. REQUIRES: there is room for it. */
void result_add_row_cell(petal_result *result, const petal_family *family, const struct cell *cell);

#endif

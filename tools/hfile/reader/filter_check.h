/*
 * filter_check.h -- a Bloom filter made anew while its file's cells pass by, chunk for chunk, and
 * compared with the one that is stored. It holds one chunk, and one that is stored.
 *
 * Folding a chunk takes positions modulo half its size, so a key sets the same bits in a chunk that
 * begins at the size which was stored.
 */
#ifndef PETAL_HFILE_READER_FILTER_CHECK_H
#define PETAL_HFILE_READER_FILTER_CHECK_H

#include "tools/hfile/reader/filter.h"

struct hfile_filter_check {
    struct hfile_filter_asker asker;
    enum petal_hfile_filter which;
    struct hfile_buffer key_buffer, last_key, made; /* the key before; the chunk's bits */
    bool has_last_key;
    size_t chunk_number;          /* that is being made; SIZE_MAX: none */
    uint64_t keys, chunks, bytes; /* so far */
};

void hfile_filter_check_init(struct hfile_filter_check *check, const petal_hfile *file,
                             enum petal_hfile_filter which);
void hfile_filter_check_free(struct hfile_filter_check *check);

/* Cells come in the file's order. Those that do not belong into the filter are passed over. */
enum petal_status hfile_filter_check_add(struct hfile_filter_check *check,
                                         const petal_hfile_cell *cell, petal_error *error);

/* After the last cell: the last chunk, and the filter's numbers. */
enum petal_status hfile_filter_check_finish(struct hfile_filter_check *check, petal_error *error);

#endif

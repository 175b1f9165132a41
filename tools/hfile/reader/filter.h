/*
 * filter.h -- asking the Bloom filters of a file: which key a question has, in which chunk that is,
 * and whether its bits are set. Who asks keeps the chunk asked last.
 *
 * Belongs to one thread at a time.
 */
#ifndef PETAL_HFILE_READER_FILTER_H
#define PETAL_HFILE_READER_FILTER_H

#include "tools/hfile/reader/block.h"

struct hfile_filter_key {
    petal_slice bytes; /* what is hashed */
    bool is_column;    /* ROWCOL: a serialised key, compared as such */
};

struct hfile_filter_asker {
    const petal_hfile *file;
    const struct hfile_filter *filter;
    struct hfile_block_reader reader;
    size_t chunk_number; /* SIZE_MAX: none is read */
    petal_slice chunk;   /* its bits */
};

/* REQUIRES: the file has the filter. */
void hfile_filter_asker_init(struct hfile_filter_asker *asker, const petal_hfile *file,
                             enum petal_hfile_filter filter);
void hfile_filter_asker_free(struct hfile_filter_asker *asker);

/*
 * The key of a row, or of a column of it, in the filter; good as long as the row and `buffer` are.
 * False: there is no memory.
 */
bool hfile_filter_key_of(const petal_hfile *file, enum petal_hfile_filter filter, petal_slice row,
                         petal_slice qualifier, struct hfile_buffer *buffer,
                         struct hfile_filter_key *key);

/* The chunk that has the key, if one has; false: the key lies before the first. */
bool hfile_filter_find_chunk(const struct hfile_filter *filter, const struct hfile_filter_key *key,
                             size_t *number);

/* Reads a chunk, unless it is the one read last. */
enum petal_status hfile_filter_read_chunk(struct hfile_filter_asker *asker, size_t number,
                                          petal_error *error);

enum petal_status hfile_filter_ask(struct hfile_filter_asker *asker,
                                   const struct hfile_filter_key *key, bool *answer,
                                   petal_error *error);

#endif

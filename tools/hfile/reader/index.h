/*
 * index.h -- the data index of a file as a tree: a place in it, from the root down to the entry of
 * one data block. Its lower levels are read as they are needed; the block of each level that was
 * read last is kept.
 *
 * What the blocks of an index say may be wrong: every place is bounded by the levels that the
 * trailer names, and who goes from one data block to the next has to see that offsets rise.
 *
 * A cursor belongs to one thread at a time.
 */
#ifndef PETAL_HFILE_READER_INDEX_H
#define PETAL_HFILE_READER_INDEX_H

#include "tools/hfile/reader/block.h"

struct hfile_index_level {
    struct hfile_index_block block; /* of the root: not used */
    uint64_t offset;                /* of the block that was parsed; HFILE_NO_BLOCK: none */
    size_t at;                      /* the entry */
};

struct hfile_index_cursor {
    const petal_hfile *file;
    struct hfile_block_reader reader;
    struct hfile_index_level levels[HFILE_MOST_INDEX_LEVELS]; /* 0: the root */
};

void hfile_index_cursor_init(struct hfile_index_cursor *cursor, const petal_hfile *file);
void hfile_index_cursor_free(struct hfile_index_cursor *cursor);

/*
 * Each of these moves to the entry of a data block and gives it, good until the cursor moves again;
 * NULL in *entry: there is none, and the cursor stays. REQUIRES of next and previous: the cursor
 * was moved to an entry, and no error came of it since.
 *
 * find: of the last block that can have `key`; the first block, where no block can.
 */
enum petal_status hfile_index_first(struct hfile_index_cursor *cursor,
                                    const struct hfile_index_entry **entry, petal_error *error);
enum petal_status hfile_index_find(struct hfile_index_cursor *cursor, const petal_hfile_cell *key,
                                   const struct hfile_index_entry **entry, petal_error *error);
enum petal_status hfile_index_next(struct hfile_index_cursor *cursor,
                                   const struct hfile_index_entry **entry, petal_error *error);
enum petal_status hfile_index_previous(struct hfile_index_cursor *cursor,
                                       const struct hfile_index_entry **entry, petal_error *error);

#endif

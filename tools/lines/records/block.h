/*
 * block.h -- some bytes of a file or stream, and the records that are whole in them. What a record
 * begins at the end of a block, the next one goes on with.
 */
#ifndef PETAL_TOOLS_LINES_RECORDS_BLOCK_H
#define PETAL_TOOLS_LINES_RECORDS_BLOCK_H

#include "engine/petal.h"

#include <stdbool.h>

/* Where blocks come from, and how they are cut. */
struct block_source {
    int descriptor;
    bool is_file;   /* is read by offsets */
    uint64_t limit; /* offset where reading ends; UINT64_MAX: at the end of the file */
    char delimiter;
    size_t bytes;   /* that a block has, if no record is longer */
    size_t longest; /* a record */
    bool wants_hashes;
    uint64_t salt;
};

struct block {
    char *bytes;
    size_t capacity, used;
    size_t whole;    /* bytes of whole records, with their delimiters */
    uint64_t offset; /* of the first byte, in a file */
    petal_slice *records;
    uint64_t *hashes;
    size_t most, count; /* records */
    bool is_last;
    bool added_delimiter; /* after the last record, which had none */
};

/* False: there is no memory. */
bool block_open(struct block *block, const struct block_source *source);
void block_close(struct block *block);

enum block_outcome {
    BLOCK_FILLED, /* with at least one record, or it is the last */
    BLOCK_WAITS,  /* a signal came, or it is a stream that has no record yet: call it again */
    BLOCK_FAILED, /* errno says why */
    BLOCK_SHORT,  /* the file ended before the limit */
    BLOCK_TOO_LONG,
    BLOCK_NO_MEMORY
};

/* Empty, but for the bytes of the one before that no record has taken, and for records that are
 * whole in them. False: there is no memory. */
bool block_begin(struct block *block, const struct block *before,
                 const struct block_source *source);

/* Reads once, if the block has no record yet. */
enum block_outcome block_fill(struct block *block, const struct block_source *source);

#endif

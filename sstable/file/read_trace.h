/* read_trace.h -- what one read did to one store file, and how it wants its blocks. */
#ifndef PETAL_SSTABLE_FILE_READ_TRACE_H
#define PETAL_SSTABLE_FILE_READ_TRACE_H

#include "base/epoch.h"

struct readahead;
struct sst_private_block;

/* Counted up by the functions that take a read_context, never reset there.  The caller adds it
 * to statistics and receipt. */
struct read_trace {
    uint32_t blocks_cached[PETAL_BLOCK_KINDS];
    uint32_t blocks_fetched[PETAL_BLOCK_KINDS];
    uint32_t bloom_probes, bloom_negatives;
    /* Questions that a damaged or unknown filter could not answer: "may contain". */
    uint32_t bloom_ignored;
    uint32_t bloom_unasked; /* those whose chunk was not worth fetching: "may contain" */
    uint32_t seeks;
    uint64_t bytes_fetched; /* of those blocks, as stored */
    /* Reads of the file, and what they gave: larger ones bring more than the blocks above. */
    uint64_t file_reads, file_bytes_read;
    uint64_t cells_read;
};

/* How one read wants its blocks. */
struct read_context {
    struct read_trace *trace; /* never NULL; one thread writes to it */
    bool keep_out_of_cache;   /* data blocks fetched by this read are not kept */
    bool only_cached;         /* a block that is not in the cache is PETAL_NOT_FOUND, not fetched */
    /* Interrupted while a block is read from the file, so that nobody waits for it inside; NULL:
     * who is alone with the epoch stays. */
    struct epoch_stay *stay;
    /* Where a data block that a point needs is decoded if the cache does not want it
     * (sst_file.h); NULL: it goes through the cache. */
    struct sst_private_block *private_block;
    bool whole_file;         /* all of the file is going to be read */
    struct readahead *ahead; /* of an iterator, which sets it; NULL: blocks are read one by one */
};

#define READ_SAVES_BLOCK UINT32_MAX

#endif

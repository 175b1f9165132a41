/* sst_options.h -- how a store file is written. */
#ifndef PETAL_SSTABLE_FILE_SST_OPTIONS_H
#define PETAL_SSTABLE_FILE_SST_OPTIONS_H

#include "sstable/block/format.h"

struct file_pool;

struct sst_options {
    uint32_t block_bytes;               /* data blocks are closed before they pass it */
    enum petal_compression compression; /* DEFAULT: LZ4 */
    bool high_compression;       /* of LZ4: by LZ4HC, which is slower; readers see no other */
    enum petal_bloom_type bloom; /* DEFAULT: ROW */
    uint32_t bloom_prefix_bytes; /* 1..32767; for ROW_PREFIX only */
    double bloom_error_rate; /* of a probe; a read that asks for a column asks twice when the file
                                           has family markers */
    unsigned bloom_layout;   /* enum bloom_layout; 0: BLOCKED */
    uint64_t salt;           /* for bloom/hash.h */
    uint64_t file_identity;  /* random; in trailer, manifest and every block's checksum */
    enum file_origin origin; /* for the facts */
    int64_t written_ms;      /* likewise */
    uint64_t sequence_max;   /* the facts' greatest sequence is at least this */
    /* Where the descriptor counts, which is then given up between writes when others need it; NULL:
     * it is open until finish. */
    struct file_pool *pool;
    struct file_owner owner; /* for the facts; names are borrowed until finish */
};

#endif

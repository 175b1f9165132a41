/*
 * format.h -- the constants and small structures of the store file.  FORMAT.md describes every
 * byte.
 *
 *     blocks, each in a frame (block_io.h), without gaps from offset 0:
 *         data blocks, between them regions of Bloom chunks and of lower index nodes
 *         (index_writer.h), those that are left, the root of the data index, the root of the Bloom
 *         index if there is one, facts
 *     trailer (trailer.h), of fixed size
 */
#ifndef PETAL_SSTABLE_BLOCK_FORMAT_H
#define PETAL_SSTABLE_BLOCK_FORMAT_H

#include "base/slice.h"

/* Stored in each frame; never renumbered. */
enum block_kind {
    BLOCK_DATA = 1,
    BLOCK_DATA_INDEX = 2,
    BLOCK_BLOOM = 3,
    BLOCK_BLOOM_INDEX = 4,
    BLOCK_FACTS = 5
};

/* What a data block is the first to hold a cell of, as entries of the data index say; stored. */
enum block_begins {
    BLOCK_BEGINS_COLUMN = 1, /* the column of its first cell, or the family markers of that row */
    BLOCK_BEGINS_ROW = 2     /* the row of its first cell; with BEGINS_COLUMN */
};

/* Where a block stands in the file: offset of its frame, and stored bytes with the frame header. */
struct block_handle {
    uint64_t offset;
    uint32_t size;
    /* From the data index: enum block_begins, of inner nodes what their first block begins; else
     * 0. */
    uint32_t begins;
};

/* A block before compression.  The largest cell has 11 MiB, and blocks close at 16 MiB at the
 * latest. */
#define BLOCK_MAX_RAW_BYTES (64u << 20)

/* Nodes of the indexes are closed at this size; a root is split into such nodes when it passes
 * the other. */
#define INDEX_NODE_BYTES 4096
#define INDEX_ROOT_BYTES (128u << 10)
#define INDEX_MAX_LEVELS 12

#define FACTS_MAX_QUALIFIERS      256
#define FACTS_MAX_QUALIFIER_BYTES 16384 /* all together; beyond: not exact */

/* What wrote the file; stored. */
enum file_origin {
    FILE_ORIGIN_UNKNOWN = 0,
    FILE_ORIGIN_FLUSH = 1,
    FILE_ORIGIN_MINOR = 2,     /* a compaction of some files */
    FILE_ORIGIN_ALL_FILES = 3, /* a compaction of all files of the store */
    FILE_ORIGIN_BULK = 4       /* sorted cells that came from outside (engine/table/bulk.c) */
};

/* For whom a file was written. Files are linked into copies of their table, so it may be another
 * one that has the file. For who has lost the manifest, and nobody else. */
struct file_owner {
    uint32_t table_id;
    uint16_t family_id;
    petal_slice table, family; /* their names; empty: nothing is known */
};

/*
 * What is known of a store file without reading its blocks; stored in its facts block.
 * Row slices point into memory of whoever holds the facts.
 */
struct file_facts {
    struct file_owner owner;
    enum file_origin origin;
    int64_t written_ms; /* when the file was begun; 0: not known */
    petal_slice row_min, row_max;
    /* A marker of kind 12 or 14 puts time_min to 0 at most: it hides older cells. */
    int64_t time_min, time_max;
    int64_t put_time_min; /* no put is older; INT64_MAX: there is no put */
    /* The greatest that the cells have, or had before a compaction took or levelled them. */
    uint64_t sequence_min, sequence_max;
    uint64_t stated_shift; /* as the trailer says (sstable/file/trailer.h) */
    uint64_t cells, rows;
    uint64_t puts, deletes, family_version_deletes, column_deletes, family_deletes; /* sum: cells */
    bool single_cells;  /* no column has more than one cell */
    uint64_t ttl_cells; /* those that have a time to live of their own, of whatever type */
    /* The first and the last of them die when the clock passes it; 0 without such cells. */
    int64_t death_min, death_max;
    uint64_t data_blocks;
    uint64_t data_bytes, index_bytes, bloom_bytes; /* stored, with frames; index: both indexes */
    uint64_t raw_data_bytes;                       /* before compression, without frames */
    uint64_t file_bytes;
    uint32_t block_bytes; /* the size that data blocks were closed at */
    enum petal_compression compression;
    enum petal_bloom_type bloom;
    unsigned bloom_layout, bloom_hash_version; /* as stored: may be unknown to this version */
    uint32_t bloom_prefix_bytes;               /* of rows, with ROW_PREFIX; else 0 */
    double bloom_error_rate;
    uint64_t bloom_keys, bloom_chunks;
    uint64_t salt; /* of the hashes in the Bloom filter */
    /* The qualifiers in the file, sorted, exact up to FACTS_MAX_QUALIFIERS; `qualifiers_exact`
     * false: unknown, many. */
    bool qualifiers_exact;
    uint32_t qualifier_count;
    const petal_slice *qualifiers;
};

static inline uint64_t
facts_family_markers(const struct file_facts *facts)
{
    return facts->family_version_deletes + facts->family_deletes;
}

/* Whether the file's Bloom filter answers for single columns. */
static inline bool
facts_has_column_bloom(const struct file_facts *facts)
{
    return facts->bloom == PETAL_BLOOM_ROWCOL || facts->bloom == PETAL_BLOOM_ROW_ROWCOL;
}

#endif

/*
 * sst_reader.h -- an open store file: facts, Bloom filter, iterators.  Immutable but for the
 * filter's account (sstable/filter/bloom_account.h), which is atomic, so any number of threads use
 * it at once without locks.  Opening reads trailer, facts and the roots of the two indexes, no
 * data: by one read as a rule.
 *
 * Blocks come through the cache (cache/cache.h).  Functions marked EPOCH must be called inside the
 * cache's epoch; what they point to is good until the caller leaves it.  Iterators pin their blocks
 * and can be kept.
 */
#ifndef PETAL_SSTABLE_SST_READER_H
#define PETAL_SSTABLE_SST_READER_H

#include "base/cell_iter.h"
#include "base/directory.h"
#include "cache/cache.h"
#include "sstable/block/data_block.h"
#include "sstable/block/format.h"
#include "sstable/file/read_trace.h"
#include "sstable/index/index_tree.h"

struct sst_reader;

struct sst_open_options {
    uint64_t file_number; /* cache key; never reused, not 0 */
    /* From the manifest; a file with another one is refused.  0: take the trailer's. */
    uint64_t file_identity;
    struct cache *cache;    /* outlives the reader */
    struct epoch *epoch;    /* the cache's */
    struct file_pool *pool; /* bounds open files, outlives the reader; NULL: this one stays open */
    struct readahead_limit *readahead_limit; /* outlives the reader and its iterators; NULL: none */
    bool in_memory;                          /* blocks enter the cache with CACHE_MEMORY */
    bool no_block_cache;                     /* data blocks are not kept */
    bool map; /* single data blocks are read through a mapping of the file, if it can be had */
};

/*
 * `path`: of a file in `directory`, which outlives the reader.  PETAL_CORRUPT names path and
 * offset; PETAL_UNSUPPORTED: a newer format version.  A damaged root of the Bloom index is no
 * error: the filter is ignored, and counted in each trace (sstable/filter/bloom_reader.h).
 */
enum petal_status sst_reader_open(struct sst_reader **reader, const struct directory *directory,
                                  const char *path, const struct sst_open_options *options,
                                  petal_error *error);
/*
 * Begin to read what the roots name of filter and index into the page cache, as much as the limit
 * has left, which is not given back: so the first questions do not wait for the disk.
 */
void sst_reader_read_ahead(const struct sst_reader *reader, struct readahead_limit *limit);
void sst_reader_close(struct sst_reader *reader); /* NULL: no-op; erases nothing from the cache */

/*
 * To readers every cell of the file has a sequence that is greater by `shift` than the one that
 * stands there; so have the facts. For a file that was written before it was known as of when its
 * cells count. False: a sequence would be 0 before or pass the end of sequences (base/cell.h), and
 * nothing is changed. REQUIRES: nothing was read of the file since it was opened, and it was not
 * shifted before.
 */
bool sst_reader_shift_sequences(struct sst_reader *reader, uint64_t shift);

const struct file_facts *sst_reader_facts(const struct sst_reader *reader);
/* Bytes that it holds in memory beside the cache: handle, facts, the roots of both indexes,
 * the directory of the filter.  Constant. */
size_t sst_reader_memory(const struct sst_reader *reader);
const char *sst_reader_path(const struct sst_reader *reader);

/*
 * The Bloom filter's view.  Three questions, one for each domain (bloom/hash.h); the key gives the
 * place of the chunk: a cell_key of the row; of the column; of the row with family_class.  Hashes
 * are made with the facts' salt. False: certainly not in the file.  A missing, damaged or unknown
 * filter answers true, and so does one whose chunk is not in the cache and not worth fetching.
 * `saves`: what "absent" saves of the file's bytes, at most a block (READ_SAVES_BLOCK); 0 where the
 * reader cannot tell beforehand. row: needs a ROW, ROW_ROWCOL or ROW_PREFIX filter, else true;
 * `row_hash` is of the whole row in any case (a filter of prefixes, whose length is the file's,
 * makes its own).  column and family_marker: ROWCOL or ROW_ROWCOL, else true.  EPOCH.
 */
bool sst_reader_may_contain_row(const struct sst_reader *reader, const struct cell_key *key,
                                uint64_t row_hash, const struct read_context *context);
bool sst_reader_may_contain_column(const struct sst_reader *reader, const struct cell_key *key,
                                   uint64_t column_hash, uint32_t saves,
                                   const struct read_context *context);

/* For a scan all of whose rows begin with `beginning`: may the file hold such a row?  Needs a
 * ROW_PREFIX filter of prefixes that are no longer, else true.  EPOCH. */
bool sst_reader_may_contain_prefix(const struct sst_reader *reader, petal_slice beginning,
                                   const struct read_context *context);

/* The facts rule the question out, unasked, when the file has no family markers at all. */
bool sst_reader_may_contain_family_marker(const struct sst_reader *reader,
                                          const struct cell_key *key, uint64_t marker_hash,
                                          uint32_t saves, const struct read_context *context);

/* Answers to questions about columns that were asked with `saves` 0 have spared the reader so
 * many data blocks. */
void sst_reader_bloom_saved(const struct sst_reader *reader, uint64_t blocks);

/* The directory of its filter of rows (sstable/filter/bloom_rows.h); NULL: it has none.  And the
 * question to a chunk of it that no hint leads to, counted and settled as the others.  EPOCH. */
struct bloom_rows;
struct bloom_rows_chunk;
const struct bloom_rows *sst_reader_bloom_rows(const struct sst_reader *reader);
bool sst_reader_ask_chunk(const struct sst_reader *reader, struct bloom_rows_chunk *chunk,
                          uint64_t row_hash, const struct read_context *context);

/*
 * A row behind `low` and before `high` (empty: open) about in the middle of what the file has of
 * them, as the index tells, of which a node a level is read: the first row of a block. `row` has
 * room for PETAL_MAX_ROW_BYTES; *row_bytes 0: the index knows none. *bytes: of the blocks that have
 * them.
 */
enum petal_status sst_reader_middle(const struct sst_reader *reader, petal_slice low,
                                    petal_slice high, uint8_t *row, size_t *row_bytes,
                                    uint64_t *bytes, petal_error *error);

/* *bytes: of the file, those that are for the rows from `low` up to `high`, by their share of the
 * data blocks, as the index tells, likewise; of a block with others, too, a half. So ranges that
 * cover all rows have the whole file together. On failure *bytes stays. */
enum petal_status sst_reader_part(const struct sst_reader *reader, petal_slice low,
                                  petal_slice high, uint64_t *bytes, petal_error *error);

#define SST_KEPT_BLOCKS 3

struct sst_kept_block {
    struct cache_block *block; /* NULL: none */
    uint64_t offset;
};

/*
 * Iterates in cell order (base/cell_iter.h).  Lies where the caller likes and is not moved.  Steps
 * enter the epoch by themselves only when they change the block; the current block is pinned unless
 * `borrow`: then every call and every use of the cell is made EPOCH, in one stay, the context's,
 * and nothing is pinned (point gets) before sst_iter_hold is called.
 */
struct sst_iter {
    struct cell_iter iter; /* first member */
    const struct sst_reader *reader;
    struct read_context context;
    bool borrow;
    bool pins;              /* what it stands on */
    struct epoch_stay stay; /* unless `borrow` */
    /* At the end of a block take the next cell's place from the index, its block unread
     * (cell_iter.h: pending). */
    bool lazy;
    /* Of a reversed scan: once a seek went to or before the cell that seek_before found, what lies
     * after that one is not wanted: a step from it finds no cell.  May be set until the first
     * seek. */
    bool reversed;
    /* The file has no cell before, as far as the iterator tells: the beginning of a row. Set before
     * the first seek, outlives the iterator. NULL: it has all. */
    const struct cell_key *first;

    /* The rest is sst_iter.c's. */
    struct cache_block *block; /* current data block, NULL if none .. */
    bool in_private;           /* .. unless it is `private_block` */
    struct sst_private_block private_block;
    uint64_t block_offset; /* the place of the current one in the file */
    struct readahead ahead;
    struct cache_block *passed;                  /* left by next_kept, NULL if none */
    bool keeps_passed;                           /* a block that is left now becomes it */
    bool backwards;                              /* seek_before was used */
    struct sst_kept_block kept[SST_KEPT_BLOCKS]; /* backwards: blocks that were left */
    /* Reversed, the cell that seek_before found: its block's place in the file, and its index. */
    uint64_t last_offset;
    uint32_t last_cell;
    bool ends_there;           /* a seek has gone to or before it since */
    struct index_cursor index; /* of `block`, or of the block that `pending` stands before */
    uint8_t place_short[256];
    uint8_t *place_memory; /* while pending: the next block's first key, and its parts */
    size_t place_capacity;
    struct data_block_cursor cursor; /* in `block` */
};
void sst_iter_init(struct sst_iter *iter, const struct sst_reader *reader,
                   const struct read_context *context, bool borrow, bool lazy);

/* From now on pin what it stands on: for who borrows and is about to interrupt the stay, then the
 * iterator outlives that.  EPOCH. */
void sst_iter_hold(struct sst_iter *iter);

/* Rows, both ends included; an end that is not known is open. */
struct sst_rows {
    bool has_from, has_to;
    petal_slice from, to;
};

/* What a verification has found. */
struct sst_fault {
    const petal_error *error;
    uint64_t bytes;       /* that are damaged, from error->offset on; 0: it is no block that is */
    uint64_t data_blocks; /* of them, at least */
    struct sst_rows rows; /* concerned */
};

/* Whoever watches a verification: `go_on` is told of the bytes that are done since it was last
 * asked, those of the file in all; when it says no, the call ends with PETAL_BUSY. Either may be
 * NULL. */
struct sst_watch {
    bool (*go_on)(void *argument, uint64_t bytes);
    /* Told of each fault, after which the verification goes on, and succeeds. NULL: the first one
     * ends it and is its error. */
    void (*fault)(void *argument, const struct sst_fault *fault);
    /* Told what the file says of itself, if it opens, before all else. */
    void (*opened)(void *argument, const struct file_facts *facts);
    void *argument;
};

/* Read every block: checksums, order, counts, facts, and each key through the Bloom filter.
 * `watch` may be NULL. */
enum petal_status sst_reader_verify(const struct sst_reader *reader, const struct sst_watch *watch,
                                    petal_error *error);

/* The same of a file that may not even open. */
struct sst_walk_options;
enum petal_status sst_verify(const struct directory *directory, const char *path,
                             const struct sst_walk_options *options, const struct sst_watch *watch,
                             petal_error *error);

#endif

/*
 * bloom_reader.h -- asks the compound Bloom filter of an open store file.
 *
 * A Bloom filter may save reads, never change an answer: what is missing, damaged, of an unknown kind, or cannot be
 * read now says "may contain", and is counted in the trace (bloom_ignored) unless the file simply has
 * no filter for the question.  What is not in the cache and not worth fetching (sstable/bloom_account.h) says so, too, and is
 * counted as not asked (bloom_unasked).
 *
 * Any number of threads use it at once.  Questions are EPOCH (sst_reader.h).
 */
#ifndef PETAL_SSTABLE_BLOOM_READER_H
#define PETAL_SSTABLE_BLOOM_READER_H

#include "base/cell.h"
#include "sstable/bloom_account.h"
#include "sstable/index_tree.h"

struct bloom_reader {
    struct index_tree tree;
    bool serves_rows, serves_columns; /* by the type of filter that the file has */
    uint32_t prefix_bytes; /* not 0: it serves rows by prefixes of this length, nothing else */
    uint64_t salt;         /* for their hashes */
    bool blocked;          /* chunks are of the BLOCKED layout, as a rule */
    bool unknown;          /* it has one that this version does not know: `tree` is empty */
    bool damaged;          /* the root of its index is damaged: `tree` is empty */
    struct bloom_account *account;
};

/* `account` outlives the reader.  `root` of size 0: no filter.  Fails only with PETAL_IO and PETAL_NO_MEMORY; a damaged root is ignored. */
enum petal_status bloom_reader_open(struct bloom_reader *reader, const struct sst_file *file,
                                    const struct file_facts *facts, struct block_handle root,
                                    struct bloom_account *account, petal_error *error);
void bloom_reader_close(struct bloom_reader *reader);

/* `hash` is that of the whole row; a filter of prefixes makes the hash it needs from the key's row. */
bool bloom_reader_may_contain_row(const struct bloom_reader *reader, const struct cell_key *key,
                                  uint64_t hash, const struct read_context *context);

/* Whether some row may begin with `beginning`; true when it is shorter than the prefixes in the filter. */
bool bloom_reader_may_contain_prefix(const struct bloom_reader *reader, petal_slice beginning,
                                     const struct read_context *context);

/* `prefix`: the key's place (FAMILY or COLUMN PREFIX). */
bool bloom_reader_may_contain_column(const struct bloom_reader *reader, petal_slice prefix,
                                     uint64_t hash, const struct read_context *context);

/* The question itself, always asked, for those who want to know why it could not be answered.  REQUIRES: the reader has a usable
 * filter (not unknown, not damaged) that serves it. */
enum petal_status bloom_reader_probe(const struct bloom_reader *reader, petal_slice prefix,
                                     uint64_t hash, const struct read_context *context,
                                     bool *may_contain, petal_error *error);

/* Start loading what the row question will touch, as far as it is in the cache. */
void bloom_reader_prefetch_row(const struct bloom_reader *reader, petal_slice prefix,
                               uint64_t hash);

#endif

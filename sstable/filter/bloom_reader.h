/*
 * bloom_reader.h -- asks the compound Bloom filter of an open store file.  The questions that gets
 * and scans have are in sst_reader.h.
 *
 * A Bloom filter may save reads, never change an answer: what is missing, damaged, of an unknown
 * kind, or cannot be read now says "may contain", and is counted in the trace (bloom_ignored)
 * unless the file simply has no filter for the question.  What is not in the cache and not worth
 * fetching (sstable/filter/bloom_account.h) says so, too, and is counted as not asked
 * (bloom_unasked).
 *
 * Any number of threads use it at once.  Questions are EPOCH (sst_reader.h).
 */
#ifndef PETAL_SSTABLE_FILTER_BLOOM_READER_H
#define PETAL_SSTABLE_FILTER_BLOOM_READER_H

#include "base/cell.h"
#include "sstable/filter/bloom_account.h"
#include "sstable/filter/bloom_rows.h"
#include "sstable/index/index_tree.h"

struct bloom_reader {
    struct index_tree tree;
    bool serves_rows, serves_columns; /* by the type of filter that the file has */
    uint32_t prefix_bytes; /* not 0: it serves rows by prefixes of this length, nothing else */
    uint64_t salt;         /* for their hashes */
    bool unknown;          /* it has one that this version does not know: `tree` is empty */
    bool damaged;          /* the root of its index is damaged: `tree` is empty */
    struct bloom_account *account;
    struct bloom_rows rows; /* the directory of a filter of rows */
};

/* `account` outlives the reader.  `root` of size 0: no filter.  Fails only with PETAL_IO and
 * PETAL_NO_MEMORY; a damaged root is ignored. */
enum petal_status bloom_reader_open(struct bloom_reader *reader, const struct sst_file *file,
                                    const struct file_facts *facts, struct block_handle root,
                                    struct bloom_account *account, petal_error *error);
void bloom_reader_close(struct bloom_reader *reader);

/* The question itself, always asked, for those who want to know why it could not be answered.
 * REQUIRES: the reader has a usable filter (not unknown, not damaged) that serves it. */
enum petal_status bloom_reader_probe(const struct bloom_reader *reader, petal_slice prefix,
                                     uint64_t hash, const struct read_context *context,
                                     bool *may_contain, petal_error *error);

/* The question, asked if it pays (bloom_account.h); true where it cannot be answered.  `chunk`: of
 * the directory, that has the key; NULL: the one at `prefix`, the key's place.  `saves`: what
 * "absent" saves of the file's bytes. */
bool bloom_reader_ask(const struct bloom_reader *reader, petal_slice prefix,
                      struct bloom_rows_chunk *chunk, uint64_t hash, uint32_t saves,
                      const struct read_context *context);

#endif

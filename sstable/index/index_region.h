/*
 * index_region.h -- what an index names is loaded by regions: where index nodes or Bloom chunks
 * stand side by side in the file (index_writer.h), the first one that is asked for brings its
 * neighbours along, by one read, as far as one node names them and the cache has room for all.
 *
 * So a file that was just opened has its filter and its index in the cache after a few reads, and a
 * file that nobody asks costs none.  A cache that is full is not stirred: there each block is
 * loaded alone.  One thread at a time does this for a file; others load what they need alone.
 *
 * Nothing is reported: what is damaged is left out, and found out by who asks for it.  Where a
 * region cannot be read the file is read block by block from then on, so that one bad place is met
 * once.
 */
#ifndef PETAL_SSTABLE_INDEX_INDEX_REGION_H
#define PETAL_SSTABLE_INDEX_INDEX_REGION_H

#include "sstable/block/index_block.h"
#include "sstable/file/sst_file.h"

#define INDEX_REGION_BYTES (2u << 20) /* at most by one read */

/*
 * Load the block of `kind` that `node` names at `position`, and its neighbours; NULL: it has none,
 * or could not be had.  Counted as fetched are the block, and the read with all that it gave.
 * EPOCH (sst_reader.h); the context's stay is interrupted, so that `node` may be gone afterwards.
 */
struct cache_block *index_region_load(const struct sst_file *file, enum block_kind kind,
                                      const struct index_block *node, uint32_t position,
                                      const struct read_context *context);

/* Begin to read into the page cache what `node` names: of all that stands side by side as much as
 * the limit still allows, for good. */
void index_region_read_ahead(const struct sst_file *file, enum block_kind kind,
                             const struct index_block *node, struct readahead_limit *limit);

#endif

/* bloom_chunk.c -- see sstable/file/bloom_chunk.h. */
#include "sstable/file/bloom_chunk.h"

#include <assert.h>

uint32_t
bloom_chunk_shape(const uint8_t *bytes, size_t size)
{
    struct bloom_filter filter;
    const struct bloom_shape *shape = &filter.shape;

    if (!bloom_open(&filter, bytes, size))
        return 0;
    assert(shape->probes > 0 && shape->probes <= BLOOM_MAX_PROBES);
    switch (shape->layout) {
    case BLOOM_RIBBON:
        return shape->probes | BLOOM_CHUNK_RIBBON;
    case BLOOM_BLOCKED:
        return shape->probes | BLOOM_CHUNK_BLOCKED |
               (shape->probes >= BLOOM_FIRST_PROBES ? BLOOM_CHUNK_FIRST : 0);
    case BLOOM_STANDARD:
        break;
    }
    return shape->probes | (uint32_t)((size - BLOOM_FOOTER_BYTES) * 8 - shape->bits)
                               << BLOOM_CHUNK_SLACK;
}

/* What else there is to its shape stands in the footer.  Not inlined: answers of the other layouts
 * would pay for its frame. */
static NEVER_INLINE bool
ribbon_may_contain(const struct cache_block *block, uint64_t hash)
{
    struct bloom_ribbon ribbon;

    return !bloom_ribbon_open(&ribbon, block->data, block->size) ||
           bloom_ribbon_may_contain(&ribbon, block->data, hash);
}

bool
bloom_chunk_may_contain_rest(const struct cache_block *block, uint64_t hash)
{
    uint32_t shape = block->note;
    uint64_t bytes = block->size - BLOOM_FOOTER_BYTES;
    unsigned probes = shape & BLOOM_CHUNK_PROBES;
    const uint8_t *line;

    assert(shape != 0);
    if ((shape & BLOOM_CHUNK_BLOCKED) == 0)
        return (shape & BLOOM_CHUNK_RIBBON) != 0
                   ? ribbon_may_contain(block, hash)
                   : bloom_standard_may_contain(
                         block->data, bytes * 8 - (shape >> BLOOM_CHUNK_SLACK), probes, hash);
    line = block->data + BLOOM_LINE_BYTES * bloom_line(hash, bytes / BLOOM_LINE_BYTES);
    if ((shape & BLOOM_CHUNK_FIRST) == 0)
        return bloom_line_may_contain(line, probes, hash);
    return probes == BLOOM_FIRST_PROBES || bloom_line_may_contain_rest(line, probes, hash);
}

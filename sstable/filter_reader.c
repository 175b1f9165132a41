/* filter_reader.c -- see filter_reader.h. */
#include "sstable/filter_reader.h"

#include "bloom/bloom.h"
#include "bloom/hash.h"
#include "sstable/filter_prefix.h"

static bool
is_known(const struct file_facts *facts)
{
    return facts->bloom >= PETAL_BLOOM_ROW && facts->bloom <= PETAL_BLOOM_ROW_PREFIX &&
           facts->bloom_hash_version == BLOOM_HASH_VERSION &&
           (facts->bloom_layout == BLOOM_STANDARD || facts->bloom_layout == BLOOM_BLOCKED);
}

enum petal_status
filter_reader_open(struct filter_reader *reader, const struct sst_file *file,
                   const struct file_facts *facts, struct block_handle root, petal_error *error)
{
    enum petal_status status;

    *reader = (struct filter_reader){0};
    if (facts->bloom == PETAL_BLOOM_NONE)
        return PETAL_OK;
    reader->prefix_bytes = facts->bloom == PETAL_BLOOM_ROW_PREFIX ? facts->bloom_prefix_bytes : 0;
    reader->salt = facts->salt;
    reader->serves_rows = facts->bloom != PETAL_BLOOM_ROWCOL && reader->prefix_bytes == 0;
    reader->serves_columns = facts->bloom != PETAL_BLOOM_ROW && reader->prefix_bytes == 0;
    reader->blocked = facts->bloom_layout == BLOOM_BLOCKED;
    reader->unknown = !is_known(facts);
    if (reader->unknown)
        return PETAL_OK;
    status = index_tree_open(&reader->tree, file, BLOCK_FILTER_INDEX, root, error);
    if (status == PETAL_CORRUPT) {
        error_clear(error);
        reader->damaged = true;
        status = PETAL_OK;
    }
    return status;
}

void
filter_reader_close(struct filter_reader *reader)
{
    index_tree_close(&reader->tree);
}

/*
 * Start loading the line that the question will touch, and the footer.  Both places follow from the size of the chunk, which is
 * that of its frame but for the header, since nothing makes a filter smaller.  In a chunk of the other layout it is another line:
 * no harm.
 */
static inline void
prefetch_line(const struct filter_reader *reader, const struct index_place *place, uint64_t hash)
{
    const uint8_t *data = atomic_load_explicit(&place->hint->data, memory_order_relaxed);
    uint32_t least = BLOCK_FRAME_BYTES + BLOOM_FOOTER_BYTES;
    uint32_t bits = place->handle.size > least ? place->handle.size - least : 0;

    if (data == NULL)
        return;
    if (reader->blocked)
        mem_prefetch(data + BLOOM_LINE_BYTES * bloom_line(hash, bits / BLOOM_LINE_BYTES), 1);
    mem_prefetch(data + bits, 1);
}

enum petal_status
filter_reader_probe(const struct filter_reader *reader, petal_slice prefix, uint64_t hash,
                    const struct read_context *context, bool *may_contain, petal_error *error)
{
    struct index_place place;
    struct cache_block *block;
    struct bloom_filter filter;
    enum petal_status status =
        index_tree_find(&reader->tree, prefix, context, &place, may_contain, error);

    if (status != PETAL_OK || !*may_contain)
        return status;
    prefetch_line(reader, &place, hash);
    status = sst_file_fetch(reader->tree.file, place.handle, BLOCK_FILTER, place.hint, context,
                            &block, error);
    if (status != PETAL_OK)
        return status;
    *may_contain = !bloom_open(&filter, block->data, block->size) || /* it was checked: never */
                   bloom_may_contain(&filter, hash);
    return PETAL_OK;
}

static inline bool
ask(const struct filter_reader *reader, petal_slice prefix, uint64_t hash,
    const struct read_context *context)
{
    bool may_contain;

    if (reader->unknown || reader->damaged ||
        filter_reader_probe(reader, prefix, hash, context, &may_contain, NULL) != PETAL_OK) {
        context->trace->filter_ignored++;
        return true;
    }
    context->trace->filter_probes++;
    context->trace->filter_negatives += !may_contain;
    return may_contain;
}

/* The question of a filter of prefixes for the key's row. */
static bool
may_contain_prefix_of(const struct filter_reader *reader, const struct cell_key *key,
                      const struct read_context *context)
{
    petal_slice prefix = filter_row_prefix(key->row, reader->prefix_bytes);

    if (reader->prefix_bytes == 0)
        return true;
    return ask(reader, filter_prefix_place(key, reader->prefix_bytes),
               bloom_hash_row(reader->salt, prefix.data, prefix.size), context);
}

bool
filter_reader_may_contain_row(const struct filter_reader *reader, const struct cell_key *key,
                              uint64_t hash, const struct read_context *context)
{
    if (!reader->serves_rows)
        return may_contain_prefix_of(reader, key, context);
    return ask(reader, slice_make(key->encoded.data, key->row_prefix), hash, context);
}

/* Rows and prefixes beyond this length are rare: their places are made in memory of their own. */
#define SHORT_PLACE_BYTES 256

bool
filter_reader_may_contain_prefix(const struct filter_reader *reader, petal_slice beginning,
                                 const struct read_context *context)
{
    const petal_allocator *allocator;
    uint8_t short_place[SHORT_PLACE_BYTES];
    uint8_t *place = short_place;
    petal_slice prefix = slice_make(beginning.data, reader->prefix_bytes);
    struct cell_key key;
    size_t bound;
    bool answer;

    if (reader->prefix_bytes == 0 || beginning.size < reader->prefix_bytes)
        return true;
    if (reader->unknown || reader->damaged) {
        context->trace->filter_ignored++;
        return true;
    }
    allocator = reader->tree.file->source.env->allocator;
    bound = cell_key_bound(prefix.size, 0);
    if (bound > sizeof short_place)
        place = mem_alloc(allocator, bound);
    if (place == NULL)
        return true;
    cell_key_make(&key, place, prefix, slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
    answer = may_contain_prefix_of(reader, &key, context);
    if (place != short_place)
        mem_free(allocator, place, bound);
    return answer;
}

bool
filter_reader_may_contain_column(const struct filter_reader *reader, petal_slice prefix,
                                 uint64_t hash, const struct read_context *context)
{
    return !reader->serves_columns || ask(reader, prefix, hash, context);
}

void
filter_reader_prefetch_row(const struct filter_reader *reader, petal_slice prefix, uint64_t hash)
{
    const struct index_tree *tree = &reader->tree;
    int64_t position;

    if (!reader->serves_rows || reader->unknown || reader->damaged || tree->root.level > 0)
        return;
    position = index_block_search(&tree->root, prefix);
    if (position < 0)
        return;
    prefetch_line(reader,
                  &(struct index_place){index_block_handle(&tree->root, (uint32_t)position),
                                        &tree->hints[position]},
                  hash);
}

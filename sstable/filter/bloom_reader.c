/* bloom_reader.c -- see sstable/filter/bloom_reader.h. */
#include "sstable/filter/bloom_reader.h"

#include "bloom/hash.h"

#include <assert.h>

static bool
is_known(const struct file_facts *facts)
{
    return facts->bloom >= PETAL_BLOOM_ROW && facts->bloom <= PETAL_BLOOM_ROW_PREFIX &&
           facts->bloom_hash_version == BLOOM_HASH_VERSION &&
           facts->bloom_layout >= BLOOM_STANDARD && facts->bloom_layout <= BLOOM_RIBBON;
}

enum petal_status
bloom_reader_open(struct bloom_reader *reader, const struct sst_file *file,
                  const struct file_facts *facts, struct block_handle root,
                  struct bloom_account *account, petal_error *error)
{
    enum petal_status status;

    *reader = (struct bloom_reader){.account = account};
    bloom_account_init(account, facts->data_bytes, facts->data_blocks);
    if (facts->bloom == PETAL_BLOOM_NONE)
        return PETAL_OK;
    reader->prefix_bytes = facts->bloom == PETAL_BLOOM_ROW_PREFIX ? facts->bloom_prefix_bytes : 0;
    reader->salt = facts->salt;
    reader->serves_rows = facts->bloom != PETAL_BLOOM_ROWCOL && reader->prefix_bytes == 0;
    reader->serves_columns = facts->bloom != PETAL_BLOOM_ROW && reader->prefix_bytes == 0;
    reader->unknown = !is_known(facts);
    if (reader->unknown)
        return PETAL_OK;
    status = index_tree_open(&reader->tree, file, BLOCK_BLOOM_INDEX, root, error);
    if (status == PETAL_CORRUPT) {
        error_clear(error);
        reader->damaged = true;
        status = PETAL_OK;
    } else if (status == PETAL_OK && facts->bloom == PETAL_BLOOM_ROW) {
        status = bloom_rows_open(&reader->rows, file, facts->row_min, facts->row_max,
                                 &reader->tree.root, account);
        if (status != PETAL_OK)
            error_no_memory(error);
    }
    return status;
}

void
bloom_reader_close(struct bloom_reader *reader)
{
    if (reader->rows.memory != NULL)
        bloom_rows_close(&reader->rows, reader->tree.file->source.env->allocator);
    index_tree_close(&reader->tree);
}

/* Ask the chunk at the place.  It is touched only when it says "absent", then also if it was just
 * fetched: see cache.h. */
static inline enum petal_status
probe_chunk(const struct bloom_reader *reader, const struct index_place *place, uint64_t hash,
            const struct read_context *context, bool *may_contain, petal_error *error)
{
    const struct sst_file *file = reader->tree.file;
    struct cache_block *block =
        cache_look(file->cache, place->hint, file->number, place->handle.offset);
    struct bloom_first_bits first;

    if (block == NULL || block->note == 0) {
        enum petal_status status =
            index_tree_load(&reader->tree, place, BLOCK_BLOOM, context, &block, error);

        if (status != PETAL_OK)
            return status;
    } else {
        context->trace->blocks_cached[PETAL_BLOCK_FILTER]++;
    }
    bloom_first_bits(hash, &first);
    *may_contain = bloom_chunk_may_contain(block, hash, &first);
    if (!*may_contain)
        cache_touch(block);
    return PETAL_OK;
}

enum petal_status
bloom_reader_probe(const struct bloom_reader *reader, petal_slice prefix, uint64_t hash,
                   const struct read_context *context, bool *may_contain, petal_error *error)
{
    struct index_place place;
    enum petal_status status =
        index_tree_find(&reader->tree, prefix, context, &place, may_contain, error);

    if (status != PETAL_OK || !*may_contain)
        return status;
    return probe_chunk(reader, &place, hash, context, may_contain, error);
}

/* The same of a chunk in the directory. */
static enum petal_status
probe_chunk_of_rows(const struct bloom_reader *reader, struct bloom_rows_chunk *chunk,
                    uint64_t hash, const struct read_context *context, bool *may_contain)
{
    struct index_place place = {
        .handle = {.offset = chunk->offset,
                   .size = chunk->bytes + BLOCK_FRAME_BYTES + BLOOM_FOOTER_BYTES},
        .hint = &chunk->hint,
        .position = (uint32_t)(chunk - reader->rows.chunks)};

    assert(reader->serves_rows);
    assert(chunk >= reader->rows.chunks && chunk < reader->rows.chunks + reader->rows.count);
    return probe_chunk(reader, &place, hash, context, may_contain, NULL);
}

bool
bloom_reader_ask(const struct bloom_reader *reader, petal_slice prefix,
                 struct bloom_rows_chunk *chunk, uint64_t hash, uint32_t saves,
                 const struct read_context *context)
{
    struct read_trace *trace = context->trace;
    struct read_context careful;
    uint64_t before = trace->bytes_fetched;
    bool may_contain = true;
    enum petal_status status;

    if (reader->unknown || reader->damaged) {
        trace->bloom_ignored++;
        return true;
    }
    if (!bloom_account_pays(reader->account) && !bloom_account_draw(reader->account)) {
        careful = *context;
        careful.only_cached = true;
        context = &careful;
    }
    status = chunk != NULL ? probe_chunk_of_rows(reader, chunk, hash, context, &may_contain)
                           : bloom_reader_probe(reader, prefix, hash, context, &may_contain, NULL);
    if (status == PETAL_OK) {
        trace->bloom_probes++;
        trace->bloom_negatives += !may_contain;
    } else {
        may_contain = true;
        trace->bloom_unasked += status == PETAL_NOT_FOUND;
        trace->bloom_ignored += status != PETAL_NOT_FOUND;
    }
    if (trace->bytes_fetched != before)
        bloom_account_settle(reader->account, trace->bytes_fetched - before,
                             may_contain ? 0 : saves);
    else if (!may_contain)
        bloom_account_credit(reader->account, saves);
    return may_contain;
}

/* written_facts.c -- see written_facts.h. */
#include "tools/hfile/writer/written_facts.h"

#include "tools/hfile/format/format.h"

/* What HBase counts of a cell in addition to key and value: their lengths, and the length of
 * both. */
#define BIGGEST_EXTRA_BYTES 12
#define TAGS_LENGTH_BYTES   2

#define RESERVED_PREFIX "hfile."

void
hfile_written_facts_init(struct hfile_written_facts *facts, const petal_allocator *allocator)
{
    *facts = (struct hfile_written_facts){
        .time_min = INT64_MAX, .time_max = -1, .earliest_put = INT64_MAX};
    hfile_buffer_init(&facts->biggest_key, allocator);
}

void
hfile_written_facts_free(struct hfile_written_facts *facts)
{
    hfile_buffer_free(&facts->biggest_key);
}

/* A marker of all that is older hides from the beginning of time on. */
static void
include_timestamp(struct hfile_written_facts *facts, const petal_hfile_cell *cell)
{
    if (cell->timestamp > facts->time_max)
        facts->time_max = cell->timestamp;
    if (cell->timestamp < facts->time_min)
        facts->time_min = cell->timestamp;
    if (cell->type == PETAL_DELETE_COLUMN || cell->type == PETAL_DELETE_FAMILY)
        facts->time_min = 0;
    if (cell->type == PETAL_PUT && cell->timestamp < facts->earliest_put)
        facts->earliest_put = cell->timestamp;
}

bool
hfile_written_facts_add(struct hfile_written_facts *facts, const struct hfile_keyed_cell *keyed)
{
    const petal_hfile_cell *cell = keyed->cell;
    uint64_t bytes = BIGGEST_EXTRA_BYTES + keyed->key.size + cell->value.size +
                     (cell->tags.size > 0 ? TAGS_LENGTH_BYTES + cell->tags.size : 0);

    if (bytes > facts->biggest_bytes) {
        hfile_buffer_clear(&facts->biggest_key);
        if (!hfile_buffer_append_slice(&facts->biggest_key, keyed->key))
            return false;
        facts->biggest_bytes = bytes;
    }
    include_timestamp(facts, cell);
    facts->cells++;
    facts->key_bytes += keyed->key.size;
    facts->value_bytes += cell->value.size;
    facts->delete_family_cells += hfile_is_delete_family(cell);
    if (cell->sequence > facts->greatest_sequence)
        facts->greatest_sequence = cell->sequence;
    if (cell->tags.size > facts->most_tags_bytes)
        facts->most_tags_bytes = cell->tags.size;
    return true;
}

/* ---- FILE_INFO ---- */

static bool
add(struct hfile_file_info *info, const char *key, const void *bytes, size_t size)
{
    return hfile_file_info_add(info, hfile_text_slice(key), hfile_slice(bytes, size));
}

static bool
add_u32(struct hfile_file_info *info, const char *key, uint64_t number)
{
    uint8_t bytes[4];

    hfile_put_u32(bytes, (uint32_t)number);
    return add(info, key, bytes, sizeof bytes);
}

static bool
add_i64(struct hfile_file_info *info, const char *key, int64_t number)
{
    uint8_t bytes[8];

    hfile_put_u64(bytes, (uint64_t)number);
    return add(info, key, bytes, sizeof bytes);
}

/* As Java writes them. */
static bool
add_bool(struct hfile_file_info *info, const char *key, bool is_true)
{
    return add(info, key, is_true ? "\xff" : "\0", 1);
}

static bool
put_cells(const struct hfile_written_facts *facts, petal_slice last_key,
          struct hfile_file_info *info)
{
    if (facts->cells == 0)
        return add_u32(info, HFILE_INFO_AVERAGE_KEY_LENGTH, 0) &&
               add_u32(info, HFILE_INFO_AVERAGE_VALUE_LENGTH, 0);
    return add_u32(info, HFILE_INFO_AVERAGE_KEY_LENGTH, facts->key_bytes / facts->cells) &&
           add_u32(info, HFILE_INFO_AVERAGE_VALUE_LENGTH, facts->value_bytes / facts->cells) &&
           add(info, HFILE_INFO_LAST_KEY, last_key.data, last_key.size) &&
           add(info, HFILE_INFO_KEY_OF_BIGGEST_CELL, facts->biggest_key.bytes,
               facts->biggest_key.size) &&
           add_i64(info, HFILE_INFO_LENGTH_OF_BIGGEST_CELL, (int64_t)facts->biggest_bytes);
}

bool
hfile_written_facts_put(const struct hfile_written_facts *facts,
                        const petal_hfile_write_options *options, petal_slice last_key,
                        struct hfile_file_info *info)
{
    const char *encoding = petal_hfile_encoding_text(options->encoding);

    return put_cells(facts, last_key, info) &&
           add_i64(info, HFILE_INFO_CREATE_TIME, options->created_ms) &&
           (options->encoding == PETAL_HFILE_ENCODING_NONE ||
            add(info, HFILE_INFO_DATA_BLOCK_ENCODING, encoding, strlen(encoding))) &&
           (!options->with_tags ||
            (add_u32(info, HFILE_INFO_MAX_TAGS_LENGTH, facts->most_tags_bytes) &&
             add_bool(info, HFILE_INFO_TAGS_COMPRESSED, false))) &&
           (!options->with_sequences ||
            (add_u32(info, HFILE_INFO_KEY_VALUE_VERSION, 1) &&
             add_i64(info, HFILE_INFO_MAX_MEMSTORE_TIMESTAMP, facts->greatest_sequence)));
}

bool
hfile_written_facts_put_store(const struct hfile_written_facts *facts,
                              const petal_hfile_write_options *options,
                              struct hfile_file_info *info)
{
    uint8_t range[16];

    hfile_put_u64(range, (uint64_t)facts->time_min);
    hfile_put_u64(range + 8, (uint64_t)facts->time_max);
    return add_i64(info, HFILE_INFO_DELETE_FAMILY_COUNT, (int64_t)facts->delete_family_cells) &&
           add(info, HFILE_INFO_TIME_RANGE, range, sizeof range) &&
           add_i64(info, HFILE_INFO_EARLIEST_PUT, facts->earliest_put) &&
           add_bool(info, HFILE_INFO_MAJOR_COMPACTION, options->is_major) &&
           (!options->has_sequence_id ||
            (add_i64(info, HFILE_INFO_MAX_SEQUENCE_ID, options->sequence_id) &&
             /* No file was compacted into this one. */
             add(info, HFILE_INFO_COMPACTION_EVENT, HFILE_PROTOBUF_MAGIC,
                 HFILE_PROTOBUF_MAGIC_BYTES)));
}

bool
hfile_is_reserved_name(petal_slice key)
{
    static const char *const NAMES[] = {
        HFILE_INFO_KEY_VALUE_VERSION,   HFILE_INFO_MAX_MEMSTORE_TIMESTAMP,
        HFILE_INFO_DATA_BLOCK_ENCODING, HFILE_INFO_INDEX_BLOCK_ENCODING,
        HFILE_INFO_BLOOM_FILTER_TYPE,   HFILE_INFO_BLOOM_FILTER_PARAMETER,
        HFILE_INFO_LAST_BLOOM_KEY,      HFILE_INFO_DELETE_FAMILY_COUNT,
        HFILE_INFO_MAX_SEQUENCE_ID,     HFILE_INFO_MAJOR_COMPACTION,
        HFILE_INFO_TIME_RANGE,          HFILE_INFO_EARLIEST_PUT,
        HFILE_INFO_COMPACTION_EVENT,
    };
    size_t prefix = strlen(RESERVED_PREFIX);

    if (key.size >= prefix && memcmp(key.data, RESERVED_PREFIX, prefix) == 0)
        return true;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (hfile_slice_equal(key, hfile_text_slice(NAMES[i])))
            return true;
    }
    return false;
}

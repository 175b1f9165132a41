/* facts.c -- see facts.h. */
#include "tools/hfile/reader/facts.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/key.h"
#include "tools/hfile/format/names.h"
#include "tools/hfile/format/protobuf.h"

#include <inttypes.h>

#define TIME_RANGE_BYTES 16

/* ---- the trailer ---- */

/* All mean the same order; that of hbase:meta is another. */
static const char *const comparators[] = {
    HFILE_COMPARATOR, "org.apache.hadoop.hbase.KeyValue$KeyComparator",
    "org.apache.hadoop.hbase.CellComparator", "org.apache.hadoop.hbase.CellComparatorImpl",
    "org.apache.hadoop.hbase.InnerStoreCellComparator"};

static bool
is_known_comparator(petal_slice name)
{
    if (name.size == 0)
        return true;
    for (size_t i = 0; i < sizeof comparators / sizeof *comparators; i++) {
        if (hfile_slice_equal(name, hfile_text_slice(comparators[i])))
            return true;
    }
    return false;
}

static enum petal_status
set_codec(petal_hfile *file, petal_error *error)
{
    const char *name = hfile_codec_name_of(file->trailer.codec_number);

    if (name == NULL)
        return hfile_error_corrupt(error, file->name, file->trailer_offset,
                                   "the trailer names codec %" PRIu32 ", which HBase does not have",
                                   file->trailer.codec_number);
    file->codec = hfile_codec_named(hfile_text_slice(name));
    if (file->codec == PETAL_HFILE_CODEC_DEFAULT || !petal_hfile_has_codec(file->codec))
        return hfile_error_unsupported(
            error, file->name, "its blocks are compressed by %s, which cannot be read here", name);
    return PETAL_OK;
}

enum petal_status
hfile_facts_from_trailer(petal_hfile *file, petal_error *error)
{
    char text[160];

    if (file->trailer.is_encrypted)
        return hfile_error_unsupported(error, file->name, "the file is encrypted");
    if (!file->facts_only && !is_known_comparator(file->trailer.comparator))
        return hfile_error_unsupported(
            error, file->name, "its keys are in the order of %s, which is not that of user tables",
            hfile_error_quote(file->trailer.comparator, text, sizeof text));
    return set_codec(file, error);
}

/* ---- FILE_INFO ---- */

static petal_slice
entry(const petal_hfile *file, const char *key)
{
    petal_slice value;

    hfile_file_info_find(&file->file_info, hfile_text_slice(key), &value);
    return value;
}

static bool
is_true(petal_slice value)
{
    return value.size == 1 && hfile_slice_bytes(value)[0] != 0;
}

static enum petal_status
set_encoding(petal_hfile *file, petal_error *error)
{
    petal_slice name = entry(file, HFILE_INFO_DATA_BLOCK_ENCODING);
    petal_slice index_encoding = entry(file, HFILE_INFO_INDEX_BLOCK_ENCODING);
    char text[160];

    file->info.encoding = name.size == 0 ? PETAL_HFILE_ENCODING_NONE : hfile_encoding_named(name);
    if (file->info.encoding != PETAL_HFILE_ENCODING_DEFAULT)
        file->encoding = hfile_encoding_of(file->info.encoding);
    else if (!file->facts_only)
        return hfile_error_unsupported(
            error, file->name, "its data blocks are encoded as %s, which cannot be read here",
            hfile_error_quote(name, text, sizeof text));
    file->is_index_encoded =
        index_encoding.size > 0 && !hfile_slice_equal(index_encoding, hfile_text_slice("NONE"));
    if (!file->facts_only && file->is_index_encoded)
        return hfile_error_unsupported(
            error, file->name, "its index is encoded as %s, which HBase 2.6.0 cannot read, either",
            hfile_error_quote(index_encoding, text, sizeof text));
    /* HBase writes the flag under ROW_INDEX_V1, too, whose cells have their tags as they are. */
    file->layout.has_compressed_tags = is_true(entry(file, HFILE_INFO_TAGS_COMPRESSED)) &&
                                       file->info.encoding != PETAL_HFILE_ENCODING_ROW_INDEX_V1;
    return PETAL_OK;
}

static enum petal_status
set_bloom_type(petal_hfile *file, petal_error *error)
{
    petal_slice name = entry(file, HFILE_INFO_BLOOM_FILTER_TYPE);
    uint32_t prefix_bytes = 0;
    char text[160];

    file->info.bloom_type = name.size == 0 ? PETAL_HFILE_BLOOM_NONE : hfile_bloom_type_named(name);
    if (file->info.bloom_type == PETAL_HFILE_BLOOM_DEFAULT)
        return hfile_error_unsupported(error, file->name, "its Bloom filter is of type %s",
                                       hfile_error_quote(name, text, sizeof text));
    if (file->info.bloom_type == PETAL_HFILE_BLOOM_ROW_PREFIX &&
        (!hfile_file_info_find_u32(&file->file_info, HFILE_INFO_BLOOM_FILTER_PARAMETER,
                                   &prefix_bytes) ||
         prefix_bytes == 0 || prefix_bytes > INT32_MAX))
        return hfile_error_corrupt(error, file->name, file->trailer.file_info_offset,
                                   "FILE_INFO does not say how long the prefixes of rows are");
    file->info.bloom_prefix_bytes = prefix_bytes;
    return PETAL_OK;
}

static void
set_layout(petal_hfile *file)
{
    petal_hfile_info *info = &file->info;
    int64_t sequence = 0;
    uint32_t number;

    info->has_tags = hfile_file_info_find_u32(&file->file_info, HFILE_INFO_MAX_TAGS_LENGTH,
                                              &info->most_tags_bytes);
    info->has_sequences =
        hfile_file_info_find_u32(&file->file_info, HFILE_INFO_KEY_VALUE_VERSION, &number) &&
        number == 1;
    hfile_file_info_find_i64(&file->file_info, HFILE_INFO_MAX_MEMSTORE_TIMESTAMP, &sequence);
    info->greatest_sequence = sequence < 0 ? 0 : (uint64_t)sequence;
    file->layout.has_tags = info->has_tags;
    file->layout.has_sequences = info->has_sequences;
}

/* 16 bytes, or protobuf with fields 1 and 2. */
static void
set_time_range(petal_hfile *file)
{
    petal_slice value = entry(file, HFILE_INFO_TIME_RANGE);
    petal_hfile_info *info = &file->info;
    struct hfile_bytes rest = hfile_bytes_of(value);
    struct hfile_field field;

    if (value.size == TIME_RANGE_BYTES) {
        info->time_min = (int64_t)hfile_get_u64(rest.at);
        info->time_max = (int64_t)hfile_get_u64(rest.at + 8);
        info->has_time_range = true;
        return;
    }
    if (!hfile_take_protobuf_magic(&rest))
        return;
    while (hfile_field_take(&rest, &field)) {
        if (field.number == 1)
            info->time_min = (int64_t)field.value;
        else if (field.number == 2)
            info->time_max = (int64_t)field.value;
    }
    info->has_time_range = hfile_bytes_left(&rest) == 0;
}

static void
set_plain_facts(petal_hfile *file)
{
    const struct hfile_file_info *entries = &file->file_info;
    petal_hfile_info *info = &file->info;
    int64_t number;

    hfile_file_info_find_u32(entries, HFILE_INFO_AVERAGE_KEY_LENGTH, &info->average_key_bytes);
    hfile_file_info_find_u32(entries, HFILE_INFO_AVERAGE_VALUE_LENGTH, &info->average_value_bytes);
    hfile_file_info_find_i64(entries, HFILE_INFO_CREATE_TIME, &info->created_ms);
    if (hfile_file_info_find_i64(entries, HFILE_INFO_DELETE_FAMILY_COUNT, &number) && number >= 0) {
        info->delete_family_cells = (uint64_t)number;
        info->has_delete_family_cells = true;
    }
    info->has_earliest_put =
        hfile_file_info_find_i64(entries, HFILE_INFO_EARLIEST_PUT, &info->earliest_put);
    info->has_sequence_id =
        hfile_file_info_find_i64(entries, HFILE_INFO_MAX_SEQUENCE_ID, &info->sequence_id);
    info->is_bulk_loaded = entry(file, HFILE_INFO_BULK_LOAD_TIMESTAMP).size > 0;
    info->is_major_compacted = is_true(entry(file, HFILE_INFO_MAJOR_COMPACTION));
    info->is_mob = entry(file, HFILE_INFO_MOB_CELLS_COUNT).size > 0;
    info->has_mob_references = entry(file, HFILE_INFO_MOB_FILE_REFERENCES).size > 0;
}

static void
set_trailer_facts(petal_hfile *file)
{
    const struct hfile_trailer *trailer = &file->trailer;
    petal_hfile_info *info = &file->info;

    info->name = file->name;
    info->file_bytes = file->source.size;
    info->major_version = trailer->major_version;
    info->minor_version = trailer->minor_version;
    info->codec = file->codec;
    info->cells = trailer->cells;
    info->comparator = trailer->comparator;
    info->file_info_offset = trailer->file_info_offset;
    info->load_on_open_offset = trailer->load_on_open_offset;
    info->index_bytes = trailer->index_bytes;
    info->uncompressed_bytes = trailer->uncompressed_bytes;
    info->root_entries = trailer->root_entries;
    info->meta_entries = trailer->meta_entries;
    info->index_levels = trailer->index_levels;
    info->has_data_blocks = trailer->first_data_block_offset != HFILE_NO_BLOCK;
    info->first_data_block_offset = trailer->first_data_block_offset;
    info->last_data_block_offset = trailer->last_data_block_offset;
}

static enum petal_status
set_last_row(petal_hfile *file, petal_error *error)
{
    petal_hfile_info *info = &file->info;
    petal_hfile_cell key;

    info->last_key = entry(file, HFILE_INFO_LAST_KEY);
    if (info->last_key.size == 0)
        return PETAL_OK;
    if (!hfile_key_parse(info->last_key, &key))
        return hfile_error_corrupt(error, file->name, file->trailer.file_info_offset,
                                   "the last key in FILE_INFO is no key");
    info->last_row = key.row;
    return PETAL_OK;
}

enum petal_status
hfile_facts_from_file_info(petal_hfile *file, petal_error *error)
{
    enum petal_status status = set_encoding(file, error);

    if (status == PETAL_OK)
        status = set_bloom_type(file, error);
    if (status != PETAL_OK)
        return status;
    set_layout(file);
    set_time_range(file);
    set_plain_facts(file);
    set_trailer_facts(file);
    return set_last_row(file, error);
}

/* The first key of the index is that of the file's first cell; other keys of it may be
 * separators. */
enum petal_status
hfile_facts_from_root(petal_hfile *file, petal_error *error)
{
    petal_hfile_cell key;

    if (file->root.count == 0)
        return PETAL_OK;
    if (!hfile_key_parse(file->root.entries[0].key, &key))
        return hfile_error_corrupt(error, file->name, file->trailer.load_on_open_offset,
                                   "the first key of the index is no key");
    file->info.first_row = key.row;
    return PETAL_OK;
}

/* ---- asked for by callers ---- */

const petal_hfile_info *
petal_hfile_info_get(const petal_hfile *file)
{
    return file != NULL ? &file->info : NULL;
}

bool
petal_hfile_info_entry(const petal_hfile *file, size_t number, petal_slice *key, petal_slice *value)
{
    if (file == NULL || key == NULL || value == NULL ||
        number >= hfile_file_info_count(&file->file_info))
        return false;
    hfile_file_info_get(&file->file_info, number, key, value);
    return true;
}

bool
petal_hfile_info_find(const petal_hfile *file, const char *key, petal_slice *value)
{
    return file != NULL && key != NULL && value != NULL &&
           hfile_file_info_find(&file->file_info, hfile_text_slice(key), value);
}

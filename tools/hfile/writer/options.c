/* options.c -- see options.h. */
#include "tools/hfile/writer/options.h"

#include "tools/hfile/format/bloom.h"
#include "tools/hfile/format/codec.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/format.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/options.h"

#include <string.h>
#include <time.h>

#define BLOCK_BYTES         65536
#define INDEX_BLOCK_BYTES   131072
#define INDEX_BLOCK_ENTRIES 16

/* So that a block has no more cells than a reader takes (HFILE_MOST_CELLS_OF_BLOCK), by far. */
#define MOST_BLOCK_BYTES       (32u << 20)
#define MOST_BLOOM_CHUNK_BYTES (128u << 20)

static int64_t
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
fill_in(petal_hfile_write_options *options)
{
    if (options->allocator == NULL)
        options->allocator = &hfile_default_allocator;
    if (options->codec == PETAL_HFILE_CODEC_DEFAULT)
        options->codec = PETAL_HFILE_CODEC_NONE;
    if (options->encoding == PETAL_HFILE_ENCODING_DEFAULT)
        options->encoding = PETAL_HFILE_ENCODING_NONE;
    if (options->bloom == PETAL_HFILE_BLOOM_DEFAULT)
        options->bloom = options->is_plain ? PETAL_HFILE_BLOOM_NONE : PETAL_HFILE_BLOOM_ROW;
    if (options->checksum == PETAL_HFILE_CHECKSUM_DEFAULT)
        options->checksum = PETAL_HFILE_CHECKSUM_CRC32C;
    if (options->block_bytes == 0)
        options->block_bytes = BLOCK_BYTES;
    if (options->index_block_bytes == 0)
        options->index_block_bytes = INDEX_BLOCK_BYTES;
    if (options->index_block_entries == 0)
        options->index_block_entries = INDEX_BLOCK_ENTRIES;
    if (options->bloom_chunk_bytes == 0)
        options->bloom_chunk_bytes = HFILE_BLOOM_CHUNK_BYTES;
    if (options->bloom_error_rate == 0)
        options->bloom_error_rate = HFILE_BLOOM_ERROR_RATE;
    if (options->bytes_per_checksum == 0)
        options->bytes_per_checksum = HFILE_DEFAULT_BYTES_PER_CHECKSUM;
    if (options->created_ms == 0)
        options->created_ms = now_ms();
}

static enum petal_status
wrong(petal_error *error, const char *field, const char *what)
{
    return hfile_error_set(error, PETAL_INVALID, "", "petal_hfile_write_options: %s %s", field,
                           what);
}

/* As unsigned, so that what is below 0 is none as well. */
static enum petal_status
check_numbers(const petal_hfile_write_options *options, petal_error *error)
{
    if ((unsigned)options->codec > PETAL_HFILE_CODEC_ZSTD)
        return wrong(error, "codec", "is not one of enum petal_hfile_codec");
    if ((unsigned)options->encoding > PETAL_HFILE_ENCODING_ROW_INDEX_V1)
        return wrong(error, "encoding", "is not one of enum petal_hfile_encoding");
    if ((unsigned)options->bloom > PETAL_HFILE_BLOOM_ROW_PREFIX)
        return wrong(error, "bloom", "is not one of enum petal_hfile_bloom_type");
    if ((unsigned)options->checksum > PETAL_HFILE_CHECKSUM_CRC32C)
        return wrong(error, "checksum", "is not one of enum petal_hfile_checksum");
    if (!hfile_codec_is_built(options->codec))
        return hfile_error_unsupported(error, "", "this build of the library has no codec %s",
                                       petal_hfile_codec_text(options->codec));
    return PETAL_OK;
}

static enum petal_status
check_bloom(const petal_hfile_write_options *options, petal_error *error)
{
    struct hfile_bloom_shape shape;
    bool is_prefix = options->bloom == PETAL_HFILE_BLOOM_ROW_PREFIX;

    if (options->is_plain && options->bloom != PETAL_HFILE_BLOOM_NONE)
        return wrong(error, "bloom", "does not go with is_plain");
    if (is_prefix && (options->bloom_prefix_bytes == 0 ||
                      options->bloom_prefix_bytes > PETAL_HFILE_MAX_ROW_BYTES))
        return wrong(error, "bloom_prefix_bytes", "is not from 1 to 32767");
    if (!is_prefix && options->bloom_prefix_bytes != 0)
        return wrong(error, "bloom_prefix_bytes", "is for a filter of row prefixes alone");
    if (!(options->bloom_error_rate > 0 && options->bloom_error_rate < 1))
        return wrong(error, "bloom_error_rate", "is not between 0 and 1");
    if (options->bloom_chunk_bytes > MOST_BLOOM_CHUNK_BYTES)
        return wrong(error, "bloom_chunk_bytes", "is larger than 128 MiB");
    if (!hfile_bloom_shape_of(options->bloom_chunk_bytes, options->bloom_error_rate,
                              options->bloom == PETAL_HFILE_BLOOM_ROWCOL, &shape))
        return wrong(error, "bloom_chunk_bytes", "has no room for a key at this error rate");
    return PETAL_OK;
}

static enum petal_status
check_sizes(const petal_hfile_write_options *options, petal_error *error)
{
    if (options->block_bytes > MOST_BLOCK_BYTES)
        return wrong(error, "block_bytes", "is larger than 32 MiB");
    if (options->index_block_bytes > MOST_BLOCK_BYTES)
        return wrong(error, "index_block_bytes", "is larger than 32 MiB");
    if (options->bytes_per_checksum < HFILE_LEAST_BYTES_PER_CHECKSUM ||
        options->bytes_per_checksum > INT32_MAX)
        return wrong(error, "bytes_per_checksum", "is not from 33 to 2147483647");
    return PETAL_OK;
}

enum petal_status
hfile_write_options_take(const petal_hfile_write_options *given, petal_hfile_write_options *options,
                         petal_error *error)
{
    enum petal_status status =
        hfile_options_take(given, options, sizeof *options, "petal_hfile_write_options", error);

    if (status != PETAL_OK)
        return status;
    fill_in(options);
    status = check_numbers(options, error);
    if (status == PETAL_OK)
        status = check_sizes(options, error);
    if (status == PETAL_OK)
        status = check_bloom(options, error);
    return status;
}

/* names.c -- HBase's words for codecs, encodings, filters, checksums, types and blocks. */
#include "tools/hfile/format/names.h"

#include "tools/hfile/format/bytes.h"
#include "tools/hfile/format/codec.h"
#include "tools/hfile/format/format.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* By the numbers of the public enumerations; NULL where one stands for no name. */
static const char *const codecs[] = {NULL, "NONE", "GZ", "LZ4", "SNAPPY", "ZSTD"};
static const char *const encodings[] = {NULL,   "NONE",      "PREFIX",
                                        "DIFF", "FAST_DIFF", "ROW_INDEX_V1"};
static const char *const bloom_types[] = {NULL, "NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"};
static const char *const checksums[] = {NULL, "NULL", "CRC32", "CRC32C"};

/* By the numbers of trailers; some are known by name only. */
static const char *const numbered_codecs[] = {"LZO",   "GZ",   "NONE", "SNAPPY", "LZ4",
                                              "BZIP2", "ZSTD", "LZMA", "BROTLI"};

#define BLOCK_TEXT(name, magic) [PETAL_HFILE_BLOCK_##name] = #name,
static const char *const blocks[] = {HFILE_BLOCK_MAP(BLOCK_TEXT)};

static const char *
text_of(const char *const *texts, size_t count, unsigned number)
{
    return number < count && texts[number] != NULL ? texts[number] : "?";
}

/* 0: none of them. */
static unsigned
number_of(const char *const *texts, size_t count, petal_slice text)
{
    for (unsigned i = 1; i < count; i++) {
        if (hfile_slice_equal(text, hfile_text_slice(texts[i])))
            return i;
    }
    return 0;
}

const char *
petal_hfile_codec_text(enum petal_hfile_codec codec)
{
    return text_of(codecs, COUNT_OF(codecs), codec);
}

const char *
petal_hfile_encoding_text(enum petal_hfile_encoding encoding)
{
    return text_of(encodings, COUNT_OF(encodings), encoding);
}

const char *
petal_hfile_bloom_type_text(enum petal_hfile_bloom_type type)
{
    return text_of(bloom_types, COUNT_OF(bloom_types), type);
}

const char *
petal_hfile_checksum_text(enum petal_hfile_checksum checksum)
{
    return text_of(checksums, COUNT_OF(checksums), checksum);
}

const char *
petal_hfile_type_text(int type)
{
    switch (type) {
    case PETAL_PUT:
        return "Put";
    case PETAL_DELETE:
        return "Delete";
    case PETAL_DELETE_FAMILY_VERSION:
        return "DeleteFamilyVersion";
    case PETAL_DELETE_COLUMN:
        return "DeleteColumn";
    case PETAL_DELETE_FAMILY:
        return "DeleteFamily";
    default:
        return "?";
    }
}

const char *
petal_hfile_block_kind_text(enum petal_hfile_block_kind kind)
{
    return text_of(blocks, COUNT_OF(blocks), kind);
}

bool
petal_hfile_has_codec(enum petal_hfile_codec codec)
{
    return hfile_codec_is_built(codec);
}

enum petal_hfile_codec
hfile_codec_named(petal_slice text)
{
    return (enum petal_hfile_codec)number_of(codecs, COUNT_OF(codecs), text);
}

enum petal_hfile_encoding
hfile_encoding_named(petal_slice text)
{
    return (enum petal_hfile_encoding)number_of(encodings, COUNT_OF(encodings), text);
}

enum petal_hfile_bloom_type
hfile_bloom_type_named(petal_slice text)
{
    return (enum petal_hfile_bloom_type)number_of(bloom_types, COUNT_OF(bloom_types), text);
}

const char *
hfile_codec_name_of(uint32_t number)
{
    return number < COUNT_OF(numbered_codecs) ? numbered_codecs[number] : NULL;
}

uint32_t
hfile_codec_number_of(enum petal_hfile_codec codec)
{
    uint32_t number = 0;

    while (strcmp(numbered_codecs[number], petal_hfile_codec_text(codec)) != 0)
        number++;
    return number;
}

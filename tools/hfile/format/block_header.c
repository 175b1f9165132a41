/* block_header.c -- see block_header.h. */
#include "tools/hfile/format/block_header.h"

#include "tools/hfile/format/bytes.h"
#include "tools/hfile/format/format.h"

#include <assert.h>

#define BLOCK_MAGIC(name, magic) [PETAL_HFILE_BLOCK_##name] = magic,
static const char *const magics[] = {HFILE_BLOCK_MAP(BLOCK_MAGIC)};
#define KINDS (sizeof magics / sizeof *magics)

/* 0: none. */
static unsigned
kind_of(const uint8_t *magic)
{
    for (unsigned kind = 1; kind < KINDS; kind++) {
        if (memcmp(magic, magics[kind], HFILE_MAGIC_BYTES) == 0)
            return kind;
    }
    return 0;
}

static uint64_t
checksum_bytes(uint32_t data_bytes, uint32_t bytes_per_checksum)
{
    return ((uint64_t)data_bytes + bytes_per_checksum - 1) / bytes_per_checksum *
           HFILE_CHECKSUM_BYTES;
}

static bool
sizes_agree(const petal_hfile_block *block, uint32_t behind_header)
{
    return block->data_bytes >= HFILE_BLOCK_HEADER_BYTES &&
           (uint64_t)behind_header + HFILE_BLOCK_HEADER_BYTES ==
               block->data_bytes + checksum_bytes(block->data_bytes, block->bytes_per_checksum);
}

bool
hfile_block_header_parse(const uint8_t *bytes, petal_hfile_block *block, const char **wrong)
{
    uint32_t behind_header = hfile_get_u32(bytes + 8);
    unsigned kind = kind_of(bytes), checksum = bytes[24];

    *block = (petal_hfile_block){.kind = (enum petal_hfile_block_kind)kind,
                                 .data_bytes = hfile_get_u32(bytes + 29),
                                 .uncompressed_bytes = hfile_get_u32(bytes + 12),
                                 .previous_offset = (int64_t)hfile_get_u64(bytes + 16),
                                 .checksum = (enum petal_hfile_checksum)(checksum + 1),
                                 .bytes_per_checksum = hfile_get_u32(bytes + 25)};
    *wrong = "a block should begin here, but there is no block's magic";
    if (kind == 0)
        return false;
    *wrong = "the block's checksum type is unknown";
    if (checksum > HFILE_CHECKSUM_NUMBER_CRC32C)
        return false;
    *wrong = "the block has fewer than 33 bytes per checksum";
    if (block->bytes_per_checksum < HFILE_LEAST_BYTES_PER_CHECKSUM)
        return false;
    *wrong = "the sizes in the block's header do not agree with each other";
    if (!sizes_agree(block, behind_header))
        return false;
    *wrong = "the block claims to be larger than 256 MiB";
    if (behind_header > HFILE_MOST_BLOCK_BYTES ||
        block->uncompressed_bytes > HFILE_MOST_BLOCK_BYTES)
        return false;
    block->stored_bytes = HFILE_BLOCK_HEADER_BYTES + behind_header;
    return true;
}

void
hfile_block_header_write(const petal_hfile_block *block, uint8_t *bytes)
{
    uint32_t behind_header = block->stored_bytes - HFILE_BLOCK_HEADER_BYTES;

    assert(block->kind > 0 && block->kind < KINDS && block->checksum > 0);
    assert(sizes_agree(block, behind_header));
    memcpy(bytes, magics[block->kind], HFILE_MAGIC_BYTES);
    hfile_put_u32(bytes + 8, behind_header);
    hfile_put_u32(bytes + 12, block->uncompressed_bytes);
    hfile_put_u64(bytes + 16, (uint64_t)block->previous_offset);
    bytes[24] = (uint8_t)(block->checksum - 1);
    hfile_put_u32(bytes + 25, block->bytes_per_checksum);
    hfile_put_u32(bytes + 29, block->data_bytes);
}

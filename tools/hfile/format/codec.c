/*
 * codec.c -- see codec.h.
 */
#include "tools/hfile/format/codec.h"

#include "tools/hfile/format/bytes.h"
#include "tools/hfile/format/format.h"
#include "tools/hfile/format/memory.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* What one chunk holds uncompressed: 256 KiB less what the codec may need on top. */
#define LZ4_CHUNK_BYTES    261100u
#define SNAPPY_CHUNK_BYTES 218422u
#define ZSTD_CHUNK_BYTES   SNAPPY_CHUNK_BYTES

/* Of HBase's ZSTD codecs. */
#define ZSTD_LEVEL 3

/* zlib's: 15 bits of window, and a gzip header. */
#define GZIP_WINDOW      (15 + 16)
#define GZIP_MEMORY      8
#define GZIP_UNKNOWN_OS  255
#define GZIP_EXTRA_BYTES 64

bool
hfile_codec_is_built(enum petal_hfile_codec kind)
{
    switch (kind) {
    case PETAL_HFILE_CODEC_NONE:
    case PETAL_HFILE_CODEC_GZ:
    case PETAL_HFILE_CODEC_LZ4:
    case PETAL_HFILE_CODEC_SNAPPY:
        return true;
    case PETAL_HFILE_CODEC_ZSTD:
#ifdef HAVE_ZSTD
        return true;
#endif
    case PETAL_HFILE_CODEC_DEFAULT:
    default:
        return false;
    }
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* zlib gives memory back without its size, so that stands in front of it. */
union sized {
    size_t size;
    max_align_t aligned;
};

static voidpf
zlib_allocate(voidpf context, uInt items, uInt size)
{
    size_t bytes = sizeof(union sized) + (size_t)items * size;
    union sized *memory = hfile_allocate(context, bytes);

    if (memory == NULL)
        return NULL;
    memory->size = bytes;
    return memory + 1;
}

static void
zlib_release(voidpf context, voidpf memory)
{
    union sized *sized = (union sized *)memory - 1;

    hfile_release(context, sized, sized->size);
}

static z_stream *
zlib_stream_new(const petal_allocator *allocator)
{
    z_stream *stream = hfile_allocate(allocator, sizeof *stream);

    if (stream == NULL)
        return NULL;
    memset(stream, 0, sizeof *stream);
    stream->zalloc = zlib_allocate;
    stream->zfree = zlib_release;
    stream->opaque = (voidpf)(uintptr_t)allocator;
    return stream;
}

static z_stream *
inflate_new(const petal_allocator *allocator)
{
    z_stream *stream = zlib_stream_new(allocator);

    if (stream != NULL && inflateInit2(stream, GZIP_WINDOW) != Z_OK) {
        hfile_release(allocator, stream, sizeof *stream);
        return NULL;
    }
    return stream;
}

static z_stream *
deflate_new(const petal_allocator *allocator)
{
    z_stream *stream = zlib_stream_new(allocator);

    if (stream != NULL && deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                                       GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        hfile_release(allocator, stream, sizeof *stream);
        return NULL;
    }
    return stream;
}

/* What the codec needs to compress; NULL with `needs`: no memory. */
static void *
compressor_new(const struct hfile_codec *codec, bool *needs)
{
    *needs = true;
    switch (codec->kind) {
    case PETAL_HFILE_CODEC_GZ:
        return deflate_new(codec->allocator);
    case PETAL_HFILE_CODEC_LZ4:
        return hfile_allocate(codec->allocator, (size_t)LZ4_sizeofState());
#ifdef HAVE_ZSTD
    case PETAL_HFILE_CODEC_ZSTD:
        return ZSTD_createCCtx();
#endif
    default:
        *needs = false;
        return NULL;
    }
}

static void *
uncompressor_new(const struct hfile_codec *codec, bool *needs)
{
    *needs = true;
    switch (codec->kind) {
    case PETAL_HFILE_CODEC_GZ:
        return inflate_new(codec->allocator);
#ifdef HAVE_ZSTD
    case PETAL_HFILE_CODEC_ZSTD:
        return ZSTD_createDCtx();
#endif
    default:
        *needs = false;
        return NULL;
    }
}

void
hfile_codec_free(struct hfile_codec *codec)
{
    switch (codec->kind) {
    case PETAL_HFILE_CODEC_GZ:
        if (codec->compressor != NULL)
            deflateEnd(codec->compressor);
        if (codec->uncompressor != NULL)
            inflateEnd(codec->uncompressor);
        hfile_release(codec->allocator, codec->compressor, sizeof(z_stream));
        hfile_release(codec->allocator, codec->uncompressor, sizeof(z_stream));
        break;
    case PETAL_HFILE_CODEC_LZ4:
        hfile_release(codec->allocator, codec->compressor, (size_t)LZ4_sizeofState());
        break;
#ifdef HAVE_ZSTD
    case PETAL_HFILE_CODEC_ZSTD:
        ZSTD_freeCCtx(codec->compressor);
        ZSTD_freeDCtx(codec->uncompressor);
        break;
#endif
    default:
        break;
    }
    codec->compressor = codec->uncompressor = NULL;
}

/* ---- Compressing ---------------------------------------------------------------------------- */

static size_t
chunk_bytes(enum petal_hfile_codec kind)
{
    return kind == PETAL_HFILE_CODEC_LZ4      ? LZ4_CHUNK_BYTES
           : kind == PETAL_HFILE_CODEC_SNAPPY ? SNAPPY_CHUNK_BYTES
                                              : ZSTD_CHUNK_BYTES;
}

static size_t
chunk_bound(enum petal_hfile_codec kind, size_t size)
{
    switch (kind) {
    case PETAL_HFILE_CODEC_LZ4:
        return (size_t)LZ4_compressBound((int)size);
#ifdef HAVE_ZSTD
    case PETAL_HFILE_CODEC_ZSTD:
        return ZSTD_compressBound(size);
#endif
    default:
        return snappy_max_compressed_length(size);
    }
}

size_t
hfile_codec_bound(enum petal_hfile_codec kind, size_t size)
{
    size_t whole;

    assert(size <= HFILE_MOST_BLOCK_BYTES);
    if (kind == PETAL_HFILE_CODEC_NONE)
        return size;
    if (kind == PETAL_HFILE_CODEC_GZ)
        return compressBound((uLong)size) + GZIP_EXTRA_BYTES;
    /* Both lengths of the payload, and of each chunk its length. */
    whole = size / chunk_bytes(kind);
    return 8 + whole * (4 + chunk_bound(kind, chunk_bytes(kind))) + 4 +
           chunk_bound(kind, size % chunk_bytes(kind));
}

static enum petal_status
gzip(struct hfile_codec *codec, const void *from, size_t size, uint8_t *to, size_t *stored)
{
    z_stream *stream = codec->compressor;
    size_t room = hfile_codec_bound(codec->kind, size);
    gz_header header = {.os = GZIP_UNKNOWN_OS};

    if (deflateReset(stream) != Z_OK || deflateSetHeader(stream, &header) != Z_OK)
        return PETAL_IO;
    stream->next_in = (Bytef *)(uintptr_t)from;
    stream->avail_in = (uInt)size;
    stream->next_out = to;
    stream->avail_out = (uInt)room;
    if (deflate(stream, Z_FINISH) != Z_STREAM_END)
        return PETAL_IO;
    *stored = room - stream->avail_out;
    return PETAL_OK;
}

/* One chunk without its length; 0: it failed. */
static size_t
compress_chunk(struct hfile_codec *codec, const void *from, size_t size, uint8_t *to)
{
    size_t stored = chunk_bound(codec->kind, size);

    switch (codec->kind) {
    case PETAL_HFILE_CODEC_LZ4:
        return (size_t)LZ4_compress_fast_extState(codec->compressor, from, (char *)to, (int)size,
                                                  (int)stored, 1);
#ifdef HAVE_ZSTD
    case PETAL_HFILE_CODEC_ZSTD:
        stored = ZSTD_compressCCtx(codec->compressor, to, stored, from, size, ZSTD_LEVEL);
        return ZSTD_isError(stored) ? 0 : stored;
#endif
    default:
        return snappy_compress(from, size, (char *)to, &stored) == SNAPPY_OK ? stored : 0;
    }
}

static enum petal_status
compress_framed(struct hfile_codec *codec, const uint8_t *from, size_t size, uint8_t *to,
                size_t *stored)
{
    size_t most = chunk_bytes(codec->kind), left = size;
    uint8_t *end = to + 4;

    hfile_put_u32(to, (uint32_t)size);
    while (left > 0) {
        size_t part = left < most ? left : most;
        size_t chunk = compress_chunk(codec, from, part, end + 4);

        if (chunk == 0)
            return PETAL_IO;
        hfile_put_u32(end, (uint32_t)chunk);
        end += 4 + chunk;
        from += part;
        left -= part;
    }
    if (size > most) {
        hfile_put_u32(end, 0);
        end += 4;
    }
    *stored = (size_t)(end - to);
    return PETAL_OK;
}

enum petal_status
hfile_codec_compress(struct hfile_codec *codec, const void *from, size_t size, void *to,
                     size_t *stored)
{
    bool needs = false;

    assert(hfile_codec_is_built(codec->kind) && size <= HFILE_MOST_BLOCK_BYTES);
    if (codec->compressor == NULL)
        codec->compressor = compressor_new(codec, &needs);
    if (needs && codec->compressor == NULL)
        return PETAL_NO_MEMORY;
    if (codec->kind == PETAL_HFILE_CODEC_NONE) {
        if (size > 0)
            memcpy(to, from, size);
        *stored = size;
        return PETAL_OK;
    }
    return codec->kind == PETAL_HFILE_CODEC_GZ ? gzip(codec, from, size, to, stored)
                                               : compress_framed(codec, from, size, to, stored);
}

/* ---- Uncompressing -------------------------------------------------------------------------- */

bool
hfile_codec_can_hold(enum petal_hfile_codec kind, uint64_t stored, uint64_t size)
{
    /* Of each format: the most bytes that one stored byte can stand for, rounded up. */
    uint64_t most = kind == PETAL_HFILE_CODEC_NONE     ? 1
                    : kind == PETAL_HFILE_CODEC_LZ4    ? 255
                    : kind == PETAL_HFILE_CODEC_SNAPPY ? 32
                    : kind == PETAL_HFILE_CODEC_GZ     ? 1032
                                                       : 1u << 17;

    return size <= HFILE_MOST_BLOCK_BYTES && size / most <= stored;
}

static enum petal_status
gunzip(struct hfile_codec *codec, const uint8_t *from, size_t stored, uint8_t *to, size_t size,
       const char **wrong)
{
    z_stream *stream = codec->uncompressor;
    uint8_t nowhere;
    int result;

    *wrong = "the gzip data is damaged";
    if (inflateReset(stream) != Z_OK)
        return PETAL_CORRUPT;
    stream->next_in = (Bytef *)(uintptr_t)from;
    stream->avail_in = (uInt)stored;
    stream->next_out = size > 0 ? to : &nowhere;
    stream->avail_out = (uInt)size;
    result = inflate(stream, Z_FINISH);
    if (result == Z_MEM_ERROR)
        return PETAL_NO_MEMORY;
    if (result == Z_BUF_ERROR && stream->avail_out == 0 && stream->avail_in > 0)
        *wrong = "the gzip data holds more than the block's uncompressed size";
    else if (result == Z_BUF_ERROR)
        *wrong = "the gzip data ends too early";
    if (result != Z_STREAM_END)
        return PETAL_CORRUPT;
    *wrong = "the gzip data holds less than the block's uncompressed size";
    if (stream->avail_out > 0)
        return PETAL_CORRUPT;
    *wrong = "something follows the gzip data";
    return stream->avail_in > 0 ? PETAL_CORRUPT : PETAL_OK;
}

/* One chunk, at most *size bytes to `to`; *size becomes how many. */
static bool
uncompress_chunk(struct hfile_codec *codec, const uint8_t *from, size_t stored, uint8_t *to,
                 size_t *size)
{
    int lz4;

    switch (codec->kind) {
    case PETAL_HFILE_CODEC_LZ4:
        lz4 = LZ4_decompress_safe((const char *)from, (char *)to, (int)stored, (int)*size);
        *size = lz4 < 0 ? 0 : (size_t)lz4;
        return lz4 >= 0;
#ifdef HAVE_ZSTD
    case PETAL_HFILE_CODEC_ZSTD:
        *size = ZSTD_decompressDCtx(codec->uncompressor, to, *size, from, stored);
        return !ZSTD_isError(*size);
#endif
    default:
        return snappy_uncompress((const char *)from, stored, (char *)to, size) == SNAPPY_OK;
    }
}

/* All that stands after one uncompressed length, which is `length`. */
static enum petal_status
uncompress_part(struct hfile_codec *codec, const uint8_t **from, const uint8_t *end, uint8_t *to,
                size_t length, const char **wrong)
{
    while (length > 0) {
        size_t stored, size = length;

        *wrong = "the length of a compressed chunk is not there";
        if (end - *from < 4)
            return PETAL_CORRUPT;
        stored = hfile_get_u32(*from);
        *from += 4;
        *wrong = "a compressed chunk is longer than what is left of the block";
        if (stored > (size_t)(end - *from))
            return PETAL_CORRUPT;
        *wrong = "a compressed chunk is damaged, or holds more than the block's uncompressed size";
        if (stored == 0 || !uncompress_chunk(codec, *from, stored, to, &size))
            return PETAL_CORRUPT;
        *from += stored;
        to += size;
        length -= size;
    }
    return PETAL_OK;
}

static enum petal_status
uncompress_framed(struct hfile_codec *codec, const uint8_t *from, size_t stored, uint8_t *to,
                  size_t size, const char **wrong)
{
    const uint8_t *end = from + stored;
    enum petal_status status;

    while (from < end) {
        size_t length;

        *wrong = "the uncompressed length of a compressed part is cut";
        if (end - from < 4)
            return PETAL_CORRUPT;
        length = hfile_get_u32(from);
        from += 4;
        *wrong = "a compressed part claims more than the block's uncompressed size";
        if (length > size)
            return PETAL_CORRUPT;
        status = uncompress_part(codec, &from, end, to, length, wrong);
        if (status != PETAL_OK)
            return status;
        to += length;
        size -= length;
    }
    *wrong = "the compressed data holds less than the block's uncompressed size";
    return size > 0 ? PETAL_CORRUPT : PETAL_OK;
}

#ifdef HAVE_ZSTD
/* Frames without lengths around them: as a length their magic number would be larger than any. */
static bool
is_bare_zstd(const struct hfile_codec *codec, const uint8_t *from, size_t stored)
{
    return codec->kind == PETAL_HFILE_CODEC_ZSTD && stored >= 4 &&
           memcmp(from, "\x28\xB5\x2F\xFD", 4) == 0;
}
#endif

enum petal_status
hfile_codec_uncompress(struct hfile_codec *codec, const void *from, size_t stored, void *to,
                       size_t size, const char **wrong)
{
    bool needs = false;

    assert(size <= HFILE_MOST_BLOCK_BYTES && stored <= INT32_MAX);
    *wrong = "the library was built without the block's codec";
    if (!hfile_codec_is_built(codec->kind))
        return PETAL_UNSUPPORTED;
    if (codec->uncompressor == NULL)
        codec->uncompressor = uncompressor_new(codec, &needs);
    if (needs && codec->uncompressor == NULL)
        return PETAL_NO_MEMORY;
    if (codec->kind == PETAL_HFILE_CODEC_GZ)
        return gunzip(codec, from, stored, to, size, wrong);
#ifdef HAVE_ZSTD
    if (is_bare_zstd(codec, from, stored)) {
        size_t held = size;

        *wrong = "the zstd data is damaged, or does not hold the block's uncompressed size";
        return uncompress_chunk(codec, from, stored, to, &held) && held == size ? PETAL_OK
                                                                                : PETAL_CORRUPT;
    }
#endif
    if (codec->kind != PETAL_HFILE_CODEC_NONE)
        return uncompress_framed(codec, from, stored, to, size, wrong);
    *wrong = "the block's stored size is not its uncompressed size";
    if (stored != size)
        return PETAL_CORRUPT;
    if (size > 0)
        memcpy(to, from, size);
    return PETAL_OK;
}

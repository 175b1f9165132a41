/*
 * codec.h -- payloads of blocks, compressed as HBase's codecs do it, and back.
 *
 *     GZ      one gzip member, nothing after it
 *     LZ4     repeated: u32 uncompressed length; then, until that many bytes are there: u32 length
 *     SNAPPY  of an independent compressed chunk, the chunk; all integers are big-endian
 *     ZSTD    the same, with frames of zstd as chunks; or bare frames, as Hadoop's own codec has it
 *
 * A writer makes chunks of at most so many bytes as the buffers of Hadoop's codecs have always had
 * room for. Where that makes several, an empty one follows, as HBase writes it.
 *
 * What is stored is somebody else's bytes: reading them stays inside `stored` and `size`, takes
 * time in proportion to these, and no memory.
 */
#ifndef PETAL_HFILE_FORMAT_CODEC_H
#define PETAL_HFILE_FORMAT_CODEC_H

#include "tools/hfile/petal_hfile.h"

/* What a codec needs in addition to the bytes: made when it is first needed. Belongs to one
 * thread at a time. Zero it, with its kind and allocator, to begin with. */
struct hfile_codec {
    enum petal_hfile_codec kind;
    const petal_allocator *allocator;
    void *compressor;
    void *uncompressor;
};

/* Was the library built with it? */
bool hfile_codec_is_built(enum petal_hfile_codec kind);

void hfile_codec_free(struct hfile_codec *codec);

/* The most bytes that `size` bytes are stored in. REQUIRES: size <= HFILE_MOST_BLOCK_BYTES */
size_t hfile_codec_bound(enum petal_hfile_codec kind, size_t size);

/* `to` has room for hfile_codec_bound(size) bytes. PETAL_NO_MEMORY, or PETAL_OK with *stored. */
enum petal_status hfile_codec_compress(struct hfile_codec *codec, const void *from, size_t size,
                                       void *to, size_t *stored);

/*
 * Can `stored` bytes hold `size` uncompressed ones? To be asked before there is memory for them:
 * what a block claims costs no more than a fixed multiple of what is there.
 */
bool hfile_codec_can_hold(enum petal_hfile_codec kind, uint64_t stored, uint64_t size);

/*
 * Exactly `size` bytes to `to` from exactly `stored` bytes. PETAL_NO_MEMORY, or PETAL_CORRUPT with
 * what is wrong in *wrong, fixed text, or PETAL_UNSUPPORTED for a codec that is not built.
 */
enum petal_status hfile_codec_uncompress(struct hfile_codec *codec, const void *from, size_t stored,
                                         void *to, size_t size, const char **wrong);

#endif

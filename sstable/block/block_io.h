/*
 * block_io.h -- blocks as they stand in the file: each in a frame with its kind, sizes and
 * checksum: sstable/FORMAT.md, "Frame".
 *
 * So a block that is damaged, stale, misplaced or from another file does not pass.
 *
 * Threads: a sink belongs to one thread; block_read may be called by any number at once.
 */
#ifndef PETAL_SSTABLE_BLOCK_BLOCK_IO_H
#define PETAL_SSTABLE_BLOCK_BLOCK_IO_H

#include "base/env.h"
#include "sstable/block/file_pool.h"
#include "sstable/block/format.h"

#define BLOCK_FRAME_BYTES 24

enum block_codec { BLOCK_CODEC_RAW = 0, BLOCK_CODEC_LZ4 = 1 };

struct block_frame {
    enum block_kind kind;
    enum block_codec codec;
    uint32_t stored_bytes, raw_bytes;
    uint32_t entries; /* of a node, so that a reader knows the number of hints before it decodes */
};

/* For messages: "data block", "filter chunk", ... */
const char *block_kind_text(enum block_kind kind);

/* ---- writing ---- */

/* A file that is written front to back through a buffer, and synced every few megabytes: the
 * sync at its end is short, and what others sync meanwhile does not wait for all of it. */
struct block_sink {
    const struct env *env;
    struct pooled_file *file; /* borrowed; acquired for each writing */
    const char *path;         /* borrowed */
    uint64_t file_identity;
    uint64_t flushed; /* bytes given to the file */
    uint64_t synced;  /* of them, when the latest sync on the way was made */
    uint8_t *buffer;  /* what follows them */
    size_t used, capacity;
    uint8_t *text; /* of the data block that is compressed */
    size_t text_capacity;
    void *high_state; /* of LZ4HC; NULL: compressed by LZ4 */
};

/*
 * How many bytes are written at once, and how many are synced on the way. Tests make them small
 * before anything is written, so that small files take the steps of large ones.
 */
extern size_t block_sink_bytes, block_sink_sync_bytes;

/* Allocates nothing. */
void block_sink_init(struct block_sink *sink, const struct env *env, struct pooled_file *file,
                     const char *path, uint64_t file_identity);
void block_sink_fini(struct block_sink *sink);

/* Compress by LZ4HC from here on.  On failure (PETAL_NO_MEMORY) nothing has changed. */
enum petal_status block_sink_compress_high(struct block_sink *sink);

static inline uint64_t
block_sink_offset(const struct block_sink *sink)
{
    return sink->flushed + sink->used;
}

/* Append a block in its frame.  `compress`: with LZ4 or LZ4HC, data blocks packed before, if that
 * saves a sixteenth.  `entries`: see above. */
enum petal_status block_sink_append(struct block_sink *sink, enum block_kind kind, petal_slice raw,
                                    uint32_t entries, bool compress, struct block_handle *handle,
                                    petal_error *error);

/* Append bytes as they are. */
enum petal_status block_sink_append_bytes(struct block_sink *sink, petal_slice bytes,
                                          petal_error *error);
enum petal_status block_sink_flush(struct block_sink *sink, petal_error *error);

/* Bytes of memory that the sink has; and flush it and give them back. */
size_t block_sink_memory(const struct block_sink *sink);
enum petal_status block_sink_spill(struct block_sink *sink, petal_error *error);

/* ---- reading ---- */

/* Where blocks are read from. */
struct block_source {
    const struct env *env;
    struct pooled_file *file; /* acquired for each read */
    const char *path;
    uint64_t file_identity;
    uint64_t limit;        /* blocks end at or before it */
    const uint8_t *mapped; /* the file in memory up to the limit, where it is mapped; or NULL */
    const uint8_t *tail;   /* while the file is opened: its end from tail_begin on; or NULL */
    uint64_t tail_begin;
    size_t tail_bytes;
};

/* A frame with its stored bytes in memory, verified. */
struct block_image {
    struct block_frame frame;
    const uint8_t *stored;
    uint8_t *memory; /* NULL: the caller's scratch was large enough, or the bytes are his */
    size_t memory_bytes;
};

/* Can the block be where its handle says?  PETAL_CORRUPT. */
enum petal_status block_handle_check(const struct block_source *source, struct block_handle handle,
                                     enum block_kind kind, petal_error *error);

/* Verify the block at `handle`, whose `bytes` were read; the image points into them.  PETAL_CORRUPT
 * names path and offset. */
enum petal_status block_verify(const struct block_source *source, struct block_handle handle,
                               enum block_kind kind, const uint8_t *bytes,
                               struct block_image *image, petal_error *error);

/*
 * Read and verify the block at `handle`.  Uses `scratch` where it is large enough, else allocates:
 * block_image_fini releases.  PETAL_CORRUPT names path and offset.
 */
enum petal_status block_read(const struct block_source *source, struct block_handle handle,
                             enum block_kind kind, uint8_t *scratch, size_t scratch_bytes,
                             struct block_image *image, petal_error *error);
void block_image_fini(struct block_image *image, const struct block_source *source);

/* Decode into `to` (frame.raw_bytes of them); false when the stored bytes
 * do not give exactly these. */
bool block_image_decode(const struct block_image *image, uint8_t *to);

/* "Its checksum is right, its content malformed": PETAL_CORRUPT. */
enum petal_status block_error_malformed(const struct block_source *source,
                                        struct block_handle handle, enum block_kind kind,
                                        petal_error *error);

enum petal_status block_source_size(const struct block_source *source, uint64_t *size,
                                    petal_error *error);

/* Read `size` bytes, or PETAL_CORRUPT when the file ends before. */
enum petal_status block_source_read(const struct block_source *source, uint64_t offset,
                                    uint8_t *bytes, size_t size, petal_error *error);

/* Begin to read these bytes into the page cache, where the file layer can: a hint. */
void block_source_read_ahead(const struct block_source *source, uint64_t offset, uint64_t size);

/* The frame at `bytes` (BLOCK_FRAME_BYTES) of a file; false if malformed. The checksum is not
 * looked at. */
bool block_frame_decode(struct block_frame *frame, const uint8_t *bytes);

#endif

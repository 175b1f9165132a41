/*
 * output_compression.h -- how the blocks of a new store file are compressed: by the family's
 * COMPRESSION what a flush or a bulk writes, by its COMPRESSION_COMPACT_MAJOR what a compaction of
 * all files does, by COMPRESSION_COMPACT_MINOR what one of some files does; where these say
 * nothing, or name a codec that Petal has not, by COMPRESSION_COMPACT, and then as a flush.
 *
 * LZ4HC is LZ4 by an encoder that looks for longer matches: the same bytes to a reader.
 *
 * Threads: pure.
 */
#ifndef PETAL_ENGINE_STORE_OUTPUT_COMPRESSION_H
#define PETAL_ENGINE_STORE_OUTPUT_COMPRESSION_H

#include "engine/petal.h"
#include "sstable/block/format.h"

struct output_compression {
    enum petal_compression compression;
    bool high; /* with LZ4: LZ4HC */
};

struct output_compression output_compression_of(const petal_family_options *family,
                                                enum file_origin origin);

#endif

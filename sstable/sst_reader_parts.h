/* sst_reader_parts.h -- what sst_reader.c, bloom_reader.c, sst_iter.c and sst_verify.c share:
 * the reader itself. */
#ifndef PETAL_SSTABLE_SST_READER_PARTS_H
#define PETAL_SSTABLE_SST_READER_PARTS_H

#include "sstable/file/facts.h"
#include "sstable/file/sst_file.h"
#include "sstable/file/trailer.h"
#include "sstable/filter/bloom_reader.h"
#include "sstable/sst_reader.h"

/* Opening reads the end of the file at once: this fraction of it, between these. */
#define SST_TAIL_SHARE       32
#define SST_TAIL_LEAST_BYTES 4096
#define SST_TAIL_MOST_BYTES  (96u << 10)

struct sst_reader {
    struct sst_file file;
    struct pooled_file pooled; /* what `file` reads from */
    struct epoch *epoch;
    struct index_tree index;
    struct bloom_reader bloom;
    struct file_facts facts;
    uint8_t *facts_memory; /* what the facts' slices point into */
    size_t facts_memory_bytes;
    struct trailer trailer;
    char *path;
    size_t path_bytes;
    struct bloom_account account; /* of the Bloom filter; this changes, seldom, and: */
    _Atomic(bool) loading;        /* see struct sst_file */
    struct read_around around;
};

#endif

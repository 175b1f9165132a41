/*
 * file.h -- an open HFile: its source, its trailer, and what stands in the load-on-open section,
 * after the last block of the data index:
 *
 *     ROOT_INDEX of data | ROOT_INDEX of meta blocks | FILE_INFO
 *     | [GENERAL_BLOOM_META] | [DELETE_FAMILY_BLOOM_META] | trailer
 *
 * Nothing of it changes while the file is open, so any number of threads may read it.
 */
#ifndef PETAL_HFILE_READER_FILE_H
#define PETAL_HFILE_READER_FILE_H

#include "tools/hfile/format/bloom_meta.h"
#include "tools/hfile/format/encoding.h"
#include "tools/hfile/format/file_info.h"
#include "tools/hfile/format/trailer.h"

#define HFILE_FILTERS 2 /* enum petal_hfile_filter */

struct hfile_filter {
    bool is_there;
    struct hfile_bloom_meta meta;
};

struct petal_hfile {
    const petal_allocator *allocator;
    petal_hfile_source source; /* its name is `name` */
    char *name;
    bool no_checksums, facts_only;

    uint8_t tail[HFILE_TRAILER_BYTES]; /* the trailer's slices lie in it */
    struct hfile_trailer trailer;
    uint64_t trailer_offset;
    enum petal_hfile_codec codec; /* also while it is being opened */
    bool is_index_encoded;        /* facts_only: there are no roots */
    struct hfile_index_block root, meta_root;
    bool has_mid_key;
    struct hfile_mid_key mid_key;
    struct hfile_file_info file_info;
    struct hfile_filter filters[HFILE_FILTERS];

    petal_hfile_info info;
    const struct hfile_encoding *encoding;
    struct hfile_cell_layout layout;
};

/* PETAL_INVALID for a file that was opened for its facts alone, though it cannot be read. */
enum petal_status hfile_check_readable(const petal_hfile *file, petal_error *error);

#endif

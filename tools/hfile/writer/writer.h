/*
 * writer.h -- an HFile that is being written, cell by cell, as HBase's StoreFileWriter writes it:
 *
 *     data blocks, and between them leaves of the index and chunks of filters | user meta blocks
 *     | intermediate index blocks | root of the data index, of the meta index | FILE_INFO
 *     | what describes the filters | trailer
 *
 * A key goes to the filters before the block in front of it is ended: what is full then is written
 * after that block. Memory does not grow with the file, but by an entry for each leaf of the index
 * and each chunk of a filter.
 */
#ifndef PETAL_HFILE_WRITER_WRITER_H
#define PETAL_HFILE_WRITER_WRITER_H

#include "tools/hfile/format/encoding.h"
#include "tools/hfile/writer/bloom_writer.h"
#include "tools/hfile/writer/index_writer.h"
#include "tools/hfile/writer/written_facts.h"

struct petal_hfile_writer {
    petal_hfile_write_options options;
    char *name;               /* the sink's */
    enum petal_status failed; /* PETAL_OK: nothing has */
    bool is_finished;
    struct hfile_block_writer blocks;
    struct hfile_encoder encoder; /* of the data block that is being filled */
    struct hfile_index_writer index;
    struct hfile_bloom_writer general, delete_family;
    struct hfile_buffer bloom_key; /* of ROWCOL */
    /* Serialised. The key of the last cell, and room for the next one's, which take turns; the
     * first one of the block, the last one of the block before, and what separates them. */
    struct hfile_buffer keys[2], first_key, key_before, separator;
    petal_hfile_cell last_cell; /* its key alone, in `keys` */
    unsigned last;              /* of `keys` */
    struct hfile_written_facts facts;
    struct hfile_file_info info, metas; /* entries of the caller's; meta blocks by their names */
    uint64_t first_data_block_offset, last_data_block_offset;
};

/* PETAL_OK, or why nothing can be written any more. */
enum petal_status hfile_writer_check_open(const petal_hfile_writer *writer, petal_error *error);

/* What was written is of no use from now on; returns `status`. */
enum petal_status hfile_writer_fail(petal_hfile_writer *writer, enum petal_status status);

/* REQUIRES: the data block has cells, of which that of `last` is the last. */
enum petal_status hfile_writer_end_block(petal_hfile_writer *writer, petal_error *error);

/* What stands between data blocks, if there is enough of it, or all of it at the end. */
enum petal_status hfile_writer_write_inline(petal_hfile_writer *writer, bool is_end,
                                            petal_error *error);

#endif

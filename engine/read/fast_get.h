/*
 * fast_get.h -- the fast get: of one family, the newest version of one column, or of all columns of
 * the row.
 *
 * Most gets ask no more, of data in which only newer versions hide a version. Then the answer is
 * the greatest put found, and getting there takes little: the row's hash, a key for a memtable that
 * may have the row, nothing for a file until its filter has said that it may. Data that needs more
 * (markers, times to live, ..) is noticed on the way: the get is DECLINED, nothing was answered,
 * and of the statistics nothing is counted but the blocks that it fetched; the general get
 * (engine/read/get.h) takes over what is known by then.
 *
 * petal_get and petal_kv_get try it first. Its steps are declared for engine/read/fast_batch.h,
 * which does several gets at once inside one epoch: fast_get_begin, fast_get_visit_memtables,
 * fast_get_prefetch_blooms; for each fast_get_next_file the search's answer to
 * fast_get_take_from_file; fast_get_answer and fast_get_count.
 */
#ifndef PETAL_ENGINE_READ_FAST_GET_H
#define PETAL_ENGINE_READ_FAST_GET_H

#include "engine/read/get.h"
#include "engine/read/row_merge.h"
#include "engine/rules/point.h"
#include "sstable/filter/bloom_rows.h"
#include "sstable/sst_point.h"

/* What a fast get, or one of its steps, has come to. */
enum fast_status {
    FAST_ANSWERED, /* of a step: go on */
    FAST_DECLINED, /* the question or the data needs the general get */
    FAST_FAILED,   /* a block could not be read: the general get reads it again and says why */
    FAST_NO_MEMORY /* for the answer */
};

/* What a get did to memtables and files, next to its trace. */
struct fast_counts {
    uint32_t memtables_considered, memtables_skipped;
    uint32_t blooms_denied, blooms_passed; /* answers of chunks that a hint led to .. */
    uint32_t slowly_denied;                /* .. and of others, which the trace has, too */
    uint32_t files_read, false_positives;
    uint32_t skipped_found_newer, skipped_row_range, skipped_columns;
};

struct fast_get {
    struct epoch_stay stay; /* first member */
    struct get_start start; /* what a general get takes over; its slot is `stay`'s */
    petal_db *db;
    const struct store_view *store;
    /* The question. */
    petal_family *family;
    petal_slice row, qualifier;
    struct bloom_rows_question question; /* of the row */
    bool whole;                          /* all columns of the row are asked: `qualifier` is none */
    bool all_have_column;                /* so no file is left out for its columns */
    bool keep_out_of_cache;
    bool only_cached; /* what is not in the cache is not read: then it is declined */
    struct sst_private_block *private_block; /* see struct read_context */
    bool answered; /* the filter of the file at hand said that it may have the row */
    /* The greatest put that was found. */
    bool found, found_in_block; /* the latter: it lies in a block, which nothing holds */
    struct version_point point;
    petal_slice value;
    struct row_merge *merge; /* of a whole row's sources; NULL: there is none */
    struct read_trace trace;
    struct fast_counts counts;
};

/* Do the options ask for the newest version of one column of the table, and nothing that the fast
 * get does not know? */
bool fast_get_allows(const petal_table *table, const petal_read_options *options);

/* Ask for a column as of the read point, inside its epoch. */
enum fast_status fast_get_begin(struct fast_get *get, petal_db *db, petal_family *family,
                                petal_slice row, petal_slice qualifier,
                                const struct read_point *point);
enum fast_status fast_get_visit_memtables(struct fast_get *get);
/* Start loading what the files' filters will be asked, so that the cache misses overlap. */
void fast_get_prefetch_blooms(struct fast_get *get);

/* No marker of the file hides a cell, and none of its cells has a time to live of its own. */
static inline bool
fast_get_can_read(const struct file_entry *file)
{
    return file->marker_kinds == 0 && !file->has_ttl;
}

/* Is there a file from *index on that may have the row? *index is the next one (get->answered: by
 * its filter). If fast_get_can_read, take what its search gave before asking for the next. */
bool fast_get_next_file(struct fast_get *get, uint32_t *index);
enum fast_status fast_get_take_from_file(struct fast_get *get, enum sst_point_answer answer,
                                         const struct data_block_put *put);
enum fast_status fast_get_answer(struct fast_get *get, petal_result *result);
/* Update the statistics by what was done. */
void fast_get_count(const struct fast_get *get);

#endif

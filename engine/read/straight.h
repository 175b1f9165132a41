/*
 * straight.h -- the straight way of a get: of one family, the newest version of one column, or of
 * all columns of the row.
 *
 * Most gets ask no more, of data in which nothing but newer versions hides a version. Then the
 * answer is the greatest put that is found, and little is to be made on the way to it: the row's
 * hash, a key for a memtable that may have the row, nothing for a file before its filter has said
 * that it may. What a source has that would need more (markers, times to live, ..) is found out on
 * the way, and the get is DECLINED: nothing was answered or counted, and the general way
 * (engine/read/get.c) does it all.
 *
 * petal_get and petal_kv_get go this way. Its steps are there one by one for whoever does several
 * gets at once inside one stay in the epoch (engine/read/straight_batch.h): straight_begin,
 * straight_visit_memtables, straight_prefetch_blooms; of each straight_next_file what its search
 * gave to straight_take_from_file; straight_answer and straight_count.
 */
#ifndef PETAL_ENGINE_READ_STRAIGHT_H
#define PETAL_ENGINE_READ_STRAIGHT_H

#include "engine/read/row_merge.h"
#include "engine/rules/point.h"
#include "engine/state/db.h"
#include "engine/state/read_point.h"
#include "sstable/bloom_rows.h"
#include "sstable/sst_point.h"

/* What a get did to memtables and files, beside its trace. */
struct straight_counts {
    uint32_t memtables_considered, memtables_skipped;
    uint32_t blooms_denied, blooms_passed; /* answers of chunks that a hint led to .. */
    uint32_t slowly_denied;                /* .. and of others, which the trace has, too */
    uint32_t files_read, false_positives;
    uint32_t skipped_found_newer, skipped_row_range, skipped_columns;
};

struct straight_get {
    struct epoch_stay stay; /* first member */
    petal_db *db;
    struct view *view;
    const struct store_view *store;
    /* The question. */
    petal_family *family;
    petal_slice row, qualifier;
    uint64_t sequence;                   /* the read point */
    uint64_t row_head;                   /* from its first byte on, unlike that of `question` */
    struct bloom_rows_question question; /* of the row */
    bool whole;                          /* all columns of the row are asked: `qualifier` is none */
    bool all_have_column;                /* so no file is left out for its columns */
    bool keep_out_of_cache;
    bool only_cached; /* what is not in the cache is not read: then it is declined */
    struct sst_private_block *private_block; /* see struct read_context */
    bool counted;                            /* it holds a count on the view */
    bool answered; /* the filter of the file at hand said that it may have the row */
    /* The greatest put that was found. */
    bool found, found_in_block; /* the latter: it lies in a block, which nothing holds */
    struct version_point point;
    petal_slice value;
    struct row_merge *merge; /* of a whole row's sources; NULL: there is none */
    struct read_trace trace;
    struct straight_counts counts;
};

/* Do the options ask for the newest version of one column of the table, and nothing that the
 * straight way does not know? */
bool straight_allows(const petal_table *table, const petal_read_options *options);

/* Ask for a column in the view of the read point, inside its epoch. */
bool straight_begin(struct straight_get *get, petal_db *db, petal_family *family, petal_slice row,
                    petal_slice qualifier, const struct read_point *point);
bool straight_visit_memtables(struct straight_get *get);
/* Start loading what the files' filters will be asked, so that the cache misses overlap. */
void straight_prefetch_blooms(struct straight_get *get);

/* No marker of the file hides a cell, and none of its cells has a time to live of its own. */
static inline bool
straight_can_read(const struct file_entry *file)
{
    return file->marker_kinds == 0 && !file->has_ttl;
}

/* The next file from *index on that may have the row (get->answered: by its filter); and, of one
 * that straight_can_read, what searching it gave, before the next is asked for.  False: there is
 * none; declined. */
bool straight_next_file(struct straight_get *get, uint32_t *index);
bool straight_take_from_file(struct straight_get *get, enum sst_point_answer answer,
                             const struct data_block_put *put);
bool straight_answer(struct straight_get *get, petal_result *result);
/* Count what was done. */
void straight_count(const struct straight_get *get);

#endif

/* skip.c -- see engine/read/skip.h. */
#include "engine/read/skip.h"

#include "bloom/hash.h"
#include "engine/read/options.h"
#include "sstable/file/facts.h"

#include <assert.h>

void
skip_begin(const struct skip_question *question, const struct store_view *store)
{
    struct row_collect *collect = question->collect;

    assert(question->row_key != NULL && collect != NULL);
    /* Files keep the type of filter that they were written with, so the family's present type
     * does not decide. */
    for (size_t i = 0; store->column_blooms > 0 && i < collect->column_count; i++) {
        struct collect_column *column = &collect->columns[i];
        petal_slice qualifier = column->key.qualifier;

        column->hash = bloom_hash_column(question->row_hash, qualifier.data, qualifier.size);
    }
}

/* By what was found and by the recorded qualifiers: may the file matter to one of the columns?
 * Sets which of a get's. */
static bool
may_have_columns(const struct skip_question *question, const struct file_entry *file)
{
    bool found_newer = read_may_use(question->options, PETAL_SKIP_FOUND_NEWER);
    bool recorded = read_may_use(question->options, PETAL_SKIP_COLUMNS);
    struct version_point newest = {file->time_max, file->sequence_max};
    struct row_collect *collect = question->collect;
    size_t count = collect != NULL ? collect->column_count : question->qualifier_count;
    bool any = count == 0;

    for (size_t i = 0; collect == NULL && !any && i < count; i++)
        any = !recorded || facts_may_have_qualifier(file->facts, question->qualifiers[i]);
    for (size_t i = 0; collect != NULL && i < count; i++) {
        struct collect_column *column = &collect->columns[i];

        column->asked = !(found_newer && row_collect_column_settled(collect, column, newest)) &&
                        (!recorded || facts_may_have_qualifier(file->facts, column->key.qualifier));
        any = any || column->asked;
    }
    return any;
}

/*
 * By the filter: may the file matter to one of the columns that a get asks, or have family markers
 * of the row? Sets which columns are still asked, and takes from *marker_kinds what it rules out.
 * The filter's account is told what "absent" saves: of one column, without markers to look for, a
 * block. Of several it is known after the last one: where others of the row are read only their
 * own blocks are spared, if the row has as many; where nothing is, it may be that the file does not
 * have the row, so that all of them would have been sought in one block.
 */
static bool
may_have_columns_by_bloom(const struct skip_question *question, const struct file_entry *file,
                          const struct read_context *context, uint32_t *marker_kinds)
{
    struct row_collect *collect = question->collect;
    bool markers = (*marker_kinds & COLLECT_FAMILY_MARKERS) != 0;
    bool one_question = collect->column_count == 1 && !markers;
    uint64_t absent = 0;
    bool any = false;

    assert(collect->column_count > 0);
    for (size_t i = 0; i < collect->column_count; i++) {
        struct collect_column *column = &collect->columns[i];

        if (!column->asked)
            continue;
        column->asked = sst_reader_may_contain_column(file->reader, &column->key, column->hash,
                                                      one_question ? READ_SAVES_BLOCK : 0, context);
        any = any || column->asked;
        absent += !column->asked;
    }
    if (markers && !sst_reader_may_contain_family_marker(
                       file->reader, question->row_key,
                       bloom_hash_family_marker(question->row_hash), 0, context))
        *marker_kinds &= ~COLLECT_FAMILY_MARKERS;
    any = any || (*marker_kinds & COLLECT_FAMILY_MARKERS) != 0;
    if (!one_question && absent > 0) {
        if (!any)
            absent = 1;
        if (!any || file->facts->data_blocks / absent > file->facts->rows)
            sst_reader_bloom_saved(file->reader, absent);
    }
    return any;
}

enum petal_skip
skip_file(const struct skip_question *question, const struct file_entry *file,
          const struct read_context *context, uint32_t *marker_kinds)
{
    const petal_read_options *options = question->options;
    const struct visibility_rules *rules = question->rules;
    struct row_collect *collect = question->collect;

    *marker_kinds = file->marker_kinds;
    assert(context->trace != NULL && context->stay != NULL);
    assert(collect == NULL || question->row_key != NULL);
    if (collect != NULL && read_may_use(options, PETAL_SKIP_FOUND_NEWER) &&
        row_collect_settled(collect, (struct version_point){file->time_max, file->sequence_max}))
        return PETAL_SKIP_FOUND_NEWER;
    if (read_may_use(options, PETAL_SKIP_ROW_RANGE) && skip_by_rows(question, file))
        return PETAL_SKIP_ROW_RANGE;
    /* In the order of writes versions above the range make those in it surplus. */
    if (read_may_use(options, PETAL_SKIP_TIME_RANGE) &&
        (file->time_max < rules->time_min ||
         (file->time_min >= rules->time_limit && !rules->new_version_behavior)))
        return PETAL_SKIP_TIME_RANGE;
    /* MIN_VERSIONS keeps expired versions alive. */
    if (read_may_use(options, PETAL_SKIP_EXPIRED) && rules->min_versions == 0 &&
        file->time_max < rules->oldest_unexpired)
        return PETAL_SKIP_EXPIRED;
    if (!may_have_columns(question, file) && (file->marker_kinds & COLLECT_FAMILY_MARKERS) == 0)
        return PETAL_SKIP_COLUMNS;
    if (read_may_use(options, PETAL_SKIP_BLOOM)) {
        bool may_contain;

        if (question->row_key == NULL)
            may_contain = sst_reader_may_contain_prefix(file->reader, question->beginning, context);
        else if (collect != NULL && collect->column_count > 0 &&
                 facts_has_column_bloom(file->facts))
            may_contain = may_have_columns_by_bloom(question, file, context, marker_kinds);
        else
            may_contain = sst_reader_may_contain_row(file->reader, question->row_key,
                                                     question->row_hash, context);
        if (!may_contain)
            return PETAL_SKIP_BLOOM;
    }
    return PETAL_SKIP_NONE;
}

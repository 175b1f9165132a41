/*
 * skip.h -- why a store file is left out of a read: the one decision, for gets and for scans.
 *
 * A read is cheap by not starting on files. The tests are made from facts that lie side by side in
 * the view, cheapest first; the last one, the Bloom filter, may read a block:
 *
 *     FOUND_NEWER   what was found settles the answer against all that the file can hold; only a
 *                   get of a row knows that
 *     ROW_RANGE     all its rows lie beside those asked
 *     TIME_RANGE    all its timestamps lie beside the time range
 *     EXPIRED       all its cells are past the family's TTL
 *     COLUMNS       it has none of the columns asked, by its recorded qualifiers, and no marker of
 *                   whole families
 *     BLOOM         the filter says so of the row, of what the rows begin with, or of every column
 *                   that is left
 *
 * A reason is used unless the options say that it must not be.
 */
#ifndef PETAL_ENGINE_READ_SKIP_H
#define PETAL_ENGINE_READ_SKIP_H

#include "engine/read/collect.h"
#include "engine/state/view.h"

/* What a read asks of one store. */
struct skip_question {
    const petal_read_options *options;
    const struct visibility_rules *rules;
    petal_slice low, high;        /* the rows asked lie between them, both included; empty: open */
    uint64_t low_head, high_head; /* slice_head of them */
    /* One row is asked: the place of its family markers and its hash. NULL: more than one is. */
    const struct cell_key *row_key;
    uint64_t row_hash;
    petal_slice beginning; /* what all rows asked begin with, as far as it is known */
    /* The columns asked: a get's are those that it collects, a scan's have their qualifiers
     * here. */
    struct row_collect *collect; /* NULL: a scan */
    const petal_slice *qualifiers;
    size_t qualifier_count; /* 0: all columns */
};

/* Before the files of a store are decided about: make what several filters are asked with, and
 * overlap the cache misses of asking them. EPOCH. */
void skip_begin(const struct skip_question *question, const struct store_view *store);

/*
 * The reason, or PETAL_SKIP_NONE. Of a get it then says what is asked of the file: `asked` of each
 * of its columns, and in *marker_kinds which markers the file may have for the row. The context's
 * trace counts what asking did. EPOCH.
 */
enum petal_skip skip_file(const struct skip_question *question, const struct file_entry *file,
                          const struct read_context *context, uint32_t *marker_kinds);

/* Do all the file's rows lie beside those asked? */
static inline bool
skip_by_rows(const struct skip_question *question, const struct file_entry *file)
{
    if (question->low_head > file->row_max_head || question->high_head < file->row_min_head)
        return true;
    return (question->low_head == file->row_max_head &&
            slice_compare(question->low, file->facts->row_max) > 0) ||
           (question->high_head == file->row_min_head && question->high.size > 0 &&
            slice_compare(question->high, file->facts->row_min) < 0);
}

#endif

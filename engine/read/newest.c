/* newest.c -- see newest.h. */
#include "engine/read/newest.h"

#include "base/slice.h"
#include "engine/read/options.h"
#include "engine/read/skip.h"

#include <assert.h>

/* Longer keys take memory. */
#define SHORT_KEY_BYTES 512

struct search {
    const struct newest_question *question;
    petal_db *db;
    uint8_t *key; /* memory for the key of a seek */
    int64_t newest;
    petal_error *error;
};

static bool
is_in_row(const struct search *search, const struct cell_iter *iter)
{
    return iter->valid && slice_equal(iter->cell.row, search->question->row);
}

/* Cells that count have greater timestamps than this. */
static int64_t
known(const struct search *search)
{
    int64_t below = search->question->time_min - 1;

    return search->newest > below ? search->newest : below;
}

static void
take(struct search *search, const struct cell *cell)
{
    assert(cell->timestamp <= search->question->time_max);
    if (cell->timestamp > known(search))
        search->newest = cell->timestamp;
}

/* To the first of the column's cells, of the row's family markers, that is not too late. */
static enum petal_status
seek(struct search *search, struct cell_iter *iter, petal_slice qualifier, bool family_markers)
{
    struct cell_key key;

    cell_key_make(&key, search->key, search->question->row, qualifier, family_markers,
                  search->question->time_max, CELL_SEQUENCE_MAX);
    return iter->ops->seek(iter, &key, search->error);
}

/* The newest cell of any column, of a source where none that counts is above `most`. */
static enum petal_status
search_columns(struct search *search, struct cell_iter *iter, int64_t most)
{
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && known(search) < most && is_in_row(search, iter)) {
        if (iter->cell.timestamp <= search->question->time_max)
            take(search, &iter->cell);
        status = iter->ops->next(iter, search->error);
    }
    return status;
}

/* `time_max` is the source's. */
static enum petal_status
search_source(struct search *search, struct cell_iter *iter, int64_t time_max)
{
    const struct newest_question *question = search->question;
    petal_slice qualifier = question->qualifier, none = {NULL, 0};
    int64_t most = time_max < question->time_max ? time_max : question->time_max;
    enum petal_status status = seek(search, iter, none, true);

    if (status == PETAL_OK && is_in_row(search, iter) && cell_is_family_marker(iter->cell.type))
        take(search, &iter->cell);
    if (status == PETAL_OK && question->whole_row)
        return search_columns(search, iter, most);
    if (status == PETAL_OK && is_in_row(search, iter))
        status = seek(search, iter, qualifier, false);
    if (status == PETAL_OK && is_in_row(search, iter) &&
        slice_equal(iter->cell.qualifier, qualifier))
        take(search, &iter->cell);
    return status;
}

static enum petal_status
search_memtable(struct search *search, const struct memtable *memtable)
{
    int64_t time_max = memtable_time_max(memtable);
    struct memtable_iter iter;
    enum petal_status status;

    if (time_max <= known(search) ||
        !memtable_may_contain_row(memtable, search->question->row_hash))
        return PETAL_OK;
    memtable_iter_init(&iter, memtable);
    status = search_source(search, &iter.iter, time_max);
    iter.iter.ops->close(&iter.iter);
    return status;
}

static enum petal_status
search_memtables(struct search *search, const struct store_view *store)
{
    const struct memtable *own = search->question->own;
    enum petal_status status = own != NULL ? search_memtable(search, own) : PETAL_OK;

    for (uint32_t i = 0; status == PETAL_OK && i < store->memtable_count; i++)
        status = search_memtable(search, store->memtables[i]->memtable);
    return status;
}

/* Can the file matter? As a read of what is later than what was found asks it. */
static bool
may_matter(const struct search *search, const struct file_entry *file, struct read_trace *trace)
{
    const struct newest_question *asked = search->question;
    uint64_t head = slice_head(asked->row, 0);
    struct epoch_stay stay = {.epoch = search->db->epoch};
    struct read_context context = {.trace = trace, .stay = &stay};
    struct visibility_rules rules = {
        .time_min = known(search) + 1, .time_limit = INT64_MAX, .oldest_unexpired = INT64_MIN};
    struct cell_key key;
    struct skip_question question = {.options = &(petal_read_options){0},
                                     .rules = &rules,
                                     .low = asked->row,
                                     .high = asked->row,
                                     .low_head = head,
                                     .high_head = head,
                                     .row_key = &key,
                                     .row_hash = asked->row_hash,
                                     .qualifiers = &asked->qualifier,
                                     .qualifier_count = !asked->whole_row};
    bool matters;

    cell_key_make(&key, search->key, asked->row, slice_make(NULL, 0), true, INT64_MAX,
                  CELL_SEQUENCE_MAX);
    stay.slot = epoch_enter(stay.epoch);
    matters = skip_file(&question, file, &context, &(uint32_t){0}) == PETAL_SKIP_NONE;
    epoch_leave(stay.epoch, stay.slot);
    return matters;
}

static enum petal_status
search_files(struct search *search, const struct store_view *store)
{
    enum petal_status status = PETAL_OK;

    for (uint32_t i = 0; status == PETAL_OK && i < store->file_count; i++) {
        const struct file_entry *file = &store->files[i];
        struct read_trace trace = {0};
        struct read_context context = {.trace = &trace};
        struct sst_iter iter;

        if (!may_matter(search, file, &trace))
            continue;
        store_file_iter_init(&iter, file->file, &context, false, false);
        status = search_source(search, &iter.iter, file->time_max);
        iter.iter.ops->close(&iter.iter);
    }
    return status;
}

enum petal_status
read_newest(const struct newest_question *question, int64_t *newest, petal_error *error)
{
    petal_db *db = question->family->table->db;
    size_t bytes = cell_key_bound(question->row.size, question->qualifier.size);
    uint8_t short_key[SHORT_KEY_BYTES];
    struct search search = {question, db, short_key, NEWEST_NONE, error};
    const struct region_store *region;
    struct read_pin pin;
    enum petal_status status;

    assert(question->time_min >= 0);
    *newest = NEWEST_NONE;
    if (bytes > sizeof short_key) {
        search.key = mem_alloc(db->env.allocator, bytes);
        if (search.key == NULL)
            return error_no_memory(error);
    }
    pin = read_pin(db, NULL);
    region =
        view_row_region(pin.view, question->family, slice_head(question->row, 0), question->row);
    status = region != NULL ? search_memtables(&search, region->view) : PETAL_OK;
    if (status == PETAL_OK && region != NULL)
        status = search_files(&search, region->view);
    view_unref(pin.view);
    if (search.key != short_key)
        mem_free(db->env.allocator, search.key, bytes);
    *newest = search.newest;
    return status;
}

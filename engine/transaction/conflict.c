/*
 * conflict.c -- see conflict.h. Sequences tell: a cell keeps its own as long as a registered
 * snapshot is older than it, and a file knows the greatest of its cells.
 */
#include "engine/transaction/conflict.h"

#include "bloom/hash.h"
#include "engine/state/read_point.h"

struct search {
    const struct own_range *range;
    uint64_t since;
    bool one_row;
    uint64_t row_hash; /* of it */
    bool leads;
    struct cell_key key; /* of the first place in the range, unless that is open */
    petal_error *error;
};

static enum petal_status
refuse(const struct search *search, petal_slice row)
{
    char quoted_row[160], quoted_table[160];

    return error_set(
        search->error, PETAL_CONFLICT,
        "row %s of table %s was written to since the transaction began; nothing of it is written",
        error_quote(row, quoted_row, sizeof quoted_row),
        error_quote(search->range->table->name, quoted_table, sizeof quoted_table));
}

static bool
is_behind(const struct own_range *range, petal_slice row)
{
    return range->high.size > 0 && slice_compare(row, range->high) >= !range->excludes_high;
}

static enum petal_status
search_source(const struct search *search, struct cell_iter *iter)
{
    const struct own_range *range = search->range;
    enum petal_status status = range->low.size > 0
                                   ? iter->ops->seek(iter, &search->key, search->error)
                                   : iter->ops->seek_first(iter, search->error);

    while (status == PETAL_OK && iter->valid && !is_behind(range, iter->cell.row)) {
        if (iter->cell.sequence > search->since &&
            !(range->excludes_low && slice_equal(iter->cell.row, range->low)))
            return refuse(search, iter->cell.row);
        status = iter->ops->next(iter, search->error);
    }
    return status;
}

/* May the memtable have cells of the range that are new? Its facts are the writer's. */
static bool
memtable_matters(const struct search *search, const struct memtable *memtable)
{
    struct memtable_facts facts;

    if (search->one_row && !memtable_may_contain_row(memtable, search->row_hash))
        return false;
    if (!search->leads)
        return true;
    memtable_facts(memtable, &facts);
    return facts.sequence_max > search->since;
}

static bool
file_matters(const struct search *search, const struct file_entry *file)
{
    const struct own_range *range = search->range;

    return file->sequence_max > search->since &&
           (range->high.size == 0 || file->row_min_head <= slice_head(range->high, 0)) &&
           (range->low.size == 0 || file->row_max_head >= slice_head(range->low, 0));
}

static enum petal_status
search_store(const struct search *search, const struct store_view *store)
{
    enum petal_status status = PETAL_OK;

    for (uint32_t i = 0; status == PETAL_OK && i < store->memtable_count; i++) {
        const struct memtable *memtable = store->memtables[i]->memtable;
        struct memtable_iter iter;

        if (!memtable_matters(search, memtable))
            continue;
        memtable_iter_init(&iter, memtable);
        status = search_source(search, &iter.iter);
        iter.iter.ops->close(&iter.iter);
    }
    for (uint32_t i = 0; status == PETAL_OK && i < store->file_count; i++) {
        struct read_trace trace = {0};
        struct read_context context = {.trace = &trace};
        struct sst_iter iter;

        if (!file_matters(search, &store->files[i]))
            continue;
        store_file_iter_init(&iter, store->files[i].file, &context, false, false);
        status = search_source(search, &iter.iter);
        iter.iter.ops->close(&iter.iter);
    }
    return status;
}

/* The stores of the regions that have rows of the range. What they share with other regions was
 * written there, too, so that it is a conflict wherever it is found. */
static enum petal_status
search_family(const struct search *search, const struct region_list *list)
{
    const struct own_range *asked = search->range;
    enum petal_status status = PETAL_OK;
    uint32_t first = 0;

    if (list != NULL && asked->low.size > 0)
        first = region_place(list, asked->low);
    for (uint32_t i = first; status == PETAL_OK && list != NULL && i < list->count; i++) {
        if (i > first && is_behind(asked, region_at(list, i)->start))
            break;
        status = search_store(search, region_at(list, i)->view);
    }
    return status;
}

enum petal_status
conflict_check(const struct own_range *range, uint64_t since, bool leads, petal_error *error)
{
    petal_db *db = range->table->db;
    struct search search = {.range = range,
                            .since = since,
                            .one_row = range->low.size > 0 && slice_equal(range->low, range->high),
                            .leads = leads,
                            .error = error};
    size_t bytes = cell_key_bound(range->low.size, 0);
    const struct table_descriptor *descriptor;
    enum petal_status status = PETAL_OK;
    struct read_pin pin;
    uint8_t *buffer;

    if (search.one_row) {
        search.row_hash = bloom_hash_row(db->salt, range->low.data, range->low.size);
        if (leads && row_locks_unchanged(&db->writers.row_locks, search.row_hash, since))
            return PETAL_OK;
    }
    buffer = mem_alloc(db->env.allocator, bytes);
    if (buffer == NULL)
        return error_no_memory(error);
    if (range->low.size > 0)
        cell_key_make(&search.key, buffer, range->low, slice_make(NULL, 0), true, INT64_MAX,
                      CELL_SEQUENCE_MAX);
    pin = read_pin(db, NULL);
    descriptor = table_descriptor(range->table);
    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++)
        status = search_family(&search, view_regions(pin.view, descriptor->families[i]));
    view_unref(pin.view);
    mem_free(db->env.allocator, buffer, bytes);
    return status;
}

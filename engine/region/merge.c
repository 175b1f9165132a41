/* merge.c -- two regions become one; see split.h. */
#include "engine/compact/compactor.h"
#include "engine/flush/flush.h"
#include "engine/region/split.h"
#include "engine/store/change.h"

#include <assert.h>

/* How often files that only one of the regions has are compacted, and the merge tried again. */
#define MOST_TRIES 5

/* A merge at work: the region at `place` is to become a part of the one before it. */
struct merge {
    petal_table *table;
    uint32_t region;
    uint32_t place;
    petal_slice border, start; /* where it begins, and the one before it */
    bool reach; /* a file of one reaches into the other, which has rewritten its rows of it */
    const _Atomic(bool) *give_up; /* compactions before it; NULL: never */
    struct change change;
};

/* ---- files of both ---- */

/* Does the store have each file of the other that reaches beyond the border into it, in the same
 * run? */
static bool
has_those_of(const struct store_view *store, const struct store_view *other, petal_slice border,
             bool is_above)
{
    for (uint32_t i = 0; i < other->file_count; i++) {
        const struct file_facts *facts = other->files[i].facts;
        const struct file_entry *own;
        bool reaches = is_above ? slice_compare(facts->row_max, border) >= 0
                                : slice_compare(facts->row_min, border) < 0;

        if (!reaches)
            continue;
        own = store_view_find_file(store, other->files[i].file);
        if (own == NULL || own->run != other->files[i].run)
            return false;
    }
    return true;
}

/* ---- one family ---- */

/* The family's store of the region at hand, and of the one before it. */
static const struct region_store *
upper_of(const struct merge *merge, const petal_family *family)
{
    return region_at(view_regions(merge->change.current, family), merge->place);
}

static const struct region_store *
lower_of(const struct merge *merge, const petal_family *family)
{
    return region_at(view_regions(merge->change.current, family), merge->place - 1);
}

static bool
shares_all(const struct merge *merge, const petal_family *family)
{
    const struct region_store *upper = upper_of(merge, family), *lower = lower_of(merge, family);

    return has_those_of(upper->view, lower->view, upper->start, true) &&
           has_those_of(lower->view, upper->view, upper->start, false);
}

static void
describe_files(struct merge *merge, const petal_family *family)
{
    const struct region_store *upper = upper_of(merge, family), *lower = lower_of(merge, family);
    const struct manifest *manifest = merge->table->db->manifest;
    const struct manifest_store *store =
        manifest_find_store(manifest, upper->store->region, family->id);
    struct manifest_edit *edit = &merge->change.edit;

    for (size_t i = 0; i < store->file_count; i++) {
        size_t place;

        if (!manifest_find_file(manifest,
                                manifest_find_store(manifest, lower->store->region, family->id),
                                store->files[i].number, &place))
            manifest_edit_add_file(edit, lower->store->region, family->id, &store->files[i]);
    }
    /* All that was written to either is in files. Sequences that a write took and failed with may
     * be given again after an opening. */
    manifest_edit_flushed(
        edit, lower->store->region, family->id,
        atomic_load_explicit(&merge->table->db->views.published_sequence, memory_order_acquire));
}

static enum petal_status
merge_family(struct merge *merge, petal_family *family)
{
    const struct region_list *list = view_regions(merge->change.current, family);
    const struct region_store *upper = upper_of(merge, family), *lower = lower_of(merge, family);
    const struct store_view *const bases[] = {lower->view, upper->view};
    struct store_view *made;
    enum petal_status status;

    assert(lower->view->memtable_count == 1 && upper->view->memtable_count == 1);
    assert(memtable_is_empty(lower->view->memtables[0]->memtable));
    assert(memtable_is_empty(upper->view->memtables[0]->memtable));
    status =
        store_view_of_region(&made, merge->table->db->env.allocator, lower->start,
                             region_end(list, merge->place), lower->view->memtables[0], bases, 2);
    if (status != PETAL_OK)
        return status;
    describe_files(merge, family);
    change_put_store(&merge->change, lower->store, made);
    change_remove_store(&merge->change, upper->store);
    return PETAL_OK;
}

/* ---- the table ---- */

/* Where the region stands. LEADER. */
static enum petal_status
find_region(struct merge *merge, petal_error *error)
{
    const struct table_descriptor *descriptor = table_descriptor(merge->table);
    enum petal_status status = region_check_table(merge->table, error);
    const struct store_map *map;
    char quoted[160];

    if (status != PETAL_OK)
        return status;
    map = &descriptor->families[0]->stores;
    for (size_t i = 1; i < map->count; i++) {
        merge->place = (uint32_t)i;
        merge->border = map->places[i].store->start;
        merge->start = map->places[i - 1].store->start;
        if (map->places[i].store->region == merge->region)
            return PETAL_OK;
    }
    return error_set(error, PETAL_NOT_FOUND, "table %s has no region %u that another one is before",
                     error_quote(merge->table->name, quoted, sizeof quoted), merge->region);
}

/* The upper stores are no more: what has them finds them merged. */
static void
settle(struct merge *merge)
{
    const struct table_descriptor *descriptor = table_descriptor(merge->table);

    for (size_t i = 0; i < descriptor->family_count; i++) {
        struct store *store = upper_of(merge, descriptor->families[i])->store;

        atomic_store_explicit(&store->merged, true, memory_order_release);
        family_hide_store(descriptor->families[i], store);
    }
}

/* REQUIRES: leadership, schema.mutex, nothing of both regions is in memory. */
static enum petal_status
merge_stores(struct merge *merge, petal_error *error)
{
    petal_db *db = merge->table->db;
    const struct table_descriptor *descriptor = table_descriptor(merge->table);
    enum petal_status status = PETAL_OK;

    assert_leads(db);
    change_begin(&merge->change, db, 0);
    merge->reach = false;
    for (size_t i = 0; i < descriptor->family_count; i++)
        merge->reach = merge->reach || !shares_all(merge, descriptor->families[i]);
    for (size_t i = 0; !merge->reach && status == PETAL_OK && i < descriptor->family_count; i++)
        status = merge_family(merge, descriptor->families[i]);
    if (!merge->reach) {
        manifest_edit_drop_region(&merge->change.edit, merge->table->id, merge->region);
        status = status == PETAL_OK ? change_commit(&merge->change, error) : error_no_memory(error);
        if (status == PETAL_OK) {
            settle(merge);
            change_publish(&merge->change);
        }
    }
    change_end(&merge->change);
    return status;
}

static enum petal_status
flush_and_merge(struct merge *merge, petal_error *error)
{
    petal_db *db = merge->table->db;
    struct write_place place;
    enum petal_status status;

    write_lead_alone(&db->writers.queue, &place);
    status = find_region(merge, error);
    if (status == PETAL_OK) {
        const struct store_place *upper =
            &table_descriptor(merge->table)->families[0]->stores.places[merge->place];

        status = flush_region_leading(db, merge->table, upper[-1].store->region, error);
        if (status == PETAL_OK)
            status = flush_region_leading(db, merge->table, merge->region, error);
    }
    if (status == PETAL_OK) {
        mutex_lock(&db->schema.mutex);
        status = merge_stores(merge, error);
        mutex_unlock(&db->schema.mutex);
    }
    write_lead_end(&db->writers.queue, &place);
    db_collect(db);
    return status;
}

/* Rewrite what the two regions share, and so what only one of them has. */
static enum petal_status
compact_both(const struct merge *merge, petal_error *error)
{
    const struct table_descriptor *descriptor = table_descriptor(merge->table);
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++) {
        status = compactor_compact_at(descriptor->families[i], merge->start, merge->give_up, error);
        if (status == PETAL_OK)
            status =
                compactor_compact_at(descriptor->families[i], merge->border, merge->give_up, error);
    }
    return status;
}

enum petal_status
region_merge(petal_table *table, uint32_t lower, uint32_t upper, const _Atomic(bool) *give_up,
             petal_error *error)
{
    struct merge merge = {.table = table, .region = upper, .give_up = give_up};
    enum petal_status status = PETAL_OK;
    char quoted[160];

    for (unsigned i = 0; i < MOST_TRIES; i++) {
        /* Most of it while others may write. */
        status = flush_and_wait(table->db, table, lower, error);
        if (status == PETAL_OK)
            status = flush_and_wait(table->db, table, upper, error);
        if (status == PETAL_OK)
            status = flush_and_merge(&merge, error);
        if (status != PETAL_OK)
            return status;
        if (!merge.reach) {
            env_log(&table->db->env, PETAL_LOG_INFO,
                    "table %s: region %u is a part of the one before it",
                    error_quote(table->name, quoted, sizeof quoted), upper);
            return PETAL_OK;
        }
        status = compact_both(&merge, error);
        if (status != PETAL_OK)
            return status;
    }
    return error_set(error, PETAL_BUSY,
                     "region %u of table %s shares files with others again and again", upper,
                     error_quote(table->name, quoted, sizeof quoted));
}

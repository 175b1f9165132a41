/*
 * alter.c -- petal_table_alter: other attributes, more or fewer families, in one step.
 *
 * Everything that can lack memory is made first: handles and stores of new families, all
 * descriptors, and the view. Then one edit of the manifest decides. Nothing fails after it:
 * families that go are marked dropped, the view and then the descriptors are published. A reader in
 * between sees the old list of families in the new view, where dropped ones have no store, or new
 * attributes of some families and old ones of others.
 */
#include "base/argument.h"
#include "base/sync_point.h"
#include "engine/options.h"
#include "engine/state/db.h"
#include "engine/state/progress.h"
#include "engine/store/change.h"
#include "engine/store/open.h"

/* One family of the altered table. */
struct wanted_family {
    petal_family *family;                 /* a handle that was there, or a new one */
    struct family_descriptor *descriptor; /* for one that was there */
    bool is_new;
};

struct alteration {
    petal_table *table;
    const petal_table_options *options;     /* resolved */
    const struct table_descriptor *present; /* what the table is */
    struct wanted_family *wanted;           /* options->family_count of them */
    size_t new_count;
    struct table_descriptor *descriptor;
    struct change change;
};

/* ---- making everything ---- */

static petal_family *
find_present(const struct alteration *alteration, petal_slice name)
{
    const struct table_descriptor *present = alteration->present;

    for (size_t i = 0; i < present->family_count; i++) {
        if (slice_equal(present->families[i]->name, name))
            return present->families[i];
    }
    return NULL;
}

/* A store of the family for each region of the table. */
static enum petal_status
make_stores(struct alteration *alteration, petal_family *family)
{
    const struct store_map *regions = &alteration->present->families[0]->stores;
    enum petal_status status = PETAL_OK;

    if (!family_reserve_stores(family, regions->count))
        return PETAL_NO_MEMORY;
    for (size_t i = 0; status == PETAL_OK && i < regions->count; i++) {
        const struct store *like = regions->places[i].store;
        struct store *store = store_new(family, like->region, like->split_ms, like->start);
        struct store_view *made;

        if (store == NULL)
            return PETAL_NO_MEMORY;
        family_show_store(family, store);
        status = store_open(store, &(struct manifest_store){.files = NULL},
                            family_store_end(family, i), NULL, false, &made, NULL);
        if (status == PETAL_OK)
            change_put_store(&alteration->change, store, made);
    }
    return status;
}

static enum petal_status
make_new_family(struct alteration *alteration, uint32_t next_id,
                const petal_family_options *options, struct wanted_family *wanted)
{
    petal_db *db = alteration->table->db;
    enum petal_status status;

    wanted->is_new = true;
    wanted->family = family_new(alteration->table, (uint16_t)(next_id + alteration->new_count),
                                db->schema.slot_count + alteration->new_count, options);
    if (wanted->family == NULL)
        return PETAL_NO_MEMORY;
    status = make_stores(alteration, wanted->family);
    alteration->new_count += status == PETAL_OK;
    return status;
}

static enum petal_status
make_families(struct alteration *alteration, uint32_t next_id)
{
    const petal_table_options *options = alteration->options;
    const petal_allocator *allocator = alteration->table->db->env.allocator;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < options->family_count; i++) {
        struct wanted_family *wanted = &alteration->wanted[i];
        const petal_family_options *resolved;

        wanted->family = find_present(alteration, options->families[i].name);
        if (wanted->family == NULL) {
            status = make_new_family(alteration, next_id, &options->families[i], wanted);
        } else {
            wanted->descriptor = family_descriptor_new(&options->families[i], allocator);
            status = wanted->descriptor != NULL ? PETAL_OK : PETAL_NO_MEMORY;
        }
        if (status != PETAL_OK)
            break;
        resolved = wanted->is_new ? family_options(wanted->family) : &wanted->descriptor->options;
        table_descriptor_set(alteration->descriptor, i, wanted->family, resolved);
    }
    return status;
}

static bool
is_wanted(const struct alteration *alteration, const petal_family *family)
{
    for (size_t i = 0; i < alteration->options->family_count; i++) {
        if (alteration->wanted[i].family == family)
            return true;
    }
    return false;
}

/* How many families are new. */
static size_t
count_new(const struct alteration *alteration)
{
    size_t count = 0;

    for (size_t i = 0; i < alteration->options->family_count; i++)
        count += find_present(alteration, alteration->options->families[i].name) == NULL;
    return count;
}

/* REQUIRES: leadership, schema.mutex, and the change has begun. */
static enum petal_status
make_all(struct alteration *alteration, petal_error *error)
{
    petal_table *table = alteration->table;
    petal_db *db = table->db;
    petal_table_options own = *alteration->options;
    size_t count = own.family_count, new_count = count_new(alteration);
    uint32_t next_id = manifest_find_table(db->manifest, table->id)->next_family_id;
    enum petal_status status;

    assert_leads(db);
    assert_held(&db->schema.mutex);
    assert_held(&db->manifest_mutex);
    if (next_id + new_count > UINT16_MAX)
        return error_set(error, PETAL_INVALID,
                         "the table has had %u families and cannot have %zu more; the limit is %d",
                         next_id, new_count, UINT16_MAX);
    own.name = table->name;
    alteration->wanted = mem_zalloc(db->env.allocator, count * sizeof *alteration->wanted);
    alteration->descriptor = table_descriptor_new(&own, count, db->env.allocator);
    if (alteration->wanted == NULL || alteration->descriptor == NULL)
        return error_no_memory(error);
    status = make_families(alteration, next_id);
    if (status != PETAL_OK)
        return error_no_memory(error);
    table_descriptor_sort(alteration->descriptor);
    return PETAL_OK;
}

/* Free what was made and is not in use. */
static void
unmake(struct alteration *alteration)
{
    const petal_allocator *allocator = alteration->table->db->env.allocator;
    size_t count = alteration->options->family_count;

    for (size_t i = 0; alteration->wanted != NULL && i < count; i++) {
        if (alteration->wanted[i].is_new)
            family_free(alteration->wanted[i].family);
        family_descriptor_free(alteration->wanted[i].descriptor, allocator);
    }
    table_descriptor_free(alteration->descriptor, allocator);
}

/* ---- commit ---- */

static enum petal_status
commit(struct alteration *alteration, petal_error *error)
{
    uint32_t id = alteration->table->id;
    const struct table_descriptor *present = alteration->present;
    struct change *change = &alteration->change;

    manifest_edit_alter_table(&change->edit, id, alteration->options);
    for (size_t i = 0; i < present->family_count; i++) {
        if (is_wanted(alteration, present->families[i]))
            continue;
        change_remove_family(change, present->families[i]);
        manifest_edit_drop_family(&change->edit, id, present->families[i]->id);
    }
    for (size_t i = 0; i < alteration->options->family_count; i++) {
        const petal_family_options *options = &alteration->options->families[i];
        const struct wanted_family *wanted = &alteration->wanted[i];

        if (wanted->is_new)
            manifest_edit_create_family(&change->edit, id, wanted->family->id, options);
        else
            manifest_edit_alter_family(&change->edit, id, wanted->family->id, options);
    }
    return change_commit(change, error);
}

/* The view, then the descriptors, take over. REQUIRES: as make_all. */
static void
publish(struct alteration *alteration)
{
    const struct table_descriptor *present = alteration->present;
    petal_table *table = alteration->table;

    assert_held(&table->db->schema.mutex);
    for (size_t i = 0; i < present->family_count; i++) {
        if (!is_wanted(alteration, present->families[i]))
            atomic_store_explicit(&present->families[i]->dropped, true, memory_order_release);
    }
    change_publish(&alteration->change);
    SYNC_POINT("alter:view published");
    table->db->schema.slot_count += alteration->new_count;
    for (size_t i = 0; i < alteration->options->family_count; i++) {
        struct wanted_family *wanted = &alteration->wanted[i];

        if (wanted->is_new) {
            wanted->family->next = table->all_families;
            table->all_families = wanted->family;
        } else {
            family_describe(wanted->family, wanted->descriptor);
        }
    }
    table_describe(table, alteration->descriptor);
}

/* REQUIRES: leadership, schema.mutex. */
static enum petal_status
alter(petal_table *table, const petal_table_options *options, petal_error *error)
{
    petal_db *db = table->db;
    struct alteration alteration = {
        .table = table, .options = options, .present = table_descriptor(table)};
    enum petal_status status;

    change_begin(&alteration.change, db, db->schema.slot_count + count_new(&alteration));
    status = make_all(&alteration, error);
    if (status == PETAL_OK)
        status = commit(&alteration, error);
    if (status == PETAL_OK)
        publish(&alteration);
    else
        unmake(&alteration);
    change_end(&alteration.change);
    mem_free(db->env.allocator, alteration.wanted,
             options->family_count * sizeof *alteration.wanted);
    return status;
}

/* ---- the public call ---- */

static enum petal_status
alter_alone(petal_table *table, const petal_table_options *options, petal_error *error)
{
    petal_db *db = table->db;
    struct write_place place;
    enum petal_status status;

    write_lead_alone(&db->writers.queue, &place);
    mutex_lock(&db->schema.mutex);
    status = table_check_alive(table, error);
    if (status == PETAL_OK)
        status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = alter(table, options, error);
    mutex_unlock(&db->schema.mutex);
    write_lead_end(&db->writers.queue, &place);
    if (status == PETAL_OK)
        progress_tell_grown(&db->progress); /* its regions may have another limit */
    db_collect(db);
    return status;
}

enum petal_status
petal_table_alter(petal_table *table, const petal_table_options *given, petal_error *error)
{
    RETURN_IF_NULL(table, error);
    if (given == NULL)
        return error_null(error, "options"); /* there is no default for families */

    petal_db *db = table->db;
    petal_table_options options;
    petal_family_options *families = NULL;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = options_copy(&options, sizeof options, given, "petal_table_options", error);
    if (status != PETAL_OK)
        return status;
    if (options.name.size > 0 && !slice_equal(options.name, table->name))
        return error_set(error, PETAL_INVALID, "a table keeps its name: it cannot be altered");
    status = table_attributes_check(&options, error);
    if (status == PETAL_OK)
        status = table_resolve_families(db->env.allocator, &options, &families, error);
    if (status == PETAL_OK) {
        options.families = families;
        status = alter_alone(table, &options, error);
    }
    mem_free(db->env.allocator, families, options.family_count * sizeof *families);
    return status;
}

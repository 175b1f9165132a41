/* plan.c -- see plan.h. */
#include "engine/check/plan.h"

#include "base/mem.h"
#include "engine/options.h"
#include "sstable/sst_walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- memory ---- */

/* A copy that lives as long as the plan; empty: no memory. */
static petal_slice
keep_name(struct plan *plan, petal_slice name)
{
    void *copy;

    if (!arena_reserve(&plan->names, arena_record_bytes(name.size)))
        return slice_make(NULL, 0);
    copy = arena_take_record(&plan->names, name.size);
    memcpy(copy, name.data, name.size);
    return slice_make(copy, name.size);
}

static struct plan_table *
add_table(struct plan *plan, uint32_t id)
{
    const petal_allocator *allocator = plan->place->env.allocator;

    if (!number_map_reserve(&plan->by_id, allocator, 1) ||
        !mem_grow_array(allocator, &plan->tables, &plan->table_capacity, plan->table_count,
                        plan->table_count + 1, sizeof *plan->tables))
        return NULL;
    if (id != 0)
        number_map_add(&plan->by_id, id, plan->table_count);
    plan->tables[plan->table_count] = (struct plan_table){.id = id};
    return &plan->tables[plan->table_count++];
}

static struct plan_family *
add_family(struct plan *plan, struct plan_table *table)
{
    if (!mem_grow_array(plan->place->env.allocator, &table->families, &table->family_capacity,
                        table->family_count, table->family_count + 1, sizeof *table->families))
        return NULL;
    table->families[table->family_count] = (struct plan_family){.id = 0};
    return &table->families[table->family_count++];
}

bool
plan_add_file(const struct plan *plan, struct plan_family *family, struct plan_file file)
{
    if (!mem_grow_array(plan->place->env.allocator, &family->files, &family->file_capacity,
                        family->file_count, family->file_count + 1, sizeof *family->files))
        return false;
    family->files[family->file_count++] = file;
    return true;
}

/* ---- by the manifest ---- */

/* What a store does not have of the file may have been rewritten since. */
bool
plan_takes_row(const struct plan *plan, const struct plan_file *file, petal_slice row,
               petal_slice *end)
{
    const struct manifest_store *store;
    petal_slice first_row;
    size_t region, place;

    *end = slice_make(NULL, 0);
    if (file->named == 0)
        return true;
    region = manifest_region_of(file->table, row);
    if (region + 1 < file->table->region_count)
        *end = file->table->regions[region + 1]->start;
    store = &file->family->stores[region];
    if (!manifest_find_file(plan->place->manifest, store, file->named, &place))
        return false;
    first_row = store->files[place].first_row;
    if (slice_compare(row, first_row) >= 0)
        return true;
    if (end->size == 0 || slice_compare(first_row, *end) < 0)
        *end = first_row;
    return false;
}

/* The files of the region's store, but for those that an earlier one has, too. */
static bool
take_store(struct plan *plan, struct plan_family *family, const struct manifest_table *table,
           const struct manifest_family *described, size_t region)
{
    const struct manifest_store *store = &described->stores[region];

    if (plan->place->manifest_whole && store->flushed_sequence > family->flushed)
        family->flushed = store->flushed_sequence;
    for (size_t i = 0; i < store->file_count; i++) {
        const struct manifest_file *file = &store->files[i];

        if (manifest_earlier_has_file(plan->place->manifest, described, region, file->number))
            continue;
        if (!plan_add_file(plan, family,
                           (struct plan_file){.number = file->number,
                                              .identity = file->identity,
                                              .cells = file->cells,
                                              .shift = file->sequence_shift,
                                              .named = file->number,
                                              .table = table,
                                              .family = described}))
            return false;
    }
    return true;
}

static bool
take_family(struct plan *plan, struct plan_table *table, const struct manifest_table *from,
            const struct manifest_family *described)
{
    struct plan_family *family = add_family(plan, table);

    if (family == NULL)
        return false;
    family->options = described->options;
    family->id = described->id;
    family->ahead = described->ahead;
    for (size_t i = 0; i < from->region_count; i++) {
        if (!take_store(plan, family, from, described, i))
            return false;
    }
    return true;
}

uint64_t
plan_flushed(const struct plan *plan, uint32_t table_id, uint16_t family_id, petal_slice row)
{
    const struct place *place = plan->place;
    const struct manifest_table *table =
        place->manifest_whole ? manifest_find_table(place->manifest, table_id) : NULL;
    const struct manifest_family *family =
        table != NULL ? manifest_find_family(table, family_id) : NULL;

    return family != NULL ? family->stores[manifest_region_of(table, row)].flushed_sequence : 0;
}

static bool
take_table(struct plan *plan, const struct manifest_table *described)
{
    struct plan_table *table = add_table(plan, manifest_is_snapshot(described) ? 0 : described->id);

    if (table == NULL)
        return false;
    table->options.name = described->name;
    table->options.durability = described->durability;
    table->options.read_only = described->read_only;
    table->options.attributes = described->attributes;
    table->options.attribute_count = described->attribute_count;
    table->snapshot = described->snapshot;
    for (size_t i = 0; i < described->family_count; i++) {
        if (!take_family(plan, table, described, &described->families[i]))
            return false;
    }
    return true;
}

/* ---- by what store files tell ---- */

/* The first with that id, and that name unless it is NULL; snapshots have none. */
static struct plan_table *
find_table(const struct plan *plan, uint32_t id, const petal_slice *name)
{
    size_t place = 0, first = SIZE_MAX;
    uint64_t at;

    while (number_map_next(&plan->by_id, id, &place, &at)) {
        if (at < first && (name == NULL || slice_equal(plan->tables[at].options.name, *name)))
            first = (size_t)at;
    }
    return first < plan->table_count ? &plan->tables[first] : NULL;
}

static struct plan_family *
find_family(const struct plan_table *table, uint16_t id, const petal_slice *name)
{
    for (size_t i = 0; i < table->family_count; i++) {
        struct plan_family *family = &table->families[i];

        if (family->id == id && (name == NULL || slice_equal(family->options.name, *name)))
            return family;
    }
    return NULL;
}

/* The family of these ids and names; NULL: none. */
static struct plan_family *
find_owned(const struct plan *plan, const struct file_owner *owner)
{
    const struct plan_table *table = find_table(plan, owner->table_id, &owner->table);

    return table != NULL ? find_family(table, owner->family_id, &owner->family) : NULL;
}

static void
tell_guessed(struct place *place, petal_slice table)
{
    petal_error error;

    error_corrupt(
        &error, place->directory.path, 0,
        "%s: a table is made from what store files and logs tell: its attributes, its table "
        "snapshots, and what had been compacted away are not known",
        place->directory.path);
    check_place_tell(place, &(petal_fault){.error = &error, .table = table, .harmless = true});
}

/* The family of these ids and names; it and its table are made if they do not exist, with
 * attributes that keep everything. Others may
 * have the same names until plan_settle_names. NULL: no memory, or invalid names. */
static struct plan_family *
get_family(struct plan *plan, const struct file_owner *owner)
{
    const petal_family_options given = {.name = owner->family, .versions = INT32_MAX};
    struct plan_table *table = find_table(plan, owner->table_id, &owner->table);
    struct plan_family *family = find_owned(plan, owner);
    petal_family_options options;
    petal_slice name;

    if (family != NULL)
        return family;
    if (table_name_check(owner->table, NULL) != PETAL_OK ||
        family_options_resolve(&options, &given, NULL) != PETAL_OK)
        return NULL;
    if (table == NULL) {
        name = keep_name(plan, owner->table);
        table = name.size > 0 ? add_table(plan, owner->table_id) : NULL;
        if (table == NULL)
            return NULL;
        table->options.name = name;
        table->options.durability = PETAL_SYNC_WAL;
        tell_guessed(plan->place, name);
    }
    name = keep_name(plan, owner->family);
    family = name.size > 0 ? add_family(plan, table) : NULL;
    if (family == NULL)
        return NULL;
    family->options = options;
    family->options.name = name;
    family->id = owner->family_id;
    return family;
}

/* Names for what has none: salvaged-NUMBER. */
static struct plan_family *
get_nameless(struct plan *plan, const char *kind, uint64_t number, uint32_t table_id,
             uint16_t family_id)
{
    char table[64], family[32];

    (void)snprintf(table, sizeof table, "salvaged-%s%06" PRIu64, kind, number);
    (void)snprintf(family, sizeof family, "family-%u", family_id);
    return get_family(plan, &(struct file_owner){table_id, family_id, slice_from_text(table),
                                                 slice_from_text(family)});
}

/* Did the manifest know the table or family once, and does no longer? */
static bool
was_dropped(const struct place *place, uint32_t table_id, uint16_t family_id)
{
    const struct manifest_table *table;

    if (!place->manifest_whole && !place->manifest_cut)
        return false;
    table = manifest_find_table(place->manifest, table_id);
    if (table == NULL)
        return place->manifest_whole || table_id < place->manifest->next_table_id;
    return manifest_find_family(table, family_id) == NULL &&
           (place->manifest_whole || family_id < table->next_family_id);
}

static bool
misses_file(const struct plan *plan, const struct plan_family *family)
{
    for (size_t i = 0; i < family->file_count; i++) {
        if (check_place_find(plan->place, FILENAME_STORE_FILE, family->files[i].number) == NULL)
            return true;
    }
    return false;
}

/*
 * A file that a whole manifest does not name is an output of an incomplete job, or an input of a
 * completed one. It is adopted if all its cells are newer than the flushed ones, as of a flush
 * before its commit; or if files that the manifest names are missing, which may have been compacted
 * into it. A file of a bulk is not: the bulk was not committed, and enters whole or not at all.
 */
static bool
is_newer(const struct plan *plan, const struct plan_family *family, const struct file_facts *facts)
{
    return facts->origin != FILE_ORIGIN_BULK &&
           (facts->sequence_min > family->flushed || misses_file(plan, family));
}

/* A link of one that is there already is passed over. */
static enum petal_status
adopt_file(const struct plan *plan, struct plan_family *family, const struct sst_walk *walk,
           uint64_t number, petal_error *error)
{
    uint64_t stated = sst_walk_stated_shift(walk);
    struct plan_file file = {.number = number,
                             .identity = sst_walk_identity(walk),
                             .shift = stated > 0 && stated < CELL_SEQUENCE_END ? stated - 1 : 0};

    for (size_t i = 0; i < family->file_count; i++) {
        if (family->files[i].identity == file.identity)
            return PETAL_OK;
    }
    return plan_add_file(plan, family, file) ? PETAL_OK : error_no_memory(error);
}

static enum petal_status
adopt_by_facts(struct plan *plan, const struct place_file *file, const struct sst_walk *walk,
               petal_error *error)
{
    const struct file_facts *facts = sst_walk_facts(walk);
    const struct file_owner *owner = facts != NULL ? &facts->owner : NULL;
    struct plan_family *family = NULL;

    if (owner != NULL && owner->table.size == 0)
        owner = NULL;
    if (plan->place->manifest_whole) {
        family = owner != NULL ? find_owned(plan, owner) : NULL;
        if (family == NULL || !is_newer(plan, family, facts))
            return PETAL_OK;
    } else if (owner != NULL) {
        if (was_dropped(plan->place, owner->table_id, owner->family_id))
            return PETAL_OK;
        family = get_family(plan, owner);
    }
    if (family == NULL)
        family = get_nameless(plan, "", file->number, 0, 0);
    return family != NULL ? adopt_file(plan, family, walk, file->number, error)
                          : error_no_memory(error);
}

/* A store file that the manifest does not name. */
static enum petal_status
adopt(struct plan *plan, struct place_file *file, petal_error *error)
{
    struct place *place = plan->place;
    const struct sst_walk_options options = {.pool = &place->pool};
    char path[PETAL_PATH_BYTES];
    struct sst_walk *walk;
    petal_error cause;
    enum petal_status status;

    filename_store_file(path, place->directory.path, file->number);
    status = sst_walk_open(&walk, &place->directory, path, &options, &cause);
    if (status != PETAL_OK && check_place_wants(&cause, error))
        return status;
    if (status == PETAL_OK) {
        file->identity = sst_walk_identity(walk);
        if (sst_walk_reader(walk, &cause) != NULL || !place->manifest_whole) {
            status = adopt_by_facts(plan, file, walk, error);
            sst_walk_close(walk);
            return status;
        }
        sst_walk_close(walk);
    }
    /* One that a whole manifest does not name may be torn, left by an incomplete job. */
    if (!place->manifest_whole || cause.status == PETAL_IO)
        check_place_tell_error(place, &cause, file->bytes, false);
    return PETAL_OK;
}

/* ---- all ---- */

void
plan_init(struct plan *plan, struct place *place)
{
    *plan = (struct plan){.place = place};
    arena_init(&plan->names, place->env.allocator);
}

enum petal_status
plan_make(struct plan *plan, petal_error *error)
{
    struct place *place = plan->place;
    const struct manifest *manifest = place->manifest;
    enum petal_status status = PETAL_OK;

    /* Snapshots first, and so the least ids: if the new manifest is lost in turn, the table of
     * the greatest id keeps the name that they share. */
    for (int is_table = 0; manifest != NULL && is_table < 2; is_table++) {
        for (size_t i = 0; i < manifest->table_count; i++) {
            if (manifest_is_snapshot(manifest->tables[i]) != (is_table == 1) &&
                !take_table(plan, manifest->tables[i]))
                return error_no_memory(error);
        }
    }
    for (size_t i = 0; status == PETAL_OK && i < place->file_count; i++) {
        if (place->files[i].kind == FILENAME_STORE_FILE && place->files[i].named == NULL)
            status = adopt(plan, &place->files[i], error);
    }
    return status == PETAL_OK ? plan_settle_names(plan, error) : status;
}

void
plan_fini(struct plan *plan)
{
    const petal_allocator *allocator = plan->place->env.allocator;

    for (size_t t = 0; t < plan->table_count; t++) {
        struct plan_table *table = &plan->tables[t];

        for (size_t f = 0; f < table->family_count; f++) {
            struct plan_family *family = &table->families[f];

            memtable_free(family->logged);
            mem_free(allocator, family->files, family->file_capacity * sizeof *family->files);
        }
        mem_free(allocator, table->families, table->family_capacity * sizeof *table->families);
    }
    mem_free(allocator, plan->tables, plan->table_capacity * sizeof *plan->tables);
    arena_fini(&plan->names);
    number_map_fini(&plan->by_id, allocator);
}

enum petal_status
plan_find(struct plan *plan, uint32_t table_id, uint16_t family_id, struct plan_family **family,
          petal_error *error)
{
    struct plan_table *table = find_table(plan, table_id, NULL);
    char name[32];

    *family = table != NULL ? find_family(table, family_id, NULL) : NULL;
    if (*family != NULL || was_dropped(plan->place, table_id, family_id))
        return PETAL_OK;
    (void)snprintf(name, sizeof name, "family-%u", family_id);
    if (table != NULL)
        *family = get_family(plan, &(struct file_owner){table_id, family_id, table->options.name,
                                                        slice_from_text(name)});
    else
        *family = get_nameless(plan, "table-", table_id, table_id, family_id);
    return *family != NULL ? PETAL_OK : error_no_memory(error);
}

/* ---- names used twice ---- */

/* Another table of that name, and not before the one of that id; NULL: none. */
static const struct plan_table *
find_named(const struct plan *plan, petal_slice name, const struct plan_table *but, uint32_t id)
{
    for (size_t t = 0; t < plan->table_count; t++) {
        const struct plan_table *table = &plan->tables[t];

        if (table != but && !plan_is_snapshot(table) && table->id >= id &&
            slice_equal(table->options.name, name))
            return table;
    }
    return NULL;
}

/* Another name for the table, which was made before the one that keeps it. */
static enum petal_status
rename_table(struct plan *plan, struct plan_table *table, petal_error *error)
{
    char name[64], path[PETAL_PATH_BYTES], quoted[80];
    petal_error cause;
    petal_slice kept;

    (void)snprintf(name, sizeof name, "salvaged-table-%06u", table->id);
    for (unsigned i = 2; find_named(plan, slice_from_text(name), table, 0) != NULL; i++)
        (void)snprintf(name, sizeof name, "salvaged-table-%06u-%u", table->id, i);
    kept = keep_name(plan, slice_from_text(name));
    if (kept.size == 0)
        return error_no_memory(error);
    filename_manifest(path, plan->place->directory.path);
    error_corrupt(&cause, path, 0,
                  "there is a later table %s: what store files and logs have of the earlier one is "
                  "table %s",
                  error_quote(table->options.name, quoted, sizeof quoted), name);
    check_place_tell(plan->place, &(petal_fault){.error = &cause, .table = table->options.name});
    table->options.name = kept;
    return PETAL_OK;
}

static enum petal_status
settle_families(struct plan *plan, struct plan_table *table, petal_error *error)
{
    for (size_t i = 0; i < table->family_count; i++) {
        struct plan_family *family = &table->families[i];
        bool earlier = false;
        char name[64];

        for (size_t k = 0; k < table->family_count; k++)
            earlier =
                earlier ||
                (k != i && slice_equal(table->families[k].options.name, family->options.name) &&
                 table->families[k].id >= family->id);
        if (!earlier)
            continue;
        (void)snprintf(name, sizeof name, "family-%u-%zu", family->id, i);
        family->options.name = keep_name(plan, slice_from_text(name));
        if (family->options.name.size == 0)
            return error_no_memory(error);
    }
    return PETAL_OK;
}

enum petal_status
plan_settle_names(struct plan *plan, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t t = 0; !plan->place->manifest_whole && status == PETAL_OK && t < plan->table_count;
         t++) {
        struct plan_table *table = &plan->tables[t];

        if (!plan_is_snapshot(table) &&
            find_named(plan, table->options.name, table, table->id) != NULL)
            status = rename_table(plan, table, error);
        if (status == PETAL_OK)
            status = settle_families(plan, table, error);
    }
    return status;
}

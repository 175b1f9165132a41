/* table.c -- tables and families: handles, creating, dropping, listing. */
#include "engine/db.h"
#include "engine/options.h"
#include "engine/write.h"

#include <stdlib.h>

/* ---- handles ---- */

static petal_family *
family_new(petal_table *table, uint16_t id, const petal_family_options *options)
{
    petal_db *db = table->db;
    petal_family *family = mem_zalloc(db->env.allocator, sizeof *family + options->name.size);

    if (family == NULL)
        return NULL;
    family->table = table;
    family->id = id;
    family->slot = db->slot_count++;
    family->options = *options;
    memcpy(family + 1, options->name.data, options->name.size);
    family->options.name.data = family + 1;
    return family;
}

void
table_free(petal_table *table)
{
    const petal_allocator *allocator;

    if (table == NULL)
        return;
    allocator = table->db->env.allocator;
    for (size_t i = 0; i < table->family_count; i++) {
        petal_family *family = table->families[i];

        if (family != NULL)
            mem_free(allocator, family, sizeof *family + family->options.name.size);
    }
    mem_free(allocator, table->families, table->family_count * sizeof(petal_family *));
    mem_free(allocator, table, sizeof *table + table->name.size);
}

static int
compare_families(const void *a, const void *b)
{
    return slice_compare((*(petal_family *const *)a)->options.name,
                         (*(petal_family *const *)b)->options.name);
}

enum petal_status
table_attach(petal_db *db, const struct manifest_table *described, petal_table **table)
{
    petal_table *made = mem_zalloc(db->env.allocator, sizeof *made + described->name.size);

    *table = NULL;
    if (made == NULL)
        return PETAL_NO_MEMORY;
    made->db = db;
    made->id = described->id;
    made->durability = described->durability;
    atomic_init(&made->dropped, false);
    memcpy(made + 1, described->name.data, described->name.size);
    made->name = slice_make(made + 1, described->name.size);
    made->families =
        mem_zalloc(db->env.allocator, described->family_count * sizeof(petal_family *));
    if (made->families != NULL)
        made->family_count = described->family_count;
    for (size_t i = 0; i < made->family_count; i++) {
        made->families[i] =
            family_new(made, described->families[i].id, &described->families[i].options);
        if (made->families[i] == NULL) {
            table_free(made);
            return PETAL_NO_MEMORY;
        }
    }
    if (made->families == NULL) {
        table_free(made);
        return PETAL_NO_MEMORY;
    }
    qsort(made->families, made->family_count, sizeof(petal_family *), compare_families);
    made->next = db->tables;
    db->tables = made;
    *table = made;
    return PETAL_OK;
}

petal_table *
table_by_id(petal_db *db, uint32_t id)
{
    petal_table *table = db->tables;

    while (table != NULL && table->id != id)
        table = table->next;
    return table;
}

petal_family *
table_family_by_id(petal_table *table, uint16_t id)
{
    for (size_t i = 0; i < table->family_count; i++) {
        if (table->families[i]->id == id)
            return table->families[i];
    }
    return NULL;
}

static bool
is_dropped(const petal_table *table)
{
    return atomic_load_explicit(&table->dropped, memory_order_acquire);
}

enum petal_status
table_check_alive(const petal_table *table, petal_error *error)
{
    char quoted[160];

    if (!is_dropped(table))
        return PETAL_OK;
    return error_set(error, PETAL_NOT_FOUND, "table %s was dropped",
                     error_quote(table->name, quoted, sizeof quoted));
}

/* The living table of that name. REQUIRES: ddl_mutex held. */
static petal_table *
find_table(petal_db *db, petal_slice name)
{
    for (petal_table *table = db->tables; table != NULL; table = table->next) {
        if (!is_dropped(table) && slice_equal(table->name, name))
            return table;
    }
    return NULL;
}

/* ---- create ---- */

/* Check the options; the resolved families are allocated, their names borrowed. */
static enum petal_status
resolve_families(petal_db *db, const petal_table_options *options, petal_family_options **families,
                 petal_error *error)
{
    petal_family_options *resolved;

    *families = NULL;
    if (options->family_count == 0)
        return error_set(error, PETAL_INVALID, "Table must have at least one column family");
    if (options->family_count > MOST_FAMILIES)
        return error_set(error, PETAL_INVALID, "the table has %zu families; the limit is %d",
                         options->family_count, MOST_FAMILIES);
    resolved = mem_alloc(db->env.allocator, options->family_count * sizeof *resolved);
    if (resolved == NULL)
        return error_no_memory(error);
    *families = resolved;
    for (size_t i = 0; i < options->family_count; i++) {
        enum petal_status status =
            family_options_resolve(&resolved[i], &options->families[i], error);

        if (status != PETAL_OK)
            return status;
        for (size_t k = 0; k < i; k++) {
            char quoted[160];

            if (slice_equal(resolved[k].name, resolved[i].name))
                return error_set(error, PETAL_INVALID, "family %s is given twice",
                                 error_quote(resolved[i].name, quoted, sizeof quoted));
        }
    }
    return PETAL_OK;
}

/* Give each store of the table an empty memtable and a place in the view. REQUIRES: ddl_mutex held. */
static enum petal_status
publish_stores(petal_db *db, petal_table *table)
{
    struct view *current, *view;
    enum petal_status status;

    pthread_mutex_lock(&db->view_mutex);
    current = atomic_load_explicit(&db->view, memory_order_relaxed);
    status = view_new(&view, db->env.allocator, current, db->slot_count);
    for (size_t i = 0; status == PETAL_OK && i < table->family_count; i++) {
        struct store_memtable *memtable;
        struct store_view *store;

        status = store_memtable_new(&memtable, db->env.allocator, db->salt);
        if (status != PETAL_OK)
            break;
        status = store_view_new(&store, db->env.allocator, NULL,
                                &(struct store_change){.add_memtable = memtable});
        store_memtable_unref(memtable);
        if (status == PETAL_OK) {
            table->families[i]->active = memtable;
            view_set_store(view, table->families[i]->slot, store);
        }
    }
    if (status == PETAL_OK)
        db_publish_view(db, view);
    else
        view_unref(view);
    pthread_mutex_unlock(&db->view_mutex);
    return status;
}

static enum petal_status
commit_table(petal_db *db, const petal_table_options *options, uint32_t *id, petal_error *error)
{
    struct manifest_edit edit;
    enum petal_status status;

    pthread_mutex_lock(&db->manifest_mutex);
    *id = db->manifest->next_table_id;
    manifest_edit_init(&edit, db->env.allocator);
    manifest_edit_create_table(&edit, *id, options->name, options->durability, options->families,
                               options->family_count);
    db_edit_counters(db, &edit);
    status = db_commit(db, &edit, error);
    manifest_edit_fini(&edit);
    pthread_mutex_unlock(&db->manifest_mutex);
    return status;
}

/* REQUIRES: ddl_mutex held. */
static enum petal_status
create_table(petal_db *db, const petal_table_options *options, petal_table **table,
             petal_error *error)
{
    const struct manifest_table *described;
    char quoted[160];
    enum petal_status status;
    uint32_t id;

    if (find_table(db, options->name) != NULL)
        return error_set(error, PETAL_EXISTS, "Table already exists: %s!",
                         error_quote(options->name, quoted, sizeof quoted));
    status = commit_table(db, options, &id, error);
    if (status != PETAL_OK)
        return status;
    pthread_mutex_lock(&db->manifest_mutex);
    described = manifest_find_table(db->manifest, id);
    status = described != NULL ? table_attach(db, described, table) : PETAL_NO_MEMORY;
    pthread_mutex_unlock(&db->manifest_mutex);
    if (status == PETAL_OK)
        status = publish_stores(db, *table);
    if (status != PETAL_OK && *table != NULL) {
        /* The table is in the manifest; it can be used when the database is opened again. */
        atomic_store_explicit(&(*table)->dropped, true, memory_order_release);
        *table = NULL;
    }
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}

enum petal_status
petal_table_create(petal_db *db, const petal_table_options *given, petal_table **table,
                   petal_error *error)
{
    petal_table_options options;
    petal_family_options *families = NULL;
    enum petal_status status;

    *table = NULL;
    error_clear(error);
    options_copy(&options, sizeof options, given, given != NULL ? given->size : 0);
    status = table_name_check(options.name, error);
    if (status == PETAL_OK && options.durability > PETAL_FSYNC_WAL)
        status = error_set(error, PETAL_INVALID, "durability is %d; it is 0 to %d",
                           (int)options.durability, (int)PETAL_FSYNC_WAL);
    if (status == PETAL_OK)
        status = resolve_families(db, &options, &families, error);
    if (status == PETAL_OK)
        status = db_check_writable(db, error);
    if (status == PETAL_OK) {
        options.families = families;
        pthread_mutex_lock(&db->ddl_mutex);
        status = create_table(db, &options, table, error);
        pthread_mutex_unlock(&db->ddl_mutex);
    }
    mem_free(db->env.allocator, families, options.family_count * sizeof *families);
    return status;
}

/* ---- drop ---- */

/* Take the table's stores out of the view; their files go with the last reader. */
static enum petal_status
unpublish_stores(petal_db *db, petal_table *table, struct view *view)
{
    pthread_mutex_lock(&db->view_mutex);
    for (size_t i = 0; i < table->family_count; i++) {
        struct store_view *store = view->stores[table->families[i]->slot];

        for (uint32_t k = 0; store != NULL && k < store->file_count; k++)
            atomic_store_explicit(&store->files[k].file->obsolete, true, memory_order_relaxed);
        view_set_store(view, table->families[i]->slot, NULL);
        db->active_bytes -= table->families[i]->active_bytes;
        table->families[i]->active = NULL;
        table->families[i]->active_bytes = 0;
    }
    db_publish_view(db, view);
    pthread_mutex_unlock(&db->view_mutex);
    return PETAL_OK;
}

/* REQUIRES: leadership, ddl_mutex, manifest_mutex. The flush thread changes the view only under manifest_mutex. */
static enum petal_status
drop_table(petal_db *db, petal_table *table, petal_error *error)
{
    struct view *current = atomic_load_explicit(&db->view, memory_order_relaxed);
    struct manifest_edit edit;
    struct view *view;
    enum petal_status status = view_new(&view, db->env.allocator, current, current->store_count);

    manifest_edit_init(&edit, db->env.allocator);
    manifest_edit_drop_table(&edit, table->id);
    db_edit_counters(db, &edit);
    if (status == PETAL_OK)
        status = db_commit(db, &edit, error);
    else
        error_no_memory(error);
    if (status == PETAL_OK) {
        atomic_store_explicit(&table->dropped, true, memory_order_release);
        status = unpublish_stores(db, table, view);
    } else {
        view_unref(view);
    }
    manifest_edit_fini(&edit);
    return status;
}

enum petal_status
petal_table_drop(petal_table *table, petal_error *error)
{
    petal_db *db = table->db;
    struct write_place place;
    enum petal_status status;

    error_clear(error);
    write_lead_alone(db, &place);
    pthread_mutex_lock(&db->ddl_mutex);
    pthread_mutex_lock(&db->manifest_mutex);
    status = table_check_alive(table, error);
    if (status == PETAL_OK)
        status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = drop_table(db, table, error);
    pthread_mutex_unlock(&db->manifest_mutex);
    pthread_mutex_unlock(&db->ddl_mutex);
    write_lead_end(db, &place);
    epoch_collect(db->epoch);
    return status;
}

/* ---- looking up ---- */

enum petal_status
petal_table_open(petal_db *db, petal_slice name, petal_table **table, petal_error *error)
{
    char quoted[160];

    error_clear(error);
    pthread_mutex_lock(&db->ddl_mutex);
    *table = find_table(db, name);
    pthread_mutex_unlock(&db->ddl_mutex);
    if (*table == NULL)
        return error_set(error, PETAL_NOT_FOUND, "Unknown table %s!",
                         error_quote(name, quoted, sizeof quoted));
    return PETAL_OK;
}

static int
compare_tables(const void *a, const void *b)
{
    return slice_compare((*(petal_table *const *)a)->name, (*(petal_table *const *)b)->name);
}

enum petal_status
petal_table_list(petal_db *db, bool (*visit)(void *argument, petal_table *table), void *argument,
                 petal_error *error)
{
    petal_table **tables = NULL;
    size_t count = 0, capacity = 0;
    enum petal_status status = PETAL_OK;

    error_clear(error);
    pthread_mutex_lock(&db->ddl_mutex);
    for (petal_table *table = db->tables; status == PETAL_OK && table != NULL;
         table = table->next) {
        void *array = tables;

        if (is_dropped(table))
            continue;
        if (!mem_grow(db->env.allocator, &array, &capacity, count, count + 1, sizeof *tables))
            status = error_no_memory(error);
        tables = array;
        if (status == PETAL_OK)
            tables[count++] = table;
    }
    pthread_mutex_unlock(&db->ddl_mutex);
    if (count > 0)
        qsort(tables, count, sizeof *tables, compare_tables);
    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        if (!visit(argument, tables[i]))
            break;
    }
    mem_free(db->env.allocator, tables, capacity * sizeof *tables);
    return status;
}

petal_slice
petal_table_name(const petal_table *table)
{
    return table->name;
}

enum petal_durability
petal_table_durability(const petal_table *table)
{
    return table->durability;
}

size_t
petal_table_family_count(const petal_table *table)
{
    return table->family_count;
}

petal_family *
petal_table_family_at(const petal_table *table, size_t index)
{
    return index < table->family_count ? table->families[index] : NULL;
}

enum petal_status
petal_table_family(petal_table *table, petal_slice name, petal_family **family, petal_error *error)
{
    char quoted_family[160], quoted_table[160];

    error_clear(error);
    *family = NULL;
    for (size_t i = 0; i < table->family_count; i++) {
        if (slice_equal(table->families[i]->options.name, name)) {
            *family = table->families[i];
            return PETAL_OK;
        }
    }
    return error_set(error, PETAL_NOT_FOUND, "Column family %s does not exist in table %s",
                     error_quote(name, quoted_family, sizeof quoted_family),
                     error_quote(table->name, quoted_table, sizeof quoted_table));
}

void
petal_family_describe(const petal_family *family, petal_family_options *options)
{
    size_t size =
        options->size == 0 || options->size > sizeof *options ? sizeof *options : options->size;

    memcpy(options, &family->options, size);
    options->size = size;
}

petal_slice
petal_family_name(const petal_family *family)
{
    return family->options.name;
}

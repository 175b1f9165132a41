/* damage.c -- see damage.h. */
#include "engine/state/damage.h"

#include "engine/manifest/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- names ---- */

#define NAME_TEXT_BYTES 60

void
damage_name(const petal_family *family, petal_error *error)
{
    char table[NAME_TEXT_BYTES], name[NAME_TEXT_BYTES], where[48] = "";
    petal_error named;

    if (error == NULL || strstr(error->text, "column family ") != NULL)
        return;
    if (error->offset > 0 && strstr(error->text, "offset") == NULL)
        snprintf(where, sizeof where, " at offset %" PRIu64, error->offset);
    error_file(&named, error->status, error->file, "column family %s of table %s%s: %s",
               error_quote(family->name, name, sizeof name),
               error_quote(family->table->name, table, sizeof table), where, error->text);
    memcpy(error->text, named.text, sizeof error->text);
}

/* Has the store a file of that path? */
static bool
has_file(const struct store_view *store, const char *path)
{
    for (uint32_t i = 0; i < store->file_count; i++) {
        if (strcmp(sst_reader_path(store->files[i].reader), path) == 0)
            return true;
    }
    return false;
}

void
damage_name_file(const petal_table *table, const struct view *view, petal_error *error)
{
    const struct table_descriptor *descriptor = table_descriptor(table);

    if (error == NULL || error->file[0] == '\0')
        return;
    for (size_t i = 0; i < descriptor->family_count; i++) {
        const struct region_list *list = view_regions(view, descriptor->families[i]);

        for (uint32_t k = 0; list != NULL && k < list->count; k++) {
            if (has_file(region_at(list, k)->view, error->file)) {
                damage_name(descriptor->families[i], error);
                return;
            }
        }
    }
}

/* ---- noting ---- */

/* A missing file is damage, and so is a medium that cannot be read. */
static void
call_it_damage(petal_family *family, petal_error *error)
{
    damage_name(family, error);
    if (error->status == PETAL_IO)
        error->status = PETAL_CORRUPT;
}

/* Those before it follow. */
static struct damage *
newest(const struct schema *schema)
{
    return atomic_load_explicit(&schema->damage, memory_order_acquire);
}

static bool
note(petal_family *family, uint64_t number, bool lost, const petal_error *error)
{
    struct schema *schema = family->table->schema;
    struct damage *made = mem_alloc(schema->env->allocator, sizeof *made);

    if (made == NULL)
        return false;
    made->family = family;
    made->number = number;
    made->lost = lost;
    atomic_init(&made->ended, false);
    made->error = *error;
    made->next = newest(schema);
    while (!atomic_compare_exchange_weak_explicit(&schema->damage, &made->next, made,
                                                  memory_order_release, memory_order_acquire))
        continue;
    return true;
}

enum petal_status
damage_note_lost(petal_family *family, uint64_t number, petal_error *cause)
{
    petal_error error = *cause;

    if (error_passes(cause))
        return cause->status;
    call_it_damage(family, &error);
    if (!note(family, number, true, &error))
        return error_no_memory(cause);
    family->unusable = true;
    env_log(family->table->schema->env, PETAL_LOG_ERROR,
            "%s; the column family cannot be used until the file is restored", error.text);
    return PETAL_OK;
}

static bool
is_noted(const struct schema *schema, uint64_t number)
{
    const struct damage *damage = newest(schema);

    while (damage != NULL && damage->number != number)
        damage = damage->next;
    return damage != NULL;
}

bool
damage_note_bad(petal_family *family, struct store_file *const *inputs, size_t count,
                petal_error *error)
{
    const struct schema *schema = family->table->schema;
    struct store_file *unread = NULL;

    if (error_passes(error) || (error->status != PETAL_CORRUPT && error->status != PETAL_IO))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sst_reader_path(inputs[i]->reader), error->file) == 0)
            unread = inputs[i];
    }
    /* Bad cells that no checksum tells of may come from any input. A failure of a file that is none
     * is no damage. */
    if (unread == NULL && error->status != PETAL_CORRUPT)
        return false;
    call_it_damage(family, error);
    for (size_t i = 0; i < count; i++) {
        struct store_file *file = inputs[i];

        /* Without memory the background comes back to it. */
        if ((unread != NULL && file != unread) || is_noted(schema, file->number) ||
            !note(family, file->number, false, error))
            continue;
        atomic_store_explicit(&store_file_whole(file)->bad, true, memory_order_relaxed);
        env_log(schema->env, PETAL_LOG_ERROR,
                "compactions leave this file alone, and older ones of its family: %s", error->text);
    }
    return true;
}

void
damage_end(const struct schema *schema, struct store_file *const *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!store_file_is_bad(files[i]))
            continue;
        for (struct damage *damage = newest(schema); damage != NULL; damage = damage->next) {
            if (damage->number == files[i]->number)
                atomic_store_explicit(&damage->ended, true, memory_order_relaxed);
        }
    }
}

/* ---- asking ---- */

enum petal_status
damage_check(const struct schema *schema, const petal_table *table, const petal_family *family,
             petal_error *error)
{
    for (const struct damage *damage = newest(schema); damage != NULL; damage = damage->next) {
        if (atomic_load_explicit(&damage->ended, memory_order_relaxed) ||
            family_is_dropped(damage->family) || (family != NULL && damage->family != family) ||
            (table != NULL && damage->family->table != table))
            continue;
        return error_copy(error, &damage->error);
    }
    return PETAL_OK;
}

enum petal_status
family_check_writable(const petal_family *family, petal_error *error)
{
    enum petal_status status = family_check_alive(family, error);
    char quoted[160];

    if (status == PETAL_OK && table_options(family->table)->read_only)
        return error_set(error, PETAL_READ_ONLY, "table %s is read-only (READONLY)",
                         error_quote(family->table->name, quoted, sizeof quoted));
    return status == PETAL_OK ? family_check_usable(family, error) : status;
}

/* ---- the end ---- */

void
damage_remove_lost(const petal_family *family)
{
    const struct schema *schema = family->table->schema;

    for (const struct damage *damage = newest(schema); damage != NULL; damage = damage->next) {
        char path[PETAL_PATH_BYTES];
        int failed;

        if (damage->family != family || !damage->lost)
            continue;
        filename_store_file(path, schema->directory->path, damage->number);
        failed = directory_remove(schema->directory, path);
        if (failed != 0 && failed != ENOENT)
            env_log(schema->env, PETAL_LOG_WARNING, "cannot remove dropped file %s: error %d", path,
                    failed);
    }
}

void
damage_free(struct schema *schema)
{
    struct damage *damage = newest(schema);

    while (damage != NULL) {
        struct damage *before = damage->next;

        mem_free(schema->env->allocator, damage, sizeof *damage);
        damage = before;
    }
}

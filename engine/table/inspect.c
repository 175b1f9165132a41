/* inspect.c -- a table's files, their verification and their blocks in the cache; its memory. */
#include "base/argument.h"
#include "bloom/bloom.h"
#include "engine/options.h"
#include "engine/state/db.h"
#include "engine/state/read_point.h"

static enum petal_bloom_kind
kind_of_filter(const struct file_facts *facts)
{
    switch (facts->bloom == PETAL_BLOOM_NONE ? 0 : facts->bloom_layout) {
    case BLOOM_STANDARD:
        return PETAL_BLOOM_KIND_STANDARD;
    case BLOOM_BLOCKED:
        return PETAL_BLOOM_KIND_BLOCKED;
    case BLOOM_RIBBON:
        return PETAL_BLOOM_KIND_RIBBON;
    default:
        return PETAL_BLOOM_KIND_DEFAULT;
    }
}

static petal_file_info
describe_file(const struct store *store, const struct file_entry *file)
{
    const struct file_facts *facts = file->facts;

    return (petal_file_info){
        .family = store->family->name,
        .number = file->file->number,
        .file_bytes = facts->file_bytes,
        .data_bytes = facts->data_bytes,
        .raw_data_bytes = facts->raw_data_bytes,
        .index_bytes = facts->index_bytes,
        .filter_bytes = facts->bloom_bytes,
        .cells = facts->cells,
        .rows = facts->rows,
        .markers = facts->cells - facts->puts,
        .data_blocks = facts->data_blocks,
        .row_min = facts->row_min,
        .row_max = facts->row_max,
        .time_min = facts->time_min,
        .time_max = facts->time_max,
        .sequence_min = facts->sequence_min,
        .sequence_max = facts->sequence_max,
        .bloom = facts->bloom,
        .bloom_error_rate = facts->bloom_error_rate,
        .bloom_keys = facts->bloom_keys,
        .bloom_chunks = facts->bloom_chunks,
        .run = file->run,
        .written_ms = facts->written_ms,
        .bloom_kind = kind_of_filter(facts),
        .of_all_files = facts->origin == FILE_ORIGIN_ALL_FILES,
        .region = store->region,
        .shared = file->shared,
    };
}

enum petal_status
petal_table_files(petal_table *table, bool (*visit)(void *argument, const petal_file_info *file),
                  void *argument, petal_error *error)
{
    RETURN_IF_NULL(table, error);
    RETURN_IF_NULL(visit, error);

    const struct table_descriptor *descriptor = table_descriptor(table);
    struct view *view;
    bool go_on = true, alive;
    enum petal_status status;

    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    view = read_pin_view(table->db);
    status = table_check_alive(table, error); /* a view without its stores tells nothing */
    alive = status == PETAL_OK;
    for (size_t i = 0; alive && go_on && i < descriptor->family_count; i++) {
        const struct region_list *list = view_regions(view, descriptor->families[i]);

        for (uint32_t r = 0; go_on && list != NULL && r < list->count; r++) {
            const struct region_store *region = region_at(list, r);

            for (uint32_t k = 0; go_on && k < region->view->file_count; k++) {
                petal_file_info info = describe_file(region->store, &region->view->files[k]);

                go_on = visit(argument, &info);
            }
        }
        /* The first that is damaged; later ones are visited nevertheless. */
        if (go_on && status == PETAL_OK)
            status = family_check_usable(descriptor->families[i], error);
    }
    view_unref(view);
    return status;
}

uint64_t
petal_table_memtable_bytes(petal_table *table)
{
    const struct table_descriptor *descriptor;
    struct view *view;
    uint64_t bytes = 0;

    if (table == NULL || db_is_of_another_process(table->db))
        return 0;
    descriptor = table_descriptor(table);
    view = read_pin_view(table->db);
    for (size_t i = 0; i < descriptor->family_count; i++) {
        const struct region_list *list = view_regions(view, descriptor->families[i]);

        for (uint32_t k = 0; list != NULL && k < list->count; k++)
            bytes += store_view_memtable_bytes(region_at(list, k)->view);
    }
    view_unref(view);
    return bytes;
}

/* The verification of a table. */
struct table_check {
    const petal_table *table;
    const petal_family *family; /* at hand */
    petal_check_options options;
    uint64_t done, total;
    petal_error first; /* fault; status OK: none */
};

static bool
count_verified(void *argument, uint64_t bytes)
{
    struct table_check *check = argument;
    const petal_check_options *options = &check->options;

    check->done = check->total - check->done > bytes ? check->done + bytes : check->total;
    return options->watch == NULL || options->watch(options->argument, check->done, check->total);
}

static void
tell_fault(void *argument, const struct sst_fault *found)
{
    struct table_check *check = argument;
    petal_fault fault = {.error = found->error,
                         .table = petal_table_name(check->table),
                         .family = check->family->name,
                         .bytes = found->bytes,
                         .has_row_from = found->rows.has_from,
                         .has_row_to = found->rows.has_to,
                         .row_from = found->rows.from,
                         .row_to = found->rows.to};

    if (check->first.status == PETAL_OK)
        check->first = *found->error;
    check->options.fault(check->options.argument, &fault);
}

/* Has a region before the one at `place` the file, too? */
static bool
is_of_earlier(const struct region_list *list, uint32_t place, const struct file_entry *file)
{
    while (place > 0 && slice_compare(file->facts->row_min, region_at(list, place)->start) < 0) {
        const struct store_view *store = region_at(list, --place)->view;

        for (uint32_t k = 0; k < store->file_count; k++) {
            if (store->files[k].file->number == file->file->number)
                return true;
        }
    }
    return false;
}

static uint64_t
bytes_to_verify(const struct view *view, const struct table_descriptor *descriptor)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < descriptor->family_count; i++) {
        const struct region_list *list = view_regions(view, descriptor->families[i]);

        for (uint32_t r = 0; list != NULL && r < list->count; r++) {
            const struct store_view *store = region_at(list, r)->view;

            for (uint32_t k = 0; k < store->file_count; k++) {
                if (!is_of_earlier(list, r, &store->files[k]))
                    bytes += store->files[k].facts->file_bytes;
            }
        }
    }
    return bytes;
}

/* Report what the family has lost, and each of its files, those of several regions once. */
static enum petal_status
verify_family(struct table_check *check, const struct region_list *list, petal_error *error)
{
    bool tells = check->options.fault != NULL;
    const struct sst_watch watch = {
        .go_on = count_verified, .fault = tells ? tell_fault : NULL, .argument = check};
    petal_error lost;
    enum petal_status status = family_check_usable(check->family, tells ? &lost : error);

    if (status != PETAL_OK && tells) {
        tell_fault(check, &(struct sst_fault){.error = &lost});
        status = PETAL_OK;
    }
    for (uint32_t r = 0; status == PETAL_OK && list != NULL && r < list->count; r++) {
        const struct store_view *store = region_at(list, r)->view;

        for (uint32_t k = 0; status == PETAL_OK && k < store->file_count; k++) {
            if (!is_of_earlier(list, r, &store->files[k]))
                status = sst_reader_verify(store->files[k].reader, &watch, error);
        }
    }
    return status;
}

enum petal_status
petal_table_verify(petal_table *table, petal_error *error)
{
    RETURN_IF_NULL(table, error);
    return petal_table_verify_watched(table, NULL, error);
}

enum petal_status
petal_table_verify_watched(petal_table *table, const petal_check_options *options,
                           petal_error *error)
{
    RETURN_IF_NULL(table, error);

    const struct table_descriptor *descriptor = table_descriptor(table);
    struct table_check check = {.table = table};
    struct view *view;
    enum petal_status status;

    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    status =
        options_copy(&check.options, sizeof check.options, options, "petal_check_options", error);
    if (status != PETAL_OK)
        return status;
    view = read_pin_view(table->db);
    status = table_check_alive(table, error); /* a view without its stores tells nothing */
    check.total = bytes_to_verify(view, descriptor);
    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++) {
        check.family = descriptor->families[i];
        status = verify_family(&check, view_regions(view, descriptor->families[i]), error);
    }
    if (status == PETAL_OK && check.first.status != PETAL_OK)
        status = error_copy(error, &check.first);
    if (status != PETAL_OK)
        damage_name_file(table, view, error);
    view_unref(view);
    return status;
}

static uint64_t
cached_blocks(petal_db *db)
{
    struct cache_usage usage;
    uint64_t blocks = 0;

    cache_usage_get(db->cache, &usage);
    for (size_t kind = 0; kind < PETAL_BLOCK_KINDS; kind++)
        blocks += usage.blocks[kind];
    return blocks;
}

struct clearing {
    petal_db *db;
    petal_error *error;
    enum petal_status status;
};

static bool
erase_file(void *argument, const petal_file_info *file)
{
    struct clearing *clearing = argument;

    cache_erase_file(clearing->db->cache, file->number);
    return true;
}

/* A table dropped meanwhile takes its blocks along; a damaged one does not stop the others. Returns
 * the first error. */
static bool
clear_table(void *argument, petal_table *table)
{
    struct clearing *clearing = argument;
    petal_error error;
    enum petal_status status = petal_table_files(table, erase_file, clearing, &error);

    if (status == PETAL_OK || status == PETAL_NOT_FOUND || clearing->status != PETAL_OK)
        return true;
    clearing->status = status;
    error_copy(clearing->error, &error);
    return true;
}

enum petal_status
petal_cache_clear(petal_db *db, petal_table *table, uint64_t *blocks, petal_error *error)
{
    RETURN_IF_NULL(blocks, error);
    *blocks = 0;
    RETURN_IF_NULL(db, error);

    struct clearing clearing = {.db = db, .error = error, .status = PETAL_OK};
    uint64_t before, after;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    before = cached_blocks(db);
    status = table != NULL ? petal_table_files(table, erase_file, &clearing, error)
                           : petal_table_list(db, clear_table, &clearing, error);
    if (status == PETAL_OK)
        status = clearing.status;
    after = cached_blocks(db);
    if (status == PETAL_OK && after < before)
        *blocks = before - after;
    if (status == PETAL_OK)
        error_clear(error);
    return status;
}

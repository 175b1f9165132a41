/* open.c -- see open.h. */
#include "engine/store/open.h"

#include <assert.h>

bool
store_file_is_described(const struct file_facts *facts, const struct manifest_file *described,
                        uint64_t salt)
{
    uint64_t shift = described->sequence_shift;

    return facts->cells == described->cells &&
           facts->sequence_min == described->sequence_min - shift &&
           facts->sequence_max == described->sequence_max - shift &&
           (facts->stated_shift == 0 || facts->stated_shift - 1 == shift) &&
           facts->file_bytes == described->file_bytes &&
           (facts->bloom == PETAL_BLOOM_NONE || facts->salt == salt);
}

void
store_file_describe(struct manifest_file *described, const struct file_facts *facts)
{
    described->file_bytes = facts->file_bytes;
    described->sequence_min = facts->sequence_min;
    described->sequence_max = facts->sequence_max;
    described->cells = facts->cells;
}

enum petal_status
db_open_file(petal_db *db, const petal_family *family, const struct manifest_file *described,
             struct store_file **file, petal_error *error)
{
    struct sst_open_options options = {
        .file_number = described->number,
        .file_identity = described->identity,
        .cache = db->cache,
        .epoch = db->epoch,
        .pool = &db->open_files,
        .readahead_limit = &db->readahead,
        .map = db->map_files,
        .in_memory = family_options(family)->in_memory,
        .no_block_cache = family_options(family)->no_block_cache,
    };
    char path[PETAL_PATH_BYTES];
    struct sst_reader *reader;
    enum petal_status status;

    *file = NULL;
    filename_store_file(path, db->directory.path, described->number);
    status = sst_reader_open(&reader, &db->directory, path, &options, error);
    if (status != PETAL_OK)
        return status;
    if (!store_file_is_described(sst_reader_facts(reader), described, db->salt) ||
        !sst_reader_shift_sequences(reader, described->sequence_shift)) {
        sst_reader_close(reader);
        return error_corrupt(error, path, 0, "%s is not the store file that the manifest describes",
                             path);
    }
    status = store_file_new(file, &db->env, &db->readers, db->cache, reader, described->number,
                            described->run);
    if (status != PETAL_OK)
        return error_no_memory(error);
    (*file)->budget = &db->memory;
    (*file)->charged = sizeof **file + sst_reader_memory(reader);
    memory_budget_files(&db->memory, (int64_t)(*file)->charged);
    return PETAL_OK;
}

/* Is what is open just what is described? */
static bool
is_described_part(const struct store_file *file, const struct manifest_file *described)
{
    petal_slice row_min = store_file_facts(file)->row_min;

    return file->run == described->run &&
           (store_file_is_cut(file) ? slice_equal(row_min, described->first_row)
                                    : described->first_row.size == 0);
}

enum petal_status
db_open_described(petal_db *db, const petal_family *family, const struct manifest_file *described,
                  struct store_file *open, struct store_file **file, petal_error *error)
{
    struct store_file *whole = NULL;
    enum petal_status status = PETAL_OK;

    *file = open;
    if (open != NULL && is_described_part(open, described)) {
        store_file_ref(open);
        return PETAL_OK;
    }
    if (open != NULL)
        store_file_ref(whole = store_file_whole(open));
    else
        status = db_open_file(db, family, described, &whole, error);
    *file = whole;
    if (status != PETAL_OK || is_described_part(whole, described))
        return status;
    status = store_file_part(file, whole, described->run, described->first_row, error);
    store_file_unref(whole);
    return status;
}

/* A memtable in front of files that are open; the store view takes references of its own. */
static enum petal_status
make_view(struct store *store, petal_slice end, struct store_file *const *files, size_t file_count,
          struct store_view **store_view)
{
    const petal_allocator *allocator = store->family->table->db->env.allocator;
    struct store_memtable *memtable;
    enum petal_status status = store_memtable_new(&memtable, allocator);

    assert(store->active == NULL);
    if (status != PETAL_OK)
        return status;
    status = store_view_new(store_view, allocator, NULL,
                            &(struct store_change){.low = store->start,
                                                   .high = end,
                                                   .add_memtable = memtable,
                                                   .add_files = files,
                                                   .add_file_count = file_count});
    store_memtable_unref(memtable);
    if (status == PETAL_OK)
        store->active = memtable;
    return status;
}

/* What is open of the file; NULL: nothing is. */
static struct store_file *
find_open(const struct number_map *open, const struct manifest_file *described)
{
    struct store_file *file = NULL;
    size_t place = 0;
    uint64_t address;

    while (number_map_next(open, described->number, &place, &address)) {
        file = (struct store_file *)(uintptr_t)address;
        if (is_described_part(file, described))
            break;
    }
    return file;
}

static enum petal_status
open_file(struct store *store, const struct manifest_file *described, petal_slice end,
          struct number_map *open, struct store_file **file, petal_error *error)
{
    petal_db *db = store->family->table->db;
    struct store_file *found = find_open(open, described);
    char path[PETAL_PATH_BYTES];
    enum petal_status status;

    if (!number_map_reserve(open, db->env.allocator, 1))
        return error_no_memory(error);
    status = db_open_described(db, store->family, described, found, file, error);
    if (status != PETAL_OK)
        return status;
    if (store_file_has_rows(*file, store->start, end)) {
        if (found == NULL)
            sst_reader_read_ahead((*file)->reader, &db->index_ahead);
        if (found != *file)
            number_map_add(open, described->number, (uint64_t)(uintptr_t)*file);
        return PETAL_OK;
    }
    store_file_unref(*file);
    filename_store_file(path, db->directory.path, described->number);
    return error_corrupt(error, path, 0,
                         "%s has no rows of region %u, which the manifest has it in", path,
                         store->region);
}

enum petal_status
store_open(struct store *store, const struct manifest_store *described, petal_slice end,
           struct number_map *open, bool without_lost, struct store_view **store_view,
           petal_error *error)
{
    petal_family *family = store->family;
    const petal_allocator *allocator = family->table->db->env.allocator;
    size_t count = described->file_count, opened = 0;
    petal_error cause;
    struct store_file **files = NULL;
    enum petal_status status = PETAL_OK;

    if (count > 0) {
        files = mem_zalloc(allocator, count * sizeof *files);
        if (files == NULL)
            return error_no_memory(error);
    }
    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        const struct manifest_file *file = &described->files[i];

        status = open_file(store, file, end, open, &files[opened], &cause);
        opened += status == PETAL_OK;
        if (status != PETAL_OK && without_lost)
            status = damage_note_lost(family, file->number, &cause);
        if (status != PETAL_OK)
            error_copy(error, &cause);
    }
    if (status == PETAL_OK && make_view(store, end, files, opened, store_view) != PETAL_OK)
        status = error_no_memory(error);
    for (size_t i = 0; i < opened; i++)
        family_note_given(family, store_file_facts(files[i])->time_max);
    for (size_t i = 0; i < opened; i++)
        store_file_unref(files[i]);
    mem_free(allocator, files, count * sizeof *files);
    return status;
}

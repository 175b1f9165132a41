/*
 * export.c -- petal_hfile_export: a table's families, one after the other, as files that HBase
 * loads.
 *
 * Files that were made are kept in a list until all is done, so that a failure takes them back.
 */
#include "tools/hfile/exchange/out_file.h"
#include "tools/hfile/exchange/outgoing.h"
#include "tools/hfile/exchange/watching.h"
#include "tools/hfile/format/argument.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/options.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct export
{
    petal_db *db;
    petal_table *table;
    const char *directory;
    petal_hfile_export_options options;
    petal_hfile_write_options file_options; /* of all families */
    petal_hfile_write_options write;        /* of the family at hand */
    petal_hfile_export_counts counts;
    petal_snapshot *own_snapshot;
    const petal_snapshot *snapshot;
    bool made_directory;
    struct hfile_buffer made;    /* paths of folders and files that were made, each ended by 0 */
    struct hfile_buffer regions; /* the rows at which they begin, one after the other .. */
    struct hfile_buffer borders; /* .. and as split keys, petal_slice */
    bool no_memory;              /* for them */
    /* of the family at hand */
    char folder[OUT_FILE_PATH_BYTES];
    bool made_folder;
    struct out_file file;
    bool is_open, file_has_tags;
    size_t next_split;       /* the first split key above the last row */
    struct hfile_buffer row; /* of the last cell */
    uint64_t total_bytes;    /* an estimate */
    struct watching watching;
};

/* ---- What was made, and is taken back after a failure ---------------------------------------- */

static enum petal_status
remember_made(struct export *export, const char *path, petal_error *error)
{
    return hfile_buffer_append(&export->made, path, strlen(path) + 1)
               ? PETAL_OK
               : hfile_error_no_memory(error);
}

/* A folder goes after the files in it, so the last that was made goes first. */
static void
take_back(struct export *export)
{
    size_t end = export->made.size;

    while (end > 0) {
        size_t begin = end - 1;

        while (begin > 0 && export->made.bytes[begin - 1] != '\0')
            begin--;
        (void)remove((const char *)export->made.bytes + begin);
        end = begin;
    }
    if (export->made_directory)
        (void)rmdir(export->directory);
}

/* The directory is made, or is there and holds nothing. */
static enum petal_status
make_directory(struct export *export, petal_error *error)
{
    enum petal_status status = out_folder_make(export->directory, &export->made_directory, error);
    DIR *entries;
    struct dirent *entry;

    if (status != PETAL_OK || export->made_directory)
        return status;
    entries = opendir(export->directory);
    if (entries == NULL)
        return hfile_error_io(error, export->directory, errno, "read");
    errno = 0;
    while ((entry = readdir(entries)) != NULL &&
           (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0))
        ;
    if (entry == NULL && errno != 0)
        status = hfile_error_io(error, export->directory, errno, "read");
    else if (entry != NULL)
        status = hfile_error_set(error, PETAL_EXISTS, export->directory,
                                 "the folder is not empty: it holds '%s'", entry->d_name);
    closedir(entries);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static enum petal_status
begin_file(struct export *export, bool with_tags, petal_error *error)
{
    enum petal_status status;

    if (!export->made_folder) {
        bool made;

        status = out_folder_make(export->folder, &made, error);
        if (status == PETAL_OK && made)
            status = remember_made(export, export->folder, error);
        if (status != PETAL_OK)
            return status;
        export->made_folder = true;
    }
    export->write.with_tags = with_tags;
    status = out_file_begin(&export->file, export->folder, &export->write, error);
    export->is_open = status == PETAL_OK;
    export->file_has_tags = with_tags;
    return status;
}

static enum petal_status
finish_file(struct export *export, petal_error *error)
{
    uint64_t bytes = 0;
    enum petal_status status;

    if (!export->is_open)
        return PETAL_OK;
    export->is_open = false;
    status = out_file_finish(&export->file, &bytes, error);
    if (status == PETAL_OK) {
        export->counts.files++;
        export->counts.file_bytes += bytes;
        status = remember_made(export, export->file.path, error);
        if (status != PETAL_OK)
            (void)unlink(export->file.path);
    }
    return status;
}

/* Does a new file begin with this cell, which is the first of its row? */
static bool
is_cut(struct export *export, petal_slice row)
{
    const petal_hfile_export_options *options = &export->options;
    bool passed = false;

    while (export->next_split < options->split_key_count &&
           hfile_slice_compare(options->split_keys[export->next_split], row) <= 0) {
        export->next_split++;
        passed = true;
    }
    return passed || (options->split_bytes != 0 && export->is_open &&
                      petal_hfile_writer_bytes(export->file.writer) >= options->split_bytes);
}

static enum petal_status
write_cell(struct export *export, const petal_hfile_cell *cell, petal_error *error)
{
    bool needs_tags = cell->tags.size > 0;
    enum petal_status status = PETAL_OK;

    if (!hfile_slice_equal(cell->row, hfile_buffer_slice(&export->row))) {
        hfile_buffer_clear(&export->row);
        if (!hfile_buffer_append_slice(&export->row, cell->row))
            return hfile_error_no_memory(error);
        if (is_cut(export, cell->row))
            status = finish_file(export, error);
    }
    /* Whether cells have tags holds for all of a file. */
    if (status == PETAL_OK && export->is_open && needs_tags && !export->file_has_tags)
        status = finish_file(export, error);
    if (status == PETAL_OK && !export->is_open)
        status = begin_file(export, needs_tags, error);
    if (status == PETAL_OK)
        status = petal_hfile_writer_add(export->file.writer, cell, error);
    if (status == PETAL_OK) {
        export->counts.cells++;
        export->counts.cell_bytes += watching_bytes_of(cell);
    }
    return status;
}

/* ---- Families -------------------------------------------------------------------------------- */

static void
write_like_family(petal_hfile_write_options *write, const petal_family *family)
{
    petal_family_options options = {.size = sizeof options};

    petal_family_describe(family, &options);
    write->block_bytes = options.block_bytes;
    switch (options.bloom) {
    case PETAL_BLOOM_NONE:
        write->bloom = PETAL_HFILE_BLOOM_NONE;
        break;
    case PETAL_BLOOM_ROWCOL:
        write->bloom = PETAL_HFILE_BLOOM_ROWCOL;
        break;
    case PETAL_BLOOM_ROW_PREFIX:
        write->bloom = PETAL_HFILE_BLOOM_ROW_PREFIX;
        write->bloom_prefix_bytes = options.bloom_prefix_bytes;
        break;
    default:
        write->bloom = PETAL_HFILE_BLOOM_ROW;
    }
}

static enum petal_status
set_up_family(struct export *export, const petal_family *family, petal_error *error)
{
    petal_slice name = petal_family_name(family);
    int length = snprintf(export->folder, sizeof export->folder, "%s/%.*s", export->directory,
                          (int)name.size, (const char *)name.data);

    if (length < 0 || (size_t)length >= sizeof export->folder)
        return hfile_error_set(error, PETAL_INVALID, "", "the path of the directory is too long");
    export->write = export->file_options;
    if (export->options.like_family)
        write_like_family(&export->write, family);
    export->write.with_sequences = false;
    export->made_folder = false;
    export->next_split = 0;
    hfile_buffer_clear(&export->row);
    return PETAL_OK;
}

static enum petal_status
given_up(const struct export *export, petal_error *error)
{
    return hfile_error_set(error, PETAL_BUSY, export->directory, "the export was given up");
}

static enum petal_status
export_family(struct export *export, petal_family *family, petal_error *error)
{
    const petal_hfile_export_options *options = &export->options;
    struct outgoing outgoing;
    petal_hfile_cell cell;
    bool more = true;
    enum petal_status status = set_up_family(export, family, error);

    if (status != PETAL_OK)
        return status;
    status = outgoing_open(&outgoing, export->db, export->table, family, export->snapshot,
                           options->visible_only, error);
    if (status != PETAL_OK)
        return status;
    while (status == PETAL_OK && more) {
        status = outgoing_next(&outgoing, &cell, &more, error);
        if (status == PETAL_OK && more)
            status = write_cell(export, &cell, error);
        if (status == PETAL_OK && more &&
            !watching_passes(&export->watching, &cell, export->counts.cell_bytes,
                             export->total_bytes))
            status = given_up(export, error);
    }
    if (status == PETAL_OK)
        status = finish_file(export, error);
    if (status == PETAL_OK && export->made_folder)
        status = out_folder_sync(export->folder, error);
    if (export->is_open)
        out_file_abandon(&export->file);
    export->is_open = false;
    export->counts.moved_markers += outgoing.moved_markers;
    export->counts.left_markers += outgoing.left_markers;
    export->counts.left_puts += outgoing.left_puts;
    outgoing_close(&outgoing);
    return status;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* A file that two regions share is visited for both. */
static bool
add_raw_bytes(void *argument, const petal_file_info *file)
{
    *(uint64_t *)argument += file->shared ? file->raw_data_bytes / 2 : file->raw_data_bytes;
    return true;
}

/* The rows move while they become more, so the slices have no places yet. */
static bool
add_border(void *argument, const petal_region_info *region)
{
    struct export *export = argument;
    petal_slice border = {NULL, region->start.size};

    if (border.size == 0)
        return true;
    export->no_memory = !hfile_buffer_append(&export->regions, region->start.data, border.size) ||
                        !hfile_buffer_append(&export->borders, &border, sizeof border);
    return !export->no_memory;
}

/* The table's own regions are the split keys. */
static enum petal_status
split_by_regions(struct export *export, petal_error *error)
{
    petal_hfile_export_options *options = &export->options;
    enum petal_status status = petal_table_regions(export->table, add_border, export, error);
    const uint8_t *row = export->regions.bytes;
    petal_slice *borders = (void *)export->borders.bytes;

    if (status == PETAL_OK && export->no_memory)
        status = hfile_error_no_memory(error);
    options->split_keys = borders;
    options->split_key_count = export->borders.size / sizeof *borders;
    for (size_t i = 0; i < options->split_key_count; i++) {
        borders[i].data = row;
        row += borders[i].size;
    }
    return status;
}

static enum petal_status
take_options(struct export *export, const petal_hfile_export_options *given, petal_error *error)
{
    petal_hfile_export_options *options = &export->options;
    enum petal_status status =
        hfile_options_take(given, options, sizeof *options, "petal_hfile_export_options", error);

    if (status == PETAL_OK)
        status =
            hfile_options_take(options->file, &export->file_options, sizeof export->file_options,
                               "petal_hfile_write_options", error);
    export->file_options.size = sizeof export->file_options;
    for (size_t i = 1; status == PETAL_OK && i < options->split_key_count; i++) {
        if (hfile_slice_compare(options->split_keys[i - 1], options->split_keys[i]) >= 0)
            status = hfile_error_set(error, PETAL_INVALID, "",
                                     "split key %zu is not greater than the one before it", i + 1);
    }
    return status;
}

enum petal_status
petal_hfile_export(petal_db *db, petal_table *table, const char *directory,
                   const petal_hfile_export_options *options, petal_hfile_export_counts *counts,
                   petal_error *error)
{
    HFILE_RETURN_IF_NULL(db, error);
    HFILE_RETURN_IF_NULL(table, error);
    HFILE_RETURN_IF_NULL(directory, error);

    petal_table_options described = {.size = sizeof described};
    struct export export = {.db = db, .table = table, .directory = directory};
    enum petal_status status;

    hfile_error_clear(error);
    if (counts != NULL)
        *counts = (petal_hfile_export_counts){0};
    if (*directory == '\0')
        return hfile_error_set(error, PETAL_INVALID, "", "the name of the directory is empty");
    status = take_options(&export, options, error);
    if (status != PETAL_OK)
        return status;
    export.watching = (struct watching){export.options.watch, export.options.argument, 0};
    hfile_buffer_init(&export.made, &hfile_default_allocator);
    hfile_buffer_init(&export.row, &hfile_default_allocator);
    hfile_buffer_init(&export.regions, &hfile_default_allocator);
    hfile_buffer_init(&export.borders, &hfile_default_allocator);
    export.snapshot = export.options.snapshot;
    if (export.snapshot == NULL) {
        status = petal_snapshot_new(db, &export.own_snapshot, error);
        export.snapshot = export.own_snapshot;
    }
    if (status == PETAL_OK)
        status = petal_table_files(table, add_raw_bytes, &export.total_bytes, error);
    if (status == PETAL_OK && export.options.split_key_count == 0)
        status = split_by_regions(&export, error);
    export.total_bytes += petal_table_memtable_bytes(table);
    if (status == PETAL_OK)
        status = make_directory(&export, error);
    petal_table_describe(table, &described);
    for (size_t i = 0; status == PETAL_OK && i < described.family_count; i++) {
        export.counts.unordered_families += described.families[i].new_version_behavior;
        status = export_family(&export, petal_table_family_at(table, i), error);
    }
    if (status == PETAL_OK &&
        !watching_asks(&export.watching, export.counts.cell_bytes, export.total_bytes))
        status = given_up(&export, error);
    if (status == PETAL_OK)
        status = out_folder_sync(directory, error);
    if (status != PETAL_OK)
        take_back(&export);
    else if (counts != NULL)
        *counts = export.counts;
    petal_snapshot_free(export.own_snapshot);
    hfile_buffer_free(&export.made);
    hfile_buffer_free(&export.row);
    hfile_buffer_free(&export.regions);
    hfile_buffer_free(&export.borders);
    return status;
}

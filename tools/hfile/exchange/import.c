/* import.c -- HFiles as a table: petal_hfile_set, petal_hfile_import, petal_hfile_import_as. */
#include "tools/hfile/exchange/find.h"
#include "tools/hfile/exchange/incoming.h"
#include "tools/hfile/exchange/watching.h"
#include "tools/hfile/format/argument.h"
#include "tools/hfile/format/buffer.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/options.h"

struct petal_hfile_set {
    struct found_files found;
};

/* ---- Sets ------------------------------------------------------------------------------------ */

enum petal_status
petal_hfile_set_new(petal_hfile_set **set, petal_error *error)
{
    HFILE_RETURN_IF_NULL(set, error);
    hfile_error_clear(error);
    *set = hfile_allocate_zeroed(&hfile_default_allocator, sizeof **set);
    if (*set == NULL)
        return hfile_error_no_memory(error);
    found_init(&(*set)->found);
    return PETAL_OK;
}

void
petal_hfile_set_free(petal_hfile_set *set)
{
    if (set == NULL)
        return;
    found_free(&set->found);
    hfile_release(&hfile_default_allocator, set, sizeof *set);
}

enum petal_status
petal_hfile_set_add(petal_hfile_set *set, const char *path, petal_error *error)
{
    HFILE_RETURN_IF_NULL(set, error);
    HFILE_RETURN_IF_NULL(path, error);
    hfile_error_clear(error);
    return found_add(&set->found, path, error);
}

enum petal_status
petal_hfile_set_describe(petal_hfile_set *set, petal_slice text, const char *name,
                         petal_error *error)
{
    HFILE_RETURN_IF_NULL(set, error);
    HFILE_RETURN_IF_NO_BYTES(text, error);
    HFILE_RETURN_IF_NULL(name, error);

    enum petal_status status;

    hfile_error_clear(error);
    status = descriptor_parse_text(&set->found.descriptor, text, name, error);
    if (status == PETAL_OK)
        set->found.has_descriptor = true;
    return status;
}

size_t
petal_hfile_set_count(petal_hfile_set *set)
{
    if (set == NULL)
        return 0;
    /* Files of regions that overlap, which an import refuses, can still be looked at. */
    (void)found_settle(&set->found, NULL);
    return set->found.count;
}

const char *
petal_hfile_set_path(petal_hfile_set *set, size_t index)
{
    return index < petal_hfile_set_count(set) ? set->found.files[index].path : NULL;
}

static enum petal_bloom_type
bloom_of(enum petal_hfile_bloom_type type)
{
    switch (type) {
    case PETAL_HFILE_BLOOM_NONE:
        return PETAL_BLOOM_NONE;
    case PETAL_HFILE_BLOOM_ROWCOL:
        return PETAL_BLOOM_ROWCOL;
    case PETAL_HFILE_BLOOM_ROW_PREFIX:
        return PETAL_BLOOM_ROW_PREFIX;
    default:
        return PETAL_BLOOM_ROW;
    }
}

/* The family that a file's first cell names, as the file has it. */
static enum petal_status
describe_by_file(struct descriptor *descriptor, const char *path, petal_error *error)
{
    const petal_hfile_info *info;
    const petal_hfile_cell *cell = NULL;
    petal_hfile_scanner *scanner = NULL;
    petal_family_options *family;
    petal_hfile *file;
    enum petal_status status = petal_hfile_open(path, NULL, &file, error);

    if (status != PETAL_OK)
        return status;
    info = petal_hfile_info_get(file);
    status = petal_hfile_scanner_new(file, &scanner, error);
    if (status == PETAL_OK)
        status = petal_hfile_scanner_first(scanner, &cell, error);
    if (status == PETAL_OK && cell != NULL) {
        family = descriptor_family(descriptor, cell->family);
        if (family == NULL) {
            status = hfile_error_no_memory(error);
        } else {
            family->versions = INT32_MAX;
            family->bloom = bloom_of(info->bloom_type);
            family->bloom_prefix_bytes = info->bloom_prefix_bytes;
        }
    }
    petal_hfile_scanner_free(scanner);
    petal_hfile_close(file);
    return status;
}

enum petal_status
petal_hfile_set_table(petal_hfile_set *set, petal_table_options *options, bool *is_described,
                      petal_error *error)
{
    HFILE_RETURN_IF_NULL(set, error);
    HFILE_RETURN_IF_NULL(options, error);
    HFILE_RETURN_IF_NULL(is_described, error);

    enum petal_status status;

    hfile_error_clear(error);
    status = found_settle(&set->found, error);
    *is_described = set->found.has_descriptor;
    for (size_t i = 0; status == PETAL_OK && !*is_described && i < set->found.count; i++)
        status = describe_by_file(&set->found.descriptor, set->found.files[i].path, error);
    if (status == PETAL_OK && set->found.descriptor.table.family_count == 0)
        status = hfile_error_set(error, PETAL_NOT_FOUND, "",
                                 "no file has a cell, so that no family is known");
    *options = status == PETAL_OK ? set->found.descriptor.table
                                  : (petal_table_options){.size = sizeof *options};
    return status;
}

/* ---- Import ---------------------------------------------------------------------------------- */

struct import {
    petal_table *table;
    petal_hfile_import_options options;
    petal_hfile_import_counts counts;
    petal_bulk *bulk;
    struct incoming incoming;
    petal_family *family;      /* of the last cell */
    struct hfile_buffer last;  /* its row, family and qualifier, one after the other */
    petal_hfile_cell last_key; /* pointing there */
};

/* `cell` in an error: row and column. */
static enum petal_status
refuse(const petal_hfile_cell *cell, const char *path, enum petal_status status, const char *why,
       petal_error *error)
{
    char row[80], family[40], qualifier[80];

    return hfile_error_set(error, status, path, "row '%s', column '%s:%s', timestamp %lld: %s",
                           hfile_error_quote(cell->row, row, sizeof row),
                           hfile_error_quote(cell->family, family, sizeof family),
                           hfile_error_quote(cell->qualifier, qualifier, sizeof qualifier),
                           (long long)cell->timestamp, why);
}

static enum petal_status
remember_key(struct import *import, const petal_hfile_cell *cell, petal_error *error)
{
    struct hfile_buffer *last = &import->last;
    const uint8_t *bytes;

    hfile_buffer_clear(last);
    if (!hfile_buffer_reserve(last, cell->row.size + cell->family.size + cell->qualifier.size))
        return hfile_error_no_memory(error);
    (void)hfile_buffer_append_slice(last, cell->row);
    (void)hfile_buffer_append_slice(last, cell->family);
    (void)hfile_buffer_append_slice(last, cell->qualifier);
    bytes = last->bytes;
    import->last_key = (petal_hfile_cell){
        .row = hfile_slice(bytes, cell->row.size),
        .family = hfile_slice(bytes + cell->row.size, cell->family.size),
        .qualifier = hfile_slice(bytes + cell->row.size + cell->family.size, cell->qualifier.size),
        .timestamp = cell->timestamp,
        .type = cell->type};
    return PETAL_OK;
}

/* The time to live among the tags becomes the cell's; others are dropped if that is asked for, but
 * not those which say that the value is only the name of a file. */
static enum petal_status
take_tags(struct import *import, const petal_hfile_cell *cell, const char *path, petal_cell *taken,
          petal_error *error)
{
    petal_slice tags = cell->tags, payload;
    int type, result;

    while ((result = petal_hfile_tag_next(&tags, &type, &payload)) > 0) {
        if (type == PETAL_HFILE_TAG_TTL && payload.size == 8 && !taken->has_ttl) {
            taken->has_ttl = true;
            taken->ttl_ms = (int64_t)hfile_get_u64(payload.data);
        } else if (type == PETAL_HFILE_TAG_MOB_REFERENCE || type == PETAL_HFILE_TAG_MOB_TABLE) {
            return refuse(cell, path, PETAL_UNSUPPORTED,
                          "its value is in a MOB file, which Petal does not read", error);
        } else if (import->options.drop_tags) {
            import->counts.dropped_tags++;
        } else {
            const char *why = type == PETAL_HFILE_TAG_VISIBILITY
                                  ? "it has a visibility label, which Petal would not heed"
                              : type == PETAL_HFILE_TAG_ACL
                                  ? "it has an access control list, which Petal would not heed"
                                  : "it has a tag that Petal has no place for";

            return refuse(cell, path, PETAL_UNSUPPORTED, why, error);
        }
    }
    return result < 0 ? refuse(cell, path, PETAL_CORRUPT, "its tags are damaged", error) : PETAL_OK;
}

static enum petal_status
find_family(struct import *import, const petal_hfile_cell *cell, const char *path,
            petal_error *error)
{
    size_t count = petal_table_family_count(import->table);

    if (import->family != NULL &&
        hfile_slice_equal(cell->family, petal_family_name(import->family)))
        return PETAL_OK;
    for (size_t i = 0; i < count; i++) {
        import->family = petal_table_family_at(import->table, i);
        if (hfile_slice_equal(cell->family, petal_family_name(import->family)))
            return PETAL_OK;
    }
    import->family = NULL;
    return refuse(cell, path, PETAL_NOT_FOUND, "the table has no such family", error);
}

static enum petal_status
import_cell(struct import *import, const petal_hfile_cell *cell, const char *path,
            petal_error *error)
{
    petal_cell taken = {.family = cell->family,
                        .row = cell->row,
                        .qualifier = cell->qualifier,
                        .value = cell->value,
                        .timestamp = cell->timestamp,
                        .type = (enum petal_cell_type)cell->type};
    petal_error detail;
    enum petal_status status;

    if (import->counts.cells > 0 && petal_hfile_compare(cell, &import->last_key) == 0) {
        import->counts.superseded++;
        return PETAL_OK;
    }
    status = find_family(import, cell, path, error);
    if (status == PETAL_OK && cell->tags.size > 0)
        status = take_tags(import, cell, path, &taken, error);
    if (status != PETAL_OK)
        return status;
    status = petal_bulk_add(import->bulk, import->family, &taken, &detail);
    if (status == PETAL_INVALID)
        return refuse(cell, path, status, detail.text, error);
    if (status != PETAL_OK) {
        if (error != NULL)
            *error = detail;
        return status;
    }
    import->counts.cells++;
    import->counts.markers += cell->type != PETAL_PUT;
    import->counts.cell_bytes += watching_bytes_of(cell);
    return remember_key(import, cell, error);
}

static enum petal_status
import_cells(struct import *import, petal_error *error)
{
    const struct watching watching = {import->options.watch, import->options.argument};
    uint64_t bytes_since_look = 0;
    const petal_hfile_cell *cell;
    const char *path;
    bool goes_on = true;
    enum petal_status status = incoming_next(&import->incoming, &cell, &path, error);

    while (status == PETAL_OK && goes_on && cell != NULL) {
        status = import_cell(import, cell, path, error);
        goes_on = !watching_is_due(&bytes_since_look, cell) ||
                  watching_asks(&watching, import->counts.cell_bytes, import->incoming.bytes);
        if (status == PETAL_OK && goes_on)
            status = incoming_next(&import->incoming, &cell, &path, error);
    }
    if (status == PETAL_OK && goes_on)
        goes_on = watching_asks(&watching, import->counts.cell_bytes, import->incoming.bytes);
    if (status == PETAL_OK && !goes_on)
        status = hfile_error_set(error, PETAL_BUSY, "", "the import was given up");
    return status;
}

/* The files that count are known, and no write is only in edits, unless that is wanted. */
static enum petal_status
settle(petal_hfile_set *set, const petal_hfile_import_options *options, petal_error *error)
{
    const struct found_files *found = &set->found;
    enum petal_status status = found_settle(&set->found, error);

    if (status == PETAL_OK && found->edits_count > 0 && !options->drop_edits)
        status = hfile_error_unsupported(error, found->edits[0].path,
                                         "this holds writes that are in no HFile: have HBase open "
                                         "the table and flush it, or drop edits");
    return status;
}

enum petal_status
petal_hfile_import(petal_table *table, petal_hfile_set *set,
                   const petal_hfile_import_options *options, petal_hfile_import_counts *counts,
                   petal_error *error)
{
    HFILE_RETURN_IF_NULL(table, error);
    HFILE_RETURN_IF_NULL(set, error);

    struct import import = {.table = table};
    petal_table_options described = {.size = sizeof described};
    struct arena arena = {NULL};
    enum petal_status status;

    hfile_error_clear(error);
    if (counts != NULL)
        *counts = (petal_hfile_import_counts){0};
    status = hfile_options_take(options, &import.options, sizeof import.options,
                                "petal_hfile_import_options", error);
    if (status != PETAL_OK)
        return status;
    status = settle(set, &import.options, error);
    if (status != PETAL_OK)
        return status;
    hfile_buffer_init(&import.last, &hfile_default_allocator);
    status = petal_bulk_begin(table, NULL, &import.bulk, error);
    if (status == PETAL_OK)
        status = incoming_open(&import.incoming, &arena, set->found.files, set->found.count, error);
    if (status == PETAL_OK)
        status = import_cells(&import, error);
    if (status == PETAL_OK)
        status = petal_bulk_commit(import.bulk, error);
    petal_table_describe(table, &described);
    for (size_t i = 0; i < described.family_count; i++)
        import.counts.unordered_families += described.families[i].new_version_behavior;
    import.counts.files = set->found.count;
    for (size_t i = 0; i < set->found.count; i++)
        import.counts.files_without_region += set->found.files[i].region == FOUND_NO_REGION;
    import.counts.empty_files = import.incoming.empty_files;
    import.counts.split_regions = set->found.split_regions;
    import.counts.compacted_files = set->found.compacted_files;
    import.counts.dropped_edits = set->found.edits_count;
    if (status == PETAL_OK && counts != NULL)
        *counts = import.counts;
    incoming_close(&import.incoming);
    petal_bulk_free(import.bulk);
    hfile_buffer_free(&import.last);
    arena_free(&arena);
    return status;
}

/* ---- Into a table by its name ---------------------------------------------------------------- */

/* The table, or a new one like that of the files. */
static enum petal_status
open_table(petal_db *db, petal_slice name, petal_hfile_set *set, petal_table **table,
           enum petal_hfile_table_origin *origin, petal_error *error)
{
    petal_table_options options;
    bool is_described;
    enum petal_status status = petal_table_open(db, name, table, error);

    *origin = PETAL_HFILE_TABLE_WAS_THERE;
    if (status != PETAL_NOT_FOUND)
        return status;
    status = petal_hfile_set_table(set, &options, &is_described, error);
    if (status != PETAL_OK)
        return status;
    options.name = name;
    *origin = is_described ? PETAL_HFILE_TABLE_DESCRIBED : PETAL_HFILE_TABLE_OF_FILES;
    return petal_table_create(db, &options, table, error);
}

/* Drop the table that was made for what then failed, as *error says, which also tells if it stays.
 */
static void
drop_table(petal_table *table, petal_error *error)
{
    petal_error failed, kept;

    if (petal_table_drop(table, &failed) == PETAL_OK || error == NULL)
        return;
    kept = *error;
    (void)hfile_error_set(error, kept.status, "", "%s; the table that was made for it stays: %s",
                          kept.text, failed.text);
    error->os_error = kept.os_error;
    error->offset = kept.offset;
    memcpy(error->file, kept.file, sizeof kept.file);
}

enum petal_status
petal_hfile_import_as(petal_db *db, petal_slice name, petal_hfile_set *set,
                      const petal_hfile_import_options *options,
                      enum petal_hfile_table_origin *origin, petal_hfile_import_counts *counts,
                      petal_error *error)
{
    HFILE_RETURN_IF_NULL(db, error);
    HFILE_RETURN_IF_NO_BYTES(name, error);
    HFILE_RETURN_IF_NULL(set, error);

    enum petal_hfile_table_origin found;
    petal_table *table;
    enum petal_status status;

    hfile_error_clear(error);
    if (counts != NULL)
        *counts = (petal_hfile_import_counts){0};
    status = open_table(db, name, set, &table, &found, error);
    if (status != PETAL_OK)
        return status;
    if (origin != NULL)
        *origin = found;
    status = petal_hfile_import(table, set, options, counts, error);
    if (status != PETAL_OK && found != PETAL_HFILE_TABLE_WAS_THERE)
        drop_table(table, error);
    return status;
}

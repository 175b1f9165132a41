/* import.c -- kv-hfile import: HBase's store files become a table of a database. */
#include "tools/command/print.h"
#include "tools/command/watch.h"
#include "tools/hfile/commands/commands.h"
#include "tools/hfile/commands/new_database.h"
#include "tools/hfile/petal_hfile.h"
#include "tools/shell/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct import_request {
    const char *database, *table;
    const char *const *paths;
    int path_count;
    const char *describe; /* a file with the text of describe; NULL: none */
    bool drop_tags, drop_edits, json, quiet;
};

/* ---- What the files are of ------------------------------------------------------------------- */

static enum petal_status
read_describe(petal_hfile_set *set, const char *path, petal_error *error)
{
    struct text text = {0};
    char buffer[4096];
    size_t taken;
    FILE *file = fopen(path, "rb");
    enum petal_status status;

    if (file == NULL) {
        *error = (petal_error){.status = PETAL_IO, .os_error = errno};
        snprintf(error->text, sizeof error->text, "%.200s: cannot be opened: %s", path,
                 strerror(errno));
        return PETAL_IO;
    }
    while ((taken = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_add(&text, buffer, taken);
    fclose(file);
    status = petal_hfile_set_describe(set, (petal_slice){text.bytes, text.size}, path, error);
    text_free(&text);
    return status;
}

static enum petal_status
gather(petal_hfile_set *set, const struct import_request *request, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (int i = 0; status == PETAL_OK && i < request->path_count; i++)
        status = petal_hfile_set_add(set, request->paths[i], error);
    if (status == PETAL_OK && request->describe != NULL)
        status = read_describe(set, request->describe, error);
    return status;
}

/* ---- Namespaces ------------------------------------------------------------------------------ */

/* kv-shell keeps them as HBase does: in hbase:namespace a row with info:d for each. */
static enum petal_status
find_namespace(petal_db *db, petal_slice name, bool *found, petal_error *error)
{
    petal_column column = {.qualifier = slice_of_string("d")};
    const petal_read_options options = {
        .size = sizeof options, .columns = &column, .column_count = 1};
    petal_result *result = NULL;
    petal_table *catalog;
    enum petal_status status =
        petal_table_open(db, slice_of_string("hbase:namespace"), &catalog, error);

    *found = false;
    if (status == PETAL_NOT_FOUND)
        return PETAL_OK;
    if (status == PETAL_OK)
        status = petal_table_family(catalog, slice_of_string("info"), &column.family, error);
    if (status == PETAL_OK)
        status = petal_result_new(db, &result, error);
    if (status == PETAL_OK)
        status = petal_get(catalog, name, &options, result, error);
    *found = status == PETAL_OK && petal_result_count(result) > 0;
    petal_result_free(result);
    return status;
}

/* A table that is not there is made in a namespace that is. */
static enum petal_status
check_namespace(petal_db *db, const char *table, petal_error *error)
{
    const char *colon = strchr(table, ':');
    petal_slice name = {table, colon == NULL ? 0 : (size_t)(colon - table)};
    enum petal_status status;
    petal_table *opened;
    bool found;

    if (name.size == 0 || slice_is(name, "default") || slice_is(name, "hbase") ||
        petal_table_open(db, slice_of_string(table), &opened, error) == PETAL_OK)
        return PETAL_OK;
    status = find_namespace(db, name, &found, error);
    if (status != PETAL_OK || found)
        return status;
    *error = (petal_error){.status = PETAL_NOT_FOUND};
    snprintf(error->text, sizeof error->text,
             "Unknown namespace %.*s! kv-shell's create_namespace makes one", SLICE(name));
    return PETAL_NOT_FOUND;
}

/* ---- The work -------------------------------------------------------------------------------- */

static void
print_counts(struct print *print, const petal_hfile_import_counts *counts,
             enum petal_hfile_table_origin origin)
{
    print_line(print, "imported");
    print_number(print, "files", counts->files);
    if (counts->empty_files > 0 || print->json)
        print_number(print, "empty files", counts->empty_files);
    print_number(print, "cells", counts->cells);
    print_number(print, "markers", counts->markers);
    print_number(print, "cell bytes", counts->cell_bytes);
    if (counts->superseded > 0 || print->json)
        print_number(print, "superseded", counts->superseded);
    if (counts->dropped_tags > 0 || print->json)
        print_number(print, "dropped tags", counts->dropped_tags);
    if (counts->dropped_edits > 0 || print->json)
        print_number(print, "dropped edits", counts->dropped_edits);
    if (counts->split_regions > 0 || print->json)
        print_number(print, "split regions", counts->split_regions);
    if (counts->compacted_files > 0 || print->json)
        print_number(print, "compacted files", counts->compacted_files);
    if (print->json) {
        print_number(print, "files without region", counts->files_without_region);
        print_number(print, "unordered families", counts->unordered_families);
        print_boolean(print, "table is new", origin != PETAL_HFILE_TABLE_WAS_THERE);
    }
    print_end(print);
    if (counts->superseded > 0 && !print->json)
        print_text(print, "superseded",
                   "cells that a later write of the same key had replaced, which HBase does not "
                   "show either");
    if (counts->dropped_edits > 0 && !print->json)
        print_text(print, "dropped edits",
                   "files in recovered.edits, whose writes HBase would have and the table has not");
    if (counts->split_regions > 0 && !print->json)
        print_text(print, "split regions",
                   "left out: they were split or merged, and other regions have their cells");
    if (counts->compacted_files > 0 && !print->json)
        print_text(print, "compacted files",
                   "left out: a compaction wrote their cells to another file, which is there");
    if (counts->files_without_region > 0 && !print->json)
        print_text(print, "note",
                   "regions were not looked at for single files and folders outside a region's: "
                   "overlaps and recovered.edits are not noticed");
    if (counts->unordered_families > 0 && !print->json)
        print_text(print, "note", HFILE_NOTE_ON_ORDER);
    if (origin == PETAL_HFILE_TABLE_OF_FILES && !print->json)
        print_text(print, "note",
                   "nothing told of the table's attributes, so its families have VERSIONS without "
                   "limit; alter them, or give --describe FILE");
}

static enum petal_status
import_into(petal_db *db, petal_hfile_set *set, const struct import_request *request,
            struct print *print, struct watch *watch, petal_error *error)
{
    const petal_hfile_import_options options = {.size = sizeof options,
                                                .drop_tags = request->drop_tags,
                                                .drop_edits = request->drop_edits,
                                                .watch = watch_go_on,
                                                .argument = watch};
    enum petal_hfile_table_origin origin;
    petal_hfile_import_counts counts;
    enum petal_status status = petal_hfile_import_as(db, slice_of_string(request->table), set,
                                                     &options, &origin, &counts, error);

    watch_end(watch);
    if (status != PETAL_OK)
        return status;
    if (!request->quiet || print->json)
        print_counts(print, &counts, origin);
    if (origin == PETAL_HFILE_TABLE_WAS_THERE && request->describe != NULL && !request->quiet &&
        !print->json)
        print_text(print, "note",
                   "the table was there: its attributes stay, whatever --describe says");
    return PETAL_OK;
}

static int
import(const struct import_request *request)
{
    /* What came stays as it came until somebody opens the database to work with it. */
    const petal_options options = {.size = sizeof options, .create = true, .no_compaction = true};
    const struct new_database database = new_database_look(request->database);
    petal_hfile_set *set = NULL;
    petal_db *db = NULL;
    bool is_open = false;
    struct print print;
    struct watch watch;
    petal_error error, close_error;
    enum petal_status status = petal_hfile_set_new(&set, &error);

    watch_begin(&watch, "import", request->quiet);
    if (status == PETAL_OK)
        status = gather(set, request, &error);
    if (status == PETAL_OK)
        status = petal_open(request->database, &options, &db, &error);
    is_open = status == PETAL_OK;
    print_start(&print, stdout, request->json);
    if (status == PETAL_OK)
        status = check_namespace(db, request->table, &error);
    if (status == PETAL_OK)
        status = import_into(db, set, request, &print, &watch, &error);
    if (petal_close(db, &close_error) != PETAL_OK && status == PETAL_OK) {
        status = close_error.status;
        error = close_error;
    }
    if (status != PETAL_OK && is_open)
        new_database_take_back(&database);
    if (request->json && status != PETAL_OK)
        print_text(&print, "error", error.text);
    print_finish(&print);
    petal_hfile_set_free(set);
    if (status == PETAL_OK)
        return COMMAND_FINE;
    (void)fflush(stdout);
    (void)fprintf(stderr, "kv-hfile: %s\nkv-hfile: nothing was imported\n", error.text);
    return status == PETAL_CORRUPT ? COMMAND_FAULTS : COMMAND_FAILED;
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct import_request request = {0};
    const struct command_option options[] = {
        {.name = "--describe",
         .take = command_take_text,
         .argument = &request.describe,
         .wants = "a file that holds what HBase's describe printed"},
        {.name = "--drop-edits", .flag = &request.drop_edits},
        {.name = "--drop-tags", .flag = &request.drop_tags},
        {.name = "--json", .flag = &request.json},
        {.name = "--quiet", .flag = &request.quiet}};
    const char **places = calloc((size_t)argc + 1, sizeof *places);
    int count, status = COMMAND_FAILED;

    if (places == NULL)
        return COMMAND_FAILED;
    count = command_take_arguments(command, argc, argv, options, sizeof options / sizeof *options,
                                   places, 3, argc);
    if (count >= 3) {
        request.database = places[0];
        request.table = places[1];
        request.paths = places + 2;
        request.path_count = count - 2;
        status = import(&request);
    }
    free(places);
    return status;
}

const struct command hfile_import = {
    .name = "import",
    .meaning = "bring HFiles into a table of a database, all or none",
    .usage = "kv-hfile import [--describe FILE] [--drop-edits] [--drop-tags] [--json]\n"
             "                [--quiet] DATABASE TABLE PATH...\n"
             "  a PATH is an HFile, or a folder: of a family, a region, a table as HBase keeps\n"
             "  them, or of a snapshot (.hbase-snapshot/NAME with archive/ or data/ beside).\n"
             "  Links and references are followed; regions that were split or merged are left\n"
             "  out, for others have their cells; regions that overlap otherwise are refused.\n"
             "  Single files are taken as they are: their regions are not looked at.\n"
             "  A table that is not there is made, with the attributes that a .tableinfo or\n"
             "  the snapshot gives; markers, versions and times to live stay as they are\n"
             "  --describe FILE  attributes from what describe 'TABLE' printed in HBase\n"
             "  --drop-edits     go on without writes that are in recovered.edits alone\n"
             "  --drop-tags      go on without tags that Petal has no place for; count them\n"
             "  --json           as one JSON object\n"
             "  --quiet          no progress, no counts\n",
    .run = run,
};

/* export.c -- kv-hfile export: a table becomes files that HBase's completebulkload takes. */
#include "tools/command/print.h"
#include "tools/command/row.h"
#include "tools/command/value.h"
#include "tools/command/watch.h"
#include "tools/hfile/commands/commands.h"
#include "tools/hfile/petal_hfile.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

struct export_request {
    const char *database, *table, *directory;
    const char *snapshot; /* of the table; NULL: the table as it is */
    petal_hfile_write_options file;
    bool has_bloom;
    petal_slice *split_keys;
    size_t split_key_count;
    size_t split_bytes;
    bool visible_only, json, quiet;
};

/* ---- Values of options ----------------------------------------------------------------------- */

static bool
take_codec(void *argument, char *value)
{
    enum petal_hfile_codec *codec = argument;

    for (int i = PETAL_HFILE_CODEC_NONE; i <= PETAL_HFILE_CODEC_ZSTD; i++) {
        *codec = (enum petal_hfile_codec)i;
        if (strcasecmp(value, petal_hfile_codec_text(*codec)) == 0)
            return petal_hfile_has_codec(*codec);
    }
    return false;
}

static bool
take_encoding(void *argument, char *value)
{
    enum petal_hfile_encoding *encoding = argument;

    for (int i = PETAL_HFILE_ENCODING_NONE; i <= PETAL_HFILE_ENCODING_ROW_INDEX_V1; i++) {
        *encoding = (enum petal_hfile_encoding)i;
        if (strcasecmp(value, petal_hfile_encoding_text(*encoding)) == 0)
            return true;
    }
    return false;
}

static bool
take_bloom(void *argument, char *value)
{
    struct export_request *request = argument;

    request->has_bloom = true;
    for (int i = PETAL_HFILE_BLOOM_NONE; i <= PETAL_HFILE_BLOOM_ROWCOL; i++) {
        request->file.bloom = (enum petal_hfile_bloom_type)i;
        if (strcasecmp(value, petal_hfile_bloom_type_text(request->file.bloom)) == 0)
            return true;
    }
    return false;
}

/* b,c\x00,d */
static bool
take_split_keys(void *argument, char *value)
{
    struct export_request *request = argument;

    for (char *at = value; at != NULL;) {
        char *comma = strchr(at, ',');
        petal_slice *keys =
            realloc(request->split_keys, (request->split_key_count + 1) * sizeof *keys);

        if (keys == NULL)
            return false;
        request->split_keys = keys;
        if (comma != NULL)
            *comma = '\0';
        if (!row_take(&keys[request->split_key_count++], at))
            return false;
        at = comma == NULL ? NULL : comma + 1;
    }
    return true;
}

/* ---- The work -------------------------------------------------------------------------------- */

static void
print_counts(struct print *print, const petal_hfile_export_counts *counts)
{
    uint64_t changed = counts->moved_markers + counts->left_markers + counts->left_puts;

    print_line(print, "exported");
    print_number(print, "files", counts->files);
    print_number(print, "cells", counts->cells);
    print_number(print, "cell bytes", counts->cell_bytes);
    print_number(print, "file bytes", counts->file_bytes);
    if (changed > 0 || print->json) {
        print_number(print, "moved markers", counts->moved_markers);
        print_number(print, "left markers", counts->left_markers);
        print_number(print, "left puts", counts->left_puts);
    }
    if (print->json)
        print_number(print, "unordered families", counts->unordered_families);
    print_end(print);
    if (changed > 0 && !print->json)
        print_text(print, "moved and left",
                   "puts had outlived markers of their own timestamp, which in HBase would hide "
                   "them: these markers are a millisecond earlier, or not written");
    if (counts->unordered_families > 0 && !print->json)
        print_text(print, "note", HFILE_NOTE_ON_ORDER);
}

/* The table, or a new one of its snapshot, which goes when all is done. */
static enum petal_status
open_table(petal_db *db, const struct export_request *request, petal_table **table,
           petal_error *error)
{
    uint64_t number;
    char name[64];

    if (request->snapshot == NULL)
        return petal_table_open(db, (petal_slice){request->table, strlen(request->table)}, table,
                                error);
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = 0;
    snprintf(name, sizeof name, "kv-hfile-export-%016llx", (unsigned long long)number);
    return petal_table_snapshot_clone(db,
                                      (petal_slice){request->snapshot, strlen(request->snapshot)},
                                      (petal_slice){name, strlen(name)}, table, error);
}

/* The named snapshot is one of the table. */
struct snapshot_search {
    const struct export_request *request;
    bool is_there, is_of_table;
};

static bool
look_at_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    struct snapshot_search *search = argument;
    const char *name = search->request->snapshot, *table = search->request->table;

    if (info->name.size != strlen(name) || memcmp(info->name.data, name, info->name.size) != 0)
        return true;
    search->is_there = true;
    search->is_of_table =
        info->table.size == strlen(table) && memcmp(info->table.data, table, info->table.size) == 0;
    return false;
}

static enum petal_status
check_snapshot(petal_db *db, const struct export_request *request, petal_error *error)
{
    struct snapshot_search search = {.request = request};
    enum petal_status status;

    if (request->snapshot == NULL)
        return PETAL_OK;
    status = petal_table_snapshot_list(db, look_at_snapshot, &search, error);
    if (status != PETAL_OK || search.is_of_table)
        return status;
    *error = (petal_error){.status = PETAL_NOT_FOUND};
    snprintf(error->text, sizeof error->text, "%s '%.100s'",
             search.is_there ? "another table's snapshot is called" : "there is no snapshot",
             request->snapshot);
    return PETAL_NOT_FOUND;
}

static enum petal_status
export_from(petal_db *db, const struct export_request *request, struct print *print,
            struct watch *watch, petal_error *error)
{
    const petal_hfile_export_options options = {.size = sizeof options,
                                                .file = &request->file,
                                                .like_family = !request->has_bloom,
                                                .visible_only = request->visible_only,
                                                .split_keys = request->split_keys,
                                                .split_key_count = request->split_key_count,
                                                .split_bytes = request->split_bytes,
                                                .watch = watch_go_on,
                                                .argument = watch};
    petal_hfile_export_counts counts;
    petal_table *table;
    enum petal_status status = check_snapshot(db, request, error);

    if (status == PETAL_OK)
        status = open_table(db, request, &table, error);
    if (status != PETAL_OK)
        return status;
    status = petal_hfile_export(db, table, request->directory, &options, &counts, error);
    watch_end(watch);
    if (status == PETAL_OK && (!request->quiet || print->json))
        print_counts(print, &counts);
    if (request->snapshot != NULL) {
        petal_error drop_error;
        enum petal_status dropped = petal_table_drop(table, &drop_error);

        if (status == PETAL_OK && dropped != PETAL_OK) {
            *error = drop_error;
            status = dropped;
        }
    }
    return status;
}

static int export(const struct export_request *request)
{
    const petal_options options = {
        .size = sizeof options, .read_only = request->snapshot == NULL, .no_compaction = true};
    petal_db *db = NULL;
    struct print print;
    struct watch watch;
    petal_error error, close_error;
    enum petal_status status;

    /* Before the copy of a snapshot is made, which Ctrl-C shall not leave. */
    watch_begin(&watch, "export", request->quiet);
    status = petal_open(request->database, &options, &db, &error);
    if (status == PETAL_NOT_FOUND)
        snprintf(error.text, sizeof error.text, "there is no database in %s", request->database);
    print_start(&print, stdout, request->json);
    if (status == PETAL_OK)
        status = export_from(db, request, &print, &watch, &error);
    if (petal_close(db, &close_error) != PETAL_OK && status == PETAL_OK) {
        status = close_error.status;
        error = close_error;
    }
    if (request->json && status != PETAL_OK)
        print_text(&print, "error", error.text);
    print_finish(&print);
    if (status == PETAL_OK)
        return COMMAND_FINE;
    (void)fflush(stdout);
    (void)fprintf(stderr, "kv-hfile: %s\nkv-hfile: nothing was exported\n", error.text);
    return status == PETAL_CORRUPT ? COMMAND_FAULTS : COMMAND_FAILED;
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct export_request request = {
        .file = {.size = sizeof request.file, .codec = PETAL_HFILE_CODEC_GZ}};
    const struct command_option options[] = {
        {.name = "--codec",
         .take = take_codec,
         .argument = &request.file.codec,
         .wants = "NONE, GZ, LZ4, SNAPPY or ZSTD"},
        {.name = "--encoding",
         .take = take_encoding,
         .argument = &request.file.encoding,
         .wants = "NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1"},
        {.name = "--bloom",
         .take = take_bloom,
         .argument = &request,
         .wants = "NONE, ROW or ROWCOL"},
        {.name = "--split-keys",
         .take = take_split_keys,
         .argument = &request,
         .wants = "rows with commas between them, bytes as \\xHH"},
        {.name = "--split-size",
         .take = value_take_size,
         .argument = &request.split_bytes,
         .wants = "a number of bytes, such as 10G"},
        {.name = "--snapshot",
         .take = command_take_text,
         .argument = &request.snapshot,
         .wants = "the name of a snapshot of the table"},
        {.name = "--visible", .flag = &request.visible_only},
        {.name = "--json", .flag = &request.json},
        {.name = "--quiet", .flag = &request.quiet}};
    const char *places[3];
    int status = COMMAND_FAILED;

    if (command_take_arguments(command, argc, argv, options, sizeof options / sizeof *options,
                               places, 3, 3) == 3) {
        request.database = places[0];
        request.table = places[1];
        request.directory = places[2];
        status = export(&request);
    }
    free(request.split_keys);
    return status;
}

const struct command hfile_export = {
    .name = "export",
    .meaning = "write a table as HFiles that completebulkload takes",
    .usage = "kv-hfile export [options] DATABASE TABLE DIRECTORY\n"
             "  makes DIRECTORY (or takes an empty one), with a folder for each family\n"
             "  --codec C         NONE, GZ (default: every HBase reads it), LZ4, SNAPPY, ZSTD\n"
             "  --encoding E      NONE, PREFIX, DIFF, FAST_DIFF, ROW_INDEX_V1\n"
             "  --bloom B         NONE, ROW, ROWCOL; default: as the family\n"
             "  --split-keys K,K  rows at which a file begins: the table's regions in HBase;\n"
             "                    default: those in Petal\n"
             "  --split-size N    begin another file at the next row after N bytes, as 10G\n"
             "  --snapshot NAME   the table as it was in a snapshot of it\n"
             "  --visible         what readers see; else all that is stored, markers too\n"
             "  --json            as one JSON object\n"
             "  --quiet           no progress, no counts\n",
    .run = run,
};

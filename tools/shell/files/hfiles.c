/*
 * hfiles.c -- import_hfiles and export_hfiles: a table goes to HBase, or comes from it, by HBase's
 * own store files.
 */
#include "tools/shell/files/commands.h"

#ifdef HAVE_HFILE

#include "tools/hfile/petal_hfile.h"
#include "tools/shell/data/query.h"
#include "tools/shell/schema/namespace.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/words_of_values.h"
#include "tools/shell/text/progress.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static bool
go_on(void *argument, uint64_t done, uint64_t total)
{
    progress_update(argument, done, total, done);
    return !interrupt_pending();
}

/* Ctrl-C is told as everywhere in the shell. */
static enum shell_status
fail(struct session *session, const petal_error *error)
{
    enum shell_status status = error->status == PETAL_BUSY ? interrupt_check(session) : SHELL_FINE;

    return status != SHELL_FINE ? status : session_fail_petal(session, error);
}

/* The path that a value is, NULL when it is none. */
static const char *
path_of(struct session *session, const struct value *value)
{
    if (value->kind != VALUE_STRING || value->as.bytes.size == 0 ||
        memchr(value->as.bytes.data, 0, value->as.bytes.size) != NULL)
        return NULL;
    return value_to_string(&session->arena, value);
}

static bool
is_true(struct session *session, const struct value *hash, const char *key)
{
    const struct value *value = query_given(hash, key);

    return value != NULL && value_read_boolean(session, value);
}

/* Each key of the hash is one of `names`, which end with NULL. */
static enum shell_status
check_keys(struct session *session, const struct value *hash, const char *const *names)
{
    for (size_t i = 0; i < hash->count; i++) {
        petal_slice key = value_to_bytes(&session->arena, &hash->as.pairs[i].key);
        size_t known = 0;

        while (names[known] != NULL && !equals_ignoring_case(key, names[known]))
            known++;
        if (names[known] == NULL)
            return session_fail(session, SHELL_USAGE, "This command has no option %.*s",
                                SLICE(key));
    }
    return SHELL_FINE;
}

/* ---- Import ---------------------------------------------------------------------------------- */

static void
warn_of_lost_order(uint64_t families)
{
    if (families > 0)
        (void)fprintf(stderr, "kv-shell: the order of writes, by which readers of families with "
                              "NEW_VERSION_BEHAVIOR go, is not kept\n");
}

#define LEFT_OUT(count, what)                                                                      \
    {                                                                                              \
        offsetof(petal_hfile_import_counts, count), what                                           \
    }

static const struct {
    size_t place;
    const char *what;
} left_out[] = {
    LEFT_OUT(superseded,
             "cells had been replaced by a later write of the same key, and are left out"),
    LEFT_OUT(dropped_tags, "tags are dropped"),
    LEFT_OUT(dropped_edits,
             "files of recovered.edits are left out, with writes that HBase would have"),
    LEFT_OUT(split_regions,
             "regions that were split or merged are left out: others have their cells"),
    LEFT_OUT(compacted_files, "files are left out whose cells a compaction wrote to others"),
};

static void
show_import(const petal_hfile_import_counts *counts, enum petal_hfile_table_origin origin)
{
    struct text cells = {0}, files = {0};

    text_add_count(&cells, counts->cells, "cell");
    text_add_count(&files, counts->files, "file");
    (void)fprintf(stderr, "%s imported, %" PRIu64 " of them markers, from %s\n",
                  text_string(&cells), counts->markers, text_string(&files));
    text_free(&cells);
    text_free(&files);
    for (size_t i = 0; i < COUNT_OF(left_out); i++) {
        uint64_t count = *(const uint64_t *)((const char *)counts + left_out[i].place);

        if (count > 0)
            (void)fprintf(stderr, "kv-shell: %" PRIu64 " %s\n", count, left_out[i].what);
    }
    if (counts->files_without_region > 0)
        (void)fprintf(stderr, "kv-shell: regions were not looked at for single files and folders "
                              "outside a region's\n");
    warn_of_lost_order(counts->unordered_families);
    if (origin == PETAL_HFILE_TABLE_OF_FILES)
        (void)fprintf(stderr, "kv-shell: nothing told of the table's attributes, so its families "
                              "have VERSIONS without limit; alter sets them\n");
}

static enum shell_status
import_set(struct session *session, petal_hfile_set *set, petal_slice name, bool drop_tags,
           bool drop_edits)
{
    struct progress progress;
    const petal_hfile_import_options options = {.size = sizeof options,
                                                .drop_tags = drop_tags,
                                                .drop_edits = drop_edits,
                                                .watch = go_on,
                                                .argument = &progress};
    enum petal_hfile_table_origin origin;
    petal_hfile_import_counts counts;
    petal_error error;
    enum petal_status status;

    progress_begin(&progress, "import", "bytes");
    status = petal_hfile_import_as(session->db, name, set, &options, &origin, &counts, &error);
    progress_end(&progress);
    if (status != PETAL_OK)
        return fail(session, &error);
    show_import(&counts, origin);
    return SHELL_FINE;
}

/* The table of an import: one that is there is enabled, one that is not has a namespace. */
static enum shell_status
read_table(struct session *session, const struct value *argument, petal_slice *name)
{
    petal_table *table;
    petal_error error;
    enum shell_status status = session_table_name(session, argument, name);

    if (status != SHELL_FINE)
        return status;
    if (petal_table_open(session->db, *name, &table, &error) == PETAL_NOT_FOUND)
        return namespace_check_new_table(session, *name);
    return session_table(session, *name, &table);
}

COMMAND_FUNCTION(command_import_hfiles)
{
    static const char *const keys[] = {"DROP_EDITS", "DROP_TAGS", NULL};
    const struct value *last = &arguments[count - 1];
    const struct value none = value_nil();
    const struct value *given = last->kind == VALUE_HASH ? last : &none;
    size_t path_count = given == last ? count - 2 : count - 1;
    petal_hfile_set *set = NULL;
    petal_slice table;
    petal_error error;
    enum shell_status status = given == last ? check_keys(session, last, keys) : SHELL_FINE;

    if (status == SHELL_FINE)
        status = read_table(session, &arguments[0], &table);
    if (status == SHELL_FINE && path_count == 0)
        status = session_fail(session, SHELL_USAGE, "Say which files or folders to import");
    if (status == SHELL_FINE && petal_hfile_set_new(&set, &error) != PETAL_OK)
        status = session_fail_petal(session, &error);
    for (size_t i = 1; status == SHELL_FINE && i <= path_count; i++) {
        const char *path = path_of(session, &arguments[i]);

        if (path == NULL)
            status = session_fail(session, SHELL_USAGE,
                                  "The path of a file or folder must be text that is not empty");
        else if (petal_hfile_set_add(set, path, &error) != PETAL_OK)
            status = session_fail_petal(session, &error);
    }
    if (status == SHELL_FINE)
        status = import_set(session, set, table, is_true(session, given, "DROP_TAGS"),
                            is_true(session, given, "DROP_EDITS"));
    petal_hfile_set_free(set);
    return status;
}

/* ---- Export ---------------------------------------------------------------------------------- */

static const struct word codecs[] = {
    {"NONE", PETAL_HFILE_CODEC_NONE}, {"GZ", PETAL_HFILE_CODEC_GZ},
    {"LZ4", PETAL_HFILE_CODEC_LZ4},   {"SNAPPY", PETAL_HFILE_CODEC_SNAPPY},
    {"ZSTD", PETAL_HFILE_CODEC_ZSTD}, {NULL, 0}};
static const struct word encodings[] = {{"NONE", PETAL_HFILE_ENCODING_NONE},
                                        {"PREFIX", PETAL_HFILE_ENCODING_PREFIX},
                                        {"DIFF", PETAL_HFILE_ENCODING_DIFF},
                                        {"FAST_DIFF", PETAL_HFILE_ENCODING_FAST_DIFF},
                                        {"ROW_INDEX_V1", PETAL_HFILE_ENCODING_ROW_INDEX_V1},
                                        {NULL, 0}};
static const struct word blooms[] = {{"NONE", PETAL_HFILE_BLOOM_NONE},
                                     {"ROW", PETAL_HFILE_BLOOM_ROW},
                                     {"ROWCOL", PETAL_HFILE_BLOOM_ROWCOL},
                                     {NULL, 0}};

/* *number stays where the key is not given. */
static enum shell_status
read_word(struct session *session, const struct value *hash, const char *key,
          const struct word *words, int *number)
{
    const struct value *value = query_given(hash, key);

    return value == NULL ? SHELL_FINE
                         : value_read_word(session, slice_of_string(key), value, words, number);
}

static enum shell_status
read_splits(struct session *session, const struct value *hash, petal_hfile_export_options *options)
{
    const struct value *keys = query_given(hash, "SPLITS"),
                       *bytes = query_given(hash, "SPLIT_SIZE");
    int64_t number;

    if (bytes != NULL && (!value_read_size(bytes, &number) || number <= 0))
        return value_fail(session, slice_of_string("SPLIT_SIZE"), bytes,
                          "it must be a size such as '10 GB'");
    options->split_bytes = bytes == NULL ? 0 : (uint64_t)number;
    if (keys == NULL)
        return SHELL_FINE;
    if (keys->kind != VALUE_ARRAY)
        return value_fail(session, slice_of_string("SPLITS"), keys,
                          "it must be a list of rows such as ['g', 'p']");
    if (keys->count > 0) {
        petal_slice *rows = arena_allocate(&session->arena, keys->count * sizeof *rows);

        for (size_t i = 0; i < keys->count; i++) {
            const struct value *row = &keys->as.items[i];

            if (row->kind != VALUE_STRING && row->kind != VALUE_INTEGER)
                return session_fail(session, SHELL_USAGE, "The row must be a string, not %s",
                                    value_class(row));
            rows[i] = value_to_bytes(&session->arena, row);
        }
        options->split_keys = rows;
        options->split_key_count = keys->count;
    }
    return SHELL_FINE;
}

static enum shell_status
read_options(struct session *session, const struct value *hash, petal_hfile_export_options *options,
             petal_hfile_write_options *file)
{
    static const char *const keys[] = {"CODEC",      "ENCODING", "BLOOMFILTER", "SPLITS",
                                       "SPLIT_SIZE", "VISIBLE",  NULL};
    int codec = PETAL_HFILE_CODEC_GZ, encoding = 0, bloom = 0;
    enum shell_status status = check_keys(session, hash, keys);

    if (status == SHELL_FINE)
        status = read_word(session, hash, "CODEC", codecs, &codec);
    if (status == SHELL_FINE)
        status = read_word(session, hash, "ENCODING", encodings, &encoding);
    if (status == SHELL_FINE)
        status = read_word(session, hash, "BLOOMFILTER", blooms, &bloom);
    if (status == SHELL_FINE)
        status = read_splits(session, hash, options);
    file->codec = (enum petal_hfile_codec)codec;
    file->encoding = (enum petal_hfile_encoding)encoding;
    file->bloom = (enum petal_hfile_bloom_type)bloom;
    options->like_family = bloom == 0;
    options->visible_only = is_true(session, hash, "VISIBLE");
    return status;
}

static void
show_export(const petal_hfile_export_counts *counts)
{
    uint64_t changed = counts->moved_markers + counts->left_markers + counts->left_puts;

    struct text cells = {0}, files = {0};

    text_add_count(&cells, counts->cells, "cell");
    text_add_count(&files, counts->files, "file");
    (void)fprintf(stderr, "%s exported to %s, %" PRIu64 " bytes\n", text_string(&cells),
                  text_string(&files), counts->file_bytes);
    text_free(&cells);
    text_free(&files);
    if (changed > 0)
        (void)fprintf(stderr,
                      "kv-shell: puts had outlived markers of their own timestamp, which in HBase "
                      "would hide them: %" PRIu64 " markers are a millisecond earlier, %" PRIu64
                      " markers and %" PRIu64 " puts are left out\n",
                      counts->moved_markers, counts->left_markers, counts->left_puts);
    warn_of_lost_order(counts->unordered_families);
}

COMMAND_FUNCTION(command_export_hfiles)
{
    struct progress progress;
    petal_hfile_write_options file = {.size = sizeof file};
    petal_hfile_export_options options = {
        .size = sizeof options, .file = &file, .watch = go_on, .argument = &progress};
    const struct value none = value_nil();
    const char *directory = path_of(session, &arguments[1]);
    petal_hfile_export_counts counts;
    petal_table *table;
    petal_error error;
    enum petal_status exported;
    enum shell_status status =
        session_table(session, value_to_bytes(&session->arena, &arguments[0]), &table);

    if (status == SHELL_FINE && directory == NULL)
        status = session_fail(session, SHELL_USAGE,
                              "The path of the folder must be text that is not empty");
    if (status == SHELL_FINE)
        status = read_options(session, count > 2 ? &arguments[2] : &none, &options, &file);
    if (status != SHELL_FINE)
        return status;
    progress_begin(&progress, "export", "bytes");
    exported = petal_hfile_export(session->db, table, directory, &options, &counts, &error);
    progress_end(&progress);
    if (exported != PETAL_OK)
        return fail(session, &error);
    show_export(&counts);
    return SHELL_FINE;
}

#else

static enum shell_status
not_built(struct session *session)
{
    return session_fail(session, SHELL_USAGE,
                        "This kv-shell was built without the libraries that HBase's files need");
}

COMMAND_FUNCTION(command_import_hfiles)
{
    return not_built(session);
}

COMMAND_FUNCTION(command_export_hfiles)
{
    return not_built(session);
}

#endif

/* export.c -- kv-shell DIR export TABLE FILE, and the command export: options and the file.  See
 * tools/shell/files/export.h. */
#include "tools/shell/files/export.h"

#include "tools/command/option.h"
#include "tools/shell/data/query.h"
#include "tools/shell/files/commands.h"
#include "tools/shell/files/intake.h"
#include "tools/shell/ruby/ruby.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/text/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char export_usage[] =
    "  --format csv|tsv|jsonl|hbase\n"
    "                            how (as FILE's name ends, else csv):\n"
    "                            row,family,qualifier,timestamp,type,ttl,value; JSON\n"
    "                            objects; or put and delete commands.  One cell a\n"
    "                            line; bytes outside 0x20 .. 0x7e and the backslash\n"
    "                            are \\xHH, in jsonl what is no UTF-8 {\"b64\": ..}, so\n"
    "                            import gives every byte back\n"
    "  --all-versions            all that is stored, with deletion markers and what\n"
    "                            they hide\n"
    "  --from ROW, --to ROW      rows from the first to before the second, \\xHH for\n"
    "                            any byte\n"
    "  --columns F:Q,F..         these columns and families\n"
    "  --create                  hbase: create the table first (else that line is a\n"
    "                            comment); kv-shell DIR -f FILE runs it all\n";

/* What an export is asked for, but for what to scan. */
struct request {
    const char *table, *file; /* file NULL or "-": standard output */
    const char *format;
    const char *from, *to, *columns;
    bool all_versions, create;
};

/* ---- The file -------------------------------------------------------------------------------- */

bool
export_write(struct cell_export *export)
{
    const char *from = export->out.bytes;
    size_t rest = export->out.size;

    while (rest > 0 && export->write_error == 0) {
        ssize_t size = write(export->file, from, rest);

        if (size >= 0) {
            from += size;
            rest -= (size_t)size;
        } else if (errno != EINTR) {
            export->write_error = errno;
        }
    }
    export->bytes += export->out.size - rest;
    text_clear(&export->out);
    progress_update(&export->progress, 0, 0, export->cells);
    return export->write_error == 0;
}

static enum shell_status
fail_file(struct cell_export *export, const char *what, const char *name, int error)
{
    return session_fail(export->session, error == ENOENT ? SHELL_NOT_FOUND : SHELL_DATA,
                        "cannot %s %.400s: %s", what, name, strerror(error));
}

/* Ctrl-C ended it: what became of the file? */
static void
tell_end(struct cell_export *export, const char *name, bool whole)
{
    struct text cells = {0};

    progress_hide(&export->progress);
    text_add_count(&cells, export->cells, "cell");
    (void)fprintf(stderr, "kv-shell: export stopped after %s: %.400s %s\n", text_string(&cells),
                  name, whole ? "is as it was before" : "ends there");
    text_free(&cells);
}

/* Make the file that gets its name when it is whole. Others can foresee its name, and in a
 * directory of all put a link there that leads elsewhere: that is taken away, and never
 * followed. */
static int
open_partial(const char *partial)
{
    const int flags = O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL;
    int file = open(partial, flags, (mode_t)0666);

    if (file < 0 && errno == EEXIST && unlink(partial) == 0)
        file = open(partial, flags, (mode_t)0666);
    return file;
}

/* Nothing can be written where the file shall be: without its directory, that is what is told. */
static enum shell_status
fail_to_make(struct cell_export *export, const char *name, int error)
{
    const char *slash = strrchr(name, '/');
    char *directory;

    if (error != ENOENT || slash == NULL || slash == name)
        return fail_file(export, "write", name, error);
    directory = arena_copy(&export->session->arena, name, (size_t)(slash - name) + 1);
    directory[slash - name] = '\0';
    return session_fail(export->session, SHELL_NOT_FOUND,
                        "cannot write %.400s: there is no directory %.400s", name, directory);
}

/* A file gets its name when it is whole: until then it has another one next to it. Devices and
 * pipes are written at once. */
static enum shell_status
export_to_file(struct cell_export *export, const char *name,
               enum shell_status (*run)(struct cell_export *))
{
    char *partial = memory_allocate(strlen(name) + 32);
    enum shell_status status;
    struct stat facts;
    bool whole = stat(name, &facts) != 0 || S_ISREG(facts.st_mode);

    (void)sprintf(partial, whole ? "%s.part-%ld" : "%s", name, (long)getpid());
    export->file = whole ? open_partial(partial) : open(partial, O_WRONLY | O_CLOEXEC);
    if (export->file < 0) {
        status = fail_to_make(export, name, errno);
        free(partial);
        return status;
    }
    status = run(export);
    if (status == SHELL_FINE && export->write_error == 0 && whole && fsync(export->file) != 0)
        export->write_error = errno;
    if (close(export->file) != 0 && export->write_error == 0)
        export->write_error = errno;
    if (status == SHELL_FINE && export->write_error != 0)
        status = fail_file(export, "write", name, export->write_error);
    if (status == SHELL_FINE && whole && rename(partial, name) != 0)
        status = fail_file(export, "rename the finished file to", name, errno);
    if (status != SHELL_FINE && whole)
        (void)unlink(partial);
    if (status != SHELL_FINE && interrupt_pending())
        tell_end(export, name, whole);
    free(partial);
    return status;
}

static enum shell_status
export_to_output(struct cell_export *export, enum shell_status (*run)(struct cell_export *))
{
    enum shell_status status;

    output_flush(&export->session->output);
    export->file = STDOUT_FILENO;
    status = run(export);
    if (status != SHELL_FINE && interrupt_pending())
        tell_end(export, "standard output", false);
    if (status == SHELL_FINE && export->write_error != 0)
        status = fail_file(export, "write to", "standard output", export->write_error);
    return status;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A command that has to do with making the table: a comment, unless it is asked for. */
static void
add_command(struct cell_export *export, const struct text *command)
{
    if (command->size > 0)
        text_add_format(&export->out, "%s%s\n", export->create ? "" : "# ", text_string(command));
}

/* All of the file. */
static enum shell_status
write_lines(struct cell_export *export)
{
    struct text creation = {0}, closing = {0};
    enum shell_status status;

    cell_write_header(&export->out, export->format);
    if (export->format == FILE_HBASE) {
        ruby_open(export->session);
        ruby_describe_creation(export->session, petal_table_name(export->table), &creation,
                               &closing);
    }
    add_command(export, &creation);
    status = export_cells(export);
    if (status == SHELL_FINE)
        add_command(export, &closing);
    text_free(&creation);
    text_free(&closing);
    if (status == SHELL_FINE)
        (void)export_write(export);
    return status;
}

static void
warn_of_lost_order(const petal_table *table)
{
    petal_table_options options = PETAL_DEFAULTS;

    petal_table_describe(table, &options);
    for (size_t i = 0; i < options.family_count; i++)
        if (options.families[i].new_version_behavior)
            (void)fprintf(stderr,
                          "kv-shell: family %.*s has NEW_VERSION_BEHAVIOR: the order of its writes "
                          "is not in the file\n",
                          SLICE(options.families[i].name));
}

static void
show_counts(const struct cell_export *export, double seconds)
{
    struct text cells = {0};

    if (export->colons > 0) {
        text_add_count(&cells, export->colons, "cell");
        (void)fprintf(stderr,
                      "kv-shell: %s %s a colon in the qualifier, where put of a shell cuts it; "
                      "import reads such cells as they are\n",
                      text_string(&cells), export->colons == 1 ? "has" : "have");
        text_clear(&cells);
    }
    text_add_count(&cells, export->cells, "cell");
    (void)fprintf(stderr, "%s exported, %" PRIu64 " bytes", text_string(&cells), export->bytes);
    text_free(&cells);
    if (!export->session->no_times)
        (void)fprintf(stderr, " in %.1f s (%.1f MB/s)", seconds,
                      seconds > 0 ? (double)export->bytes / 1e6 / seconds : 0.0);
    (void)fputc('\n', stderr);
}

/* Without a word it is what the file's name tells, or CSV. */
static bool
read_format(const struct request *request, enum file_format *format)
{
    *format = FILE_CSV;
    if (request->format != NULL)
        return file_format_of_word(request->format, format);
    if (request->file != NULL)
        (void)file_format_of_name(request->file, format);
    return true;
}

/* The table and what to scan are set. */
static enum shell_status
run_export(struct cell_export *export, const struct request *request)
{
    enum shell_status status;
    double begin = clock_seconds(CLOCK_MONOTONIC);
    bool output;

    export->scan.read.keep_out_of_cache = true;
    export->all_versions = request->all_versions || export->scan.raw;
    if (export->all_versions) {
        export->scan.raw = true;
        export->scan.read.versions = PETAL_ALL_VERSIONS;
        export->columns = export->scan.read.columns;
        export->column_count = export->scan.read.column_count;
        export->scan.read.columns = NULL;
        export->scan.read.column_count = 0;
        warn_of_lost_order(export->table);
    }
    export->create = request->create;
    output = request->file == NULL || strcmp(request->file, "-") == 0;
    progress_begin(&export->progress, "export", "cells");
    status = output ? export_to_output(export, write_lines)
                    : export_to_file(export, request->file, write_lines);
    progress_end(&export->progress);
    if (status == SHELL_FINE)
        show_counts(export, clock_seconds(CLOCK_MONOTONIC) - begin);
    text_free(&export->out);
    return status;
}

/* ---- Subcommand ------------------------------------------------------------------------------ */

/* The bytes that a word with \xHH means, in the arena. */
static bool
read_bytes(struct session *session, petal_slice word, petal_slice *bytes)
{
    struct cell_parser parser = {.bytes = {0}};
    bool good;

    text_add_slice(&parser.bytes, word);
    good = cell_undo_binary(&parser, 0, bytes);
    if (good)
        bytes->data = arena_copy(&session->arena, bytes->data, bytes->size);
    cell_parser_free(&parser);
    return good;
}

static enum shell_status
read_columns(struct cell_export *export, const char *list)
{
    struct session *session = export->session;
    petal_column *columns;
    enum shell_status status = SHELL_FINE;

    columns = arena_allocate(&session->arena, (strlen(list) + 1) * sizeof(*columns));
    export->scan.read.columns = columns;
    while (*list != '\0' && status == SHELL_FINE) {
        petal_column *column = &columns[export->scan.read.column_count++];
        size_t size = strcspn(list, ",");
        petal_slice bytes, family;
        bool has_qualifier;

        *column = (petal_column){.family = NULL};
        if (!read_bytes(session, (petal_slice){list, size}, &bytes))
            return session_fail(session, SHELL_USAGE,
                                "A backslash in a column must begin \\xHH, not as in %s", list);
        column_part(bytes, &family, &column->qualifier, &has_qualifier);
        column->whole_family = !has_qualifier;
        status = session_family(session, export->table, family, &column->family);
        list += size + (list[size] == ',');
    }
    return status;
}

static enum shell_status
read_request(struct cell_export *export, const struct request *request)
{
    struct session *session = export->session;
    enum shell_status status =
        session_table(session, slice_of_string(request->table), &export->table);

    if (status == SHELL_FINE && request->columns != NULL)
        status = read_columns(export, request->columns);
    if (status != SHELL_FINE)
        return status;
    if ((request->from != NULL &&
         !read_bytes(session, slice_of_string(request->from), &export->scan.start_row)) ||
        (request->to != NULL &&
         !read_bytes(session, slice_of_string(request->to), &export->scan.stop_row)))
        return session_fail(session, SHELL_USAGE, "A backslash in a row must begin \\xHH");
    return SHELL_FINE;
}

enum shell_status
export_main(struct session *session, int argc, char **argv)
{
    struct cell_export export = {
        .session = session,
        .scan = {.size = sizeof(export.scan), .read = {.size = sizeof(export.scan.read)}}};
    struct request request = {.format = NULL};
    const struct command_option options[] = {
        {"--format", NULL, command_take_any_text, &request.format, "csv, tsv, jsonl or hbase"},
        {"--from", NULL, command_take_any_text, &request.from, "a row"},
        {"--to", NULL, command_take_any_text, &request.to, "a row"},
        {"--columns", NULL, command_take_any_text, &request.columns, "columns with commas"},
        {"--all-versions", &request.all_versions, NULL, NULL, NULL},
        {"--create", &request.create, NULL, NULL, NULL}};
    struct text why = {0};
    enum shell_status status;

    for (int i = 0; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] == '-') {
            if (!option_take(options, COUNT_OF(options), argc, argv, &i, &why)) {
                (void)session_fail(session, SHELL_USAGE, "%s", text_string(&why));
                text_free(&why);
                return SHELL_USAGE;
            }
        } else if (request.table == NULL) {
            request.table = argv[i];
        } else if (request.file == NULL) {
            request.file = argv[i];
        } else {
            return session_fail(session, SHELL_USAGE, "One file at a time, and not %s as well",
                                argv[i]);
        }
    }
    if (request.table == NULL)
        return session_fail(session, SHELL_USAGE, "Say which table to export, and to which file");
    if (!read_format(&request, &export.format))
        return session_fail(session, SHELL_USAGE,
                            "The formats are csv, tsv, jsonl and hbase, not %s", request.format);
    if (request.create && export.format != FILE_HBASE)
        return session_fail(session, SHELL_USAGE, "--create is for --format hbase only");
    status = read_request(&export, &request);
    if (status == SHELL_FINE)
        status = run_export(&export, &request);
    arena_clear(&session->arena);
    return status;
}

/* ---- Command --------------------------------------------------------------------------------- */

static bool
is_true(const struct value *hash, const char *key)
{
    const struct value *value = query_given(hash, key);

    return value != NULL && value->kind == VALUE_BOOLEAN && value->as.boolean;
}

COMMAND_FUNCTION(command_export)
{
    struct value scanned[2] = {arguments[0], count > 2 ? arguments[2] : value_nil()};
    struct cell_export export = {.session = session};
    struct request request = {.file = value_to_string(&session->arena, &arguments[1])};
    const struct value *format = query_given(&scanned[1], "FORMAT");
    enum shell_status status;
    struct query query;

    status = query_read_scan(session, QUERY_SCAN, scanned, count - 1, &query);
    request.format = format != NULL ? value_to_string(&session->arena, format) : NULL;
    if (status == SHELL_FINE && !read_format(&request, &export.format))
        status = query_fail_key(session, "FORMAT", format, "it must be csv, tsv, jsonl or hbase");
    request.create = status == SHELL_FINE && is_true(&scanned[1], "CREATE");
    if (request.create && export.format != FILE_HBASE)
        status = session_fail(session, SHELL_USAGE, "CREATE is for FORMAT => 'hbase' only");
    if (status == SHELL_FINE) {
        request.all_versions = is_true(&scanned[1], "ALL_VERSIONS");
        export.table = query.table;
        export.scan = query.scan;
        status = run_export(&export, &request);
    }
    query_end(&query);
    return status;
}

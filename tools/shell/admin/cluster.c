/*
 * cluster.c -- commands whose answer in HBase belongs to a cluster, as one process answers them:
 * status, whoami, regions, the block cache, and the lists that are always empty here.
 *
 * A table is one region, from the first row to the last; there is one server, this process.
 */
#include "tools/shell/admin/commands.h"
#include "tools/shell/admin/snapshot.h"
#include "tools/shell/session/names.h"
#include "tools/shell/session/words_of_values.h"

#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SERVER "localhost"

enum { MEBIBYTE = 1 << 20, MOST_GROUPS = 256 };

/* ---- status, processlist, whoami ------------------------------------------------------------- */

struct table_figures {
    uint64_t files, file_bytes, memtable_bytes;
};

static bool
add_file(void *argument, const petal_file_info *file)
{
    struct table_figures *figures = argument;

    figures->files++;
    figures->file_bytes += file->file_bytes;
    return true;
}

static bool
add_table(void *argument, petal_table *table)
{
    struct table_figures *figures = argument;
    petal_error error;

    /* One that goes away meanwhile has no files. */
    if (petal_table_files(table, add_file, figures, &error) != PETAL_OK)
        return true;
    figures->memtable_bytes += petal_table_memtable_bytes(table);
    return true;
}

static void
show_figures(struct session *session, const char *before, petal_slice name,
             const struct table_figures *figures)
{
    if (format_is_on(&session->output.format)) {
        format_bytes(&session->output.format, name);
        format_number(&session->output.format, figures->files);
        format_number(&session->output.format, figures->file_bytes);
        format_number(&session->output.format, figures->memtable_bytes);
        return;
    }
    output_plain(&session->output,
                 "%s%.*s: storefiles=%" PRIu64 ", storefileSizeMB=%" PRIu64
                 ", memstoreSizeMB=%" PRIu64,
                 before, SLICE(name), figures->files, figures->file_bytes / MEBIBYTE,
                 figures->memtable_bytes / MEBIBYTE);
}

COMMAND_FUNCTION(command_status)
{
    petal_slice format = {0};
    struct name_list tables;
    enum shell_status status = name_list_tables(session, NULL, LIST_ANY, &tables);

    if (count > 0)
        format = value_to_bytes(&session->arena, &arguments[0]);
    if (status != SHELL_FINE)
        return status;
    if (slice_is(format, "simple") || slice_is(format, "detailed")) {
        struct table_figures all = {0};
        bool records = format_is_on(&session->output.format);
        bool detailed = slice_is(format, "detailed");
        petal_error error;

        if (records)
            format_begin(&session->output.format, "name storefiles storefile_bytes memstore_bytes");
        else
            output_plain(&session->output, "1 live servers");
        if (petal_table_list(session->db, add_table, &all, &error) != PETAL_OK)
            return session_fail_petal(session, &error);
        show_figures(session, "    ", slice_of_string(SERVER), &all);
        for (size_t i = 0; detailed && i < tables.count; i++) {
            struct table_figures figures = {0};
            petal_table *table;

            if (petal_table_open(session->db, tables.items[i], &table, &error) == PETAL_OK)
                (void)add_table(&figures, table);
            show_figures(session, "        ", tables.items[i], &figures);
        }
        if (!records)
            output_plain(&session->output, "0 dead servers");
        return SHELL_FINE;
    }
    if (slice_is(format, "replication"))
        return session_fail(session, SHELL_USAGE, "There is no replication");
    if (output_begin_records(&session->output, "tables")) {
        format_number(&session->output.format, tables.count);
        return SHELL_FINE;
    }
    output_plain(&session->output,
                 "1 active master, 0 backup masters, 1 servers, 0 dead, %zu.0000 average load",
                 tables.count);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_processlist)
{
    struct text *text = &session->scratch;
    petal_stats stats;

    petal_stats_get(session->db, &stats);
    if (format_is_on(&session->output.format)) {
        format_begin(&session->output.format, "flushes_waiting compactions_running");
        format_number(&session->output.format, stats.flushes_waiting);
        format_number(&session->output.format, stats.compactions_running);
        return SHELL_FINE;
    }
    text_clear(text);
    text_add_date(text, (int64_t)time(NULL) * 1000);
    output_plain(&session->output, "%" PRIu64 " tasks as of: %s",
                 stats.flushes_waiting + stats.compactions_running, text_string(text));
    if (stats.flushes_waiting > 0)
        output_plain(&session->output, "flushes: %" PRIu64, stats.flushes_waiting);
    if (stats.compactions_running > 0)
        output_plain(&session->output, "compactions: %" PRIu64, stats.compactions_running);
    return SHELL_FINE;
}

static void
add_group(struct text *text, gid_t id)
{
    const struct group *group = getgrgid(id);

    text_add_string(text, text->size > 0 ? ", " : "");
    if (group != NULL)
        text_add_string(text, group->gr_name);
    else
        text_add_format(text, "%lu", (unsigned long)id);
}

/* The user and the groups of the process: whoever may open the directory may do everything. */
COMMAND_FUNCTION(command_whoami)
{
    const struct passwd *user = getpwuid(geteuid());
    struct format *format = &session->output.format;
    struct text *text = &session->scratch;
    gid_t groups[MOST_GROUPS];
    int number = getgroups(MOST_GROUPS, groups);

    text_clear(text);
    if (user != NULL)
        text_add_string(text, user->pw_name);
    else
        text_add_format(text, "%lu", (unsigned long)geteuid());
    if (format_is_on(format)) {
        format_begin(format, "user groups");
        format_text(format, text_slice(text));
    } else {
        output_plain(&session->output, "%s (auth:SIMPLE)", text_string(text));
    }
    text_clear(text);
    if (number <= 0)
        add_group(text, getegid());
    for (int i = 0; i < number; i++)
        add_group(text, groups[i]);
    if (format_is_on(format))
        format_text(format, text_slice(text));
    else
        output_plain(&session->output, "    groups: %s", text_string(text));
    return SHELL_FINE;
}

/* ---- Regions --------------------------------------------------------------------------------- */

/* As in HBase a table need not be there. */
COMMAND_FUNCTION(command_get_splits)
{
    petal_slice name;

    if (session_table_name(session, &arguments[0], &name) != SHELL_FINE)
        return SHELL_USAGE;
    if (output_begin_records(&session->output, "splits"))
        format_number(&session->output.format, 1);
    else
        output_plain(&session->output, "Total number of splits = 1");
    *result = (struct value){.kind = VALUE_ARRAY};
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_locate_region)
{
    struct text *text = &session->scratch;
    petal_table *table;
    enum shell_status status =
        session_any_table(session, &arguments[0], "Unknown table ", "!", &table);

    if (status != SHELL_FINE)
        return status;
    output_header(&session->output, "HOST", "REGION");
    text_clear(text);
    text_add_string(text, "{NAME => '");
    text_add_slice(text, petal_table_name(table));
    text_add_string(text, ",,', STARTKEY => '', ENDKEY => ''}");
    output_columns(&session->output, slice_of_string(SERVER), text_slice(text));
    output_plain(&session->output, "1 row(s)");
    return SHELL_FINE;
}

static const struct {
    const char *name, *record_name;
    size_t width;
} region_columns[] = {{"SERVER_NAME", "server_name", 12},
                      {"REGION_NAME", "region_name", 12},
                      {"START_KEY", "start_key", 10},
                      {"END_KEY", "end_key", 10},
                      {"SIZE", "size", 5},
                      {"REQ", "req", 5},
                      {"LOCALITY", "locality", 10}};

enum { REGION_COLUMNS = COUNT_OF(region_columns) };

#define REGION_COLUMN_NAMES                                                                        \
    "Possible values are SERVER_NAME, REGION_NAME, START_KEY, END_KEY, SIZE, REQ, LOCALITY."

/* One line of the table of regions: its values, or dashes where they are NULL. */
static void
show_region_line(struct session *session, const bool *wanted, const size_t *widths,
                 const char *const *values)
{
    struct text *text = &session->scratch;

    text_clear(text);
    for (size_t c = 0; c < REGION_COLUMNS; c++) {
        size_t length = values[c] != NULL ? strlen(values[c]) : widths[c];

        if (!wanted[c])
            continue;
        text_add_string(text, " ");
        for (size_t i = length; i < widths[c]; i++)
            text_add_string(text, " ");
        for (size_t i = 0; values[c] == NULL && i < length; i++)
            text_add_string(text, "-");
        if (values[c] != NULL)
            text_add_string(text, values[c]);
        text_add_string(text, " |");
    }
    output_plain_slice(&session->output, text_slice(text));
}

/* `count` lines about the one region. */
static void
show_regions(struct session *session, petal_table *table, const bool *wanted, size_t count)
{
    static const char *const dashes[REGION_COLUMNS];
    struct format *format = &session->output.format;
    struct text *text = &session->scratch;
    petal_slice name = petal_table_name(table);
    const char *names[REGION_COLUMNS];
    struct table_figures figures = {0};
    size_t widths[REGION_COLUMNS];
    char region[300], size[24];
    const char *const values[REGION_COLUMNS] = {SERVER, region, "", "", size, "0", "1.0"};

    (void)add_table(&figures, table);
    (void)snprintf(region, sizeof(region), "%.*s,,", SLICE(name));
    (void)snprintf(size, sizeof(size), "%" PRIu64, figures.file_bytes / MEBIBYTE);
    text_clear(text);
    for (size_t c = 0; c < REGION_COLUMNS; c++) {
        names[c] = region_columns[c].name;
        widths[c] = region_columns[c].width;
        if (strlen(values[c]) > widths[c])
            widths[c] = strlen(values[c]);
        if (wanted[c])
            text_add_format(text, "%s%s", text->size > 0 ? " " : "", region_columns[c].record_name);
    }
    if (!format_is_on(format)) {
        show_region_line(session, wanted, widths, names);
        show_region_line(session, wanted, widths, dashes);
        if (count > 0)
            show_region_line(session, wanted, widths, values);
        output_plain(&session->output, " %zu rows", count);
    } else if (text->size > 0) {
        format_begin(format, text_string(text));
        for (size_t c = 0; c < REGION_COLUMNS && count > 0; c++)
            if (wanted[c])
                format_string(format, values[c]);
    }
}

/* The second argument chooses servers by how their names begin, the third columns: their names
 * in an array, whatever their case. */
COMMAND_FUNCTION(command_list_regions)
{
    const struct value *server = count > 1 ? &arguments[1] : NULL;
    const struct value *columns =
        count > 2 && arguments[2].kind != VALUE_NIL ? &arguments[2] : NULL;
    bool wanted[REGION_COLUMNS];
    petal_slice begin = {0};
    enum shell_status status;
    petal_table *table;

    status = session_any_table(session, &arguments[0], "Unknown table ", "!", &table);
    if (status != SHELL_FINE)
        return status;
    if (session_is_disabled(session, petal_table_name(table)))
        return session_fail(session, SHELL_USAGE, "Table %.*s must be enabled.",
                            SLICE(petal_table_name(table)));
    if (columns != NULL && columns->kind != VALUE_ARRAY)
        return session_fail(session, SHELL_USAGE, "%s is no array of strings. " REGION_COLUMN_NAMES,
                            value_class(columns));
    for (size_t c = 0; c < REGION_COLUMNS; c++)
        wanted[c] = columns == NULL;
    for (size_t i = 0; columns != NULL && i < columns->count; i++) {
        petal_slice name = value_to_bytes(&session->arena, &columns->as.items[i]);
        size_t c = 0;

        while (c < REGION_COLUMNS && !equals_ignoring_case(name, region_columns[c].name))
            c++;
        if (c == REGION_COLUMNS)
            return session_fail(session, SHELL_USAGE,
                                "%.*s is not a valid column. " REGION_COLUMN_NAMES,
                                SLICE_UP_TO(200, name));
        wanted[c] = true;
    }
    if (server != NULL && server->kind == VALUE_HASH)
        server = value_hash_get(server, "SERVER_NAME");
    if (server != NULL)
        begin = value_to_bytes(&session->arena, server);
    show_regions(session, table, wanted,
                 begin.size <= strlen(SERVER) &&
                     (begin.size == 0 || memcmp(begin.data, SERVER, begin.size) == 0));
    return SHELL_FINE;
}

/* ---- The block cache, background compaction, sizes of snapshots ------------------------------ */

COMMAND_FUNCTION(command_clear_block_cache)
{
    petal_table *table;
    petal_stats stats;
    petal_error error;
    uint64_t blocks;
    enum shell_status status =
        session_any_table(session, &arguments[0], "Unknown table ", "!", &table);

    if (status != SHELL_FINE)
        return status;
    if (petal_cache_clear(session->db, table, &blocks, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    if (output_begin_records(&session->output, "evicted_blocks")) {
        format_number(&session->output.format, blocks);
        return SHELL_FINE;
    }
    petal_stats_get(session->db, &stats);
    output_plain(&session->output,
                 "CacheEvictionStats{evictedBlocks=%" PRIu64 ", maxCacheSize=%" PRIu64
                 ", failedRegionsSize=0, failedRegions=[]}",
                 blocks, stats.cache_capacity);
    return SHELL_FINE;
}

/* It is switched when the database is opened; asking for what is so already succeeds. */
COMMAND_FUNCTION(command_compaction_switch)
{
    bool running = !session->no_compaction;

    if (arguments[0].kind != VALUE_BOOLEAN)
        return session_fail(session, SHELL_USAGE, "Say true or false, not %s",
                            value_class(&arguments[0]));
    if (arguments[0].as.boolean != running)
        return session_fail(session, SHELL_USAGE,
                            "Compaction in the background is %s for as long as the database is "
                            "open: start kv-shell %s --no-compaction",
                            running ? "on" : "off", running ? "with" : "without");
    output_header(&session->output, "SERVER", "PREV_STATE");
    output_columns(&session->output, slice_of_string(SERVER),
                   slice_of_string(running ? "true" : "false"));
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_list_snapshot_sizes)
{
    struct snapshot_list list;
    enum shell_status status = snapshot_list_read(session, NULL, NULL, &list);

    output_header(&session->output, "SNAPSHOT", "SIZE");
    if (status != SHELL_FINE)
        return status;
    for (size_t i = 0; i < list.count; i++) {
        text_clear(&session->scratch);
        text_add_format(&session->scratch, "%" PRIu64, list.items[i].file_bytes);
        output_columns(&session->output, list.items[i].name, text_slice(&session->scratch));
    }
    output_plain(&session->output, "%zu row(s)", list.count);
    return SHELL_FINE;
}

/* Table snapshots whose time is over go with the next command about snapshots. */
COMMAND_FUNCTION(command_snapshot_cleanup_enabled)
{
    *result = value_boolean(true);
    output_truth(&session->output, "enabled", true);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_list_liveservers)
{
    output_header(&session->output, "SERVERNAME", NULL);
    output_line(&session->output, slice_of_string(SERVER));
    output_plain(&session->output, "1 row(s)");
    return SHELL_FINE;
}

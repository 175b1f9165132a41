/* shell_stats.c -- stats: the database's counters, or what is known of a table's store files; verify. */
#include "tools/shell_attribute.h"
#include "tools/shell_command.h"

#include <inttypes.h>

/* Print one counter, if it is wanted: `wanted` NULL or an array with its name. */
static bool
show_counter(struct session *session, const struct value *wanted, const char *name, uint64_t value,
             const char *meaning)
{
    struct text *text = &session->scratch;
    bool listed = wanted == NULL;

    for (size_t i = 0; !listed && i < wanted->count; i++)
        listed = slice_is(value_to_bytes(&session->arena, &wanted->as.items[i]), name);
    if (!listed)
        return false;
    text_clear(text);
    text_add_format(text, "%" PRIu64, value);
    if (wanted == NULL)
        text_add_format(text, "  %s", meaning);
    output_columns(&session->output, slice_of_string(name), text_slice(text));
    return true;
}

static size_t
show_cache(struct session *session, const struct value *wanted, const petal_stats *stats)
{
    static const char *const kinds[PETAL_BLOCK_KINDS] = {"data", "index", "filter"};
    size_t shown = show_counter(session, wanted, "cache_capacity", stats->cache_capacity,
                                "block cache: limit in bytes");

    for (size_t kind = 0; kind < PETAL_BLOCK_KINDS; kind++) {
        const struct {
            const char *name, *meaning;
            uint64_t value;
        } counters[] = {
            {"bytes", "bytes in the block cache", stats->cache_bytes[kind]},
            {"blocks", "blocks in the block cache", stats->cache_blocks[kind]},
            {"inserted", "blocks that entered the block cache", stats->cache_inserted[kind]},
            {"evicted", "blocks that had to leave the block cache", stats->cache_evicted[kind]},
        };

        for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
            char name[40], meaning[80];

            (void)snprintf(name, sizeof(name), "cache_%s_%s", kinds[kind], counters[i].name);
            (void)snprintf(meaning, sizeof(meaning), "%s %s", kinds[kind], counters[i].meaning);
            shown += show_counter(session, wanted, name, counters[i].value, meaning);
        }
    }
    return shown;
}

static enum shell_status
show_counters(struct session *session, const struct value *wanted)
{
    petal_stats stats;
    size_t shown = 0;

    petal_stats_get(session->db, &stats);
    output_header(&session->output, "COUNTER", "VALUE");
#define SHOW_COUNTER(name, meaning)                                                                \
    shown += show_counter(session, wanted, #name, stats.name, meaning);
    PETAL_STATS_MAP(SHOW_COUNTER)
#undef SHOW_COUNTER
    shown += show_cache(session, wanted, &stats);
    if (wanted != NULL && shown < wanted->count)
        return session_fail(session, SHELL_NOT_FOUND, "some of these counters there are not");
    return SHELL_FINE;
}

static bool
show_file(void *argument, const petal_file_info *file)
{
    struct session *session = argument;
    struct text name = {0}, *text = &session->scratch;

    text_add_binary(&name, file->family);
    text_add_format(&name, " file %" PRIu64, file->number);
    text_clear(text);
    text_add_format(text, "%" PRIu64 " rows, %" PRIu64 " cells, %" PRIu64 " of them markers, rows ",
                    file->rows, file->cells, file->markers);
    text_add_binary(text, file->row_min);
    text_add_string(text, "..");
    text_add_binary(text, file->row_max);
    text_add_string(text, ", time ");
    text_add_time(text, file->time_min);
    text_add_string(text, "..");
    text_add_time(text, file->time_max);
    text_add_format(text,
                    ", sequence %" PRIu64 "..%" PRIu64 ", %" PRIu64 " bytes: %" PRIu64
                    " data in %" PRIu64 " blocks (%" PRIu64 " before compression), %" PRIu64
                    " index, %" PRIu64 " filter",
                    file->sequence_min, file->sequence_max, file->file_bytes, file->data_bytes,
                    file->data_blocks, file->raw_data_bytes, file->index_bytes, file->filter_bytes);
    text_add_format(text, ", %s filter", schema_bloom_name(file->bloom));
    if (file->bloom_keys > 0)
        text_add_format(text, " of %" PRIu64 " keys in %" PRIu64 " chunks at rate %g",
                        file->bloom_keys, file->bloom_chunks, file->bloom_error_rate);
    output_columns(&session->output, text_slice(&name), text_slice(text));
    text_free(&name);
    return true;
}

static enum shell_status
show_table(struct session *session, const struct value *argument)
{
    petal_table *table;
    petal_slice name;
    petal_error error;
    enum shell_status status = session_table_name(session, argument, &name);

    if (status == SHELL_FINE)
        status = session_table(session, name, &table);
    if (status != SHELL_FINE)
        return status;
    output_header(&session->output, "FILE", "FACTS");
    if (petal_table_files(table, show_file, session, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    output_plain(&session->output, "%" PRIu64 " bytes in memtables",
                 petal_table_memtable_bytes(table));
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_stats)
{
    const struct value *wanted;

    (void)result;
    if (count == 0)
        return show_counters(session, NULL);
    if (arguments[0].kind != VALUE_HASH)
        return show_table(session, &arguments[0]);
    wanted = value_hash_get(&arguments[0], "COUNTERS");
    if (wanted == NULL || wanted->kind != VALUE_ARRAY)
        return session_fail(session, SHELL_USAGE, "COUNTERS => ['name', ..] is wanted");
    return show_counters(session, wanted);
}

COMMAND_FUNCTION(command_verify)
{
    petal_table *table;
    petal_slice name;
    petal_error error;
    enum shell_status status = session_table_name(session, &arguments[0], &name);

    (void)count;
    (void)result;
    if (status == SHELL_FINE)
        status = session_table(session, name, &table);
    if (status != SHELL_FINE)
        return status;
    if (petal_table_verify(table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    output_plain(&session->output, "All store files of the table are sound");
    return SHELL_FINE;
}

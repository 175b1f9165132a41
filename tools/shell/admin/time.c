/*
 * time.c -- time: what one command takes: by the clock, of the processor, and in blocks.
 *
 * The processor's time is that of the whole process, so what runs in the background meanwhile is in
 * it; blocks are those of the database's counters.
 */
#include "tools/shell/admin/commands.h"
#include "tools/shell/data/commands.h"
#include "tools/shell/session/run.h"
#include "tools/shell/text/clock.h"

#include <inttypes.h>

/* What was counted up to a moment. */
struct moment {
    double wall, processor;
    petal_stats stats;
};

static void
take_moment(struct session *session, struct moment *moment)
{
    petal_stats_get(session->db, &moment->stats);
    moment->processor = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    moment->wall = clock_seconds(CLOCK_MONOTONIC);
}

static void
show_spent(struct session *session, const struct moment *begin, const struct moment *end)
{
    struct text *text = &session->scratch;
    const petal_stats *a = &begin->stats, *b = &end->stats;

    text_clear(text);
    text_add_string(text, "Time: ");
    if (!session->no_times)
        text_add_format(text, "wall %.6f s, cpu %.6f s; ", end->wall - begin->wall,
                        end->processor - begin->processor);
    text_add_format(text,
                    "blocks: data %" PRIu64 " cached %" PRIu64 " fetched, index %" PRIu64
                    " cached %" PRIu64 " fetched, filter %" PRIu64 " cached %" PRIu64 " fetched; ",
                    b->data_cached - a->data_cached, b->data_fetched - a->data_fetched,
                    b->index_cached - a->index_cached, b->index_fetched - a->index_fetched,
                    b->filter_cached - a->filter_cached, b->filter_fetched - a->filter_fetched);
    text_add_format(text, "%" PRIu64 " bytes read from store files",
                    b->bytes_fetched - a->bytes_fetched);
    output_plain_slice(&session->output, text_slice(text));
}

COMMAND_FUNCTION(command_time)
{
    const struct command *time = session->running;
    const struct command *command = command_find(session, arguments[0].as.bytes);
    struct moment begin, end;
    enum shell_status status;

    if (command == NULL || command->run == command_time || command->run == command_transaction)
        return session_fail(session, SHELL_USAGE, "time takes a command, such as time scan 't'");
    if (run_check_transaction(session, command) != SHELL_FINE)
        return SHELL_USAGE;
    if (count - 1 < command->least || count - 1 > command->most)
        return run_fail_count(session, command, count - 1);
    take_moment(session, &begin);
    session->running = command;
    status = command->run(session, arguments + 1, count - 1, result);
    session->running = time;
    take_moment(session, &end);
    format_end(&session->output.format);
    show_spent(session, &begin, &end);
    return status;
}

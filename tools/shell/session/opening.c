/* opening.c -- see tools/shell/session/opening.h. */
#include "tools/shell/session/opening.h"

#include "tools/shell/session/interrupt.h"
#include "tools/shell/text/clock.h"

#include <stdio.h>
#include <stdlib.h>

static enum shell_status
print_petal_error(const char *what, const petal_error *error)
{
    struct text text = {0};

    describe_petal_error(&text, error);
    (void)fprintf(stderr, "kv-shell: %s%s\n", what, text_string(&text));
    text_free(&text);
    return shell_status_of(error->status);
}

/* Whose opening has failed after its first step. */
static void
close_database(struct session *session)
{
    petal_result_free(session->result);
    (void)petal_close(session->db, NULL);
    session->result = NULL;
    session->db = NULL;
}

/* *error: why it may not be written to. */
static enum petal_status
open_next_to_writer(struct session *session, petal_options *options, petal_error *error)
{
    petal_error busy = *error;
    enum petal_status outcome;

    options->read_only = true;
    options->create = false;
    outcome = petal_open(session->directory, options, &session->db, error);
    if (outcome != PETAL_OK)
        return outcome;
    text_add_string(&session->writer, busy.text);
    (void)fprintf(stderr, "kv-shell: %s: commands only read, and show what that has written\n",
                  busy.text);
    return PETAL_OK;
}

static enum petal_status
open_database(struct session *session, bool create, petal_error *error)
{
    petal_options options = *session->options;
    enum petal_status outcome;

    options.create = create;
    outcome = petal_open(session->directory, &options, &session->db, error);
    if (outcome == PETAL_BUSY && !options.read_only)
        outcome = open_next_to_writer(session, &options, error);
    session->reads_only = options.read_only;
    if (outcome == PETAL_OK)
        outcome = petal_result_new(session->db, &session->result, error);
    if (outcome == PETAL_OK)
        outcome = petal_receipt_new(session->db, &session->receipt, error);
    if (outcome != PETAL_OK)
        close_database(session);
    return outcome;
}

void
session_begin(struct session *session, const char *directory, const petal_options *options)
{
    session->exit_status = -1;
    session->directory = directory;
    session->options = options;
    session->no_compaction = options->no_compaction;
}

enum shell_status
session_open(struct session *session, const char *directory, const petal_options *options)
{
    enum shell_status status;
    enum petal_status outcome;
    petal_error error;

    session_begin(session, directory, options);
    outcome = open_database(session, options->create, &error);
    if (outcome == PETAL_OK || (outcome == PETAL_NOT_FOUND && !options->read_only))
        return SHELL_FINE;
    status =
        print_petal_error(outcome == PETAL_NOT_FOUND ? "" : "cannot open the database: ", &error);
    if (outcome == PETAL_CORRUPT)
        (void)fprintf(stderr,
                      "kv-shell: \"kv-check verify %s\" lists what is damaged, kv-check(1) says "
                      "what to do\n",
                      directory);
    (void)session_close(session);
    return status;
}

/* Open the database that was not there when the session began. */
static enum shell_status
open_late(struct session *session, bool create)
{
    petal_error error;
    enum petal_status outcome;

    if (session->db != NULL)
        return SHELL_FINE;
    interrupt_hold(true);
    outcome = open_database(session, create, &error);
    interrupt_hold(false);
    if (outcome == PETAL_NOT_FOUND)
        return session_fail(session, SHELL_NOT_FOUND,
                            "there is no database in %.900s: create 'table', 'family' makes one, "
                            "and so does kv-shell --create",
                            session->directory);
    return outcome == PETAL_OK ? SHELL_FINE : session_fail_petal(session, &error);
}

enum shell_status
session_want_database(struct session *session)
{
    return open_late(session, false);
}

/* So often a loop of commands sees what is new. */
#define REFRESH_SECONDS 0.05

static void
note_next_backup(struct session *session)
{
    struct text line = {0};

    text_add_format(&line,
                    "kv-shell: another database, or the next backup, is in %s by now: commands "
                    "show what was there; open it anew to see the other\n",
                    session->directory);
    session_note(session, &line);
    text_free(&line);
}

enum shell_status
session_refresh(struct session *session)
{
    double now = clock_seconds(CLOCK_MONOTONIC);
    enum petal_status outcome;
    petal_error error;

    if (!session->reads_only || (session->loop != 0 && now - session->refreshed < REFRESH_SECONDS))
        return SHELL_FINE;
    session->refreshed = now;
    outcome = petal_refresh(session->db, &error);
    if (outcome == PETAL_NOT_FOUND)
        note_next_backup(session);
    else if (outcome != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

enum shell_status
session_make_database(struct session *session)
{
    return open_late(session, true);
}

enum shell_status
session_close(struct session *session)
{
    enum shell_status status = SHELL_FINE;
    petal_error error;

    petal_receipt_free(session->receipt);
    petal_result_free(session->result);
    if (petal_close(session->db, &error) != PETAL_OK)
        status = print_petal_error(
            "closing the database (what is not in store files stays in its log): ", &error);
    for (size_t i = 0; i < session->disabled_count; i++)
        text_free(&session->disabled[i]);
    free(session->disabled);
    text_free(&session->message);
    text_free(&session->writer);
    text_free(&session->told);
    text_free(&session->scratch);
    output_free(&session->output);
    get_history_free(&session->history);
    arena_clear(&session->arena);
    return status;
}

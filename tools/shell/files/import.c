/*
 * import.c -- kv-shell DIR import TABLE FILE, and the command import: the pipeline, and the batches
 * written.  See tools/shell/files/import.h.
 *
 * A field that occurs again, in a later record of the same row, replaces the earlier one.
 */
#include "tools/shell/files/import.h"

#include "tools/shell/files/commands.h"
#include "tools/shell/files/header.h"
#include "tools/shell/files/pipeline.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/opening.h"
#include "tools/shell/session/words_of_values.h"
#include "tools/shell/text/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void
import_job_fail(struct import_job *job, enum shell_status status, const char *message)
{
    job->stop = true;
    job->failure = status;
    text_clear(&job->message);
    text_add_string(&job->message, message);
}

void
import_job_clear(struct import_job *job)
{
    petal_batch_clear(job->batch);
    job->records = job->cells = job->bad = 0;
    job->flush = job->stop = job->at_line = job->has_ttl = false;
    job->ttl_ms = 0;
    job->failure = SHELL_FINE;
    text_clear(&job->complaints);
    text_clear(&job->message);
    text_clear(&job->block);
}

static void
work_on_records(void *context, void *job)
{
    (void)context;
    (void)job;
}

static void
work_on_cells(void *context, void *argument)
{
    struct import *import = context;
    struct import_job *job = argument;

    if (!job->stop)
        import_work_cells(import, job, import->intake.most_bad);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Jobs count their bad lines each for itself: this one begins anew with what the others have
 * left, if they have left too little. */
static void
hold_limit(struct import *import, struct import_job *job)
{
    uint64_t left = import->intake.most_bad - import->bad;

    if (job->block.size == 0 || import->bad == 0 || job->bad + job->stop <= left)
        return;
    petal_batch_clear(job->batch);
    job->records = job->cells = job->bad = 0;
    job->stop = job->at_line = job->has_ttl = false;
    job->ttl_ms = 0;
    text_clear(&job->complaints);
    import_work_cells(import, job, left);
}

/* What the job holds is not written. */
static bool
end_before(struct import *import, const struct import_job *job)
{
    import->first_missing = job->first_line;
    return false;
}

static bool
write_job(void *context, void *argument)
{
    struct import *import = context;
    struct import_job *job = argument;
    struct session *session = import->intake.session;
    struct progress *progress = &import->intake.progress;

    import->interrupted = interrupt_pending();
    if (import->interrupted)
        return end_before(import, job);
    hold_limit(import, job);
    if (job->complaints.size > 0) {
        progress_hide(progress);
        (void)fputs(text_string(&job->complaints), stderr);
    }
    import->failed = petal_write(session->db, job->batch, NULL, &import->error) != PETAL_OK;
    if (import->failed)
        return end_before(import, job);
    import->records += job->records;
    import->cells += job->cells;
    import->bad += job->bad;
    progress_update(progress, job->bytes_read, import->intake.file_bytes, import->records);
    import->failed =
        job->flush && petal_flush(session->db, import->intake.table, &import->error) != PETAL_OK;
    if (job->stop)
        import->stopped = job;
    return !import->failed && !job->stop;
}

static void
add_counts(struct text *text, const struct import *import)
{
    double seconds = clock_seconds(CLOCK_MONOTONIC) - import->begun;

    text_add_count(text, import->records, "record");
    text_add_string(text, " and ");
    text_add_count(text, import->cells, "cell");
    text_add_string(text, " imported");
    if (import->bad > 0) {
        text_add_string(text, ", ");
        text_add_count(text, import->bad, "bad record");
        text_add_string(text, " passed over");
    }
    if (!import->intake.session->no_times)
        text_add_format(text, " in %.1f s (%.1f MB/s)", seconds,
                        seconds > 0 ? (double)import->bytes_read / 1e6 / seconds : 0.0);
}

/* Say what is in the table, in a line below why the import ended. */
static void
add_what_is_there(struct text *text, const struct import *import)
{
    text_add_string(text, "\n");
    if (import->stopped != NULL && import->stopped->at_line)
        text_add_string(text, "The lines before it are in the table: ");
    else if (import->first_missing > 0)
        text_add_format(text, "The lines before %" PRIu64 " are in the table, none from there on: ",
                        import->first_missing);
    add_counts(text, import);
}

static enum shell_status
outcome_of(const struct import *import)
{
    struct session *session = import->intake.session;
    enum shell_status status = SHELL_FINE;

    if (import->interrupted) {
        status = interrupt_check(session);
    } else if (import->failed) {
        status = session_fail_petal(session, &import->error);
    } else if (import->stopped != NULL) {
        status = import->stopped->failure;
        text_clear(&session->message);
        text_add_slice(&session->message, text_slice(&import->stopped->message));
    }
    if (status == SHELL_FINE)
        return import->bad > 0 ? SHELL_NOT_FOUND : SHELL_FINE;
    add_what_is_there(&session->message, import);
    return status;
}

static void
free_jobs(struct import_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        petal_batch_free(jobs[i].batch);
        text_free(&jobs[i].complaints);
        text_free(&jobs[i].message);
        text_free(&jobs[i].block);
        cell_parser_free(&jobs[i].parser);
    }
    free(jobs);
}

static enum shell_status
run_jobs(struct import *import, bool cells)
{
    size_t count = (size_t)import->intake.threads * 2 + 2;
    struct import_job *jobs = memory_allocate(count * sizeof(*jobs));
    void **pointers = memory_allocate(count * sizeof(*pointers));
    struct pipeline pipeline = {.context = import,
                                .jobs = pointers,
                                .job_count = count,
                                .threads = (unsigned)import->intake.threads,
                                .read = cells ? import_read_cells : import_read_records,
                                .work = cells ? work_on_cells : work_on_records,
                                .write = write_job};
    enum shell_status status = SHELL_FINE;
    petal_error error;

    for (size_t i = 0; i < count; i++) {
        jobs[i] = (struct import_job){.family = NULL};
        pointers[i] = &jobs[i];
    }
    for (size_t i = 0; i < count && status == SHELL_FINE; i++)
        if (petal_batch_new(import->intake.session->db, &jobs[i].batch, &error) != PETAL_OK)
            status = session_fail_petal(import->intake.session, &error);
    if (status == SHELL_FINE) {
        import->started = true;
        progress_begin(&import->intake.progress, "import", "records");
        pipeline_run(&pipeline);
        progress_end(&import->intake.progress);
        status = outcome_of(import);
    }
    free(pointers);
    free_jobs(jobs, count);
    return status;
}

/* ---- Records or cells ------------------------------------------------------------------------ */

static enum shell_status
import_records(struct import *import)
{
    bool any;
    enum shell_status status = header_read(&import->intake, &any);

    return status == SHELL_FINE && any ? run_jobs(import, false) : status;
}

/* A table that cells made is told of when all its families are there. */
static void
tell_table(struct import *import)
{
    struct session *session = import->intake.session;
    struct text *text = &session->scratch;

    text_clear(text);
    intake_describe_table(text, import->intake.table);
    output_plain(&session->output, "%s; its families keep all versions, which alter can change",
                 text_string(text));
}

static bool
is_at_end(FILE *file)
{
    int letter = getc(file);

    if (letter != EOF)
        (void)ungetc(letter, file);
    return letter == EOF && !ferror(file);
}

static enum shell_status
fail_without_cells(const struct intake *intake)
{
    return session_fail(intake->session, SHELL_USAGE,
                        "%s holds no cell, so there is no table to make", intake->file_name);
}

static enum shell_status
import_cells(struct import *import)
{
    struct intake *intake = &import->intake;
    enum shell_status status = intake_refuse_options_of_records(intake);

    if (status != SHELL_FINE)
        return status;
    if (intake->table == NULL && is_at_end(intake->file))
        return fail_without_cells(intake);
    status = session_make_database(intake->session);
    if (status != SHELL_FINE)
        return status;
    (void)pthread_mutex_init(&import->making, NULL);
    status = run_jobs(import, true);
    (void)pthread_mutex_destroy(&import->making);
    if (import->made)
        tell_table(import);
    if (status == SHELL_FINE && intake->table == NULL)
        return fail_without_cells(intake);
    return status;
}

/* ---- Subcommand and command ------------------------------------------------------------------ */

static void
show_counts(const struct import *import)
{
    struct session *session = import->intake.session;
    struct format *format = &session->output.format;
    struct text *text = &session->scratch;

    if (format_is_on(format)) {
        format_begin(format, "records cells bad_records");
        format_number(format, import->records);
        format_number(format, import->cells);
        format_number(format, import->bad);
        format_end(format);
        return;
    }
    if (session->message.size > 0)
        return; /* it has them, after why the import ended */
    text_clear(text);
    add_counts(text, import);
    output_plain(&session->output, "%s", text_string(text));
}

static enum shell_status
run_import(struct import *import)
{
    enum shell_status status = intake_open(&import->intake);

    import->begun = clock_seconds(CLOCK_MONOTONIC);
    if (status != SHELL_FINE)
        return status;
    status = import_is_cells(import) ? import_cells(import) : import_records(import);
    if (import->bytes_read < import->intake.reader.bytes_read)
        import->bytes_read = import->intake.reader.bytes_read;
    intake_close(&import->intake);
    text_free(&import->carry);
    text_free(&import->script_table);
    if (status == SHELL_FINE || import->started)
        show_counts(import);
    return status;
}

enum shell_status
import_main(struct session *session, int argc, char **argv)
{
    struct import import = {.records = 0};
    enum shell_status status = intake_parse(&import.intake, session, argc, argv);

    return status == SHELL_FINE ? run_import(&import) : status;
}

/* ---- Command --------------------------------------------------------------------------------- */

COMMAND_FUNCTION(command_import)
{
    struct import import = {.records = 0};
    enum shell_status status;
    petal_slice name;

    if (count == 3 && arguments[2].kind != VALUE_HASH)
        return session_fail(session, SHELL_USAGE,
                            "Options are a hash such as {FORMAT => 'csv'}, not %s",
                            value_class(&arguments[2]));
    status = intake_parse_command(&import.intake, session, arguments, count);
    if (status == SHELL_FINE)
        status = session_table_name(session, &arguments[0], &name);
    return status == SHELL_FINE ? run_import(&import) : status;
}

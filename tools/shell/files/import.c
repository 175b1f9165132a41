/*
 * import.c -- kv-shell DIR import TABLE FILE, and the command import: the pipeline, and the batches
 * written.  See tools/shell/files/import.h.
 *
 * A field that occurs again, in a later record of the same row, replaces the earlier one.
 */
#include "tools/shell/files/import.h"

#include "tools/shell/files/commands.h"
#include "tools/shell/files/pipeline.h"
#include "tools/shell/session/interrupt.h"
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
    job->flush = job->stop = job->has_ttl = false;
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
    job->stop = job->has_ttl = false;
    job->ttl_ms = 0;
    text_clear(&job->complaints);
    import_work_cells(import, job, left);
}

/* What the job holds is not written. */
static bool
end_before(struct import *import, const struct import_job *job)
{
    progress_hide(&import->intake.progress);
    (void)fprintf(stderr,
                  "kv-shell: import stopped: the lines before %" PRIu64
                  " are in the table, none from there on\n",
                  job->first_line);
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

static enum shell_status
outcome_of(const struct import *import)
{
    struct session *session = import->intake.session;

    if (import->interrupted)
        return interrupt_check(session);
    if (import->failed)
        return session_fail_petal(session, &import->error);
    if (import->stopped == NULL)
        return import->bad > 0 ? SHELL_NOT_FOUND : SHELL_FINE;
    text_clear(&session->message);
    text_add_slice(&session->message, text_slice(&import->stopped->message));
    (void)fputs("kv-shell: import stopped: what stands before the mistake is in the table, nothing "
                "behind it\n",
                stderr);
    return import->stopped->failure;
}

static enum shell_status
run_jobs(struct import *import, struct import_job *jobs, size_t count)
{
    bool cells = import_is_cells(import);
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
        progress_begin(&import->intake.progress, "import", "records");
        pipeline_run(&pipeline);
        progress_end(&import->intake.progress);
        status = outcome_of(import);
    }
    free(pointers);
    return status;
}

/* ---- Subcommand and command ------------------------------------------------------------------ */

static void
show_counts(const struct import *import, double seconds)
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
    text_clear(text);
    text_add_format(text, "%" PRIu64 " records and %" PRIu64 " cells imported", import->records,
                    import->cells);
    if (import->bad > 0)
        text_add_format(text, ", %" PRIu64 " bad records passed over", import->bad);
    if (!session->no_times)
        text_add_format(text, " in %.1f s (%.1f MB/s)", seconds,
                        seconds > 0 ? (double)import->bytes_read / 1e6 / seconds : 0.0);
    output_plain(&session->output, "%s", text_string(text));
}

enum shell_status
import_main(struct session *session, int argc, char **argv)
{
    struct import import = {.records = 0};
    enum shell_status status = intake_parse(&import.intake, session, argc, argv);
    struct import_job *jobs;
    double begin = clock_seconds(CLOCK_MONOTONIC);
    size_t count;

    if (status != SHELL_FINE || (status = intake_open(&import.intake)) != SHELL_FINE)
        return status;
    count = (size_t)import.intake.threads * 2 + 2;
    jobs = memory_allocate(count * sizeof(*jobs));
    status = run_jobs(&import, jobs, count);
    if (import.bytes_read < import.intake.reader.bytes_read)
        import.bytes_read = import.intake.reader.bytes_read;
    for (size_t i = 0; i < count; i++) {
        petal_batch_free(jobs[i].batch);
        text_free(&jobs[i].complaints);
        text_free(&jobs[i].message);
        text_free(&jobs[i].block);
        cell_parser_free(&jobs[i].parser);
    }
    free(jobs);
    intake_close(&import.intake);
    text_free(&import.carry);
    text_free(&import.script_table);
    show_counts(&import, clock_seconds(CLOCK_MONOTONIC) - begin);
    return status;
}

/* The keys of the command's hash, and the options that they are. */
static const char *const keys[][2] = {
    {"FORMAT", "--format"},           {"ON_ERROR", "--on-error"},
    {"MAX_ERRORS", "--max-errors"},   {"THREADS", "--threads"},
    {"FLUSH_EVERY", "--flush-every"}, {"ONLY_FIELDS", "--only-fields"},
    {"SKIP_FIELDS", "--skip-fields"}};

enum { KEYS = COUNT_OF(keys) };

COMMAND_FUNCTION(command_import)
{
    char *words[2 + 2 * KEYS];
    enum shell_status status;
    petal_slice name;
    int used = 0;

    if (count == 3 && arguments[2].kind != VALUE_HASH)
        return session_fail(session, SHELL_USAGE,
                            "a hash such as {FORMAT => 'csv'} is wanted, "
                            "not %s",
                            value_class(&arguments[2]));
    for (size_t i = 0; count == 3 && i < arguments[2].count; i++) {
        const struct value_pair *pair = &arguments[2].as.pairs[i];
        size_t key = 0;

        name = value_to_bytes(&session->arena, &pair->key);
        while (key < KEYS && !slice_is(name, keys[key][0]))
            key++;
        if (key == KEYS)
            return session_fail(session, SHELL_USAGE, "import has no key %.*s", SLICE(name));
        words[used] = arena_copy(&session->arena, keys[key][1], strlen(keys[key][1]) + 1);
        words[used + 1] = value_to_string(&session->arena, &pair->value);
        used += 2;
    }
    status = session_table_name(session, &arguments[0], &name);
    if (status != SHELL_FINE)
        return status;
    words[used] = value_to_string(&session->arena, &arguments[0]);
    words[used + 1] = value_to_string(&session->arena, &arguments[1]);
    return import_main(session, used + 2, words);
}

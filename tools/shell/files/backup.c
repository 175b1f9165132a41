/* backup.c -- backup and restore: the whole database goes to another directory, or comes from
 * there. */
#include "tools/shell/files/backup.h"

#include "tools/command/option.h"
#include "tools/shell/data/query.h"
#include "tools/shell/files/commands.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/text/progress.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char backup_usage[] =
    "  --copy                    backup: copy files, do not link to those of DIR\n"
    "  --previous BACKUP         backup: share with this one what did not change\n"
    "  --replace                 restore: replace the database in DIR\n";

/* ---- progress ---- */

static bool
watch(void *argument, uint64_t done, uint64_t total)
{
    progress_update(argument, done, total, done);
    return !interrupt_pending();
}

static enum shell_status
conclude(struct session *session, const petal_error *error)
{
    if (error->status == PETAL_BUSY && interrupt_pending())
        return session_fail(session, SHELL_USAGE, "Interrupted: what was there before stays");
    return session_fail_petal(session, error);
}

/* ---- the report ---- */

static void
add_time(struct text *text, int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char day[40];

    if (gmtime_r(&seconds, &tm) == NULL || strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        text_add_format(text, "%" PRId64 " ms", ms);
    else
        text_add_format(text, "%s.%03dZ", day, (int)(ms % 1000));
}

static void
show_report(struct session *session, const char *what, const petal_backup_report *report)
{
    struct output *output = &session->output;
    struct text text = {0}, at = {0};

    add_time(&at, report->state_ms);
    if (output_begin_records(output, "files skipped linked copied written bytes bytes_copied "
                                     "removed sequence state_at seconds")) {
        const uint64_t numbers[] = {report->files,        report->skipped, report->linked,
                                    report->copied,       report->written, report->bytes,
                                    report->bytes_copied, report->removed, report->last_sequence};

        for (size_t i = 0; i < COUNT_OF(numbers); i++)
            format_number(&output->format, numbers[i]);
        format_string(&output->format, text_string(&at));
        format_real(&output->format, (double)report->took_us / 1e6);
    } else {
        text_add_format(&text,
                        "%s: %" PRIu64 " store files of %" PRIu64 " bytes: %" PRIu64
                        " skipped, %" PRIu64 " linked, %" PRIu64 " copied, %" PRIu64
                        " written from the log; %" PRIu64 " bytes copied, %" PRIu64
                        " old files removed; writes up to %" PRIu64 ", %s",
                        what, report->files, report->bytes, report->skipped, report->linked,
                        report->copied, report->written, report->bytes_copied, report->removed,
                        report->last_sequence, text_string(&at));
        if (!session->no_times)
            text_add_format(&text, "; %.3f s", (double)report->took_us / 1e6);
        output_plain_slice(output, text_slice(&text));
    }
    text_free(&text);
    text_free(&at);
}

/* ---- backup ---- */

static void
note_no_previous(struct session *session, const char *previous)
{
    struct text line = {0};

    if (access(previous, F_OK) == 0)
        return;
    text_add_format(&line, "kv-shell: there is no %s: nothing is shared with it\n", previous);
    session_note(session, &line);
    text_free(&line);
}

static enum shell_status
back_up(struct session *session, const char *destination, const char *previous, bool copy)
{
    struct progress progress = {.what = NULL};
    const petal_backup_options options = {.size = sizeof options,
                                          .copy = copy,
                                          .previous = previous,
                                          .argument = &progress,
                                          .watch = watch};
    petal_backup_report report;
    petal_error error;
    enum petal_status outcome;

    if (previous != NULL)
        note_no_previous(session, previous);
    progress_begin(&progress, "backup", "bytes");
    outcome = petal_backup(session->db, destination, &options, &report, &error);
    progress_end(&progress);
    if (outcome != PETAL_OK)
        return conclude(session, &error);
    show_report(session, "backup", &report);
    return SHELL_FINE;
}

/* Take options and one word; `wanted` is what the word is. */
static enum shell_status
parse(struct session *session, const struct command_option *options, size_t count, int argc,
      char **argv, const char **word, const char *wanted)
{
    enum shell_status status = SHELL_FINE;
    struct text why = {0};

    for (int i = 0; i < argc && status == SHELL_FINE; i++) {
        if (argv[i][0] == '-') {
            if (!option_take(options, count, argc, argv, &i, &why))
                status = session_fail(session, SHELL_USAGE, "%s", text_string(&why));
        } else if (*word == NULL && argv[i][0] != '\0') {
            *word = argv[i];
        } else {
            status =
                session_fail(session, SHELL_USAGE, "Say %s, and not '%s' as well", wanted, argv[i]);
        }
    }
    text_free(&why);
    if (status == SHELL_FINE && *word == NULL)
        status = session_fail(session, SHELL_USAGE, "Say %s", wanted);
    return status;
}

enum shell_status
backup_main(struct session *session, int argc, char **argv)
{
    const char *destination = NULL, *previous = NULL;
    bool copy = false;
    const struct command_option options[] = {
        {"--copy", &copy, NULL, NULL, NULL},
        {"--previous", NULL, command_take_text, &previous, "a directory"}};
    enum shell_status status = parse(session, options, COUNT_OF(options), argc, argv, &destination,
                                     "into which one directory the backup goes");

    return status == SHELL_FINE ? back_up(session, destination, previous, copy) : status;
}

static enum shell_status
read_directory(struct session *session, const struct value *value, const char **directory)
{
    petal_slice bytes;

    if (value->kind != VALUE_STRING || value->as.bytes.size == 0)
        return session_fail(session, SHELL_USAGE, "A directory must be text that is not empty");
    bytes = value->as.bytes;
    if (memchr(bytes.data, 0, bytes.size) != NULL)
        return session_fail(session, SHELL_USAGE,
                            "The name of a directory must not have a zero byte in it");
    *directory = value_to_string(&session->arena, value);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_backup)
{
    static const char *const known[] = {"COPY", "PREVIOUS"};
    const struct value *hash = count > 1 ? &arguments[1] : NULL;
    const struct value *copy = hash != NULL ? query_given(hash, "COPY") : NULL;
    const struct value *before = hash != NULL ? query_given(hash, "PREVIOUS") : NULL;
    const char *destination, *previous = NULL;
    enum shell_status status = read_directory(session, &arguments[0], &destination);

    if (status == SHELL_FINE && hash != NULL && hash->kind != VALUE_HASH)
        return session_fail(session, SHELL_USAGE,
                            "Options are a hash such as {COPY => true}, not %s", value_class(hash));
    if (status == SHELL_FINE && hash != NULL)
        query_note_unknown(session, hash, known, COUNT_OF(known));
    if (status == SHELL_FINE && copy != NULL && copy->kind != VALUE_BOOLEAN)
        return query_fail_key(session, "COPY", copy, "it must be true or false");
    if (status == SHELL_FINE && before != NULL)
        status = read_directory(session, before, &previous);
    if (status != SHELL_FINE)
        return status;
    return back_up(session, destination, previous, copy != NULL && copy->as.boolean);
}

/* ---- restore ---- */

enum shell_status
restore_main(struct session *session, int argc, char **argv)
{
    const char *backup = NULL;
    bool replace = false;
    const struct command_option options[] = {{"--replace", &replace, NULL, NULL, NULL}};
    enum shell_status status = parse(session, options, COUNT_OF(options), argc, argv, &backup,
                                     "from which one backup the database is made");
    struct progress progress = {.what = NULL};
    petal_restore_options restoring = {.size = sizeof restoring,
                                       .env = session->options->env,
                                       .replace = replace,
                                       .argument = &progress,
                                       .watch = watch};
    petal_backup_report report;
    petal_error error;
    enum petal_status outcome;

    if (status != SHELL_FINE)
        return status;
    progress_begin(&progress, "restore", "bytes");
    outcome = petal_restore(backup, session->directory, &restoring, &report, &error);
    progress_end(&progress);
    if (outcome == PETAL_EXISTS && !replace)
        return session_fail(session, SHELL_USAGE, "%s; --replace replaces a database", error.text);
    if (outcome != PETAL_OK)
        return conclude(session, &error);
    show_report(session, "restore", &report);
    return SHELL_FINE;
}

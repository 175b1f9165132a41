/* verify.c -- verify: is every block of every store file of a table, or of all tables, sound? */
#include "tools/shell/admin/commands.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/text/progress.h"

#include <inttypes.h>
#include <string.h>

struct verification {
    struct session *session;
    struct progress progress;
    bool all;             /* tables: lines about faults name theirs */
    uint64_t done, total; /* of the table at hand */
    uint64_t tables, faults;
    struct text damaged; /* names of the tables with faults, parted by commas */
};

static void
show_row(struct format *format, bool is_known, petal_slice row)
{
    if (is_known)
        format_bytes(format, row);
    else
        format_null(format);
}

/* A record, or a line that begins with "fault". */
static void
show_fault(void *argument, const petal_fault *fault)
{
    struct verification *verification = argument;
    struct output *output = &verification->session->output;
    struct text *text = &verification->session->scratch;

    progress_hide(&verification->progress);
    if (format_is_on(&output->format)) {
        if (verification->faults == 0)
            format_begin(&output->format, "fault table family bytes from_row to_row");
        format_string(&output->format, fault->error->text);
        format_bytes(&output->format, fault->table);
        format_bytes(&output->format, fault->family);
        format_number(&output->format, fault->bytes);
        show_row(&output->format, fault->has_row_from, fault->row_from);
        show_row(&output->format, fault->has_row_to, fault->row_to);
    } else {
        text_clear(text);
        text_add_format(text, "fault: %s, ", fault->error->text);
        if (verification->all) {
            text_add_string(text, "table ");
            text_add_binary(text, fault->table);
            text_add_string(text, ", ");
        }
        text_add_string(text, "family ");
        text_add_binary(text, fault->family);
        if (fault->has_row_from) {
            text_add_string(text, ", from row ");
            text_add_binary(text, fault->row_from);
        }
        if (fault->has_row_to) {
            text_add_string(text, ", to row ");
            text_add_binary(text, fault->row_to);
        }
        output_plain_slice(output, text_slice(text));
    }
    verification->faults++;
}

static bool
watch_verification(void *argument, uint64_t done, uint64_t total)
{
    struct verification *verification = argument;

    verification->done = done;
    verification->total = total;
    progress_update(&verification->progress, done, total, done);
    return !interrupt_pending();
}

/* Go on after faults, which are shown; false: something else ends it. */
static bool
verify_table(struct verification *verification, petal_table *table, enum shell_status *status)
{
    const petal_check_options options = {.size = sizeof options,
                                         .argument = verification,
                                         .fault = show_fault,
                                         .watch = watch_verification};
    struct session *session = verification->session;
    petal_slice name = petal_table_name(table);
    uint64_t faults_before = verification->faults;
    enum petal_status outcome;
    petal_error error;

    verification->done = verification->total = 0;
    progress_begin(&verification->progress, "verify", "bytes");
    outcome = petal_table_verify_watched(table, &options, &error);
    progress_end(&verification->progress);
    verification->tables++;
    if (verification->faults > faults_before) {
        text_add_string(&verification->damaged, verification->damaged.size > 0 ? ", " : "");
        text_add_slice(&verification->damaged, name);
    }
    if (outcome == PETAL_OK || (outcome == PETAL_CORRUPT && verification->faults > faults_before))
        return true;
    if (outcome == PETAL_BUSY && interrupt_pending())
        *status = session_fail(
            session, SHELL_USAGE,
            "Interrupted at %.0f %% of table %.*s: %s up "
            "to there",
            verification->total > 0 ? 100 * (double)verification->done / (double)verification->total
                                    : 0,
            SLICE_UP_TO(256, name), verification->faults == 0 ? "sound" : "damaged");
    else
        *status = session_fail_petal(session, &error);
    return false;
}

/* All tables, disabled ones included. */
struct walk {
    struct verification *verification;
    enum shell_status status;
};

static bool
verify_next(void *argument, petal_table *table)
{
    struct walk *walk = argument;

    return verify_table(walk->verification, table, &walk->status);
}

static enum shell_status
verify_all(struct verification *verification)
{
    struct walk walk = {.verification = verification, .status = SHELL_FINE};
    petal_error error;

    verification->all = true;
    if (petal_table_list(verification->session->db, verify_next, &walk, &error) != PETAL_OK)
        return session_fail_petal(verification->session, &error);
    return walk.status;
}

/* The faults are shown: how many they are, and what can be done; or that there are none. */
static enum shell_status
conclude(const struct verification *verification)
{
    struct session *session = verification->session;

    if (verification->faults > 0)
        return session_fail_by_verdict(
            session, SHELL_DATA,
            "%" PRIu64 " %s in the store files of table%s %.*s: bring the files back from a "
            "backup, or have \"kv-check salvage %s NEW\" write what can still be read into a new "
            "database, NEW",
            verification->faults, verification->faults == 1 ? "fault" : "faults",
            strchr(text_string(&verification->damaged), ',') != NULL ? "s" : "",
            SLICE_UP_TO(1024, text_slice(&verification->damaged)), session->directory);
    if (output_begin_records(&session->output, "sound"))
        format_boolean(&session->output.format, true);
    else if (verification->all)
        output_plain(&session->output, "All store files of %" PRIu64 " %s are sound",
                     verification->tables, verification->tables == 1 ? "table" : "tables");
    else
        output_plain(&session->output, "All store files of the table are sound");
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_verify)
{
    struct verification verification = {.session = session};
    enum shell_status status = SHELL_FINE;
    petal_table *table;

    if (count == 0) {
        status = verify_all(&verification);
    } else {
        status = session_enabled_table(session, &arguments[0], &table);
        if (status == SHELL_FINE)
            (void)verify_table(&verification, table, &status);
    }
    if (status == SHELL_FINE)
        status = conclude(&verification);
    text_free(&verification.damaged);
    return status;
}

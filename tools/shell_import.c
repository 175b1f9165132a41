/*
 * shell_import.c -- kv-shell DIR import TABLE FILE: the records of a file, written in batches.
 *
 * A field that occurs again, in a later record of the same row, replaces the earlier one.
 */
#include "tools/shell_intake.h"

#include <inttypes.h>
#include <time.h>

enum { BATCH_CELLS = 1000, BATCH_BYTES = 4 << 20 };

struct import {
    struct intake intake;
    petal_batch *batch;
    uint64_t batch_bytes;
    uint64_t records, cells, bad;
};

static enum shell_status
fail(struct import *import, const petal_error *error)
{
    struct session *session = import->intake.session;

    return intake_report(session, session_fail_petal(session, error));
}

static enum shell_status
write_batch(struct import *import)
{
    petal_error error;

    if (petal_write(import->intake.session->db, import->batch, NULL, &error) != PETAL_OK)
        return fail(import, &error);
    petal_batch_clear(import->batch);
    import->batch_bytes = 0;
    return SHELL_FINE;
}

static enum shell_status
flush(struct import *import)
{
    petal_error error;
    enum shell_status status = write_batch(import);

    if (status == SHELL_FINE &&
        petal_flush(import->intake.session->db, import->intake.table, &error) != PETAL_OK)
        status = fail(import, &error);
    return status;
}

static enum shell_status
add_record(struct import *import)
{
    struct intake *intake = &import->intake;
    const struct record_reader *reader = &intake->reader;
    petal_error error;

    for (size_t i = 0; i < reader->field_count; i++) {
        const struct record_field *field = &reader->fields[i];
        const struct record_column *column = &reader->columns[field->column];
        petal_slice family, qualifier;

        if (!intake_wants(intake, field))
            continue;
        intake_column(intake, column, &family, &qualifier);
        if (petal_batch_put(import->batch, column->family, reader->row, qualifier, PETAL_LATEST,
                            field->value, &error) != PETAL_OK)
            return fail(import, &error);
        import->cells++;
        import->batch_bytes += field->value.size;
    }
    import->records++;
    if (petal_batch_count(import->batch) >= BATCH_CELLS || import->batch_bytes >= BATCH_BYTES)
        return write_batch(import);
    return SHELL_FINE;
}

static enum shell_status
import_records(struct import *import)
{
    struct intake *intake = &import->intake;
    enum shell_status status;
    bool more = false;

    while ((status = intake_next(intake, &more, &import->bad)) == SHELL_FINE && more) {
        status = add_record(import);
        if (status == SHELL_FINE && intake->flush_every > 0 &&
            import->records % intake->flush_every == 0)
            status = flush(import);
        if (status != SHELL_FINE)
            break;
        intake_progress(intake, "import", import->records, false);
    }
    intake_progress(intake, "import", import->records, true);
    if (status == SHELL_FINE)
        status = intake->parts > 0 ? flush(import) : write_batch(import);
    return status;
}

static double
seconds_since(const struct timespec *begin)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

enum shell_status
import_main(struct session *session, int argc, char **argv)
{
    struct import import = {.records = 0};
    struct timespec begin;
    petal_error error;
    enum shell_status status = intake_parse(&import.intake, session, argc, argv);

    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    if (status != SHELL_FINE || (status = intake_open(&import.intake)) != SHELL_FINE)
        return status;
    if (petal_batch_new(session->db, &import.batch, &error) != PETAL_OK)
        status = fail(&import, &error);
    else
        status = import_records(&import);
    petal_batch_free(import.batch);
    intake_close(&import.intake);
    (void)printf("%" PRIu64 " records and %" PRIu64 " cells imported", import.records,
                 import.cells);
    if (import.bad > 0)
        (void)printf(", %" PRIu64 " bad records passed over", import.bad);
    if (!session->no_times)
        (void)printf(" in %.1f s", seconds_since(&begin));
    (void)printf("\n");
    return status;
}

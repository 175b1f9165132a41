/*
 * import_records.c -- records as a source of import.  See tools/shell/files/import.h.
 *
 * A record is read and put into the batch in one go, by whichever thread is in `read`: quoted
 * values go over line ends, so that only their reader knows where they end.
 */
#include "tools/shell/files/import.h"

enum { BATCH_CELLS = 1000, BATCH_BYTES = 1 << 20 };

/* Put the record at hand into the batch; the bytes of its values. */
static uint64_t
add_record(const struct import *import, struct import_job *job)
{
    const struct intake *intake = &import->intake;
    const struct record_reader *reader = &intake->reader;
    uint64_t bytes = 0;
    petal_error error;

    for (size_t i = 0; i < reader->field_count; i++) {
        const struct record_field *field = &reader->fields[i];
        const struct record_column *column = &reader->columns[field->column];

        if (!intake_wants(intake, field))
            continue;
        if (petal_batch_put(job->batch, column->family, reader->row, column->qualifier,
                            PETAL_LATEST, field->value, &error) != PETAL_OK) {
            struct text text = {0};

            describe_petal_error(&text, &error);
            import_job_fail(job, shell_status_of(error.status), text_string(&text));
            text_free(&text);
            break;
        }
        job->cells++;
        bytes += field->value.size;
    }
    job->records++;
    return bytes;
}

bool
import_read_records(void *context, void *argument)
{
    struct import *import = context;
    struct import_job *job = argument;
    struct intake *intake = &import->intake;
    uint64_t bytes = 0, bad_before = import->read_bad;
    bool more = true;

    if (import->at_end)
        return false;
    import_job_clear(job);
    intake->complaints = &job->complaints;
    job->first_line = intake->reader.line + 1;
    while (!job->stop && !job->flush && petal_batch_count(job->batch) < BATCH_CELLS &&
           bytes < BATCH_BYTES) {
        enum shell_status status = intake_next(intake, &more, &import->read_bad);

        if (status != SHELL_FINE) {
            import_job_fail(job, status, text_string(&intake->session->message));
            job->at_line = intake->at_line;
        }
        if (status != SHELL_FINE || !more)
            break;
        bytes += add_record(import, job);
        job->flush = intake->flush_every > 0 && ++import->read_records % intake->flush_every == 0;
    }
    import->at_end = job->stop || !more;
    job->flush = job->flush || (import->at_end && !job->stop && intake->parts > 0);
    job->bad = import->read_bad - bad_before;
    job->bytes_read = intake->reader.bytes_read;
    return true;
}

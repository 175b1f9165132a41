/*
 * import_cells.c -- cells, one a line, as a source of import.  See tools/shell/files/import.h.
 *
 * `read` takes a block of whole lines from the file; what they mean is worked out by any thread,
 * several blocks at a time.
 */
#include "tools/shell/files/import.h"

#include "tools/shell/text/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A table that is made keeps all versions: what export wrote of several comes back. */
enum { BLOCK_BYTES = 256 << 10, MADE_VERSIONS = INT32_MAX };

/* ---- Reading --------------------------------------------------------------------------------- */

bool
import_is_cells(struct import *import)
{
    const struct record_reader *reader = &import->intake.reader;
    bool is_cells = intake_is_cells(&import->intake, &import->header);

    /* Each job parses with a copy, and with memory of its own. */
    text_free(&import->header.bytes);
    if (is_cells) {
        import->lines = reader->line;
        import->bytes_read = reader->bytes_read;
    }
    return is_cells;
}

/* Fill the block up to the end of a line; the rest of what was read waits for the next job. */
static void
fill_block(struct import *import, struct import_job *job)
{
    struct text *block = &job->block;
    FILE *file = import->intake.file;
    const char *last = NULL;

    text_add_slice(block, text_slice(&import->carry));
    text_clear(&import->carry);
    while (last == NULL && !import->at_end) {
        size_t begin = block->size, size;

        text_reserve(block, BLOCK_BYTES);
        size = fread(block->bytes + begin, 1, BLOCK_BYTES, file);
        if (size < BLOCK_BYTES && ferror(file) && import->intake.reader.read_error == 0)
            import->intake.reader.read_error = errno;
        block->size += size;
        import->bytes_read += size;
        import->at_end = size < BLOCK_BYTES;
        last = size > 0 ? memrchr(block->bytes + begin, '\n', size) : NULL;
    }
    if (import->at_end || last == NULL)
        return;
    text_add(&import->carry, last + 1, (size_t)(block->bytes + block->size - (last + 1)));
    block->size = (size_t)(last + 1 - block->bytes);
}

/* Take the first line off, without its end. */
static petal_slice
take_first_line(petal_slice *rest)
{
    const char *begin = rest->data, *end = memchr(begin, '\n', rest->size);
    petal_slice line = {begin, end != NULL ? (size_t)(end - begin) : rest->size};
    size_t taken = line.size + (end != NULL);

    *rest = (petal_slice){begin + taken, rest->size - taken};
    return line;
}

/* The first command of a script names the table that all others must name. */
static void
note_table(struct import *import, struct import_job *job)
{
    petal_slice rest = text_slice(&job->block);

    while (import->script_table.size == 0 && rest.size > 0)
        if (cell_parse(&job->parser, take_first_line(&rest)) == CELL_GOOD)
            text_add_slice(&import->script_table, job->parser.table);
}

bool
import_read_cells(void *context, void *argument)
{
    struct import *import = context;
    struct import_job *job = argument;
    petal_slice rest;

    if (import->at_end)
        return false;
    import_job_clear(job);
    if (job->parser.field_count == 0) {
        struct text bytes = job->parser.bytes;

        job->parser = import->header;
        job->parser.bytes = bytes;
    }
    job->first_line = import->lines + 1;
    fill_block(import, job);
    if (ferror(import->intake.file)) {
        text_add_format(&job->message, "reading %s failed: %s", import->intake.file_name,
                        strerror(import->intake.reader.read_error));
        job->stop = true;
        job->failure = SHELL_DATA;
    }
    for (rest = text_slice(&job->block); rest.size > 0; import->lines++)
        (void)take_first_line(&rest);
    job->bytes_read = import->bytes_read;
    if (import->intake.format == FILE_HBASE)
        note_table(import, job);
    return true;
}

/* ---- Work ------------------------------------------------------------------------------------ */

/*
 * Times to live belong to mutations of the batch: begin another one where the cell has not that of
 * the one at hand. A mutation without cells would spoil the batch, so the cell must be one that the
 * batch takes.
 */
static enum petal_status
begin_mutation(struct import_job *job, petal_error *error)
{
    const petal_cell *cell = &job->parser.cell;
    petal_mutation_options options = {
        .size = sizeof(options), .has_ttl = cell->has_ttl, .ttl_ms = cell->ttl_ms};
    enum petal_status outcome;

    if (cell->has_ttl == job->has_ttl && cell->ttl_ms == job->ttl_ms)
        return PETAL_OK;
    outcome = petal_batch_mutation(job->batch, &options, error);
    if (outcome == PETAL_OK) {
        job->has_ttl = cell->has_ttl;
        job->ttl_ms = cell->ttl_ms;
    }
    return outcome;
}

/* Add the parser's cell, which has been checked, to the batch. */
static enum petal_status
add_cell(struct import_job *job, petal_error *error)
{
    const petal_cell *cell = &job->parser.cell;
    enum petal_status outcome = begin_mutation(job, error);

    if (outcome == PETAL_OK && cell->type == PETAL_PUT)
        return petal_batch_put(job->batch, job->family, cell->row, cell->qualifier, cell->timestamp,
                               cell->value, error);
    if (outcome == PETAL_OK)
        return petal_batch_delete(job->batch, job->family, cell->row, cell->qualifier,
                                  cell->timestamp, cell->type, error);
    return outcome;
}

/* Give the table one more family. */
static enum petal_status
add_family(petal_table *table, const petal_family_options *family, petal_error *error)
{
    petal_table_options options = {.size = sizeof(options)};
    petal_family_options *families;
    enum petal_status status;

    petal_table_describe(table, &options);
    families = memory_allocate((options.family_count + 1) * sizeof(*families));
    memcpy(families, options.families, options.family_count * sizeof(*families));
    families[options.family_count++] = *family;
    options.families = families;
    status = petal_table_alter(table, &options, error);
    free(families);
    return status;
}

/* Make the family, with its table if that is not there: only a table of this import gets more
 * families. */
static enum petal_status
make_family(struct import *import, petal_slice name, petal_error *error)
{
    struct intake *intake = &import->intake;
    const petal_family_options family = {
        .size = sizeof(family), .name = name, .versions = MADE_VERSIONS};
    const petal_table_options options = {
        .size = sizeof(options), .name = intake->name, .families = &family, .family_count = 1};
    enum petal_status outcome;

    if (intake->table != NULL)
        return add_family(intake->table, &family, error);
    outcome = petal_table_create(intake->session->db, &options, &intake->table, error);
    import->made = outcome == PETAL_OK;
    return outcome;
}

/* The family that the cell names; PETAL_NOT_FOUND if there is none. */
static enum petal_status
find_family(struct import *import, struct import_job *job, petal_error *error)
{
    petal_slice name = job->parser.cell.family;
    petal_table **table = &import->intake.table;
    bool may_make = import->intake.create; /* else neither the table nor its families change */
    enum petal_status outcome = PETAL_NOT_FOUND;

    if (job->family != NULL && slices_equal(petal_family_name(job->family), name))
        return PETAL_OK;
    job->family = NULL;
    if (may_make)
        (void)pthread_mutex_lock(&import->making);
    if (*table != NULL)
        outcome = petal_table_family(*table, name, &job->family, error);
    if (outcome == PETAL_NOT_FOUND && (*table == NULL || import->made)) {
        outcome = make_family(import, name, error);
        if (outcome == PETAL_OK)
            outcome = petal_table_family(*table, name, &job->family, error);
    }
    if (may_make)
        (void)pthread_mutex_unlock(&import->making);
    return outcome;
}

/* Read a line into the batch.  False if it is a bad one; `why` says what is wrong. */
static bool
take_line(struct import *import, struct import_job *job, petal_slice line, uint64_t number,
          struct text *why)
{
    enum cell_outcome outcome = intake_cell(&import->intake, &job->parser, line, number,
                                            text_slice(&import->script_table), why);
    enum petal_status found;
    petal_error error;

    if (outcome != CELL_GOOD)
        return outcome == CELL_NONE;
    found = find_family(import, job, &error);
    if (found == PETAL_NOT_FOUND || found == PETAL_INVALID) {
        intake_say_where(&import->intake, why, number, 0,
                         found == PETAL_INVALID ? error.text : "the table has no such family");
        return false;
    }
    if (found == PETAL_OK && add_cell(job, &error) == PETAL_OK) {
        job->cells++;
        job->records++;
        return true;
    }
    job->stop = true;
    job->failure = shell_status_of(error.status);
    intake_say_where(&import->intake, why, number, 0, error.text);
    return false;
}

/* A line was bad: is that the end? */
static void
note_bad(struct import_job *job, uint64_t limit, const struct text *why)
{
    if (job->stop || job->bad == limit) {
        import_job_fail(job, job->stop ? job->failure : SHELL_USAGE, text_string(why));
        job->at_line = true;
        return;
    }
    job->bad++;
    text_add_format(&job->complaints, "kv-shell: %s\n", text_string(why));
}

void
import_work_cells(struct import *import, struct import_job *job, uint64_t limit)
{
    petal_slice rest = text_slice(&job->block);
    uint64_t number = job->first_line;
    struct text why = {0};

    for (; rest.size > 0 && !job->stop; number++)
        if (!take_line(import, job, take_first_line(&rest), number, &why))
            note_bad(job, limit, &why);
    text_free(&why);
}

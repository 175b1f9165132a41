/* unique.c -- kv-filter unique: records that were not seen before, in the order of the input. */
#include "tools/filter/commands/commands.h"
#include "tools/filter/exact/table.h"
#include "tools/filter/records/hash.h"
#include "tools/filter/records/reader.h"
#include "tools/filter/records/writer.h"

/* Write what is not in the table, and enter it. */
static bool
take_batch(struct table *table, struct writer *writer, const petal_slice *records, size_t count)
{
    uint64_t hashes[READER_BATCH];

    hash_records(table->job, records, count, hashes);
    for (size_t i = 0; i < count; i++)
        table_prefetch(table, hashes[i]);
    for (size_t i = 0; i < count; i++) {
        if (table_find(table, records[i], hashes[i]) != NULL)
            continue;
        if (table_add(table, records[i], hashes[i]) == NULL)
            return job_fail(table->job, "%zu bytes are too little for so many different records",
                            table->job->memory_bytes);
        if (!writer_add(writer, records[i]))
            return false;
    }
    return true;
}

static bool
filter(struct reader *reader, struct table *table, struct writer *writer)
{
    petal_slice records[READER_BATCH];
    size_t count;

    reader->idle = writer_idle;
    reader->idle_argument = writer;
    do {
        if (!reader_next(reader, records, &count) || !take_batch(table, writer, records, count))
            return false;
    } while (count > 0);
    return writer_finish(writer);
}

static bool
open_and_filter(struct job *job, const char *path)
{
    struct reader reader;
    struct writer writer;
    struct table table;
    bool fine = false;

    if (!reader_open(&reader, job, path))
        return false;
    if (writer_open(&writer, job)) {
        if (table_open(&table, job, job->memory_bytes / 2)) {
            fine = filter(&reader, &table, &writer);
            table_close(&table);
        }
        writer_close(&writer);
    }
    reader_close(&reader);
    return fine;
}

static int
run(const struct command *command, int argc, char **argv)
{
    const char *place = "-";
    struct job job;

    if (job_begin(&job, command, argc, argv, NULL, 0, &place, 0, 1) < 0)
        return COMMAND_FAILED;
    return job_end(&job, open_and_filter(&job, place));
}

const struct command filter_unique = {
    .name = "unique",
    .meaning = "records that were not seen before, in the order of the input",
    .usage = "kv-filter unique [options] [FILE]\n" JOB_OPTIONS_HELP,
    .run = run,
};

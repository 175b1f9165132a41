/* top.c -- kv-filter top: the most frequent records, with how often they occur. */
#include "tools/filter/exact/top.h"
#include "tools/filter/commands/commands.h"
#include "tools/filter/job/values.h"
#include "tools/filter/records/writer.h"

#include <inttypes.h>
#include <stdio.h>

enum { DEFAULT_MOST = 10 };

static bool
write_best(struct writer *writer, const struct best *best)
{
    for (size_t i = 0; i < best->count; i++) {
        const struct best_record *record = &best->records[i];
        char number[32];
        int digits = snprintf(number, sizeof number, "%" PRIu64 "\t", record->count);

        if (!writer_add_run(writer, number, (size_t)digits, 0) ||
            !writer_add(writer, (petal_slice){record->bytes, record->size}))
            return false;
    }
    return writer_finish(writer);
}

static bool
find_and_write(struct reader *reader, struct writer *writer, size_t most)
{
    struct best best;
    bool fine;

    best_open(&best, reader->job, most);
    fine = top_records(reader, &best);
    if (fine) {
        best_sort(&best);
        fine = write_best(writer, &best);
    }
    best_close(&best);
    return fine;
}

static bool
filter(struct job *job, const char *path, size_t most)
{
    struct reader reader;
    struct writer writer;
    bool fine = false;

    if (!reader_open(&reader, job, path))
        return false;
    if (writer_open(&writer, job)) {
        fine = find_and_write(&reader, &writer, most);
        writer_close(&writer);
    }
    reader_close(&reader);
    return fine;
}

static int
run(const struct command *command, int argc, char **argv)
{
    uint64_t most = DEFAULT_MOST;
    const struct command_option own[] = {{"-n", NULL, value_take_count, &most, VALUE_COUNT_WANTS}};
    const char *place = "-";
    struct job job;

    if (job_begin(&job, command, argc, argv, own, 1, &place, 0, 1) < 0)
        return COMMAND_FAILED;
    return job_end(&job, filter(&job, place, most < SIZE_MAX ? (size_t)most : SIZE_MAX));
}

const struct command filter_top = {
    .name = "top",
    .meaning = "the most frequent records, with how often they occur",
    .usage = "kv-filter top [options] [FILE]\n"
             "  prints how often a record occurs, a tab and the record, the most frequent first;\n"
             "  equally frequent ones in the order of their bytes\n"
             "  -n K             so many records (default 10)\n" JOB_OPTIONS_HELP,
    .run = run,
};

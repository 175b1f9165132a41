/* top.c -- kv-filter top: the most frequent records, with how often they occur. */
#include "tools/lines/exact/top.h"
#include "tools/command/value.h"
#include "tools/lines/commands/commands.h"
#include "tools/lines/records/pass.h"

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
    return true;
}

static bool
find_and_write(struct reader *reader, struct writer *writer, void *argument)
{
    const uint64_t *most = argument;
    struct best best;
    bool fine;

    best_open(&best, reader->job, *most < SIZE_MAX ? (size_t)*most : SIZE_MAX);
    fine = top_records(reader, &best);
    if (fine) {
        best_sort(&best);
        fine = write_best(writer, &best);
    }
    best_close(&best);
    return fine;
}

static bool
filter(struct job *job, void *most, const char **places, size_t count)
{
    return pass_run(job, count > 0 ? places[0] : NULL, false, find_and_write, most);
}

static int
run(const struct command *command, int argc, char **argv)
{
    uint64_t most = DEFAULT_MOST;
    const struct command_option own[] = {{"-n", NULL, value_take_count, &most, VALUE_COUNT_WANTS}};

    return job_run(command, argc, argv, own, 1, 0, 1, filter, &most);
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

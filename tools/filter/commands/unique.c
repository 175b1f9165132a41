/* unique.c -- kv-filter unique: records that were not seen before, in the order of the input. */
#include "tools/filter/exact/unique.h"
#include "tools/filter/commands/commands.h"

static bool
filter(struct job *job, const char *path)
{
    struct reader reader;
    struct writer writer;
    uint64_t count;
    bool fine = false;

    if (!reader_open(&reader, job, path))
        return false;
    if (writer_open(&writer, job)) {
        fine = unique_records(&reader, &writer, &count) && writer_finish(&writer);
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
    return job_end(&job, filter(&job, place));
}

const struct command filter_unique = {
    .name = "unique",
    .meaning = "records that were not seen before, in the order of the input",
    .usage = "kv-filter unique [options] [FILE]\n" JOB_OPTIONS_HELP,
    .run = run,
};

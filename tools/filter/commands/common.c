/* common.c -- kv-filter common and missing: records of one file that are, or are not, in
 * another. */
#include "tools/filter/exact/common.h"
#include "tools/filter/commands/commands.h"

#include <string.h>

static bool
filter(struct job *job, const char *const *places, bool missing)
{
    struct reader a, b;
    struct writer writer;
    bool fine = false;

    if (strcmp(places[0], "-") == 0 && strcmp(places[1], "-") == 0)
        return job_fail(job, "only one of A and B can be the standard input");
    if (!reader_open(&a, job, places[0]))
        return false;
    if (reader_open(&b, job, places[1])) {
        if (writer_open(&writer, job)) {
            fine = common_records(&a, &b, missing, &writer) && writer_finish(&writer);
            writer_close(&writer);
        }
        reader_close(&b);
    }
    reader_close(&a);
    return fine;
}

static int
run(const struct command *command, int argc, char **argv)
{
    const char *places[2];
    struct job job;

    if (job_begin(&job, command, argc, argv, NULL, 0, places, 2, 2) < 0)
        return COMMAND_FAILED;
    return job_end(&job, filter(&job, places, command == &filter_missing));
}

const struct command filter_common = {
    .name = "common",
    .meaning = "records of A that are in B",
    .usage = "kv-filter common [options] A B\n"
             "  prints the records of A that are in B, too, in A's order, each as often as it is\n"
             "  in A; neither has to be sorted, and one may be \"-\", the standard "
             "input\n" JOB_OPTIONS_HELP,
    .run = run,
};

const struct command filter_missing = {
    .name = "missing",
    .meaning = "records of A that are not in B",
    .usage = "kv-filter missing [options] A B\n"
             "  prints the records of A that are not in B, in A's order, each as often as it is\n"
             "  in A; neither has to be sorted, and one may be \"-\", the standard "
             "input\n" JOB_OPTIONS_HELP,
    .run = run,
};

/* common.c -- kv-filter common and missing: records of one file that are, or are not, in
 * another. */
#include "tools/lines/commands/commands.h"
#include "tools/lines/exact/known.h"

#include <string.h>

struct request {
    bool missing; /* those that are not in B */
    bool unique;  /* each once */
};

static bool
find(struct job *job, const struct request *request, const char **places, struct writer *writer)
{
    struct reader a, b;
    bool fine = false;

    if (!reader_open(&a, job, places[0]))
        return false;
    if (reader_open(&b, job, places[1])) {
        fine = common_records(&a, &b, request->missing, writer);
        reader_close(&b);
    }
    reader_close(&a);
    return fine;
}

/* What was found is put away, so that the memory that finding took is free for telling its records
 * apart. */
static bool
find_unique(struct job *job, const struct request *request, const char **places,
            struct writer *writer)
{
    struct writer found;
    struct reader again;
    uint64_t count;
    bool fine = false;

    if (!writer_open_temporary(&found, job))
        return false;
    if (find(job, request, places, &found) && writer_flush(&found) &&
        reader_open_part(&again, job, found.name, found.descriptor, 0, found.bytes)) {
        fine = unique_records(&again, writer, &count);
        reader_close(&again);
    }
    writer_close(&found);
    return fine;
}

static bool
filter(struct job *job, void *argument, const char **places, size_t count)
{
    const struct request *request = argument;
    struct writer writer;
    bool fine;

    (void)count;
    if (strcmp(places[0], "-") == 0 && strcmp(places[1], "-") == 0)
        return job_fail(job, "only one of A and B can be the standard input");
    if (!writer_open(&writer, job))
        return false;
    fine = (request->unique ? find_unique : find)(job, request, places, &writer) &&
           writer_finish(&writer);
    writer_close(&writer);
    return fine;
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct request request = {.missing = command == &filter_missing};
    const struct command_option own[] = {{"--unique", &request.unique, NULL, NULL, NULL}};

    return job_run(command, argc, argv, own, 1, 2, 2, filter, &request);
}

#define UNIQUE_HELP "  --unique         each of them once, where it comes first\n"

const struct command filter_common = {
    .name = "common",
    .meaning = "records of A that are in B",
    .usage = "kv-filter common [options] A B\n"
             "  prints the records of A that are in B, too, in A's order, each as often as it is\n"
             "  in A; neither has to be sorted, and one may be \"-\", the standard "
             "input\n" UNIQUE_HELP JOB_OPTIONS_HELP,
    .run = run,
};

const struct command filter_missing = {
    .name = "missing",
    .meaning = "records of A that are not in B",
    .usage = "kv-filter missing [options] A B\n"
             "  prints the records of A that are not in B, in A's order, each as often as it is\n"
             "  in A; neither has to be sorted, and one may be \"-\", the standard "
             "input\n" UNIQUE_HELP JOB_OPTIONS_HELP,
    .run = run,
};

/* unique.c -- kv-filter unique: records that were not seen before, in the order of the input. */
#include "bloom/petal_bloom.h"
#include "tools/command/value.h"
#include "tools/lines/commands/commands.h"
#include "tools/lines/exact/known.h"
#include "tools/lines/records/pass.h"
#include "tools/lines/seen/approximate.h"
#include "tools/lines/seen/lasting.h"

struct request {
    double rate;       /* 0: exact */
    uint64_t expected; /* 0: not known */
    const char *state; /* NULL: there is none */
};

static bool
make_sense(struct job *job, const struct request *request)
{
    if (request->state != NULL && request->rate != 0)
        return job_fail(job,
                        "--state is exact, and --approximate has no state: leave one of them out");
    if (request->expected != 0 && request->rate == 0)
        return job_fail(job, "--expect goes with --approximate only");
    return request->rate == 0 ||
           (request->rate >= PETAL_BLOOM_MIN_RATE && request->rate <= PETAL_BLOOM_MAX_RATE) ||
           job_fail(job, "--approximate takes %g to %g", PETAL_BLOOM_MIN_RATE,
                    PETAL_BLOOM_MAX_RATE);
}

static bool
filter_records(struct reader *reader, struct writer *writer, void *argument)
{
    const struct request *request = argument;
    uint64_t count;

    if (request->state != NULL)
        return lasting_unique(reader, writer, request->state);
    if (request->rate != 0)
        return approximate_unique(reader, writer, request->rate, request->expected);
    return unique_records(reader, writer, &count);
}

static bool
filter(struct job *job, void *argument, const char **places, size_t count)
{
    const struct request *request = argument;

    return make_sense(job, request) && pass_run(job, count > 0 ? places[0] : NULL,
                                                request->state != NULL, filter_records, argument);
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct request request = {0};
    const struct command_option own[] = {
        {"--approximate", NULL, value_take_rate, &request.rate, VALUE_RATE_WANTS},
        {"--expect", NULL, value_take_count, &request.expected, VALUE_COUNT_WANTS},
        {"--state", NULL, command_take_text, &request.state, "a directory"}};

    return job_run(command, argc, argv, own, sizeof own / sizeof *own, 0, 1, filter, &request);
}

const struct command filter_unique = {
    .name = "unique",
    .meaning = "records that were not seen before, in the order of the input",
    .usage =
        "kv-filter unique [options] [FILE]\n"
        "  prints the first of each record, byte by byte, in the order of the input\n"
        "  --state DIR      those that no run with DIR has seen, which is made if it is not\n"
        "                   there. --output is appended to: a run that is killed loses none,\n"
        "                   and the next prints again at most its last group of records. On\n"
        "                   the standard output the records of a run are seen once it has\n"
        "                   ended with status 0; those of any other run are printed again\n"
        "  --approximate RATE  in memory alone, by a Bloom filter: of the records that are new\n"
        "                   this part is taken for seen and not printed\n"
        "  --expect N       of about so many different records; then the filter takes the\n"
        "                   least. With more it grows, with a warning, and the rate holds\n"
        "  with --state a record has at most 1 MiB\n" JOB_OPTIONS_HELP,
    .run = run,
};

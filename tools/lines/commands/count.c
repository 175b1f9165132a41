/* count.c -- kv-filter count: how many different records there are. */
#include "bloom/petal_bloom.h"
#include "tools/command/value.h"
#include "tools/lines/commands/commands.h"
#include "tools/lines/exact/known.h"
#include "tools/lines/records/pass.h"
#include "tools/lines/sets/set.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct request {
    double error;      /* 0: exact, or that of the state */
    const char *state; /* NULL: there is none */
};

/* ---- About so many --------------------------------------------------------------------------- */

static bool
fits(struct job *job, const struct request *request, const petal_distinct *distinct)
{
    double error = petal_distinct_standard_error(distinct);

    if (petal_distinct_salt(distinct) != 0)
        return job_fail(job, "%s has a salt, and is not of kv-filter count", request->state);
    return request->error == 0 || error <= request->error ||
           job_fail(job, "%s has a standard error of %g, which is more than %g", request->state,
                    error, request->error);
}

/* That of the file at `path` (NULL: there is none), or one of its own. The salt is 0: counts of
 * several days and machines are to be united. */
static bool
open_distinct(struct job *job, const struct request *request, const char *path,
              petal_distinct **distinct)
{
    petal_error error;

    if (path != NULL && (access(path, F_OK) == 0 || errno != ENOENT)) {
        if (petal_distinct_load(path, NULL, distinct, &error) != PETAL_OK)
            return job_fail(job, "%s", error.text);
        if (fits(job, request, *distinct))
            return true;
        petal_distinct_free(*distinct);
        return false;
    }
    return petal_distinct_create(request->error, 0, NULL, distinct, &error) == PETAL_OK ||
           job_fail(job, "%s", error.text);
}

static bool
add_batch(void *distinct, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        petal_distinct_add(distinct, batch->records[i]);
    return true;
}

static bool
save(struct job *job, const petal_distinct *distinct, const struct target *target)
{
    petal_error error;

    return petal_distinct_save(distinct, target->path, &error) == PETAL_OK ||
           job_fail(job, "%s", error.text);
}

/* What was added is kept before the number is told. */
static bool
count_about(struct reader *reader, const struct request *request, uint64_t *count)
{
    struct job *job = reader->job;
    struct target target = {.path = NULL};
    petal_distinct *distinct;
    bool fine;

    if (request->state != NULL && !target_open(job, request->state, &target))
        return false;
    if (!open_distinct(job, request, target.path, &distinct)) {
        if (request->state != NULL)
            (void)target_close(job, &target, false);
        return false;
    }
    fine = reader_each(reader, add_batch, distinct);
    if (request->state != NULL)
        fine = target_close(job, &target, fine && save(job, distinct, &target));
    *count = (uint64_t)llround(petal_distinct_count(distinct));
    petal_distinct_free(distinct);
    return fine;
}

/* ---- The command ----------------------------------------------------------------------------- */

static bool
count_and_write(struct reader *reader, struct writer *writer, void *argument)
{
    const struct request *request = argument;
    bool is_exact = request->error == 0 && request->state == NULL;
    uint64_t count;
    char number[32];
    int digits;

    if (is_exact ? !unique_records(reader, NULL, &count) : !count_about(reader, request, &count))
        return false;
    digits = snprintf(number, sizeof number, "%" PRIu64 "\n", count);
    return writer_add_run(writer, number, (size_t)digits, 1);
}

static bool
filter(struct job *job, void *request, const char **places, size_t count)
{
    return pass_run(job, count > 0 ? places[0] : NULL, false, count_and_write, request);
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct request request = {0};
    const struct command_option own[] = {
        {"--approximate", NULL, value_take_rate, &request.error, VALUE_RATE_WANTS},
        {"--state", NULL, command_take_text, &request.state, "a file"}};

    return job_run(command, argc, argv, own, 2, 0, 1, filter, &request);
}

const struct command filter_count = {
    .name = "count",
    .meaning = "how many different records there are, exactly or about",
    .usage =
        "kv-filter count [options] [FILE]\n"
        "  --approximate ERROR  in a few kilobytes of memory (HyperLogLog): two of three\n"
        "                   counts are within this part of the truth, 95 of 100 within twice\n"
        "                   that; from 0.001 to 0.26\n"
        "  --state FILE     what FILE has counted, too, and it has all afterwards; made if it\n"
        "                   is not there; approximate, by default at 0.01\n" JOB_OPTIONS_HELP,
    .run = run,
};

/* check.c -- kv-filter check: the records that may be in a filter, or that are surely not. */
#include "tools/lines/commands/commands.h"
#include "tools/lines/records/pass.h"
#include "tools/lines/sets/set.h"

struct request {
    bool absent; /* write those that are surely not in it */
    struct set set;
    struct writer writer;
};

static bool
check_batch(void *argument, struct batch *batch)
{
    struct request *request = argument;
    bool answers[READER_BATCH];

    (void)petal_bloom_may_contain_hashes(request->set.filter, batch->hashes, batch->count, answers);
    for (size_t i = 0; i < batch->count; i++) {
        if (answers[i] != request->absent && !writer_add(&request->writer, batch->records[i]))
            return false;
    }
    return true;
}

static bool
check_all(struct job *job, struct request *request, const char **paths, size_t count)
{
    petal_bloom_info info = {.size = sizeof info};
    bool fine;

    if (request->set.type != PETAL_BLOOM_FILE_FILTER)
        return job_fail(job, "%s is %s, not a filter", request->set.path,
                        set_type_name(request->set.type));
    petal_bloom_get_info(request->set.filter, &info);
    job->salt = info.salt;
    if (!writer_open(&request->writer, job))
        return false;
    fine = pass_each(job, paths, count, true, &request->writer, check_batch, request) &&
           writer_finish(&request->writer);
    writer_close(&request->writer);
    return fine;
}

static bool
check(struct job *job, void *argument, const char **places, size_t count)
{
    struct request *request = argument;
    bool fine;

    if (!set_load(job, places[0], true, &request->set))
        return false;
    fine = check_all(job, request, places + 1, count - 1);
    set_free(&request->set);
    return fine;
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct request request = {.absent = false};
    const struct command_option options[] = {{.name = "--absent", .flag = &request.absent}};

    return job_run(command, argc, argv, options, 1, 1, argc, check, &request);
}

const struct command filter_check = {
    .name = "check",
    .meaning = "the lines that may be in a filter, or that are surely not",
    .usage = "kv-filter check [options] FILTER [FILE...]\n"
             "  writes the lines that may be in FILTER: all that are, and others at its rate.\n"
             "  --absent         those that are surely not in it\n" JOB_OPTIONS_HELP,
    .run = run,
};

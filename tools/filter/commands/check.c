/* check.c -- kv-filter check: the records that may be in a filter, or that are surely not. */
#include "tools/filter/commands/commands.h"
#include "tools/filter/records/hash.h"
#include "tools/filter/records/reader.h"
#include "tools/filter/records/writer.h"
#include "tools/filter/sets/set.h"

#include <stdlib.h>

struct request {
    const char *filter;
    bool absent; /* write those that are surely not in it */
    const char *standard;
    const char **paths;
    size_t path_count;
};

static bool
check_batch(struct job *job, const struct request *request, const struct set *set,
            struct writer *writer, const petal_slice *records, size_t count)
{
    uint64_t hashes[READER_BATCH];
    bool answers[READER_BATCH];

    hash_records(job, records, count, hashes);
    (void)petal_bloom_may_contain_hashes(set->filter, hashes, count, answers);
    for (size_t i = 0; i < count; i++) {
        if (answers[i] != request->absent && !writer_add(writer, records[i]))
            return false;
    }
    return true;
}

static bool
check_input(struct job *job, const struct request *request, const struct set *set,
            struct writer *writer, const char *path)
{
    petal_slice records[READER_BATCH];
    struct reader reader;
    size_t count;
    bool fine;

    if (!reader_open(&reader, job, path))
        return false;
    reader.idle = writer_idle;
    reader.idle_argument = writer;
    do {
        fine = reader_next(&reader, records, &count) &&
               check_batch(job, request, set, writer, records, count);
    } while (fine && count > 0);
    reader_close(&reader);
    return fine;
}

static bool
check_all(struct job *job, const struct request *request, const struct set *set)
{
    struct writer writer;
    bool fine = true;

    if (!writer_open(&writer, job))
        return false;
    for (size_t i = 0; fine && i < request->path_count; i++)
        fine = check_input(job, request, set, &writer, request->paths[i]);
    fine = fine && writer_finish(&writer);
    writer_close(&writer);
    return fine;
}

static bool
open_and_check(struct job *job, const struct request *request)
{
    petal_bloom_info info = {.size = sizeof info};
    struct set set;
    bool fine = false;

    if (!set_load(job, request->filter, true, &set))
        return false;
    if (set.type != PETAL_BLOOM_FILE_FILTER) {
        job_fail(job, "%s is %s, not a filter", set.path, set_type_name(set.type));
    } else {
        petal_bloom_get_info(set.filter, &info);
        job->salt = info.salt;
        fine = check_all(job, request, &set);
    }
    set_free(&set);
    return fine;
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct request request = {.standard = "-"};
    const struct command_option options[] = {{.name = "--absent", .flag = &request.absent}};
    const char **places = calloc((size_t)argc + 1, sizeof *places);
    struct job job;
    int count, status = COMMAND_FAILED;

    if (places == NULL)
        return COMMAND_FAILED;
    count = job_begin(&job, command, argc, argv, options, sizeof options / sizeof *options, places,
                      1, argc);
    if (count > 0) {
        request.filter = places[0];
        request.paths = count > 1 ? places + 1 : &request.standard;
        request.path_count = count > 1 ? (size_t)count - 1 : 1;
        status = job_end(&job, open_and_check(&job, &request));
    }
    free(places);
    return status;
}

const struct command filter_check = {
    .name = "check",
    .meaning = "the lines that may be in a filter, or that are surely not",
    .usage = "kv-filter check [options] FILTER [FILE...]\n"
             "  writes the lines that may be in FILTER: all that are, and others at its rate.\n"
             "  --absent         those that are surely not in it\n" JOB_OPTIONS_HELP,
    .run = run,
};

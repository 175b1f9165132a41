/* approximate.c -- see approximate.h. */
#include "tools/lines/seen/approximate.h"

#include "bloom/petal_bloom.h"
#include "tools/lines/records/writer.h"

#include <inttypes.h>

/* What it will take, if that is known. */
static bool
fits(struct job *job, const petal_bloom_options *options)
{
    petal_bloom_plan plan = {.size = sizeof plan};
    petal_error error;

    if (petal_bloom_plan_for(options, &plan, &error) != PETAL_OK)
        return job_fail(job, "%s", error.text);
    return plan.bytes <= job->memory_bytes ||
           job_fail(job,
                    "%" PRIu64 " records at a rate of %g take %" PRIu64
                    " bytes, which is more than --memory",
                    options->keys, options->rate, plan.bytes);
}

/* `expected` 0: not known. */
static bool
is_within_memory(struct job *job, const petal_bloom *bloom, uint64_t records, uint64_t expected)
{
    petal_bloom_info info = {.size = sizeof info};

    petal_bloom_get_info(bloom, &info);
    if (info.bytes <= job->memory_bytes)
        return true;
    if (expected > 0)
        return job_fail(job,
                        "more than the %" PRIu64
                        " different records of --expect came; after %" PRIu64
                        " records the filter takes %" PRIu64 " bytes, which is more than --memory",
                        expected, records, info.bytes);
    return job_fail(job,
                    "after %" PRIu64 " records the filter takes %" PRIu64
                    " bytes, which is more than --memory; with --expect it takes the least",
                    records, info.bytes);
}

static void
warn_of_more(struct job *job, const petal_bloom *bloom, uint64_t expected)
{
    petal_bloom_info info = {.size = sizeof info};

    petal_bloom_get_info(bloom, &info);
    job_warn(job,
             "more than the %" PRIu64 " different records of --expect came: the filter grows to "
             "hold the rate, and takes %" PRIu64 " bytes so far",
             expected, info.bytes);
}

struct filtering {
    struct reader *reader;
    struct writer *writer;
    petal_bloom *bloom;
    uint64_t expected, written;
    bool has_warned;
};

static bool
take_batch(void *argument, struct batch *batch)
{
    struct filtering *filtering = argument;
    struct job *job = filtering->reader->job;
    uint64_t expected = filtering->expected;
    bool were_new[READER_BATCH];
    petal_error error;

    if (petal_bloom_add_hashes(filtering->bloom, batch->hashes, batch->count, were_new, &error) !=
        PETAL_OK)
        return job_fail(job, "%s", error.text);
    if (!write_marked(filtering->writer, batch->records, batch->count, were_new, true,
                      &filtering->written) ||
        !is_within_memory(job, filtering->bloom, filtering->reader->records, expected))
        return false;
    if (!filtering->has_warned && expected > 0 && filtering->written > expected) {
        filtering->has_warned = true;
        warn_of_more(job, filtering->bloom, expected);
    }
    return true;
}

bool
approximate_unique(struct reader *reader, struct writer *writer, double rate, uint64_t expected)
{
    const petal_bloom_options options = {.size = sizeof options,
                                         .kind = PETAL_BLOOM_KIND_GROWING,
                                         .keys = expected,
                                         .rate = rate,
                                         .salt = reader->job->salt};
    struct filtering filtering = {.reader = reader, .writer = writer, .expected = expected};
    petal_error error;
    bool fine;

    if (expected > 0 && !fits(reader->job, &options))
        return false;
    if (petal_bloom_create(&options, &filtering.bloom, &error) != PETAL_OK)
        return job_fail(reader->job, "%s", error.text);
    reader->idle = writer_idle;
    reader->idle_argument = writer;
    reader_want_hashes(reader);
    fine = reader_each(reader, take_batch, &filtering);
    petal_bloom_free(filtering.bloom);
    return fine;
}

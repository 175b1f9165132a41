/* build.c -- kv-filter build: a filter file of records. */
#include "bloom/petal_bloom.h"
#include "tools/command/value.h"
#include "tools/lines/commands/commands.h"
#include "tools/lines/job/kinds.h"
#include "tools/lines/records/pass.h"
#include "tools/lines/sets/set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a builder takes at least, with what stands next to it. */
#define BUILDER_MIN_MEMORY ((size_t)12 << 20)

/* From this rate on a filter cannot tell how many keys it has. */
#define NEARLY_FULL_RATE 0.9

struct request {
    petal_bloom_options filter;
    const char *salt;        /* NULL: 0 */
    const char *filter_path; /* as it was given */
    const char *target;      /* where it is saved */
    const char **paths;      /* none: the standard input */
    size_t path_count;
};

/* ---- Kinds that take keys at any time -------------------------------------------------------- */

struct filling {
    struct job *job;
    petal_bloom *bloom;
};

static bool
fill(void *argument, struct batch *batch)
{
    const struct filling *filling = argument;
    petal_bloom_info info = {.size = sizeof info};
    petal_error error;

    if (petal_bloom_add_hashes(filling->bloom, batch->hashes, batch->count, NULL, &error) !=
        PETAL_OK)
        return job_fail(filling->job, "%s", error.text);
    petal_bloom_get_info(filling->bloom, &info);
    return info.bytes <= filling->job->memory_bytes ||
           job_fail(filling->job, "the filter has grown to %" PRIu64 " bytes; --memory is %zu",
                    info.bytes, filling->job->memory_bytes);
}

static bool
count_batch(void *argument, struct batch *batch)
{
    *(uint64_t *)argument += batch->count;
    return true;
}

static bool
check_read_twice(struct job *job, const struct request *request, const char *path)
{
    const bool is_standard = strcmp(path, "-") == 0;
    struct stat about;

    if (!is_standard && stat(path, &about) != 0)
        return job_fail(job, "cannot open %s: %s", path, strerror(errno));
    if (!is_standard && S_ISREG(about.st_mode))
        return true;
    return job_fail(job,
                    "kind %s needs --keys N, since %s cannot be read twice; GROWING and "
                    "RIBBON do without",
                    kind_name(request->filter.kind), is_standard ? "the standard input" : path);
}

/* Nobody said how many keys there are: they are counted, doubles too. */
static bool
count_keys(struct job *job, const struct request *request, uint64_t *keys)
{
    if (request->path_count == 0 && !check_read_twice(job, request, "-"))
        return false;
    for (size_t i = 0; i < request->path_count; i++) {
        if (!check_read_twice(job, request, request->paths[i]))
            return false;
    }
    job_phase(job, "build: counting");
    *keys = 0;
    if (!pass_each(job, request->paths, request->path_count, false, NULL, count_batch, keys))
        return false;
    job_phase(job, "build");
    *keys += *keys == 0;
    return true;
}

static bool
create(struct job *job, const petal_bloom_options *options, petal_bloom **bloom)
{
    petal_bloom_plan plan = {.size = sizeof plan};
    petal_error error;

    if (options->kind != PETAL_BLOOM_KIND_GROWING) {
        if (petal_bloom_plan_for(options, &plan, &error) != PETAL_OK)
            return job_fail(job, "%s", error.text);
        if (plan.bytes > job->memory_bytes)
            return job_fail(job, "the filter takes %" PRIu64 " bytes; --memory is %zu", plan.bytes,
                            job->memory_bytes);
    }
    return petal_bloom_create(options, bloom, &error) == PETAL_OK ||
           job_fail(job, "%s", error.text);
}

/* It holds more keys than it was made for. Their number is an estimate from the bits that are set,
 * and where hardly any is left it only says that there are no fewer. */
static void
tell_overfull(const struct job *job, const petal_bloom *bloom)
{
    petal_bloom_info info = {.size = sizeof info};
    uint64_t count = petal_bloom_count(bloom);
    double rate = petal_bloom_present_rate(bloom);

    petal_bloom_get_info(bloom, &info);
    if (info.kind != PETAL_BLOOM_KIND_GROWING && (double)count > 1.05 * (double)info.keys)
        fprintf(stderr,
                "kv-filter %s: %s %" PRIu64 " keys are in a filter for %" PRIu64
                ": its rate is %.2g, not %.2g\n",
                job->command->name, rate > NEARLY_FULL_RATE ? "at least" : "about", count,
                info.keys, rate, info.rate);
}

static bool
build_filling(struct job *job, struct request *request)
{
    struct filling filling = {.job = job};
    petal_error error;
    bool fine;

    if (request->filter.keys == 0 && request->filter.kind != PETAL_BLOOM_KIND_GROWING &&
        !count_keys(job, request, &request->filter.keys))
        return false;
    if (!create(job, &request->filter, &filling.bloom))
        return false;
    fine = pass_each(job, request->paths, request->path_count, true, NULL, fill, &filling);
    if (fine && petal_bloom_save(filling.bloom, request->target, &error) != PETAL_OK)
        fine = job_fail(job, "%s", error.text);
    if (fine)
        tell_overfull(job, filling.bloom);
    petal_bloom_free(filling.bloom);
    return fine;
}

/* ---- Kinds that are built once --------------------------------------------------------------- */

struct building {
    struct job *job;
    petal_bloom_builder *builder;
};

/* The builder works long in one call, and asks for memory now and then: after Ctrl-C there is none,
 * so that it puts away what is half. */
static void *
allocate(void *context, size_t alignment, size_t size)
{
    void *memory = NULL;

    (void)context;
    if (alignment < sizeof memory)
        alignment = sizeof memory;
    if (job_is_interrupted() || posix_memalign(&memory, alignment, size) != 0)
        return NULL;
    return memory;
}

static void
release(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

/* Why the builder failed. */
static bool
tell(struct job *job, const petal_error *error)
{
    return job_fail(job, "%s", job_is_interrupted() ? "interrupted" : error->text);
}

static bool
gather(void *argument, struct batch *batch)
{
    const struct building *building = argument;
    petal_error error;

    return petal_bloom_builder_add_hashes(building->builder, batch->hashes, batch->count, &error) ==
               PETAL_OK ||
           tell(building->job, &error);
}

static bool
build_once(struct job *job, const struct request *request)
{
    static const petal_allocator allocator = {.allocate = allocate, .release = release};
    static const petal_env env = {.size = sizeof env, .allocator = &allocator};
    petal_bloom_builder_options options = {.size = sizeof options,
                                           .filter = request->filter,
                                           .memory_bytes = job->memory_bytes / 4 * 3,
                                           .directory = job->temporary};
    struct building building = {.job = job};
    petal_error error;
    bool fine;

    if (job->memory_bytes < BUILDER_MIN_MEMORY)
        return job_fail(job, "--memory %zu is too little for kind %s, which needs %zuM",
                        job->memory_bytes, kind_name(request->filter.kind),
                        BUILDER_MIN_MEMORY >> 20);
    options.filter.env = &env;
    if (petal_bloom_builder_create(&options, &building.builder, &error) != PETAL_OK)
        return tell(job, &error);
    fine = pass_each(job, request->paths, request->path_count, true, NULL, gather, &building);
    if (fine) {
        job_phase(job, "build: solving");
        if (petal_bloom_builder_save(building.builder, request->target, &error) != PETAL_OK)
            fine = tell(job, &error);
    }
    petal_bloom_builder_free(building.builder);
    return fine;
}

/* ---- The command ----------------------------------------------------------------------------- */

static bool
read_salt(struct job *job, struct request *request)
{
    char *end;

    if (request->salt == NULL)
        job->salt = 0;
    else if (strcmp(request->salt, "random") != 0) {
        errno = 0;
        job->salt = strtoull(request->salt, &end, 0);
        if (errno != 0 || *end != '\0' || *request->salt < '0' || *request->salt > '9')
            return job_fail(job, "--salt takes a number of 64 bits, or \"random\", not \"%s\"",
                            request->salt);
    }
    request->filter.salt = job->salt;
    return true;
}

static bool
build(struct job *job, void *argument, const char **places, size_t count)
{
    struct request *request = argument;
    const bool once = request->filter.kind == PETAL_BLOOM_KIND_RIBBON;
    struct target target;

    request->filter_path = places[0];
    request->paths = places + 1;
    request->path_count = count - 1;
    if (!read_salt(job, request))
        return false;
    if (job->output != NULL)
        return job_fail(job, "--output does not go with FILTER, which is what is written");
    if (!target_open(job, request->filter_path, &target))
        return false;
    request->target = target.path;
    return target_close(job, &target,
                        once ? build_once(job, request) : build_filling(job, request));
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct request request = {.filter = {.size = sizeof request.filter,
                                         .kind = PETAL_BLOOM_KIND_BLOCKED,
                                         .rate = PETAL_BLOOM_DEFAULT_RATE}};
    const struct command_option options[] = {{.name = "--kind",
                                              .take = kind_take,
                                              .argument = &request.filter.kind,
                                              .wants = KIND_WANTS},
                                             {.name = "--rate",
                                              .take = value_take_rate,
                                              .argument = &request.filter.rate,
                                              .wants = VALUE_RATE_WANTS},
                                             {.name = "--keys",
                                              .take = value_take_count,
                                              .argument = &request.filter.keys,
                                              .wants = VALUE_COUNT_WANTS},
                                             {.name = "--salt",
                                              .take = command_take_text,
                                              .argument = &request.salt,
                                              .wants = "a number, or \"random\""}};

    return job_run(command, argc, argv, options, sizeof options / sizeof *options, 1, argc, build,
                   &request);
}

const struct command filter_build = {
    .name = "build",
    .meaning = "a filter file of the lines of files",
    .usage = "kv-filter build [options] FILTER [FILE...]\n"
             "  writes FILTER, which \"kv-filter check\" asks, and petal_bloom_load opens.\n"
             "  A file that is there is replaced if it holds such a set, and no other.\n"
             "  --kind KIND      BLOCKED (default), COUNTING, GROWING or RIBBON (smallest)\n"
             "  --rate RATE      the part of other lines that passes (default 1%)\n"
             "  --keys N         different lines; without it files are read twice, but by GROWING\n"
             "                   and RIBBON\n"
             "  --salt N|random  goes into the hashes (default 0); merged filters have one\n"
             "  -z               records end with a zero byte, not with a newline\n"
             "  --memory SIZE    for the filter, or for what building it takes (default 256M)\n"
             "  --temporary DIR  for hashes that do not fit there (default $TMPDIR, or /tmp)\n"
             "  --quiet          no progress on a terminal\n",
    .run = run,
};

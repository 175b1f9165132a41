/* merge.c -- kv-filter merge: one file of what several hold. */
#include "tools/lines/commands/commands.h"
#include "tools/lines/sets/set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

/* One set is held in memory; the others are mapped. */
static bool
fits(struct job *job, const char *path)
{
    struct stat about;

    return stat(path, &about) != 0 || (uint64_t)about.st_size <= job->memory_bytes ||
           job_fail(job, "%s has %jd bytes; --memory is %zu", path, (intmax_t)about.st_size,
                    job->memory_bytes);
}

static bool
unite(struct job *job, const struct target *target, const char *const *paths, size_t count)
{
    struct set united, other;
    bool fine;

    fine = fits(job, paths[0]) && set_load(job, paths[0], false, &united);
    if (!fine)
        return false;
    for (size_t i = 1; fine && i < count; i++) {
        fine = job_go_on(job, i, count) || job_fail(job, "interrupted");
        if (!fine || !set_load(job, paths[i], true, &other)) {
            fine = false;
            break;
        }
        fine = set_unite(job, &united, &other);
        set_free(&other);
    }
    fine = fine && set_save(job, &united, target->path);
    set_free(&united);
    return fine;
}

static bool
merge(struct job *job, void *request, const char **places, size_t count)
{
    struct target target;

    (void)request;
    if (job->output != NULL)
        return job_fail(job, "--output does not go with OUT, which is what is written");
    return target_open(job, places[0], &target) &&
           target_close(job, &target, unite(job, &target, places + 1, count - 1));
}

static int
run(const struct command *command, int argc, char **argv)
{
    return job_run(command, argc, argv, NULL, 0, 2, argc, merge, NULL);
}

const struct command filter_merge = {
    .name = "merge",
    .meaning = "one filter, count or bitmap of several",
    .usage = "kv-filter merge [options] OUT FILE...\n"
             "  OUT is as if the keys of all files had been put into one. They hold filters of\n"
             "  one shape and salt (STANDARD, BLOCKED or COUNTING), counts of distinct keys of\n"
             "  one salt, or bitmaps of one size; OUT may be one of them.\n"
             "  --memory SIZE    OUT has to fit there (default 256M)\n"
             "  --quiet          no progress on a terminal\n",
    .run = run,
};

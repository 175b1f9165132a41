/* set.c -- see set.h. */
#include "tools/lines/sets/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *
set_type_name(enum petal_bloom_file_type type)
{
    switch (type) {
    case PETAL_BLOOM_FILE_FILTER:
        return "a filter";
    case PETAL_BLOOM_FILE_BITMAP:
        return "a bitmap";
    case PETAL_BLOOM_FILE_BITMAP2:
        return "a bitmap of doubles";
    case PETAL_BLOOM_FILE_DISTINCT:
        return "a count of distinct keys";
    }
    return "no set";
}

/* Is it a path, not the "-" of a stream? */
static bool
path_is_file(struct job *job, const char *path)
{
    return strcmp(path, "-") != 0 ||
           job_fail(job, "a filter is a file, not a stream: \"-\" is none (\"./-\" is a file)");
}

/* The library follows no link as the last part of a path. */
static enum petal_status
load(struct set *set, const char *path, bool map, petal_error *error)
{
    const petal_bloom_load_options options = {.size = sizeof options, .map = map};
    enum petal_status status = petal_bloom_file_type(path, NULL, &set->type, error);

    if (status != PETAL_OK)
        return status;
    switch (set->type) {
    case PETAL_BLOOM_FILE_FILTER:
        return petal_bloom_load(path, &options, &set->filter, error);
    case PETAL_BLOOM_FILE_BITMAP:
        return petal_bitmap_load(path, &options, &set->bitmap, error);
    case PETAL_BLOOM_FILE_BITMAP2:
        return petal_bitmap2_load(path, &options, &set->doubles, error);
    case PETAL_BLOOM_FILE_DISTINCT:
        break;
    }
    return petal_distinct_load(path, &options, &set->distinct, error);
}

bool
set_load(struct job *job, const char *path, bool map, struct set *set)
{
    petal_error error;
    enum petal_status status;
    struct stat about;
    char *real;

    *set = (struct set){.path = path};
    if (!path_is_file(job, path))
        return false;
    if (lstat(path, &about) != 0 || !S_ISLNK(about.st_mode)) {
        status = load(set, path, map, &error);
        return status == PETAL_OK || job_fail(job, "%s", error.text);
    }
    real = realpath(path, NULL);
    if (real == NULL)
        return job_fail(job, "cannot follow %s: %s", path, strerror(errno));
    status = load(set, real, map, &error);
    free(real);
    return status == PETAL_OK || job_fail(job, "%s leads to %s", path, error.text);
}

void
set_free(struct set *set)
{
    petal_bloom_free(set->filter);
    petal_bitmap_free(set->bitmap);
    petal_bitmap2_free(set->doubles);
    petal_distinct_free(set->distinct);
}

bool
set_unite(struct job *job, struct set *set, const struct set *other)
{
    petal_error error;
    enum petal_status status;

    if (set->type != other->type)
        return job_fail(job, "%s is %s, and %s is %s", set->path, set_type_name(set->type),
                        other->path, set_type_name(other->type));
    if (set->filter != NULL)
        status = petal_bloom_unite(set->filter, other->filter, &error);
    else if (set->bitmap != NULL)
        status = petal_bitmap_unite(set->bitmap, other->bitmap, &error);
    else if (set->doubles != NULL)
        status = petal_bitmap2_unite(set->doubles, other->doubles, &error);
    else
        status = petal_distinct_unite(set->distinct, other->distinct, &error);
    return status == PETAL_OK ||
           job_fail(job, "%s does not go with %s: %s", other->path, set->path, error.text);
}

bool
set_save(struct job *job, const struct set *set, const char *path)
{
    petal_error error;
    enum petal_status status;

    if (set->filter != NULL)
        status = petal_bloom_save(set->filter, path, &error);
    else if (set->bitmap != NULL)
        status = petal_bitmap_save(set->bitmap, path, &error);
    else if (set->doubles != NULL)
        status = petal_bitmap2_save(set->doubles, path, &error);
    else
        status = petal_distinct_save(set->distinct, path, &error);
    return status == PETAL_OK || job_fail(job, "%s", error.text);
}

/* A file that was meant to be read may stand where the set is named. `name` is what the user calls
 * it, `path` where it is, through links. */
static bool
holds_set(struct job *job, const char *name, const char *path, const struct stat *about)
{
    enum petal_bloom_file_type type;

    if (!S_ISREG(about->st_mode))
        return job_fail(job, "%s is no regular file, and is not replaced by one", name);
    return about->st_size == 0 || petal_bloom_file_type(path, NULL, &type, NULL) == PETAL_OK ||
           job_fail(job,
                    "%s is there and holds no set, so it is not replaced; the set that is written "
                    "is named first",
                    name);
}

bool
target_open(struct job *job, const char *path, struct target *target)
{
    mode_t mask = umask(0);
    struct stat about;

    (void)umask(mask);
    *target = (struct target){.mode = 0666 & ~mask};
    if (!path_is_file(job, path))
        return false;
    if (stat(path, &about) == 0) {
        target->mode = about.st_mode & 0777;
        target->path = realpath(path, NULL);
        if (target->path != NULL && !holds_set(job, path, target->path, &about)) {
            free(target->path);
            return false;
        }
    } else {
        target->path = strdup(path);
    }
    return target->path != NULL || job_fail(job, "cannot find %s: %s", path, strerror(errno));
}

bool
target_close(struct job *job, struct target *target, bool saved)
{
    if (saved && chmod(target->path, target->mode) != 0)
        saved =
            job_fail(job, "cannot set the permissions of %s: %s", target->path, strerror(errno));
    free(target->path);
    return saved;
}

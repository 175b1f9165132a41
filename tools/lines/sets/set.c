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

bool
set_path_is_file(struct job *job, const char *path)
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

    if (status == PETAL_OK) {
        switch (set->type) {
        case PETAL_BLOOM_FILE_FILTER:
            status = petal_bloom_load(path, &options, &set->filter, error);
            break;
        case PETAL_BLOOM_FILE_BITMAP:
            status = petal_bitmap_load(path, &options, &set->bitmap, error);
            break;
        case PETAL_BLOOM_FILE_BITMAP2:
            status = petal_bitmap2_load(path, &options, &set->doubles, error);
            break;
        case PETAL_BLOOM_FILE_DISTINCT:
            status = petal_distinct_load(path, &options, &set->distinct, error);
            break;
        }
    }
    return status;
}

bool
set_load(struct job *job, const char *path, bool map, struct set *set)
{
    petal_error error;
    enum petal_status status;
    struct stat about;
    char *real;

    *set = (struct set){.path = path};
    if (!set_path_is_file(job, path))
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
    enum petal_status status = PETAL_OK;

    if (set->type != other->type)
        return job_fail(job, "%s is %s, and %s is %s", set->path, set_type_name(set->type),
                        other->path, set_type_name(other->type));
    switch (set->type) {
    case PETAL_BLOOM_FILE_FILTER:
        status = petal_bloom_unite(set->filter, other->filter, &error);
        break;
    case PETAL_BLOOM_FILE_BITMAP:
        status = petal_bitmap_unite(set->bitmap, other->bitmap, &error);
        break;
    case PETAL_BLOOM_FILE_BITMAP2:
        status = petal_bitmap2_unite(set->doubles, other->doubles, &error);
        break;
    case PETAL_BLOOM_FILE_DISTINCT:
        status = petal_distinct_unite(set->distinct, other->distinct, &error);
        break;
    }
    return status == PETAL_OK ||
           job_fail(job, "%s does not go with %s: %s", other->path, set->path, error.text);
}

bool
set_save(struct job *job, const struct set *set, const char *path)
{
    petal_error error;
    enum petal_status status = PETAL_INVALID;

    switch (set->type) {
    case PETAL_BLOOM_FILE_FILTER:
        status = petal_bloom_save(set->filter, path, &error);
        break;
    case PETAL_BLOOM_FILE_BITMAP:
        status = petal_bitmap_save(set->bitmap, path, &error);
        break;
    case PETAL_BLOOM_FILE_BITMAP2:
        status = petal_bitmap2_save(set->doubles, path, &error);
        break;
    case PETAL_BLOOM_FILE_DISTINCT:
        status = petal_distinct_save(set->distinct, path, &error);
        break;
    }
    return status == PETAL_OK || job_fail(job, "%s", error.text);
}

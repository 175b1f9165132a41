/* set.c -- see set.h. */
#include "tools/filter/sets/set.h"

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
set_load(struct job *job, const char *path, bool map, struct set *set)
{
    const petal_bloom_load_options options = {.size = sizeof options, .map = map};
    petal_error error;
    enum petal_status status;

    *set = (struct set){.path = path};
    status = petal_bloom_file_type(path, NULL, &set->type, &error);
    if (status == PETAL_OK) {
        switch (set->type) {
        case PETAL_BLOOM_FILE_FILTER:
            status = petal_bloom_load(path, &options, &set->filter, &error);
            break;
        case PETAL_BLOOM_FILE_BITMAP:
            status = petal_bitmap_load(path, &options, &set->bitmap, &error);
            break;
        case PETAL_BLOOM_FILE_BITMAP2:
            status = petal_bitmap2_load(path, &options, &set->doubles, &error);
            break;
        case PETAL_BLOOM_FILE_DISTINCT:
            status = petal_distinct_load(path, &options, &set->distinct, &error);
            break;
        }
    }
    return status == PETAL_OK || job_fail(job, "%s", error.text);
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

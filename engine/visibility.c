/* visibility.c -- see visibility.h. */
#include "engine/visibility.h"

void
visibility_init(struct visibility *visibility, const petal_allocator *allocator,
                uint64_t read_point, int64_t time_min, int64_t time_limit, uint32_t versions)
{
    *visibility = (struct visibility){
        .allocator = allocator,
        .read_point = read_point,
        .time_min = time_min,
        .time_limit = time_limit,
        .versions = versions,
    };
}

void
visibility_fini(struct visibility *visibility)
{
    mem_free(visibility->allocator, visibility->family_versions,
             visibility->family_version_capacity * sizeof *visibility->family_versions);
    mem_free(visibility->allocator, visibility->qualifier, visibility->qualifier_capacity);
    visibility->qualifier = NULL;
    visibility->qualifier_capacity = 0;
    visibility->family_versions = NULL;
    visibility->family_version_capacity = 0;
}

void
visibility_start_row(struct visibility *visibility)
{
    visibility->has_family_delete = false;
    visibility->family_version_count = 0;
    visibility->in_column = false;
}

static enum petal_status
note_family_marker(struct visibility *visibility, const struct cell *cell)
{
    struct version_point point = {cell->timestamp, cell->sequence};
    void *array = visibility->family_versions;
    bool grown;

    if (cell->type == PETAL_DELETE_FAMILY) {
        /* The first is the greatest. */
        if (!visibility->has_family_delete)
            visibility->family_delete = point;
        visibility->has_family_delete = true;
        return PETAL_OK;
    }
    grown = mem_grow(visibility->allocator, &array, &visibility->family_version_capacity,
                     visibility->family_version_count, visibility->family_version_count + 1,
                     sizeof *visibility->family_versions);
    visibility->family_versions = array;
    if (!grown)
        return PETAL_NO_MEMORY;
    visibility->family_versions[visibility->family_version_count++] = point;
    return PETAL_OK;
}

static enum petal_status
enter_column(struct visibility *visibility, petal_slice qualifier)
{
    void *copy = visibility->qualifier;
    bool grown;

    if (visibility->in_column && visibility->qualifier_bytes == qualifier.size &&
        (qualifier.size == 0 || memcmp(visibility->qualifier, qualifier.data, qualifier.size) == 0))
        return PETAL_OK;
    visibility->in_column = false;
    grown = mem_grow(visibility->allocator, &copy, &visibility->qualifier_capacity, 0,
                     qualifier.size, 1);
    visibility->qualifier = copy;
    if (!grown)
        return PETAL_NO_MEMORY;
    if (qualifier.size > 0)
        memcpy(visibility->qualifier, qualifier.data, qualifier.size);
    visibility->qualifier_bytes = qualifier.size;
    visibility->in_column = true;
    visibility->has_column_delete = false;
    visibility->has_version_delete = false;
    visibility->has_put = false;
    visibility->shown = 0;
    return PETAL_OK;
}

/* A kind 10 marker at exactly this timestamp with a greater sequence; they are sorted, greatest first. */
static bool
family_version_hides(const struct visibility *visibility, struct version_point put)
{
    size_t low = 0, high = visibility->family_version_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (visibility->family_versions[middle].timestamp > put.timestamp)
            low = middle + 1;
        else
            high = middle;
    }
    return low < visibility->family_version_count &&
           visibility->family_versions[low].timestamp == put.timestamp &&
           visibility->family_versions[low].sequence > put.sequence;
}

static enum visibility_verdict
judge_put(struct visibility *visibility, struct version_point put)
{
    if (visibility->has_family_delete && version_point_below(put, visibility->family_delete))
        return VISIBILITY_COLUMN_DONE;
    if (visibility->has_column_delete && version_point_below(put, visibility->column_delete))
        return VISIBILITY_COLUMN_DONE;
    if (visibility->has_version_delete && visibility->version_delete.timestamp == put.timestamp)
        return VISIBILITY_HIDE;
    if (visibility->has_put && visibility->put_timestamp == put.timestamp)
        return VISIBILITY_HIDE;
    if (family_version_hides(visibility, put))
        return VISIBILITY_HIDE;
    visibility->has_put = true;
    visibility->put_timestamp = put.timestamp;
    if (put.timestamp >= visibility->time_limit)
        return VISIBILITY_HIDE;
    if (put.timestamp < visibility->time_min || visibility->shown >= visibility->versions)
        return VISIBILITY_COLUMN_DONE;
    visibility->shown++;
    return VISIBILITY_SHOW;
}

enum petal_status
visibility_judge(struct visibility *visibility, const struct cell *cell,
                 enum visibility_verdict *verdict)
{
    struct version_point point = {cell->timestamp, cell->sequence};

    *verdict = VISIBILITY_HIDE;
    if (cell->sequence > visibility->read_point)
        return PETAL_OK;
    if (cell_is_family_marker(cell->type))
        return note_family_marker(visibility, cell);
    if (enter_column(visibility, cell->qualifier) != PETAL_OK)
        return PETAL_NO_MEMORY;
    switch (cell->type) {
    case PETAL_DELETE_COLUMN:
        if (!visibility->has_column_delete)
            visibility->column_delete = point;
        visibility->has_column_delete = true;
        break;
    case PETAL_DELETE:
        /* Cells come newest first, so only puts at the timestamp of the latest one can still follow. */
        visibility->has_version_delete = true;
        visibility->version_delete = point;
        break;
    default:
        *verdict = judge_put(visibility, point);
        break;
    }
    return PETAL_OK;
}

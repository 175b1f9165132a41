/* model.c -- see model.h. */
#include "tests/model.h"

#include "base/slice.h"
#include "tests/test_support.h"

#include <assert.h>
#include <stdlib.h>

static struct model_bytes
copy(petal_slice slice)
{
    struct model_bytes bytes = {.size = slice.size};

    assert(slice.size <= MODEL_BYTES);
    if (slice.size > 0)
        memcpy(bytes.bytes, slice.data, slice.size);
    return bytes;
}

petal_slice
model_slice(const struct model_bytes *bytes)
{
    return slice_make(bytes->bytes, bytes->size);
}

void
model_free(struct model *model)
{
    free(model->cells);
    *model = (struct model){0};
}

void
model_write(struct model *model, unsigned family, petal_slice row, petal_slice qualifier,
            petal_slice value, int64_t timestamp, enum petal_cell_type type)
{
    if (model->count == model->capacity) {
        model->capacity = model->capacity == 0 ? 64 : 2 * model->capacity;
        model->cells = test_reallocate(model->cells, model->capacity * sizeof *model->cells);
    }
    model->cells[model->count++] = (struct model_cell){
        .family = family,
        .row = copy(row),
        .qualifier = copy(qualifier),
        .value = copy(value),
        .timestamp = timestamp,
        .sequence = ++model->sequence,
        .type = type,
    };
}

void
model_truncate(struct model *model, size_t count)
{
    assert(count <= model->count);
    model->count = count;
    model->sequence = count;
}

static bool
same(const struct model_bytes *bytes, petal_slice slice)
{
    return slice_equal(model_slice(bytes), slice);
}

static bool
below(const struct model_cell *a, const struct model_cell *b)
{
    return a->timestamp != b->timestamp ? a->timestamp < b->timestamp : a->sequence < b->sequence;
}

/* Does `other`, a cell of the same row and family, hide the put? */
static bool
hides(const struct model_cell *other, const struct model_cell *put)
{
    bool same_column = same(&other->qualifier, model_slice(&put->qualifier));

    switch (other->type) {
    case PETAL_DELETE_FAMILY:
        return below(put, other);
    case PETAL_DELETE_COLUMN:
        return same_column && below(put, other);
    case PETAL_DELETE_FAMILY_VERSION:
        return other->timestamp == put->timestamp && put->sequence < other->sequence;
    case PETAL_DELETE: /* and a later put at the same timestamp takes the version's place */
    case PETAL_PUT:
        return same_column && other->timestamp == put->timestamp && put->sequence < other->sequence;
    }
    return false;
}

static bool
is_visible(const struct model *model, const struct model_cell *put)
{
    for (size_t i = 0; i < model->count; i++) {
        const struct model_cell *other = &model->cells[i];

        if (other->family == put->family && same(&other->row, model_slice(&put->row)) &&
            hides(other, put))
            return false;
    }
    return true;
}

const struct model_cell *
model_get(const struct model *model, unsigned family, petal_slice row, petal_slice qualifier,
          int64_t time_min, int64_t time_limit)
{
    const struct model_cell *newest = NULL;

    for (size_t i = 0; i < model->count; i++) {
        const struct model_cell *cell = &model->cells[i];

        if (cell->type == PETAL_PUT && cell->family == family && same(&cell->row, row) &&
            same(&cell->qualifier, qualifier) && cell->timestamp >= time_min &&
            cell->timestamp < time_limit && is_visible(model, cell) &&
            (newest == NULL || newest->timestamp < cell->timestamp))
            newest = cell;
    }
    return newest;
}

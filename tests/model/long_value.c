/* long_value.c -- values that the engine holds longer than the model does, so that memtables fill;
 * see tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"

petal_slice
engine_lengthen(const struct engine *engine, const struct model_bytes *value,
                uint8_t bytes[ENGINE_LONG_BYTES])
{
    if (!engine->long_values || value->size == 8)
        return model_slice(value);
    memcpy(bytes, value->bytes, value->size);
    memset(bytes + value->size, 1, ENGINE_FILLER_BYTES);
    return slice_make(bytes, value->size + ENGINE_FILLER_BYTES);
}

/* What was appended to stands on both sides of its filler. */
static petal_slice
shorten(petal_slice value, struct model_bytes *bytes)
{
    size_t fillers = value.size / ENGINE_FILLER_BYTES * ENGINE_FILLER_BYTES;

    bytes->size = 0;
    for (size_t i = 0; i < value.size; i++) {
        if (slice_bytes(value)[i] != 1 && bytes->size < MODEL_BYTES)
            bytes->bytes[bytes->size++] = slice_bytes(value)[i];
    }
    return bytes->size + fillers == value.size ? model_slice(bytes) : value;
}

void
engine_add_cell(struct model_text *text, const petal_cell *cell)
{
    petal_cell shown = *cell;
    struct model_bytes bytes;

    if (cell->value.size >= ENGINE_FILLER_BYTES)
        shown.value = shorten(cell->value, &bytes);
    model_text_add_cell(text, &shown);
}

void
engine_add_result(struct model_text *text, const petal_result *result)
{
    for (size_t i = 0; i < petal_result_count(result); i++)
        engine_add_cell(text, petal_result_cell(result, i));
}

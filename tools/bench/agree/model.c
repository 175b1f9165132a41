/* model.c -- see tools/bench/agree/model.h. */
#include "tools/bench/agree/model.h"

#include <stdlib.h>
#include <string.h>

static int
compare_keys(const void *a, const void *b)
{
    struct bench_model_key x, y;
    size_t least;
    int order;

    bench_model_key(&x, *(const uint32_t *)a);
    bench_model_key(&y, *(const uint32_t *)b);
    least = x.slice.size < y.slice.size ? x.slice.size : y.slice.size;
    order = memcmp(x.bytes, y.bytes, least);
    return order != 0 ? order : (x.slice.size > y.slice.size) - (x.slice.size < y.slice.size);
}

void
bench_model_init(struct bench_model *model, uint32_t keys)
{
    *model = (struct bench_model){.keys = keys,
                                  .versions = bench_alloc(keys * sizeof(uint32_t)),
                                  .order = bench_alloc(keys * sizeof(uint32_t)),
                                  .places = bench_alloc(keys * sizeof(uint32_t)),
                                  .present = bench_alloc(keys * sizeof(uint32_t))};
    for (uint32_t i = 0; i < keys; i++)
        model->order[i] = i;
    qsort(model->order, keys, sizeof *model->order, compare_keys);
    for (uint32_t i = 0; i < keys; i++)
        model->places[model->order[i]] = i;
}

void
bench_model_free(struct bench_model *model)
{
    free(model->versions);
    free(model->order);
    free(model->places);
    free(model->present);
}

void
bench_model_key(struct bench_model_key *key, uint32_t number)
{
    uint64_t scrambled = bench_scramble(number / 2);
    size_t size = sizeof scrambled;

    memcpy(key->bytes, &scrambled, size);
    if (number % 2 == 1)
        key->bytes[size++] = number % 4 == 1 ? 0 : 0xFF;
    key->slice = (petal_slice){key->bytes, size};
}

void
bench_model_value(struct bench_model_value *value, uint32_t number, uint32_t version)
{
    uint64_t chance = bench_scramble((uint64_t)number << 32 | version);
    size_t size = chance >> 32;

    if (chance % 16 == 0)
        size = 0;
    else
        size %= chance % 64 == 1 ? BENCH_MODEL_VALUE_BYTES : 200;
    bench_value(value->bytes, size, chance);
    value->slice = (petal_slice){value->bytes, size};
}

uint32_t
bench_model_put(struct bench_model *model, uint32_t number)
{
    model->versions[number] = ++model->puts;
    return model->puts;
}

void
bench_model_remove(struct bench_model *model, uint32_t number)
{
    model->versions[number] = 0;
}

void
bench_model_look(struct bench_model *model)
{
    model->present_count = 0;
    for (uint32_t i = 0; i < model->keys; i++) {
        if (model->versions[model->order[i]] != 0)
            model->present[model->present_count++] = model->order[i];
    }
}

size_t
bench_model_seek(const struct bench_model *model, uint32_t number)
{
    size_t low = 0, high = model->present_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (model->places[model->present[middle]] < model->places[number])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool
bench_model_has(const struct bench_model *model, uint32_t number, bool found, petal_slice value)
{
    struct bench_model_value wanted;

    if (!found || model->versions[number] == 0)
        return !found && model->versions[number] == 0;
    bench_model_value(&wanted, number, model->versions[number]);
    return wanted.slice.size == value.size &&
           (value.size == 0 || memcmp(wanted.bytes, value.data, value.size) == 0);
}

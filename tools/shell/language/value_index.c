/* value_index.c -- see tools/shell/language/value_index.h. */
#include "tools/shell/language/value_index.h"

#include <stddef.h>
#include <string.h>

struct value_index {
    size_t mask;     /* slots less one; they are a power of two */
    size_t places[]; /* and one: 0 is an empty slot */
};

/* ---- The hash -------------------------------------------------------------------------------- */

static uint64_t
mix(uint64_t hash)
{
    hash = (hash ^ hash >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* What value_equal takes for one has one hash; the pairs of a hash stand in any order. */
static uint64_t
hash_of(const struct value *value)
{
    uint64_t hash = (uint64_t)value->kind;

    switch (value->kind) {
    case VALUE_NIL:
        break;
    case VALUE_BOOLEAN:
        hash += 32 * (uint64_t)value->as.boolean;
        break;
    case VALUE_INTEGER:
        hash ^= mix((uint64_t)value->as.integer);
        break;
    case VALUE_FLOAT:
        hash ^= slice_hash((petal_slice){&value->as.number, sizeof(value->as.number)});
        break;
    case VALUE_STRING:
    case VALUE_SYMBOL:
    case VALUE_TABLE:
    case VALUE_CLASS:
        hash ^= slice_hash(value->as.bytes);
        break;
    case VALUE_ARRAY:
    case VALUE_RANGE:
    case VALUE_OBJECT:
        for (size_t i = 0; i < value->count; i++)
            hash = mix(hash) + hash_of(&value->as.items[i]);
        break;
    case VALUE_HASH:
        for (size_t i = 0; i < value->count; i++)
            hash += mix(hash_of(&value->as.pairs[i].key)) + hash_of(&value->as.pairs[i].value);
        break;
    }
    return mix(hash);
}

/* ---- The table ------------------------------------------------------------------------------- */

static const struct value *
value_at(const void *array, size_t bytes, size_t place)
{
    return (const struct value *)(const void *)((const char *)array + place * bytes);
}

struct value_index *
value_index_new(struct arena *arena, size_t room)
{
    struct value_index *index;
    size_t slots = 2 * VALUE_INDEX_LEAST, bytes;

    while (slots < 2 * room)
        slots *= 2;
    bytes = slots * sizeof(index->places[0]);
    index = arena_allocate(arena, sizeof(*index) + bytes);
    index->mask = slots - 1;
    memset(index->places, 0, bytes);
    return index;
}

void
value_index_add(struct value_index *index, const void *array, size_t bytes, size_t place)
{
    size_t slot = hash_of(value_at(array, bytes, place)) & index->mask;

    while (index->places[slot] != 0)
        slot = (slot + 1) & index->mask;
    index->places[slot] = place + 1;
}

size_t
value_index_find(const struct value_index *index, const void *array, size_t bytes,
                 const struct value *value)
{
    size_t slot = hash_of(value) & index->mask;

    for (; index->places[slot] != 0; slot = (slot + 1) & index->mask) {
        size_t place = index->places[slot] - 1;

        if (value_equal(value_at(array, bytes, place), value))
            return place;
    }
    return SIZE_MAX;
}

/* comparison.c -- see tools/shell/files/comparison.h. */
#include "tools/shell/files/comparison.h"

#include "tools/shell/text/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GREATEST_REPORTS = 10 };

static struct last_field *
find_slot(const struct last_fields *set, uint64_t hash)
{
    size_t slot = (size_t)hash & (set->capacity - 1);

    while (set->slots[slot].hash != 0 && set->slots[slot].hash != hash)
        slot = (slot + 1) & (set->capacity - 1);
    return &set->slots[slot];
}

static void
grow(struct last_fields *set)
{
    struct last_fields bigger = {.count = set->count};

    bigger.capacity = set->capacity > 0 ? 2 * set->capacity : 1 << 16;
    bigger.slots = memory_allocate(bigger.capacity * sizeof(*bigger.slots));
    memset(bigger.slots, 0, bigger.capacity * sizeof(*bigger.slots));
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i].hash != 0)
            *find_slot(&bigger, set->slots[i].hash) = set->slots[i];
    free(set->slots);
    *set = bigger;
}

void
compare_set_last(struct last_fields *set, uint64_t hash, uint64_t ordinal)
{
    struct last_field *slot;

    if (2 * set->count >= set->capacity)
        grow(set);
    hash += hash == 0;
    slot = find_slot(set, hash);
    set->count += slot->hash == 0;
    *slot = (struct last_field){hash, ordinal};
}

uint64_t
compare_last(const struct last_fields *set, uint64_t hash)
{
    return find_slot(set, hash + (hash == 0))->ordinal;
}

void
compare_report(struct compare *compare, petal_slice row, petal_slice field, const char *what)
{
    struct text text = {0};

    if (++compare->differences > GREATEST_REPORTS)
        return;
    text_add_format(&text, "line %" PRIu64 ": row ", compare->line);
    text_add_binary(&text, row);
    text_add_string(&text, ", field ");
    text_add_binary(&text, field);
    (void)printf("%s: %s\n", text_string(&text), what);
    text_free(&text);
}

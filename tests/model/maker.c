/* maker.c -- see tests/model/maker.h. */
#include "tests/model/maker.h"

#include <string.h>

/* Rows and qualifiers that have tripped stores: prefixes of each other, 00 and FF bytes, the empty
 * qualifier; rows so long that memory for a row has to grow. */
static const petal_slice rows[PICK_ROWS] = {{"a", 1},
                                            {"a\0", 2},
                                            {"a\0b", 3},
                                            {"b", 1},
                                            {"b\xff", 2},
                                            {"\xff\xff", 2},
                                            {"ab", 2},
                                            {"aa-long-enough-for-32", 21},
                                            {"ba-long-enough-for-64-bytes-of-memory", 37},
                                            {"c", 1}};
static const petal_slice qualifiers[PICK_QUALIFIERS] = {
    {"q", 1}, {"", 0}, {"q\0", 2}, {"r\xff", 2}, {"s", 1}};

unsigned
pick_table(struct maker *maker)
{
    return maker->tables > 1 && chance(maker, 35) ? (unsigned)below(maker, maker->tables) : 0;
}

struct model_bytes
pick_row(struct maker *maker)
{
    return model_bytes_of(rows[below(maker, maker->rows)]);
}

struct model_bytes
pick_qualifier(struct maker *maker)
{
    return model_bytes_of(qualifiers[below(maker, maker->qualifiers)]);
}

int64_t
pick_timestamp(struct maker *maker)
{
    int64_t timestamp =
        (maker->now_ms / maker->granule + 1 - (int64_t)below(maker, 8)) * maker->granule;

    if (maker->dense)
        return (1 + (int64_t)below(maker, 3)) * maker->granule;
    if (chance(maker, 10))
        timestamp = maker->now_ms - 1 + (int64_t)below(maker, 3);
    return timestamp < 0 ? 0 : timestamp;
}

void
pick_range(struct maker *maker, int64_t *time_min, int64_t *time_limit)
{
    *time_min = chance(maker, 30) ? 0 : pick_timestamp(maker);
    *time_limit = chance(maker, 30) ? INT64_MAX : pick_timestamp(maker) + (int64_t)below(maker, 2);
    if (*time_limit < *time_min)
        *time_limit = *time_min;
}

struct model_bytes
pick_value(struct maker *maker, bool again)
{
    struct model_bytes value = {0};
    uint64_t number = again ? 1 + below(maker, maker->values + 1) : ++maker->values;
    unsigned kind = (unsigned)below(maker, 10);

    if (kind == 0)
        return value;
    value.size = kind < 4 ? 8 : kind < 6 ? 30 : 4;
    memset(value.bytes, kind < 4 ? 0 : '.', value.size);
    for (size_t i = value.size; i > 0 && number > 0; i--, number /= 10)
        value.bytes[i - 1] = (uint8_t)('0' + number % 10);
    return value;
}

bool
chance_of_range(struct maker *maker, unsigned percent)
{
    return (!maker->calm || maker->roomy) && chance(maker, percent);
}

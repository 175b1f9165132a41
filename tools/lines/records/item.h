/* item.h -- what is put away of a record, to be compared with others that have its hash. */
#ifndef PETAL_TOOLS_LINES_RECORDS_ITEM_H
#define PETAL_TOOLS_LINES_RECORDS_ITEM_H

#include <stdint.h>

/* Items of a hash come in the order in which they were put. */
enum item_role {
    ITEM_KNOWN = 1, /* others are compared with it */
    ITEM_ASKED = 2, /* it is compared with those before it */
    ITEM_BOTH = 3
};

struct item {
    uint64_t hash;
    uint64_t number_and_role; /* of the record; the role in the highest two bits */
};

#define ITEM_NUMBER_BITS 62

static inline struct item
item_make(uint64_t hash, uint64_t number, enum item_role role)
{
    return (struct item){hash, number | (uint64_t)role << ITEM_NUMBER_BITS};
}

static inline uint64_t
item_number(const struct item *item)
{
    return item->number_and_role & ((UINT64_C(1) << ITEM_NUMBER_BITS) - 1);
}

static inline unsigned
item_role(const struct item *item)
{
    return (unsigned)(item->number_and_role >> ITEM_NUMBER_BITS);
}

#endif

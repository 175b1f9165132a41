/*
 * apply_schema.h -- the items about tables and families. Each has the size, or at least the ids, of
 * its tag.
 */
#ifndef PETAL_ENGINE_MANIFEST_APPLY_SCHEMA_H
#define PETAL_ENGINE_MANIFEST_APPLY_SCHEMA_H

#include "engine/manifest/item.h"

/* All attributes that an item can hold; name.size 0: none given.  All slices lie in the item. */
struct attributes {
    petal_family_options family;
    uint32_t durability;
    bool read_only;
    struct manifest_snapshot snapshot;
    petal_attribute *texts; /* also in `family` */
    size_t text_count, text_capacity;
    uint32_t seen; /* bits by tag */
};

/* The attributes after the ids of an item; attributes_fini, also on failure. */
enum petal_status attributes_take(const struct apply *apply, const struct item *whole,
                                  bool of_table, struct attributes *attributes);
void attributes_fini(struct attributes *attributes, const petal_allocator *allocator);

typedef enum petal_status apply_function(const struct apply *apply, const struct item *item);

apply_function apply_create_table, apply_drop_table, apply_alter_table;
apply_function apply_create_family, apply_drop_family, apply_alter_family, apply_next_family;
apply_function apply_create_region, apply_drop_region;

#endif

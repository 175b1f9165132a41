/*
 * apply.h -- what the two files that apply items of an edit share: engine/manifest/apply.c (files, counters, the log,
 * and the dispatch) and engine/manifest/apply_schema.c (tables and families).
 */
#ifndef PETAL_ENGINE_MANIFEST_APPLY_H
#define PETAL_ENGINE_MANIFEST_APPLY_H

#include "engine/manifest/format.h"

/* What applying needs at every step. */
struct apply {
    struct manifest *manifest;
    const petal_allocator *allocator;
    struct manifest_change *change;
    petal_error *error;
};

struct item {
    unsigned tag;
    const uint8_t *payload;
    size_t size;
};

/* Take the first item of *items. */
enum petal_status apply_take_item(const struct apply *apply, petal_slice *items, struct item *item);
enum petal_status apply_check_size(const struct apply *apply, const struct item *item, size_t size);

/* The table, to be changed: it is the edit's own. */
enum petal_status apply_find_table(const struct apply *apply, uint32_t id,
                                   struct manifest_table **table);

/* Where it stands, to be dropped. */
enum petal_status apply_find_place(const struct apply *apply, uint32_t id, size_t *place);

/* Note what was there before the first change of a table. False: no memory. */
bool apply_touch(const struct apply *apply, uint32_t id, struct manifest_table *before);

/* The store whose ids begin an item's payload. */
enum petal_status apply_find_family(const struct apply *apply, const uint8_t *ids,
                                    struct manifest_family **family);

/* One for each tag. The item has the size, or at least the ids, of its tag. */
typedef enum petal_status apply_function(const struct apply *apply, const struct item *item);

apply_function apply_create_table, apply_drop_table, apply_alter_table;
apply_function apply_create_family, apply_drop_family, apply_alter_family, apply_next_family;

#endif

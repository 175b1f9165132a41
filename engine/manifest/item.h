/*
 * item.h -- an item of an edit: a change, or an attribute in one, as untrusted bytes; and what is
 * needed to apply one.
 */
#ifndef PETAL_ENGINE_MANIFEST_ITEM_H
#define PETAL_ENGINE_MANIFEST_ITEM_H

#include "engine/manifest/undo.h"

/* An edit that is being applied. */
struct apply {
    struct manifest *manifest;
    const petal_allocator *allocator;
    struct manifest_undo *undo;
    petal_error *error;
};

struct attributes;

struct item {
    unsigned tag;
    const uint8_t *payload;
    size_t size;
    /* What a change is about, as far as its tag has it: found before the change is applied. */
    struct manifest_table *table;
    struct manifest_family *family;
    struct manifest_region *region;
    struct manifest_store *store; /* the family's of the region */
    struct attributes *attributes;
};

/* Take the first item of *items. */
enum petal_status item_take(const struct apply *apply, petal_slice *items, struct item *item);
enum petal_status item_check_size(const struct apply *apply, const struct item *item, size_t size);

/* Note a step that is about to be taken, of an item about `family` of `table` (NULL: about the
 * table itself). PETAL_NO_MEMORY. */
enum petal_status item_note(const struct apply *apply, enum undo_kind kind,
                            struct manifest_table *table, const struct manifest_family *family,
                            uint64_t number, const void *before);

/* The same of an item about a store. */
enum petal_status item_note_store(const struct apply *apply, enum undo_kind kind,
                                  const struct item *item, uint64_t number, const void *before);

#endif

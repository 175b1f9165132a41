/*
 * undo.h -- the changes of an edit to the state, step by step: kept once the edit is durable, else
 * taken back, the last step first.
 *
 * A step holds what it replaced, so an edit costs what it changes, however large the tables are.
 * Taking back needs no memory: arrays never shrink, and lookups keep the room of removed entries.
 */
#ifndef PETAL_ENGINE_MANIFEST_UNDO_H
#define PETAL_ENGINE_MANIFEST_UNDO_H

#include "engine/manifest/state.h"

enum undo_kind {
    UNDO_MADE_TABLE,
    UNDO_ALTERED_TABLE,
    UNDO_DROPPED_TABLE,
    UNDO_MADE_FAMILY,
    UNDO_ALTERED_FAMILY,
    UNDO_DROPPED_FAMILY,
    UNDO_NEXT_FAMILY,
    UNDO_MADE_REGION,
    UNDO_DROPPED_REGION,
    UNDO_ADDED_FILE,
    UNDO_REMOVED_FILE,
    UNDO_FLUSHED,
    UNDO_AHEAD,
    UNDO_KINDS
};

struct undo_step {
    enum undo_kind kind;
    uint32_t family; /* the place of its family in the table */
    uint32_t region; /* that of its region */
    struct manifest_table *table;
    /* The former place of the table or file, next_family_id, flushed sequence, or timestamp ahead
     * of the clock. */
    uint64_t number;
    /* A copy of the struct that was changed or removed; NULL: none is needed. */
    void *before;
};

/* A region that was taken out, with its stores, as many as its table had families. */
struct dropped_region {
    struct manifest_region *region;
    struct manifest_store *stores;
    size_t store_count;
};

struct manifest_undo {
    const petal_allocator *allocator;
    struct manifest counters; /* as they were; its tables and lookups are not used */
    struct undo_step *steps;
    size_t count, capacity;
};

void manifest_undo_init(struct manifest_undo *undo, const struct manifest *manifest,
                        const petal_allocator *allocator);

/* Note a step before it is taken, which cannot fail. `before`: the struct to be copied, of the
 * kind's type, or NULL. False: no memory. */
bool manifest_undo_note(struct manifest_undo *undo, struct undo_step step, const void *before);

/* Keep the changes; release what they have removed. */
void manifest_undo_forget(struct manifest_undo *undo);

/* The state is as it was. */
void manifest_undo_run(struct manifest_undo *undo, struct manifest *manifest);

#endif

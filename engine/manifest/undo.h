/*
 * undo.h -- what an edit has changed in the state, step by step: kept when the edit is durable,
 * else taken back, the last step first.
 *
 * A step holds what was there before it, so an edit costs what it changes, however large the tables
 * are. Taking back needs no memory: arrays never shrink, and the lookups keep the room of what was
 * removed from them.
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
    UNDO_ADDED_FILE,
    UNDO_REMOVED_FILE,
    UNDO_FLUSHED,
    UNDO_AHEAD,
    UNDO_KINDS
};

struct undo_step {
    enum undo_kind kind;
    uint32_t family; /* the place of its family in the table */
    struct manifest_table *table;
    /* Where the table or the file stood; next_family_id, the flushed sequence, the timestamp ahead
     * of the clock as they were. */
    uint64_t number;
    /* A copy of the struct that was changed or removed, with all that it points to; NULL: none is
     * needed. */
    void *before;
};

struct manifest_undo {
    const petal_allocator *allocator;
    struct manifest counters; /* as they were; its tables and lookups are not used */
    struct undo_step *steps;
    size_t count, capacity;
};

void manifest_undo_init(struct manifest_undo *undo, const struct manifest *manifest,
                        const petal_allocator *allocator);

/* Note a step that is about to be taken, and cannot fail. `before`: the struct to be copied, of
 * the kind's type; NULL where it has none. False: no memory. */
bool manifest_undo_note(struct manifest_undo *undo, struct undo_step step, const void *before);

/* The state stays as it is; what steps have removed from it is released. */
void manifest_undo_forget(struct manifest_undo *undo);

/* The state is as it was. */
void manifest_undo_run(struct manifest_undo *undo, struct manifest *manifest);

#endif

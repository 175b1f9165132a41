/*
 * apply.h -- applies an edit to the state, or leaves the state as it was.
 */
#ifndef PETAL_ENGINE_MANIFEST_APPLY_H
#define PETAL_ENGINE_MANIFEST_APPLY_H

#include "engine/manifest/undo.h"

/* Apply a list of items in their order. PETAL_INVALID: one is malformed, or does not fit the state;
 * PETAL_UNSUPPORTED: a tag or value is of a newer version. After a failure the state is as it was;
 * else `undo` is to be run or forgotten. */
enum petal_status manifest_apply(struct manifest *manifest, const petal_allocator *allocator,
                                 petal_slice items, struct manifest_undo *undo, petal_error *error);

#endif

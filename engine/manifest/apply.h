/*
 * apply.h -- an edit changes the state, or leaves it as it was.
 */
#ifndef PETAL_ENGINE_MANIFEST_APPLY_H
#define PETAL_ENGINE_MANIFEST_APPLY_H

#include "engine/manifest/undo.h"

/*
 * Apply a list of items, in their order; what each changes must fit the state that those before it
 * have left.  PETAL_INVALID: it is malformed or does not fit; PETAL_UNSUPPORTED: it holds a tag or
 * a value of a newer version. After a failure the state is as it was; else `undo` is to be run or
 * forgotten.
 */
enum petal_status manifest_apply(struct manifest *manifest, const petal_allocator *allocator,
                                 petal_slice items, struct manifest_undo *undo, petal_error *error);

#endif

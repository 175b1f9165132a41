/*
 * manifest_promise.h -- what engine/FORMAT.md says that a reader makes of a manifest's bytes,
 * worked out from the page and not from the library's code: whether they are refused, and if not,
 * which edits count. And what databases answer whose manifest ends with each of its edits.
 */
#ifndef PETAL_TESTS_DAMAGE_MANIFEST_PROMISE_H
#define PETAL_TESTS_DAMAGE_MANIFEST_PROMISE_H

#include "tests/damage/sweep.h"

struct manifest_reading {
    bool refused;
    size_t edits; /* that count, the snapshot included */
    size_t end;   /* after the last of them */
};

struct manifest_reading manifest_promise_read(const uint8_t *bytes, size_t size);

#define MANIFEST_MOST_EDITS 64

struct manifest_references {
    size_t edits; /* of the manifest as it should be */
    struct manifest_reference {
        enum petal_status status; /* of opening */
        struct answers answers;
    } ends[MANIFEST_MOST_EDITS + 1]; /* of the manifest that ends with the n-th edit; from 1 */
};

/* Open with each of the ends; what is answered then has been true at some time, or is refused by a
 * name: else the test fails. */
void manifest_references_make(struct manifest_references *references, struct sweep *sweep,
                              const struct sweep_file *file);
void manifest_references_free(struct manifest_references *references);

/* Open with the manifest that sweep_begin has put in place: refused, or answering as the reference
 * does, just as the page says of these bytes. */
void manifest_promise_check(const struct manifest_references *references, struct sweep *sweep,
                            const struct sweep_file *file, const uint8_t *bytes, size_t size,
                            struct sweep_share share);

#endif

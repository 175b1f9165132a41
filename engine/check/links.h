/*
 * links.h -- the store files of a place that are links of one another, by the identity that they
 * share, and which of them a salvage reads: links may have become copies, one of them damaged.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_ENGINE_CHECK_LINKS_H
#define PETAL_ENGINE_CHECK_LINKS_H

#include "engine/check/plan.h"

/* All zeros: there are none. */
struct links {
    struct plan_file *files; /* whose identity is known: by identity, then number */
    size_t count, capacity;
};

/* Of the plan's place, when the plan is made. Fails without memory. */
enum petal_status links_find(struct links *links, const struct plan *plan, petal_error *error);
void links_fini(struct links *links, const struct plan *plan);

/*
 * Where a file of the family is missing or damaged another one of its identity takes its place, if
 * that one is better, which is told. Fails for want of memory or descriptors alone.
 */
enum petal_status links_choose(const struct links *links, struct plan *plan,
                               const struct plan_table *table, const struct plan_family *family,
                               petal_error *error);

#endif

/*
 * links.h -- store files that are links of one another have one identity. Some may have become
 * copies since, and some of those may be missing or damaged: then a salvage reads another one.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_ENGINE_CHECK_LINKS_H
#define PETAL_ENGINE_CHECK_LINKS_H

#include "engine/check/plan.h"

/*
 * Replaces each file of the family that is missing or damaged by a better link of it, if there is
 * one, and tells so. Fails for want of memory or descriptors alone.
 */
enum petal_status links_choose(const struct plan *plan, const struct plan_table *table,
                               const struct plan_family *family, petal_error *error);

#endif

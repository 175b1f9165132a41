/* kinds.h -- the table of kinds: which functions each has. */
#ifndef PETAL_BLOOM_FILTER_KINDS_H
#define PETAL_BLOOM_FILTER_KINDS_H

#include "bloom/filter/kind.h"

/* PETAL_UNSUPPORTED: this library has none of the kind. REQUIRES: the kind has a name. */
enum petal_status filter_find_kind(const struct filter_kind **functions, enum petal_bloom_kind kind,
                                   petal_error *error);

#endif

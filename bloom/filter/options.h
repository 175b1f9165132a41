/* options.h -- what callers ask of a filter, checked. */
#ifndef PETAL_BLOOM_FILTER_OPTIONS_H
#define PETAL_BLOOM_FILTER_OPTIONS_H

#include "base/error.h"
#include "bloom/petal_bloom.h"

/* What was given, with defaults filled in; each field is checked but `keys`, which not every kind
 * needs. The kind is one that filters have. */
enum petal_status filter_options_resolve(petal_bloom_options *options,
                                         const petal_bloom_options *given, petal_error *error);

#endif

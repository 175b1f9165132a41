/* options.h -- options that a caller gives, of whatever version of the header it was compiled
 * with. */
#ifndef PETAL_HFILE_FORMAT_OPTIONS_H
#define PETAL_HFILE_FORMAT_OPTIONS_H

#include "engine/petal.h"

/*
 * `given`, NULL for none, is a struct that begins with its own size (0: that of `taken`). *taken,
 * of `size` bytes, gets what both of them know, and 0 for the rest. PETAL_INVALID: it has a size
 * that no such struct has. `name` stands in the error.
 */
enum petal_status hfile_options_take(const void *given, void *taken, size_t size, const char *name,
                                     petal_error *error);

#endif

/*
 * options.h -- structs as callers give them: they begin with their size, by which a caller whose
 * header knew fewer members, or more, is understood.
 */
#ifndef PETAL_BASE_OPTIONS_H
#define PETAL_BASE_OPTIONS_H

#include "engine/petal.h"

/* PETAL_INVALID: no struct that begins with a size_t is so large. 0 passes. `name` is the struct's.
 */
enum petal_status options_check_size(size_t size, const char *name, petal_error *error);

/* Copy the `from_bytes` that the caller's header knows of a struct, the rest zero. */
void options_copy_known(void *to, size_t to_bytes, const void *from, size_t from_bytes);

/*
 * Copy what the caller's header knows of a struct that begins with its size (0: that of this
 * header), the rest zero; `from` may be NULL. PETAL_INVALID, and `to` all zero, when the size is
 * none; `name` is the struct's.
 */
enum petal_status options_copy(void *to, size_t to_bytes, const void *from, const char *name,
                               petal_error *error);

#endif

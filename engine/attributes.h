/*
 * attributes.h -- lists of attributes: text that tables and families carry, kept for the user, not
 * acted upon.
 *
 * METADATA and CONFIGURATION take any text.  The attributes of HBase that Petal keeps stand in a
 * table of names and ranges here; their values are in canonical form: words as HBase spells them,
 * numbers in decimal.
 */
#ifndef PETAL_ENGINE_ATTRIBUTES_H
#define PETAL_ENGINE_ATTRIBUTES_H

#include "engine/petal.h"

#define MOST_ATTRIBUTES            256 /* of one table or family */
#define MOST_ATTRIBUTE_NAME_BYTES  1024
#define MOST_ATTRIBUTE_VALUE_BYTES 65536

/* PETAL_INVALID for one that is malformed, unknown, out of its range or given twice. */
enum petal_status attributes_check(const petal_attribute *attributes, size_t count, bool of_table,
                                   petal_error *error);

/* The kept attribute of that name as a number; `fallback` if it is not given. */
int64_t attributes_number(const petal_attribute *attributes, size_t count, const char *name,
                          int64_t fallback);
/* .. as TRUE or FALSE, in any case of letters, as HBase reads it. */
bool attributes_bool(const petal_attribute *attributes, size_t count, const char *name,
                     bool fallback);

/* Whether its kind, and the name of a kept one, are known here: a later version may have more of
 * them. */
bool attributes_knows(const petal_attribute *attribute, bool of_table);

/* Copy a list with its bytes, sorted by kind and name; NULL for an empty one. False: no memory,
 * *copy is NULL. */
bool attributes_copy(const petal_attribute **copy, const petal_attribute *attributes, size_t count,
                     const petal_allocator *allocator);
void attributes_free(const petal_attribute *copy, size_t count, const petal_allocator *allocator);

#endif

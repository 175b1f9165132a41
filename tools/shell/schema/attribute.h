/*
 * attribute.h -- single attributes of tables and families: read from a key and a value in the words
 * of the shell, and looked up for whoever shows them.
 *
 * Attributes that the library keeps as text are lists in the options; the shell's lists live in the
 * session's arena.
 */
#ifndef PETAL_TOOLS_SHELL_SCHEMA_ATTRIBUTE_H
#define PETAL_TOOLS_SHELL_SCHEMA_ATTRIBUTE_H

#include "tools/shell/session/session.h"

#define ERROR_RATE_KEY     "io.storefile.bloom.error.rate"
#define DEFAULT_ERROR_RATE 0.01
#define PREFIX_LENGTH_KEY  "RowPrefixBloomFilter.prefix_length"

/* NULL if there is none. */
const petal_attribute *attribute_find(const petal_attribute *items, size_t count,
                                      enum petal_attribute_kind kind, petal_slice name);

/* Read one attribute into the options; *known is false for a key that is none.  NAME and METHOD
 * are left to the caller. */
enum shell_status family_attribute_read(struct session *session, petal_family_options *family,
                                        petal_slice key, const struct value *value, bool *known);
enum shell_status table_attribute_read(struct session *session, petal_table_options *table,
                                       petal_slice key, const struct value *value, bool *known);

/* The attribute of a family or a table whose name is nearest to a mistyped one, NULL: none is
 * near. */
const char *attribute_nearest(petal_slice name);

/* What depends on several attributes of one family. */
enum shell_status family_attributes_check(struct session *session,
                                          const petal_family_options *family);

/* Put a table's attribute back to its default; false if it was not set. */
bool table_attribute_unset(struct session *session, petal_table_options *table, petal_slice name);

const char *schema_bloom_name(enum petal_bloom_type bloom);
const char *schema_bloom_kind_name(enum petal_bloom_kind kind);
const char *schema_durability_name(enum petal_durability durability);
const char *schema_keep_deleted_name(enum petal_keep_deleted keep_deleted);

#endif

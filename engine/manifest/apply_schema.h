/*
 * apply_schema.h -- the items about tables and families. Each has the size, or at least the ids, of
 * its tag.
 */
#ifndef PETAL_ENGINE_MANIFEST_APPLY_SCHEMA_H
#define PETAL_ENGINE_MANIFEST_APPLY_SCHEMA_H

#include "engine/manifest/item.h"

typedef enum petal_status apply_function(const struct apply *apply, const struct item *item);

apply_function apply_create_table, apply_drop_table, apply_alter_table;
apply_function apply_create_family, apply_drop_family, apply_alter_family, apply_next_family;

#endif

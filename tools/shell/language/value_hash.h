/* value_hash.h -- the pairs of a hash. */
#ifndef PETAL_TOOLS_SHELL_LANGUAGE_VALUE_HASH_H
#define PETAL_TOOLS_SHELL_LANGUAGE_VALUE_HASH_H

#include "tools/shell/language/value.h"

/* Where the pair with this key is, SIZE_MAX if the hash has none. */
size_t value_hash_place(const struct value *hash, const struct value *key);

/* The value of a key, NULL if it is not there. */
struct value *value_hash_find(const struct value *hash, const struct value *key);

/* Set `key` in a hash that has room for it, and no index.  The last of equal keys wins. */
void value_hash_set(struct value *hash, const struct value *key, const struct value *value);

#endif

/* value_hash.c -- see tools/shell/language/value_hash.h. */
#include "tools/shell/language/value_hash.h"

#include "tools/shell/language/value_index.h"

#include <assert.h>

size_t
value_hash_place(const struct value *hash, const struct value *key)
{
    const struct value_pair *pairs = hash->as.pairs;

    if (hash->as.index != NULL)
        return value_index_find(hash->as.index, pairs, sizeof(*pairs), key);
    for (size_t i = 0; i < hash->count; i++)
        if (value_equal(&pairs[i].key, key))
            return i;
    return SIZE_MAX;
}

struct value *
value_hash_find(const struct value *hash, const struct value *key)
{
    size_t place = value_hash_place(hash, key);

    return place != SIZE_MAX ? &hash->as.pairs[place].value : NULL;
}

void
value_hash_set(struct value *hash, const struct value *key, const struct value *value)
{
    struct value *found = value_hash_find(hash, key);

    assert(hash->as.index == NULL);
    if (found != NULL) {
        *found = *value;
        return;
    }
    hash->as.pairs[hash->count].key = *key;
    hash->as.pairs[hash->count].value = *value;
    hash->count++;
}

/*
 * value_index.h -- which of some values equals one that is sought, without a look at each: an open
 * table of their places, half of it empty at least.
 */
#ifndef PETAL_TOOLS_SHELL_LANGUAGE_VALUE_INDEX_H
#define PETAL_TOOLS_SHELL_LANGUAGE_VALUE_INDEX_H

#include "tools/shell/language/value.h"

/* Below so many a look at each is as quick. */
enum { VALUE_INDEX_LEAST = 16 };

struct value_index;

/* With room for so many values, in the arena. */
struct value_index *value_index_new(struct arena *arena, size_t room);

/* Places are those of an array: values, or pairs, of which it is the key; `bytes` is the size of
 * one. The value at `place`, which equals none that the index has, is added; there is room. */
void value_index_add(struct value_index *index, const void *array, size_t bytes, size_t place);

/* SIZE_MAX: there is none. */
size_t value_index_find(const struct value_index *index, const void *array, size_t bytes,
                        const struct value *value);

#endif

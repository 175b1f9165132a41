/*
 * key_set.h -- which keys of a range came, and which came more than once: a bit for each key of the
 * range, or two. The keys themselves are not kept.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_TOOLS_LINES_NUMBERS_KEY_SET_H
#define PETAL_TOOLS_LINES_NUMBERS_KEY_SET_H

#include "tools/lines/numbers/ascend.h"

struct key_set;

/* Does a set of low..high (high included) take at most so many bytes? */
bool key_set_fits(enum ascend_mode mode, uint64_t low, uint64_t high, size_t bytes);

/* REQUIRES: key_set_fits said so. */
bool key_set_create(struct job *job, enum ascend_mode mode, uint64_t low, uint64_t high,
                    struct key_set **set);
void key_set_free(struct key_set *set); /* NULL: nothing */

/* REQUIRES: they are in the range. */
void key_set_add(struct key_set *set, const uint64_t *keys, size_t count);

/* The runs of neighbours that the mode asks for, in ascending order, until one is refused. */
bool key_set_visit(const struct key_set *set, const struct ascend_visitor *visitor);

#endif

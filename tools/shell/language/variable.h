/*
 * variable.h -- the variables of a shell: names and copies of values, which outlive the input that
 * set them.
 *
 * They are a stack: a block's own lie above those around it, hide them, and go with the block.
 */
#ifndef PETAL_TOOLS_SHELL_LANGUAGE_VARIABLE_H
#define PETAL_TOOLS_SHELL_LANGUAGE_VARIABLE_H

#include "tools/shell/language/value.h"

struct variable {
    struct arena arena; /* of all that the value points to */
    char *name;
    size_t name_size;
    struct value value;
    size_t room;    /* for items, pairs or bytes of the value */
    size_t settled; /* bytes of the arena when all that it held was in use */
    size_t below;   /* the next of its chain: its place and one, 0 if there is none */
};

struct variables {
    struct variable *items;
    size_t count, capacity;
    size_t *chains;      /* of names with one hash each, the newest first: its place and one */
    size_t chains_count; /* a power of two, or 0 */
};

void variables_free(struct variables *variables);

/* Set the newest variable of that name; make one if there is none. */
void variables_set(struct variables *variables, petal_slice name, const struct value *value);

/*
 * Change the newest variable of that name in its place, which costs as much as what is new: all of
 * it is copied now and then only, when it has become twice as large.  What is given does not lie in
 * the variable.
 */

/* Add an item to a list, or bytes to a text. */
void variables_append(struct variables *variables, petal_slice name, const struct value *value);

/* Set an item of a list, which becomes as long as that takes, with nil between. */
void variables_set_item(struct variables *variables, petal_slice name, size_t place,
                        const struct value *value);

/* Set a key of a hash. */
void variables_set_pair(struct variables *variables, petal_slice name, const struct value *key,
                        const struct value *value);

/* Make one that hides those of its name. */
void variables_push(struct variables *variables, petal_slice name, const struct value *value);

/* Forget all but the first `count`, which is what there were when a block began. */
void variables_pop_to(struct variables *variables, size_t count);

/* NULL if there is none.  The value stays until it is set anew; copy it before another input may
 * do that. */
const struct value *variables_get(const struct variables *variables, petal_slice name);

#endif

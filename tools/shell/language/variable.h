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
    struct arena arena; /* of the name and of all that the value points to */
    petal_slice name;
    struct value value;
};

struct variables {
    struct variable *items;
    size_t count, capacity;
};

void variables_free(struct variables *variables);

/* Set the newest variable of that name; make one if there is none. */
void variables_set(struct variables *variables, petal_slice name, const struct value *value);

/* Make one that hides those of its name. */
void variables_push(struct variables *variables, petal_slice name, const struct value *value);

/* Forget all but the first `count`, which is what there were when a block began. */
void variables_pop_to(struct variables *variables, size_t count);

/* NULL if there is none.  The value stays until it is set anew; copy it before another input may
 * do that. */
const struct value *variables_get(const struct variables *variables, petal_slice name);

#endif

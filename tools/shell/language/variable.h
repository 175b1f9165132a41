/*
 * variable.h -- the variables of a shell: names and copies of values, which outlive the input that
 * set them.
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
    size_t count;
};

void variables_free(struct variables *variables);

void variables_set(struct variables *variables, petal_slice name, const struct value *value);

/* Forget it, if there is one. */
void variables_remove(struct variables *variables, petal_slice name);

/* NULL if there is none.  The value stays until it is set anew; copy it before another input may
 * do that. */
const struct value *variables_get(const struct variables *variables, petal_slice name);

#endif

/*
 * complaint.h -- why a value cannot be had: Ruby's name of the error, and what is wrong.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_COMPLAINT_H
#define PETAL_TOOLS_SHELL_EVAL_COMPLAINT_H

#include "tools/shell/language/value.h"

struct complaint {
    const char *kind; /* NULL: there is none */
    char text[400];
};

/* Returns false, for whoever fails by it. */
bool complain(struct complaint *complaint, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

/*
 * source.h -- what the shell asks of an input beside Ruby's parser: the prefixes explain, time and
 * help, strings without a comma between them, open brackets.
 */
#ifndef PETAL_TOOLS_SHELL_RUBY_SOURCE_H
#define PETAL_TOOLS_SHELL_RUBY_SOURCE_H

#include "tools/shell/text/text.h"

struct source {
    struct text
        text;       /* as long as the input; `explain get` is explain_get, with its blanks first */
    unsigned depth; /* of open brackets */
    /* Two strings in one line with nothing but blanks between them: both, and the second one's
     * place; `joined` is empty where there are none. */
    petal_slice joined;
    size_t comma;
    /* What follows a string as if it were the next argument: 'u' {NAME => 'f'}; empty: nothing. */
    petal_slice apart;
    size_t open_string; /* where the string begins that the input ends in; SIZE_MAX: in none */
};

/* Read the input, which outlives the source. */
void source_read(struct source *source, petal_slice input);
void source_free(struct source *source);

#endif

/*
 * shell_output.h -- HBase's output layout: one or two columns, padded and wrapped on a terminal.
 *
 * On a terminal of W characters the first of two columns has W/4, the second the rest but 2: a header
 * line is column, 2 blanks, column; a data line is blank, column, blank, column; what is too long goes on in the next
 * line of its column.  One-column lines are wrapped at W.  All of them are padded to W.
 * Elsewhere nothing is padded or wrapped.  Widths count characters.
 */
#ifndef PETAL_SHELL_OUTPUT_H
#define PETAL_SHELL_OUTPUT_H

#include "tools/shell_text.h"

#include <stdio.h>

struct output {
    FILE *file; /* borrowed */
    bool terminal;
    unsigned width; /* in characters, 0 when not on a terminal; taken anew by output_header */
    struct text line;
};

void output_init(struct output *output, FILE *file, bool terminal);
void output_free(struct output *output);

/* `second` NULL: one column. */
void output_header(struct output *output, const char *first, const char *second);
void output_columns(struct output *output, petal_slice first, petal_slice second);
void output_line(struct output *output, petal_slice text);

/* One line as it is, neither padded nor wrapped. */
void output_plain(struct output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_plain_slice(struct output *output, petal_slice text);

#endif

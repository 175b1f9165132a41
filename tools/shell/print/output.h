/*
 * output.h -- HBase's output layout: one or two columns, padded and wrapped on a terminal.
 *
 * On a terminal of W characters the first of two columns has W/4, the second the rest but 2: a
 * header line is column, 2 blanks, column; a data line is blank, column, blank, column; what is too
 * long goes on in the next line of its column.  One-column lines are wrapped at W.  All of them are
 * padded to W. Elsewhere nothing is padded or wrapped.  Widths count characters.
 *
 * With another format (tools/shell/print/format.h) headers begin sets of records, the lines after
 * them are records, and plain lines are messages.
 *
 * The room print: lines and columns as HBase lays them out, and answers as json, csv or a table.
 */
#ifndef PETAL_TOOLS_SHELL_PRINT_OUTPUT_H
#define PETAL_TOOLS_SHELL_PRINT_OUTPUT_H

#include "tools/shell/print/format.h"

#include <stdio.h>

struct output {
    FILE *file;   /* borrowed */
    FILE *errors; /* borrowed: where messages of failures go; NULL: among all else */
    bool terminal;
    unsigned width; /* in characters, 0 when not on a terminal; taken anew by output_header */
    unsigned first; /* of them the first of two columns: a quarter, if output_table did not say */
    struct text line;
    struct format format;
    unsigned header_set; /* the number of the latest set that a header began */
    bool unfinished;     /* the last line lacks its end, which comes before what is printed next */
    bool document;       /* what the command printed is a text of a format that others read */
};

void output_init(struct output *output, FILE *file, bool terminal);
void output_free(struct output *output);

/* Messages go to this file, without a terminal's layout; records stay where they were. */
void output_say_elsewhere(struct output *output, FILE *file);

/* Characters that fit into a line: the terminal's, 80 elsewhere. */
unsigned output_width(struct output *output);

/* `second` NULL: one column. */
void output_header(struct output *output, const char *first, const char *second);
void output_columns(struct output *output, petal_slice first, petal_slice second);
void output_line(struct output *output, petal_slice text);

/*
 * Tables of Petal's own: `longest` characters have room in the first column, if that leaves half of
 * a line, and on a terminal lines end between words; in the second column between its parts ("; "
 * or ", " divides them) where one has room.
 */
void output_table(struct output *output, const char *first, const char *second, unsigned longest);
void output_parts(struct output *output, petal_slice first, petal_slice second);

/* A sentence of Petal's own: on a terminal lines end between words. */
void output_message(struct output *output, petal_slice text);

/* The same without a line end.  What is printed next, or output_finish, ends it; after
 * output_join that stands in the line. */
void output_unfinished_line(struct output *output, petal_slice text);
void output_finish(struct output *output);
void output_join(struct output *output);

/* Write out what is buffered; format.write_error says why that failed. */
void output_flush(struct output *output);

/* With a format, begin a set of records with this one column, which the caller fills; false:
 * there is none. */
bool output_begin_records(struct output *output, const char *column);

/* One line as it is, neither padded nor wrapped. */
void output_plain(struct output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void output_plain_slice(struct output *output, petal_slice text);

/* A text of a format of its own, as output_plain_slice: where programs read nothing may follow. */
void output_document(struct output *output, petal_slice text);

/* Lines about a failure, which on a terminal end between words.  What was printed before is written
 * out first, so that the order stays right where errors and output come to one place. */
void output_error(struct output *output, petal_slice text);

#endif

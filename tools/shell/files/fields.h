/*
 * fields.h -- the formats of files that import reads and export writes, and the values in a line of
 * csv or tsv.
 */
#ifndef PETAL_TOOLS_SHELL_FILES_FIELDS_H
#define PETAL_TOOLS_SHELL_FILES_FIELDS_H

#include "tools/shell/text/text.h"

enum file_format { FILE_CSV, FILE_TSV, FILE_JSON, FILE_HBASE };

/* The format that a word such as "csv" names, or a file's name by its ending; false if none. */
bool file_format_of_word(const char *word, enum file_format *format);
bool file_format_of_name(const char *file_name, enum file_format *format);

/* A line of csv or tsv, without its end, on the way from value to value. */
struct fields {
    const char *at, *end;
    enum file_format format;
};

enum fields_outcome {
    FIELDS_GOOD,
    FIELDS_OPEN,    /* the line ends inside of quotes */
    FIELDS_FOLLOWED /* something else than a separator stands after the closing quote */
};

char fields_separator(enum file_format format);

/*
 * Take the value at `at`, and stop at the separator or the end after it.  What stands in quotes is
 * added to `bytes`, and plain->data is NULL then; any other value is `plain`, a piece of the line.
 */
enum fields_outcome fields_take(struct fields *line, struct text *bytes, petal_slice *plain);

/* Go on in the next line with a value whose quotes are open. */
enum fields_outcome fields_go_on(struct fields *line, struct text *bytes);

/* Step over the separator in front of the next value; false if there is none. */
bool fields_next(struct fields *line);

#endif

/*
 * record.h -- reads the records of a file of csv or tsv, for import and compare.
 *
 * csv     RFC 4180: quotes, doubled inside; a quoted value may hold line ends.
 * tsv     Values parted by tabs, without quotes.
 *
 * The first line has the columns' names, `family:qualifier`, behind a word for the row. An empty
 * value without quotes stands for no cell.
 */
#ifndef PETAL_TOOLS_SHELL_FILES_RECORD_H
#define PETAL_TOOLS_SHELL_FILES_RECORD_H

#include "tools/shell/files/fields.h"

#include <stdio.h>

enum record_outcome {
    RECORD_GOOD,
    RECORD_BAD, /* reader->message says why; the next call goes on behind it */
    RECORD_END,
    RECORD_FAILED /* input error, or a header that cannot be used; reader->message says why */
};

struct record_column {
    struct text name;
    petal_family *family; /* for the user of the reader, NULL at first */
    bool resolved, wanted;
};

struct record_field {
    size_t column;
    petal_slice value;
    size_t begin; /* of the value, in the reader's bytes */
};

struct record_reader {
    enum file_format format;
    FILE *file;    /* borrowed */
    uint64_t line; /* lines read so far */
    uint64_t bytes_read;
    int read_error; /* errno of the first read that failed, whoever read */
    char message[256];
    struct record_column *columns;
    size_t column_count, column_capacity;

    /* The record at hand, good until the next call. */
    petal_slice row;
    struct record_field *fields;
    size_t field_count, field_capacity;
    uint64_t record_line; /* where it begins */

    struct text bytes; /* of its values */
    char *line_bytes;
    size_t line_capacity, line_size;
    bool header_read;
    bool line_pending; /* the line in line_bytes was read, but not used: it is the next one */
};

void shell_record_reader_init(struct record_reader *reader, enum file_format format, FILE *file);
void shell_record_reader_free(struct record_reader *reader);
enum record_outcome shell_record_next(struct record_reader *reader);

/* Read a line without its end into line_bytes; false at the end of the input. */
bool shell_record_read_line(struct record_reader *reader);

#endif

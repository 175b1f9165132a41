/*
 * record.h -- reads the records of a file of csv or tsv, for import and compare.
 *
 * csv     RFC 4180: quotes, doubled inside; a quoted value may hold line ends.
 * tsv     Values parted by tabs, without quotes.
 *
 * The first line has the columns' names.  Some of them make the row, as the reader's user says, or
 * none, and records are numbered.  An empty value without quotes stands for no cell.
 */
#ifndef PETAL_TOOLS_SHELL_FILES_RECORD_H
#define PETAL_TOOLS_SHELL_FILES_RECORD_H

#include "tools/shell/files/fields.h"

#include <stdio.h>

enum record_outcome {
    RECORD_GOOD,
    RECORD_BAD, /* reader->message says why; the next call goes on after it */
    RECORD_END,
    RECORD_FAILED /* input error, or a header that cannot be used; reader->message says why */
};

struct record_column {
    struct text name;
    bool in_row; /* its values are rows, or parts of them, and no cells */

    /* For the user of the reader; all NULL or false at first. */
    petal_slice family_name, qualifier;
    petal_family *family;
    bool resolved, wanted;
};

struct record_field {
    size_t column;
    petal_slice value;
};

struct record_reader {
    enum file_format format;
    FILE *file;    /* borrowed */
    uint64_t line; /* lines read so far */
    uint64_t bytes_read;
    int read_error; /* errno of the first read that failed, whoever read */
    char message[256];
    struct record_column *columns; /* all that the first line names */
    size_t column_count, column_capacity;
    size_t *row_columns; /* whose values make the row, in this order; none: the record's number */
    size_t row_column_count;
    petal_slice row_separator; /* between these values; borrowed */
    uint64_t records;          /* begun, good or bad */

    /* The record at hand, good until the next call. */
    petal_slice row;
    struct record_field *fields;
    size_t field_count, field_capacity;
    uint64_t record_line; /* where it begins */

    struct text bytes;           /* of its values */
    struct record_piece *pieces; /* one for each column */
    struct text row_bytes;       /* of a row that is not one of the values */
    char *line_bytes;
    size_t line_capacity, line_size;
    bool line_pending; /* the line in line_bytes was read, but not used: it is the next one */
};

void shell_record_reader_init(struct record_reader *reader, enum file_format format, FILE *file);
void shell_record_reader_free(struct record_reader *reader);

/* Read the first line; RECORD_END if there is none. */
enum record_outcome shell_record_header(struct record_reader *reader);

/* Say what rows are made of, once the header was read. */
void shell_record_set_row(struct record_reader *reader, const size_t *columns, size_t count,
                          petal_slice separator);

/* Read the next record; what its rows are made of has been said. */
enum record_outcome shell_record_next(struct record_reader *reader);

/* Read a line without its end into line_bytes; false at the end of the input. */
bool shell_record_read_line(struct record_reader *reader);

#endif

/*
 * record.h -- reads the records of an input file for import and compare.
 *
 * deb822  Debian control paragraphs, parted by empty lines: `Name: value`, lines that begin with a blank go on
 *         with the value (kept as they are, behind a newline), lines that begin with # are comments.
 *         The row is the value of one field, the columns are the others.
 * csv     RFC 4180: quotes, doubled inside; a quoted value may hold line ends.
 * tsv     Values parted by tabs, without quotes.
 *         In both the first line has the columns' names, `family:qualifier`, behind a word for the row. An empty
 *         value without quotes stands for no cell.
 *
 * Columns are numbered from 0 in the order of their first mention, so a file numbers them alike at every reading.
 */
#ifndef PETAL_TOOLS_SHELL_FILES_RECORD_H
#define PETAL_TOOLS_SHELL_FILES_RECORD_H

#include "tools/shell/text/text.h"

#include <stdio.h>

/* The last two are of cells, one a line (tools/shell/files/cell.h), and not for a record_reader; csv and tsv may be, as their first line says. */
enum record_format { RECORD_DEB822, RECORD_CSV, RECORD_TSV, RECORD_JSON, RECORD_HBASE };

/* The word for the format that a file's name tells by its ending, such as "csv"; NULL: none. */
const char *shell_record_format_of_name(const char *file_name);

enum record_outcome {
    RECORD_GOOD,
    RECORD_BAD, /* reader->message says why; the next call goes on behind it */
    RECORD_END,
    RECORD_FAILED /* input error, or a header that cannot be used; reader->message says why */
};

struct record_column {
    struct text name;
    size_t field;         /* the place of its field in the latest record that has one */
    petal_family *family; /* for the user of the reader, NULL at first */
    bool resolved, wanted;
};

struct record_field {
    size_t column;
    petal_slice value;
    size_t begin; /* of the value, in the reader's bytes */
};

struct record_reader {
    enum record_format format;
    FILE *file;            /* borrowed */
    const char *row_field; /* deb822: whose value is the row; borrowed */
    uint64_t line;         /* lines read so far */
    uint64_t bytes_read;
    int read_error; /* errno of the read that failed */
    char message[256];
    struct record_column *columns;
    size_t column_count, column_capacity;
    size_t *slots;     /* by the hash of the name: the column's number plus one, or 0 */
    size_t slot_count; /* a power of 2, more than twice the columns; 0 at first */

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

void shell_record_reader_init(struct record_reader *reader, enum record_format format, FILE *file,
                              const char *row_field);
void shell_record_reader_free(struct record_reader *reader);
enum record_outcome shell_record_next(struct record_reader *reader);

/* ---- For the formats (tools/shell/files/record_deb822.c, tools/shell/files/record_table.c) ---- */

enum record_outcome shell_record_next_deb822(struct record_reader *reader);
enum record_outcome shell_record_next_table(struct record_reader *reader);

/* Read a line without its end into line_bytes; false at the end of the input. */
bool shell_record_read_line(struct record_reader *reader);
void shell_record_begin(struct record_reader *reader);
size_t shell_record_column(struct record_reader *reader, petal_slice name);
/* Has the record at hand a field of the column already? */
bool shell_record_has_field(const struct record_reader *reader, size_t column);
struct record_field *shell_record_add_field(struct record_reader *reader, size_t column);
enum record_outcome shell_record_finish(struct record_reader *reader, petal_slice row);
enum record_outcome shell_record_fail(struct record_reader *reader, enum record_outcome outcome,
                                      uint64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

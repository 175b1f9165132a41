/*
 * format.h -- answers as records: aligned tables, JSON lines or CSV instead of HBase's layout.
 *
 * Records come in sets; all records of a set have the same columns.  What a command has to say
 * beyond its records (how many rows there were, what failed) goes to standard error in these modes,
 * so that nothing but records is in the stream.
 *
 *     table   columns aligned, a set after an empty line.  On a terminal it is no wider than that:
 *             long texts are cut, with … at the end, numbers never; where even so the columns have
 *             no room, each record is a block of lines, one for each field
 *     json    an object a line; numbers and truth are themselves, unknown is null, all else is
 *             text, or bytes that are none: tools/shell/text/json.h
 *     csv     RFC 4180: a line of names first, lines end with CR LF; a set after an empty line
 *
 * In tables and csv bytes are as HBase prints them, 0x20..0x7E but the backslash as they are and
 * others as \xHH.
 */
#ifndef PETAL_TOOLS_SHELL_PRINT_FORMAT_H
#define PETAL_TOOLS_SHELL_PRINT_FORMAT_H

#include "tools/shell/text/text.h"

#include <stdio.h>

enum format_mode { FORMAT_HBASE, FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

struct format_field;

struct format {
    enum format_mode mode;
    FILE *file;         /* borrowed */
    bool terminal;      /* the file is one: tables are no wider */
    int write_error;    /* errno of the first flush that failed, 0: none */
    struct text words;  /* the names of the set's columns, each with a zero after it */
    const char **names; /* point to them */
    size_t columns;
    bool begun;       /* there is a set */
    unsigned sets;    /* so many were begun */
    bool headed;      /* its names are printed */
    bool any;         /* a set was printed before */
    struct text line; /* the record at hand; of a table's first rows all that was added */
    size_t column;    /* the next one of the record */
    /* Tables: the first records, until the widths are known. */
    struct format_field *fields;
    size_t field_count, field_capacity;
    size_t *widths;
    size_t room;   /* columns of the terminal, 0: no limit */
    bool upright;  /* the columns do not fit beside each other: a line for each field */
    size_t record; /* number of the latest one that was printed so */
};

/* True for a known name: hbase, table, json, csv. */
bool format_find(const char *name, enum format_mode *mode);

static inline bool
format_is_on(const struct format *format)
{
    return format->mode != FORMAT_HBASE;
}

/*
 * Begin a set, in place of one that has no record yet; else after it.  Blanks part the names of
 * its columns.
 */
void format_begin(struct format *format, const char *names);

/* The next field of the record at hand; the last one ends the record. */
void format_text(struct format *format, petal_slice text);
void format_string(struct format *format, const char *text);
void format_bytes(struct format *format, petal_slice bytes); /* json: themselves; else \xHH */
void format_number(struct format *format, uint64_t number);
void format_integer(struct format *format, int64_t number);
void format_real(struct format *format, double number);
void format_boolean(struct format *format, bool truth); /* in JSON true or false */
void format_null(struct format *format);

/* JSON without the field, which is neither the first nor the last one; else an empty one. */
void format_absent(struct format *format);

/* End the set, and print what is left of it. */
void format_end(struct format *format);
void format_free(struct format *format);

/* Write out what the file has buffered: all of it, records and what else was printed there. */
void format_flush(struct format *format);

#endif

/*
 * intake.h -- an input file on its way into a table: what import and compare have in common.
 *
 * Options, records one by one, and progress; tools/shell/files/header.h says which columns go
 * where.  Ctrl-C ends a read that waits for whoever writes into a pipe; it fails then.
 */
#ifndef PETAL_TOOLS_SHELL_FILES_INTAKE_H
#define PETAL_TOOLS_SHELL_FILES_INTAKE_H

#include "tools/shell/files/cell.h"
#include "tools/shell/files/record.h"
#include "tools/shell/session/session.h"
#include "tools/shell/text/progress.h"

struct intake {
    struct session *session;
    const char *table_name, *file_name; /* file "-": standard input */
    enum file_format format;
    bool format_given;                     /* else the name of the file told it, or it is csv */
    const char *only_fields, *skip_fields; /* field,field,.. or NULL */
    uint64_t part, parts;                  /* 1 .. parts; parts 0: everything */
    uint64_t flush_every;                  /* records, 0: no */
    bool skip_bad;
    uint64_t most_bad; /* --max-errors: so many are passed over, one more ends the intake */
    uint64_t threads;  /* that parse, next to the one that writes; 0: one does all */
    bool create;       /* a table that is not there */
    bool by_command;   /* of the shell: options are told as its keys, and it asks */

    /* What the row is made of, and the family of columns that name none: of csv and tsv. */
    const char *row;           /* column,column,.. or NULL */
    const char *row_separator; /* between the values of several */
    bool number_rows;          /* in place of columns */
    const char *family;        /* NULL: none was given */
    bool told;                 /* where columns go that name no family */
    bool bad_told;             /* what is wrong with records, when they were read before */

    petal_slice name;   /* of the table, without the namespace default */
    petal_table *table; /* NULL while `create` has not made it */
    FILE *file;
    uint64_t file_bytes; /* 0 when not known */
    struct record_reader reader;
    struct progress progress; /* for whoever takes the records in */
    bool at_line;             /* the mistake that intake_next met is in a line, which is named */
    struct text *complaints;  /* gets what is wrong with bad records; NULL: standard error */
};

/* The text on the options that intake_parse understands, one a line. */
extern const char intake_usage[];

/* Read the arguments after the subcommand's name, or those of the command: table, file, and perhaps
 * a hash.  As all below, they fail as session_fail does. */
enum shell_status intake_parse(struct intake *intake, struct session *session, int argc,
                               char **argv);
enum shell_status intake_parse_command(struct intake *intake, struct session *session,
                                       const struct value *arguments, size_t count);

/* Open table and file, or the file once more from its beginning.  A table that --create is to make
 * is NULL. */
enum shell_status intake_open(struct intake *intake);
void intake_close(struct intake *intake);

/*
 * Read the next record after the header; its columns are all known to the table.  *more is false
 * at the end.  Bad records are told (`complaints`), counted in *bad and passed over, as long as the
 * options let them.
 */
enum shell_status intake_next(struct intake *intake, bool *more, uint64_t *bad);

/* Fail by what the reader's message says: a mistake in the file, or that reading it failed. */
enum shell_status intake_fail(const struct intake *intake);

/* Is the file one of cells, one a line? Takes its first line if that says so; else it waits for
 * intake_next. */
bool intake_is_cells(struct intake *intake, struct cell_parser *header);

/* Read a line of a file of cells into the parser's cell. CELL_BAD: `why` says what is wrong, and
 * where. All commands of an hbase file are about one table; empty: it is not known yet. */
enum cell_outcome intake_cell(const struct intake *intake, struct cell_parser *parser,
                              petal_slice line, uint64_t number, petal_slice table,
                              struct text *why);

/* "FILE:LINE: byte PLACE: WHAT" in place of the text; place 0: without it. */
void intake_say_where(const struct intake *intake, struct text *text, uint64_t line, size_t place,
                      const char *what);

/* Fail if there are options that only files of records know, this file being one of cells. */
enum shell_status intake_refuse_options_of_records(const struct intake *intake);

/* Is the column wanted: by --only-fields and --skip-fields? */
bool intake_wants_column(const struct intake *intake, petal_slice name);

/* Is this field of the record at hand wanted: by --only-fields, --skip-fields and --part? */
bool intake_wants(const struct intake *intake, const struct record_field *field);

uint64_t intake_hash(petal_slice row, uint64_t column);

/* "Created table t with the families a, b" */
void intake_describe_table(struct text *text, const petal_table *table);

/* The subcommands.  They return when all is written, or with what went wrong; if
 * session->message is empty, they have printed it. */
enum shell_status import_main(struct session *session, int argc, char **argv);
enum shell_status compare_main(struct session *session, int argc, char **argv);
enum shell_status export_main(struct session *session, int argc, char **argv);

/* The text on the options of export_main. */
extern const char export_usage[];

#endif

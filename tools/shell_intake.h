/*
 * shell_intake.h -- an input file on its way into a table: what import and compare have in common.
 *
 * Options, the mapping from the file's columns to the table's, and progress.
 */
#ifndef PETAL_SHELL_INTAKE_H
#define PETAL_SHELL_INTAKE_H

#include "tools/shell_record.h"
#include "tools/shell_session.h"

enum { INTAKE_FAMILIES = 16 };

struct intake {
    struct session *session;
    const char *table_name, *file_name; /* file "-": standard input */
    const char *row_field;
    enum record_format format;
    const char *families[INTAKE_FAMILIES]; /* --family F:field,field,.. */
    size_t family_count;
    const char *only_fields, *skip_fields; /* field,field,.. or NULL */
    uint64_t part, parts;                  /* 1 .. parts; parts 0: everything */
    uint64_t flush_every;                  /* records, 0: no */
    bool skip_bad;

    petal_table *table;
    FILE *file;
    uint64_t file_bytes; /* 0 when not known */
    struct record_reader reader;
    bool progress; /* standard error is a terminal */
    uint64_t progress_bytes;
};

/* The text on the options that intake_parse understands, one a line. */
extern const char intake_usage[];

/* Read the arguments behind the subcommand's name.  Prints what is wrong. */
enum shell_status intake_parse(struct intake *intake, struct session *session, int argc,
                               char **argv);

/* Open table and file, or the file once more from its beginning. */
enum shell_status intake_open(struct intake *intake);
void intake_close(struct intake *intake);

/*
 * Read the next record whose columns are all known to the table.  *more is false at the end.  Bad
 * records are counted in *bad and passed over with --skip-bad, and end the intake without it.
 */
enum shell_status intake_next(struct intake *intake, bool *more, uint64_t *bad);

/* Where the column goes.  The slices live as long as the intake is open. */
void intake_column(const struct intake *intake, const struct record_column *column,
                   petal_slice *family, petal_slice *qualifier);

/* Is this field of the record at hand wanted: by --only-fields, --skip-fields and --part? */
bool intake_wants(const struct intake *intake, const struct record_field *field);

/* Show how far the file has been read, if anyone is watching; `done` ends the line. */
void intake_progress(struct intake *intake, const char *what, uint64_t records, bool done);

uint64_t intake_hash(petal_slice row, uint64_t column);

/* The subcommands.  They return when all is written, or with what went wrong, which they print. */
enum shell_status import_main(struct session *session, int argc, char **argv);
enum shell_status compare_main(struct session *session, int argc, char **argv);
enum shell_status lookups_main(struct session *session, int argc, char **argv);

/* Print `kv-shell: ` and the message that session_fail has kept; returns `status`. */
enum shell_status intake_report(const struct session *session, enum shell_status status);

#endif

/*
 * dump.h -- kv-check dump: the files of a database as they are written, part by part, damaged parts
 * named and passed over.
 *
 * The room dump: each kind of file has a C file here; what is common to them is in this header.
 */
#ifndef PETAL_TOOLS_CHECK_DUMP_DUMP_H
#define PETAL_TOOLS_CHECK_DUMP_DUMP_H

#include "base/cell.h"
#include "base/directory.h"
#include "tools/command/print.h"

struct dump {
    struct print *print;
    struct directory *directory;
    bool brief;     /* no blocks, records or edits one by one */
    bool cells;     /* of data blocks and log records */
    uint64_t limit; /* blocks, records or edits of a file; 0: none */
    bool has_from, has_to;
    petal_slice from, to; /* rows, both included */
    bool damaged;         /* something was */
    bool unread;          /* something could not be looked at, for no fault of its own */
    bool no_memory;       /* not everything is shown */
};

/* Each prints the file at `path` in the directory. `identity`: of a store file, from the manifest,
 * 0: not known. */
void dump_store_file(struct dump *dump, const char *path, uint64_t identity);
void dump_log(struct dump *dump, const char *path);
void dump_manifest(struct dump *dump, const char *path);

/* ---- for these ---- */

void dump_damage(struct dump *dump, uint64_t offset, uint64_t bytes, const char *what);
/* The file cannot be read at all. */
void dump_failure(struct dump *dump, const petal_error *error);
/* A line that the caller ends. `family` without data: it is not known. */
void dump_cell(struct dump *dump, const struct cell *cell, petal_slice family);
bool dump_wants_row(const struct dump *dump, petal_slice row);
/* What there is of so many bytes of the file, to be released with free; NULL: it was said why. */
uint8_t *dump_read(struct dump *dump, const char *path, uint64_t offset, uint64_t bytes,
                   size_t *size);

#endif

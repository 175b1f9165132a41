/*
 * incoming.h -- the cells of many HFiles in one order: by their keys, of equal keys the latest
 * write first. A file is open only from its first row to its last, so that memory is that of files
 * which overlap: those of one region, as a rule.
 */
#ifndef PETAL_HFILE_EXCHANGE_INCOMING_H
#define PETAL_HFILE_EXCHANGE_INCOMING_H

#include "tools/hfile/exchange/find.h"
#include "tools/hfile/petal_hfile.h"

struct incoming_file {
    const char *path;
    enum half half;
    petal_slice split_row; /* with a half */
    petal_slice first_row; /* at or before that of its first cell */
    bool is_bulk_loaded;   /* then its cells count as written by the load */
    int64_t sequence;      /* of the file, for cells that have none of their own */
    petal_hfile *file;     /* NULL until its first row is reached, and after its last */
    petal_hfile_scanner *scanner;
    const petal_hfile_cell *cell;
};

struct incoming {
    struct arena *arena;
    struct incoming_file *files; /* by their first rows; files without cells are left out */
    size_t count, next;          /* that have come; of the next one to be opened */
    struct incoming_file **heap; /* those that are open, the least cell first */
    size_t open;
    bool is_given;               /* the first's cell was given */
    uint64_t empty_files, bytes; /* an estimate of the bytes of all cells */
};

/* Opens each file for a moment. `arena` and `files` outlive it. */
enum petal_status incoming_open(struct incoming *incoming, struct arena *arena,
                                const struct found_file *files, size_t count, petal_error *error);
void incoming_close(struct incoming *incoming);

/* The next cell, and the file that it is of; NULL: there is none. Good until the next call. */
enum petal_status incoming_next(struct incoming *incoming, const petal_hfile_cell **cell,
                                const char **path, petal_error *error);

#endif

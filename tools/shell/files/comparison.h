/*
 * comparison.h -- what the two ways to compare a file with a table share: of records (compare.c),
 * and of cells, one a line (compare_cells.c).
 */
#ifndef PETAL_TOOLS_SHELL_FILES_COMPARISON_H
#define PETAL_TOOLS_SHELL_FILES_COMPARISON_H

#include "tools/shell/files/cell.h"
#include "tools/shell/files/intake.h"

/* From hashes to the ordinal of the last field that had it.  Open addressing; 0 is no hash. */
struct last_fields {
    struct last_field {
        uint64_t hash, ordinal;
    } * slots;
    size_t count, capacity;
};

struct compare {
    struct intake intake;
    struct last_fields fields, rows; /* of cells, `fields` knows timestamp and type as well */
    uint64_t records, ordinal, bad;
    uint64_t compared, differences;
    uint64_t line; /* of the record or cell at hand */
    bool by_field; /* one get for each field */

    /* Of cells. */
    struct last_fields columns; /* fewer than `fields` where the file has several versions */
    struct cell_parser parser;
    struct text script_table; /* hbase: what the first command names */
    bool stored; /* the file has versions or deletions: all that is stored is compared */
    size_t next; /* where in the row's cells the next one is looked for */
};

/* Note that the field of this hash occurs there. */
void compare_set_last(struct last_fields *set, uint64_t hash, uint64_t ordinal);

/* Where it occurs last; the set is not empty. */
uint64_t compare_last(const struct last_fields *set, uint64_t hash);

/* Count a difference; the first few are printed. */
void compare_report(struct compare *compare, petal_slice row, petal_slice field, const char *what);

#endif

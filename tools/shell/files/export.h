/*
 * export.h -- export: the cells of a table to a file, as lines that import reads
 * (tools/shell/files/cell.h).
 */
#ifndef PETAL_TOOLS_SHELL_FILES_EXPORT_H
#define PETAL_TOOLS_SHELL_FILES_EXPORT_H

#include "tools/shell/files/cell.h"
#include "tools/shell/session/session.h"
#include "tools/shell/text/progress.h"

struct cell_export {
    struct session *session;
    petal_table *table;
    enum file_format format;
    petal_scan_options scan;
    bool create;                 /* of commands: those that make the table are no comments */
    bool all_versions;           /* markers and deleted cells, too */
    const petal_column *columns; /* wanted of all versions; scan.read has them else */
    size_t column_count;

    struct text out; /* lines on their way to the file */
    int file;        /* descriptor */
    int write_error; /* errno of a failed write, 0 */
    struct progress progress;
    uint64_t cells, bytes;
    uint64_t colons; /* qualifiers that hold one */
};

/*
 * Write the cells of the table, the last of them to `out`.  Of all versions they come in such an
 * order that writing them one after the other makes the same of them again: what was written later
 * at an equal timestamp comes later.
 */
enum shell_status export_cells(struct cell_export *export);

/* Hand `out` to the file; false after an error. */
bool export_write(struct cell_export *export);

#endif

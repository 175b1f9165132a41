/*
 * compare_cells.h -- cells, one a line, compared with a table.
 *
 * A file with one version of each column is compared with what readers see: the newest version,
 * and its timestamp where the file has one.  One with several versions, or deletions, is compared
 * with all that is stored, as `export --all-versions` writes it.
 */
#ifndef PETAL_TOOLS_SHELL_FILES_COMPARE_CELLS_H
#define PETAL_TOOLS_SHELL_FILES_COMPARE_CELLS_H

#include "tools/shell/files/comparison.h"

/* Read all cells, to note them, or to compare them with the table. */
enum shell_status compare_read_cells(struct compare *compare, bool note);

#endif

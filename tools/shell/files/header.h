/*
 * header.h -- what the first line of a csv or tsv file means: which columns make the row, in which
 * families the others are; and the table that is made from it.
 *
 * The row is what --row or --row-number say.  Else it is the column that is called row, rowkey,
 * row_key or HBASE_ROW_KEY, or the first one, if it alone has no name of the form family:qualifier.
 * Where none of that tells, a person at the terminal is asked, and a program gets an error.
 *
 * A column `family:qualifier` says where it goes.  The others have their names for qualifiers, in
 * the family that --family names; else in the table's only one; else, in a table to be made, in cf.
 */
#ifndef PETAL_TOOLS_SHELL_FILES_HEADER_H
#define PETAL_TOOLS_SHELL_FILES_HEADER_H

#include "tools/shell/files/intake.h"

/* Read the first line; *there is false when the file is empty.  With --create the table is there
 * afterwards, and has all families.  Fails as session_fail does. */
enum shell_status header_read(struct intake *intake, bool *there);

#endif

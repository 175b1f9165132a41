/*
 * describe.h -- tables and families as describe shows them, and as the command that makes them:
 * each key at its place, what was not set left out.
 */
#ifndef PETAL_TOOLS_SHELL_SCHEMA_DESCRIBE_H
#define PETAL_TOOLS_SHELL_SCHEMA_DESCRIBE_H

#include "tools/shell/print/format.h"

/* {NAME => 'f', .., BLOCKSIZE => '65536 B (64KB)', METADATA => {..}, CONFIGURATION => {..}}; texts
 * as they are, whatever is in them. */
void describe_family(struct text *text, const petal_family_options *family);

/* The table's name, and {TABLE_ATTRIBUTES => {..}} if it has any. */
void describe_table(struct text *text, const petal_table_options *table);

/* The command that makes the table, in one line, which the shell reads back: create 't', {NAME =>
 * 'f', ..}, MAX_FILESIZE => '..', METADATA => {..}.  And alter 't', READONLY => 'true', where it
 * takes no writes once it is filled: then the first leaves it writable. */
void describe_creation(struct text *text, const petal_table_options *table);
void describe_closing(struct text *text, const petal_table_options *table);

/* A record for each attribute: table, family, attribute, value. */
void describe_records(struct format *format, const petal_table_options *table, bool enabled);

#endif

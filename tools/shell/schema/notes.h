/*
 * notes.h -- what create and alter say about attributes of HBase that are kept and shown, but
 * change nothing here, about codecs in whose place Petal has LZ4, and about families that alter
 * named and the table did not have.
 *
 * Notes go to standard error, each once a session: the answers stay those of HBase.
 */
#ifndef PETAL_TOOLS_SHELL_SCHEMA_NOTES_H
#define PETAL_TOOLS_SHELL_SCHEMA_NOTES_H

#include "tools/shell/schema/schema.h"

/* Tell about what `after` has and `before` (NULL: the table is new) has not, and about splits. */
void notes_tell(struct session *session, const petal_table_options *before,
                const struct schema *after);

/* Of an alter: tell which families are new in the table, since the name of an old one may have been
 * meant. */
void notes_tell_new_families(struct session *session, const petal_table_options *before,
                             const struct schema *after);

#endif

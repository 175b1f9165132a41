/*
 * notes.h -- what create and alter say about attributes of HBase that are kept and shown, but
 * change nothing here, and about codecs in whose place Petal has LZ4.
 *
 * Notes go to standard error, each once a session: the answers stay those of HBase.
 */
#ifndef PETAL_TOOLS_SHELL_SCHEMA_NOTES_H
#define PETAL_TOOLS_SHELL_SCHEMA_NOTES_H

#include "tools/shell/schema/schema.h"

/* Tell about what `after` has and `before` (NULL: the table is new) has not, and about splits. */
void notes_tell(struct session *session, const petal_table_options *before,
                const struct schema *after);

#endif

/*
 * near.h -- "did you mean": which of some names a mistyped one is nearest to.
 *
 * Near is what two letters at most, and less than half of the word, make it: inserted, removed,
 * changed, or two side by side that were exchanged.  Case does not count.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_NEAR_H
#define PETAL_TOOLS_SHELL_SESSION_NEAR_H

#include "tools/shell/session/session.h"

/* Keep the candidate in *nearest, NULL at first, when it is near to the name and nearer than what
 * is kept; *least is how near that is. */
void near_consider(petal_slice name, const char *candidate, const char **nearest, unsigned *least);

/* The same of bytes; *nearest of no bytes (data NULL) at first. */
void near_consider_bytes(petal_slice name, petal_slice candidate, petal_slice *nearest,
                         unsigned *least);

/* Ask whether the name that is near was meant: behind the message of the failure at hand at a
 * terminal, elsewhere in a line below it, since programs read HBase's; nothing if its data is
 * NULL. */
void near_suggest(struct session *session, petal_slice nearest);

/* The same of the tables, and of the table's families. */
void near_suggest_table(struct session *session, petal_slice name);
void near_suggest_family(struct session *session, petal_table *table, petal_slice name);

#endif

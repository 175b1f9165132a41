/* near.h -- "did you mean": asked after the messages of a session. */
#ifndef PETAL_TOOLS_SHELL_SESSION_NEAR_H
#define PETAL_TOOLS_SHELL_SESSION_NEAR_H

#include "tools/shell/session/session.h"
#include "tools/shell/text/near.h"

/* Ask whether the name that is near was meant: after the message of the failure at hand at a
 * terminal, elsewhere in a line below it, since programs read HBase's; nothing if its data is
 * NULL. */
void near_suggest(struct session *session, petal_slice nearest);

/* The same of the tables, and of the table's families. */
void near_suggest_table(struct session *session, petal_slice name);
void near_suggest_family(struct session *session, petal_table *table, petal_slice name);

#endif

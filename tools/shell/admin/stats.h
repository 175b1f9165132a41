/* stats.h -- the statistics of a table, for the command stats. */
#ifndef PETAL_TOOLS_SHELL_ADMIN_STATS_H
#define PETAL_TOOLS_SHELL_ADMIN_STATS_H

#include "tools/shell/session/session.h"

/* Show its families, its files and the block cache; `argument` names it. */
enum shell_status stats_show_table(struct session *session, const struct value *argument);

#endif

/* backup.h -- the subcommands backup and restore. */
#ifndef PETAL_TOOLS_SHELL_FILES_BACKUP_H
#define PETAL_TOOLS_SHELL_FILES_BACKUP_H

#include "tools/shell/session/session.h"

/* Their options, for --help. */
extern const char backup_usage[];

/* Of the session's database. */
enum shell_status backup_main(struct session *session, int argc, char **argv);

/* Into the session's directory. REQUIRES: the session has no database open. */
enum shell_status restore_main(struct session *session, int argc, char **argv);

#endif

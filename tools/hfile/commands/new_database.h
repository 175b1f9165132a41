/* new_database.h -- a database that a command makes, and takes back when it fails. */
#ifndef PETAL_HFILE_COMMANDS_NEW_DATABASE_H
#define PETAL_HFILE_COMMANDS_NEW_DATABASE_H

#include <stdbool.h>

struct new_database {
    const char *path;
    bool directory_is_new; /* it was not there */
    bool is_new;           /* it was not there, or held nothing */
};

/* Before the database is opened; `path` lives as long. */
struct new_database new_database_look(const char *path);

/* After a failure, with the database closed: if it is new, it and its directory are there no
 * more. */
void new_database_take_back(const struct new_database *database);

#endif

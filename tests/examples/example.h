/* example.h -- what each example begins with: an end when a call fails, an open database. C11 and
 * C++17. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <petal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A slice for printf's "%.*s". */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data

/* Every call that can fail returns a status, and tells details here. */
static petal_error error;

static inline void
check(enum petal_status status)
{
    if (status != PETAL_OK) {
        fprintf(stderr, "%s: %s\n", petal_status_text(status), error.text);
        exit(1);
    }
}

/* Open the database in the directory that the command line names. */
static inline petal_db *
open_database(int argc, char **argv, petal_options *options)
{
    petal_db *db;

    if (argc != 2) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        exit(2);
    }
    options->create = true; /* make it if there is none */
    check(petal_open(argv[1], options, &db, &error));
    return db;
}

#endif

/*
 * find.h -- which HFiles paths lead to, and what is known of their table. A path is a file, or a
 * folder: a family's, a region's or a table's as HBase has them, one as completebulkload wants it,
 * or one with a snapshot: .hbase-snapshot/NAME, or what holds that, with archive/ or data/ beside
 * it.
 *
 * What begins with '.' or '_', and recovered.edits, is passed over, as HBase does. References,
 * links and MOB files are refused by name: what they stand for is not in them.
 */
#ifndef PETAL_HFILE_EXCHANGE_FIND_H
#define PETAL_HFILE_EXCHANGE_FIND_H

#include "tools/hfile/exchange/descriptor.h"

struct found_files {
    struct arena arena;
    const char **paths; /* sorted, each once */
    size_t count, capacity;
    struct descriptor descriptor;
    bool has_descriptor; /* a .tableinfo or a snapshot's manifest was there */
};

void found_init(struct found_files *found);
void found_free(struct found_files *found);

/* May be called for several paths; PETAL_NOT_FOUND where one leads to no file at all. */
enum petal_status found_add(struct found_files *found, const char *path, petal_error *error);

/* To be called behind the last path. */
void found_sort(struct found_files *found);

#endif

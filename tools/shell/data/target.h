/*
 * target.h -- the cell or row that a write or a counter is about, read from the command's
 * arguments.
 */
#ifndef PETAL_TOOLS_SHELL_DATA_TARGET_H
#define PETAL_TOOLS_SHELL_DATA_TARGET_H

#include "tools/shell/session/session.h"

struct target {
    petal_table *table;
    petal_family *family;
    petal_slice row, qualifier;
    bool has_qualifier;
    int64_t timestamp;
    petal_write_options options;
};

/* The first argument, and the second. */
enum shell_status target_read_table(struct session *session, const struct value *argument,
                                    struct target *target);
enum shell_status target_read_row(struct session *session, const struct value *argument,
                                  struct target *target);
enum shell_status target_read_column(struct session *session, const struct value *argument,
                                     struct target *target);

/* All three. */
enum shell_status target_read_cell(struct session *session, const struct value *arguments,
                                   struct target *target);

/* A whole number; a fraction is cut.  `what` begins the complaint. */
enum shell_status target_read_number(struct session *session, const struct value *argument,
                                     const char *what, int64_t *number);

/* The hash after a write: TTL, and ATTRIBUTES, which mean nothing to a store. */
enum shell_status target_read_options(struct session *session, const struct value *argument,
                                      struct target *target);

/* What may stand at the end of a put or delete: a timestamp, a hash, or both. */
enum shell_status target_read_rest(struct session *session, const struct value *arguments,
                                   size_t count, struct target *target);

#endif

/* get.h -- the read of one row, as of now or as of a moment that several reads share. */
#ifndef PETAL_ENGINE_READ_GET_H
#define PETAL_ENGINE_READ_GET_H

#include "engine/read/options.h"

/* The descriptor was loaded behind the pin: so it has the attributes that the view's stores were
 * written under, or later ones; a family that is newer than the view has no store there. */
struct get_moment {
    struct read_pin pin;
    const struct table_descriptor *descriptor;
};

/* Fill in the options of a get and check them. */
enum petal_status get_options_init(petal_read_options *options, const petal_table *table,
                                   const petal_read_options *given, petal_error *error);

/*
 * Read the row as of the moment, NULL: of now. *walk is set, and nothing is read, when only a walk
 * through the row answers (cursor_get_row): with a filter, limits, or versions in the order of
 * writes.
 */
enum petal_status get_row(petal_table *table, const struct get_moment *moment, petal_slice row,
                          const petal_read_options *options, petal_result *result, bool *walk,
                          petal_error *error);

/* petal_get where no straight way answers. */
enum petal_status get_general(petal_table *table, petal_slice row, const petal_read_options *given,
                              petal_result *result, petal_error *error);

#endif

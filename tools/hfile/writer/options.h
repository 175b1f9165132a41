/* options.h -- what a writer was asked for, checked. */
#ifndef PETAL_HFILE_WRITER_OPTIONS_H
#define PETAL_HFILE_WRITER_OPTIONS_H

#include "tools/hfile/petal_hfile.h"

/* `given`, or all defaults if it is NULL, with every default filled in; PETAL_INVALID or, for a
 * codec that is not built, PETAL_UNSUPPORTED. */
enum petal_status hfile_write_options_take(const petal_hfile_write_options *given,
                                           petal_hfile_write_options *options, petal_error *error);

#endif

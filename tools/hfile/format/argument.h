/*
 * argument.h -- what the caller of a public function must give: as base/argument.h has it for the
 * store's library, whose names this one does not know.
 */
#ifndef PETAL_HFILE_FORMAT_ARGUMENT_H
#define PETAL_HFILE_FORMAT_ARGUMENT_H

#include "tools/hfile/format/error.h"

#define HFILE_RETURN_IF_NULL(argument, error)                                                      \
    do {                                                                                           \
        if ((argument) == NULL)                                                                    \
            return hfile_error_null(error, #argument);                                             \
    } while (0)

/* Of a slice: it has a size, but no bytes. */
#define HFILE_RETURN_IF_NO_BYTES(slice, error)                                                     \
    do {                                                                                           \
        if ((slice).data == NULL && (slice).size > 0)                                              \
            return hfile_error_no_bytes(error, #slice, (slice).size);                              \
    } while (0)

#endif

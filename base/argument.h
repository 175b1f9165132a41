/*
 * argument.h -- guards for the required arguments of public functions. They come first, even before
 * declarations that use an argument, and return PETAL_INVALID with a text that names the argument
 * as the public header does. An out pointer is set to NULL between its guard and those of the other
 * arguments, so that it is NULL on failure.
 */
#ifndef PETAL_BASE_ARGUMENT_H
#define PETAL_BASE_ARGUMENT_H

#include "base/error.h"
#include "base/slice.h"

#define RETURN_IF_NULL(argument, error)                                                            \
    do {                                                                                           \
        if ((argument) == NULL)                                                                    \
            return error_null(error, #argument);                                                   \
    } while (0)

/* Of a slice: it has a size, but no bytes. */
#define RETURN_IF_NO_BYTES(slice, error)                                                           \
    do {                                                                                           \
        if (slice_lacks_bytes(slice))                                                              \
            return error_no_bytes(error, #slice, (slice).size);                                    \
    } while (0)

/* Of an array and how many it has: it has some, but is NULL. */
#define RETURN_IF_NO_ARRAY(array, count, error)                                                    \
    do {                                                                                           \
        if ((array) == NULL && (count) > 0)                                                        \
            return error_no_array(error, #array, #count, count);                                   \
    } while (0)

#endif

/* options.c -- see options.h. */
#include "tools/hfile/format/options.h"

#include "tools/hfile/format/error.h"

#include <string.h>

enum petal_status
hfile_options_take(const void *given, void *taken, size_t size, const char *name,
                   petal_error *error)
{
    size_t given_size = 0;

    memset(taken, 0, size);
    if (given == NULL)
        return PETAL_OK;
    memcpy(&given_size, given, sizeof given_size);
    if (given_size % sizeof(size_t) != 0)
        return hfile_error_set(error, PETAL_INVALID, "",
                               "the size of %s is %zu, which no version of it has", name,
                               given_size);
    memcpy(taken, given, given_size != 0 && given_size < size ? given_size : size);
    return PETAL_OK;
}

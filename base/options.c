/* options.c -- see options.h. */
#include "base/options.h"

#include "base/error.h"

#include <string.h>

enum petal_status
options_check_size(size_t size, const char *name, petal_error *error)
{
    /* The size of a struct is a multiple of the alignment of its first member. */
    if (size % sizeof size == 0)
        return PETAL_OK;
    return error_set(error, PETAL_INVALID, "the size of %s is %zu; it must be 0 or sizeof(%s)",
                     name, size, name);
}

void
options_copy_known(void *to, size_t to_bytes, const void *from, size_t from_bytes)
{
    memset(to, 0, to_bytes);
    memcpy(to, from, from_bytes < to_bytes ? from_bytes : to_bytes);
}

enum petal_status
options_copy(void *to, size_t to_bytes, const void *from, const char *name, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    size_t size = 0;

    if (from != NULL) {
        memcpy(&size, from, sizeof size);
        status = options_check_size(size, name, error);
    }
    if (from == NULL || status != PETAL_OK)
        memset(to, 0, to_bytes);
    else
        options_copy_known(to, to_bytes, from, size == 0 ? to_bytes : size);
    return status;
}

/* write.c -- see write.h. */
#include "tools/filter/exact/write.h"

static bool
write_run(struct writer *writer, const petal_slice *first, size_t records)
{
    const petal_slice *last = first + records - 1;
    const char *bytes = first->data;

    return writer_add_run(writer, bytes,
                          (size_t)((const char *)last->data + last->size + 1 - bytes), records);
}

bool
write_unless(struct writer *writer, const petal_slice *records, size_t count, const bool *dropped,
             uint64_t *written)
{
    size_t at = 0;

    while (at < count) {
        size_t from;

        while (at < count && dropped[at])
            at++;
        for (from = at; at < count && !dropped[at];)
            at++;
        *written += at - from;
        if (writer != NULL && at > from && !write_run(writer, &records[from], at - from))
            return false;
    }
    return true;
}

/* write.c -- see write.h. */
#include "tools/lines/records/write.h"

static bool
write_run(struct writer *writer, const petal_slice *first, size_t records)
{
    const petal_slice *last = first + records - 1;
    const char *bytes = first->data;

    return writer_add_run(writer, bytes,
                          (size_t)((const char *)last->data + last->size + 1 - bytes), records);
}

bool
write_marked(struct writer *writer, const petal_slice *records, size_t count, const bool *marks,
             bool mark, uint64_t *written)
{
    size_t at = 0;

    while (at < count) {
        size_t from;

        while (at < count && marks[at] != mark)
            at++;
        for (from = at; at < count && marks[at] == mark;)
            at++;
        *written += at - from;
        if (writer != NULL && at > from && !write_run(writer, &records[from], at - from))
            return false;
    }
    return true;
}

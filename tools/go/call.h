/* What the C of this package has in common: bytes of Go's come as a pointer and a size, since cgo
 * may not be given a struct that points to Go's memory. */
#ifndef TOOLS_GO_CALL_H
#define TOOLS_GO_CALL_H

#include <petal.h>
#include <stdlib.h>
#include <string.h>

#define BYTES(name) const char *name, size_t name##_size
#define SLICE(name) ((petal_slice){name, name##_size})

/* A flag that Go sets when a context ends: a long call looks at it and gives up. */
static inline bool
go_goes_on(const void *stop)
{
    return !__atomic_load_n((const int32_t *)stop, __ATOMIC_RELAXED);
}

static inline bool
go_watch(void *stop, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return go_goes_on(stop);
}

/* Names, of which none has a zero byte; each ends with one. */
struct go_names {
    char *bytes;
    size_t size;
    bool failed;
};

static inline bool
go_add(struct go_names *to, petal_slice name)
{
    char *more = realloc(to->bytes, to->size + name.size + 1);
    to->failed = !more;
    if (!more)
        return false;
    to->bytes = more;
    memcpy(more + to->size, name.data, name.size);
    to->size += name.size + 1;
    more[to->size - 1] = 0;
    return true;
}

static inline enum petal_status
go_added(const struct go_names *names)
{
    return names->failed ? PETAL_NO_MEMORY : PETAL_OK;
}

#endif

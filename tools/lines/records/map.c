/* map.c -- see map.h. */
#include "tools/lines/records/map.h"

#include <sys/mman.h>

void *
map_bytes(size_t bytes)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return mapped != MAP_FAILED ? mapped : NULL;
}

void *
map_table(size_t bytes)
{
    void *mapped = map_bytes(bytes);

    if (mapped != NULL)
        (void)madvise(mapped, bytes, MADV_HUGEPAGE);
    return mapped;
}

void
unmap_bytes(void *bytes, size_t size)
{
    if (bytes != NULL)
        (void)munmap(bytes, size);
}

/*
 * reached.c -- which places of the library a test reaches: linked with a library that was compiled
 * with -fsanitize-coverage=trace-pc, whose every stretch of code without branches calls here
 * first. Byte N of the file PETAL_REACHED becomes 1 when the call that returns to the library's
 * byte N was made. The file is mapped, so processes that are forked, or killed, count too.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* More than the library has bytes of code. */
#define MAP_BYTES (16u << 20)

void __sanitizer_cov_trace_pc(void);

static uint8_t *map;
static uintptr_t library;

__attribute__((constructor)) static void
map_the_file(void)
{
    const char *path = getenv("PETAL_REACHED");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0)
        return;
    Dl_info info;
    if (ftruncate(file, MAP_BYTES) == 0 && dladdr((void *)&map, &info) != 0) {
        void *made = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        library = (uintptr_t)info.dli_fbase;
        if (made != MAP_FAILED)
            map = made;
    }
    close(file);
}

void
__sanitizer_cov_trace_pc(void)
{
    if (!map)
        return;
    uintptr_t at = (uintptr_t)__builtin_return_address(0) - library;
    if (at < MAP_BYTES)
        map[at] = 1;
}

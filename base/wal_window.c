/* wal_window.c -- see base/wal_window.h. */
#include "base/wal_window.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#endif

/* Fewer stores than this between two syncs are not worth a window. */
#define STORES_BEFORE_WINDOW 32

/* So many syncs with fewer stores than that between them, and zeros are written ahead without a
 * window. */
#define SYNCS_BEFORE_ZEROS 16

/* A larger store is written: then the call is not what it costs. */
#define MOST_STORE_BYTES ((size_t)16 << 10)

/* A size at which the calls that make a window weigh nothing, and which no writer feels as a
 * pause. */
#define WINDOW_BYTES ((size_t)256 << 10)

/* Zeros without a window are written up to a multiple of this. */
#define ZEROS_BYTES ((uint64_t)64 << 10)

#define PAGE_BYTES ((size_t)4096)

/* Of RLIMIT_MEMLOCK, or no window's pages are locked. */
#define LEAST_LOCK_LIMIT (16 * WINDOW_BYTES)

void
wal_window_init(struct wal_window *window, bool unmapped)
{
    memset(window, 0, sizeof *window);
    window->unmapped = unmapped;
    atomic_init(&window->synced, false);
}

void
wal_window_synced(struct wal_window *window)
{
    atomic_store_explicit(&window->synced, true, memory_order_relaxed);
}

void
wal_window_wrote(struct wal_window *window, uint64_t end)
{
    window->log_end = end;
}

#if defined(__linux__) && defined(MADV_POPULATE_WRITE)

#define EXT_MAGIC   0xEF53
#define XFS_MAGIC   0x58465342
#define TMPFS_MAGIC 0x01021994

/*
 * Pages of zeros that one call writes, at most.  What one call writes the kernel may keep as one
 * large page: good for a mapping, which then takes fewer faults.  But it counts the whole of it as
 * written by each sync, and holds a writer back for what it counts; so what is to be synced all the
 * time is written page by page.
 */
#define ZERO_VECTORS 64

static void
drop(struct wal_window *window)
{
    if (window->base != NULL)
        (void)munmap(window->base, WINDOW_BYTES);
    window->base = NULL;
    window->start = window->end = 0;
}

void
wal_window_close(struct wal_window *window, int descriptor)
{
    drop(window);
    if (window->zeros_end > window->log_end) {
        /* What fails here leaves zeros, as a kill does. */
        int failed = ftruncate(descriptor, (off_t)window->log_end);

        (void)failed;
    }
}

/* Does the file lie where blocks are overwritten in place, and pages are of the size taken for
 * granted here? */
static bool
check(struct wal_window *window, int descriptor)
{
    struct statfs status;

    if (window->checked)
        return true;
    if (sysconf(_SC_PAGESIZE) != (long)PAGE_BYTES || fstatfs(descriptor, &status) != 0)
        return false;
    switch ((uint64_t)status.f_type & UINT32_MAX) {
    case EXT_MAGIC:
    case XFS_MAGIC:
    case TMPFS_MAGIC:
        window->checked = true;
        break;
    default:
        break;
    }
    return window->checked;
}

/* May the process make the file so long?  If not, a write would be answered with SIGXFSZ, for a log
 * that may never come there. */
static bool
length_is_allowed(uint64_t end)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur);
}

/* Write zeros from zeros_end on, up to `pages` by one call, and move it as far as they came; false:
 * not up to `end`. */
static bool
write_zeros(struct wal_window *window, int descriptor, uint64_t end, int pages)
{
    static const uint8_t zeros[PAGE_BYTES];

    if (!length_is_allowed(end))
        return false;
    while (window->zeros_end < end) {
        struct iovec vectors[ZERO_VECTORS];
        uint64_t missing = end - window->zeros_end;
        int count = 0;
        ssize_t put;

        for (; count < pages && missing > 0; count++) {
            size_t piece = missing < sizeof zeros ? (size_t)missing : sizeof zeros;

            vectors[count] = (struct iovec){(void *)zeros, piece};
            missing -= piece;
        }
        put = pwritev(descriptor, vectors, count, (off_t)window->zeros_end);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        window->zeros_end += (uint64_t)put;
    }
    return true;
}

/*
 * Keep the pages from being taken away, which memory that is short would do once they are written
 * back: a store would have to read its page again, from a disk that may fail.  Best effort, and
 * only where what the process may lock is much more: it may have other plans with that.  Ends with
 * the mapping; a forked child has no part in it.
 */
static void
lock_pages(void *base, size_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur >= LEAST_LOCK_LIMIT)
        (void)mlock(base, bytes);
}

/* A window in place of the old one, if any, for stores from `offset` on. */
static bool
make(struct wal_window *window, int descriptor, uint64_t offset)
{
    uint64_t start = offset & ~(uint64_t)(PAGE_BYTES - 1);
    uint64_t end = start + WINDOW_BYTES;
    void *base;

    drop(window);
    if (window->zeros_end < offset)
        window->zeros_end = offset;
    if (!write_zeros(window, descriptor, end, ZERO_VECTORS))
        return false;
    base = mmap(NULL, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)start);
    if (base == MAP_FAILED)
        return false;
    if (madvise(base, WINDOW_BYTES, MADV_POPULATE_WRITE) != 0) {
        (void)munmap(base, WINDOW_BYTES);
        return false;
    }
    lock_pages(base, WINDOW_BYTES);
    window->base = base;
    window->start = start;
    window->end = end;
    return true;
}

/* A store that does not lie in the window; true: now it does. */
static bool
move(struct wal_window *window, int descriptor, uint64_t offset, size_t size)
{
    /* Most stores that are written follow one that was: looked at first, the flag is not taken from
     * who syncs. */
    if (atomic_load_explicit(&window->synced, memory_order_relaxed) &&
        atomic_exchange_explicit(&window->synced, false, memory_order_relaxed)) {
        drop(window);
        if (window->stores == STORES_BEFORE_WINDOW)
            window->syncs = 0;
        else if (window->syncs < SYNCS_BEFORE_ZEROS)
            window->syncs++;
        window->stores = 0;
    }
    if (window->impossible || offset != window->log_end || size > MOST_STORE_BYTES ||
        offset > (uint64_t)INT64_MAX - WINDOW_BYTES)
        return false;
    if (window->stores < STORES_BEFORE_WINDOW) {
        window->stores++;
        /* Where it will be synced soon it had better not make the file longer. */
        if (window->syncs == SYNCS_BEFORE_ZEROS && offset + size > window->zeros_end) {
            if (window->zeros_end < offset)
                window->zeros_end = offset;
            window->impossible =
                !check(window, descriptor) ||
                !write_zeros(window, descriptor,
                             (offset + size) / ZEROS_BYTES * ZEROS_BYTES + ZEROS_BYTES, 1);
        }
        return false;
    }
    if (window->unmapped)
        return false;
    window->impossible = !check(window, descriptor) || !make(window, descriptor, offset);
    return !window->impossible;
}

bool
wal_window_store(struct wal_window *window, int descriptor, uint64_t offset, const void *bytes,
                 size_t size)
{
    if (!wal_window_has(window, offset, size) && !move(window, descriptor, offset, size))
        return false;
    wal_window_put(window, offset, bytes, size);
    return true;
}

#else

void
wal_window_close(struct wal_window *window, int descriptor)
{
    (void)window;
    (void)descriptor;
}

bool
wal_window_store(struct wal_window *window, int descriptor, uint64_t offset, const void *bytes,
                 size_t size)
{
    (void)window;
    (void)descriptor;
    (void)offset;
    (void)bytes;
    (void)size;
    return false;
}

#endif

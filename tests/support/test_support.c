/* test_support.c -- see test_support.h. */
#include "tests/support/test_support.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_SEED 20240229u

static _Noreturn void
give_up(const char *what)
{
    fprintf(stderr, "test_support: %s\n", what);
    abort();
}

/* ---- Memory of the tests themselves --------------------------------------------------------- */

void *
test_allocate(size_t size)
{
    return test_reallocate(NULL, size);
}

void *
test_reallocate(void *memory, size_t size)
{
    void *grown = realloc(memory, size == 0 ? 1 : size);

    if (grown == NULL)
        give_up("the test itself is out of memory");
    return grown;
}

char *
test_strdup(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(test_allocate(size), text, size);
}

/* ---- The allocator under test
 * ------------------------------------------------------------------ */

/* Stands directly before each block. */
struct block_header {
    void *start; /* what malloc gave */
    size_t size;
    uint64_t mark;
};

#define STAINED_BYTES  ((size_t)2 << 10) /* at each end of a block */
#define BLOCK_LIVE     0x6C6976656C697665u
#define BLOCK_RELEASED 0x676F6E65676F6E65u

static bool
must_fail(struct test_allocator *allocator)
{
    uint64_t call = atomic_fetch_add(&allocator->calls, 1) + 1;
    uint64_t first = atomic_load(&allocator->fail_first);

    return first != 0 && call >= first && call <= atomic_load(&allocator->fail_last);
}

static void
count_allocation(struct test_allocator *allocator, size_t size)
{
    uint64_t live = atomic_fetch_add(&allocator->live_bytes, size) + size;
    uint64_t peak = atomic_load(&allocator->peak_bytes);

    while (live > peak && !atomic_compare_exchange_weak(&allocator->peak_bytes, &peak, live))
        ;
    atomic_fetch_add(&allocator->live_blocks, 1);
}

/* Of a large block both ends: most of the time of many tests would go into the rest. */
static void
stain(uint8_t *memory, int byte, size_t size)
{
    if (size <= 2 * STAINED_BYTES) {
        memset(memory, byte, size);
        return;
    }
    memset(memory, byte, STAINED_BYTES);
    memset(memory + size - STAINED_BYTES, byte, STAINED_BYTES);
}

static void *
counting_allocate(void *context, size_t alignment, size_t size)
{
    struct test_allocator *allocator = context;
    struct block_header *header;
    uintptr_t at;
    void *start;

    if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        give_up("allocation of no bytes, or with an alignment that is no power of two");
    if (must_fail(allocator) || atomic_load(&allocator->live_bytes) + size > allocator->limit) {
        atomic_fetch_add(&allocator->failures, 1);
        return NULL;
    }
    if (alignment < alignof(max_align_t))
        alignment = alignof(max_align_t);
    if (size > SIZE_MAX - sizeof(*header) - alignment)
        return NULL;
    start = malloc(sizeof(*header) + alignment + size);
    if (start == NULL)
        return NULL;
    at = ((uintptr_t)start + sizeof(*header) + alignment - 1) & ~(uintptr_t)(alignment - 1);
    header = (struct block_header *)(at - sizeof(*header));
    *header = (struct block_header){.start = start, .size = size, .mark = BLOCK_LIVE};
    stain((void *)at, 0xA5, size); /* whoever counts on zeroes is found out */
    count_allocation(allocator, size);
    return (void *)at;
}

static void
counting_release(void *context, void *memory, size_t size)
{
    struct test_allocator *allocator = context;
    struct block_header *header;

    if (memory == NULL)
        return;
    header = (struct block_header *)memory - 1;
    if (header->mark != BLOCK_LIVE)
        give_up("release of what is no live block");
    if (header->size != size) {
        fprintf(stderr, "test_support: block of %zu bytes released as %zu\n", header->size, size);
        abort();
    }
    header->mark = BLOCK_RELEASED;
    stain(memory, 0xDB, size);
    atomic_fetch_sub(&allocator->live_bytes, size);
    atomic_fetch_sub(&allocator->live_blocks, 1);
    free(header->start);
}

void
test_allocator_init(struct test_allocator *allocator)
{
    allocator->table = (petal_allocator){allocator, counting_allocate, counting_release};
    atomic_init(&allocator->calls, 0);
    atomic_init(&allocator->fail_first, 0);
    atomic_init(&allocator->fail_last, 0);
    atomic_init(&allocator->live_bytes, 0);
    atomic_init(&allocator->peak_bytes, 0);
    atomic_init(&allocator->live_blocks, 0);
    atomic_init(&allocator->failures, 0);
    atomic_init(&allocator->limit, UINT64_MAX);
}

void
test_allocator_limit(struct test_allocator *allocator, uint64_t bytes)
{
    atomic_store(&allocator->limit, bytes);
}

void
test_allocator_fail_at(struct test_allocator *allocator, uint64_t n, bool permanently)
{
    uint64_t first = n == 0 ? 0 : atomic_load(&allocator->calls) + n;

    atomic_store(&allocator->fail_last, permanently ? UINT64_MAX : first);
    atomic_store(&allocator->fail_first, first);
}

uint64_t
test_allocator_calls(struct test_allocator *allocator)
{
    return atomic_load(&allocator->calls);
}

uint64_t
test_allocator_failures(struct test_allocator *allocator)
{
    return atomic_load(&allocator->failures);
}

uint64_t
test_allocator_live_bytes(struct test_allocator *allocator)
{
    return atomic_load(&allocator->live_bytes);
}

void
test_allocator_forget_peak(struct test_allocator *allocator)
{
    atomic_store(&allocator->peak_bytes, atomic_load(&allocator->live_bytes));
}

uint64_t
test_allocator_peak_bytes(struct test_allocator *allocator)
{
    return atomic_load(&allocator->peak_bytes);
}

uint64_t
test_allocator_live_blocks(struct test_allocator *allocator)
{
    return atomic_load(&allocator->live_blocks);
}

/* ---- Clock
 * ----------------------------------------------------------------------------------------- */

void
test_clock_set(struct test_clock *clock, int64_t now_ms)
{
    atomic_store(&clock->now_ms, now_ms);
}

void
test_clock_advance(struct test_clock *clock, int64_t ms)
{
    atomic_fetch_add(&clock->now_ms, ms);
}

int64_t
test_clock_ms(void *clock)
{
    return atomic_load(&((struct test_clock *)clock)->now_ms);
}

/* ---- Random
 * -------------------------------------------------------------------------------------------- */

#define SPLITMIX_STEP 0x9E3779B97F4A7C15u

void
test_random_init(struct test_random *random, uint64_t seed)
{
    atomic_init(&random->state, seed);
}

uint64_t
test_random_next(struct test_random *random)
{
    uint64_t x = atomic_fetch_add(&random->state, SPLITMIX_STEP) + SPLITMIX_STEP;

    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t
test_random_below(struct test_random *random, uint64_t limit)
{
    return test_random_next(random) % limit; /* the bias is of no account for tests */
}

bool
test_random_chance(struct test_random *random, unsigned percent)
{
    return test_random_below(random, 100) < percent;
}

void
test_random_bytes(struct test_random *random, void *bytes, size_t size)
{
    uint8_t *to = bytes;

    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(test_random_next(random) >> 56);
}

uint64_t
test_random_word(void *random)
{
    return test_random_next(random);
}

static uint64_t
read_seed(void)
{
    const char *text = getenv("PETAL_SEED");
    uint64_t seed = DEFAULT_SEED;
    char *end;

    if (text != NULL && *text != '\0') {
        errno = 0;
        seed = strtoull(text, &end, 0);
        if (errno != 0 || *end != '\0')
            give_up("PETAL_SEED is no number");
    }
    return seed;
}

uint64_t
test_seed(void)
{
    uint64_t seed = read_seed();

    printf("PETAL_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

void
test_counted(const char *format, ...)
{
    va_list arguments;

    printf("counted: %s, seed %llu: ", program_invocation_short_name,
           (unsigned long long)read_seed());
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
}

static bool
is_set(const char *variable)
{
    const char *text = getenv(variable);

    return text != NULL && *text != '\0';
}

bool
test_long(void)
{
    return is_set("PETAL_LONG");
}

bool
test_short(void)
{
    return is_set("PETAL_SHORT");
}

double
test_seconds_used(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- Threads
 * ---------------------------------------------------------------------------------------------- */

size_t
test_thread_count(void)
{
    DIR *tasks = opendir("/proc/self/task");
    size_t count = 0;

    if (tasks == NULL)
        give_up("the threads of this process cannot be counted");
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    (void)closedir(tasks);
    return count;
}

bool
test_threads_end(size_t before)
{
    const struct timespec moment = {.tv_nsec = 1000000};

    for (unsigned tries = 0; tries < 10000; tries++) {
        if (test_thread_count() <= before)
            return true;
        (void)nanosleep(&moment, NULL);
    }
    return false;
}

/* ---- Temporary directories
 * -------------------------------------------------------------------------------- */

char *
test_path(const char *directory, const char *name)
{
    size_t size = strlen(directory) + 1 + strlen(name) + 1;
    char *path = test_allocate(size);

    snprintf(path, size, "%s/%s", directory, name);
    return path;
}

char *
test_directory_new(void)
{
    const char *parent = getenv("TMPDIR");
    char *path;

    if (parent == NULL || *parent == '\0')
        parent = "/tmp";
    path = test_path(parent, "petal-test-XXXXXX");
    if (mkdtemp(path) == NULL)
        give_up("no temporary directory can be made");
    return path;
}

static int
remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

bool
test_remove_tree(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0;
}

void
test_directory_free(char *path)
{
    if (!test_remove_tree(path))
        fprintf(stderr, "test_support: cannot remove %s: %s\n", path, strerror(errno));
    free(path);
}

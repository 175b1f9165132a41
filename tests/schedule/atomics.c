/*
 * atomics.c -- what the compiler calls for each atomic operation under -fsanitize=thread: a point
 * of the schedule, then the operation; see schedule.h. Compiled without instrumentation.
 *
 * STORES. Of each place in memory the last few stores are kept, with what their threads had done
 * (`clock` of a release, else of the release that a read-modify-write goes on), in the order of the
 * run, which is their modification order. A load takes the newest, or in a weak schedule by chance
 * an older one, back to the first that happened before the load, or that was read or written by who
 * did so before the load. A sequentially consistent load goes back no further than the last
 * sequentially consistent store, since the order of the run is the single order of those.
 * Read-modify-writes take the newest.
 *
 * What changes memory otherwise, as atomic_init does, is noticed by the value: then the older
 * stores are forgotten. Of the readers of a place only two stores are remembered, each thread's
 * last and the one before, and the latter taken for read before anything else: that leaves out
 * schedules, it makes none that cannot be.
 */
#include "tests/schedule/points.h"
#include "tests/schedule/schedule.h"

#include <string.h>

#define KEPT_STORES  6
#define MOST_PLACES  (1u << 14)
#define BUCKETS      (1u << 12)
#define BUCKET_SHIFT 8 /* places of as many bytes are in one bucket */

struct store {
    uint64_t value;
    uint32_t number; /* in the modification order */
    uint32_t step;   /* of the thread that stored */
    uint8_t task;
    bool releases;
    struct vector_clock clock; /* what is known to who acquires it */
};

struct reader {
    uint32_t number, before, step;
};

struct place {
    uintptr_t address;
    struct place *next;
    unsigned count, newest; /* of the kept stores */
    uint32_t consistent;    /* number of the last sequentially consistent store */
    struct store stores[KEPT_STORES];
    struct reader readers[MOST_TASKS];
};

/* As the builtins have them. */
enum order { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQUIRE_RELEASE, CONSISTENT };

static struct place places[MOST_PLACES];
static struct place *buckets[BUCKETS];
static struct place *unused;
static unsigned used;

static bool
acquires(int order)
{
    return order == CONSUME || order == ACQUIRE || order >= ACQUIRE_RELEASE;
}

static bool
releases(int order)
{
    return order >= RELEASE;
}

/* ---- places ---- */

void
atomics_begin(void)
{
    memset(buckets, 0, sizeof buckets);
    used = 0;
    unused = NULL;
}

static struct place **
bucket_of(uintptr_t address)
{
    return &buckets[((address >> BUCKET_SHIFT) * 0x9E3779B97F4A7C15u) >> 52];
}

static struct place *
find(uintptr_t address)
{
    struct place *place = *bucket_of(address);

    while (place != NULL && place->address != address)
        place = place->next;
    return place;
}

static void
forget_in_bucket(uintptr_t from, uintptr_t to, uintptr_t at)
{
    struct place **link = bucket_of(at);

    while (*link != NULL) {
        struct place *place = *link;

        if (place->address >= from && place->address < to) {
            *link = place->next;
            place->next = unused;
            unused = place;
        } else {
            link = &place->next;
        }
    }
}

void
atomics_forget(const void *memory, size_t size)
{
    uintptr_t from = (uintptr_t)memory, to = from + size;

    if (size >> BUCKET_SHIFT >= BUCKETS) {
        for (unsigned i = 0; i < used; i++)
            forget_in_bucket(from, to, places[i].address);
        return;
    }
    for (uintptr_t at = from >> BUCKET_SHIFT << BUCKET_SHIFT; at < to; at += 1u << BUCKET_SHIFT)
        forget_in_bucket(from, to, at);
}

/* What the memory holds is the only store, which happened before everything. */
static void
begin_anew(struct place *place, uint64_t value)
{
    uint32_t number = place->count > 0 ? place->stores[place->newest].number + 1 : 1;

    place->count = 1;
    place->newest = 0;
    place->consistent = 0;
    memset(place->readers, 0, sizeof place->readers);
    memset(&place->stores[0], 0, sizeof place->stores[0]);
    place->stores[0].value = value;
    place->stores[0].number = number;
}

static struct place *
make(uintptr_t address, uint64_t value)
{
    struct place **bucket = bucket_of(address), *place = unused;

    if (place != NULL) {
        unused = place->next;
    } else {
        schedule_check(used < MOST_PLACES);
        place = &places[used++];
    }
    place->address = address;
    place->next = *bucket;
    *bucket = place;
    place->count = 0;
    begin_anew(place, value);
    return place;
}

/* ---- loads and stores ---- */

static struct store *
newest_of(struct place *place)
{
    return &place->stores[place->newest];
}

static bool
is_known(const struct vector_clock *clock, unsigned task, uint32_t step)
{
    return step <= clock->steps[task];
}

/* The caller has read, or written, the store. */
static void
note_read(struct place *place, const struct store *store)
{
    struct reader *reader = &place->readers[point_task()];

    if (reader->number != store->number)
        reader->before = reader->number;
    reader->number = store->number;
    reader->step = point_clock()->steps[point_task()];
}

static void
note_acquired(const struct store *store, int order)
{
    if (acquires(order) && store->releases)
        vector_clock_join(point_clock(), &store->clock);
}

/* No store below this number may be read. */
static uint32_t
oldest_number(const struct place *place, int order)
{
    uint32_t oldest = order == CONSISTENT ? place->consistent : 0;

    for (unsigned task = 0; task < MOST_TASKS; task++) {
        const struct reader *reader = &place->readers[task];
        uint32_t number = task == point_task() || is_known(point_clock(), task, reader->step)
                              ? reader->number
                              : reader->before;

        if (number > oldest)
            oldest = number;
    }
    return oldest;
}

/* How many stores, from the newest on, may be read. */
static unsigned
count_readable(struct place *place, int order)
{
    uint32_t oldest = oldest_number(place, order);
    unsigned readable = 0;

    while (readable < place->count) {
        const struct store *store =
            &place->stores[(place->newest + KEPT_STORES - readable) % KEPT_STORES];

        if (store->number < oldest)
            break;
        readable++;
        if (is_known(point_clock(), store->task, store->step))
            break;
    }
    return readable > 0 ? readable : 1;
}

static struct store *
choose(struct place *place, int order)
{
    unsigned readable, back;

    if (!point_is_weak() || schedule_random(3) != 0)
        return newest_of(place);
    readable = count_readable(place, order);
    back = (unsigned)schedule_random(readable);
    if (back > 0)
        point_count_stale();
    return &place->stores[(place->newest + KEPT_STORES - back) % KEPT_STORES];
}

/* The place, if stores to it are kept and `value` is the newest. */
static struct place *
current_place(uintptr_t address, uint64_t value)
{
    struct place *place = find(address);

    if (place != NULL && newest_of(place)->value != value)
        begin_anew(place, value);
    return place;
}

static uint64_t
load(uintptr_t address, uint64_t value, int order)
{
    struct place *place = current_place(address, value);
    const struct store *store;

    if (place == NULL)
        return value;
    store = choose(place, order);
    note_read(place, store);
    note_acquired(store, order);
    return store->value;
}

/* What a failed comparison reads: one that looks like a success would be none. */
static uint64_t
load_other(uintptr_t address, uint64_t value, uint64_t expected, int order)
{
    struct place *place = current_place(address, value);
    const struct store *store;

    if (place == NULL)
        return value;
    store = choose(place, order);
    if (store->value == expected)
        store = newest_of(place);
    note_read(place, store);
    note_acquired(store, order);
    return store->value;
}

/* `goes_on`: by a read-modify-write, which goes on with the release of what it read. */
static void
store(uintptr_t address, uint64_t before, uint64_t value, int order, bool goes_on)
{
    struct place *place = current_place(address, before);
    struct store *last, *made;

    if (place == NULL)
        place = make(address, before);
    last = newest_of(place);
    place->newest = (place->newest + 1) % KEPT_STORES;
    place->count += place->count < KEPT_STORES;
    made = newest_of(place);
    if (goes_on && last->releases) {
        made->clock = last->clock;
        made->releases = true;
    } else {
        memset(&made->clock, 0, sizeof made->clock);
        made->releases = false;
    }
    made->value = value;
    made->number = last->number + 1;
    made->task = (uint8_t)point_task();
    made->step = point_clock()->steps[point_task()];
    if (goes_on)
        note_acquired(last, order);
    if (releases(order)) {
        vector_clock_join(&made->clock, point_clock());
        made->releases = true;
        point_clock()->steps[point_task()]++;
    }
    if (order == CONSISTENT)
        place->consistent = made->number;
    note_read(place, made);
}

/* ---- what the compiler calls ---- */

typedef uint8_t word8;
typedef uint16_t word16;
typedef uint32_t word32;
typedef uint64_t word64;

#define AT(address) ((uintptr_t)(address))

#define MODIFY(bits, name, after)                                                                  \
    word##bits __tsan_atomic##bits##_##name(volatile word##bits *address, word##bits value,        \
                                            int order);                                            \
    word##bits __tsan_atomic##bits##_##name(volatile word##bits *address, word##bits value,        \
                                            int order)                                             \
    {                                                                                              \
        word##bits before;                                                                         \
                                                                                                   \
        if (!point_is_ours()) {                                                                    \
            before = __atomic_load_n(address, __ATOMIC_SEQ_CST);                                   \
            while (!__atomic_compare_exchange_n(address, &before, (word##bits)(after), true,       \
                                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))               \
                ;                                                                                  \
            return before;                                                                         \
        }                                                                                          \
        point();                                                                                   \
        before = *address;                                                                         \
        *address = (word##bits)(after);                                                            \
        store(AT(address), before, *address, order, true);                                         \
        return before;                                                                             \
    }

#define COMPARE(bits, strength, may_fail)                                                          \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile word##bits *address,            \
                                                          word##bits *expected, word##bits value,  \
                                                          int order, int order_of_failure);        \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile word##bits *address,            \
                                                          word##bits *expected, word##bits value,  \
                                                          int order, int order_of_failure)         \
    {                                                                                              \
        word##bits before;                                                                         \
                                                                                                   \
        if (!point_is_ours())                                                                      \
            return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST,  \
                                               __ATOMIC_SEQ_CST);                                  \
        point();                                                                                   \
        before = *address;                                                                         \
        if (before == *expected && !((may_fail) && schedule_random(16) == 0)) {                    \
            *address = value;                                                                      \
            store(AT(address), before, value, order, true);                                        \
            return 1;                                                                              \
        }                                                                                          \
        if (before != *expected)                                                                   \
            *expected = (word##bits)load_other(AT(address), before, *expected, order_of_failure);  \
        return 0;                                                                                  \
    }

#define OPERATIONS(bits)                                                                           \
    word##bits __tsan_atomic##bits##_load(const volatile word##bits *address, int order);          \
    void __tsan_atomic##bits##_store(volatile word##bits *address, word##bits value, int order);   \
    word##bits __tsan_atomic##bits##_load(const volatile word##bits *address, int order)           \
    {                                                                                              \
        if (!point_is_ours())                                                                      \
            return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                     \
        point();                                                                                   \
        return (word##bits)load(AT(address), *address, order);                                     \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile word##bits *address, word##bits value, int order)    \
    {                                                                                              \
        word##bits before;                                                                         \
                                                                                                   \
        if (!point_is_ours()) {                                                                    \
            __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                    \
            return;                                                                                \
        }                                                                                          \
        point();                                                                                   \
        before = *address;                                                                         \
        *address = value;                                                                          \
        store(AT(address), before, value, order, false);                                           \
    }                                                                                              \
    MODIFY(bits, exchange, value)                                                                  \
    MODIFY(bits, fetch_add, before + value)                                                        \
    MODIFY(bits, fetch_sub, before - value)                                                        \
    MODIFY(bits, fetch_and, before &value)                                                         \
    MODIFY(bits, fetch_or, before | value)                                                         \
    MODIFY(bits, fetch_xor, before ^ value)                                                        \
    COMPARE(bits, strong, false)                                                                   \
    COMPARE(bits, weak, true)                                                                      \
    word##bits __tsan_atomic##bits##_compare_exchange_val(volatile word##bits *address,            \
                                                          word##bits expected, word##bits value,   \
                                                          int order, int order_of_failure);        \
    word##bits __tsan_atomic##bits##_compare_exchange_val(volatile word##bits *address,            \
                                                          word##bits expected, word##bits value,   \
                                                          int order, int order_of_failure)         \
    {                                                                                              \
        word##bits seen = expected;                                                                \
                                                                                                   \
        (void)__tsan_atomic##bits##_compare_exchange_strong(address, &seen, value, order,          \
                                                            order_of_failure);                     \
        return seen;                                                                               \
    }

OPERATIONS(8)
OPERATIONS(16)
OPERATIONS(32)
OPERATIONS(64)

void __tsan_init(void);
void
__tsan_init(void)
{
}

/* ---- what gcc calls for all other accesses, too; clang is told not to ---- */

/* Their arguments, address and size, are passed over. */
#define NOTHING(name)                                                                              \
    void name(void);                                                                               \
    void name(void)                                                                                \
    {                                                                                              \
    }
#define NOTHING_AT(access)                                                                         \
    NOTHING(__tsan_##access##1)                                                                    \
    NOTHING(__tsan_##access##2)                                                                    \
    NOTHING(__tsan_##access##4)                                                                    \
    NOTHING(__tsan_##access##8)                                                                    \
    NOTHING(__tsan_##access##16)                                                                   \
    NOTHING(__tsan_unaligned_##access##2)                                                          \
    NOTHING(__tsan_unaligned_##access##4)                                                          \
    NOTHING(__tsan_unaligned_##access##8)                                                          \
    NOTHING(__tsan_unaligned_##access##16)                                                         \
    NOTHING(__tsan_##access##_range)

NOTHING_AT(read)
NOTHING_AT(write)

/* slab.c -- see slab.h. */
#include "cache/slab.h"

#include <assert.h>

/* Under AddressSanitizer what is not in use must not be touched, as if it came from malloc. */
#if defined(__SANITIZE_ADDRESS__)
#define SLAB_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLAB_POISON 1
#endif
#endif
#ifdef SLAB_POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#define LEVELS_MASK ((1u << SLAB_FRESH) - 1)

/* ---- Classes ---- */

/* The exponent of the power of two below `bytes`, at least that below the least. */
static unsigned
exponent_of(uint32_t bytes)
{
    return 31u - (unsigned)__builtin_clz(bytes - 1);
}

uint32_t
slab_object_bytes(uint32_t bytes)
{
    uint32_t step = 1u << (exponent_of(bytes) - 3);

    assert(bytes >= SLAB_LEAST_OBJECT && bytes <= SLAB_MOST_OBJECT);
    return (bytes + step - 1) & ~(step - 1);
}

/* 0 for the least, then eight from each power of two to the next. */
static uint32_t
class_of(uint32_t bytes)
{
    unsigned exponent = exponent_of(bytes);

    return (exponent * 8 + ((bytes - 1) >> (exponent - 3))) - (10 * 8 + 7);
}

/* ---- Slabs ---- */

static size_t
header_bytes(uint32_t count)
{
    size_t bytes = sizeof(struct slab) + count * (sizeof(struct cache_block *) + 1);

    return (bytes + CACHE_LINE_BYTES - 1) & ~(size_t)(CACHE_LINE_BYTES - 1);
}

/* The stack of objects given back: touched - used of them. */
static uint8_t *
returned(struct slab *slab)
{
    return (uint8_t *)(slab->owners + slab->count);
}

static struct slab *
slab_of(const void *object)
{
    return (struct slab *)((uintptr_t)object & ~(uintptr_t)(SLAB_BYTES - 1));
}

static uint8_t *
object_at(struct slab *slab, uint32_t index)
{
    return (uint8_t *)slab + slab->first + (size_t)index * slab->object_bytes;
}

static uint64_t
touched_bytes(const struct slab *slab)
{
    return slab->first + (uint64_t)slab->touched * slab->object_bytes;
}

static uint64_t
used_bytes(const struct slab *slab)
{
    return (uint64_t)slab->used * slab->object_bytes;
}

bool
slab_is_closing(const void *object)
{
    return atomic_load_explicit(&slab_of(object)->closing, memory_order_relaxed);
}

/* ---- Lists ---- */

static void
unlist(struct slab_set *set, struct slab *slab)
{
    struct slab **head;

    if (slab->list == SLAB_FULL)
        return;
    head = &set->lists[slab->class][slab->list];
    assert(*head != NULL && (slab->previous != NULL || *head == slab));
    if (slab->previous != NULL)
        slab->previous->next = slab->next;
    else
        *head = slab->next;
    if (slab->next != NULL)
        slab->next->previous = slab->previous;
    if (*head == NULL)
        set->lists_used[slab->class] &= (uint16_t) ~(1u << slab->list);
    slab->list = SLAB_FULL;
}

/* Put it in the list where it belongs now. */
static void
list(struct slab_set *set, struct slab *slab)
{
    uint32_t wanted;
    struct slab **head;

    assert(slab->used <= slab->touched && slab->touched <= slab->count);
    if (atomic_load_explicit(&slab->closing, memory_order_relaxed))
        wanted = SLAB_CLOSED;
    else if (slab->used < slab->touched)
        wanted = slab->used * SLAB_FRESH / slab->touched;
    else
        wanted = slab->used < slab->count ? SLAB_FRESH : SLAB_FULL;
    if (wanted == slab->list)
        return;
    unlist(set, slab);
    slab->list = wanted;
    if (wanted == SLAB_FULL)
        return;
    head = &set->lists[slab->class][wanted];
    slab->previous = NULL;
    slab->next = *head;
    if (*head != NULL)
        (*head)->previous = slab;
    *head = slab;
    set->lists_used[slab->class] |= (uint16_t)(1u << wanted);
}

/* ---- The set ---- */

void
slab_set_init(struct slab_set *set, const petal_allocator *allocator, uint64_t capacity)
{
    *set = (struct slab_set){.slab_count = 0};
    slab_regions_init(&set->regions, allocator, capacity);
}

/* A slab for objects of so many bytes, in no list yet; NULL when there is no memory. */
static struct slab *
add_slab(struct slab_set *set, uint32_t bytes)
{
    struct slab_region *region;
    struct slab *slab = slab_regions_take(&set->regions, &region);
    uint32_t size = slab_object_bytes(bytes);
    uint32_t count = SLAB_BYTES / size;

    if (slab == NULL)
        return NULL;
    while (header_bytes(count) + (size_t)count * size > SLAB_BYTES)
        count--;
    assert(count <= SLAB_OBJECTS);
    *slab = (struct slab){.class = class_of(bytes),
                          .object_bytes = size,
                          .count = count,
                          .first = (uint32_t)header_bytes(count),
                          .list = SLAB_FULL,
                          .region = region};
    atomic_init(&slab->closing, false);
    ASAN_POISON_MEMORY_REGION((uint8_t *)slab + slab->first, SLAB_BYTES - slab->first);
    set->touched_bytes += touched_bytes(slab);
    set->slab_count++;
    return slab;
}

/* REQUIRES: no object in use. */
static void
remove_slab(struct slab_set *set, struct slab *slab)
{
    assert(slab->used == 0 && slab != set->spare && set->slab_count > 0);
    unlist(set, slab);
    set->slab_count--;
    if (atomic_load_explicit(&slab->closing, memory_order_relaxed)) {
        assert(set->closed_bytes >= touched_bytes(slab));
        set->closed_bytes -= touched_bytes(slab);
    } else {
        assert(set->touched_bytes >= touched_bytes(slab));
        set->touched_bytes -= touched_bytes(slab);
    }
    ASAN_UNPOISON_MEMORY_REGION(slab, SLAB_BYTES);
    slab_regions_give(&set->regions, slab, slab->region);
}

void
slab_drop_spare(struct slab_set *set)
{
    struct slab *slab = set->spare;

    if (slab == NULL)
        return;
    assert(slab->list == SLAB_FULL);
    assert(!atomic_load_explicit(&slab->closing, memory_order_relaxed));
    set->spare = NULL;
    remove_slab(set, slab);
}

void
slab_set_fini(struct slab_set *set)
{
    slab_drop_spare(set); /* the others went with their objects */
    assert(set->slab_count == 0 && set->touched_bytes == 0 && set->closed_bytes == 0);
    slab_regions_fini(&set->regions);
}

/* ---- Closing ---- */

static void
set_closing(struct slab_set *set, struct slab *slab, bool closing)
{
    uint64_t touched = touched_bytes(slab), used = used_bytes(slab);

    assert(slab->used > 0);
    assert(closing != atomic_load_explicit(&slab->closing, memory_order_relaxed));
    atomic_store_explicit(&slab->closing, closing, memory_order_relaxed);
    if (closing) {
        set->touched_bytes -= touched;
        set->used_bytes -= used;
        set->closed_bytes += touched;
    } else {
        set->touched_bytes += touched;
        set->used_bytes += used;
        set->closed_bytes -= touched;
    }
    list(set, slab);
}

size_t
slab_close_emptiest(struct slab_set *set, struct cache_block *owners[SLAB_OBJECTS])
{
    struct slab *slab = NULL;
    size_t count = 0;

    for (unsigned level = 0; slab == NULL && level < SLAB_FRESH; level++)
        for (unsigned class = 0; slab == NULL && class < SLAB_CLASSES; class ++)
            slab = set->lists[class][level];
    if (slab == NULL)
        return 0;
    set_closing(set, slab, true);
    for (uint32_t i = 0; i < slab->touched; i++)
        if (slab->owners[i] != NULL)
            owners[count++] = slab->owners[i];
    assert(count == slab->used && count > 0);
    return count;
}

/* ---- Objects ---- */

/* The slab to take the next object of so many bytes from, which is not closed; NULL: none has room,
 * and there is no memory for one more. */
static struct slab *
slab_with_room(struct slab_set *set, uint32_t bytes)
{
    uint32_t class = class_of(bytes);
    unsigned lists = set->lists_used[class], fullest;
    struct slab *slab;

    if ((lists & LEVELS_MASK) != 0)
        fullest = 31u - (unsigned)__builtin_clz(lists & LEVELS_MASK);
    else if ((lists & 1u << SLAB_FRESH) != 0)
        fullest = SLAB_FRESH;
    else if (set->spare != NULL && set->spare->class == class) {
        slab = set->spare;
        set->spare = NULL;
        assert(slab->used == 0 && slab->list == SLAB_FULL);
        return slab;
    } else if (lists != 0)
        fullest = SLAB_CLOSED;
    else
        return add_slab(set, bytes);
    slab = set->lists[class][fullest];
    assert(slab != NULL && slab->class == class && slab->list == fullest);
    if (fullest == SLAB_CLOSED)
        set_closing(set, slab, false);
    return slab;
}

void *
slab_take(struct slab_set *set, uint32_t bytes, struct cache_block *owner)
{
    struct slab *slab = slab_with_room(set, bytes);
    uint32_t index;
    uint8_t *object;

    if (slab == NULL)
        return NULL;
    assert(slab->used <= slab->touched && slab->used < slab->count);
    if (slab->used < slab->touched) {
        index = returned(slab)[slab->touched - slab->used - 1];
        assert(index < slab->touched && slab->owners[index] == NULL);
    } else {
        index = slab->touched++;
        set->touched_bytes += slab->object_bytes;
    }
    slab->owners[index] = owner;
    slab->used++;
    set->used_bytes += slab->object_bytes;
    list(set, slab);
    object = object_at(slab, index);
    ASAN_UNPOISON_MEMORY_REGION(object, bytes);
    return object;
}

void
slab_give(struct slab_set *set, void *object)
{
    struct slab *slab = slab_of(object);
    bool closing = atomic_load_explicit(&slab->closing, memory_order_relaxed);
    uint32_t index = (uint32_t)((uint8_t *)object - object_at(slab, 0)) / slab->object_bytes;

    assert(index < slab->touched && object == object_at(slab, index) &&
           slab->owners[index] != NULL);
    ASAN_POISON_MEMORY_REGION(object, slab->object_bytes);
    slab->owners[index] = NULL;
    returned(slab)[slab->touched - slab->used] = (uint8_t)index;
    slab->used--;
    if (!closing)
        set->used_bytes -= slab->object_bytes;
    if (slab->used > 0) {
        list(set, slab);
    } else if (closing) {
        remove_slab(set, slab);
    } else {
        slab_drop_spare(set);
        unlist(set, slab);
        set->spare = slab;
    }
}

/* row_filter.c -- see row_filter.h. */
#include "memtable/row_filter.h"

#include "bloom/bloom.h"

#include <assert.h>
#include <string.h>

enum {
    PROBES = 6,
    BITS_PER_ROW = 12,
    LINE_WORDS = BLOOM_LINE_BYTES / 8,
    FIRST_LINES = 64, /* 4 KiB */
    GROWTH = 8
};

struct filter_line {
    _Alignas(BLOOM_LINE_BYTES) _Atomic(uint64_t) words[LINE_WORDS];
};

struct filter_segment {
    _Alignas(CACHE_LINE_BYTES) struct filter_segment *older; /* constant once published */
    size_t lines;
    size_t capacity; /* rows */
    struct filter_line bits[];
};

void
row_filter_init(struct row_filter *filter, const petal_allocator *allocator)
{
    filter->allocator = allocator;
    atomic_init(&filter->newest, NULL);
    filter->spare = NULL;
    filter->rows = 0;
    atomic_init(&filter->held, 0);
}

static size_t
segment_bytes(size_t lines)
{
    return sizeof(struct filter_segment) + lines * sizeof(struct filter_line);
}

static void
segment_free(struct row_filter *filter, struct filter_segment *segment)
{
    if (segment != NULL)
        mem_free(filter->allocator, segment, segment_bytes(segment->lines));
}

static struct filter_segment *
own_newest(const struct row_filter *filter)
{
    return atomic_load_explicit(&filter->newest, memory_order_relaxed);
}

void
row_filter_fini(struct row_filter *filter)
{
    struct filter_segment *segment = own_newest(filter);

    while (segment != NULL) {
        struct filter_segment *older = segment->older;

        segment_free(filter, segment);
        segment = older;
    }
    segment_free(filter, filter->spare);
    row_filter_init(filter, filter->allocator);
}

size_t
row_filter_bytes(const struct row_filter *filter)
{
    return atomic_load_explicit(&filter->held, memory_order_relaxed);
}

static size_t
capacity_of(size_t lines)
{
    return lines * BLOOM_LINE_BYTES * 8 / BITS_PER_ROW;
}

static struct filter_segment *
segment_new(const petal_allocator *allocator, size_t lines)
{
    struct filter_segment *segment =
        mem_alloc_aligned(allocator, CACHE_LINE_BYTES, segment_bytes(lines));

    if (segment == NULL)
        return NULL;
    memset(segment, 0, segment_bytes(lines));
    segment->lines = lines;
    segment->capacity = capacity_of(lines);
    return segment;
}

bool
row_filter_reserve(struct row_filter *filter, size_t rows)
{
    const struct filter_segment *newest = own_newest(filter);
    size_t room = newest != NULL ? newest->capacity - filter->rows : 0;
    size_t lines = newest != NULL ? newest->lines * GROWTH : FIRST_LINES;
    struct filter_segment *spare;
    size_t held;

    if (rows <= room || (filter->spare != NULL && rows - room <= filter->spare->capacity))
        return true;
    if (rows > SIZE_MAX / 64)
        return false;
    while (capacity_of(lines) < rows - room)
        lines *= GROWTH;
    spare = segment_new(filter->allocator, lines);
    if (spare == NULL)
        return false;
    held = row_filter_bytes(filter) + segment_bytes(lines);
    if (filter->spare != NULL)
        held -= segment_bytes(filter->spare->lines);
    segment_free(filter, filter->spare);
    filter->spare = spare;
    atomic_store_explicit(&filter->held, held, memory_order_relaxed);
    return true;
}

/*
 * All probes without a branch between them: where an absent row's first zero comes cannot be
 * predicted.
 */
static inline bool
segment_has(const struct filter_segment *segment, uint64_t hash)
{
    const struct filter_line *line = &segment->bits[bloom_line(hash, segment->lines)];
    uint64_t all = 1, walk = hash;

#pragma GCC unroll 6
    for (unsigned i = 0; i < PROBES; i++) {
        unsigned bit = bloom_line_next(&walk);

        all &= atomic_load_explicit(&line->words[bit / 64], memory_order_relaxed) >> bit % 64;
    }
    return all != 0;
}

static bool
chain_has(const struct filter_segment *segment, uint64_t hash)
{
    for (; segment != NULL; segment = segment->older)
        if (segment_has(segment, hash))
            return true;
    return false;
}

bool
row_filter_may_contain(const struct row_filter *filter, uint64_t row_hash)
{
    /* Acquire: the segment's head and its zeroed bits. */
    const struct filter_segment *newest =
        atomic_load_explicit(&filter->newest, memory_order_acquire);

    if (newest == NULL)
        return false;
    return chain_has(newest, row_hash);
}

void
row_filter_prefetch(const struct row_filter *filter, uint64_t row_hash)
{
    for (const struct filter_segment *segment = own_newest(filter); segment != NULL;
         segment = segment->older)
        mem_prefetch(&segment->bits[bloom_line(row_hash, segment->lines)], 1);
}

static void
segment_add(struct filter_segment *segment, uint64_t hash)
{
    struct filter_line *line = &segment->bits[bloom_line(hash, segment->lines)];
    uint64_t bits[LINE_WORDS];

    bloom_line_bits(hash, PROBES, bits);
    /* Loads and stores: nobody else writes. */
    for (unsigned i = 0; i < LINE_WORDS; i++) {
        uint64_t word = atomic_load_explicit(&line->words[i], memory_order_relaxed);

        atomic_store_explicit(&line->words[i], word | bits[i], memory_order_relaxed);
    }
}

void
row_filter_add(struct row_filter *filter, uint64_t row_hash)
{
    struct filter_segment *newest = own_newest(filter);

    if (chain_has(newest, row_hash))
        return;
    if (newest == NULL || filter->rows == newest->capacity) {
        assert(filter->spare != NULL);
        filter->spare->older = newest;
        newest = filter->spare;
        filter->spare = NULL;
        filter->rows = 0;
        atomic_store_explicit(&filter->newest, newest, memory_order_release);
    }
    segment_add(newest, row_hash);
    filter->rows++;
}

/* read_around.c -- see sstable/read_around.h. */
#include "sstable/read_around.h"

#include "base/mem.h"

#include <assert.h>

#define WORD_BITS 64

/* Credit of a read that an area begun before has saved, in areas. */
#define EARNED_WITHIN 4

static size_t
word_count(uint64_t areas)
{
    return (size_t)((areas + WORD_BITS - 1) / WORD_BITS);
}

bool
read_around_init(struct read_around *around, struct read_around_limit *limit, uint64_t file_bytes,
                 const petal_allocator *allocator)
{
    uint64_t areas = (file_bytes + READ_AROUND_AREA_BYTES - 1) / READ_AROUND_AREA_BYTES;
    _Atomic(uint64_t) *begun;

    *around = (struct read_around){0};
    if (limit == NULL || areas == 0)
        return true;
    begun = mem_zalloc(allocator, word_count(areas) * sizeof *begun);
    if (begun == NULL)
        return false;
    around->limit = limit;
    around->file_bytes = file_bytes;
    around->areas = areas;
    around->begun = begun;
    atomic_init(&around->credit, -(int64_t)(areas / READ_AROUND_ALONE));
    atomic_fetch_add_explicit(&limit->open, file_bytes, memory_order_relaxed);
    return true;
}

void
read_around_fini(struct read_around *around, const petal_allocator *allocator)
{
    if (around->limit == NULL)
        return;
    assert(atomic_load(&around->limit->open) >= around->file_bytes);
    atomic_fetch_sub_explicit(&around->limit->open, around->file_bytes, memory_order_relaxed);
    mem_free(allocator, around->begun, word_count(around->areas) * sizeof *around->begun);
    *around = (struct read_around){0};
}

size_t
read_around_memory(const struct read_around *around)
{
    return word_count(around->areas) * sizeof *around->begun;
}

static bool
is_begun(const struct read_around *around, uint64_t area)
{
    assert(area < around->areas);
    return (atomic_load_explicit(&around->begun[area / WORD_BITS], memory_order_relaxed) >>
                area % WORD_BITS &
            1) != 0;
}

/* False: somebody else has begun it. */
static bool
begin_area(struct read_around *around, uint64_t area)
{
    uint64_t bit = UINT64_C(1) << area % WORD_BITS;

    return (atomic_fetch_or_explicit(&around->begun[area / WORD_BITS], bit, memory_order_relaxed) &
            bit) == 0;
}

/* Two threads at once may go past the most by what each has at hand. */
static void
earn(struct read_around *around, int64_t areas)
{
    if (areas > 0 && atomic_load_explicit(&around->credit, memory_order_relaxed) <=
                         READ_AROUND_MOST_AREAS - areas)
        atomic_fetch_add_explicit(&around->credit, areas, memory_order_relaxed);
}

/* All the credit, at most what is begun at once; 0: there is none. */
static int64_t
take_credit(struct read_around *around)
{
    int64_t credit = atomic_load_explicit(&around->credit, memory_order_relaxed);

    while (credit > 0) {
        if (atomic_compare_exchange_weak_explicit(&around->credit, &credit, 0, memory_order_relaxed,
                                                  memory_order_relaxed))
            return credit < READ_AROUND_MOST_AREAS ? credit : READ_AROUND_MOST_AREAS;
    }
    return 0;
}

void
read_around_block(struct read_around *around, const struct block_source *source,
                  struct block_handle handle)
{
    uint64_t area = handle.offset / READ_AROUND_AREA_BYTES;
    int64_t credit, count = 0;

    if (around->limit == NULL ||
        atomic_load_explicit(&around->limit->open, memory_order_relaxed) > around->limit->most)
        return;
    if (area >= around->areas)
        return; /* a damaged index says so; whoever reads the block finds out */
    if (is_begun(around, area)) {
        earn(around, EARNED_WITHIN);
        return;
    }
    earn(around, 1);
    credit = take_credit(around);
    while (count < credit && area + (uint64_t)count < around->areas &&
           begin_area(around, area + (uint64_t)count))
        count++;
    earn(around, credit - count);
    if (count > 0)
        block_source_read_ahead(source, area * READ_AROUND_AREA_BYTES,
                                (uint64_t)count * READ_AROUND_AREA_BYTES);
}

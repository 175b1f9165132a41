/* readahead.c -- see sstable/file/readahead.h. */
#include "sstable/file/readahead.h"

#include "base/mem.h"

#define WORD_BITS 64

/* Credit of a read that an area begun before has saved, in areas. */
#define EARNED_WITHIN 4

void
readahead_init(struct readahead *ahead, struct readahead_limit *limit, bool whole)
{
    *ahead = (struct readahead){.limit = limit, .whole = whole};
}

/* ---- memory ---- */

/* Take memory of `bytes` in place of what the window has; 0: of none. */
static bool
replace_memory(struct readahead *ahead, const petal_allocator *allocator, size_t bytes)
{
    mem_free(allocator, ahead->window, ahead->capacity);
    ahead->window = bytes > 0 ? mem_alloc(allocator, bytes) : NULL;
    ahead->capacity = ahead->window != NULL ? bytes : 0;
    ahead->begin = ahead->end = 0;
    if (ahead->window == NULL) {
        readahead_limit_give(ahead->limit, ahead->charged);
        ahead->charged = 0;
    }
    return ahead->window != NULL;
}

void
readahead_fini(struct readahead *ahead, const petal_allocator *allocator)
{
    (void)replace_memory(ahead, allocator, 0);
    assert(ahead->charged == 0);
}

/* Charge the limit for a window of so many bytes; false: it has not as many left. */
static bool
charge(struct readahead *ahead, size_t bytes)
{
    assert(bytes > ahead->charged);
    if (!readahead_limit_take(ahead->limit, bytes - ahead->charged))
        return false;
    ahead->charged = bytes;
    return true;
}

/* ---- where to read ---- */

enum direction { ANEW, FORWARDS, BACKWARDS };

/* How the block lies to the one asked for before. */
static enum direction
direction_of(const struct readahead *ahead, struct block_handle handle)
{
    uint64_t end = handle.offset + handle.size;

    if (!ahead->asked)
        return ahead->whole ? FORWARDS : ANEW;
    if (handle.offset >= ahead->high)
        return handle.offset - ahead->high <= READAHEAD_GAP_BYTES ? FORWARDS : ANEW;
    return end <= ahead->low && ahead->low - end <= READAHEAD_GAP_BYTES ? BACKWARDS : ANEW;
}

bool
readahead_goes_on(const struct readahead *ahead, struct block_handle handle)
{
    return readahead_holds(ahead, handle) || direction_of(ahead, handle) != ANEW;
}

/* Fill the window with the bytes of the file from `begin` to `end`. */
static enum petal_status
fill(struct readahead *ahead, const struct block_source *source, uint64_t begin, uint64_t end,
     struct read_trace *trace, petal_error *error)
{
    size_t size = (size_t)(end - begin);
    enum petal_status status;

    assert(size > 0 && size <= ahead->capacity && end <= source->limit);
    ahead->begin = ahead->end = begin;
    trace->file_reads++;
    status = block_source_read(source, begin, ahead->window, size, error);
    if (status != PETAL_OK)
        return status;
    trace->file_bytes_read += size;
    ahead->end = end;
    return PETAL_OK;
}

/* How many bytes the next window can have, and has memory for: fewer than are due where the file
 * has no more than `left`, or the limit. */
static size_t
window_bytes(struct readahead *ahead, uint64_t left, const petal_allocator *allocator)
{
    size_t bytes = ahead->next_bytes;

    if (bytes == 0)
        bytes = ahead->whole ? READAHEAD_MOST_BYTES : READAHEAD_LEAST_BYTES;
    if (bytes > left)
        bytes = (size_t)left;
    if (bytes <= ahead->capacity)
        return bytes;
    if (!charge(ahead, bytes))
        return ahead->capacity;
    return replace_memory(ahead, allocator, bytes) ? bytes : 0;
}

/* Read a window that holds the block and goes on in this direction; false: it is not worth one, or
 * cannot be read. */
static bool
read_window(struct readahead *ahead, const struct block_source *source, struct block_handle handle,
            enum direction direction, struct read_trace *trace)
{
    uint64_t begin = handle.offset, end = handle.offset + handle.size;
    uint64_t left = direction == FORWARDS ? source->limit - begin : end;
    size_t bytes = window_bytes(ahead, left, source->env->allocator);

    if (bytes <= handle.size)
        return false;
    assert(bytes <= left);
    if (direction == FORWARDS)
        end = begin + bytes;
    else
        begin = end - bytes;
    if (begin < ahead->failed_end && end > ahead->failed_begin)
        return false;
    if (fill(ahead, source, begin, end, trace, NULL) != PETAL_OK) {
        ahead->failed_begin = begin;
        ahead->failed_end = end;
        return false;
    }
    ahead->next_bytes =
        bytes < READAHEAD_MOST_BYTES / 2 ? (uint32_t)bytes * 2 : READAHEAD_MOST_BYTES;
    return true;
}

static enum petal_status
read_alone(struct readahead *ahead, const struct block_source *source, struct block_handle handle,
           struct read_trace *trace, petal_error *error)
{
    if (handle.size > ahead->capacity &&
        !replace_memory(ahead, source->env->allocator, handle.size))
        return error_no_memory(error);
    return fill(ahead, source, handle.offset, handle.offset + handle.size, trace, error);
}

enum petal_status
readahead_fill(struct readahead *ahead, const struct block_source *source, uint64_t begin,
               uint64_t end, struct read_trace *trace, petal_error *error)
{
    size_t bytes = (size_t)(end - begin);

    if (bytes > ahead->capacity &&
        (!charge(ahead, bytes) || !replace_memory(ahead, source->env->allocator, bytes)))
        return error_no_memory(error);
    return fill(ahead, source, begin, end, trace, error);
}

enum petal_status
readahead_read(struct readahead *ahead, const struct block_source *source,
               struct block_handle handle, struct read_trace *trace, const uint8_t **bytes,
               petal_error *error)
{
    assert(handle.size > 0 && handle.size <= source->limit);
    assert(handle.offset <= source->limit - handle.size);
    if (!readahead_holds(ahead, handle)) {
        enum direction direction = direction_of(ahead, handle);

        if (direction == ANEW)
            ahead->next_bytes = 0;
        if (direction == ANEW || !read_window(ahead, source, handle, direction, trace)) {
            enum petal_status status = read_alone(ahead, source, handle, trace, error);

            if (status != PETAL_OK)
                return status;
        }
    }
    ahead->asked = true;
    ahead->low = handle.offset;
    ahead->high = handle.offset + handle.size;
    assert(readahead_holds(ahead, handle));
    *bytes = ahead->window + (handle.offset - ahead->begin);
    return PETAL_OK;
}

/* ---- areas ---- */

static size_t
word_count(uint64_t areas)
{
    return (size_t)((areas + WORD_BITS - 1) / WORD_BITS);
}

bool
read_around_init(struct read_around *around, struct readahead_limit *limit, uint64_t file_bytes,
                 const petal_allocator *allocator)
{
    uint64_t areas = (file_bytes + READ_AROUND_AREA_BYTES - 1) / READ_AROUND_AREA_BYTES;
    _Atomic(uint64_t) *begun;

    *around = (struct read_around){0};
    if (limit == NULL || limit->most_open == 0 || areas == 0)
        return true;
    begun = mem_zalloc(allocator, 2 * word_count(areas) * sizeof *begun);
    if (begun == NULL)
        return false;
    around->limit = limit;
    around->file_bytes = file_bytes;
    around->areas = areas;
    around->begun = begun;
    around->come_to = begun + word_count(areas);
    atomic_init(&around->credit, 0);
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
    mem_free(allocator, around->begun, 2 * word_count(around->areas) * sizeof *around->begun);
    *around = (struct read_around){0};
}

size_t
read_around_memory(const struct read_around *around)
{
    return 2 * word_count(around->areas) * sizeof *around->begun;
}

static bool
is_begun(const struct read_around *around, uint64_t area)
{
    assert(area < around->areas);
    return (atomic_load_explicit(&around->begun[area / WORD_BITS], memory_order_relaxed) >>
                area % WORD_BITS &
            1) != 0;
}

/* False: it was set. */
static bool
set_bit(_Atomic(uint64_t) *words, uint64_t area)
{
    uint64_t bit = UINT64_C(1) << area % WORD_BITS;

    return (atomic_fetch_or_explicit(&words[area / WORD_BITS], bit, memory_order_relaxed) & bit) ==
           0;
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
        atomic_load_explicit(&around->limit->open, memory_order_relaxed) > around->limit->most_open)
        return;
    if (area >= around->areas)
        return; /* a damaged index says so; whoever reads the block finds out */
    if (is_begun(around, area)) {
        earn(around, EARNED_WITHIN);
        return;
    }
    if (!set_bit(around->come_to, area))
        earn(around, 1);
    credit = take_credit(around);
    while (count < credit && area + (uint64_t)count < around->areas &&
           set_bit(around->begun, area + (uint64_t)count))
        count++;
    earn(around, credit - count);
    if (count > 0)
        block_source_read_ahead(source, area * READ_AROUND_AREA_BYTES,
                                (uint64_t)count * READ_AROUND_AREA_BYTES);
}

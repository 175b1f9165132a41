/* bloom_rows.c -- see sstable/filter/bloom_rows.h. */
#include "sstable/filter/bloom_rows.h"

#include <assert.h>

#define BUCKETS_PER_CHUNK 4

/* What is made while the directory is. */
struct making {
    struct bloom_rows *rows;
    const struct index_block *root;
    petal_slice row_min, common; /* what all rows begin with */
    uint64_t most;               /* head of the greatest row after it */
    uint8_t *key;                /* of one entry; then the row that was decoded from it */
    size_t key_bytes;
};

/* The row whose ROW PREFIX (base/cell.h) the `size` bytes at `key` are, decoded in place; its
 * length, or 0 when they are none. */
static size_t
decode_row(uint8_t *key, size_t size)
{
    size_t from = 0, to = 0;

    while (from + 1 < size) {
        if (key[from] == 0 && key[from + 1] != 0xff)
            return 0;
        key[to++] = key[from];
        from += key[from] == 0 ? 2 : 1;
    }
    return from + 1 == size && key[from] == 0 ? to : 0;
}

/* Fill in the chunk of one entry.  False: it does not fit in. */
static bool
add_chunk(const struct making *making, uint32_t index)
{
    const uint32_t least_bytes = BLOCK_FRAME_BYTES + BLOOM_FOOTER_BYTES;
    struct bloom_rows *rows = making->rows;
    struct block_handle handle = index_block_handle(making->root, index);
    struct bloom_rows_chunk *chunk = &rows->chunks[index];
    uint32_t start = index > 0 ? rows->ends[index - 1] : 0;
    size_t common = making->common.size, size;
    uint64_t head;

    index_block_key(making->root, index, making->key);
    size = decode_row(making->key, index_block_key_bytes(making->root, index));
    if (size == 0 || size < common || memcmp(making->key, making->common.data, common) != 0)
        return false;
    size -= common;
    memcpy(rows->rests + start, making->key + common, size);
    rows->ends[index] = start + (uint32_t)size;
    head = slice_head(slice_make(making->key + common, size), 0);
    rows->heads[index] = head;
    cache_hint_init(&chunk->hint);
    chunk->offset = handle.offset;
    chunk->bytes = handle.size > least_bytes ? handle.size - least_bytes : 0;
    if (index == 0)
        return slice_equal(slice_make(making->key, common + size), making->row_min);
    return head >= rows->heads[index - 1] && head <= making->most;
}

/* All chunks, and the buckets, `bucket_count` of them. */
static bool
fill(const struct making *making, size_t bucket_count)
{
    struct bloom_rows *rows = making->rows;
    uint32_t count = making->root->count, at = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!add_chunk(making, i))
            return false;
    }
    rows->heads[count] = UINT64_MAX;
    for (size_t bucket = 0; bucket <= bucket_count; bucket++) {
        while (at < count && (rows->heads[at] - rows->least) >> rows->shift < bucket)
            at++;
        rows->starts[bucket] = at;
        if (bucket > 0 && at - rows->starts[bucket - 1] > 1)
            rows->starts[bucket - 1] |= BLOOM_ROWS_SEVERAL;
    }
    return true;
}

/* Bytes of the parts, and where each begins in rows->memory, unless that is NULL. */
static size_t
lay_out(struct bloom_rows *rows, size_t count, size_t bucket_count, size_t rest_bytes)
{
    size_t chunk_bytes = count * sizeof *rows->chunks;
    size_t head_bytes = (count + 1) * sizeof *rows->heads;
    size_t start_bytes = (bucket_count + 1) * sizeof *rows->starts;
    size_t end_bytes = count * sizeof *rows->ends;
    uint8_t *at = rows->memory;

    if (at != NULL) {
        rows->chunks = (struct bloom_rows_chunk *)(void *)at;
        rows->heads = (uint64_t *)(void *)(at + chunk_bytes);
        rows->starts = (uint32_t *)(void *)(at + chunk_bytes + head_bytes);
        rows->ends = (uint32_t *)(void *)(at + chunk_bytes + head_bytes + start_bytes);
        rows->rests = at + chunk_bytes + head_bytes + start_bytes + end_bytes;
    }
    return chunk_bytes + head_bytes + start_bytes + end_bytes + rest_bytes;
}

/* Of the keys: bytes of all, and of the longest. */
static uint64_t
measure_keys(const struct index_block *root, size_t *longest)
{
    uint64_t sum = 0;

    *longest = 0;
    for (uint32_t i = 0; i < root->count; i++) {
        size_t bytes = index_block_key_bytes(root, i);

        sum += bytes;
        if (bytes > *longest)
            *longest = bytes;
    }
    return sum;
}

enum petal_status
bloom_rows_open(struct bloom_rows *rows, const struct sst_file *file, petal_slice row_min,
                petal_slice row_max, const struct index_block *root, struct bloom_account *account)
{
    const petal_allocator *allocator = file->source.env->allocator;
    struct making making = {.rows = rows, .root = root, .row_min = row_min};
    uint64_t rest_bytes = measure_keys(root, &making.key_bytes);
    size_t bucket_count = 2; /* so that no shift by all 64 bits is needed */

    *rows = (struct bloom_rows){.file = file->number, .account = account};
    if (root->level > 0 || root->count >= BLOOM_ROWS_SEVERAL || rest_bytes > UINT32_MAX ||
        making.key_bytes == 0 || slice_compare(row_min, row_max) > 0)
        return PETAL_OK;
    making.common = slice_make(row_min.data, slice_common_prefix(row_min, row_max));
    making.most = slice_head(row_max, making.common.size);
    rows->common = making.common.size;
    rows->least = slice_head(row_min, rows->common);
    while (bucket_count < BUCKETS_PER_CHUNK * (size_t)root->count)
        bucket_count *= 2;
    while ((making.most - rows->least) >> rows->shift >= bucket_count)
        rows->shift++;
    assert(rows->shift < 64);
    rows->memory_bytes = lay_out(rows, root->count, bucket_count, (size_t)rest_bytes);
    rows->memory = mem_alloc_aligned(allocator, CACHE_LINE_BYTES, rows->memory_bytes);
    making.key = mem_alloc(allocator, making.key_bytes);
    if (rows->memory == NULL || making.key == NULL) {
        mem_free(allocator, making.key, making.key_bytes);
        bloom_rows_close(rows, allocator);
        return PETAL_NO_MEMORY;
    }
    lay_out(rows, root->count, bucket_count, (size_t)rest_bytes);
    if (fill(&making, bucket_count))
        rows->count = root->count;
    mem_free(allocator, making.key, making.key_bytes);
    if (rows->count == 0)
        bloom_rows_close(rows, allocator);
    return PETAL_OK;
}

void
bloom_rows_close(struct bloom_rows *rows, const petal_allocator *allocator)
{
    mem_free(allocator, rows->memory, rows->memory_bytes);
    *rows = (struct bloom_rows){0};
}

/* ---- finding ---- */

/* How many heads up to this one there are, of which those from `start` to before `end` are in
 * doubt: without a branch, since where they lie cannot be foreseen. */
static uint32_t
count_heads(const struct bloom_rows *rows, uint64_t head, uint32_t start, uint32_t end)
{
    assert(start <= end && end <= rows->count);
    while (start < end) {
        uint32_t middle = start + (end - start) / 2;
        bool above = rows->heads[middle] > head;

        start = UNFORESEEABLE(above) ? start : middle + 1;
        end = UNFORESEEABLE(above) ? middle : end;
    }
    return start;
}

static petal_slice
rest_at(const struct bloom_rows *rows, uint32_t index)
{
    uint32_t start = index > 0 ? rows->ends[index - 1] : 0;

    assert(index < rows->count && rows->ends[index] >= start);
    return slice_make(rows->rests + start, rows->ends[index] - start);
}

/* Of several first rows with the row's head, or before them: so many are not above that head. */
static NEVER_INLINE struct bloom_rows_chunk *
find_among_equals(const struct bloom_rows *rows, petal_slice row, uint32_t count)
{
    petal_slice rest = slice_make(slice_bytes(row) + rows->common, row.size - rows->common);
    uint32_t low = 0, high = count;

    assert(count <= rows->count && row.size >= rows->common);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (slice_compare(rest_at(rows, middle), rest) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low > 0);
    return &rows->chunks[low - 1];
}

struct bloom_rows_chunk *
bloom_rows_find_in_bucket(const struct bloom_rows *rows, const struct bloom_rows_question *question,
                          const uint32_t *bucket)
{
    uint32_t start = bucket[0] & ~BLOOM_ROWS_SEVERAL, end = bucket[1] & ~BLOOM_ROWS_SEVERAL;
    uint32_t count = count_heads(rows, question->head, start, end);

    assert(count > 0);
    return rows->heads[count - 1] == question->head ? find_among_equals(rows, question->row, count)
                                                    : &rows->chunks[count - 1];
}

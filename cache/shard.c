/*
 * shard.c -- see shard.h.
 *
 * A chain is changed only under the mutex: a block enters at the head, and leaves by making its
 * predecessor skip it.  It keeps its own `next`, so a reader who stands on it walks on into the
 * chain.  What that leads to left the table later than the block itself, so the reader's epoch
 * keeps it, too.
 *
 * `file` is set last when a block enters and cleared first when it leaves: readers take a
 * descriptor for what it says only while file is not 0.
 */
#include "cache/shard.h"

#include "cache/pool.h"

#include <assert.h>

#define BYTES_PER_BUCKET 4096
#define MIN_BUCKETS      16
#define MAX_BUCKETS      (UINT64_C(1) << 24)

/* Second chances given by one insertion.  Past it the next block goes even if it was used: when
 * nearly all were, being used tells nothing apart, and the mutex must not be held for a walk
 * through the whole shard. */
#define MAX_CHANCES 64

static uint64_t
buckets_for(uint64_t capacity)
{
    uint64_t buckets = MIN_BUCKETS;

    while (buckets < capacity / BYTES_PER_BUCKET && buckets < MAX_BUCKETS)
        buckets *= 2;
    return buckets;
}

static void
free_tables(struct cache_shard *shard)
{
    size_t buckets = (size_t)shard->bucket_mask + 1;

    mem_free(shard->allocator, shard->buckets, buckets * sizeof *shard->buckets);
    mem_free(shard->allocator, shard->asked, buckets * sizeof *shard->asked);
}

enum petal_status
shard_init(struct cache_shard *shard, const petal_allocator *allocator, uint64_t capacity)
{
    uint64_t buckets = buckets_for(capacity);

    *shard = (struct cache_shard){
        .allocator = allocator, .capacity = capacity, .bucket_mask = buckets - 1};
    shard->buckets = mem_alloc(allocator, (size_t)buckets * sizeof *shard->buckets);
    if (shard->buckets == NULL)
        return PETAL_NO_MEMORY;
    shard->asked = mem_alloc(allocator, (size_t)buckets * sizeof *shard->asked);
    if (shard->asked == NULL || !mutex_init(&shard->mutex)) {
        free_tables(shard);
        return PETAL_NO_MEMORY;
    }
    for (uint64_t i = 0; i < buckets; i++) {
        atomic_init(&shard->buckets[i], NULL);
        atomic_init(&shard->asked[i], 0);
    }
    return PETAL_OK;
}

void
shard_fini(struct cache_shard *shard)
{
    for (unsigned i = 0; i < SHARD_QUEUES; i++)
        assert(shard->queues[i].oldest == NULL && shard->queues[i].bytes == 0);
    mutex_fini(&shard->mutex);
    free_tables(shard);
}

struct cache_block *
shard_find(const struct cache_shard *shard, uint64_t hash, uint64_t file, uint64_t offset)
{
    /* Acquire, as each step below: the descriptor's fields were written before it was linked. */
    struct cache_block *block =
        atomic_load_explicit(&shard->buckets[hash & shard->bucket_mask], memory_order_acquire);

    while (block != NULL) {
        if (atomic_load_explicit(&block->file, memory_order_acquire) == file &&
            atomic_load_explicit(&block->offset, memory_order_relaxed) == offset)
            break;
        block = atomic_load_explicit(&block->next, memory_order_acquire);
    }
    return block;
}

/*
 * A mark is lost when another block comes to its slot.  Among as many slots as the window has
 * blocks it stays for about as many questions.
 */
bool
shard_asked_before(struct cache_shard *shard, uint64_t hash, uint64_t window)
{
    uint32_t mark = (uint32_t)(hash >> 32) | 1; /* 0: an empty slot's */
    uint64_t slots = shard->bucket_mask + 1;
    _Atomic(uint32_t) *slot;

    assert(window > 0);
    while (slots > window)
        slots /= 2;
    slot = &shard->asked[hash & (slots - 1)];
    if (atomic_load_explicit(slot, memory_order_relaxed) == mark)
        return true;
    atomic_store_explicit(slot, mark, memory_order_relaxed);
    return false;
}

/* ---- Queues ---- */

static unsigned
queue_of(const struct cache_block *block)
{
    return block->kind == PETAL_BLOCK_INDEX ? SHARD_META : block->priority;
}

/* So many bytes more are in the table, or, in two's complement, fewer. */
static void
add_held(struct cache_shard *shard, uint64_t bytes)
{
    assert_held(&shard->mutex);
    atomic_store_explicit(&shard->held, shard_held(shard) + bytes, memory_order_relaxed);
}

static void
queue_append(struct cache_shard *shard, struct cache_block *block)
{
    struct block_queue *queue = &shard->queues[queue_of(block)];

    assert((queue->newest == NULL) == (queue->oldest == NULL));
    block->queue_next = NULL;
    block->queue_previous = queue->newest;
    if (queue->newest != NULL)
        queue->newest->queue_next = block;
    else
        queue->oldest = block;
    queue->newest = block;
    queue->bytes += block->charge;
    add_held(shard, block->charge);
}

static void
queue_remove(struct cache_shard *shard, struct cache_block *block)
{
    struct block_queue *queue = &shard->queues[queue_of(block)];

    if (block->queue_previous != NULL)
        block->queue_previous->queue_next = block->queue_next;
    else
        queue->oldest = block->queue_next;
    if (block->queue_next != NULL)
        block->queue_next->queue_previous = block->queue_previous;
    else
        queue->newest = block->queue_previous;
    assert(queue->bytes >= block->charge && shard_held(shard) >= block->charge);
    queue->bytes -= block->charge;
    add_held(shard, -block->charge);
}

/* ---- Entering and leaving the table ---- */

static void
chain_remove(struct cache_shard *shard, struct cache_block *block, uint64_t hash)
{
    _Atomic(struct cache_block *) *link = &shard->buckets[hash & shard->bucket_mask];
    struct cache_block *at = atomic_load_explicit(link, memory_order_relaxed);

    while (at != block) {
        assert(at != NULL);
        link = &at->next;
        at = atomic_load_explicit(link, memory_order_relaxed);
    }
    /* Release: a reader may meet the next block by this store first. */
    atomic_store_explicit(link, atomic_load_explicit(&block->next, memory_order_relaxed),
                          memory_order_release);
}

static void
take_out(struct cache_shard *shard, struct cache_block *block, struct cache_block **removed)
{
    uint64_t file = atomic_load_explicit(&block->file, memory_order_relaxed);
    uint64_t offset = atomic_load_explicit(&block->offset, memory_order_relaxed);

    assert_held(&shard->mutex);
    assert(file != 0 && shard->usage.blocks[block->kind] > 0);
    atomic_store_explicit(&block->file, 0, memory_order_release);
    chain_remove(shard, block, block_key_hash(file, offset));
    queue_remove(shard, block);
    shard->usage.bytes[block->kind] -= block->charge;
    shard->usage.blocks[block->kind]--;
    block->queue_next = *removed;
    *removed = block;
}

/* ---- Eviction ---- */

/* What index blocks may have before they give. */
static uint64_t
meta_limit(const struct cache_shard *shard)
{
    return shard->capacity - shard->capacity / 8;
}

/* The data queue that is most over its share, `charge` more bytes of queue `coming` counted in;
 * SHARD_META if all are empty. */
static unsigned
data_queue_most_over(const struct cache_shard *shard, unsigned coming, uint64_t charge,
                     uint64_t left)
{
    unsigned most = SHARD_META;
    int64_t most_over = INT64_MIN;

    for (unsigned i = 0; i < CACHE_PRIORITIES; i++) {
        uint64_t bytes = shard->queues[i].bytes + (i == coming ? charge : 0);
        int64_t over = (int64_t)bytes - (int64_t)(i == CACHE_MULTI ? left / 2 : left / 4);

        if (shard->queues[i].oldest != NULL && over > most_over) {
            most = i;
            most_over = over;
        }
    }
    return most;
}

/* The queue to take from.  REQUIRES: something is held, and room can be made. */
static unsigned
queue_to_give(const struct cache_shard *shard, unsigned coming, uint64_t charge)
{
    uint64_t meta = shard->queues[SHARD_META].bytes + (coming == SHARD_META ? charge : 0);

    if (meta > meta_limit(shard) && shard->queues[SHARD_META].oldest != NULL)
        return SHARD_META;
    return data_queue_most_over(shard, coming, charge,
                                shard->capacity > meta ? shard->capacity - meta : 0);
}

/* Let the clock hand pass the oldest block of a queue: it stays if it was used and there are
 * chances left, else it goes. */
static void
pass_hand(struct cache_shard *shard, unsigned queue, unsigned *chances,
          struct cache_block **removed)
{
    struct cache_block *block = shard->queues[queue].oldest;

    assert(block != NULL);
    if (*chances == 0 || atomic_load_explicit(&block->recent, memory_order_relaxed) == 0) {
        shard->usage.evicted[block->kind]++;
        take_out(shard, block, removed);
        /* The next to go, most often when the next block comes. */
        mem_prefetch(shard->queues[queue].oldest, 2);
        return;
    }
    (*chances)--;
    atomic_store_explicit(&block->recent, 0, memory_order_relaxed);
    queue_remove(shard, block);
    if (block->priority == CACHE_SINGLE)
        block->priority = CACHE_MULTI;
    queue_append(shard, block);
}

/* False where evicting cannot make it: data does not push out index blocks within their limit. */
static bool
make_room(struct cache_shard *shard, unsigned coming, uint64_t charge, struct cache_block **removed)
{
    uint64_t meta = shard->queues[SHARD_META].bytes;
    unsigned chances = MAX_CHANCES;

    if (coming == SHARD_META)
        meta = 0;
    else if (meta > meta_limit(shard))
        meta = meta_limit(shard);
    if (charge > shard->capacity - meta)
        return false;
    while (shard_held(shard) + charge > shard->capacity)
        pass_hand(shard, queue_to_give(shard, coming, charge), &chances, removed);
    return true;
}

struct cache_block *
shard_insert(struct cache_shard *shard, struct cache_block *block, uint64_t hash, uint64_t file,
             uint64_t offset, struct cache_block **removed)
{
    _Atomic(struct cache_block *) *bucket = &shard->buckets[hash & shard->bucket_mask];
    uint64_t charge = block->charge;
    struct cache_block *held;

    assert(file != 0 && hash == block_key_hash(file, offset));
    assert(block->priority < CACHE_PRIORITIES && block->kind < PETAL_BLOCK_KINDS);
    *removed = NULL;
    mutex_lock(&shard->mutex);
    held = shard_find(shard, hash, file, offset);
    if (held == NULL && make_room(shard, queue_of(block), charge, removed)) {
        assert(atomic_load_explicit(&block->file, memory_order_relaxed) == 0);
        atomic_store_explicit(&block->offset, offset, memory_order_relaxed);
        atomic_store_explicit(&block->next, atomic_load_explicit(bucket, memory_order_relaxed),
                              memory_order_relaxed);
        /* Release, since a stale hint leads here, too: who sees the file sees offset, data,
         * size, hints. */
        atomic_store_explicit(&block->file, file, memory_order_release);
        atomic_store_explicit(bucket, block, memory_order_release);
        queue_append(shard, block);
        shard->usage.bytes[block->kind] += charge;
        shard->usage.blocks[block->kind]++;
        shard->usage.inserted[block->kind]++;
        assert(shard_held(shard) <= shard->capacity);
        held = block;
    }
    mutex_unlock(&shard->mutex);
    return held;
}

void
shard_remove(struct cache_shard *shard, struct cache_block *block, uint64_t hash, uint64_t file,
             uint64_t offset, struct cache_block **removed)
{
    *removed = NULL;
    mutex_lock(&shard->mutex);
    if (shard_find(shard, hash, file, offset) == block) {
        shard->usage.evicted[block->kind]++;
        take_out(shard, block, removed);
    }
    mutex_unlock(&shard->mutex);
}

void
shard_set_capacity(struct cache_shard *shard, uint64_t capacity, struct cache_block **removed)
{
    unsigned chances = MAX_CHANCES;

    *removed = NULL;
    mutex_lock(&shard->mutex);
    shard->capacity = capacity;
    while (shard_held(shard) > capacity)
        pass_hand(shard, queue_to_give(shard, CACHE_SINGLE, 0), &chances, removed);
    mutex_unlock(&shard->mutex);
}

void
shard_erase_file(struct cache_shard *shard, uint64_t file, struct cache_block **removed)
{
    *removed = NULL;
    mutex_lock(&shard->mutex);
    for (unsigned i = 0; i < SHARD_QUEUES; i++) {
        struct cache_block *block = shard->queues[i].oldest;

        while (block != NULL) {
            struct cache_block *next = block->queue_next;

            if (file == 0 || atomic_load_explicit(&block->file, memory_order_relaxed) == file)
                take_out(shard, block, removed);
            block = next;
        }
    }
    mutex_unlock(&shard->mutex);
}

void
shard_add_usage(struct cache_shard *shard, struct cache_usage *sum)
{
    mutex_lock(&shard->mutex);
    for (unsigned i = 0; i < PETAL_BLOCK_KINDS; i++) {
        sum->bytes[i] += shard->usage.bytes[i];
        sum->blocks[i] += shard->usage.blocks[i];
        sum->inserted[i] += shard->usage.inserted[i];
        sum->evicted[i] += shard->usage.evicted[i];
    }
    mutex_unlock(&shard->mutex);
}

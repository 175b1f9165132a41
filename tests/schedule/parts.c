/* parts.c -- scenarios of single parts of the library: epoch, line of writers, block cache,
 * memtable, pool of files. */
#include "tests/schedule/scenario.h"

#include "base/epoch.h"
#include "bloom/hash.h"
#include "cache/cache.h"
#include "engine/state/lead.h"
#include "engine/state/view.h"
#include "memtable/memtable.h"
#include "sstable/block/file_pool.h"
#include "tests/disk/vfs.h"

#include <stdio.h>
#include <string.h>

#define MOST_THREADS 6

static void
start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    schedule_check(pthread_create(thread, NULL, run, argument) == 0);
}

static void
join(pthread_t thread)
{
    schedule_check(pthread_join(thread, NULL) == 0);
}

static struct epoch *
new_epoch(void)
{
    struct epoch *epoch = mem_alloc_aligned(&schedule_allocator, CACHE_LINE_BYTES, sizeof *epoch);

    schedule_check(epoch != NULL && epoch_init(epoch) == PETAL_OK);
    return epoch;
}

static void
free_epoch(struct epoch *epoch)
{
    epoch_fini(epoch);
    mem_free(&schedule_allocator, epoch, sizeof *epoch);
}

/* ---- epoch: what a reader has found is not released before it leaves ---- */

#define EPOCH_READERS   3
#define EPOCH_REPLACERS 2
#define EPOCH_TURNS     4

struct thing {
    struct epoch_item item;
    uint64_t number, again; /* equal, until it is released */
};

static struct {
    struct epoch *epoch;
    _Atomic(struct thing *) current;
    _Atomic(uint64_t) numbers;
} things;

static void
release_thing(struct epoch_item *item)
{
    struct thing *thing = (struct thing *)(void *)item;

    schedule_check(thing->number == thing->again);
    mem_free(&schedule_allocator, thing, sizeof *thing);
}

static struct thing *
new_thing(void)
{
    struct thing *thing = mem_alloc(&schedule_allocator, sizeof *thing);

    thing->item.release = release_thing;
    thing->number = thing->again =
        atomic_fetch_add_explicit(&things.numbers, 1, memory_order_relaxed);
    return thing;
}

static void *
read_things(void *unused)
{
    for (unsigned i = 0; i < EPOCH_TURNS; i++) {
        struct epoch_stay stay = {.epoch = things.epoch, .slot = epoch_enter(things.epoch)};
        const struct thing *thing = atomic_load_explicit(&things.current, memory_order_acquire);
        uint64_t number = thing->number;

        if (schedule_random(4) == 0) {
            schedule_check(epoch_interrupt(&stay) == PETAL_OK);
            epoch_resume(&stay);
            thing = atomic_load_explicit(&things.current, memory_order_acquire);
            number = thing->number;
        }
        schedule_now();
        sched_yield();
        schedule_check(thing->number == number && thing->again == number && number < 1000);
        epoch_leave(things.epoch, stay.slot);
    }
    return unused;
}

static void *
replace_things(void *unused)
{
    for (unsigned i = 0; i < EPOCH_TURNS; i++) {
        struct thing *before =
            atomic_exchange_explicit(&things.current, new_thing(), memory_order_acq_rel);

        epoch_defer(things.epoch, &before->item);
        if (schedule_random(3) != 0)
            epoch_collect(things.epoch);
    }
    return unused;
}

static void
epoch_keeps_what_readers_see(void *unused)
{
    pthread_t threads[EPOCH_READERS + EPOCH_REPLACERS];

    (void)unused;
    things.epoch = new_epoch();
    atomic_init(&things.numbers, 1);
    atomic_init(&things.current, new_thing());
    for (unsigned i = 0; i < EPOCH_READERS + EPOCH_REPLACERS; i++)
        start(&threads[i], i < EPOCH_READERS ? read_things : replace_things, NULL);
    for (unsigned i = 0; i < EPOCH_READERS + EPOCH_REPLACERS; i++)
        join(threads[i]);
    free_epoch(things.epoch);
    release_thing(&atomic_load_explicit(&things.current, memory_order_relaxed)->item);
}

/* ---- line: one leads at a time, and all see what the one before did ---- */

#define LINE_WRITERS 4
#define LINE_TURNS   3

struct writer {
    struct write_place place; /* first member */
    unsigned served;
};

static struct {
    struct write_queue queue;
    _Atomic(unsigned) leaders;
    _Atomic(uint64_t) count; /* of places served; relaxed: the line is to order it */
} line;

static void
serve(const struct write_group *group)
{
    uint64_t count;

    schedule_check(atomic_fetch_add_explicit(&line.leaders, 1, memory_order_relaxed) == 0);
    count = atomic_load_explicit(&line.count, memory_order_relaxed);
    for (struct write_place *place = group->first;; place = place->next) {
        ((struct writer *)(void *)place)->served++;
        count++;
        if (place == group->last)
            break;
    }
    sched_yield();
    atomic_store_explicit(&line.count, count, memory_order_relaxed);
    schedule_check(atomic_fetch_sub_explicit(&line.leaders, 1, memory_order_relaxed) == 1);
}

static void *
write_in_line(void *unused)
{
    for (unsigned i = 0; i < LINE_TURNS; i++) {
        struct writer writer = {.place.alone = schedule_random(8) == 0,
                                .place.slow = schedule_random(4) == 0,
                                .place.bytes = 10};
        struct write_group group = {&writer.place, &writer.place, 0};

        if (write_queue_enter(&line.queue, &writer.place, 25, &group)) {
            do
                serve(&group);
            while (!write_queue_leave(&line.queue, &writer.place, &group));
        }
        schedule_check(writer.served == 1);
    }
    return unused;
}

static void
line_serves_everyone_once(void *unused)
{
    pthread_t threads[LINE_WRITERS];

    (void)unused;
    memset(&line, 0, sizeof line);
    schedule_check(write_queue_init(&line.queue));
    line.queue.one_processor = schedule_random(4) == 0;
    for (unsigned i = 0; i < LINE_WRITERS; i++)
        start(&threads[i], write_in_line, NULL);
    for (unsigned i = 0; i < LINE_WRITERS; i++)
        join(threads[i]);
    schedule_check(atomic_load(&line.count) == LINE_WRITERS * LINE_TURNS);
    schedule_check(atomic_load(&line.queue.newest) == NULL);
    write_queue_fini(&line.queue);
}

/* ---- cache: what is found has the bytes of its key, while inside or pinned ---- */

#define CACHE_THREADS 4
#define CACHE_TURNS   8
#define CACHE_KEYS    6
#define CACHE_BYTES   700

static struct {
    struct epoch *epoch;
    struct cache *cache;
    struct cache_hint hints[CACHE_KEYS / 2]; /* each for two keys */
} blocks;

static bool
is_block_of(const struct cache_block *block, uint64_t key)
{
    for (uint32_t i = 0; i < block->size; i += 97)
        if (block->data[i] != (uint8_t)(key * 16 + 1))
            return false;
    return block->size == CACHE_BYTES;
}

static struct cache_block *
find_block(uint64_t key)
{
    uint8_t *data;
    struct cache_block *block = cache_look(blocks.cache, &blocks.hints[key / 2], key + 1, key);

    if (block != NULL) {
        cache_touch(block);
        return block;
    }
    if (!cache_wants(blocks.cache, key + 1, key, CACHE_BYTES) && schedule_random(2) == 0)
        return NULL;
    block = cache_allocate(blocks.cache, CACHE_BYTES, 1, &data);
    memset(data, (int)(key * 16 + 1), CACHE_BYTES);
    return cache_insert(blocks.cache, block, key + 1, key, PETAL_BLOCK_DATA, CACHE_SINGLE,
                        schedule_random(8) != 0);
}

static void *
use_blocks(void *unused)
{
    struct cache_block *pinned = NULL;
    uint64_t pinned_key = 0;

    for (unsigned i = 0; i < CACHE_TURNS; i++) {
        uint64_t key = schedule_random(CACHE_KEYS);
        unsigned slot = epoch_enter(blocks.epoch);
        struct cache_block *block = find_block(key);

        if (block != NULL) {
            if (schedule_random(2) == 0)
                sched_yield();
            schedule_check(is_block_of(block, key));
        }
        if (pinned != NULL && schedule_random(2) == 0) {
            schedule_check(is_block_of(pinned, pinned_key));
            cache_unpin(blocks.cache, pinned);
            sched_yield();
            schedule_check(is_block_of(pinned, pinned_key)); /* until leaving */
            pinned = NULL;
        } else if (block != NULL && pinned == NULL && schedule_random(2) == 0) {
            pinned = block;
            pinned_key = key;
            cache_pin(pinned);
        }
        epoch_leave(blocks.epoch, slot);
        if (schedule_random(8) == 0)
            cache_erase_file(blocks.cache, 1 + schedule_random(CACHE_KEYS));
        if (schedule_random(4) == 0)
            epoch_collect(blocks.epoch);
    }
    if (pinned != NULL) {
        schedule_check(is_block_of(pinned, pinned_key));
        cache_unpin(blocks.cache, pinned);
    }
    return unused;
}

static void
cache_gives_the_block_asked_for(void *unused)
{
    pthread_t threads[CACHE_THREADS];

    (void)unused;
    blocks.epoch = new_epoch();
    for (unsigned i = 0; i < CACHE_KEYS / 2; i++)
        cache_hint_init(&blocks.hints[i]);
    schedule_check(cache_open(&blocks.cache, &schedule_allocator, blocks.epoch, 3000, 1) ==
                   PETAL_OK);
    for (unsigned i = 0; i < CACHE_THREADS; i++)
        start(&threads[i], use_blocks, NULL);
    for (unsigned i = 0; i < CACHE_THREADS; i++)
        join(threads[i]);
    epoch_collect(blocks.epoch);
    epoch_collect(blocks.epoch);
    cache_close(blocks.cache);
    free_epoch(blocks.epoch);
}

/* ---- memtable: what was published is seen ---- */

#define TREE_READERS 3
#define TREE_CELLS   40 /* some nodes of the tree full */

static struct {
    struct memtable *memtable;
    _Atomic(uint64_t) published;
    uint64_t order; /* odd: cells come in the order of their rows times it */
} tree;

static struct cell
cell_of(uint64_t sequence, char row[8])
{
    snprintf(row, 8, "r%02u", (unsigned)(sequence * tree.order % 64));
    return (struct cell){.row = {row, 3},
                         .qualifier = {"q", 1},
                         .value = {row, 3},
                         .timestamp = 1,
                         .sequence = sequence,
                         .type = PETAL_PUT};
}

static void *
add_cells(void *unused)
{
    for (uint64_t sequence = 1; sequence <= TREE_CELLS; sequence++) {
        char row[8];
        struct cell cell = cell_of(sequence, row);
        uint64_t hash = bloom_hash_row(7, cell.row.data, cell.row.size);

        schedule_check(memtable_reserve(tree.memtable, 1, 16, NULL) == PETAL_OK);
        if (schedule_random(2) == 0)
            memtable_prepare(tree.memtable, &cell, hash);
        schedule_check(memtable_add(tree.memtable, &cell, hash) == PETAL_OK);
        atomic_store_explicit(&tree.published, sequence, memory_order_release);
    }
    return unused;
}

static void *
look_for_cells(void *unused)
{
    struct memtable_iter iter;

    memtable_iter_init(&iter, tree.memtable);
    for (unsigned i = 0; i < 6; i++) {
        uint64_t published = atomic_load_explicit(&tree.published, memory_order_acquire), seen = 0;
        char before[3] = "";

        for (uint64_t sequence = 1; sequence <= published; sequence++) {
            char row[8];
            struct cell cell = cell_of(sequence, row);

            schedule_check(memtable_may_contain_row(
                tree.memtable, bloom_hash_row(7, cell.row.data, cell.row.size)));
        }
        schedule_check(iter.iter.ops->seek_first(&iter.iter, NULL) == PETAL_OK);
        while (iter.iter.valid) {
            char row[8];
            struct cell cell = cell_of(iter.iter.cell.sequence, row);

            schedule_check(iter.iter.cell.row.size == 3 &&
                           memcmp(iter.iter.cell.row.data, cell.row.data, 3) == 0 &&
                           memcmp(iter.iter.cell.value.data, row, 3) == 0);
            schedule_check(memcmp(before, row, 3) < 0);
            memcpy(before, row, 3);
            seen += iter.iter.cell.sequence <= published;
            schedule_check(iter.iter.ops->next(&iter.iter, NULL) == PETAL_OK);
        }
        schedule_check(seen == published);
    }
    iter.iter.ops->close(&iter.iter);
    return unused;
}

static void
memtable_shows_what_was_published(void *unused)
{
    pthread_t threads[TREE_READERS + 1];

    (void)unused;
    tree.order = schedule_random(32) * 2 + 1;
    atomic_init(&tree.published, 0);
    schedule_check(memtable_new(&tree.memtable, &schedule_allocator) == PETAL_OK);
    for (unsigned i = 0; i <= TREE_READERS; i++)
        start(&threads[i], i == 0 ? add_cells : look_for_cells, NULL);
    for (unsigned i = 0; i <= TREE_READERS; i++)
        join(threads[i]);
    memtable_free(tree.memtable);
}

/* ---- pool: an acquired file is open, and the right one ---- */

#define POOL_FILES   4
#define POOL_THREADS 3
#define POOL_TURNS   5

static struct {
    struct memory_vfs *vfs;
    struct env env;
    struct directory directory;
    struct file_pool pool;
    struct pooled_file files[POOL_FILES];
    char names[POOL_FILES][16];
} pool;

static void *
read_pool_files(void *unused)
{
    for (unsigned i = 0; i < POOL_TURNS; i++) {
        unsigned at = (unsigned)schedule_random(POOL_FILES);
        petal_file *file;
        char bytes[4];
        size_t got;

        schedule_check(pooled_file_acquire(&pool.files[at], &file, NULL) == PETAL_OK);
        schedule_check(memory_vfs_open_files(pool.vfs) <= 2);
        schedule_check(pool.env.vfs->read_at(pool.env.vfs->context, file, 0, bytes, 4, &got) == 0 &&
                       got == 4 && memcmp(bytes, pool.names[at], 4) == 0);
        pooled_file_release(&pool.files[at]);
    }
    return unused;
}

static void
pool_opens_no_more_than_its_limit(void *unused)
{
    pthread_t threads[POOL_THREADS];

    (void)unused;
    memset(&pool, 0, sizeof pool);
    pool.vfs = memory_vfs_new();
    env_init(&pool.env, &(petal_env){.size = sizeof(petal_env),
                                     .allocator = &schedule_allocator,
                                     .vfs = memory_vfs_table(pool.vfs)});
    schedule_check(file_pool_init(&pool.pool, &pool.env, 2));
    schedule_check(directory_open(&pool.directory, &pool.env, ".", false) == 0);
    for (unsigned i = 0; i < POOL_FILES; i++) {
        snprintf(pool.names[i], sizeof pool.names[i], "./%u", i);
        schedule_check(memory_vfs_write_file(pool.vfs, pool.names[i], pool.names[i], 4) == 0);
        pooled_file_init(&pool.files[i], &pool.pool, &pool.directory, pool.names[i]);
    }
    for (unsigned i = 0; i < POOL_THREADS; i++)
        start(&threads[i], read_pool_files, NULL);
    for (unsigned i = 0; i < POOL_THREADS; i++)
        join(threads[i]);
    for (unsigned i = 0; i < POOL_FILES; i++)
        pooled_file_fini(&pool.files[i]);
    schedule_check(memory_vfs_open_files(pool.vfs) == 0);
    file_pool_fini(&pool.pool);
    directory_close(&pool.directory);
    memory_vfs_free(pool.vfs);
}

/* ---- bin: views that are put in are released, each once, also beside who empties it ---- */

#define BIN_THREADS 3
#define BIN_TURNS   4

static struct view_bin bin;
static struct views views;

static void
nobody_needs_to_know(void *unused)
{
    (void)unused;
}

static void *
fill_bin(void *unused)
{
    for (unsigned i = 0; i < BIN_TURNS; i++) {
        struct view *view;

        schedule_check(view_new(&view, &schedule_allocator, &views, NULL, 1) == PETAL_OK);
        view_bin_put(&bin, view);
        if (schedule_random(2) == 0)
            view_bin_empty(&bin);
    }
    view_bin_empty(&bin);
    return unused;
}

static void
bin_releases_each_view_once(void *unused)
{
    pthread_t threads[BIN_THREADS];

    (void)unused;
    schedule_check(view_bin_init(&bin, nobody_needs_to_know, NULL));
    for (unsigned i = 0; i < BIN_THREADS; i++)
        start(&threads[i], fill_bin, NULL);
    for (unsigned i = 0; i < BIN_THREADS; i++)
        join(threads[i]);
    schedule_check(view_bin_is_empty(&bin));
    view_bin_fini(&bin);
}

const struct scenario part_scenarios[] = {
    {"epoch_keeps_what_readers_see", epoch_keeps_what_readers_see, 2},
    {"line_serves_everyone_once", line_serves_everyone_once, 2},
    {"cache_gives_the_block_asked_for", cache_gives_the_block_asked_for, 2},
    {"memtable_shows_what_was_published", memtable_shows_what_was_published, 2},
    {"pool_opens_no_more_than_its_limit", pool_opens_no_more_than_its_limit, 1},
    {"bin_releases_each_view_once", bin_releases_each_view_once, 1},
    {NULL, NULL, 0}};

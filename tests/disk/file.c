/* file.c -- see tests/disk/file.h. */
#include "tests/disk/file.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that several files may share, after copies of them; then nobody changes them. */
struct memory_buffer {
    _Atomic(size_t) references;
    size_t capacity;
    uint64_t hash; /* of the first `hashed` bytes, if that is not SIZE_MAX */
    size_t hashed;
    uint8_t bytes[];
};

/* What a write has stored, shared like these.  It is kept: later writes may have gone over the
 * live bytes. */
struct memory_write {
    _Atomic(size_t) references;
    size_t offset, size;
    bool mapped; /* stored through a mapping */
    uint8_t bytes[];
};

static size_t
first_sector(const struct memory_write *write)
{
    return write->offset / MEMORY_SECTOR_BYTES;
}

static size_t
last_sector(const struct memory_write *write)
{
    return (write->offset + write->size - 1) / MEMORY_SECTOR_BYTES;
}

/* ---- Bytes ---- */

void
memory_bytes_release(struct memory_bytes *bytes)
{
    if (bytes->buffer != NULL && atomic_fetch_sub(&bytes->buffer->references, 1) == 1)
        free(bytes->buffer);
    *bytes = (struct memory_bytes){NULL, NULL, 0};
}

void
memory_bytes_share(struct memory_bytes *to, const struct memory_bytes *from)
{
    struct memory_bytes shared = *from;

    if (shared.buffer != NULL)
        atomic_fetch_add(&shared.buffer->references, 1);
    memory_bytes_release(to);
    *to = shared;
}

/* Before bytes are changed: a buffer of our own, with room for `size`. */
static void
bytes_own(struct memory_bytes *bytes, size_t size)
{
    struct memory_buffer *buffer = bytes->buffer, *made;
    size_t capacity = buffer == NULL ? 0 : buffer->capacity;

    if (buffer != NULL && size <= capacity && atomic_load(&buffer->references) == 1) {
        buffer->hashed = SIZE_MAX;
        return;
    }
    if (size > capacity)
        capacity = size > 2 * capacity ? size : 2 * capacity;
    made = test_allocate(sizeof(*made) + capacity);
    atomic_init(&made->references, 1);
    made->capacity = capacity;
    made->hashed = SIZE_MAX;
    if (bytes->size > 0)
        memcpy(made->bytes, bytes->data, bytes->size);
    size = bytes->size;
    memory_bytes_release(bytes);
    *bytes = (struct memory_bytes){made, made->bytes, size};
}

/* Set the size; what is added becomes zero. */
static void
bytes_resize(struct memory_bytes *bytes, size_t size)
{
    if (size == bytes->size)
        return;
    bytes_own(bytes, size);
    if (size > bytes->size)
        memset(bytes->data + bytes->size, 0, size - bytes->size);
    bytes->size = size;
}

static void
bytes_assign(struct memory_bytes *to, const void *data, size_t size)
{
    bytes_resize(to, size);
    if (size == 0)
        return;
    bytes_own(to, size);
    memcpy(to->data, data, size);
}

/* Any good mixture: it is compared with hashes of this process only. */
static uint64_t
bytes_hash(const struct memory_bytes *bytes)
{
    struct memory_buffer *buffer = bytes->buffer;
    uint64_t hash = bytes->size, word;
    size_t at = 0;

    if (buffer == NULL || bytes->size == 0)
        return 0;
    if (buffer->hashed == bytes->size)
        return buffer->hash;
    for (; at < bytes->size; at += sizeof word) {
        size_t size = bytes->size - at < sizeof word ? bytes->size - at : sizeof word;

        word = 0;
        memcpy(&word, bytes->data + at, size);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    buffer->hash = hash;
    buffer->hashed = bytes->size;
    return hash;
}

/* ---- Life ---- */

static void
write_release(struct memory_write *write)
{
    if (atomic_fetch_sub(&write->references, 1) == 1)
        free(write);
}

static void
forget_writes(struct memory_file *file)
{
    for (size_t i = 0; i < file->write_count; i++)
        write_release(file->writes[i].write);
    file->write_count = 0;
}

static void
add_pending(struct memory_file *file, struct memory_pending pending)
{
    if (file->write_count == file->write_capacity) {
        file->write_capacity = file->write_capacity == 0 ? 8 : 2 * file->write_capacity;
        file->writes = test_reallocate(file->writes, file->write_capacity * sizeof(*file->writes));
    }
    file->writes[file->write_count++] = pending;
}

static void
add_write(struct memory_file *file, size_t offset, const void *bytes, size_t size, bool mapped)
{
    struct memory_write *write = test_allocate(sizeof(*write) + size);

    atomic_init(&write->references, 1);
    write->offset = offset;
    write->size = size;
    write->mapped = mapped;
    memcpy(write->bytes, bytes, size);
    add_pending(file, (struct memory_pending){write, false});
}

void
memory_file_fini(struct memory_file *file)
{
    forget_writes(file);
    free(file->writes);
    memory_bytes_release(&file->live);
    memory_bytes_release(&file->durable);
}

void
memory_file_copy(struct memory_file *to, const struct memory_file *from)
{
    memory_bytes_share(&to->live, &from->live);
    memory_bytes_share(&to->durable, &from->durable);
    for (size_t i = 0; i < from->write_count; i++) {
        atomic_fetch_add(&from->writes[i].write->references, 1);
        add_pending(to, from->writes[i]);
    }
}

uint64_t
memory_file_hash(const struct memory_file *file)
{
    return bytes_hash(&file->live);
}

/* ---- Writes and syncs ---- */

void
memory_file_write(struct memory_file *file, size_t offset, const void *bytes, size_t size)
{
    assert(offset <= MEMORY_FILE_MAX_BYTES && size <= MEMORY_FILE_MAX_BYTES - offset);
    if (size == 0)
        return;
    if (offset + size > file->live.size)
        bytes_resize(&file->live, offset + size);
    bytes_own(&file->live, file->live.size);
    memcpy(file->live.data + offset, bytes, size);
    add_write(file, offset, bytes, size, false);
}

void
memory_file_store(struct memory_file *file, size_t offset, const void *bytes, size_t size)
{
    assert(size <= file->live.size && offset <= file->live.size - size);
    if (size == 0)
        return;
    bytes_own(&file->live, file->live.size);
    memcpy(file->live.data + offset, bytes, size);
    add_write(file, offset, bytes, size, true);
}

/* Make durable what the writes that are not lost touched: whole sectors, as they are now. */
void
memory_file_sync(struct memory_file *file)
{
    size_t size = file->durable.size;

    if (file->write_count == 0)
        return;
    for (size_t i = 0; i < file->write_count; i++) {
        const struct memory_write *write = file->writes[i].write;

        if (!file->writes[i].lost && write->offset + write->size > size)
            size = write->offset + write->size;
    }
    bytes_resize(&file->durable, size);
    bytes_own(&file->durable, size);
    for (size_t i = 0; i < file->write_count; i++) {
        const struct memory_write *write = file->writes[i].write;
        size_t start = first_sector(write) * MEMORY_SECTOR_BYTES;
        size_t end = (last_sector(write) + 1) * MEMORY_SECTOR_BYTES;

        if (end > size)
            end = size;
        if (!file->writes[i].lost)
            memcpy(file->durable.data + start, file->live.data + start, end - start);
    }
    forget_writes(file);
}

/* From `at` on what another file had there, as far as it went. */
static void
fill_with_stale(struct memory_bytes *bytes, size_t at, const struct memory_bytes *stale)
{
    size_t end = stale->size < bytes->size ? stale->size : bytes->size;

    if (at < end)
        memcpy(bytes->data + at, stale->data + at, end - at);
}

/* Below the size of what is pending, also of what is lost, come zeros, or garbage. */
static void
grow_to_pending(struct memory_file *file, struct test_random *garbage)
{
    size_t old = file->durable.size;

    if (file->live.size <= old)
        return;
    bytes_resize(&file->durable, file->live.size);
    if (garbage != NULL)
        test_random_bytes(garbage, file->durable.data + old, file->durable.size - old);
}

void
memory_file_fail_sync(struct memory_file *file, enum memory_sync_failure failure)
{
    for (size_t i = 0; i < file->write_count; i++)
        file->writes[i].lost = true;
    if (failure == MEMORY_SYNC_KEEPS_SIZE)
        grow_to_pending(file, NULL);
    if (failure == MEMORY_SYNC_REVERTS) {
        memory_bytes_share(&file->live, &file->durable);
        forget_writes(file);
    }
}

void
memory_file_replace(struct memory_file *file, const void *bytes, size_t size)
{
    forget_writes(file);
    bytes_assign(&file->live, bytes, size);
    memory_bytes_share(&file->durable, &file->live);
}

/* ---- Power ---- */

/* One of the sizes that the file had since its last sync, or one inside a write that was growing
 * it. */
static size_t
random_size(const struct memory_file *file, struct test_random *random)
{
    size_t size = file->durable.size, chosen;
    const struct memory_write *last;

    if (file->write_count == 0 || test_random_chance(random, 20))
        return size;
    if (test_random_chance(random, 50))
        return file->live.size;
    chosen = (size_t)test_random_below(random, file->write_count);
    last = file->writes[chosen].write;
    for (size_t i = 0; i <= chosen; i++) {
        const struct memory_write *write = file->writes[i].write;

        if (write->offset + write->size > size)
            size = write->offset + write->size;
    }
    if (last->offset + last->size == size && test_random_chance(random, 50)) {
        size_t sectors = test_random_below(random, last->size / MEMORY_SECTOR_BYTES + 1);
        size_t inside = (last->offset / MEMORY_SECTOR_BYTES + sectors) * MEMORY_SECTOR_BYTES;

        if (inside < size && inside > file->durable.size)
            size = inside;
    }
    return size;
}

/* For each sector of the live file how many writes touched it. */
static uint32_t *
count_arrivals(const struct memory_file *file, size_t sectors)
{
    uint32_t *arrived = test_allocate(sectors * sizeof(*arrived));

    memset(arrived, 0, sectors * sizeof(*arrived));
    for (size_t i = 0; i < file->write_count; i++) {
        const struct memory_write *write = file->writes[i].write;

        for (size_t s = first_sector(write); s <= last_sector(write); s++)
            arrived[s]++;
    }
    return arrived;
}

/* For each sector of the live file: how many of the writes that touched it, from the first on, have
 * arrived.  Sectors of a group of `together` come alike. */
static uint32_t *
random_arrivals(const struct memory_file *file, size_t sectors, size_t together,
                struct test_random *random)
{
    uint32_t *arrived = count_arrivals(file, sectors);
    unsigned percent = (unsigned)test_random_below(random, 101);

    for (size_t group = 0; group < sectors; group += together) {
        size_t end = group + together < sectors ? group + together : sectors;
        uint32_t most = 0;

        for (size_t s = group; s < end; s++)
            most = arrived[s] > most ? arrived[s] : most;
        if (most == 0 || test_random_chance(random, percent))
            continue;
        most = (uint32_t)test_random_below(random, most);
        for (size_t s = group; s < end; s++)
            arrived[s] = arrived[s] < most ? arrived[s] : most;
    }
    return arrived;
}

/* The part of `write` that lies in sector `s`, into `result`. */
static void
store_sector(struct memory_bytes *result, const struct memory_write *write, size_t s)
{
    size_t start = s * MEMORY_SECTOR_BYTES, end = start + MEMORY_SECTOR_BYTES;

    if (start < write->offset)
        start = write->offset;
    if (end > write->offset + write->size)
        end = write->offset + write->size;
    if (end > result->size)
        end = result->size;
    if (start < end)
        memcpy(result->data + start, write->bytes + (start - write->offset), end - start);
}

/* Some words of that part. */
static void
store_some_words(struct memory_bytes *result, const struct memory_write *write, size_t s,
                 struct test_random *random)
{
    uint64_t words = test_random_next(random); /* a sector has 64 of them */

    for (size_t i = 0; i < MEMORY_SECTOR_BYTES; i++) {
        size_t at = s * MEMORY_SECTOR_BYTES + i;

        if ((words >> i / 8 & 1) != 0 && at < result->size && at >= write->offset &&
            at < write->offset + write->size)
            result->data[at] = write->bytes[at - write->offset];
    }
}

/* Bytes after the durable ones whose sector never reached the disk: what was there before. */
static void
fill_with_garbage(struct memory_bytes *result, size_t start, const uint32_t *arrived,
                  size_t sectors, struct test_random *random)
{
    for (size_t i = start; i < result->size; i++) {
        size_t s = i / MEMORY_SECTOR_BYTES;

        if (s >= sectors || arrived[s] == 0)
            result->data[i] = (uint8_t)test_random_next(random);
    }
}

static void
cut_randomly(struct memory_file *file, size_t together, const struct memory_bytes *stale,
             struct test_random *random)
{
    size_t sectors = (file->live.size + MEMORY_SECTOR_BYTES - 1) / MEMORY_SECTOR_BYTES;
    size_t durable_size = file->durable.size;
    size_t size = random_size(file, random);
    uint32_t *arrived = random_arrivals(file, sectors, together, random);
    struct memory_bytes *result = &file->durable;

    bytes_resize(result, size > durable_size ? size : durable_size);
    bytes_own(result, result->size);
    if (stale != NULL && test_random_chance(random, 30))
        fill_with_stale(result, durable_size, stale);
    else if (test_random_chance(random, 30))
        fill_with_garbage(result, durable_size, arrived, sectors, random);
    for (size_t i = 0; i < file->write_count; i++) {
        const struct memory_write *write = file->writes[i].write;

        for (size_t s = first_sector(write); s <= last_sector(write); s++) {
            if (arrived[s] > 0) {
                store_sector(result, write, s);
                arrived[s]--;
            } else if (write->mapped && test_random_chance(random, 15)) {
                store_some_words(result, write, s, random);
            }
        }
    }
    free(arrived);
}

/* Of each write every other page arrives, the first one if `first`. */
static void
tear_writes(struct memory_file *file, bool first)
{
    size_t page_sectors = MEMORY_PAGE_BYTES / MEMORY_SECTOR_BYTES;

    grow_to_pending(file, NULL);
    bytes_own(&file->durable, file->durable.size);
    for (size_t i = 0; i < file->write_count; i++) {
        const struct memory_write *write = file->writes[i].write;

        for (size_t s = first_sector(write); s <= last_sector(write); s++) {
            bool odd = (s / page_sectors - first_sector(write) / page_sectors) % 2 == 1;

            if (odd != first)
                store_sector(&file->durable, write, s);
        }
    }
}

void
memory_file_power_cut(struct memory_file *file, enum memory_cut cut,
                      const struct memory_bytes *stale, struct test_random *random)
{
    size_t durable_size = file->durable.size;

    if (file->write_count > 0) {
        switch (cut) {
        case MEMORY_CUT_LOSE_ALL:
        case MEMORY_CUT_LOSE_BYTES:
            break;
        case MEMORY_CUT_KEEP_ALL:
        case MEMORY_CUT_LOSE_NAMES:
            memory_file_sync(file);
            break;
        case MEMORY_CUT_RANDOM:
            cut_randomly(file, 1, stale, random);
            break;
        case MEMORY_CUT_RANDOM_PAGES:
            cut_randomly(file, MEMORY_PAGE_BYTES / MEMORY_SECTOR_BYTES, stale, random);
            break;
        case MEMORY_CUT_TEAR:
        case MEMORY_CUT_TEAR_FIRST:
            tear_writes(file, cut == MEMORY_CUT_TEAR);
            break;
        case MEMORY_CUT_ZEROS:
            grow_to_pending(file, NULL);
            break;
        case MEMORY_CUT_GARBAGE:
            grow_to_pending(file, random);
            break;
        case MEMORY_CUT_STALE:
            grow_to_pending(file, NULL);
            if (stale != NULL && file->durable.size > durable_size)
                fill_with_stale(&file->durable, durable_size, stale);
            break;
        }
    }
    forget_writes(file);
    memory_bytes_share(&file->live, &file->durable);
}

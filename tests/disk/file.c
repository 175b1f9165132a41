/* file.c -- see tests/disk/file.h. */
#include "tests/disk/file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A write since the last sync.  Its bytes are kept: later writes may have gone over the live
 * ones. */
struct memory_write {
    size_t offset, size;
    uint8_t *bytes;
    bool lost;   /* a sync that should have made it durable has failed */
    bool mapped; /* stored through a mapping */
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

/* Set the size; what is added becomes zero. */
static void
bytes_resize(struct memory_bytes *bytes, size_t size)
{
    if (size > bytes->capacity) {
        bytes->capacity = size > 2 * bytes->capacity ? size : 2 * bytes->capacity;
        bytes->data = test_reallocate(bytes->data, bytes->capacity);
    }
    if (size > bytes->size)
        memset(bytes->data + bytes->size, 0, size - bytes->size);
    bytes->size = size;
}

static void
bytes_assign(struct memory_bytes *to, const void *data, size_t size)
{
    bytes_resize(to, size);
    if (size > 0)
        memcpy(to->data, data, size);
}

/* ---- Life ---- */

static void
forget_writes(struct memory_file *file)
{
    for (size_t i = 0; i < file->write_count; i++)
        free(file->writes[i].bytes);
    file->write_count = 0;
}

static struct memory_write *
add_write(struct memory_file *file, size_t offset, const void *bytes, size_t size)
{
    struct memory_write write = {.offset = offset, .size = size};

    if (file->write_count == file->write_capacity) {
        file->write_capacity = file->write_capacity == 0 ? 8 : 2 * file->write_capacity;
        file->writes = test_reallocate(file->writes, file->write_capacity * sizeof(*file->writes));
    }
    write.bytes = memcpy(test_allocate(size), bytes, size);
    file->writes[file->write_count] = write;
    return &file->writes[file->write_count++];
}

void
memory_file_fini(struct memory_file *file)
{
    forget_writes(file);
    free(file->writes);
    free(file->live.data);
    free(file->durable.data);
}

void
memory_file_copy(struct memory_file *to, const struct memory_file *from)
{
    bytes_assign(&to->live, from->live.data, from->live.size);
    bytes_assign(&to->durable, from->durable.data, from->durable.size);
    for (size_t i = 0; i < from->write_count; i++) {
        const struct memory_write *write = &from->writes[i];
        struct memory_write *copy = add_write(to, write->offset, write->bytes, write->size);

        copy->lost = write->lost;
        copy->mapped = write->mapped;
    }
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
    memcpy(file->live.data + offset, bytes, size);
    add_write(file, offset, bytes, size);
}

void
memory_file_store(struct memory_file *file, size_t offset, const void *bytes, size_t size)
{
    assert(size <= file->live.size && offset <= file->live.size - size);
    if (size == 0)
        return;
    memcpy(file->live.data + offset, bytes, size);
    add_write(file, offset, bytes, size)->mapped = true;
}

/* Make durable what the writes that are not lost touched: whole sectors, as they are now. */
void
memory_file_sync(struct memory_file *file)
{
    size_t size = file->durable.size;

    for (size_t i = 0; i < file->write_count; i++) {
        const struct memory_write *write = &file->writes[i];

        if (!write->lost && write->offset + write->size > size)
            size = write->offset + write->size;
    }
    bytes_resize(&file->durable, size);
    for (size_t i = 0; i < file->write_count; i++) {
        const struct memory_write *write = &file->writes[i];
        size_t start = first_sector(write) * MEMORY_SECTOR_BYTES;
        size_t end = (last_sector(write) + 1) * MEMORY_SECTOR_BYTES;

        if (end > size)
            end = size;
        if (!write->lost)
            memcpy(file->durable.data + start, file->live.data + start, end - start);
    }
    forget_writes(file);
}

void
memory_file_fail_sync(struct memory_file *file, bool revert)
{
    for (size_t i = 0; i < file->write_count; i++)
        file->writes[i].lost = true;
    if (revert) {
        bytes_assign(&file->live, file->durable.data, file->durable.size);
        forget_writes(file);
    }
}

void
memory_file_replace(struct memory_file *file, const void *bytes, size_t size)
{
    forget_writes(file);
    bytes_assign(&file->live, bytes, size);
    bytes_assign(&file->durable, bytes, size);
}

/* ---- Power ---- */

/* One of the sizes that the file had since its last sync, or one inside a write that was growing
 * it. */
static size_t
random_size(const struct memory_file *file, struct test_random *random)
{
    size_t size = file->durable.size;
    const struct memory_write *last;

    if (file->write_count == 0 || test_random_chance(random, 20))
        return size;
    if (test_random_chance(random, 50))
        return file->live.size;
    last = &file->writes[test_random_below(random, file->write_count)];
    for (const struct memory_write *write = file->writes; write <= last; write++) {
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

/* For each sector of the live file: how many of the writes that touched it, from the first on, have
 * arrived. */
static uint32_t *
random_arrivals(const struct memory_file *file, size_t sectors, struct test_random *random)
{
    uint32_t *arrived = test_allocate(sectors * sizeof(*arrived));
    unsigned percent = (unsigned)test_random_below(random, 101);

    memset(arrived, 0, sectors * sizeof(*arrived));
    for (size_t i = 0; i < file->write_count; i++) {
        const struct memory_write *write = &file->writes[i];

        for (size_t s = first_sector(write); s <= last_sector(write); s++)
            arrived[s]++;
    }
    for (size_t s = 0; s < sectors; s++) {
        if (arrived[s] > 0 && !test_random_chance(random, percent))
            arrived[s] = (uint32_t)test_random_below(random, arrived[s]);
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

/* Bytes behind the durable ones whose sector never reached the disk: what was there before. */
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
cut_randomly(struct memory_file *file, struct test_random *random)
{
    size_t sectors = (file->live.size + MEMORY_SECTOR_BYTES - 1) / MEMORY_SECTOR_BYTES;
    size_t durable_size = file->durable.size;
    size_t size = random_size(file, random);
    uint32_t *arrived = random_arrivals(file, sectors, random);
    struct memory_bytes *result = &file->durable;

    bytes_resize(result, size > durable_size ? size : durable_size);
    if (test_random_chance(random, 30))
        fill_with_garbage(result, durable_size, arrived, sectors, random);
    for (size_t i = 0; i < file->write_count; i++) {
        const struct memory_write *write = &file->writes[i];

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

void
memory_file_power_cut(struct memory_file *file, enum memory_cut cut, struct test_random *random)
{
    if (file->write_count > 0 && cut == MEMORY_CUT_RANDOM)
        cut_randomly(file, random);
    else if (cut == MEMORY_CUT_KEEP_ALL)
        memory_file_sync(file);
    forget_writes(file);
    bytes_assign(&file->live, file->durable.data, file->durable.size);
}

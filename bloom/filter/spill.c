/* spill.c -- see spill.h. */
#include "bloom/filter/spill.h"

#include "base/mem.h"
#include "bloom/file/set_file.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define SLICE_SHIFT (64 - SPILL_SLICE_BITS)
#define BELOW_BYTES ((SPILL_SLICES + 1) * sizeof(uint32_t))
#define TOTAL_BYTES (SPILL_SLICES * sizeof(uint64_t))
#define MOST_TRIES  16

/* ---- the file ---- */

enum petal_status
spill_begin(struct spill *spill, const struct env *env, const char *path, petal_error *error)
{
    int failed;

    *spill = (struct spill){.env = env};
    failed = env->vfs->open_directory(env->vfs->context, path, false, &spill->directory);
    if (failed == 0)
        return PETAL_OK;
    spill->directory = NULL;
    if (failed == ENOTDIR)
        return error_file(error, PETAL_NOT_FOUND, path, "%s is not a directory", path);
    return set_file_directory_failed(error, path, path, failed);
}

/* It was there for a moment only; if it cannot be removed, maybe it can later. */
static void
remove_name(struct spill *spill)
{
    const petal_vfs *vfs = spill->env->vfs;

    if (spill->is_named && vfs->remove(vfs->context, spill->directory, spill->name) == 0)
        spill->is_named = false;
}

void
spill_end(struct spill *spill)
{
    const petal_allocator *allocator;

    if (spill->directory == NULL)
        return;
    allocator = spill->env->allocator;
    if (spill->file != NULL) {
        remove_name(spill);
        (void)spill->env->vfs->close(spill->env->vfs->context, spill->file);
    }
    spill->env->vfs->close_directory(spill->env->vfs->context, spill->directory);
    mem_free(allocator, spill->runs, spill->run_capacity * sizeof *spill->runs);
    mem_free(allocator, spill->below, BELOW_BYTES);
    mem_free(allocator, spill->totals, TOTAL_BYTES);
    *spill = (struct spill){0};
}

static enum petal_status
create_file(struct spill *spill, petal_error *error)
{
    const petal_vfs *vfs = spill->env->vfs;
    int failed = EEXIST;

    for (int try = 0; try < MOST_TRIES && failed == EEXIST; try++) {
        snprintf(spill->name, sizeof spill->name, "petal-filter-%016" PRIx64 ".tmp",
                 env_random(spill->env));
        failed =
            vfs->open(vfs->context, spill->directory, spill->name,
                      PETAL_FILE_READ | PETAL_FILE_WRITE | PETAL_FILE_CREATE | PETAL_FILE_EXCLUSIVE,
                      &spill->file);
    }
    if (failed != 0) {
        spill->file = NULL;
        return error_io(error, spill->name, failed, "create");
    }
    spill->is_named = true;
    remove_name(spill);
    return PETAL_OK;
}

/* ---- writing ---- */

static bool
make_tables(struct spill *spill)
{
    const petal_allocator *allocator = spill->env->allocator;

    if (spill->below == NULL)
        spill->below = mem_alloc(allocator, BELOW_BYTES);
    if (spill->totals == NULL)
        spill->totals = mem_zalloc(allocator, TOTAL_BYTES);
    return spill->below != NULL && spill->totals != NULL;
}

static void
count_slices(struct spill *spill, const uint64_t *hashes, uint32_t count)
{
    uint32_t slice = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t of_hash = (uint32_t)(hashes[i] >> SLICE_SHIFT);

        assert(slice <= of_hash + 1); /* they are ascending */
        while (slice <= of_hash)
            spill->below[slice++] = i;
        spill->totals[of_hash]++;
    }
    while (slice <= SPILL_SLICES)
        spill->below[slice++] = count;
}

static enum petal_status
write_end(struct spill *spill, const void *bytes, size_t size, petal_error *error)
{
    const petal_vfs *vfs = spill->env->vfs;
    int failed = vfs->write_at(vfs->context, spill->file, spill->end, bytes, size);

    if (failed != 0)
        return error_io(error, spill->name, failed, "write");
    spill->end += size;
    return PETAL_OK;
}

enum petal_status
spill_add(struct spill *spill, const uint64_t *hashes, size_t count, petal_error *error)
{
    struct spill_run run = {.offset = spill->end, .count = (uint32_t)count};
    enum petal_status status = PETAL_OK;

    assert(count <= UINT32_MAX);
    if (!make_tables(spill) ||
        !mem_grow_array(spill->env->allocator, &spill->runs, &spill->run_capacity, spill->run_count,
                        spill->run_count + 1, sizeof *spill->runs))
        return error_no_memory(error);
    if (spill->file == NULL)
        status = create_file(spill, error);
    if (status != PETAL_OK)
        return status;
    count_slices(spill, hashes, run.count);
    status = write_end(spill, spill->below, BELOW_BYTES, error);
    if (status == PETAL_OK)
        status = write_end(spill, hashes, count * sizeof *hashes, error);
    if (status != PETAL_OK)
        return status;
    spill->runs[spill->run_count++] = run;
    spill->count += count;
    return PETAL_OK;
}

/* ---- reading ---- */

uint64_t
spill_range_count(const struct spill *spill, unsigned bits, unsigned range)
{
    unsigned slices = SPILL_SLICES >> bits;
    uint64_t count = 0;

    assert(bits <= SPILL_SLICE_BITS && range >> bits == 0);
    for (unsigned i = 0; spill->totals != NULL && i < slices; i++)
        count += spill->totals[range * slices + i];
    return count;
}

unsigned
spill_range_bits(const struct spill *spill, uint64_t most)
{
    for (unsigned bits = 0; bits < SPILL_SLICE_BITS; bits++) {
        bool fits = true;

        for (unsigned range = 0; fits && range >> bits == 0; range++)
            fits = spill_range_count(spill, bits, range) <= most;
        if (fits)
            return bits;
    }
    return SPILL_SLICE_BITS;
}

static enum petal_status
read_at(const struct spill *spill, uint64_t offset, void *to, size_t size, petal_error *error)
{
    const petal_vfs *vfs = spill->env->vfs;
    size_t got;
    int failed = vfs->read_at(vfs->context, spill->file, offset, to, size, &got);

    if (failed != 0)
        return error_io(error, spill->name, failed, "read");
    if (got != size)
        return error_corrupt(error, spill->name, offset,
                             "%zu bytes were read of %zu that were written", got, size);
    return PETAL_OK;
}

enum petal_status
spill_read_range(const struct spill *spill, unsigned bits, unsigned range, uint64_t *hashes,
                 petal_error *error)
{
    uint64_t left = spill_range_count(spill, bits, range);
    unsigned slices = SPILL_SLICES >> bits;

    for (size_t i = 0; i < spill->run_count; i++) {
        const struct spill_run *run = &spill->runs[i];
        uint64_t table = run->offset + (uint64_t)range * slices * sizeof(uint32_t);
        uint32_t from, to;
        enum petal_status status = read_at(spill, table, &from, sizeof from, error);

        if (status == PETAL_OK)
            status = read_at(spill, table + slices * sizeof to, &to, sizeof to, error);
        if (status != PETAL_OK)
            return status;
        /* Another process may have written there. */
        if (from > to || to > run->count || to - from > left)
            return error_corrupt(error, spill->name, table, "it is not what was written");
        status = read_at(spill, run->offset + BELOW_BYTES + (uint64_t)from * sizeof *hashes, hashes,
                         (to - from) * sizeof *hashes, error);
        if (status != PETAL_OK)
            return status;
        hashes += to - from;
        left -= to - from;
    }
    if (left > 0)
        return error_corrupt(error, spill->name, 0, "it is not what was written");
    return PETAL_OK;
}

/* fuse_parts.c -- filters of kind FUSE: parts of about a million keys (bloom/fuse.h). */
#include "base/mem.h"
#include "bloom/filter/parts.h"

#include <string.h>

/* With fewer keys a part takes more bits a key, with more its three looks miss more of a
 * processor's caches and nothing is gained. */
#define MOST_PART_KEYS (UINT64_C(1) << 21)

/* Of work and of the part itself, 2 bytes wide, for each of its keys. */
#define BUILD_BYTES_PER_KEY 27

/* ---- parts ---- */

static uint64_t
keys_in(size_t memory_bytes)
{
    uint64_t keys = memory_bytes / 2 / BUILD_BYTES_PER_KEY;

    return keys < MOST_PART_KEYS ? keys : MOST_PART_KEYS;
}

static union filter_part_shape
shape_for(uint64_t keys, double rate, unsigned size)
{
    (void)size;
    return (union filter_part_shape){.fuse = bloom_fuse_shape(keys, rate >= 1.0 / 256 ? 1 : 2)};
}

static size_t
bytes_of(const union filter_part_shape *shape)
{
    return bloom_fuse_bytes(&shape->fuse);
}

static size_t
work_bytes_of(const union filter_part_shape *shape)
{
    return bloom_fuse_work_bytes(&shape->fuse);
}

static double
rate_of(const union filter_part_shape *shape)
{
    return bloom_fuse_expected_rate(&shape->fuse);
}

static bool
build(union filter_part_shape *shape, const uint64_t *hashes, size_t count, void *work,
      uint8_t *bytes)
{
    (void)count;
    return bloom_fuse_build(&shape->fuse, hashes, work, bytes);
}

static bool
read_footer(union filter_part_shape *shape, const uint8_t *footer)
{
    return bloom_fuse_read_footer(&shape->fuse, footer);
}

const struct filter_part_kind filter_part_fuse = {
    .kind = PETAL_BLOOM_KIND_FUSE,
    .keys_in = keys_in,
    .least_rate = 1.0 / 65536,
    .sizes = 1,
    .shape = shape_for,
    .bytes = bytes_of,
    .work_bytes = work_bytes_of,
    .rate = rate_of,
    .build = build,
    .read_footer = read_footer,
};

/* ---- questions ---- */

/* So many are under way at a time, three cache lines each. */
#define AHEAD 16

/* Where the answer to a question lies. */
struct looked_for {
    const struct filter_part *part;
    struct bloom_fuse_places places;
};

static inline struct looked_for
look_for(const struct filter_parts *parts, uint64_t hash)
{
    const struct filter_part *part = &parts->parts[filter_part_of(hash, parts->count)];
    const struct bloom_fuse *fuse = &part->shape.fuse;

    return (struct looked_for){part, bloom_fuse_places(fuse, bloom_fuse_mix(hash, fuse->seed))};
}

static inline bool
is_there(const struct looked_for *looked_for)
{
    return bloom_fuse_difference(&looked_for->part->shape.fuse, looked_for->part->bytes,
                                 &looked_for->places) == 0;
}

static bool
fuse_may_contain_hash(const petal_bloom *bloom, uint64_t hash)
{
    const struct filter_parts *parts = filter_parts_of(bloom);
    struct looked_for looked_for;

    if (parts->count == 0)
        return false;
    looked_for = look_for(parts, hash);
    return is_there(&looked_for);
}

static inline void
prefetch(const struct looked_for *looked_for)
{
    size_t width = looked_for->part->shape.fuse.width;

    for (unsigned i = 0; i < 3; i++)
        mem_prefetch(looked_for->part->bytes + width * looked_for->places.at[i], 1);
}

static size_t
fuse_may_contain_hashes(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                        bool *answers)
{
    const struct filter_parts *parts = filter_parts_of(bloom);
    struct looked_for ring[AHEAD];
    size_t passed = 0;

    if (parts->count == 0) {
        memset(answers, 0, count * sizeof *answers);
        return 0;
    }
    for (size_t i = 0; i < count && i < AHEAD; i++) {
        ring[i] = look_for(parts, hashes[i]);
        prefetch(&ring[i]);
    }
    for (size_t i = 0; i < count; i++) {
        struct looked_for *place = &ring[i % AHEAD];

        answers[i] = is_there(place);
        passed += answers[i];
        if (count - i > AHEAD) {
            *place = look_for(parts, hashes[i + AHEAD]);
            prefetch(place);
        }
    }
    return passed;
}

/* ---- plans and files ---- */

static enum petal_status
fuse_plan(const petal_bloom_options *options, petal_bloom_plan *plan, petal_error *error)
{
    return filter_parts_plan(&filter_part_fuse, options, plan, error);
}

static enum petal_status
fuse_open(const char *path, const petal_bloom *like, struct set_file *file, petal_bloom **bloom,
          petal_error *error)
{
    return filter_parts_open(&filter_part_fuse, path, like, file, bloom, error);
}

const struct filter_kind filter_fuse = {
    .plan = fuse_plan,
    .free = filter_parts_free,
    .may_contain_hash = fuse_may_contain_hash,
    .may_contain_hashes = fuse_may_contain_hashes,
    .extent = filter_parts_extent,
    .expected_rate = filter_parts_expected_rate,
    .present_rate = filter_parts_present_rate,
    .count = filter_parts_count,
    .save = filter_parts_save,
    .open = fuse_open,
};

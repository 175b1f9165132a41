/* ribbon_parts.c -- filters of kind RIBBON: parts of some ten thousand keys (bloom/ribbon.h). */
#include "bloom/filter/parts.h"

#include <string.h>

/* From half as many keys on a part takes about the fewest bits a key: with fewer the ends count,
 * with more the slots that no key needs. */
#define PART_KEYS (UINT64_C(1) << 15)

/* ---- parts ---- */

static uint64_t
keys_in(size_t memory_bytes)
{
    (void)memory_bytes; /* a part takes less than a megabyte */
    return PART_KEYS;
}

static union filter_part_shape
shape_for(uint64_t keys, double rate, unsigned size)
{
    return (union filter_part_shape){.ribbon = bloom_ribbon_shape(keys, rate, size)};
}

static size_t
bytes_of(const union filter_part_shape *shape)
{
    return bloom_ribbon_bytes(&shape->ribbon);
}

static size_t
work_bytes_of(const union filter_part_shape *shape)
{
    return bloom_ribbon_work_bytes(&shape->ribbon);
}

static double
rate_of(const union filter_part_shape *shape)
{
    return bloom_ribbon_expected_rate(&shape->ribbon);
}

static bool
build(union filter_part_shape *shape, const uint64_t *hashes, size_t count, void *work,
      uint8_t *bytes)
{
    return bloom_ribbon_build(&shape->ribbon, hashes, count, work, bytes);
}

static bool
read_footer(union filter_part_shape *shape, const uint8_t *footer)
{
    return bloom_ribbon_read_footer(&shape->ribbon, footer);
}

const struct filter_part_kind filter_part_ribbon = {
    .kind = PETAL_BLOOM_KIND_RIBBON,
    .keys_in = keys_in,
    .least_rate = BLOOM_RIBBON_MIN_RATE,
    .sizes = BLOOM_RIBBON_SIZES,
    .shape = shape_for,
    .bytes = bytes_of,
    .work_bytes = work_bytes_of,
    .rate = rate_of,
    .build = build,
    .read_footer = read_footer,
};

/* ---- questions ---- */

/* So many questions are under way at a time, of two or three cache lines each. */
#define AHEAD 16

static inline const struct filter_part *
part_of(const struct filter_parts *parts, uint64_t hash)
{
    return &parts->parts[filter_part_of(hash, parts->count)];
}

static bool
ribbon_may_contain_hash(const petal_bloom *bloom, uint64_t hash)
{
    const struct filter_parts *parts = filter_parts_of(bloom);
    const struct filter_part *part;

    if (parts->count == 0)
        return false;
    part = part_of(parts, hash);
    return bloom_ribbon_may_contain(&part->shape.ribbon, part->bytes, hash);
}

static void
begin(struct bloom_ribbon_question *question, const struct filter_parts *parts, uint64_t hash)
{
    const struct filter_part *part = part_of(parts, hash);

    bloom_ribbon_begin(question, &part->shape.ribbon, part->bytes, hash);
}

static size_t
ribbon_may_contain_hashes(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                          bool *answers)
{
    const struct filter_parts *parts = filter_parts_of(bloom);
    struct bloom_ribbon_question ring[AHEAD];
    size_t passed = 0;

    if (parts->count == 0) {
        memset(answers, 0, count * sizeof *answers);
        return 0;
    }
    for (size_t i = 0; i < count && i < AHEAD; i++)
        begin(&ring[i], parts, hashes[i]);
    for (size_t i = 0; i < count; i++) {
        answers[i] = bloom_ribbon_answer(&ring[i % AHEAD]);
        passed += answers[i];
        if (count - i > AHEAD)
            begin(&ring[i % AHEAD], parts, hashes[i + AHEAD]);
    }
    return passed;
}

/* ---- plans and files ---- */

static enum petal_status
ribbon_plan(const petal_bloom_options *options, petal_bloom_plan *plan, petal_error *error)
{
    return filter_parts_plan(&filter_part_ribbon, options, plan, error);
}

static enum petal_status
ribbon_open(const char *path, const petal_bloom *like, struct set_file *file, petal_bloom **bloom,
            petal_error *error)
{
    return filter_parts_open(&filter_part_ribbon, path, like, file, bloom, error);
}

const struct filter_kind filter_ribbon = {
    .plan = ribbon_plan,
    .free = filter_parts_free,
    .may_contain_hash = ribbon_may_contain_hash,
    .may_contain_hashes = ribbon_may_contain_hashes,
    .extent = filter_parts_extent,
    .expected_rate = filter_parts_expected_rate,
    .present_rate = filter_parts_present_rate,
    .count = filter_parts_count,
    .save = filter_parts_save,
    .open = ribbon_open,
};

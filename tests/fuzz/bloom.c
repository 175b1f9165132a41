/*
 * bloom.c -- any bytes as a filter: not taken for one, or asked within bounds; and a filter of that
 * shape, built anew, lets all of its keys pass.
 */
#include "bloom/bloom.h"
#include "base/coding.h"
#include "sstable/file/bloom_chunk.h"
#include "tests/fuzz/target.h"

#define KEYS 16

/* As the chunk of a store file is asked in the cache. */
static bool
asked_as_chunk(const struct bloom_filter *filter, size_t size, uint64_t hash)
{
    struct cache_block block = {.data = filter->bits,
                                .size = (uint32_t)size,
                                .note = bloom_chunk_shape(filter->bits, size)};
    struct bloom_first_bits first;

    fuzz_must(block.note != 0);
    bloom_first_bits(hash, &first);
    return bloom_chunk_may_contain(&block, hash, &first);
}

static void
ask(const struct bloom_filter *filter, size_t size, uint64_t hash, bool is_in)
{
    bool may = bloom_may_contain(filter, hash);

    fuzz_must(may || !is_in);
    fuzz_must(asked_as_chunk(filter, size, hash) == may);
    if (filter->shape.layout == BLOOM_STANDARD)
        fuzz_must(bloom_standard_may_contain(filter->bits, filter->shape.bits, filter->shape.probes,
                                             hash) == may);
}

static void
build_ribbon(struct bloom_ribbon ribbon, const uint64_t *hashes, size_t count)
{
    size_t size = bloom_ribbon_bytes(&ribbon), work_bytes = bloom_ribbon_work_bytes(&ribbon);
    uint8_t *bytes = mem_alloc(&mem_default_allocator, size);
    void *work = mem_alloc(&mem_default_allocator, work_bytes);
    struct bloom_filter filter;

    fuzz_must(bytes != NULL && work != NULL);
    if (bloom_ribbon_build(&ribbon, hashes, count, work, bytes)) {
        fuzz_must(bloom_open(&filter, bytes, size) && filter.keys == count);
        fuzz_must(filter.ribbon.slots == ribbon.slots && filter.ribbon.narrow == ribbon.narrow &&
                  filter.ribbon.columns == ribbon.columns && filter.ribbon.seed == ribbon.seed);
        for (size_t i = 0; i < count; i++)
            ask(&filter, size, hashes[i], true);
    }
    mem_free(&mem_default_allocator, work, work_bytes);
    mem_free(&mem_default_allocator, bytes, size);
}

static void
build(const struct bloom_shape *shape, const uint64_t *hashes, size_t count)
{
    size_t size = bloom_bytes(shape);
    uint8_t *bytes = mem_alloc_aligned(&mem_default_allocator, BLOOM_LINE_BYTES, size);
    struct bloom_filter filter;

    fuzz_must(bytes != NULL);
    bloom_build(shape, hashes, count, bytes);
    fuzz_must(bloom_open(&filter, bytes, size) && filter.keys == count);
    fuzz_must(filter.shape.layout == shape->layout && filter.shape.probes == shape->probes &&
              filter.shape.bits == shape->bits);
    for (size_t i = 0; i < count; i++)
        ask(&filter, size, hashes[i], true);
    mem_free(&mem_default_allocator, bytes, size);
}

static void
plan(struct fuzz_input *input, const uint64_t *hashes)
{
    double rate = 1.0 / (double)(1 + fuzz_number(input, 2));
    size_t count = fuzz_number(input, 1) % (KEYS + 1);
    unsigned layout = (unsigned)fuzz_number(input, 1);
    size_t planned = 1 + fuzz_number(input, 2) % 5000;
    struct bloom_plan plan;
    struct bloom_shape shape;

    layout = layout % 4 == 3 ? BLOOM_RIBBON : layout % 2 == 0 ? BLOOM_STANDARD : BLOOM_BLOCKED;
    bloom_plan_init(&plan, (enum bloom_layout)layout, rate);
    shape = bloom_plan_shape(&plan, planned);
    if (shape.layout == BLOOM_RIBBON)
        build_ribbon(bloom_ribbon_shape(planned, plan.rate, 0), hashes, count);
    else
        build(&shape, hashes, count);
    fuzz_must(bloom_plan_capacity(&plan, fuzz_number(input, 2)) >= 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_input input = {bytes, size};
    bool planned = fuzz_number(&input, 1) % 2 == 1;
    uint64_t hashes[KEYS];
    struct bloom_filter filter;
    uint8_t *copy;

    for (size_t i = 0; i < KEYS; i++)
        hashes[i] = i % 2 == 0 ? fuzz_number(&input, 8) : hashes[i - 1] * 0x9E3779B97F4A7C15u;
    if (planned) {
        plan(&input, hashes);
        return 0;
    }
    copy = malloc(input.left + 1);
    fuzz_must(copy != NULL);
    if (input.left > 0)
        memcpy(copy, input.at, input.left);
    if (bloom_open(&filter, copy, input.left)) {
        fuzz_must(bloom_bytes(&filter.shape) == input.left);
        for (size_t i = 0; i < KEYS; i++)
            ask(&filter, input.left, hashes[i], false);
        if (filter.shape.layout == BLOOM_RIBBON)
            build_ribbon(filter.ribbon, hashes, KEYS);
        else
            build(&filter.shape, hashes, KEYS);
    }
    free(copy);
    return 0;
}

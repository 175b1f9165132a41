/*
 * libbloom.c -- the filter of libbloom, "a simple and small bloom filter implementation in C", that
 * Debian packages. It takes bytes only, and one at a time. Built when its header is there.
 */
#ifdef HAVE_LIBBLOOM
#include "tools/bench/bloom_kinds/kind.h"
#include "tools/bench/harness/util.h"

#include <bloom.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* It counts keys and bits as int. */
static void *
begin(uint64_t keys, double rate)
{
    struct bloom *bloom;
    double bits = (double)keys * -log(rate) / (log(2) * log(2));

    if (bits >= (double)INT_MAX)
        return NULL;
    bloom = bench_alloc(sizeof *bloom);
    /* It refuses less. */
    if (bloom_init(bloom, keys < 1000 ? 1000 : (int)keys, rate) != 0)
        bench_fail("make a filter", "libbloom refuses");
    return bloom;
}

static void
add(void *filter, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bloom_add(filter, &keys[i], sizeof keys[i]);
}

static void
free_filter(void *filter)
{
    bloom_free(filter);
    free(filter);
}

static void
tell_facts(const void *filter, struct kinds_facts *facts)
{
    const struct bloom *bloom = filter;

    *facts = (struct kinds_facts){.bytes = (uint64_t)bloom->bytes, .expected = bloom->error};
}

/* bloom_check does not change what it takes. */
static size_t
ask(const void *filter, const uint64_t *hashes, size_t count)
{
    size_t passed = 0;

    for (size_t i = 0; i < count; i++)
        passed += bloom_check((struct bloom *)filter, &hashes[i], sizeof hashes[i]) == 1;
    return passed;
}

static size_t
ask_alone(const void *filter, const uint64_t *hashes, size_t count)
{
    size_t passed = 0;

    for (size_t i = 0; i < count; i++) {
        passed += bloom_check((struct bloom *)filter, &hashes[i], sizeof hashes[i]) == 1;
        kinds_wait();
    }
    return passed;
}

static size_t
ask_bytes(const void *filter, const petal_slice *keys, size_t count)
{
    size_t passed = 0;

    for (size_t i = 0; i < count; i++)
        passed += bloom_check((struct bloom *)filter, keys[i].data, (int)keys[i].size) == 1;
    return passed;
}

const struct bloom_kind bloom_kinds_libbloom = {.store = "libbloom",
                                                .name = "libbloom",
                                                .begin = begin,
                                                .add = add,
                                                .free = free_filter,
                                                .facts = tell_facts,
                                                .ask = ask,
                                                .ask_alone = ask_alone,
                                                .ask_bytes = ask_bytes};
#endif

/* failure_sets.c -- see tests/crash/failure_sets.h. */
#include "tests/crash/failure_sets.h"

#include "bloom/petal_bloom.h"
#include "tests/support/test.h"

#define NUMBERS 100000u
#define KEYS    6000u /* more than the first segment of GROWING has room for */

static const enum petal_bloom_kind kinds[] = {PETAL_BLOOM_KIND_BLOCKED, PETAL_BLOOM_KIND_COUNTING,
                                              PETAL_BLOOM_KIND_GROWING};
static const char *const filters[] = {"blocked", "counting", "growing"};

#define KINDS (sizeof kinds / sizeof kinds[0])

static uint64_t
hash_of(unsigned key)
{
    return petal_bloom_hash((petal_slice){&key, sizeof key}, 0);
}

/* ---- saving ---- */

static void
save_bitmap(struct failure_run *run)
{
    petal_bitmap *bitmap = NULL;
    petal_error error;
    enum petal_status status = petal_bitmap_create(NUMBERS, &run->fixture.env, &bitmap, &error);

    if (status == PETAL_OK) {
        for (uint64_t number = 5; number < NUMBERS / 2; number++)
            petal_bitmap_set(bitmap, number);
        status = petal_bitmap_save(bitmap, "bitmap", &error);
    }
    failure_told(run, "saving a bitmap", status, &error);
    petal_bitmap_free(bitmap);
}

static void
save_bitmap2(struct failure_run *run)
{
    petal_bitmap2 *bitmap = NULL;
    petal_error error;
    enum petal_status status = petal_bitmap2_create(NUMBERS, &run->fixture.env, &bitmap, &error);

    if (status == PETAL_OK) {
        petal_bitmap2_add(bitmap, 7);
        status = petal_bitmap2_save(bitmap, "bitmap2", &error);
    }
    failure_told(run, "saving a bitmap of two bits", status, &error);
    petal_bitmap2_free(bitmap);
}

static void
save_distinct(struct failure_run *run)
{
    petal_distinct *distinct = NULL;
    petal_error error;
    enum petal_status status = petal_distinct_create(0.1, 0, &run->fixture.env, &distinct, &error);

    if (status == PETAL_OK) {
        petal_distinct_add(distinct, (petal_slice){"key", 3});
        status = petal_distinct_save(distinct, "distinct", &error);
    }
    failure_told(run, "saving a count", status, &error);
    petal_distinct_free(distinct);
}

static void
save_filter(struct failure_run *run, size_t kind)
{
    const petal_bloom_options options = {
        .kind = kinds[kind], .keys = KEYS / 2, .env = &run->fixture.env};
    petal_bloom *bloom = NULL;
    petal_error error;
    enum petal_status status = petal_bloom_create(&options, &bloom, &error);

    for (unsigned key = 0; key < KEYS && status == PETAL_OK; key++) {
        uint64_t hash = hash_of(key);

        status = petal_bloom_add_hashes(bloom, &hash, 1, NULL, &error);
    }
    if (status == PETAL_OK)
        status = petal_bloom_save(bloom, filters[kind], &error);
    failure_told(run, "saving a filter", status, &error);
    petal_bloom_free(bloom);
}

void
failure_step_save_sets(struct failure_run *run)
{
    run->doing = "saving sets";
    save_bitmap(run);
    save_bitmap2(run);
    save_distinct(run);
    for (size_t kind = 0; kind < KINDS; kind++)
        save_filter(run, kind);
}

void
failure_step_leave_sets(struct failure_run *run)
{
    assert_int_equal(
        memory_vfs_write_file(run->fixture.vfs, ".bitmap.saving-0123456789abcdef", "x", 1), 0);
}

/* ---- building ---- */

#define LEAST_MEMORY ((size_t)8 << 20)
/* More than half of what that holds, so that it is full when some come again. */
#define MANY_KEYS  270000u
#define MANY_ADDED 530000u

static enum petal_status
add_keys(petal_bloom_builder *builder, unsigned keys, unsigned added, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    uint64_t hashes[1000];

    for (unsigned from = 0; from < added && status == PETAL_OK; from += 1000) {
        for (unsigned i = 0; i < 1000; i++)
            hashes[i] = hash_of((from + i) % keys);
        status = petal_bloom_builder_add_hashes(builder, hashes, 1000, error);
    }
    return status;
}

static void
expect_keys(struct failure_run *run, const char *name, const petal_bloom *bloom, unsigned keys)
{
    unsigned missed = 0;

    for (unsigned key = 0; key < keys; key++)
        missed += !petal_bloom_may_contain_hash(bloom, hash_of(key));
    if (missed > 0 || petal_bloom_count(bloom) != keys)
        failure_problem(run, "the filter %s misses %u keys of %llu", name, missed,
                        (unsigned long long)petal_bloom_count(bloom));
}

static void
build_in_memory(struct failure_run *run)
{
    petal_bloom_builder_options options = {
        .filter = {.kind = PETAL_BLOOM_KIND_RIBBON, .env = &run->fixture.env}};
    petal_bloom_builder *builder;
    petal_bloom *bloom = NULL;
    petal_error error;
    enum petal_status status = petal_bloom_builder_create(&options, &builder, &error);

    if (status == PETAL_OK)
        status = add_keys(builder, KEYS, KEYS, &error);
    if (status == PETAL_OK)
        status = petal_bloom_builder_finish(builder, &bloom, &error);
    petal_bloom_builder_free(builder);
    if (failure_told(run, "building a filter", status, &error))
        expect_keys(run, "ribbon", bloom, KEYS);
    petal_bloom_free(bloom);
}

static void
build_over_files(struct failure_run *run)
{
    petal_bloom_builder_options options = {
        .filter = {.kind = PETAL_BLOOM_KIND_RIBBON, .env = &run->fixture.env},
        .memory_bytes = LEAST_MEMORY,
        .directory = "."};
    petal_bloom_load_options load = {.env = &run->fixture.env};
    petal_bloom_builder *builder;
    petal_bloom *bloom = NULL;
    petal_error error;
    enum petal_status status = petal_bloom_builder_create(&options, &builder, &error);

    if (status == PETAL_OK)
        status = add_keys(builder, MANY_KEYS, MANY_ADDED, &error);
    if (status == PETAL_OK)
        status = petal_bloom_builder_save(builder, "ribbon", &error);
    petal_bloom_builder_free(builder);
    if (!failure_told(run, "building a file", status, &error))
        return;
    status = petal_bloom_load("ribbon", &load, &bloom, &error);
    if (failure_told(run, "loading what was built", status, &error))
        expect_keys(run, "ribbon", bloom, MANY_KEYS);
    petal_bloom_free(bloom);
}

void
failure_step_build_filters(struct failure_run *run)
{
    run->doing = "building filters";
    build_in_memory(run);
    build_over_files(run);
}

/* ---- loading ---- */

static void
load_bitmap(struct failure_run *run, const petal_bloom_load_options *options)
{
    petal_bitmap *bitmap;
    petal_error error;

    if (!failure_told(run, "loading a bitmap",
                      petal_bitmap_load("bitmap", options, &bitmap, &error), &error))
        return;
    if (petal_bitmap_count(bitmap) != NUMBERS / 2 - 5)
        failure_problem(run, "the bitmap has %llu numbers",
                        (unsigned long long)petal_bitmap_count(bitmap));
    petal_bitmap_free(bitmap);
}

static void
load_bitmap2(struct failure_run *run, const petal_bloom_load_options *options)
{
    petal_bitmap2 *bitmap;
    petal_error error;

    if (!failure_told(run, "loading a bitmap of two bits",
                      petal_bitmap2_load("bitmap2", options, &bitmap, &error), &error))
        return;
    if (petal_bitmap2_count(bitmap, PETAL_BITMAP2_ONE) != 1)
        failure_problem(run, "the bitmap of two bits lacks its number");
    petal_bitmap2_free(bitmap);
}

static void
load_distinct(struct failure_run *run, const petal_bloom_load_options *options)
{
    petal_distinct *distinct;
    petal_error error;

    if (!failure_told(run, "loading a count",
                      petal_distinct_load("distinct", options, &distinct, &error), &error))
        return;
    if (!(petal_distinct_count(distinct) > 0.9 && petal_distinct_count(distinct) < 1.1))
        failure_problem(run, "the count is %f", petal_distinct_count(distinct));
    petal_distinct_free(distinct);
}

static void
load_filter(struct failure_run *run, size_t kind, const petal_bloom_load_options *options)
{
    unsigned missed = 0;
    petal_bloom *bloom;
    petal_error error;

    if (!failure_told(run, "loading a filter",
                      petal_bloom_load(filters[kind], options, &bloom, &error), &error))
        return;
    for (unsigned key = 0; key < KEYS; key++)
        missed += !petal_bloom_may_contain_hash(bloom, hash_of(key));
    if (missed > 0)
        failure_problem(run, "the filter %s misses %u keys", filters[kind], missed);
    petal_bloom_free(bloom);
}

static void
load_sets(struct failure_run *run, bool map)
{
    const petal_bloom_load_options options = {.map = map, .env = &run->fixture.env};
    enum petal_bloom_file_type type;
    petal_error error;

    if (failure_told(run, "asking for a type",
                     petal_bloom_file_type("distinct", options.env, &type, &error), &error) &&
        type != PETAL_BLOOM_FILE_DISTINCT)
        failure_problem(run, "the count is of type %d", (int)type);
    load_bitmap(run, &options);
    load_bitmap2(run, &options);
    load_distinct(run, &options);
    for (size_t kind = 0; kind < KINDS; kind++)
        load_filter(run, kind, &options);
}

void
failure_step_load_sets(struct failure_run *run)
{
    run->doing = "loading sets";
    load_sets(run, false);
}

void
failure_step_map_sets(struct failure_run *run)
{
    run->doing = "mapping sets";
    load_sets(run, true);
}

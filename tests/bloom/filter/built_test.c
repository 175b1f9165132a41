/*
 * built_test.c -- filters that are built once of all keys, RIBBON: no key is lost, however many
 * there are and however often each is added, in memory and over files; rates and sizes are those
 * that were asked for; failures are reported and leave nothing behind; and bytes that nobody built
 * lead no question outside.
 */
#include "bloom/filter/parts.h"
#include "bloom/petal_bloom.h"
#include "tests/disk/vfs.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* With the least memory_bytes so many hashes wait in memory. */
#define LEAST_MEMORY  ((size_t)8 << 20)
#define LEAST_WAITING (LEAST_MEMORY / 16)

static uint64_t seed;

/* ---- keys ---- */

/* Key number `i` as a hash: different numbers are different hashes. */
static uint64_t
hash_of(uint64_t i)
{
    uint64_t hash = (i + seed) * 0x9E3779B97F4A7C15u;

    hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9u;
    hash = (hash ^ hash >> 27) * 0x94D049BB133111EBu;
    return hash ^ hash >> 31;
}

#define ABSENT (UINT64_C(1) << 40) /* keys from here on are in no filter */

static petal_bloom_builder_options
options_of(double rate, const petal_env *env, const char *directory)
{
    return (petal_bloom_builder_options){
        .size = sizeof(petal_bloom_builder_options),
        .filter = {.size = sizeof(petal_bloom_options), .rate = rate, .env = env},
        .memory_bytes = LEAST_MEMORY,
        .directory = directory};
}

/* Keys from..to-1. */
static enum petal_status
try_add(petal_bloom_builder *builder, uint64_t from, uint64_t to, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    uint64_t hashes[1000];

    while (status == PETAL_OK && from < to) {
        size_t count = 0;

        while (count < COUNT_OF(hashes) && from < to)
            hashes[count++] = hash_of(from++);
        status = petal_bloom_builder_add_hashes(builder, hashes, count, error);
    }
    return status;
}

static petal_bloom_builder *
builder_of(const petal_bloom_builder_options *options, uint64_t keys)
{
    petal_bloom_builder *builder;

    MUST(petal_bloom_builder_create(options, &builder, WHY));
    MUST(try_add(builder, 0, keys, WHY));
    return builder;
}

static petal_bloom *
finish(petal_bloom_builder *builder)
{
    petal_bloom *bloom;

    MUST(petal_bloom_builder_finish(builder, &bloom, WHY));
    petal_bloom_builder_free(builder);
    return bloom;
}

static petal_bloom *
built(double rate, uint64_t keys)
{
    petal_bloom_builder_options options = options_of(rate, NULL, NULL);

    options.memory_bytes = 0;
    return finish(builder_of(&options, keys));
}

/* ---- answers ---- */

static petal_bloom_info
info_of(const petal_bloom *bloom)
{
    petal_bloom_info info = {.size = sizeof info};

    petal_bloom_get_info(bloom, &info);
    return info;
}

/* Single answers for keys from..to-1, compared with those to many at a time; how many are true. */
static uint64_t
ask(const petal_bloom *bloom, uint64_t from, uint64_t to)
{
    uint64_t hashes[777], passed = 0;
    bool answers[COUNT_OF(hashes)];

    while (from < to) {
        size_t count = 0, batch, singly = 0;

        while (count < COUNT_OF(hashes) && from < to)
            hashes[count++] = hash_of(from++);
        batch = petal_bloom_may_contain_hashes(bloom, hashes, count, answers);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(answers[i], petal_bloom_may_contain_hash(bloom, hashes[i]));
            singly += answers[i];
        }
        assert_int_equal(batch, singly);
        passed += batch;
    }
    return passed;
}

static void
assert_has_all(const petal_bloom *bloom, uint64_t keys)
{
    petal_bloom_info info = info_of(bloom);
    uint64_t found = ask(bloom, 0, keys);

    if (found != keys)
        fail_msg("kind %d, rate %g: %llu of %llu keys are lost", (int)info.kind, info.rate,
                 (unsigned long long)(keys - found), (unsigned long long)keys);
    assert_int_equal(info.keys, keys);
    assert_int_equal(petal_bloom_count(bloom), keys);
    assert_true(info.is_read_only);
}

TEST(no_key_is_lost)
{
    static const double rates[] = {0.5, 0.1, 0.01, 0.001, 1.0 / 65536};
    static const uint64_t counts[] = {0, 1, 2, 3, 7, 50, 400, 3000, 33000, 70000};
    uint64_t filters = 0;

    for (size_t r = 0; r < COUNT_OF(rates); r++) {
        for (size_t n = 0; n < COUNT_OF(counts); n++, filters++) {
            petal_bloom *bloom = built(rates[r], counts[n]);

            assert_has_all(bloom, counts[n]);
            if (counts[n] == 0)
                assert_int_equal(ask(bloom, ABSENT, ABSENT + 1000), 0);
            petal_bloom_free(bloom);
        }
    }
    test_counted("%llu filters lose no key", (unsigned long long)filters);
}

/* The same keys make the same filter, in whatever order and however often they come. */
TEST(doubles_are_one_key)
{
    const petal_slice key = {"key", 3};

    petal_bloom_builder_options options = options_of(0.01, NULL, NULL);
    petal_bloom_builder *builder = builder_of(&options, 100000);
    petal_bloom *bloom;

    for (uint64_t i = 100000; i > 0; i--)
        MUST(try_add(builder, i - 1, i, WHY));
    MUST(try_add(builder, 5, 90000, WHY));
    bloom = finish(builder);
    assert_has_all(bloom, 100000);
    petal_bloom_free(bloom);
    builder = builder_of(&options, 0);
    for (int i = 0; i < 1000; i++)
        MUST(petal_bloom_builder_add(builder, key, WHY));
    bloom = finish(builder);
    assert_int_equal(petal_bloom_count(bloom), 1);
    assert_true(petal_bloom_may_contain(bloom, key));
    petal_bloom_free(bloom);
}

/* ---- rates and sizes ---- */

static void
check_rate(const petal_bloom *bloom, uint64_t asked)
{
    double expected = petal_bloom_expected_rate(bloom, 1);
    double measured = (double)ask(bloom, ABSENT, ABSENT + asked) / (double)asked;
    double tolerance = 0.05 + 3 / sqrt(expected * (double)asked);

    assert_true(petal_bloom_present_rate(bloom) == expected);
    if (!(fabs(measured / expected - 1) <= tolerance))
        fail_msg("kind %d, rate %g: measured %g, expected %g", (int)info_of(bloom).kind,
                 info_of(bloom).rate, measured, expected);
}

TEST(rates_and_sizes_are_those_asked_for)
{
    static const struct {
        double rate;
        uint64_t keys;
        double most_bits; /* as a part of what theory asks for the rate */
    } cases[] = {
        {0.01, 10000, 1.05},   {0.01, 32768, 1.05},    {0.01, 40000, 1.05},
        {0.01, 1000000, 1.05}, {0.1, 1000000, 1.05},   {0.05, 100000, 1.05},
        {0.003, 100000, 1.05}, {0.001, 1000000, 1.05}, {1e-4, 100000, 1.05},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        petal_bloom *bloom = built(cases[i].rate, cases[i].keys);
        petal_bloom_info info = info_of(bloom);
        double theory = -log2(petal_bloom_expected_rate(bloom, 1)) * (double)cases[i].keys;
        double asked = -log2(cases[i].rate) * (double)cases[i].keys;

        theory = fmin(theory, asked);
        if ((double)info.bytes * 8 > cases[i].most_bits * theory)
            fail_msg("rate %g, %llu keys: %g bits a key, %g of theory", cases[i].rate,
                     (unsigned long long)cases[i].keys,
                     (double)info.bytes * 8 / (double)cases[i].keys,
                     (double)info.bytes * 8 / theory);
        assert_true(petal_bloom_expected_rate(bloom, 1) <= 1.02 * cases[i].rate);
        assert_true(info.bits <= 8 * (info.bytes - BLOOM_RIBBON_FOOTER_BYTES * info.segments));
        check_rate(bloom, test_short() ? 300000 : 3000000);
        petal_bloom_free(bloom);
    }
}

TEST(plans_are_what_is_built)
{
    static const uint64_t counts[] = {1, 1000, 40000, 500000, 3000000};

    for (size_t n = 0; n < COUNT_OF(counts); n++) {
        petal_bloom_options options = {
            .kind = PETAL_BLOOM_KIND_RIBBON, .rate = 0.002, .keys = counts[n]};
        petal_bloom_plan plan = {.size = sizeof plan};
        petal_bloom *bloom = built(0.002, counts[n]);
        petal_bloom_info info = info_of(bloom);

        MUST(petal_bloom_plan_for(&options, &plan, WHY));
        assert_true(fabs((double)plan.bytes / (double)info.bytes - 1) < 0.01);
        assert_true(fabs((double)plan.bits / (double)info.bits - 1) < 0.01);
        assert_true(fabs(plan.rate / petal_bloom_expected_rate(bloom, 1) - 1) < 0.01);
        assert_true(plan.build_bytes > plan.bytes + 16 * counts[n] - 1);
        assert_int_equal(plan.probes, 0);
        petal_bloom_free(bloom);
    }
}

/* What a filter holds of the caller's allocator is what it says, and little more than its bits. */
TEST(no_memory_is_held_for_nothing)
{
    static const uint64_t counts[] = {1, 100, 1000, 33000, 70000, 300000, 700000};

    for (size_t n = 0; n < COUNT_OF(counts); n++) {
        struct test_allocator allocator;
        petal_env env = {.size = sizeof env, .allocator = &allocator.table};
        petal_bloom_builder_options options = options_of(0.01, &env, NULL);
        petal_bloom_info info;
        petal_bloom *bloom;
        uint64_t held;

        test_allocator_init(&allocator);
        bloom = finish(builder_of(&options, counts[n]));
        info = info_of(bloom);
        held = test_allocator_live_bytes(&allocator);
        assert_true(held >= info.bytes && held - info.bytes <= 1024 + 256 * info.segments);
        if ((double)info.bytes > 1.01 * (double)info.bits / 8 + 16.0 * info.segments)
            fail_msg("%llu keys, %u parts: %llu bytes are held for %llu bits",
                     (unsigned long long)counts[n], info.segments, (unsigned long long)info.bytes,
                     (unsigned long long)info.bits);
        petal_bloom_free(bloom);
        assert_int_equal(test_allocator_live_blocks(&allocator), 0);
    }
}

/* ---- files ---- */

#define NAME "filter"

static petal_env
env_of(struct memory_vfs *vfs)
{
    return (petal_env){.size = sizeof(petal_env), .vfs = memory_vfs_table(vfs)};
}

static petal_bloom *
load(const petal_env *env, bool map)
{
    petal_bloom_load_options options = {.size = sizeof options, .map = map, .env = env};
    petal_bloom *bloom;

    MUST(petal_bloom_load(NAME, &options, &bloom, WHY));
    return bloom;
}

TEST(files_answer_as_memory_does)
{
    static const uint64_t counts[] = {0, 1, 1000, 100000};

    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        uint64_t keys = counts[c], passed;
        struct memory_vfs *vfs = memory_vfs_new();
        petal_env env = env_of(vfs);
        petal_bloom_builder_options options = options_of(0.004, &env, NULL);
        petal_bloom_builder *builder = builder_of(&options, keys);
        petal_bloom *memory = finish(builder_of(&options, keys));
        uint8_t *bytes[2];
        size_t sizes[2];

        passed = ask(memory, ABSENT, ABSENT + 10000);
        MUST(petal_bloom_builder_save(builder, NAME, WHY));
        petal_bloom_builder_free(builder);
        assert_int_equal(memory_vfs_read_file(vfs, NAME, &bytes[0], &sizes[0]), 0);
        MUST(petal_bloom_save(memory, NAME, WHY));
        assert_int_equal(memory_vfs_read_file(vfs, NAME, &bytes[1], &sizes[1]), 0);
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(bytes[0], bytes[1], sizes[0]);
        for (int way = 0; way < 2; way++) {
            petal_bloom *loaded = load(&env, way > 0);

            assert_has_all(loaded, keys);
            assert_int_equal(ask(loaded, ABSENT, ABSENT + 10000), passed);
            assert_true(info_of(loaded).rate == 0.004);
            petal_bloom_free(loaded);
        }
        petal_bloom_free(memory);
        free(bytes[0]);
        free(bytes[1]);
        assert_int_equal(memory_vfs_open_files(vfs), 0);
        memory_vfs_free(vfs);
    }
}

static uint64_t
digest_of(const uint8_t *bytes, size_t size)
{
    uint64_t digest = size;

    for (size_t i = 0; i < size; i++)
        digest = (digest ^ bytes[i]) * 0x100000001B3u;
    return digest;
}

/* Whole files, headers and checksums included. */
TEST(files_keep_their_bytes)
{
    static const struct {
        double rate;
        uint64_t keys, digest;
    } golden[] = {
        {0.01, 0, 0xDB6F3720ED79F0BDu},
        {0.01, 1000, 0x45453D4634A5820Eu},
        {0.001, 70000, 0xFC696700289C70A6u},
    };
    uint64_t kept = seed;

    seed = 1;
    for (size_t i = 0; i < COUNT_OF(golden); i++) {
        struct memory_vfs *vfs = memory_vfs_new();
        petal_env env = env_of(vfs);
        petal_bloom_builder_options options = options_of(golden[i].rate, &env, NULL);
        petal_bloom_builder *builder = builder_of(&options, golden[i].keys);
        uint8_t *bytes;
        size_t size;

        MUST(petal_bloom_builder_save(builder, NAME, WHY));
        petal_bloom_builder_free(builder);
        assert_int_equal(memory_vfs_read_file(vfs, NAME, &bytes, &size), 0);
        if (getenv("PETAL_WRITE_GOLDEN") != NULL)
            printf("0x%016llXu\n", (unsigned long long)digest_of(bytes, size));
        else
            assert_int_equal(digest_of(bytes, size), golden[i].digest);
        free(bytes);
        memory_vfs_free(vfs);
    }
    seed = kept;
}

/* ---- more keys than memory ---- */

TEST(hashes_on_disk_make_the_same_filter)
{
    uint64_t keys = test_short() ? 3 * LEAST_WAITING / 2 : 5 * LEAST_WAITING;

    struct memory_vfs *vfs = memory_vfs_new();
    struct test_allocator allocator;
    petal_env env = env_of(vfs);
    petal_bloom_builder_options options = options_of(0.01, &env, "/");
    petal_bloom_builder *builder;
    petal_bloom *bloom;

    test_allocator_init(&allocator);
    env.allocator = &allocator.table;
    builder = builder_of(&options, keys);
    MUST(try_add(builder, keys / 2, keys / 2 + 100000, WHY));
    assert_int_equal(memory_vfs_count_files(vfs, "/"), 0); /* it has no name */
    MUST(petal_bloom_builder_save(builder, NAME, WHY));
    assert_int_equal(memory_vfs_count_files(vfs, "/"), 1);
    petal_bloom_builder_free(builder);
    assert_int_equal(test_allocator_live_bytes(&allocator), 0);
    /* What is kept of each run, and the file's buffer, come on top. */
    assert_true(test_allocator_peak_bytes(&allocator) < LEAST_MEMORY + LEAST_MEMORY / 8);
    bloom = load(&env, false);
    assert_has_all(bloom, keys);
    assert_true((double)info_of(bloom).bits < 6.9 * (double)keys);
    check_rate(bloom, 300000);
    petal_bloom_free(bloom);
    builder = builder_of(&options, keys);
    bloom = finish(builder);
    assert_has_all(bloom, keys);
    petal_bloom_free(bloom);
    assert_int_equal(test_allocator_live_bytes(&allocator), 0);
    assert_int_equal(memory_vfs_open_files(vfs), 0);
    memory_vfs_free(vfs);
}

/* Keys that come again and again fill no memory while they are few, and of many that are on disk
 * more than once a filter has each once. */
TEST(many_doubles_take_no_room)
{
    const uint64_t few = LEAST_WAITING / 3, many = LEAST_WAITING - 5;

    for (int round = 0; round < 2; round++) {
        struct memory_vfs *vfs = memory_vfs_new();
        petal_env env = env_of(vfs);
        petal_bloom_builder_options options = options_of(0.01, &env, "/");
        uint64_t keys = round == 0 ? few : many;
        petal_bloom_builder *builder = builder_of(&options, keys);
        petal_bloom *bloom;

        for (int again = 0; again < 6; again++) {
            MUST(try_add(builder, 0, keys, WHY));
            MUST(try_add(builder, 3, 4, WHY));
        }
        /* The same key alone for longer than memory is. */
        for (uint64_t i = 0; i < LEAST_WAITING + 10; i++)
            MUST(try_add(builder, 7, 8, WHY));
        if (round == 0)
            assert_int_equal(memory_vfs_calls(vfs), 1); /* that opened the directory */
        bloom = finish(builder);
        assert_has_all(bloom, keys);
        assert_true((double)info_of(bloom).bits < 6.95 * (double)keys);
        petal_bloom_free(bloom);
        memory_vfs_free(vfs);
    }
}

/* Without a directory memory grows. */
TEST(without_a_directory_all_is_in_memory)
{
    uint64_t keys = 2 * LEAST_WAITING;
    struct test_allocator allocator;
    petal_env env = {.size = sizeof env, .allocator = &allocator.table};
    petal_bloom_builder_options options = options_of(0.01, &env, NULL);
    petal_bloom_builder *builder;
    petal_error error;
    petal_bloom *bloom;

    test_allocator_init(&allocator);
    bloom = finish(builder_of(&options, keys));
    assert_has_all(bloom, keys);
    petal_bloom_free(bloom);
    builder = builder_of(&options, LEAST_WAITING);
    test_allocator_fail_at(&allocator, 1, true);
    assert_int_equal(try_add(builder, LEAST_WAITING, keys, &error), PETAL_NO_MEMORY);
    assert_non_null(strstr(error.text, "with options.directory"));
    petal_bloom_builder_free(builder);
    assert_int_equal(test_allocator_live_bytes(&allocator), 0);
}

/* ---- what fails ---- */

/* A filter that is built over files, whatever fails; nothing is left of it but itself. */
static enum petal_status
try_build(const petal_env *env, bool save, petal_error *error)
{
    petal_bloom_builder_options options = options_of(0.01, env, "/");
    petal_bloom_builder *builder;
    petal_bloom *bloom;
    enum petal_status status = petal_bloom_builder_create(&options, &builder, error), again;

    if (status != PETAL_OK)
        return status;
    status = try_add(builder, 0, LEAST_WAITING + 1000, error);
    if (status == PETAL_OK && save) {
        status = petal_bloom_builder_save(builder, NAME, error);
    } else if (status == PETAL_OK) {
        status = petal_bloom_builder_finish(builder, &bloom, error);
        if (status == PETAL_OK) {
            assert_int_equal(petal_bloom_count(bloom), LEAST_WAITING + 1000);
            petal_bloom_free(bloom);
        }
    }
    again = petal_bloom_builder_add_hashes(builder, (const uint64_t[]){1}, 1, NULL);
    assert_int_equal(again, PETAL_INVALID);
    petal_bloom_builder_free(builder);
    return status;
}

static void
check_outcome(struct memory_vfs *vfs, enum petal_status said, const petal_error *error,
              size_t files_left)
{
    petal_env env = env_of(vfs);
    petal_bloom *bloom;

    assert_int_equal(memory_vfs_open_files(vfs), 0);
    assert_int_equal(memory_vfs_open_directories(vfs), 0);
    if (said != PETAL_OK) {
        assert_int_equal(error->status, said);
        assert_true(error->text[0] != '\0');
        assert_true(memory_vfs_count_files(vfs, "/") <= files_left);
        return;
    }
    bloom = load(&env, false);
    assert_int_equal(ask(bloom, 0, 1000), 1000);
    petal_bloom_free(bloom);
}

TEST(a_failed_call_is_told_and_leaves_nothing)
{
    static const int errors[] = {EIO, ENOSPC};
    uint64_t tried = 0, failures = 1;

    for (uint64_t n = 1; failures > 0; n++) {
        struct memory_vfs *vfs = memory_vfs_new();
        petal_env env = env_of(vfs);
        petal_error error;
        enum petal_status said;

        memory_vfs_fail_at(vfs, n, errors[n % 2], n % 4 < 2);
        said = try_build(&env, true, &error);
        failures = memory_vfs_failures(vfs);
        memory_vfs_fail_at(vfs, 0, 0, false);
        /* Where removing fails as well, for good, a name may stay; and of a directory that cannot
         * be synced the file is there. */
        check_outcome(vfs, said, &error, n % 4 < 2 ? 2 : 1);
        if (said != PETAL_OK)
            assert_true(said == PETAL_IO || said == PETAL_NO_SPACE);
        memory_vfs_free(vfs);
        tried++;
    }
    test_counted("%llu builds over files of which a call failed", (unsigned long long)tried);
}

TEST(a_full_disk_is_told_and_leaves_nothing)
{
    uint64_t room = 0, refused = 0;
    enum petal_status said = PETAL_NO_SPACE;

    for (; said != PETAL_OK; room += test_short() ? 1000000 : 300000) {
        struct memory_vfs *vfs = memory_vfs_new();
        petal_env env = env_of(vfs);
        petal_error error;

        memory_vfs_set_capacity(vfs, room);
        said = try_build(&env, true, &error);
        check_outcome(vfs, said, &error, 0);
        if (said != PETAL_OK) {
            assert_int_equal(said, PETAL_NO_SPACE);
            assert_true(strcmp(error.file, NAME) == 0 ||
                        strncmp(error.file, "petal-filter-", 13) == 0);
            assert_int_equal(memory_vfs_used(vfs), 0);
            refused++;
        }
        memory_vfs_free(vfs);
    }
    assert_true(refused > 3);
}

/* A death between making the temporary file and removing its name leaves that, empty. */
TEST(what_a_death_leaves_says_what_it_is)
{
    struct memory_vfs *vfs = memory_vfs_new();
    petal_env env = env_of(vfs);
    bool seen = false;
    petal_error error;

    for (uint64_t n = 1; n < 6; n++) {
        memory_vfs_cut_at(vfs, n);
        assert_int_not_equal(try_build(&env, true, &error), PETAL_OK);
        memory_vfs_process_death(vfs);
        seen = seen || memory_vfs_count_files(vfs, "/") > 0;
        assert_int_equal(memory_vfs_used(vfs), 0);
    }
    assert_true(seen);
    memory_vfs_free(vfs);
}

TEST(wrong_options_are_refused)
{
    petal_bloom_builder_options options;
    petal_bloom_builder *builder;
    petal_bloom *bloom;
    petal_error error;

    options = options_of(0.01, NULL, NULL);
    options.filter.kind = PETAL_BLOOM_KIND_BLOCKED;
    assert_int_equal(petal_bloom_builder_create(&options, &builder, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "BLOCKED"));
    assert_null(builder);
    options = options_of(1e-7, NULL, NULL);
    assert_int_equal(petal_bloom_builder_create(&options, &builder, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "1e-07"));
    options = options_of(1, NULL, NULL);
    assert_int_equal(petal_bloom_builder_create(&options, &builder, &error), PETAL_INVALID);
    options = options_of(0.01, NULL, NULL);
    options.memory_bytes = LEAST_MEMORY - 1;
    assert_int_equal(petal_bloom_builder_create(&options, &builder, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "memory_bytes"));
    options = options_of(0.01, NULL, "/there/is/no/such/directory");
    assert_int_equal(petal_bloom_builder_create(&options, &builder, &error), PETAL_NOT_FOUND);
    assert_non_null(strstr(error.text, "/there/is/no/such/directory"));
    options = options_of(0.01, NULL, "");
    assert_int_equal(petal_bloom_builder_create(&options, &builder, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "directory is empty"));
    options = options_of(0.01, NULL, "/dev/null");
    assert_int_equal(petal_bloom_builder_create(&options, &builder, &error), PETAL_NOT_FOUND);
    assert_non_null(strstr(error.text, "/dev/null is not a directory"));
    /* All defaults. */
    assert_int_equal(petal_bloom_builder_create(NULL, &builder, &error), PETAL_OK);
    assert_int_equal(petal_bloom_builder_finish(builder, &bloom, &error), PETAL_OK);
    assert_int_equal(info_of(bloom).kind, PETAL_BLOOM_KIND_RIBBON);
    assert_true(info_of(bloom).rate == PETAL_BLOOM_DEFAULT_RATE);
    assert_int_equal(petal_bloom_add(bloom, (petal_slice){"a", 1}, NULL, &error), PETAL_READ_ONLY);
    petal_bloom_free(bloom);
    assert_int_equal(petal_bloom_builder_finish(builder, &bloom, &error), PETAL_INVALID);
    assert_null(bloom);
    assert_int_equal(petal_bloom_builder_save(builder, "/dev/null", &error), PETAL_INVALID);
    petal_bloom_builder_free(builder);
    petal_bloom_builder_free(NULL);
}

/* Hashes that are not spread fill few parts, or one: that is told, or works, and takes no longer
 * than the memory that they take. */
TEST(hashes_that_are_not_spread_are_no_trap)
{
    uint64_t *hashes = test_allocate(40000 * sizeof *hashes);

    for (unsigned shift = 0; shift <= 32; shift += 16) {
        petal_bloom_builder_options options = options_of(0.01, NULL, NULL);
        petal_bloom_builder *builder = builder_of(&options, 0);
        uint64_t passed = 0;
        petal_bloom *bloom;

        for (uint64_t i = 0; i < 40000; i++)
            hashes[i] = i << shift;
        MUST(petal_bloom_builder_add_hashes(builder, hashes, 40000, WHY));
        bloom = finish(builder);
        for (size_t i = 0; i < 40000; i++)
            passed += petal_bloom_may_contain_hash(bloom, hashes[i]);
        assert_int_equal(passed, 40000);
        petal_bloom_free(bloom);
    }
    free(hashes);
}

/* ---- hostile bytes ---- */

static void
ask_extremes(const petal_bloom *bloom)
{
    uint64_t hashes[64];
    bool answers[64];

    for (size_t i = 0; i < 64; i++)
        hashes[i] = i < 8 ? i : i < 16 ? (uint64_t)8 - i : hash_of(i);
    (void)petal_bloom_may_contain_hashes(bloom, hashes, 64, answers);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(petal_bloom_may_contain_hash(bloom, hashes[i]), answers[i]);
}

struct hostile {
    petal_bloom like;
    uint64_t opened, refused;
};

/* A body in memory of exactly its size, so that a sanitizer sees each byte too far. */
static void
try_body(struct hostile *hostile, const uint8_t *bytes, size_t size, uint64_t count)
{
    struct set_file file = {.head.parameters = {[FILTER_PARTS] = count},
                            .body = test_allocate(size),
                            .body_bytes = size,
                            .env = hostile->like.env};
    petal_bloom *bloom;
    petal_error error;

    memcpy(file.body, bytes, size);
    if (filter_ribbon.open("file", &hostile->like, &file, &bloom, &error) == PETAL_OK) {
        ask_extremes(bloom);
        petal_bloom_free(bloom);
        hostile->opened++;
    } else {
        assert_int_equal(error.status, PETAL_CORRUPT);
        assert_non_null(strstr(error.text, "file"));
        hostile->refused++;
    }
    set_file_close(&file);
}

static void
change_bytes(struct hostile *hostile, uint8_t *bytes, size_t size, uint64_t count)
{
    size_t footers = (size_t)count * BLOOM_RIBBON_FOOTER_BYTES;

    for (size_t at = size - footers; at < size; at++) {
        uint8_t kept = bytes[at];

        for (unsigned value = 0; value < 256; value += test_short() ? 15 : 1) {
            bytes[at] = (uint8_t)value;
            try_body(hostile, bytes, size, count);
        }
        bytes[at] = kept;
    }
    for (size_t cut = 0; cut < size && cut < 3 * footers; cut++)
        try_body(hostile, bytes, size - cut, count);
    for (uint64_t other = 0; other < 2 * count + 3; other++)
        try_body(hostile, bytes, size, other);
    try_body(hostile, bytes, size, UINT64_MAX);
    try_body(hostile, bytes, size, UINT64_MAX / BLOOM_RIBBON_FOOTER_BYTES + 2);
}

TEST(hostile_bodies_stay_in_bounds)
{
    struct memory_vfs *vfs = memory_vfs_new();
    petal_env env = env_of(vfs);
    petal_bloom_builder_options options = options_of(0.001, &env, NULL);
    petal_bloom *bloom = finish(builder_of(&options, 70000));
    struct hostile hostile = {.like = *bloom};
    uint64_t count = info_of(bloom).segments;
    uint8_t *file, *body;
    size_t size;

    assert_int_equal(count, 3);
    MUST(petal_bloom_save(bloom, NAME, WHY));
    assert_int_equal(memory_vfs_read_file(vfs, NAME, &file, &size), 0);
    body = file + SET_FILE_PAGE_BYTES;
    size -= SET_FILE_PAGE_BYTES;
    try_body(&hostile, body, size, count);
    assert_int_equal(hostile.opened, 1);
    change_bytes(&hostile, body, size, count);
    assert_true(hostile.opened > 10 && hostile.refused > 100);
    hostile.like.keys++;
    hostile.opened = 0;
    try_body(&hostile, body, size, count);
    hostile.like.keys = 0;
    try_body(&hostile, body, size, count);
    assert_int_equal(hostile.opened, 0);
    free(file);
    petal_bloom_free(bloom);
    memory_vfs_free(vfs);
}

int
main(void)
{
    seed = test_seed();
    return test_run();
}

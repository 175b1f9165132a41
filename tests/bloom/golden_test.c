/*
 * golden_test.c -- the format of sets stands still: files kept in tests/bloom/golden, one of each
 * kind, are loaded and mapped with every answer right, are written again byte for byte, and the
 * same keys still give the same bytes. And each byte of them is changed: then the file is refused,
 * or, where its checksums are made right again, whatever is asked stays within it.
 *
 * PETAL_GOLDEN_WRITE=1 writes the files anew: only for a new layout.
 */
#include "tests/bloom/questions.h"
#include "tests/bloom/set_fixture.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER  "tests/bloom/golden/"
#define SALT    UINT64_C(0x0123456789ABCDEF)
#define NUMBERS 1000u

/* ---- what the files hold ---- */

struct golden {
    const char *name;
    enum petal_bloom_file_type type;
    enum petal_bloom_kind kind;
    unsigned keys; /* that are entered */
};

/* The first two are the worked examples of bloom/FORMAT.md. */
static const struct golden goldens[] = {
    {"bitmap", PETAL_BLOOM_FILE_BITMAP, 0, 3},
    {"blocked", PETAL_BLOOM_FILE_FILTER, PETAL_BLOOM_KIND_BLOCKED, 1},
    {"bitmap2", PETAL_BLOOM_FILE_BITMAP2, 0, 0},
    {"distinct", PETAL_BLOOM_FILE_DISTINCT, 0, 100},
    {"counting", PETAL_BLOOM_FILE_FILTER, PETAL_BLOOM_KIND_COUNTING, 100},
    {"growing", PETAL_BLOOM_FILE_FILTER, PETAL_BLOOM_KIND_GROWING, 100},
    {"growing-empty", PETAL_BLOOM_FILE_FILTER, PETAL_BLOOM_KIND_GROWING, 0},
    {"ribbon", PETAL_BLOOM_FILE_FILTER, PETAL_BLOOM_KIND_RIBBON, 200},
    {"ribbon-empty", PETAL_BLOOM_FILE_FILTER, PETAL_BLOOM_KIND_RIBBON, 0},
};
#define GOLDENS (sizeof goldens / sizeof goldens[0])

static petal_slice
key_of(unsigned number, char text[16])
{
    int length = snprintf(text, 16, "key %u", number);

    return (petal_slice){text, (size_t)length};
}

static void
save_built(const struct golden *golden)
{
    const petal_bloom_builder_options options = {
        .filter = {.kind = golden->kind, .rate = 1 / 256.0, .salt = SALT, .env = &set_env}};
    petal_bloom_builder *builder;
    char text[16];

    assert_int_equal(petal_bloom_builder_create(&options, &builder, NULL), PETAL_OK);
    for (unsigned i = 0; i < golden->keys; i++)
        assert_int_equal(petal_bloom_builder_add(builder, key_of(i, text), NULL), PETAL_OK);
    assert_int_equal(petal_bloom_builder_save(builder, "set", NULL), PETAL_OK);
    petal_bloom_builder_free(builder);
}

static void
save_filter(const struct golden *golden)
{
    const petal_bloom_options options = {
        .kind = golden->kind, .keys = golden->keys == 1 ? 10 : 100, .salt = SALT, .env = &set_env};
    petal_bloom *bloom;
    char text[16];

    if (golden->kind == PETAL_BLOOM_KIND_RIBBON) {
        save_built(golden);
        return;
    }
    assert_int_equal(petal_bloom_create(&options, &bloom, NULL), PETAL_OK);
    for (unsigned i = 0; i < golden->keys; i++)
        assert_int_equal(petal_bloom_add(bloom, key_of(i, text), NULL, NULL), PETAL_OK);
    assert_int_equal(petal_bloom_save(bloom, "set", NULL), PETAL_OK);
    petal_bloom_free(bloom);
}

static void
save_bitmap(void)
{
    petal_bitmap *bitmap;

    assert_int_equal(petal_bitmap_create(100, &set_env, &bitmap, NULL), PETAL_OK);
    petal_bitmap_set(bitmap, 0);
    petal_bitmap_set(bitmap, 9);
    petal_bitmap_set(bitmap, 99);
    assert_int_equal(petal_bitmap_save(bitmap, "set", NULL), PETAL_OK);
    petal_bitmap_free(bitmap);
}

/* Multiples of 3 once, of 5 again. */
static void
save_bitmap2(void)
{
    petal_bitmap2 *bitmap;

    assert_int_equal(petal_bitmap2_create(NUMBERS, &set_env, &bitmap, NULL), PETAL_OK);
    for (uint64_t i = 0; i < NUMBERS; i += 3)
        petal_bitmap2_add(bitmap, i);
    for (uint64_t i = 0; i < NUMBERS; i += 5)
        petal_bitmap2_add(bitmap, i);
    assert_int_equal(petal_bitmap2_save(bitmap, "set", NULL), PETAL_OK);
    petal_bitmap2_free(bitmap);
}

static void
save_distinct(const struct golden *golden)
{
    petal_distinct *distinct;
    char text[16];

    assert_int_equal(petal_distinct_create(0.1, SALT, &set_env, &distinct, NULL), PETAL_OK);
    for (unsigned i = 0; i < golden->keys; i++)
        petal_distinct_add(distinct, key_of(i, text));
    assert_int_equal(petal_distinct_save(distinct, "set", NULL), PETAL_OK);
    petal_distinct_free(distinct);
}

/* Make it and save it as "set". */
static void
save(const struct golden *golden)
{
    switch (golden->type) {
    case PETAL_BLOOM_FILE_FILTER:
        save_filter(golden);
        break;
    case PETAL_BLOOM_FILE_BITMAP:
        save_bitmap();
        break;
    case PETAL_BLOOM_FILE_BITMAP2:
        save_bitmap2();
        break;
    case PETAL_BLOOM_FILE_DISTINCT:
        save_distinct(golden);
        break;
    }
}

/* ---- the files ---- */

static uint8_t *
kept(const struct golden *golden, size_t *size)
{
    uint8_t *bytes = test_allocate(1 << 16);
    char path[100];
    FILE *file;

    snprintf(path, sizeof path, FOLDER "%s.set", golden->name);
    file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s is not there", path);
    *size = fread(bytes, 1, 1 << 16, file);
    (void)fclose(file);
    return bytes;
}

static void
write_kept(const struct golden *golden, const uint8_t *bytes, size_t size)
{
    char path[100];
    FILE *file;

    snprintf(path, sizeof path, FOLDER "%s.set", golden->name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void
expect_set(const struct golden *golden, const uint8_t *bytes, size_t size)
{
    size_t saved_size;
    uint8_t *saved;

    assert_int_equal(memory_vfs_read_file(set_vfs, "set", &saved, &saved_size), 0);
    if (saved_size != size || memcmp(saved, bytes, size) != 0)
        fail_msg("%s is written otherwise than it was", golden->name);
    free(saved);
}

TEST(files_are_made_as_they_were)
{
    for (size_t i = 0; i < GOLDENS; i++) {
        size_t size;
        uint8_t *bytes;

        save(&goldens[i]);
        if (getenv("PETAL_GOLDEN_WRITE") != NULL) {
            assert_int_equal(memory_vfs_read_file(set_vfs, "set", &bytes, &size), 0);
            write_kept(&goldens[i], bytes, size);
        } else {
            bytes = kept(&goldens[i], &size);
            expect_set(&goldens[i], bytes, size);
        }
        free(bytes);
    }
}

/* ---- reading ---- */

static void
check_filter(const struct golden *golden, const petal_bloom_load_options *options)
{
    petal_bloom_info info = {.size = sizeof info};
    petal_bloom *bloom;
    unsigned passed = 0;
    char text[16];

    assert_int_equal(petal_bloom_load("set", options, &bloom, NULL), PETAL_OK);
    petal_bloom_get_info(bloom, &info);
    assert_int_equal(info.kind, golden->kind);
    assert_int_equal(info.salt, SALT);
    for (unsigned i = 0; i < golden->keys; i++)
        assert_true(petal_bloom_may_contain(bloom, key_of(i, text)));
    for (unsigned i = 0; i < 1000; i++)
        passed += petal_bloom_may_contain(bloom, key_of(10000 + i, text));
    assert_true(passed < 30);
    assert_int_equal(petal_bloom_save(bloom, "set", NULL), PETAL_OK);
    petal_bloom_free(bloom);
}

static void
check_bitmap(const petal_bloom_load_options *options)
{
    petal_bitmap *bitmap;

    assert_int_equal(petal_bitmap_load("set", options, &bitmap, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap_bits(bitmap), 100);
    assert_int_equal(petal_bitmap_count(bitmap), 3);
    assert_int_equal(petal_bitmap_next_set(bitmap, 1), 9);
    assert_int_equal(petal_bitmap_next_set(bitmap, 10), 99);
    assert_int_equal(petal_bitmap_save(bitmap, "set", NULL), PETAL_OK);
    petal_bitmap_free(bitmap);
}

static void
check_bitmap2(const petal_bloom_load_options *options)
{
    petal_bitmap2 *bitmap;

    assert_int_equal(petal_bitmap2_load("set", options, &bitmap, NULL), PETAL_OK);
    for (uint64_t i = 0; i < NUMBERS; i++)
        assert_int_equal(petal_bitmap2_get(bitmap, i), (i % 3 == 0) + (i % 5 == 0));
    assert_int_equal(petal_bitmap2_save(bitmap, "set", NULL), PETAL_OK);
    petal_bitmap2_free(bitmap);
}

static void
check_distinct(const petal_bloom_load_options *options)
{
    petal_distinct *distinct;

    assert_int_equal(petal_distinct_load("set", options, &distinct, NULL), PETAL_OK);
    assert_int_equal(petal_distinct_salt(distinct), SALT);
    assert_int_equal(petal_distinct_registers(distinct), 128);
    assert_true(petal_distinct_count(distinct) > 75 && petal_distinct_count(distinct) < 125);
    assert_int_equal(petal_distinct_save(distinct, "set", NULL), PETAL_OK);
    petal_distinct_free(distinct);
}

TEST(kept_files_are_read_and_written_as_they_are)
{
    for (size_t i = 0; i < GOLDENS * 2; i++) {
        const struct golden *golden = &goldens[i / 2];
        const petal_bloom_load_options options = {.map = i % 2 > 0, .env = &set_env};
        enum petal_bloom_file_type type;
        size_t size;
        uint8_t *bytes = kept(golden, &size);

        assert_int_equal(memory_vfs_write_file(set_vfs, "set", bytes, size), 0);
        assert_int_equal(petal_bloom_file_type("set", &set_env, &type, NULL), PETAL_OK);
        assert_int_equal(type, golden->type);
        switch (golden->type) {
        case PETAL_BLOOM_FILE_FILTER:
            check_filter(golden, &options);
            break;
        case PETAL_BLOOM_FILE_BITMAP:
            check_bitmap(&options);
            break;
        case PETAL_BLOOM_FILE_BITMAP2:
            check_bitmap2(&options);
            break;
        case PETAL_BLOOM_FILE_DISTINCT:
            check_distinct(&options);
            break;
        }
        expect_set(golden, bytes, size);
        assert_int_equal(questions_to_file("set", golden->type, &options, true, NULL), PETAL_OK);
        free(bytes);
    }
}

/* ---- damage ---- */

static bool
try_changed(const struct golden *golden, const uint8_t *bytes, size_t size, bool changes)
{
    const petal_bloom_load_options options = {.map = !changes, .env = &set_env};
    petal_error error = {.status = PETAL_OK};
    enum petal_status status;

    assert_int_equal(memory_vfs_write_file(set_vfs, "set", bytes, size), 0);
    status = questions_to_file("set", golden->type, &options, changes, &error);

    if (status == PETAL_OK)
        return true;
    assert_int_equal(error.status, status);
    assert_true(status == PETAL_CORRUPT || status == PETAL_UNSUPPORTED || status == PETAL_INVALID);
    assert_string_equal(error.file, "set");
    assert_true(strlen(error.text) > 10);
    return false;
}

/* Each byte to another value: refused; or, with checksums that are right, within its bytes. */
TEST(no_changed_byte_is_believed)
{
    struct test_random random;
    uint64_t tried = 0, opened = 0;

    test_random_init(&random, test_seed());
    for (size_t i = 0; i < GOLDENS; i++) {
        size_t size;
        uint8_t *bytes = kept(&goldens[i], &size), *sealed = test_allocate(size);

        for (size_t at = 0; at < size; at++) {
            uint8_t before = bytes[at];

            /* Of what is 0 and stays 0 some; under an emulator some of the body, too. */
            if (at >= 112 && at < 4096 && at % 64 != 0)
                continue;
            if (test_short() && at >= 4096 && at % 8 != i % 8)
                continue;
            bytes[at] ^= (uint8_t)(1 + test_random_below(&random, 255));
            assert_false(try_changed(&goldens[i], bytes, size, false));
            memcpy(sealed, bytes, size);
            set_seal(sealed, size);
            opened += try_changed(&goldens[i], sealed, size, true);
            bytes[at] = before;
            tried += 2;
        }
        free(bytes);
        free(sealed);
    }
    test_counted("%llu files of sets with a changed byte, %llu of them opened once sealed",
                 (unsigned long long)tried, (unsigned long long)opened);
}

TEST_GROUP(set_fixture_begin, set_fixture_end);

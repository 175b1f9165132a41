/*
 * file_test.c -- files of filters whose checksums are right and whose content is not: whatever
 * stands there, a load is an error that names file and place, or gives a filter that can be asked,
 * added to, grown, counted and saved within its bytes. Another version is an error of its own.
 */

#include "base/coding.h"
#include "bloom/petal_bloom.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define HEADER_BYTES 4096
#define LAYOUT_AT    12
#define SIZE_AT      16
#define PARAMETER_AT 32
#define BODY_SUM_AT  96
#define HEAD_SUM_AT  104
#define PARAMETERS   8
#define MOST_BYTES   100000

static uint64_t seed;

struct fixture {
    char *directory, *path;
    uint8_t bytes[MOST_BYTES];
    size_t size;
    struct test_random random;
    unsigned refused, taken;
};

static void
fixture_init(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->directory = test_directory_new();
    fixture->path = test_path(fixture->directory, "set");
    test_random_init(&fixture->random, seed);
}

static void
fixture_fini(struct fixture *fixture)
{
    test_directory_free(fixture->directory);
    free(fixture->path);
}

static void
add_some(struct fixture *fixture, petal_bloom *bloom, size_t count)
{
    while (count-- > 0) {
        uint64_t hash = test_random_next(&fixture->random);
        enum petal_status status = petal_bloom_add_hashes(bloom, &hash, 1, NULL, NULL);

        /* A chain that seems to have grown before may want more memory than there is. */
        assert_true(status == PETAL_OK || status == PETAL_NO_MEMORY);
        if (status == PETAL_OK)
            assert_true(petal_bloom_may_contain_hash(bloom, hash));
    }
}

static void
read_back(struct fixture *fixture)
{
    FILE *file = fopen(fixture->path, "rb");

    assert_non_null(file);
    fixture->size = fread(fixture->bytes, 1, sizeof fixture->bytes, file);
    assert_true(fixture->size > HEADER_BYTES && fixture->size < sizeof fixture->bytes);
    fclose(file);
}

static void
make_file(struct fixture *fixture, enum petal_bloom_kind kind)
{
    petal_bloom_options options = {.kind = kind, .keys = 1000, .rate = 0.01, .salt = 3};
    petal_bloom *bloom;

    assert_int_equal(petal_bloom_create(&options, &bloom, NULL), PETAL_OK);
    add_some(fixture, bloom, kind == PETAL_BLOOM_KIND_GROWING ? 14000 : 1000);
    assert_int_equal(petal_bloom_save(bloom, fixture->path, NULL), PETAL_OK);
    petal_bloom_free(bloom);
    read_back(fixture);
}

/* With checksums that are right. */
static void
write_file(const struct fixture *fixture, uint8_t *bytes, size_t size)
{
    FILE *file = fopen(fixture->path, "wb");

    assert_non_null(file);
    put_le64(bytes + SIZE_AT, size - HEADER_BYTES);
    put_le64(bytes + BODY_SUM_AT, XXH3_64bits(bytes + HEADER_BYTES, size - HEADER_BYTES));
    put_le64(bytes + HEAD_SUM_AT, XXH3_64bits(bytes, HEAD_SUM_AT));
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Do all that can be done with a filter. */
static void
use(struct fixture *fixture, petal_bloom *bloom)
{
    petal_bloom_info info = {.size = sizeof info};
    uint64_t hashes[500];
    bool answers[500];
    double rate;

    for (size_t i = 0; i < 500; i++)
        hashes[i] = i == 0 ? 0 : i == 1 ? UINT64_MAX : test_random_next(&fixture->random);
    petal_bloom_may_contain_hashes(bloom, hashes, 500, answers);
    for (size_t i = 0; i < 500; i++)
        assert_int_equal(answers[i], petal_bloom_may_contain_hash(bloom, hashes[i]));
    petal_bloom_get_info(bloom, &info);
    rate = petal_bloom_present_rate(bloom);
    assert_true(rate >= 0 && rate <= 1);
    rate = petal_bloom_expected_rate(bloom, 1000);
    assert_true(rate >= 0 && rate <= 1);
    (void)petal_bloom_count(bloom);
    if (info.is_read_only)
        return;
    add_some(fixture, bloom, 100);
    if (test_random_chance(&fixture->random, 85)) /* a save waits for the disk */
        return;
    assert_int_equal(petal_bloom_save(bloom, fixture->path, NULL), PETAL_OK);
}

static void
load(struct fixture *fixture, const uint8_t *bytes, size_t size)
{
    static uint8_t changed[MOST_BYTES];

    for (int map = 0; map <= 1; map++) {
        petal_bloom_load_options options = {.map = map == 1};
        petal_bloom *bloom;
        petal_error error;
        enum petal_status status;

        memcpy(changed, bytes, size);
        write_file(fixture, changed, size);
        status = petal_bloom_load(fixture->path, &options, &bloom, &error);
        if (status == PETAL_OK) {
            use(fixture, bloom);
            petal_bloom_free(bloom);
            fixture->taken++;
            continue;
        }
        assert_null(bloom);
        assert_true(status == PETAL_CORRUPT || status == PETAL_UNSUPPORTED);
        assert_non_null(strstr(error.text, fixture->path));
        assert_string_equal(error.file, fixture->path);
        fixture->refused++;
    }
}

/* Numbers that may stand where `number` does. */
static uint64_t
another(struct fixture *fixture, uint64_t number)
{
    switch (test_random_below(&fixture->random, 8)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return number + 1;
    case 3:
        return number - 1;
    case 4:
        return number * 2;
    case 5:
        return number + 512;
    case 6:
        return UINT64_C(1) << test_random_below(&fixture->random, 64);
    default:
        return test_random_next(&fixture->random);
    }
}

static void
change_numbers(struct fixture *fixture, size_t at, size_t count)
{
    for (size_t i = 0; i < count; i++, at += 8) {
        uint64_t number = get_le64(fixture->bytes + at);

        for (int time = 0; time < 12; time++) {
            put_le64(fixture->bytes + at, another(fixture, number));
            load(fixture, fixture->bytes, fixture->size);
        }
        put_le64(fixture->bytes + at, number);
    }
}

static void
change_sizes(struct fixture *fixture)
{
    static const int by[] = {-4096, -64, -8, -1, 1, 8, 64, 4096};
    static uint8_t changed[MOST_BYTES];

    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        size_t size = (size_t)((ptrdiff_t)fixture->size + by[i]);

        if (size < HEADER_BYTES || size > MOST_BYTES)
            continue;
        memset(changed, 0, sizeof changed);
        memcpy(changed, fixture->bytes, size < fixture->size ? size : fixture->size);
        load(fixture, changed, size);
    }
    load(fixture, fixture->bytes, HEADER_BYTES);
}

/* Several at a time. */
static void
change_much(struct fixture *fixture, size_t numbers)
{
    static uint8_t changed[MOST_BYTES];

    for (int time = 0; time < 100; time++) {
        memcpy(changed, fixture->bytes, fixture->size);
        for (int i = 0; i < 3; i++) {
            size_t which = test_random_below(&fixture->random, PARAMETERS + numbers);
            uint8_t *at = which < PARAMETERS ? changed + PARAMETER_AT + 8 * which
                                             : changed + HEADER_BYTES + 8 * (which - PARAMETERS);

            put_le64(at, another(fixture, get_le64(at)));
        }
        load(fixture, changed, fixture->size);
    }
}

TEST(wrong_content_is_an_error_or_a_filter)
{
    static struct fixture fixture;

    for (int kind = PETAL_BLOOM_KIND_BLOCKED; kind <= PETAL_BLOOM_KIND_GROWING; kind++) {
        /* The entries of three segments, and one that there is not. */
        size_t table = kind == PETAL_BLOOM_KIND_GROWING ? 32 : 0;

        fixture_init(&fixture);
        make_file(&fixture, (enum petal_bloom_kind)kind);
        load(&fixture, fixture.bytes, fixture.size);
        assert_int_equal(fixture.taken, 2);
        change_numbers(&fixture, PARAMETER_AT, PARAMETERS);
        change_numbers(&fixture, HEADER_BYTES, table);
        change_sizes(&fixture);
        change_much(&fixture, table);
        assert_true(fixture.refused > 100);
        test_counted("kind %d: %u files refused, %u taken for filters", kind, fixture.refused,
                     fixture.taken);
        fixture_fini(&fixture);
    }
}

static void
assert_refused(struct fixture *fixture, enum petal_status status, const char *text)
{
    petal_bloom *bloom;
    petal_error error;

    write_file(fixture, fixture->bytes, fixture->size);
    assert_int_equal(petal_bloom_load(fixture->path, NULL, &bloom, &error), status);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, text);
}

TEST(texts_say_what_is_wrong)
{
    static struct fixture fixture;

    fixture_init(&fixture);
    make_file(&fixture, PETAL_BLOOM_KIND_BLOCKED);
    put_le16(fixture.bytes + LAYOUT_AT, 2);
    assert_refused(&fixture, PETAL_UNSUPPORTED, "has layout 2, which this library");
    put_le16(fixture.bytes + LAYOUT_AT, 1);
    put_le64(fixture.bytes + PARAMETER_AT + 24, 31);
    assert_refused(&fixture, PETAL_CORRUPT, "the number of probes is not 1 to 30");
    put_le64(fixture.bytes + PARAMETER_AT + 24, 6);
    put_le64(fixture.bytes + PARAMETER_AT + 16, 1000);
    assert_refused(&fixture, PETAL_CORRUPT, "the bits are not a whole number of lines");
    put_le64(fixture.bytes + PARAMETER_AT + 16, 1024);
    assert_refused(&fixture, PETAL_CORRUPT, "bytes, its bits need 128");
    put_le64(fixture.bytes + PARAMETER_AT + 8, UINT64_MAX);
    assert_refused(&fixture, PETAL_CORRUPT, "the rate is not between 0 and 1");
    fixture_fini(&fixture);
    fixture_init(&fixture);
    make_file(&fixture, PETAL_BLOOM_KIND_GROWING);
    put_le64(fixture.bytes + HEADER_BYTES + 64 + 24, 0);
    assert_refused(&fixture, PETAL_CORRUPT, "segment 1 has 0 probes; it must have 1 to 30");
    put_le64(fixture.bytes + HEADER_BYTES, UINT64_C(1) << 60);
    assert_refused(&fixture, PETAL_CORRUPT, "segment 0 has 1152921504606846976 lines, where");
    put_le64(fixture.bytes + PARAMETER_AT + 16, 65);
    assert_refused(&fixture, PETAL_CORRUPT, "the number of segments is impossible");
    fixture_fini(&fixture);
}

int
main(void)
{
    seed = test_seed();
    return test_run();
}

/*
 * bitmap_test.c -- bitmaps answer as an array of bools does: single numbers, the next one, two
 * bitmaps, files and maps; threads lose nothing; memory is taken near numbers only.
 */
#include "tests/bloom/set_fixture.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BITS (UINT64_C(64) * 8192)

static petal_bitmap *
new_bitmap(uint64_t bits)
{
    petal_bitmap *made;
    petal_error error;

    if (petal_bitmap_create(bits, &set_env, &made, &error) != PETAL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(petal_bitmap_bits(made), bits);
    return made;
}

/* ---- a bitmap and its model ---- */

struct model {
    uint64_t bits;
    bool *set;
    petal_bitmap *bitmap;
};

static struct model
new_model(uint64_t bits)
{
    struct model model = {bits, test_allocate(bits * sizeof(bool)), new_bitmap(bits)};

    memset(model.set, 0, bits * sizeof(bool));
    return model;
}

static void
free_model(struct model *model)
{
    free(model->set);
    petal_bitmap_free(model->bitmap);
}

/* Also numbers out of range, and near the borders of words, blocks and chunks. */
static uint64_t
any_number(struct test_random *random, uint64_t bits)
{
    static const uint64_t units[] = {64, 512, 2048, CHUNK_BITS};
    uint64_t number = test_random_below(random, bits + bits / 50 + 2), unit;

    if (!test_random_chance(random, 40))
        return number;
    unit = units[test_random_below(random, 4)];
    number = number / unit * unit + test_random_below(random, 3);
    return number == 0 ? 0 : number - 1;
}

/* One number, or some that follow each other. */
static void
change(struct model *model, struct test_random *random)
{
    uint64_t number = any_number(random, model->bits);
    uint64_t count = test_random_chance(random, 90) ? 1 : test_random_below(random, 3000);

    for (; count > 0; count--, number++) {
        bool in = number < model->bits;

        assert_int_equal(petal_bitmap_set(model->bitmap, number), in && model->set[number]);
        if (in)
            model->set[number] = true;
    }
}

/* Everything that can be asked, at all numbers. */
static void
check_all(const struct model *model, const petal_bitmap *bitmap)
{
    uint64_t count = 0, next_set = PETAL_BITMAP_NONE, next_clear = PETAL_BITMAP_NONE;

    for (uint64_t i = 0; i < model->bits; i++) {
        assert_int_equal(petal_bitmap_test(bitmap, i), model->set[i]);
        count += model->set[i];
    }
    assert_int_equal(petal_bitmap_count(bitmap), count);
    for (uint64_t i = model->bits; i-- > 0;) {
        next_set = model->set[i] ? i : next_set;
        next_clear = model->set[i] ? next_clear : i;
        assert_int_equal(petal_bitmap_next_set(bitmap, i), next_set);
        assert_int_equal(petal_bitmap_next_clear(bitmap, i), next_clear);
    }
    assert_false(petal_bitmap_test(bitmap, model->bits));
    assert_int_equal(petal_bitmap_next_set(bitmap, model->bits), PETAL_BITMAP_NONE);
    assert_int_equal(petal_bitmap_next_clear(bitmap, UINT64_MAX), PETAL_BITMAP_NONE);
}

/* Some questions, for bitmaps that are too large to ask all. */
static void
check_some(const struct model *model, const petal_bitmap *bitmap, struct test_random *random)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < 20; i++) {
        uint64_t from = any_number(random, model->bits), found;

        assert_int_equal(petal_bitmap_test(bitmap, from), from < model->bits && model->set[from]);
        for (found = from; found < model->bits && !model->set[found]; found++)
            ;
        assert_int_equal(petal_bitmap_next_set(bitmap, from),
                         found < model->bits ? found : PETAL_BITMAP_NONE);
        for (found = from; found < model->bits && model->set[found]; found++)
            ;
        assert_int_equal(petal_bitmap_next_clear(bitmap, from),
                         found < model->bits ? found : PETAL_BITMAP_NONE);
    }
    for (uint64_t i = 0; i < model->bits; i++)
        count += model->set[i];
    assert_int_equal(petal_bitmap_count(bitmap), count);
}

TEST(small_bitmaps_answer_as_their_model)
{
    static const uint64_t sizes[] = {1, 2, 63, 64, 65, 511, 512, 2047, 2048, 2049, 10000};
    struct test_random random;

    test_random_init(&random, test_seed());
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct model model = new_model(sizes[i]);

        for (unsigned round = 0; round < 30; round++) {
            for (unsigned n = 0; n < 1 + sizes[i] / 100; n++)
                change(&model, &random);
            if (sizes[i] < 5000 || round < 4)
                check_all(&model, model.bitmap);
        }
        free_model(&model);
    }
}

TEST(large_bitmaps_answer_as_their_model)
{
    struct test_random random;
    unsigned rounds = test_short() ? 10 : 60;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < rounds; round++) {
        struct model model = new_model(CHUNK_BITS * test_random_below(&random, 4) + 1 +
                                       test_random_below(&random, CHUNK_BITS + 1));
        uint64_t changes = test_random_below(&random, round % 3 == 0 ? 10 : 1000);

        for (uint64_t n = 0; n < changes; n++)
            change(&model, &random);
        check_some(&model, model.bitmap, &random);
        change(&model, &random);
        check_some(&model, model.bitmap, &random);
        free_model(&model);
    }
}

/* More bits than the model can hold: a number in a few thousand. */
TEST(huge_bitmaps_answer_as_a_list)
{
    const uint64_t bits = (UINT64_C(1) << 35) + 12345;
    enum { NUMBERS = 3000 };
    static uint64_t numbers[NUMBERS];
    petal_bitmap *bitmap = new_bitmap(bits);
    struct test_random random;
    uint64_t number = 0;

    test_random_init(&random, test_seed());
    for (unsigned i = 0; i < NUMBERS; i++) {
        /* Some close together, some far, one in the last word. */
        number += 1 + test_random_below(&random, test_random_chance(&random, 50) ? 100 : 20000000);
        numbers[i] = number;
    }
    numbers[NUMBERS - 1] = bits - 1;
    assert_true(numbers[NUMBERS - 2] < bits - 1);
    for (unsigned i = 0; i < NUMBERS; i++)
        assert_false(petal_bitmap_set(bitmap, numbers[i]));
    assert_int_equal(petal_bitmap_count(bitmap), NUMBERS);
    for (unsigned i = 0; i < NUMBERS; i++)
        assert_int_equal(petal_bitmap_next_set(bitmap, i == 0 ? 0 : numbers[i - 1] + 1),
                         numbers[i]);
    petal_bitmap_free(bitmap);
}

TEST(sizes_that_cannot_be_are_refused)
{
    petal_bitmap *made;
    petal_error error;

    assert_int_equal(petal_bitmap_create(0, NULL, &made, &error), PETAL_INVALID);
    assert_null(made);
    assert_int_equal(petal_bitmap_create(PETAL_BITMAP_MAX_BITS + 1, NULL, &made, &error),
                     PETAL_INVALID);
    assert_non_null(strstr(error.text, "bits is 1099511627777"));
    petal_bitmap_free(NULL);
}

/* ---- two bitmaps ---- */

TEST(two_bitmaps_are_joined_as_their_models)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < 60; round++) {
        uint64_t bits = round % 2 == 0 ? 1 + test_random_below(&random, 3000)
                                       : 3 * CHUNK_BITS - test_random_below(&random, 70);
        struct model a = new_model(bits), b = new_model(bits);

        for (uint64_t n = test_random_below(&random, 20); n > 0; n--) {
            change(&a, &random);
            change(&b, &random);
        }
        assert_int_equal(petal_bitmap_unite(a.bitmap, b.bitmap, NULL), PETAL_OK);
        for (uint64_t i = 0; i < bits; i++)
            a.set[i] = a.set[i] || b.set[i];
        check_some(&a, a.bitmap, &random);
        for (uint64_t i = 0; i < bits; i++)
            assert_int_equal(petal_bitmap_test(a.bitmap, i), a.set[i]);
        free_model(&a);
        free_model(&b);
    }
}

TEST(bitmaps_of_other_sizes_are_not_joined)
{
    petal_bitmap *a = new_bitmap(100), *b = new_bitmap(101);
    petal_error error;

    assert_int_equal(petal_bitmap_unite(a, b, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "100 and 101 bits"));
    petal_bitmap_free(a);
    petal_bitmap_free(b);
}

/* ---- files ---- */

static enum petal_status
load(bool map, petal_bitmap **loaded, petal_error *error)
{
    const petal_bloom_load_options options = {.map = map, .env = &set_env};

    return petal_bitmap_load("bitmap", &options, loaded, error);
}

TEST(files_come_back)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < 24; round++) {
        struct model model = new_model(1 + test_random_below(&random, 3 * CHUNK_BITS));
        bool map = round % 2 > 0;
        petal_bitmap *loaded;

        for (uint64_t n = test_random_below(&random, 200); n > 0; n--)
            change(&model, &random);
        assert_int_equal(petal_bitmap_save(model.bitmap, "bitmap", NULL), PETAL_OK);
        assert_int_equal(load(map, &loaded, NULL), PETAL_OK);
        check_some(&model, loaded, &random);
        if (map) {
            assert_false(petal_bitmap_set(loaded, 0));
            assert_int_equal(petal_bitmap_unite(loaded, loaded, NULL), PETAL_READ_ONLY);
        } else {
            petal_bitmap_free(model.bitmap);
            model.bitmap = loaded;
            for (unsigned n = 0; n < 20; n++)
                change(&model, &random);
        }
        check_some(&model, loaded, &random);
        if (map)
            petal_bitmap_free(loaded);
        free_model(&model);
    }
}

TEST(lies_of_files_are_refused)
{
    static const struct {
        size_t at;
        uint8_t value;
        enum petal_status status;
        const char *text;
    } lies[] = {
        {12, 9, PETAL_UNSUPPORTED, "layout 9"},
        {32, 0, PETAL_CORRUPT, "of 0 numbers"},
        {38, 1, PETAL_CORRUPT, "1 to 1099511627776"},
        {32, 129, PETAL_CORRUPT, "has 16 bytes; its 129 numbers take 24"},
        {4096 + 15, 0x10, PETAL_CORRUPT, "behind the last of 124 numbers"},
    };
    petal_bitmap *made = new_bitmap(124);
    size_t size;
    uint8_t *bytes;

    assert_int_equal(petal_bitmap_save(made, "bitmap", NULL), PETAL_OK);
    assert_int_equal(memory_vfs_read_file(set_vfs, "bitmap", &bytes, &size), 0);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        uint8_t before = bytes[lies[i].at];
        petal_bitmap *loaded;
        petal_error error;

        bytes[lies[i].at] = lies[i].value;
        set_seal(bytes, size);
        assert_int_equal(memory_vfs_write_file(set_vfs, "bitmap", bytes, size), 0);
        for (unsigned way = 0; way < 2; way++) {
            assert_int_equal(load(way > 0, &loaded, &error), lies[i].status);
            assert_null(loaded);
            assert_non_null(strstr(error.text, lies[i].text));
        }
        bytes[lies[i].at] = before;
    }
    free(bytes);
    petal_bitmap_free(made);
}

/* ---- memory ---- */

/* ThreadSanitizer keeps notes of all memory that is looked at, and they are resident, too. */
#if defined(__SANITIZE_THREAD__)
#define NOTES_ARE_KEPT true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NOTES_ARE_KEPT true
#endif
#endif
#ifndef NOTES_ARE_KEPT
#define NOTES_ARE_KEPT false
#endif

static uint64_t
resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long addresses, resident;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &addresses, &resident), 2);
    (void)fclose(file);
    return NOTES_ARE_KEPT ? 0 : (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* In memory and, where the file system has holes, on the disk: 2^32 bits of which few are set. */
TEST(far_from_all_numbers_there_is_no_memory)
{
    const uint64_t bits = UINT64_C(1) << 32, mebibyte = 1 << 20;
    char *directory = test_directory_new(), *path = test_path(directory, "bitmap");
    uint64_t before = resident_bytes();
    petal_bitmap *bitmap, *loaded;
    struct stat status;

    assert_int_equal(petal_bitmap_create(bits, NULL, &bitmap, NULL), PETAL_OK);
    for (uint64_t i = 0; i < 10; i++)
        petal_bitmap_set(bitmap, i * (bits / 10));
    assert_int_equal(petal_bitmap_count(bitmap), 10);
    assert_int_equal(petal_bitmap_next_set(bitmap, bits / 10 * 8 + 1), bits / 10 * 9);
    assert_true(resident_bytes() < before + 32 * mebibyte);
    assert_int_equal(petal_bitmap_save(bitmap, path, NULL), PETAL_OK);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, SET_FILE_PAGE_BYTES + bits / 8);
    assert_true((uint64_t)status.st_blocks * 512 < 4 * mebibyte);
    assert_int_equal(petal_bitmap_load(path, NULL, &loaded, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap_count(loaded), 10);
    assert_true(resident_bytes() < before + 64 * mebibyte);
    petal_bitmap_free(loaded);
    petal_bitmap_free(bitmap);
    free(path);
    test_directory_free(directory);
}

/* Memory that was written to, without pages of files. */
static uint64_t
written_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long addresses, resident, shared;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld %ld", &addresses, &resident, &shared), 3);
    (void)fclose(file);
    return NOTES_ARE_KEPT ? 0 : (uint64_t)(resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

#define SPARSE_NUMBERS 10u

static void
expect_sparse(const petal_bitmap *bitmap, uint64_t numbers, uint64_t before)
{
    assert_true(written_bytes() < before + (UINT64_C(8) << 20));
    assert_int_equal(petal_bitmap_count(bitmap), numbers);
}

/* A mapped file is mostly holes: of 2^30 bits, 128 MiB, nothing of the other bitmap is written to
 * for those. */
TEST(uniting_takes_memory_near_numbers_only)
{
    const uint64_t bits = UINT64_C(1) << 30;
    const petal_bloom_load_options options = {.map = true};
    char *directory = test_directory_new(), *path = test_path(directory, "bitmap");
    petal_bitmap *made, *mapped, *target;
    petal_bitmap2 *made2, *mapped2, *target2;
    uint64_t before;

    assert_int_equal(petal_bitmap_create(bits, NULL, &made, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap2_create(bits, NULL, &made2, NULL), PETAL_OK);
    for (uint64_t i = 0; i < SPARSE_NUMBERS; i++) {
        (void)petal_bitmap_set(made, i * (bits / SPARSE_NUMBERS));
        (void)petal_bitmap2_add(made2, i * (bits / SPARSE_NUMBERS));
    }
    assert_int_equal(petal_bitmap_save(made, path, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap_load(path, &options, &mapped, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap2_save(made2, path, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap2_load(path, &options, &mapped2, NULL), PETAL_OK);

    before = written_bytes();
    assert_int_equal(petal_bitmap_create(bits, NULL, &target, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap_unite(target, mapped, NULL), PETAL_OK);
    expect_sparse(target, SPARSE_NUMBERS, before);
    assert_int_equal(petal_bitmap2_create(bits, NULL, &target2, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap2_unite(target2, mapped2, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap2_count(target2, PETAL_BITMAP2_ONE), SPARSE_NUMBERS);
    expect_sparse(target, SPARSE_NUMBERS, before);

    petal_bitmap_free(made);
    petal_bitmap_free(mapped);
    petal_bitmap_free(target);
    petal_bitmap2_free(made2);
    petal_bitmap2_free(mapped2);
    petal_bitmap2_free(target2);
    free(path);
    test_directory_free(directory);
}

/* The largest, of which most machines have not the memory. */
TEST(the_largest_bitmap_can_be_had)
{
    petal_bitmap *bitmap;

    assert_int_equal(petal_bitmap_create(PETAL_BITMAP_MAX_BITS, NULL, &bitmap, NULL), PETAL_OK);
    assert_false(petal_bitmap_set(bitmap, PETAL_BITMAP_MAX_BITS - 1));
    assert_true(petal_bitmap_set(bitmap, PETAL_BITMAP_MAX_BITS - 1));
    assert_int_equal(petal_bitmap_next_set(bitmap, 0), PETAL_BITMAP_MAX_BITS - 1);
    assert_int_equal(petal_bitmap_count(bitmap), 1);
    petal_bitmap_free(bitmap);
}

/* ---- threads ---- */

#define THREADS        4
#define THREAD_NUMBERS 1024u
#define THREAD_ROUNDS  400u

struct worker {
    petal_bitmap *bitmap;
    uint64_t number, lost, first; /* how many numbers it was the first to enter */
};

/* In few words, which all change at the same time, each enters numbers that nobody else does, anew
 * in each round; then all enter the same. */
static void *
work(void *argument)
{
    struct worker *worker = argument;

    for (uint64_t round = 0; round < THREAD_ROUNDS; round++) {
        uint64_t begin = round * THREAD_NUMBERS, end = begin + THREAD_NUMBERS;

        for (uint64_t i = begin + worker->number; i < end; i += THREADS)
            worker->lost += petal_bitmap_set(worker->bitmap, i);
        for (uint64_t i = begin + worker->number; i < end; i += THREADS)
            worker->lost += !petal_bitmap_test(worker->bitmap, i);
        (void)petal_bitmap_next_set(worker->bitmap, round);
        (void)petal_bitmap_count(worker->bitmap);
    }
    for (uint64_t i = 0; i < CHUNK_BITS; i++)
        worker->first += !petal_bitmap_set(worker->bitmap, CHUNK_BITS + i);
    return NULL;
}

TEST(threads_lose_no_number)
{
    petal_bitmap *bitmap = new_bitmap(2 * CHUNK_BITS);
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    uint64_t first = 0;

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){bitmap, i, 0, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].lost, 0);
        first += workers[i].first;
    }
    assert_int_equal(first, CHUNK_BITS);
    assert_int_equal(petal_bitmap_count(bitmap), THREAD_ROUNDS * THREAD_NUMBERS + CHUNK_BITS);
    petal_bitmap_free(bitmap);
}

TEST_GROUP(set_fixture_begin, set_fixture_end);

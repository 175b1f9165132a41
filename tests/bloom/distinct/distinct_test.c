/*
 * distinct_test.c -- counts of distinct keys: registers are what a plain model says, by hash, by
 * key, by many threads, united and folded; the count errs by what theory says, for few keys and
 * many; files come back, and none that is damaged is believed.
 */
#include "tests/bloom/set_fixture.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PRECISION 4u
#define MOST_PRECISION  21u

static petal_distinct *
new_distinct(unsigned precision, uint64_t salt)
{
    double error = 1.04 / sqrt((double)(1u << precision)) * 1.0001;
    petal_distinct *made;

    if (precision == LEAST_PRECISION)
        error = PETAL_DISTINCT_MAX_ERROR;
    if (precision == MOST_PRECISION)
        error = PETAL_DISTINCT_MIN_ERROR;
    assert_int_equal(petal_distinct_create(error, salt, &set_env, &made, NULL), PETAL_OK);
    assert_int_equal(petal_distinct_registers(made), 1u << precision);
    return made;
}

/* The file of it; its registers begin at SET_FILE_PAGE_BYTES. */
static uint8_t *
bytes_of(const petal_distinct *distinct, size_t *size)
{
    uint8_t *bytes;

    assert_int_equal(petal_distinct_save(distinct, "distinct", NULL), PETAL_OK);
    assert_int_equal(memory_vfs_read_file(set_vfs, "distinct", &bytes, size), 0);
    return bytes;
}

static void
expect_equal(const petal_distinct *a, const petal_distinct *b)
{
    size_t a_size, b_size;
    uint8_t *a_bytes = bytes_of(a, &a_size), *b_bytes = bytes_of(b, &b_size);

    assert_int_equal(a_size, b_size);
    assert_memory_equal(a_bytes, b_bytes, a_size);
    free(a_bytes);
    free(b_bytes);
}

/* ---- registers ---- */

static unsigned
model_rank(uint64_t hash, unsigned precision)
{
    unsigned rank = 1;

    for (unsigned bit = 64 - precision; bit > 0 && (hash >> (bit - 1) & 1) == 0; bit--)
        rank++;
    return rank;
}

/* Hashes of few bits, too, which have the greatest ranks. */
static uint64_t
any_hash(struct test_random *random)
{
    uint64_t hash = test_random_next(random);

    return test_random_chance(random, 20) ? hash >> test_random_below(random, 64) : hash;
}

TEST(registers_are_those_of_a_plain_model)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned precision = LEAST_PRECISION; precision <= MOST_PRECISION; precision++) {
        petal_distinct *distinct = new_distinct(precision, 5);
        uint8_t *model = test_allocate((size_t)1 << precision), *bytes;
        uint64_t hashes[100];
        size_t size;

        memset(model, 0, (size_t)1 << precision);
        for (unsigned round = 0; round < 50; round++) {
            size_t count = (size_t)test_random_below(&random, 101);

            for (size_t i = 0; i < count; i++) {
                unsigned rank;
                uint8_t *reg;

                hashes[i] = round == 0 && i == 0 ? 0 : any_hash(&random);
                rank = model_rank(hashes[i], precision);
                reg = &model[hashes[i] >> (64 - precision)];
                *reg = rank > *reg ? (uint8_t)rank : *reg;
            }
            petal_distinct_add_hashes(distinct, hashes, count);
        }
        bytes = bytes_of(distinct, &size);
        assert_int_equal(size, SET_FILE_PAGE_BYTES + ((size_t)1 << precision));
        assert_memory_equal(bytes + SET_FILE_PAGE_BYTES, model, (size_t)1 << precision);
        free(bytes);
        free(model);
        petal_distinct_free(distinct);
    }
}

TEST(keys_are_entered_by_their_hashes)
{
    petal_distinct *keys = new_distinct(12, 77), *hashes = new_distinct(12, 77);

    for (unsigned i = 0; i < 10000; i++) {
        const petal_slice key = {&i, i % 5};
        uint64_t hash = petal_bloom_hash(key, 77);

        petal_distinct_add(keys, key);
        petal_distinct_add_hashes(hashes, &hash, 1);
    }
    expect_equal(keys, hashes);
    petal_distinct_free(keys);
    petal_distinct_free(hashes);
}

/* ---- union ---- */

/* Parts of whatever precision, united in any order, are the sketch of all keys with the least. */
TEST(a_union_is_the_sketch_of_all_keys)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < 200; round++) {
        unsigned least = MOST_PRECISION, parts = 2 + (unsigned)test_random_below(&random, 4);
        petal_distinct *part[5] = {NULL}, *all;
        uint64_t first = test_random_next(&random);
        struct test_random keys;

        for (unsigned i = 0; i < parts; i++) {
            unsigned precision = LEAST_PRECISION + (unsigned)test_random_below(&random, 9);

            least = precision < least ? precision : least;
            part[i] = new_distinct(precision, 1);
        }
        all = new_distinct(least, 1);
        test_random_init(&keys, first);
        for (uint64_t n = test_random_below(&random, 3000); n > 0; n--) {
            uint64_t hash = any_hash(&keys);

            petal_distinct_add_hashes(all, &hash, 1);
            petal_distinct_add_hashes(part[test_random_below(&random, parts)], &hash, 1);
        }
        for (unsigned i = 1; i < parts; i++)
            assert_int_equal(petal_distinct_unite(part[0], part[i], NULL), PETAL_OK);
        expect_equal(part[0], all);
        assert_true(petal_distinct_count(part[0]) == petal_distinct_count(all));
        assert_int_equal(petal_distinct_unite(all, all, NULL), PETAL_OK);
        expect_equal(part[0], all);
        for (unsigned i = 0; i < parts; i++)
            petal_distinct_free(part[i]);
        petal_distinct_free(all);
    }
}

TEST(other_salts_are_not_united)
{
    petal_distinct *a = new_distinct(4, 1), *b = new_distinct(5, 2);
    petal_error error;

    assert_int_equal(petal_distinct_salt(a), 1);
    assert_int_equal(petal_distinct_unite(a, b, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "different salts"));
    petal_distinct_free(a);
    petal_distinct_free(b);
}

/* ---- threads ---- */

#define THREADS     4
#define THREAD_KEYS 100000u

struct adder {
    petal_distinct *distinct;
    uint64_t first;
};

/* Neighbours have half of their keys in common. */
static void *
add_keys(void *argument)
{
    const struct adder *adder = argument;
    struct test_random random;

    for (unsigned half = 0; half < 2; half++) {
        test_random_init(&random, adder->first + half);
        for (unsigned i = 0; i < THREAD_KEYS / 2; i++) {
            uint64_t hash = test_random_next(&random);

            petal_distinct_add_hashes(adder->distinct, &hash, 1);
        }
        (void)petal_distinct_count(adder->distinct);
    }
    return NULL;
}

TEST(threads_lose_no_key)
{
    petal_distinct *together = new_distinct(6, 0), *alone = new_distinct(6, 0);
    struct adder adders[THREADS];
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        adders[i] = (struct adder){together, i};
        assert_int_equal(pthread_create(&threads[i], NULL, add_keys, &adders[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        struct adder one = {alone, i};

        assert_int_equal(pthread_join(threads[i], NULL), 0);
        add_keys(&one);
    }
    expect_equal(together, alone);
    petal_distinct_free(together);
    petal_distinct_free(alone);
}

/* All raise the same registers at the same time, each to a rank of its own. */
static void *
raise_registers(void *argument)
{
    const struct adder *adder = argument;

    for (uint64_t reg = 0; reg < UINT64_C(1) << MOST_PRECISION; reg++) {
        uint64_t hash = reg << (64 - MOST_PRECISION) |
                        UINT64_C(1) << (63 - MOST_PRECISION - (adder->first + reg) % THREADS);

        petal_distinct_add_hashes(adder->distinct, &hash, 1);
    }
    return NULL;
}

TEST(the_greatest_of_ranks_that_come_at_once_stays)
{
    petal_distinct *together = new_distinct(MOST_PRECISION, 0);
    struct adder adders[THREADS];
    pthread_t threads[THREADS];
    size_t size;
    uint8_t *bytes;

    for (unsigned i = 0; i < THREADS; i++) {
        adders[i] = (struct adder){together, i};
        assert_int_equal(pthread_create(&threads[i], NULL, raise_registers, &adders[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    bytes = bytes_of(together, &size);
    for (size_t i = SET_FILE_PAGE_BYTES; i < size; i++)
        assert_int_equal(bytes[i], THREADS);
    free(bytes);
    petal_distinct_free(together);
}

/* ---- the error ---- */

static const unsigned tried_precisions[] = {4, 7, 10, 12, 14};
#define PRECISIONS (sizeof tried_precisions / sizeof tried_precisions[0])

/* At so many keys the count is looked at. */
static const uint64_t points[] = {1,     2,     3,      5,      10,     20,      50,
                                  100,   200,   500,    1000,   2000,   5000,    10000,
                                  20000, 50000, 100000, 200000, 500000, 1000000, 10000000};
#define POINTS (sizeof points / sizeof points[0])

struct errors {
    double sum, squares;
};

static void
run_keys(struct errors errors[PRECISIONS][POINTS], size_t last_point, uint64_t seed)
{
    petal_distinct *sketches[PRECISIONS];
    struct test_random random;
    uint64_t hashes[256], done = 0;

    test_random_init(&random, seed);
    for (size_t p = 0; p < PRECISIONS; p++)
        sketches[p] = new_distinct(tried_precisions[p], 0);
    for (size_t point = 0; point <= last_point; point++) {
        while (done < points[point]) {
            size_t count = 0;

            for (; count < 256 && done < points[point]; done++)
                hashes[count++] = test_random_next(&random);
            for (size_t p = 0; p < PRECISIONS; p++)
                petal_distinct_add_hashes(sketches[p], hashes, count);
        }
        for (size_t p = 0; p < PRECISIONS; p++) {
            double n = (double)done, wrong = (petal_distinct_count(sketches[p]) - n) / n;

            errors[p][point].sum += wrong;
            errors[p][point].squares += wrong * wrong;
        }
    }
    for (size_t p = 0; p < PRECISIONS; p++)
        petal_distinct_free(sketches[p]);
}

/*
 * Of R runs the root of the mean square error is within 1 +- 4/sqrt(2R) of the true one, and the
 * mean within 4/sqrt(R) of it, or of the 0.1/m that the estimate itself is wrong by: four standard
 * deviations. The true one is that of theory where keys are many beside registers, and not more
 * where they are few; but 16 registers err by a tenth more, and have large errors more often than a
 * normal distribution would.
 */
static void
check_errors(const struct errors *errors, unsigned precision, uint64_t keys, double runs)
{
    double registers = (double)(1u << precision);
    double theory = (precision == 4 ? 1.15 : 1.04) / sqrt(registers);
    double deviations = precision == 4 ? 6 : 4;
    double mean = errors->sum / runs, square = sqrt(errors->squares / runs);

    if (runs >= 100) {
        /* Among few keys it takes one meeting of two, which is rare, to err at all. */
        if (keys >= 50)
            assert_true(square < theory * (1 + deviations / sqrt(2 * runs)));
        assert_true(fabs(mean) < 4 * theory / sqrt(runs) + 0.1 / registers);
        if ((double)keys > 10 * registers)
            assert_true(square > theory * (1 - deviations / sqrt(2 * runs)) * 0.97);
    } else {
        assert_true(fabs(mean) < 4.5 * theory);
    }
}

/* Many runs of few registers, where a wrong constant shows: 7 of 100 of 16 registers. And so many
 * counts are within once and twice the error that is promised. */
TEST(few_registers_are_not_biased)
{
    static const uint64_t keys[] = {1, 3, 10, 30, 100, 1000};
    const unsigned runs = 5000;
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned precision = LEAST_PRECISION; precision <= 7; precision++) {
        double sum[6] = {0};
        unsigned once = 0, twice = 0;

        for (unsigned run = 0; run < runs; run++) {
            petal_distinct *made = new_distinct(precision, 0);
            uint64_t done = 0;

            for (unsigned point = 0; point < 6; point++) {
                double wrong;

                for (; done < keys[point]; done++) {
                    uint64_t hash = test_random_next(&random);

                    petal_distinct_add_hashes(made, &hash, 1);
                }
                wrong = petal_distinct_count(made) / (double)done - 1;
                sum[point] += wrong;
                once += point == 5 && fabs(wrong) <= petal_distinct_standard_error(made);
                twice += point == 5 && fabs(wrong) <= 2 * petal_distinct_standard_error(made);
            }
            petal_distinct_free(made);
        }
        for (unsigned point = 0; point < 6; point++)
            assert_true(fabs(sum[point] / runs) <
                        1.15 / sqrt(1u << precision) * 4 / sqrt(runs) + 0.1 / (1u << precision));
        assert_in_range(once, runs * 66 / 100, runs * 75 / 100);
        assert_in_range(twice, runs * 93 / 100, runs * 98 / 100);
    }
}

TEST(the_error_is_that_of_theory)
{
    static struct errors errors[PRECISIONS][POINTS];
    unsigned runs = test_long() ? 2000 : test_short() ? 100 : 200;
    size_t last = POINTS - 3; /* 500,000 */
    uint64_t seed = test_seed();

    for (unsigned run = 0; run < runs; run++)
        run_keys(errors, last, seed * 1000003 + run);
    for (size_t p = 0; p < PRECISIONS; p++) {
        for (size_t point = 0; point <= last; point++)
            check_errors(&errors[p][point], tried_precisions[p], points[point], runs);
        test_counted("2^%u registers: error %.4f at 1,000 keys, %.4f at 500,000 of %u runs; "
                     "theory %.4f",
                     tried_precisions[p], sqrt(errors[p][10].squares / runs),
                     sqrt(errors[p][last].squares / runs), runs,
                     1.04 / sqrt((double)(1u << tried_precisions[p])));
    }
    memset(errors, 0, sizeof errors);
    run_keys(errors, POINTS - 1, seed * 1000003 - 1);
    for (size_t p = 0; p < PRECISIONS; p++)
        check_errors(&errors[p][POINTS - 1], tried_precisions[p], points[POINTS - 1], 1);
}

TEST(errors_that_cannot_be_had_are_refused)
{
    static const double wrong[] = {-1, 0.0009, 0.27, 1, INFINITY, NAN};
    petal_distinct *made;
    petal_error error;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(petal_distinct_create(wrong[i], 0, &set_env, &made, &error),
                         PETAL_INVALID);
        assert_null(made);
        assert_non_null(strstr(error.text, "standard_error"));
    }
    assert_int_equal(petal_distinct_create(0, 0, &set_env, &made, NULL), PETAL_OK);
    assert_int_equal(petal_distinct_registers(made), 16384);
    assert_true(petal_distinct_standard_error(made) == 1.04 / 128);
    assert_true(petal_distinct_count(made) == 0);
    petal_distinct_free(made);
    petal_distinct_free(NULL);
}

/* ---- files ---- */

static enum petal_status
load(bool map, petal_distinct **loaded, petal_error *error)
{
    const petal_bloom_load_options options = {.map = map, .env = &set_env};

    return petal_distinct_load("distinct", &options, loaded, error);
}

TEST(files_come_back)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned way = 0; way < 2; way++) {
        petal_distinct *made = new_distinct(11, 9), *loaded;
        uint64_t hash;

        for (unsigned i = 0; i < 3000; i++) {
            hash = test_random_next(&random);
            petal_distinct_add_hashes(made, &hash, 1);
        }
        assert_int_equal(petal_distinct_save(made, "distinct", NULL), PETAL_OK);
        assert_int_equal(load(way > 0, &loaded, NULL), PETAL_OK);
        assert_int_equal(petal_distinct_salt(loaded), 9);
        assert_true(petal_distinct_count(loaded) == petal_distinct_count(made));
        hash = 3;
        petal_distinct_add_hashes(loaded, &hash, 1);
        petal_distinct_add(loaded, (petal_slice){"a", 1});
        if (way > 0)
            assert_int_equal(petal_distinct_unite(loaded, made, NULL), PETAL_READ_ONLY);
        else
            assert_true(petal_distinct_count(loaded) > petal_distinct_count(made));
        if (way > 0)
            expect_equal(loaded, made);
        assert_int_equal(petal_distinct_unite(made, loaded, NULL), PETAL_OK);
        petal_distinct_free(made);
        petal_distinct_free(loaded);
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
        {12, 2, PETAL_UNSUPPORTED, "layout 2"},
        {32, 3, PETAL_CORRUPT, "precision of 3 bits"},
        {32, 22, PETAL_CORRUPT, "precision of 22 bits"},
        {33, 1, PETAL_CORRUPT, "precision of 261 bits"},
        {32, 6, PETAL_CORRUPT, "has 32 registers"},
        {4096 + 7, 61, PETAL_CORRUPT, "a register holds 61"},
    };
    petal_distinct *made = new_distinct(5, 0);
    size_t size;
    uint8_t *bytes = bytes_of(made, &size);

    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        uint8_t before = bytes[lies[i].at];
        petal_distinct *loaded;
        petal_error error;

        bytes[lies[i].at] = lies[i].value;
        set_seal(bytes, size);
        assert_int_equal(memory_vfs_write_file(set_vfs, "distinct", bytes, size), 0);
        for (unsigned way = 0; way < 2; way++) {
            assert_int_equal(load(way > 0, &loaded, &error), lies[i].status);
            assert_null(loaded);
            assert_non_null(strstr(error.text, lies[i].text));
        }
        bytes[lies[i].at] = before;
    }
    free(bytes);
    petal_distinct_free(made);
}

/* Registers that are all full are no reason to divide by 0. */
TEST(full_registers_count_at_most_all_hashes)
{
    petal_distinct *made = new_distinct(4, 0), *loaded;
    size_t size;
    uint8_t *bytes = bytes_of(made, &size);

    memset(bytes + SET_FILE_PAGE_BYTES, 61, 16);
    set_seal(bytes, size);
    assert_int_equal(memory_vfs_write_file(set_vfs, "distinct", bytes, size), 0);
    assert_int_equal(load(false, &loaded, NULL), PETAL_OK);
    assert_true(petal_distinct_count(loaded) == 18446744073709551616.0);
    free(bytes);
    petal_distinct_free(made);
    petal_distinct_free(loaded);
}

TEST_GROUP(set_fixture_begin, set_fixture_end);

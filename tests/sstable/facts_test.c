/*
 * facts_test.c -- the facts of a store file as bytes: what goes in comes out, facts of a later
 * writer are read, impossible ones are refused.
 */
#include "base/coding.h"
#include "sstable/file/facts.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>

#define NUMBERS_BYTES_AT 172
#define ALL_BYTES        232

/* Encoded facts in memory of exactly their size. */
struct facts_bytes {
    uint8_t *bytes;
    size_t size;
};

static const petal_slice qualifiers[] = {{"city", 4}, {"name", 4}};

static struct file_facts
some_facts(void)
{
    return (struct file_facts){.row_min = slice_from_text("a"),
                               .row_max = slice_from_text("row"),
                               .time_min = 5,
                               .time_max = 90,
                               .put_time_min = 17,
                               .sequence_min = 3,
                               .sequence_max = 9,
                               .cells = 10,
                               .rows = 4,
                               .puts = 7,
                               .deletes = 3,
                               .ttl_cells = 6,
                               .data_blocks = 2,
                               .bloom = PETAL_BLOOM_ROW_PREFIX,
                               .bloom_prefix_bytes = 12,
                               .written_ms = 4000,
                               .death_min = 6,
                               .death_max = 8000,
                               .origin = FILE_ORIGIN_MINOR,
                               .bloom_error_rate = 0.01,
                               .qualifiers_exact = true,
                               .qualifier_count = 2,
                               .qualifiers = qualifiers};
}

static struct facts_bytes
encode(const struct file_facts *facts)
{
    struct facts_bytes made = {.size = facts_encoded_bytes(facts)};

    made.bytes = test_allocate(made.size);
    facts_encode(facts, made.bytes);
    return made;
}

static void
expect_common(const struct file_facts *facts)
{
    assert_true(slice_equal(facts->row_min, slice_from_text("a")));
    assert_true(slice_equal(facts->row_max, slice_from_text("row")));
    assert_int_equal(facts->time_min, 5);
    assert_int_equal(facts->time_max, 90);
    assert_int_equal(facts->puts, 7);
    assert_int_equal(facts->qualifier_count, 2);
    assert_true(facts_may_have_qualifier(facts, slice_from_text("name")));
    assert_false(facts_may_have_qualifier(facts, slice_from_text("none")));
}

/* The same of a file that knows whose it is. */
static struct file_facts
owned_facts(void)
{
    struct file_facts facts = some_facts();

    facts.owner = (struct file_owner){70000, 60000, {"table", 5}, {"fa", 2}};
    return facts;
}

static void
expect_owner(const struct file_facts *facts)
{
    assert_int_equal(facts->owner.table_id, 70000);
    assert_int_equal(facts->owner.family_id, 60000);
    assert_true(slice_equal(facts->owner.table, slice_from_text("table")));
    assert_true(slice_equal(facts->owner.family, slice_from_text("fa")));
}

TEST(what_goes_in_comes_out)
{
    struct file_facts facts = some_facts(), found;
    struct facts_bytes made = encode(&facts);
    const char *what;

    assert_int_equal(get_le32(made.bytes + NUMBERS_BYTES_AT), ALL_BYTES);
    assert_int_equal(
        facts_decode(&found, slice_make(made.bytes, made.size), &mem_default_allocator, &what),
        PETAL_OK);
    expect_common(&found);
    assert_int_equal(found.put_time_min, 17);
    assert_int_equal(found.ttl_cells, 6);
    assert_int_equal(found.bloom_prefix_bytes, 12);
    assert_int_equal(found.written_ms, 4000);
    assert_int_equal(found.death_min, 6);
    assert_int_equal(found.death_max, 8000);
    assert_int_equal(found.origin, FILE_ORIGIN_MINOR);
    assert_int_equal(found.owner.table.size, 0);
    assert_false(found.single_cells);
    assert_int_equal(made.bytes[224], FILE_ORIGIN_MINOR);
    facts_fini(&found, &mem_default_allocator);
    free(made.bytes);
    facts.single_cells = true;
    made = encode(&facts);
    assert_int_equal(made.bytes[224], 0x80 | FILE_ORIGIN_MINOR);
    assert_int_equal(
        facts_decode(&found, slice_make(made.bytes, made.size), &mem_default_allocator, &what),
        PETAL_OK);
    assert_true(found.single_cells);
    assert_int_equal(found.origin, FILE_ORIGIN_MINOR);
    facts_fini(&found, &mem_default_allocator);
    free(made.bytes);
}

TEST(numbers_of_a_later_version_are_stepped_over)
{
    const size_t names = 8 + 2 + 5; /* whose the file is */
    struct file_facts facts = owned_facts(), found;
    struct facts_bytes made = encode(&facts);
    uint8_t *longer = test_allocate(made.size + 9);
    const char *what;

    memcpy(longer, made.bytes, ALL_BYTES + names);
    memset(longer + ALL_BYTES + names, 0xee, 9);
    memcpy(longer + ALL_BYTES + names + 9, made.bytes + ALL_BYTES + names,
           made.size - ALL_BYTES - names);
    put_le32(longer + NUMBERS_BYTES_AT, (uint32_t)(ALL_BYTES + names + 9));
    assert_int_equal(
        facts_decode(&found, slice_make(longer, made.size + 9), &mem_default_allocator, &what),
        PETAL_OK);
    expect_common(&found);
    expect_owner(&found);
    assert_int_equal(found.put_time_min, 17);
    facts_fini(&found, &mem_default_allocator);
    free(longer);
    free(made.bytes);
}

TEST(names_of_the_owner_come_out)
{
    struct file_facts facts = owned_facts(), found;
    struct facts_bytes made = encode(&facts);
    const char *what;

    assert_int_equal(
        facts_decode(&found, slice_make(made.bytes, made.size), &mem_default_allocator, &what),
        PETAL_OK);
    expect_common(&found);
    expect_owner(&found);
    facts_fini(&found, &mem_default_allocator);
    for (unsigned at = 238; at <= 239; at++) { /* lengths that do not fit, or one name alone */
        uint8_t right = made.bytes[at];

        for (unsigned wrong = 0; wrong < 256; wrong++) {
            if (wrong != 0 && wrong <= right)
                continue;
            made.bytes[at] = (uint8_t)wrong;
            assert_int_equal(facts_decode(&found, slice_make(made.bytes, made.size),
                                          &mem_default_allocator, &what),
                             PETAL_CORRUPT);
        }
        made.bytes[at] = right;
    }
    free(made.bytes);
}

/* Eight bytes at `at` are `value` instead: refused, and no more than that. */
static void
expect_refused(size_t at, uint64_t value)
{
    struct file_facts facts = some_facts(), found;
    struct facts_bytes made = encode(&facts);
    const char *what = NULL;

    put_le64(made.bytes + at, value);
    assert_int_equal(
        facts_decode(&found, slice_make(made.bytes, made.size), &mem_default_allocator, &what),
        PETAL_CORRUPT);
    assert_non_null(what);
    free(made.bytes);
}

TEST(impossible_numbers_are_refused)
{
    for (uint64_t size = 0; size < 256; size++)
        if (size != ALL_BYTES)
            expect_refused(NUMBERS_BYTES_AT, size | (uint64_t)17 << 32);
    expect_refused(NUMBERS_BYTES_AT, UINT64_MAX);
    expect_refused(176, 4);  /* a put before all cells */
    expect_refused(176, 91); /* after all cells */
    expect_refused(184, 11); /* more cells with a time to live than cells */
    expect_refused(192, 0);  /* a filter of prefixes of no bytes */
    expect_refused(192, PETAL_MAX_ROW_BYTES + 1);
    expect_refused(192, (uint64_t)1 << 32 | 12); /* the zeros */
    expect_refused(208, 8001);                   /* the first dies after the last */
    expect_refused(224, (uint64_t)1 << 8 | FILE_ORIGIN_MINOR);
    expect_refused(224, (uint64_t)1 << 56 | FILE_ORIGIN_MINOR);
}

/* Deaths where there is nothing that could die. */
TEST(deaths_without_times_to_live_are_refused)
{
    struct file_facts facts = some_facts(), found;
    struct facts_bytes made;
    const char *what = NULL;

    facts.ttl_cells = 0;
    made = encode(&facts);
    assert_int_equal(
        facts_decode(&found, slice_make(made.bytes, made.size), &mem_default_allocator, &what),
        PETAL_CORRUPT);
    assert_non_null(what);
    free(made.bytes);
}

/* Times of death beyond the range of numbers, as the rule for one cell has them: dead when the
 * clock is past it. */
TEST(deaths_are_cut_at_the_ends)
{
    static const struct {
        int64_t timestamp, ttl_ms, death;
    } cases[] = {
        {5, 10, 15},
        {5, INT64_MAX, INT64_MAX},
        {INT64_MAX - 1, 1, INT64_MAX},
        {INT64_MAX - 1, 2, INT64_MAX},
        {5, -10, -5},
        {-5, INT64_MIN, INT64_MIN},
        {0, INT64_MIN, INT64_MIN},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct facts_gatherer gatherer;
        struct cell cell = {.row = slice_from_text("r"),
                            .qualifier = slice_from_text("q"),
                            .timestamp = cases[i].timestamp,
                            .sequence = 1,
                            .type = PETAL_PUT};

        facts_gatherer_init(&gatherer, &mem_default_allocator);
        assert_int_equal(facts_gatherer_add(&gatherer, &cell, NEW_ROW), PETAL_OK);
        assert_int_equal(gatherer.facts.death_max, 0);
        cell.sequence = 0;
        cell.has_ttl = true;
        cell.ttl_ms = cases[i].ttl_ms;
        assert_int_equal(facts_gatherer_add(&gatherer, &cell, SAME_COLUMN), PETAL_OK);
        assert_true(gatherer.facts.death_min == cases[i].death);
        assert_true(gatherer.facts.death_max == cases[i].death);
        assert_int_equal(gatherer.facts.ttl_cells, 1);
        facts_gatherer_fini(&gatherer);
    }
}

TEST(origins_of_a_later_version_are_unknown)
{
    struct file_facts facts = some_facts(), found;
    struct facts_bytes made = encode(&facts);
    const char *what;

    for (unsigned origin = FILE_ORIGIN_BULK + 1; origin < 256; origin++) {
        if (origin >= 128 && origin <= 128 + FILE_ORIGIN_BULK)
            continue;
        made.bytes[224] = (uint8_t)origin;
        assert_int_equal(
            facts_decode(&found, slice_make(made.bytes, made.size), &mem_default_allocator, &what),
            PETAL_OK);
        assert_int_equal(found.origin, FILE_ORIGIN_UNKNOWN);
        assert_int_equal(found.single_cells, origin >= 128);
        facts_fini(&found, &mem_default_allocator);
    }
    free(made.bytes);
}

TEST(every_shorter_size_is_refused)
{
    struct file_facts facts = some_facts(), found;
    struct facts_bytes made = encode(&facts);

    for (size_t size = 0; size < made.size; size++) {
        uint8_t *bytes = malloc(size + (size == 0));
        const char *what;

        assert_non_null(bytes);
        memcpy(bytes, made.bytes, size);
        assert_int_equal(
            facts_decode(&found, slice_make(bytes, size), &mem_default_allocator, &what),
            PETAL_CORRUPT);
        free(bytes);
    }
    free(made.bytes);
}

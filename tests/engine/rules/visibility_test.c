/* visibility_test.c -- the rules of engine/rules/visibility.h for each purpose, on rows made by
 * hand. */

#include "base/slice.h"
#include "tests/engine/rules/judged_row.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>

/* ---- reads ---- */

TEST(test_the_drawing)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_READ, 9);

    judged_row_check(&rules,
                     "q40.9P=shown q30.8C=marker q30.5P=masked! q20.7D=marker q20.6P=masked! "
                     "q20.3P=masked! q10.1P=masked!");
    /* The same without the marker that hides all. */
    judged_row_check(
        &rules, "q40.9P=shown q30.5P=shown q20.7D=marker q20.6P=masked q20.3P=masked q10.1P=shown");
}

TEST(test_what_markers_hide)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_READ, 9);

    /* Puts above the point of a marker live, at its timestamp by the order of writes. */
    judged_row_check(
        &rules,
        "20.5F=marker a30.1P=shown a20.6P=shown a20.4P=masked! a10.9P=masked! b20.7P=shown");
    judged_row_check(&rules, "a20.5C=marker a20.4P=masked! a10.9P=masked! b20.1P=shown");
    judged_row_check(&rules, "a20.6P=shown a20.5C=marker a20.4P=masked!");
    judged_row_check(&rules, "a20.6P=shown a20.5D=marker a20.4P=masked a10.9P=shown");
    judged_row_check(&rules, "a20.5D=marker a20.4P=masked a20.3P=masked a10.9P=shown");
    judged_row_check(&rules, "a20.5D=marker a20.4P=masked a10.9D=marker a10.8P=masked a5.1P=shown");
    /* Family versions: exact timestamps of any column, found among several. */
    judged_row_check(
        &rules, "40.4V=marker 30.9V=marker 30.3V=marker 10.8V=marker a40.3P=masked a35.1P=shown "
                "a30.5P=masked a20.1P=shown a10.9P=shown b40.5P=shown b30.10P=shown b10.1P=masked");
    /* Of several the greatest one counts. */
    judged_row_check(&rules,
                     "30.2F=marker 20.8F=marker a30.3P=shown a20.9P=masked! b30.1P=masked!");
    judged_row_check(&rules, "a30.2C=marker a20.9P=masked! a20.8C=marker b30.1P=shown");
    /* All kinds at once. */
    judged_row_check(
        &rules,
        "20.9V=marker 10.2F=marker a40.5C=marker a40.4P=masked! a20.3P=masked! b20.10P=shown "
        "b15.1P=shown b10.1P=masked! c20.8P=masked c10.3P=shown");
}

TEST(test_versions)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_READ, 2);

    judged_row_check(&rules, "a30.3P=shown a20.2P=shown a10.1P=surplus! b30.3P=shown");
    /* Superseded and masked ones do not count. */
    judged_row_check(&rules,
                     "a30.5P=shown a30.3P=superseded a20.4D=marker a20.2P=masked a10.1P=shown "
                     "a5.1P=surplus!");
    /* The empty qualifier, and one that begins with another. */
    judged_row_check(
        &rules, "30.3P=shown 20.2P=shown 10.1P=surplus! a10.1P=shown ab10.1P=shown abc9.1P=shown");
    rules.versions = 1;
    judged_row_check(&rules, "a30.3P=shown a20.2P=surplus! b1.1P=shown");
    rules.versions = UINT32_MAX;
    judged_row_check(&rules, "a30.3P=shown a20.2P=shown a10.1P=shown");
}

TEST(test_the_read_point)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_READ, 1);

    rules.read_point = 5;
    /* What was written later does not exist: it neither shows, nor counts, nor hides. */
    judged_row_check(
        &rules,
        "90.6F=outside a50.6C=outside a40.7P=outside a30.6D=outside a30.5P=shown a20.1P=surplus!");
    judged_row_check(&rules, "a30.6P=outside a30.5P=shown a30.4P=superseded");
}

TEST(test_own_times_to_live)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_READ, 1);

    rules.now_ms = 100;
    /* Dead when timestamp + TTL < now, the marker as the put. */
    judged_row_check(&rules, "a50.5P~49=expired a50.4P~50=shown");
    judged_row_check(&rules, "60.9F~39=expired a50.6C~10=expired a50.5P~60=shown");
    judged_row_check(&rules, "60.9F~40=marker a50.5P=masked!");
    judged_row_check(&rules, "a50.6P~0=expired a50.5P~-7=expired a40.1P=shown a30.1P=surplus!");
    judged_row_check(&rules, "a50.6P~9223372036854775807=shown");
}

TEST(test_the_family_time_to_live)
{
    petal_family_options family = {.versions = 3, .ttl_seconds = 1};
    struct visibility_rules rules;

    visibility_rules_of(&rules, &family, VISIBILITY_READ, JUDGED_READ_POINT, 1500);
    judged_row_check(&rules, "a600.3P=shown a500.2P=shown a499.1P=expired! b700.1P=shown");
    judged_row_check(
        &rules, "a499.5C=expired! a498.1P=expired! b499.1D=expired! b1.1P=expired! c600.1P=shown");
    judged_row_check(&rules, "499.9F=expired 498.9V=expired a500.1P=shown");
    /* MIN_VERSIONS: so many stay, and expired markers hide as ever. */
    family.min_versions = 2;
    visibility_rules_of(&rules, &family, VISIBILITY_READ, JUDGED_READ_POINT, 1500);
    judged_row_check(&rules,
                     "a600.3P=shown a400.2P=shown a300.1P=expired! b300.1P=shown b200.1P=shown "
                     "b100.1P=expired!");
    judged_row_check(&rules, "a600.3P=shown a550.3P=shown a500.3P=shown a300.1P=surplus!");
    judged_row_check(&rules, "a400.5C=marker a300.1P=masked!");
    /* Without a limit, with a clock near 1970, and in raw reads nothing is too old. */
    family = (petal_family_options){.versions = 3, .ttl_seconds = PETAL_FOREVER};
    visibility_rules_of(&rules, &family, VISIBILITY_READ, JUDGED_READ_POINT, INT64_MAX);
    judged_row_check(&rules, "a0.1P=shown");
    family.ttl_seconds = 1;
    visibility_rules_of(&rules, &family, VISIBILITY_READ, JUDGED_READ_POINT, 0);
    judged_row_check(&rules, "a0.1P=shown");
    visibility_rules_of(&rules, &family, VISIBILITY_RAW, JUDGED_READ_POINT, 5000);
    judged_row_check(&rules, "a0.1P=shown");
}

TEST(test_time_ranges)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_READ, 1);

    rules.time_min = 20;
    rules.time_limit = 40;
    judged_row_check(
        &rules,
        "a40.9P=outside a39.1P=shown a20.1P=surplus! b20.1P=shown c19.1P=outside! c18.1P=outside!");
    judged_row_check(&rules, "a50.9C=marker a30.1P=masked! b50.9D=marker b30.1P=shown");
    judged_row_check(&rules, "50.9F=marker a30.1P=masked!");
    /* A put above the range supersedes nothing in it. */
    judged_row_check(&rules, "a40.9P=outside a40.8P=superseded a30.1P=shown");
}

TEST(test_deleted_cells_that_are_kept)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_READ, 9);

    for (rules.keep_deleted = PETAL_KEEP_DELETED_TRUE; rules.keep_deleted <= PETAL_KEEP_DELETED_TTL;
         rules.keep_deleted++) {
        rules.time_limit = 40;
        /* Markers at or above the end of the range are not seen; below it they hide. */
        judged_row_check(&rules, "a40.9C=marker a30.1P=shown b39.9C=marker b30.1P=masked!");
        judged_row_check(&rules, "40.9F=marker 39.9V=marker a39.1P=masked a30.1P=shown");
        judged_row_check(&rules, "a30.9D=marker a30.1P=masked a20.1P=shown");
        rules.time_limit = INT64_MAX;
        judged_row_check(&rules, "a40.9C=marker a30.1P=masked!");
    }
}

TEST(test_long_qualifiers)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_READ, 1);
    struct test_allocator allocator;
    struct visibility visibility;
    uint8_t *bytes = test_allocate(100000);

    test_allocator_init(&allocator);
    memset(bytes, 0xff, 100000);
    visibility_init(&visibility, &allocator.table, &rules);
    visibility_start_row(&visibility);
    for (int i = 0; i < 4; i++) { /* two columns that differ in the last byte */
        struct cell cell = {.qualifier = slice_make(bytes, 100000), .type = PETAL_PUT};
        enum visibility_verdict verdict;

        bytes[99999] = (uint8_t)(i / 2);
        cell.timestamp = 10 - i;
        assert_int_equal(visibility_judge(&visibility, &cell, &verdict), PETAL_OK);
        assert_int_equal(verdict, i % 2 == 0 ? VISIBILITY_SHOW : VISIBILITY_COLUMN_DONE);
    }
    visibility_fini(&visibility);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
    free(bytes);
}

/* ---- raw reads ---- */

TEST(test_raw_reads)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_RAW, 9);

    /* All that is stored, in HBase's order: family markers beside the empty qualifier. */
    judged_row_check(
        &rules,
        "40.9F=shown 40.3V=shown 30.2P=shown a40.9C=shown a40.1P=shown a30.5D=shown a30.4P=shown");
    /* Doubles are one: of one type at one timestamp the latest write. */
    judged_row_check(
        &rules,
        "a30.9C=shown a30.8C=superseded a30.7D=shown a30.6P=shown a30.5P=superseded a29.4C=shown");
    /* Versions count puts; a marker shows until a put was too many. */
    rules.versions = 1;
    judged_row_check(&rules,
                     "a40.9P=shown a35.9D=shown a30.9P=surplus! a20.9C=surplus! b10.1C=shown");
    rules.versions = 2;
    rules.time_min = 20;
    rules.time_limit = 40;
    judged_row_check(
        &rules,
        "a40.9C=outside a39.1C=shown a30.1P=shown a19.1C=outside! b19.1P=outside! c20.1D=shown");
    rules.read_point = 5;
    rules.now_ms = 100;
    judged_row_check(&rules, "a39.6C=outside a38.5C~1=expired a37.4P~1=expired a36.3P~64=shown");
}

/* ---- flushes and compactions ---- */

TEST(test_rewrites_of_a_part)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_PART, 2);

    /* Markers stay; hidden, superseded and surplus puts go. */
    judged_row_check(
        &rules, "20.9V=shown a40.4P=shown a30.9D=shown a30.8P=masked a20.8P=masked a10.7P=shown "
                "a5.7P=surplus");
    judged_row_check(&rules, "a40.4P=shown a40.3P=superseded");
    /* Also those after what they or others hide, and after surplus puts, in every column. */
    judged_row_check(&rules,
                     "20.9F=shown 20.8P=masked 10.7C=shown a30.9C=shown a20.8P=masked a15.9D=shown "
                     "a10.9P=masked b20.8P=masked b15.9C=shown b10.9P=masked c30.9P=shown");
    judged_row_check(&rules, "a40.9P=shown a30.9P=shown a20.9P=surplus a15.9C=shown a10.1P=masked");
    judged_row_check(&rules, "40.9P=shown 30.9P=shown 20.9P=surplus 15.9C=shown 10.1P=masked");
    /* What is above the oldest read point stays, and does nothing. */
    rules.read_point = 5;
    judged_row_check(&rules,
                     "90.6F=shown a50.6P=shown a40.6C=shown a30.5P=shown a20.5P=shown a10.6P=shown "
                     "a10.5P=surplus");
    judged_row_check(&rules, "a30.7P=shown a30.6P=shown a30.5P=shown a30.4P=superseded");
}

TEST(test_rewrites_of_a_part_that_expired)
{
    petal_family_options family = {.versions = 3, .ttl_seconds = 1};
    struct visibility_rules rules;

    visibility_rules_of(&rules, &family, VISIBILITY_PART, JUDGED_READ_POINT, 1500);
    judged_row_check(&rules, "499.9F=expired a500.3P=shown a499.2C=expired a498.1P=expired "
                             "b500.2P~999=expired b500.1P~1000=shown");
    family.min_versions = 1;
    visibility_rules_of(&rules, &family, VISIBILITY_PART, JUDGED_READ_POINT, 1500);
    judged_row_check(&rules, "a400.3P=shown a300.2P=expired b400.9D=shown b300.2P=shown");
    /* Under KEEP_DELETED_CELLS nothing is hidden; TTL: but by markers past the family's. */
    family.keep_deleted_cells = PETAL_KEEP_DELETED_TRUE;
    visibility_rules_of(&rules, &family, VISIBILITY_PART, JUDGED_READ_POINT, 1500);
    judged_row_check(&rules,
                     "600.9F=shown a550.9C=shown a540.1P=shown b480.9C=shown b470.1P=shown");
    family.keep_deleted_cells = PETAL_KEEP_DELETED_TTL;
    visibility_rules_of(&rules, &family, VISIBILITY_PART, JUDGED_READ_POINT, 1500);
    judged_row_check(&rules,
                     "600.9F=shown a550.9C=shown a540.1P=shown b480.9C=shown b470.1P=masked");
    /* In the order of writes everything stays, dead or not. */
    family.new_version_behavior = true;
    visibility_rules_of(&rules, &family, VISIBILITY_PART, JUDGED_READ_POINT, 1500);
    judged_row_check(&rules,
                     "9.9F=shown a9.9C=shown a9.1P=shown a8.8P=shown a7.7P=shown a6.6P~1=shown");
}

/* A version with its own TTL makes none expired, surplus or superseded for good that MIN_VERSIONS
 * asks for when it has died. */
TEST(test_rewrites_keep_min_versions)
{
    petal_family_options family = {.versions = 2, .min_versions = 1, .ttl_seconds = 1};
    struct visibility_rules rules;

    for (enum visibility_purpose purpose = VISIBILITY_PART; purpose <= VISIBILITY_COMPACT;
         purpose++) {
        visibility_rules_of(&rules, &family, purpose, JUDGED_READ_POINT, 1500);
        judged_row_check(&rules, "a600.3P~999=shown a400.2P=shown a300.1P=surplus");
        judged_row_check(&rules, "a900.5P~999=shown a800.4P~999=shown a700.3P~999=shown "
                                 "a600.2P=shown a550.1P=surplus a400.1P=surplus");
        /* One of the same timestamp; and it alone, that another replaces for good. */
        judged_row_check(&rules, "a600.5P~999=shown a600.4P~950=shown a600.3P=shown "
                                 "a600.2P=superseded a550.1P=shown a400.1P=surplus");
        judged_row_check(&rules, "a600.5P=shown a600.4P~999=superseded a600.3P=superseded");
        /* What a marker hides stays hidden, and counts for nothing. */
        judged_row_check(&rules,
                         purpose == VISIBILITY_PART
                             ? "550.4V=shown a600.9P~999=shown a570.8D=shown a570.7P=masked "
                               "a550.6P~999=shown a550.3P=superseded a400.2P=shown a300.1P=surplus"
                             : "550.4V=marker a600.9P~999=shown a570.8D=marker "
                               "a570.7P=masked a550.6P~999=shown a550.3P=superseded "
                               "a400.2P=shown a300.1P=surplus");
        /* Past the family's TTL those with their own count as long as they live. */
        judged_row_check(&rules, "a450.3P~2000=shown a400.2P=shown a300.1P=surplus");
        /* Each column for itself. */
        judged_row_check(&rules, "a600.3P=shown a400.2P=expired b400.2P=shown b300.1P=expired");
    }
    family.min_versions = 2;
    visibility_rules_of(&rules, &family, VISIBILITY_PART, JUDGED_READ_POINT, 1500);
    judged_row_check(&rules, "a900.5P=shown a800.4P~999=shown a700.3P~999=shown a400.2P=shown "
                             "a300.1P=surplus");
    /* Without MIN_VERSIONS nothing is promised. */
    family.min_versions = 0;
    visibility_rules_of(&rules, &family, VISIBILITY_COMPACT, JUDGED_READ_POINT, 1500);
    judged_row_check(&rules, "a900.5P~999=shown a800.4P~999=shown a700.3P=surplus");
    /* A marker that is kept does not go before what it hides. */
    family.min_versions = 1;
    family.keep_deleted_cells = PETAL_KEEP_DELETED_TRUE;
    visibility_rules_of(&rules, &family, VISIBILITY_COMPACT, JUDGED_READ_POINT, 1500);
    judged_row_check(&rules, "a900.5P~999=shown a800.4P~999=shown a700.3P~999=shown a490.9C=shown "
                             "a480.1P=shown a470.9D=marker a470.1P=surplus");
    /* The order of writes: what is surplus now stays; what a marker has found so does not. */
    family.keep_deleted_cells = PETAL_KEEP_DELETED_FALSE;
    family.new_version_behavior = true;
    visibility_rules_of(&rules, &family, VISIBILITY_COMPACT, JUDGED_READ_POINT, 1500);
    judged_row_check(&rules, "a900.5P~999=shown a800.4P~999=shown a700.3P=shown a600.2P=surplus");
    judged_row_check(&rules, "a900.5P~999=shown a400.3P=shown a300.2P=surplus");
    judged_row_check(&rules, "a900.5P~999=shown a800.4P~999=shown a750.6D=marker a700.3P=surplus "
                             "a600.2P=surplus");
}

TEST(test_compactions)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_COMPACT, 1);

    judged_row_check(&rules, "30.9V=marker 20.9F=marker a40.4P=shown a30.8P=masked a20.8P=masked "
                             "a15.1C=marker b21.9D=marker b21.1P=masked b20.10P=shown");
    judged_row_check(&rules, "a40.4P=shown a40.3P=superseded a30.9P=surplus b30.9P=shown");
    /* A marker above the oldest read point stays with what it hides. */
    rules.read_point = 5;
    judged_row_check(&rules, "90.6F=shown a50.6C=shown a40.5P=shown a30.4P=surplus");
    judged_row_check(&rules, "a50.5C=marker a40.6P=shown a40.5P=masked");
}

TEST(test_compactions_that_keep_deleted_cells)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_COMPACT, 2);

    rules.keep_deleted = PETAL_KEEP_DELETED_TRUE;
    rules.earliest_put = 10;
    judged_row_check(&rules,
                     "40.9F=shown 9.9V=marker a30.9C=shown a20.8P=shown a15.8D=shown a15.7P=shown "
                     "a10.9P=surplus b9.9D=marker");
    /* Doubles of a marker, and markers after surplus puts. */
    judged_row_check(
        &rules,
        "40.9F=shown 40.8F=superseded a30.9C=shown a30.8C=superseded a30.7D=shown a29.1C=shown");
    /* One that another kind of marker lies between is a double, too. */
    judged_row_check(&rules, "40.9V=shown 40.8F=shown 40.7V=superseded a30.9D=shown a30.8C=shown "
                             "a30.7D=superseded a30.6P=shown");
    judged_row_check(
        &rules,
        "a30.9P=shown a29.9P=shown a28.9P=surplus a27.1C=marker a26.1P=surplus b30.9P=shown");
    /* TTL: a marker past the family's time works and goes. */
    rules.keep_deleted = PETAL_KEEP_DELETED_TTL;
    rules.min_versions = 1;
    rules.oldest_unexpired = 25;
    judged_row_check(&rules, "a30.9C=shown a29.8P=shown b24.9C=marker b20.1P=masked");
}

/* What lives stays, and what a read hid stays hidden: by its marker, or because it goes. */
TEST(test_compactions_in_the_order_of_writes)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_COMPACT, 1);

    rules.new_version_behavior = true;
    judged_row_check(&rules, "a5.2D=marker a3.1P=shown b5.2D=marker b5.1P=masked");
    judged_row_check(&rules, "100.1F=marker 5.3F=marker a3.2P=masked");
    for (rules.keep_deleted = PETAL_KEEP_DELETED_TRUE; rules.keep_deleted <= PETAL_KEEP_DELETED_TTL;
         rules.keep_deleted++) {
        /* Markers do not count as versions: in their column, and in the next. */
        judged_row_check(&rules, "a5.2D=shown a3.1P=shown");
        judged_row_check(&rules, "a9.9C=shown a8.8C=shown a7.7D=shown b3.1P=shown");
        judged_row_check(&rules, "100.1F=shown 5.3F=shown a3.2P=shown");
        judged_row_check(&rules, "a60.2P=shown a60.1C=marker");
        judged_row_check(&rules, "9.9F=shown 7.1P=shown a7.2P=shown");
        /* Deleted versions do: what is deleted stays within VERSIONS, what lives beyond them, too.
         */
        judged_row_check(&rules,
                         "a20.2D=shown a20.1P=shown a10.4D=marker a10.3P=masked a5.5P=shown "
                         "a4.6D=marker");
        /* Of one timestamp the latest write. */
        judged_row_check(&rules, "a20.5D=shown a20.4P=shown a20.2D=marker a20.1P=masked");
        /* Both of two markers alike: each may have ended other lives. */
        judged_row_check(&rules, "30.9F=shown 30.1F=shown a20.5C=shown a20.3C=shown a10.4P=shown");
        rules.versions = rules.kept_versions = 2;
        judged_row_check(&rules,
                         "a30.3P=shown a20.4C=shown a20.2P=shown a10.1P=surplus a5.9P=shown");
        rules.versions = rules.kept_versions = 1;
        rules.earliest_put = 10;
        judged_row_check(&rules, "10.9F=shown 9.8F=marker a10.3C=shown a10.1P=shown b9.9C=marker");
        rules.earliest_put = INT64_MIN;
    }
}

/* MIN_VERSIONS: deleted versions past TTL stay within them; under TTL what a marker past it hides
 * goes with that. */
TEST(test_expired_compactions_in_the_order_of_writes)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_COMPACT, 3);

    rules.new_version_behavior = true;
    rules.min_versions = 1;
    rules.oldest_unexpired = 25;
    rules.keep_deleted = PETAL_KEEP_DELETED_TRUE;
    judged_row_check(&rules, "a30.2D=shown a30.1P=shown a20.4D=marker a20.3P=masked");
    judged_row_check(&rules, "a20.4D=shown a20.3P=shown a15.9D=marker a15.8P=masked a10.1P=shown");
    rules.keep_deleted = PETAL_KEEP_DELETED_TTL;
    judged_row_check(&rules, "a30.2D=shown a30.1P=shown b20.4D=marker b20.3P=masked b10.1P=shown");
    judged_row_check(&rules, "a30.2C=shown a24.3C=marker a24.1P=masked");
    judged_row_check(&rules, "a30.3C=shown a24.2C=marker a24.1P=masked");
    judged_row_check(&rules, "30.9F=shown 24.8F=marker a20.1P=masked b20.9P=shown");
    /* Also when another that stays has hidden it before: a time range may leave that one out. */
    judged_row_check(&rules, "a30.2C=shown a20.3C=marker a20.1P=masked");
}

/* Of files whose timestamps no write makes a rewrite loses nothing; no read shows them. */
TEST(test_impossible_timestamps)
{
    struct visibility_rules rules = judged_rules(VISIBILITY_READ, 2);
    petal_family_options family = {.versions = 2};

    judged_row_check(&rules,
                     "a9223372036854775807.1P~1=outside a-5.1P~-9223372036854775808=expired");
    judged_row_check(&rules, "a-5.1P~9223372036854775807=outside!");
    for (enum visibility_purpose purpose = VISIBILITY_PART; purpose <= VISIBILITY_COMPACT;
         purpose++) {
        visibility_rules_of(&rules, &family, purpose, JUDGED_READ_POINT, 1500);
        judged_row_check(&rules, "a9223372036854775807.1P=shown a-5.1P~9223372036854775807=shown");
        judged_row_check(&rules, "a-5.1P=shown a-9223372036854775808.1P=shown");
    }
}

TEST(test_reasons_have_texts)
{
    for (unsigned reason = 0; reason < VISIBILITY_REASONS; reason++)
        assert_string_not_equal(visibility_reason_text((enum visibility_reason)reason), "unknown");
    assert_string_equal(visibility_reason_text(VISIBILITY_REASONS), "unknown");
}

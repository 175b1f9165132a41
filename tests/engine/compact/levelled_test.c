/*
 * levelled_test.c -- the one sequence that a compaction of all files gives to what it leaves: when
 * it does, and that nothing which asks for a sequence answers otherwise because of it.
 */

#include "engine/state/db.h"
#include "tests/engine/script.h"

struct range {
    size_t files;
    uint64_t least, greatest;
};

static bool
note_range(void *argument, const petal_file_info *file)
{
    struct range *range = argument;

    if (range->files == 0 || file->sequence_min < range->least)
        range->least = file->sequence_min;
    if (range->files == 0 || file->sequence_max > range->greatest)
        range->greatest = file->sequence_max;
    range->files++;
    return true;
}

static struct range
range_of(petal_table *table)
{
    struct range range = {0};

    MUST(petal_table_files(table, note_range, &range, WHY));
    return range;
}

static bool
is_level(struct script *script)
{
    struct range range = range_of(script_table(script, "t"));

    return range.least == range.greatest;
}

/* Rows a, b, c with values at timestamp 10, in two files, compacted: all have the greatest
 * sequence. */
#define SETTLED "put t a/f:q@10=a10 b/f:q@10=b10; flush; put t c/f:q@10=c10; flush; compact t\n"

/* What the row shows; what is outside of the levelled file is flushed, and then merged with it. */
#define THROUGH_FILES(answer)                                                                      \
    "show t row=a : " answer "\nflush; show t row=a : " answer                                     \
    "\ncompact t; show t row=a : " answer "\nverify t\n"

#define LATER_MARKER(marker, older)                                                                \
    "table t f\n" SETTLED "put t a/" marker " b/" older                                            \
    "; show t row=b : b/f:q=b10\n" THROUGH_FILES(                                                  \
        "") "show t row=b : b/f:q=b10; put t a/f:q@10=again\n" THROUGH_FILES("a/f:q=again")

static const struct script_case cases[] = {
    {"a later put of the same timestamp takes the place",
     "table t f\n" SETTLED
     "put t a/f:q@10=later b/f:q@9=older; show t row=b : b/f:q=b10\n" THROUGH_FILES(
         "a/f:q=later") "put t a/f:q@10=latest\n" THROUGH_FILES("a/f:q=latest") "show t row=b : "
                                                                                "b/f:q=b10; show t "
                                                                                "row=c : "
                                                                                "c/f:q=c10"},
    {"a later marker of the same timestamp hides: of a version",
     LATER_MARKER("f:q@10!8", "f:q@9!8")},
    {"of a version of the family", LATER_MARKER("f@10!10", "f@9!10")},
    {"of a column", LATER_MARKER("f:q@10!12", "f:q@9!12")},
    {"of the family", LATER_MARKER("f@10!14", "f@9!14")},
    {"versions of a column keep their order when the family comes to the order of writes",
     "table t f,versions=3; put t a/f:q@30=a30 a/f:q@10=a10 a/f:q@20=a20; flush; compact t\n"
     "show t row=a : a/f:q=a30; alter t f,versions=3,new; show t row=a : a/f:q=a30\n"
     "put t a/f:q@30!8\n" THROUGH_FILES("a/f:q=a20") "put t a/f:q@15!12\n" THROUGH_FILES(
         "a/f:q=a20") "put t a/f:q@20!8\n" THROUGH_FILES("")},
    {"a table snapshot holds levelled files as others; what is restored goes on from there",
     "table t f\n" SETTLED "take t kept; put t a/f:q@10=later; flush; compact t\n"
     "show t row=a : a/f:q=later; restore kept t; show t row=a : a/f:q=a10; put t "
     "a/f:q@10=own\n" THROUGH_FILES("a/f:q=own")},
};

TEST_EACH(levelled_files_answer_this, cases)
{
    script_run(*state);
}

TEST(one_sequence_for_all)
{
    struct script script;
    struct range before, after;

    script_begin(&script);
    script_do(&script,
              "table t f; put t a/f:q@10=a10 b/f:q@10=b10; flush; put t c/f:q@10=c10; flush");
    before = range_of(script_table(&script, "t"));
    assert_true(before.files == 2 && before.least > 0);
    script_do(&script, "compact t; verify t");
    after = range_of(script_table(&script, "t"));
    assert_int_equal(after.files, 1);
    assert_true(after.least == before.greatest && after.greatest == before.greatest);
    script_end(&script);
}

/* A snapshot that does not see all of the inputs, or sees what lies outside of them: every cell
 * keeps its sequence, and the snapshot its answer. */
TEST(not_below_a_snapshot)
{
    struct script script;

    script_begin(&script);
    script_do(&script, "table t f; put t a/f:q@10=first; moment m; flush; put t a/f:q@10=second\n"
                       "put t b/f:q@10=unseen; flush; compact t");
    assert_false(is_level(&script));
    script_do(&script, "show t at=m : a/f:q=first; forget m; compact t");
    assert_true(is_level(&script));
    /* One that is taken of what is settled sees it. */
    script_do(&script, "show t row=a : a/f:q=second; moment m; put t a/f:q@10=third; flush\n"
                       "show t at=m row=a : a/f:q=second; compact t");
    assert_false(is_level(&script));
    script_do(&script, "show t at=m row=a : a/f:q=second; show t row=a : a/f:q=third; verify t");
    script_end(&script);
}

/* Families whose markers, or whose order of writes, a compaction leaves. */
TEST(not_where_sequences_still_decide)
{
    static const char *const tables[] = {"table t f,versions=3,keep=true",
                                         "table t f,versions=3,keep=ttl",
                                         "table t f,versions=3,new"};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct script script;
        struct range before, after;

        script_begin(&script);
        script_do(&script, tables[i]);
        script_do(&script, "put t a/f:q@10=a10 b/f:q@10=b10; flush");
        before = range_of(script_table(&script, "t"));
        script_do(&script, "put t a/f:q@10!12 a/f:q@10=again; flush; compact t\n"
                           "show t row=a : a/f:q=again; verify t");
        after = range_of(script_table(&script, "t"));
        assert_true(after.files == 1 && after.least >= before.least);
        script_end(&script);
    }
}

/* After a reopening sequences go on after the greatest that there ever was, and a log that was not
 * flushed is replayed over the levelled file. */
TEST(sequences_go_on)
{
    static const char *const rounds[] = {
        "put t a/f:q@10=first; reopen; show t row=a : a/f:q=first; flush",
        "put t a/f:q@10=second; reopen; show t row=a : a/f:q=second; flush",
        "put t a/f:q@10=third; reopen; show t row=a : a/f:q=third; flush"};
    struct script script;
    uint64_t greatest;

    script_begin(&script);
    script_do(&script, "table t f\n" SETTLED);
    greatest = range_of(script_table(&script, "t")).greatest;
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        script_do(&script, rounds[i]);
        assert_true(range_of(script_table(&script, "t")).greatest > greatest);
        greatest = range_of(script_table(&script, "t")).greatest;
        script_do(&script, "compact t; verify t");
        assert_true(is_level(&script));
        assert_true(range_of(script_table(&script, "t")).greatest == greatest);
    }
    script_do(&script, "show t row=a : a/f:q=third");
    script_end(&script);
}

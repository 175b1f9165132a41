/*
 * traps_test.c -- what has made stores with filters, markers and versions answer wrongly, each as a
 * script of its own: first the traps of leaving files out, then places where HBase itself is wrong.
 * All run with each type of filter, and without a cache, so that each read shows what is in the
 * files.
 */

#include "base/slice.h"
#include "tests/engine/script.h"
#include "tests/model/run.h"

#include <stdlib.h>

static const enum petal_bloom_type blooms[] = {PETAL_BLOOM_NONE, PETAL_BLOOM_ROW,
                                               PETAL_BLOOM_ROWCOL, PETAL_BLOOM_ROW_ROWCOL,
                                               PETAL_BLOOM_ROW_PREFIX};
#define BLOOMS (sizeof blooms / sizeof *blooms)

static void
begin(struct script *script, enum petal_bloom_type bloom)
{
    script_begin(script);
    script->base.options.cache_bytes = PETAL_NO_CACHE;
    script->family.bloom = bloom;
    script->family.bloom_prefix_bytes = bloom == PETAL_BLOOM_ROW_PREFIX ? 1 : 0;
    script_do(script, "clock 1000000; reopen");
}

/* A file of (row, q, 50), and one in which the row has a marker alone. */
#define MARKER(marker)                                                                             \
    "table t f; put t row/f:q@50=v; flush; put t another/f:x@60=v " marker                         \
    " zebra/f:x@60=v; flush; show t row=row column=f:q :; show t row=row :\n"                      \
    "show t column=f:q column=f:r :; show t column=f:q column=f:r reversed :\n"

static const struct script_case cases[] = {
    {"a read below the markers' timestamps does not leave out the file that holds them",
     "table t f; put t a/f:q@50=v b/f:q@50=v; flush; put t a/f@100!14 b/f:q@100!12; flush\n"
     "show t row=a column=f:q range=0..60 :; show t row=a range=0..60 :\n"
     "show t row=b column=f:q range=0..60 :; show t column=f:q column=f:r :"},
    {"the filter of columns has no column of the row, but its family marker",
     MARKER("row/f@50!14")},
    {"of a version, too", MARKER("row/f@50!10")},
    {"a row whose only cell in a file is the marker of a version is in the filter",
     MARKER("row/f:q@50!8")},
    {"or of a column", MARKER("row/f:q@50!12")},
    {"all of a file is past the TTL, but MIN_VERSIONS keeps it",
     "table t f,versions=3,min=1,ttl=10; put t row/f:q@999000=v; flush; later 60000\n"
     "show t row=row column=f:q : row/f:q=v; show t row=row : row/f:q=v; show t : row/f:q=v"},
    {"without MIN_VERSIONS the file may be left out, and its cells are not seen",
     "table t f,versions=3,ttl=10; put t row/f:q@999000=v; flush; show t row=row : row/f:q=v\n"
     "later 9000; show t row=row column=f:q : row/f:q=v; later 1; show t row=row column=f:q :"},
    {"a family marker is met also after a newer put with the empty qualifier",
     "table t f; put t row/f@1000249=e row/f@36!14 row/f:col-24@1=v row/f:col-25@40=v; flush\n"
     "show t row=row column=f:col-24 :; show t row=row column=f:col-25 : row/f:col-25=v\n"
     "show t row=row column=f: : row/f=e; show t row=row : row/f=e row/f:col-25=v\n"
     "show t column=f: column=f:col-24 : row/f=e\n"
     "show t column=f: column=f:col-24 reversed : row/f=e"},
    {"MIN_VERSIONS keeps as many expired versions of a named column as of one that is not, in "
     "memory",
     "table t f,versions=3,min=1,ttl=10; put t row/f:q@980000=old row/f:q@1000000=new\n"
     "show t row=row all : row/f:q=new; show t row=row all column=f:q : row/f:q=new\n"
     "show t all column=f:q column=f:r : row/f:q=new; later 20000\n"
     "show t row=row all : row/f:q=new; show t row=row all column=f:q : row/f:q=new"},
    {"and in a file",
     "table t f,versions=3,min=1,ttl=10; put t row/f:q@980000=old row/f:q@1000000=new; flush\n"
     "show t row=row all : row/f:q=new; show t row=row all column=f:q : row/f:q=new\n"
     "show t all column=f:q column=f:r : row/f:q=new; later 20000\n"
     "show t row=row all : row/f:q=new; show t row=row all column=f:q : row/f:q=new"},
    {"in the order of writes, with named columns, a file and something beside it, reads end",
     "table t f,keep=true,new; put t a/f@10!14; flush; put t b/f:zz@8=v\n"
     "show t column=f:a column=f:ab :; show t column=f:a column=f:ab reversed :\n"
     "show t column=f:a column=f:zz : b/f:zz=v"},
    {"in the order of writes a family marker hides a put with the empty qualifier written before "
     "it, "
     "and no later one",
     "table t f,new; put t row/f@40=v; flush; put t row/f!14; show t row=row :\n"
     "show t row=row column=f: :; flush; show t row=row column=f: :; put t row/f@40=later\n"
     "show t row=row column=f: : row/f=later"},
};

TEST_EACH(no_trap_closes, cases)
{
    for (size_t i = 0; i < BLOOMS; i++) {
        struct script script;

        begin(&script, blooms[i]);
        script_case_do(&script, *state);
        script_do(&script, "verify t");
        script_end(&script);
    }
}

/* The filter's bytes: the only ones that are read when the filter says no. */
static struct memory_vfs_call
find_filter(struct script *script)
{
    struct memory_vfs_call found = {.size = 0};

    memory_vfs_trace(script->base.vfs, true);
    for (int i = 0; i < 100 && found.size == 0; i++) {
        size_t before = memory_vfs_trace_count(script->base.vfs);
        char statement[60];

        snprintf(statement, sizeof statement, "show t row=m%dx column=f:q :", i);
        script_do(script, statement);
        if (memory_vfs_trace_count(script->base.vfs) == before + 1)
            found = memory_vfs_trace_at(script->base.vfs, before);
    }
    assert_true(found.size > 0);
    return found;
}

static void
do_hundred(struct script *script, const char *format)
{
    for (int n = 0; n < 100; n++) {
        char statement[100];

        snprintf(statement, sizeof statement, format, n, n);
        script_do(script, statement);
    }
}

TEST(damaged_filters_say_maybe)
{
    for (size_t i = 1; i < BLOOMS - 1; i++) {
        struct memory_vfs_call filter;
        struct script script;
        uint8_t *bytes;
        size_t size;
        char *path;

        begin(&script, blooms[i]);
        script_do(&script, "table t f; put t z/f:q@10=v");
        do_hundred(&script, "put t m%d/f:q@10=v");
        script_do(&script, "flush");
        filter = find_filter(&script);
        path = test_strdup(filter.path);
        memory_vfs_trace(script.base.vfs, false);
        assert_int_equal(memory_vfs_read_file(script.base.vfs, path, &bytes, &size), 0);
        memset(bytes + filter.offset + filter.size / 2, 0, 8); /* as if nothing were in it */
        script_do(&script, "reopen");
        assert_int_equal(memory_vfs_write_file(script.base.vfs, path, bytes, size), 0);
        script_do(&script, "reopen");
        do_hundred(&script, "show t row=m%d column=f:q : m%d/f:q=v");
        script_do(&script, "show t row=m1x column=f:q :");
        script_end(&script);
        free(bytes);
        free(path);
    }
}

/* NEW_VERSION_BEHAVIOR: any order of writes and timestamps is read and compacted, and gives what
 * the rules give. */
TEST(order_of_writes_never_fails)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct run_settings settings = {.bloom = blooms[seed % 4],
                                        .block_bytes = seed % 2 == 0 ? 1024 : 0};
        struct run_difference difference;
        struct operation_list list;
        struct run_answers answers;

        operation_list_make(&list, seed, 150, FEATURE_ALL & ~(unsigned)FEATURE_TTL);
        for (unsigned i = 0; i < MODEL_TABLES * MODEL_FAMILIES; i++)
            list.schemas[i / MODEL_FAMILIES].families[i % MODEL_FAMILIES].new_version_behavior =
                true;
        run_model(&list, &answers);
        assert_true(run_engine(&list, &settings, &answers, &difference));
        run_answers_free(&answers);
        operation_list_free(&list);
    }
}

/* Cells of a scan, which ends. */
static size_t
count_scan(petal_table *table, const petal_scan_options *options)
{
    const petal_cell *cell;
    petal_cursor *cursor;
    size_t count = 0;

    MUST(petal_cursor_open(table, options, &cursor, WHY));
    for (;; count++) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
        assert_true(count < 100);
    }
    petal_cursor_close(cursor);
    return count;
}

/* Raw scans of any time range, over families with and without a TTL, end and show the stored cells
 * of the range. */
TEST(raw_scans_of_time_ranges_end)
{
    static const char *const tables[] = {"table t f,keep=true,versions=100",
                                         "table t f,keep=true,versions=100,ttl=1"};

    for (size_t i = 0; i < 2 * BLOOMS; i++) {
        struct script script;

        begin(&script, blooms[i / 2]);
        script_do(&script, tables[i % 2]);
        script_do(&script, "clock 1000");
        for (int at = 1; at <= 5; at++) { /* one of each kind in each of two rows */
            char statement[300];

            snprintf(statement, sizeof statement,
                     "put t a/f:q@%d=v a/f:q@%d!8 a/f:q@%d!12 a/f@%d!14 a/f@%d!10\n"
                     "put t b/f:q@%d=v b/f:q@%d!8 b/f:q@%d!12 b/f@%d!14 b/f@%d!10\n"
                     "%s",
                     at, at, at, at, at, at, at, at, at, at, at % 2 == 0 ? "flush" : "");
            script_do(&script, statement);
        }
        script_do(&script, "clock 100000"); /* a raw scan does not mind the TTL */
        for (int64_t from = 0; from <= 6; from++) {
            for (int64_t limit = from; limit <= 7; limit++) {
                int64_t first = from < 1 ? 1 : from, last = limit > 5 ? 5 : limit - 1;
                petal_scan_options scan = {.raw = true,
                                           .read = {.has_time_range = true,
                                                    .time_min = from,
                                                    .time_limit = limit,
                                                    .versions = PETAL_ALL_VERSIONS}};

                assert_int_equal(count_scan(script_table(&script, "t"), &scan),
                                 first > last ? 0 : 10 * (last - first + 1));
            }
        }
        script_do(&script, "verify t");
        script_end(&script);
    }
}

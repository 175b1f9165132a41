/*
 * salvage_test.c -- what petal_salvage must not do to databases with a story: bring back what was
 * dropped, mix tables up, hide what is written later, take want for damage. sweep_test.c tries the
 * damage, tests/crash/failure_sites_test.c what fails meanwhile.
 */
#include "base/slice.h"
#include "tests/disk/paths.h"
#include "tests/engine/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
lose_manifest(struct script *script, const char *directory)
{
    char *path = test_path(directory, "MANIFEST");

    assert_int_equal(vfs_remove(script->base.env.vfs, path), 0);
    free(path);
}

static petal_check_counts
salvage(struct script *script, const char *from, const char *to)
{
    const petal_check_options options = {.size = sizeof options, .env = &script->base.env};
    petal_check_counts counts;

    MUST(petal_salvage(from, to, &options, &counts, WHY));
    return counts;
}

/* ---- the stories ---- */

/* A family was dropped and made again, and the process died before its file was removed. */
TEST(dropped_families_stay_dropped)
{
    struct script script, left = {.family = {0}};

    script_begin(&script);
    script_do(&script, "table t f g; put t row/f:q=dropped; flush; open c t; step c : "
                       "row/f:q=dropped; alter t g; alter t f g");
    fixture_init_on(&left.base, memory_vfs_clone(script.base.vfs), 1);
    script_end(&script);
    memory_vfs_process_death(left.base.vfs);
    assert_int_equal(salvage(&left, FIXTURE_DIRECTORY, "/out").faults, 0);
    script_do_in(&left, "/out", "show t :");
    script_end(&left);
}

/* The clock stands back when the salvaged database is opened. */
TEST(later_writes_are_seen)
{
    for (unsigned is_flushed = 0; is_flushed < 2; is_flushed++) {
        struct script script;

        script_begin(&script);
        script_do(&script, "table t f; put t row/f:q=first");
        script_do(&script, is_flushed ? "flush; kill" : "kill");
        if (is_flushed)
            lose_manifest(&script, FIXTURE_DIRECTORY);
        (void)salvage(&script, FIXTURE_DIRECTORY, "/out");
        script_do(&script, "clock 500");
        script_do_in(&script, "/out", "put t row/f:q=second");
        script_do_in(&script, "/out", "show t : row/f:q=second");
        script_end(&script);
    }
}

/* A row that runs ahead of the clock is replaced by what is written next, also after a salvage,
 * where manifest or logs say that it was the store that ran ahead. */
TEST(rows_ahead_of_the_clock_are_replaced)
{
    for (unsigned way = 0; way < 4; way++) {
        bool without_manifest = way == 2;
        const char *out = way == 3 ? "/out2" : "/out";
        struct script script;
        int64_t sum;

        script_begin(&script);
        script_do(&script, "table t f");
        for (unsigned i = 0; i < 10; i++)
            MUST(petal_increment(script_family(&script, "t", "f"), text("row"), text("q"), 1, NULL,
                                 &sum, WHY));
        script_do(&script, way % 2 == 1 ? "flush; kill" : "kill");
        if (without_manifest)
            lose_manifest(&script, FIXTURE_DIRECTORY);
        (void)salvage(&script, FIXTURE_DIRECTORY, "/out");
        if (way == 3)
            (void)salvage(&script, "/out", "/out2");
        script_do_in(&script, out,
                     without_manifest ? "put salvaged-table-000001 row/family-0:q=second; flush\n"
                                        "show salvaged-table-000001 : row/family-0:q=second"
                                      : "put t row/f:q=second; flush; show t : row/f:q=second");
        script_end(&script);
    }
}

/* A timestamp of the caller's own does not become the clock. */
TEST(given_timestamps_do_not_drag_the_clock)
{
    struct script script;

    script_begin(&script);
    script_do(&script, "table t f; put t far/f:q@1125899906842624=v; flush\n"
                       "put t far/f:q@1125899906842625=v; kill");
    lose_manifest(&script, FIXTURE_DIRECTORY);
    (void)salvage(&script, FIXTURE_DIRECTORY, "/out");
    script_do_in(&script, "/out", "put t near/f:q=v; show t row=near : near/f:q@1000=v");
    script_end(&script);
}

/* What was salvaged loses its manifest: its store files and logs must agree on who is who. */
TEST(salvaged_files_name_their_tables)
{
    petal_check_options check = {.size = sizeof check};
    struct script script;

    script_begin(&script);
    script_do(&script, "table a f; table b f; put b row1/f=b; table c f; put c row1/f=c; take c s\n"
                       "drop a; shut");
    assert_int_equal(salvage(&script, FIXTURE_DIRECTORY, "/out").faults, 0);
    MUST(petal_open("/out", &script.base.options, &script.base.db, WHY));
    script_do(&script, "put c row2/f=c; flush; put c row3/f=c; kill");
    check.env = &script.base.env;
    MUST(petal_verify("/out", &check, NULL, WHY));
    lose_manifest(&script, "/out");
    (void)salvage(&script, "/out", "/again");
    script_do_in(&script, "/again",
                 "show b : row1/f=b; show c : row1/f=c row2/f=c row3/f=c\n"
                 "show salvaged-table-000001 : row1/f=c");
    script_end(&script);
}

/* The manifest is lost: of two tables of a name the later one is it, the other is kept apart. */
TEST(what_was_truncated_is_kept_apart)
{
    struct script script;

    script_begin(&script);
    script_do(&script, "table t f; put t row1/f=truncated; flush; take t s; truncate t\n"
                       "put t row2/f=flushed; flush; put t row3/f=logged; kill");
    lose_manifest(&script, FIXTURE_DIRECTORY);
    (void)salvage(&script, FIXTURE_DIRECTORY, "/out");
    script_do_in(&script, "/out",
                 "show t : row2/f=flushed row3/f=logged\n"
                 "show salvaged-table-000001 : row1/f=truncated");
    script_end(&script);
}

/* What the manifest is like where salvage finds it; the store files and logs are the same ones, but
 * for one that is not needed. */
enum manifest_story { WHOLE, WITHOUT_A_FILE, CUT, DAMAGED, LOST, STORIES };

static void
find_store_file(void *argument, const char *name)
{
    char *path = argument;

    if (path[0] == '\0' && strstr(name, ".sst") != NULL)
        (void)snprintf(path, 64, FIXTURE_DIRECTORY "/%s", name);
}

static void
spoil(struct script *script, enum manifest_story story)
{
    char path[64] = "";
    uint8_t *bytes;
    size_t size;

    assert_int_equal(
        memory_vfs_read_file(script->base.vfs, FIXTURE_DIRECTORY "/MANIFEST", &bytes, &size), 0);
    assert_int_equal(memory_vfs_list(script->base.vfs, FIXTURE_DIRECTORY, find_store_file, path),
                     0);
    if (story == LOST)
        lose_manifest(script, FIXTURE_DIRECTORY);
    if (story == WITHOUT_A_FILE)
        assert_int_equal(vfs_remove(script->base.env.vfs, path), 0);
    if (story == DAMAGED)
        memcpy(bytes + size / 2, "damage", 6);
    if (story == CUT || story == DAMAGED)
        assert_int_equal(memory_vfs_write_file(script->base.vfs, FIXTURE_DIRECTORY "/MANIFEST",
                                               bytes, story == CUT ? size / 2 : size),
                         0);
    free(bytes);
}

static void
note_failed_call(void *argument, const petal_fault *fault)
{
    bool *told = argument;

    *told = *told || fault->error->os_error == EIO;
}

/* Each allocation, or each file call, fails once: it is told, or nothing is missed for it. */
static void
fail_each(const struct script *made, bool salvages, bool memory)
{
    petal_check_counts whole = {0};
    enum petal_status at_first = PETAL_OK;
    uint64_t failed = 1;

    for (uint64_t n = 0; failed > 0; n++) { /* at first none */
        struct script script = {.family = {0}};
        petal_check_counts counts = {0};
        bool told = false;
        petal_check_options options = {.size = sizeof options,
                                       .env = &script.base.env,
                                       .argument = &told,
                                       .fault = note_failed_call};
        petal_error error = {0};
        enum petal_status status;

        fixture_init_on(&script.base, memory_vfs_clone(made->base.vfs), 1);
        if (memory)
            test_allocator_fail_at(&script.base.allocator, n, false);
        else
            memory_vfs_fail_at(script.base.vfs, n, EIO, false);
        status = salvages ? petal_salvage(FIXTURE_DIRECTORY, "/out", &options, &counts, &error)
                          : petal_verify(FIXTURE_DIRECTORY, &options, &counts, &error);
        failed = test_allocator_failures(&script.base.allocator) +
                 memory_vfs_failures(script.base.vfs) + (n == 0);
        test_allocator_fail_at(&script.base.allocator, 0, false);
        memory_vfs_fail_at(script.base.vfs, 0, 0, false);
        assert_true(status == PETAL_OK || error.text[0] != '\0');
        if (n == 0) {
            whole = counts;
            at_first = status;
        } else if (memory && status != at_first) {
            assert_int_equal(status, PETAL_NO_MEMORY);
        } else if (status == at_first && !told && counts.faults <= whole.faults &&
                   counts.cells < whole.cells) {
            fail_msg("%s %u fails, and nobody is told of what is missed",
                     memory ? "allocation" : "file call", (unsigned)n);
        }
        script_end(&script);
    }
}

/* Two tables of one name, one after the other, a dropped family, a table snapshot, logs, a store
 * file that is not named any more, and one that nobody has named yet. */
TEST(manifests_of_all_kinds_are_made_good)
{
    static const char history[] =
        "table t f g h; put t row1/f=one; flush; take t s; put t row2/f=two; flush; open c t\n"
        "compact t; alter t f g; table u f; put u row1/f=dropped; flush; drop u; table u f\n"
        "put u row1/f=later; put t row3/f=log";

    for (enum manifest_story story = 0; story < STORIES; story++) {
        struct script living, script = {.family = {0}};
        petal_check_options options = {.size = sizeof options};
        petal_check_counts counts;
        petal_error error;
        uint64_t before;
        enum petal_status status;

        script_begin(&living);
        script_do(&living, history);
        fixture_init_on(&script.base, memory_vfs_clone(living.base.vfs), 1);
        memory_vfs_process_death(script.base.vfs);
        script_end(&living);
        spoil(&script, story);
        for (unsigned way = 0; way < 4; way++)
            fail_each(&script, way % 2 == 0, way < 2);
        options.env = &script.base.env;
        before = memory_vfs_hash(script.base.vfs);
        status = petal_verify(FIXTURE_DIRECTORY, &options, &counts, &error);
        assert_int_equal(status == PETAL_OK, story < CUT);
        assert_int_equal(counts.faults > 0, story >= CUT);
        assert_true(memory_vfs_hash(script.base.vfs) == before);
        counts = salvage(&script, FIXTURE_DIRECTORY, "/out");
        assert_int_equal(counts.faults > 0, story >= CUT);
        script_do_in(&script, "/out",
                     "show t row=row1 : row1/f=one; show t row=row2 : row2/f=two; verify t");
        if (story < CUT)
            script_do_in(&script, "/out", "show t row=row3 : row3/f=log; show u : row1/f=later");
        script_end(&script);
    }
}

/* ---- want ---- */

/* At each call one is missing: nothing is damaged by that, and nothing is left out. */
TEST(want_of_descriptors_is_no_damage)
{
    const int wants[] = {EMFILE, ENOMEM};
    struct script made;

    script_begin(&made);
    script_do(&made, "table t f; put t row1/f=flushed; flush; put t row2/f=logged; kill");
    for (unsigned i = 0; i < 4; i++) {
        bool verifies = i >= 2, failed = true;

        for (uint64_t n = 1; failed; n++) {
            struct script script = {.family = {0}};
            petal_check_options options = {.size = sizeof options, .env = &script.base.env};
            petal_check_counts counts;
            petal_error error;
            enum petal_status status;

            fixture_init_on(&script.base, memory_vfs_clone(made.base.vfs), 1);
            memory_vfs_fail_at(script.base.vfs, n, wants[i % 2], false);
            status = verifies ? petal_verify(FIXTURE_DIRECTORY, &options, &counts, &error)
                              : petal_salvage(FIXTURE_DIRECTORY, "/out", &options, &counts, &error);
            failed = memory_vfs_failures(script.base.vfs) > 0;
            memory_vfs_fail_at(script.base.vfs, 0, 0, false);
            if (counts.faults > 0 || status == PETAL_CORRUPT)
                fail_msg("call %d: %s", (int)n, error.text);
            if (status == PETAL_OK && !verifies)
                script_do_in(&script, "/out", "show t : row1/f=flushed row2/f=logged");
            script_end(&script);
        }
    }
    script_end(&made);
}

#define MANY_FILES 150
#define MOST_OPEN  140

struct open_watch {
    struct memory_vfs *vfs;
    size_t most;
};

static bool
watch_open(void *argument, uint64_t done, uint64_t total)
{
    struct open_watch *watch = argument;
    size_t open = memory_vfs_open_files(watch->vfs);

    assert_true(done <= total);
    watch->most = open > watch->most ? open : watch->most;
    return true;
}

/* However many files a family has, few of them are open at once. */
TEST(few_files_are_open)
{
    struct open_watch watch = {.most = 0};
    petal_check_options options = {.size = sizeof options, .argument = &watch, .watch = watch_open};
    petal_check_counts counts;
    struct script script;

    script_begin(&script);
    script_do(&script, "table t f");
    for (unsigned i = 0; i < MANY_FILES; i++) {
        char statements[40];

        (void)snprintf(statements, sizeof statements, "put t %u/f=v; flush", i);
        script_do(&script, statements);
    }
    script_do(&script, "shut");
    watch.vfs = script.base.vfs;
    options.env = &script.base.env;
    MUST(petal_salvage(FIXTURE_DIRECTORY, "/out", &options, &counts, WHY));
    assert_int_equal(counts.store_files, MANY_FILES);
    assert_int_equal(counts.cells, MANY_FILES);
    assert_in_range(watch.most, 64, MOST_OPEN);
    script_end(&script);
}

#define SHARING 24 /* snapshots */

/* Damage the middle of a store file. */
static void
damage_store_file(void *argument, const char *name)
{
    struct script *script = argument;
    size_t size, length = strlen(name);
    char *path = test_path(FIXTURE_DIRECTORY, name);
    uint8_t *bytes;

    if (length > 4 && strcmp(name + length - 4, ".sst") == 0) {
        assert_int_equal(memory_vfs_read_file(script->base.vfs, path, &bytes, &size), 0);
        memcpy(bytes + size / 2, "damage", 6);
        assert_int_equal(memory_vfs_write_file(script->base.vfs, path, bytes, size), 0);
        free(bytes);
    }
    free(path);
}

/* A damaged file that a table and its snapshots share is read as often as they are many, not as
 * often as there are pairs of them; and its cells are there once. */
TEST(links_of_a_damaged_file_cost_their_number)
{
    struct script script;
    petal_check_counts whole, damaged;

    script_begin(&script);
    script_do(&script, "table t f,block=1024");
    for (unsigned i = 0; i < 400; i++) {
        char statements[60];

        (void)snprintf(statements, sizeof statements, "put t row%03u/f=a-value-of-row-%u", i, i);
        script_do(&script, statements);
    }
    script_do(&script, "flush");
    for (unsigned i = 0; i < SHARING; i++) {
        char statements[40];

        (void)snprintf(statements, sizeof statements, "take t s%u", i);
        script_do(&script, statements);
    }
    script_do(&script, "shut");
    whole = salvage(&script, FIXTURE_DIRECTORY, "/whole");
    assert_int_equal(whole.cells, 400 * (SHARING + 1));
    assert_int_equal(
        memory_vfs_list(script.base.vfs, FIXTURE_DIRECTORY, damage_store_file, &script), 0);
    damaged = salvage(&script, FIXTURE_DIRECTORY, "/damaged");
    assert_in_range(damaged.faults, SHARING + 1, 2 * (SHARING + 1));
    assert_in_range(damaged.cells, 300 * (SHARING + 1), whole.cells - SHARING - 1);
    assert_true(damaged.bytes < 2 * whole.bytes);
    script_end(&script);
}

/* Neither a new database within what is looked at, nor around it. */
TEST(the_source_is_not_written_into)
{
    static const char within[] = " lies in /db, the directory that is salvaged";
    static const struct {
        const char *to;
        enum petal_status status;
        const char *says;
    } refused[] = {
        {"/db", PETAL_INVALID, within},
        {"/./db//", PETAL_INVALID, within},
        {"/db/new", PETAL_INVALID, within},
        {"/db/empty", PETAL_INVALID, within},
        {"/db/empty/deep/new", PETAL_INVALID, within},
        {"/", PETAL_EXISTS, "is a directory that is not empty"},
        {"/nowhere/new", PETAL_IO, "No such file"},
    };
    petal_check_options options = {.size = sizeof options};
    struct script script;
    petal_error error;

    script_begin(&script);
    options.env = &script.base.env;
    assert_int_equal(vfs_make_directory(script.base.env.vfs, "/house"), 0);
    script_do(&script, "table t f; put t row/f=v; kill");
    assert_int_equal(vfs_make_directory(script.base.env.vfs, "/db/empty"), 0);
    assert_int_equal(vfs_make_directory(script.base.env.vfs, "/db/empty/deep"), 0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        uint64_t before = memory_vfs_hash(script.base.vfs);

        assert_int_equal(petal_salvage("/db", refused[i].to, &options, NULL, &error),
                         refused[i].status);
        if (strstr(error.text, refused[i].says) == NULL)
            fail_msg("%s: %s", refused[i].to, error.text);
        assert_true(memory_vfs_hash(script.base.vfs) == before);
    }
    (void)salvage(&script, "/db", "/db2");
    (void)salvage(&script, "/db", "/house");
    script_end(&script);
}

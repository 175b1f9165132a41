/*
 * salvage_test.c -- what petal_salvage must not do to databases with a story: bring back what was
 * dropped, mix tables up, hide what is written later, take want for damage. sweep_test.c tries the
 * damage.
 */
#include "engine/petal.h"

#include "base/slice.h"
#include "tests/disk/paths.h"
#include "tests/disk/vfs.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A database in memory, its clock, and the library's calls on them. */
struct scene {
    struct memory_vfs *vfs;
    int64_t now;
    petal_env env;
    petal_db *db;
    petal_error error;
};

static void
scene_must(const struct scene *scene, enum petal_status status)
{
    if (status != PETAL_OK)
        fail_msg("%s", scene->error.text);
}

static int64_t
clock_of(void *context)
{
    return ((const struct scene *)context)->now;
}

static void
scene_over(struct scene *scene, struct memory_vfs *vfs)
{
    *scene = (struct scene){.vfs = vfs, .now = 1000000};
    scene->env = (petal_env){.size = sizeof scene->env,
                             .vfs = memory_vfs_table(vfs),
                             .clock_context = scene,
                             .clock_ms = clock_of};
}

static void
open_database(struct scene *scene, const char *path)
{
    const petal_options options = {.size = sizeof options,
                                   .create = true,
                                   .no_compaction = true,
                                   .log_sync_interval_ms = PETAL_NEVER,
                                   .env = &scene->env};

    scene_must(scene, petal_open(path, &options, &scene->db, &scene->error));
}

static void
close_database(struct scene *scene)
{
    scene_must(scene, petal_close(scene->db, &scene->error));
}

/* The process dies: what it left is the scene from here on. */
static void
die(struct scene *scene)
{
    struct memory_vfs *left = memory_vfs_clone(scene->vfs);
    int64_t now = scene->now;

    close_database(scene);
    memory_vfs_free(scene->vfs);
    scene_over(scene, left);
    scene->now = now;
}

/* ---- tables ---- */

static petal_slice
slice_of(const char *text)
{
    return slice_make(text, strlen(text));
}

/* Families of one letter each, made or altered to. */
static petal_table *
shape_table(struct scene *scene, petal_table *table, const char *name, const char *families)
{
    petal_family_options list[4];
    petal_table_options options = {
        .size = sizeof options, .name = slice_of(name), .families = list};

    for (; families[options.family_count] != '\0'; options.family_count++)
        list[options.family_count] = (petal_family_options){
            .size = sizeof list[0], .name = {families + options.family_count, 1}};
    if (table != NULL)
        scene_must(scene, petal_table_alter(table, &options, &scene->error));
    else
        scene_must(scene, petal_table_create(scene->db, &options, &table, &scene->error));
    return table;
}

static petal_table *
find_table(struct scene *scene, const char *name)
{
    petal_table *table;

    scene_must(scene, petal_table_open(scene->db, slice_of(name), &table, &scene->error));
    return table;
}

static void
put(struct scene *scene, petal_table *table, const char *row, const char *value)
{
    scene_must(scene, petal_put(petal_table_family_at(table, 0), slice_of(row), slice_of("q"),
                                PETAL_LATEST, slice_of(value), NULL, &scene->error));
}

static void
flush(struct scene *scene, petal_table *table)
{
    scene_must(scene, petal_flush(scene->db, table, &scene->error));
}

/* What all tables show: "table:row=value " for each cell. */
struct shown {
    struct scene *scene;
    char text[512];
};

static bool
show_table(void *argument, petal_table *table)
{
    struct shown *shown = argument;
    petal_slice name = petal_table_name(table);
    petal_cursor *cursor;
    const petal_cell *cell;

    scene_must(shown->scene, petal_cursor_open(table, NULL, &cursor, &shown->scene->error));
    for (;;) {
        size_t used = strlen(shown->text);

        scene_must(shown->scene, petal_cursor_next(cursor, &cell, &shown->scene->error));
        if (cell == NULL)
            break;
        (void)snprintf(shown->text + used, sizeof shown->text - used, "%.*s:%.*s=%.*s ",
                       (int)name.size, (const char *)name.data, (int)cell->row.size,
                       (const char *)cell->row.data, (int)cell->value.size,
                       (const char *)cell->value.data);
    }
    petal_cursor_close(cursor);
    return true;
}

static void
assert_shows(struct scene *scene, const char *path, const char *expected)
{
    struct shown shown = {.scene = scene};

    open_database(scene, path);
    scene_must(scene, petal_table_list(scene->db, show_table, &shown, &scene->error));
    close_database(scene);
    assert_string_equal(shown.text, expected);
}

/* ---- damage, and the calls ---- */

static void
remove_manifest(struct scene *scene, const char *path)
{
    const petal_vfs *vfs = scene->env.vfs;
    petal_directory *directory;

    assert_int_equal(vfs->open_directory(vfs->context, path, false, &directory), 0);
    assert_int_equal(vfs->remove(vfs->context, directory, "MANIFEST"), 0);
    vfs->close_directory(vfs->context, directory);
}

static petal_check_counts
salvage(struct scene *scene, const char *from, const char *to)
{
    const petal_check_options options = {.size = sizeof options, .env = &scene->env};
    petal_check_counts counts;

    scene_must(scene, petal_salvage(from, to, &options, &counts, &scene->error));
    return counts;
}

/* ---- the stories ---- */

/* A family was dropped and made again, and the process died before its file was removed. */
TEST(dropped_families_stay_dropped)
{
    struct scene scene;
    petal_cursor *cursor;
    const petal_cell *cell;
    petal_table *table;
    struct memory_vfs *left;

    scene_over(&scene, memory_vfs_new());
    open_database(&scene, "db");
    table = shape_table(&scene, NULL, "t", "fg");
    put(&scene, table, "row", "dropped");
    flush(&scene, table);
    scene_must(&scene, petal_cursor_open(table, NULL, &cursor, &scene.error));
    scene_must(&scene, petal_cursor_next(cursor, &cell, &scene.error));
    (void)shape_table(&scene, table, "t", "g");
    (void)shape_table(&scene, table, "t", "fg");
    left = memory_vfs_clone(scene.vfs);
    petal_cursor_close(cursor);
    close_database(&scene);
    memory_vfs_free(scene.vfs);

    scene_over(&scene, left);
    assert_int_equal(salvage(&scene, "db", "out").faults, 0);
    assert_shows(&scene, "out", "");
    memory_vfs_free(scene.vfs);
}

/* The clock stands back when the salvaged database is opened. */
TEST(later_writes_are_seen)
{
    for (unsigned is_flushed = 0; is_flushed < 2; is_flushed++) {
        struct scene scene;
        petal_table *table;

        scene_over(&scene, memory_vfs_new());
        open_database(&scene, "db");
        table = shape_table(&scene, NULL, "t", "f");
        put(&scene, table, "row", "first");
        if (is_flushed)
            flush(&scene, table);
        die(&scene);
        if (is_flushed)
            remove_manifest(&scene, "db");
        (void)salvage(&scene, "db", "out");
        scene.now = 500000;
        open_database(&scene, "out");
        put(&scene, find_table(&scene, "t"), "row", "second");
        close_database(&scene);
        assert_shows(&scene, "out", "t:row=second ");
        memory_vfs_free(scene.vfs);
    }
}

/* A row that runs ahead of the clock is replaced by what is written next, also after a salvage,
 * where manifest or logs say that it was the store that ran ahead. */
TEST(rows_ahead_of_the_clock_are_replaced)
{
    for (unsigned way = 0; way < 4; way++) {
        bool is_flushed = way % 2 == 1, without_manifest = way == 2;
        struct scene scene;
        petal_table *table;
        int64_t sum;

        scene_over(&scene, memory_vfs_new());
        open_database(&scene, "db");
        table = shape_table(&scene, NULL, "t", "f");
        for (unsigned i = 0; i < 10; i++)
            scene_must(&scene, petal_increment(petal_table_family_at(table, 0), slice_of("row"),
                                               slice_of("q"), 1, NULL, &sum, &scene.error));
        if (is_flushed)
            flush(&scene, table);
        die(&scene);
        if (without_manifest)
            remove_manifest(&scene, "db");
        (void)salvage(&scene, "db", "out");
        if (way == 3)
            (void)salvage(&scene, "out", "out2");
        open_database(&scene, way == 3 ? "out2" : "out");
        table = find_table(&scene, without_manifest ? "salvaged-table-000001" : "t");
        put(&scene, table, "row", "second");
        close_database(&scene);
        assert_shows(&scene, way == 3 ? "out2" : "out",
                     without_manifest ? "salvaged-table-000001:row=second " : "t:row=second ");
        memory_vfs_free(scene.vfs);
    }
}

/* A timestamp of the caller's own does not become the clock. */
TEST(given_timestamps_do_not_drag_the_clock)
{
    const int64_t far = INT64_C(1) << 50;
    struct scene scene;
    petal_result *result;
    petal_table *table;

    scene_over(&scene, memory_vfs_new());
    open_database(&scene, "db");
    table = shape_table(&scene, NULL, "t", "f");
    scene_must(&scene, petal_put(petal_table_family_at(table, 0), slice_of("far"), slice_of("q"),
                                 far, slice_of("v"), NULL, &scene.error));
    flush(&scene, table);
    scene_must(&scene, petal_put(petal_table_family_at(table, 0), slice_of("far"), slice_of("q"),
                                 far + 1, slice_of("v"), NULL, &scene.error));
    die(&scene);
    remove_manifest(&scene, "db");
    (void)salvage(&scene, "db", "out");
    open_database(&scene, "out");
    put(&scene, find_table(&scene, "t"), "near", "v");
    scene_must(&scene, petal_result_new(scene.db, &result, &scene.error));
    scene_must(&scene,
               petal_get(find_table(&scene, "t"), slice_of("near"), NULL, result, &scene.error));
    assert_int_equal(petal_result_cell(result, 0)->timestamp, scene.now);
    petal_result_free(result);
    close_database(&scene);
    memory_vfs_free(scene.vfs);
}

/* What was salvaged loses its manifest: its store files and logs must agree on who is who. */
TEST(salvaged_files_name_their_tables)
{
    struct scene scene;

    scene_over(&scene, memory_vfs_new());
    open_database(&scene, "db");
    (void)shape_table(&scene, NULL, "a", "f");
    put(&scene, shape_table(&scene, NULL, "b", "f"), "row1", "b");
    put(&scene, shape_table(&scene, NULL, "c", "f"), "row1", "c");
    scene_must(&scene, petal_table_snapshot_create(find_table(&scene, "c"), slice_of("s"), NULL,
                                                   &scene.error));
    scene_must(&scene, petal_table_drop(find_table(&scene, "a"), &scene.error));
    close_database(&scene);
    assert_int_equal(salvage(&scene, "db", "out").faults, 0);

    open_database(&scene, "out");
    put(&scene, find_table(&scene, "c"), "row2", "c");
    flush(&scene, find_table(&scene, "c"));
    put(&scene, find_table(&scene, "c"), "row3", "c");
    die(&scene);
    assert_int_equal(
        petal_verify("out",
                     &(petal_check_options){.size = sizeof(petal_check_options), .env = &scene.env},
                     NULL, &scene.error),
        PETAL_OK);
    remove_manifest(&scene, "out");
    (void)salvage(&scene, "out", "again");
    assert_shows(&scene, "again",
                 "b:row1=b c:row1=c c:row2=c c:row3=c salvaged-table-000001:row1=c ");
    memory_vfs_free(scene.vfs);
}

/* The manifest is lost: of two tables of a name the later one is it, the other is kept apart. */
TEST(what_was_truncated_is_kept_apart)
{
    struct scene scene;
    petal_table *table;

    scene_over(&scene, memory_vfs_new());
    open_database(&scene, "db");
    table = shape_table(&scene, NULL, "t", "f");
    put(&scene, table, "row1", "truncated");
    flush(&scene, table);
    scene_must(&scene, petal_table_snapshot_create(table, slice_of("s"), NULL, &scene.error));
    scene_must(&scene, petal_table_truncate(table, &table, &scene.error));
    put(&scene, table, "row2", "flushed");
    flush(&scene, table);
    put(&scene, table, "row3", "logged");
    die(&scene);
    remove_manifest(&scene, "db");
    (void)salvage(&scene, "db", "out");
    assert_shows(&scene, "out",
                 "salvaged-table-000001:row1=truncated t:row2=flushed t:row3=logged ");
    memory_vfs_free(scene.vfs);
}

/* ---- want ---- */

/* A flushed file, and a log. */
static struct memory_vfs *
small_database(void)
{
    struct scene scene;
    petal_table *table;

    scene_over(&scene, memory_vfs_new());
    open_database(&scene, "db");
    table = shape_table(&scene, NULL, "t", "f");
    put(&scene, table, "row1", "flushed");
    flush(&scene, table);
    put(&scene, table, "row2", "logged");
    die(&scene);
    return scene.vfs;
}

/* At each call one is missing: nothing is damaged by that, and nothing is left out. */
TEST(want_of_descriptors_is_no_damage)
{
    const int wants[] = {EMFILE, ENOMEM};
    struct memory_vfs *base = small_database();

    for (unsigned i = 0; i < 4; i++) {
        bool verifies = i >= 2, failed = true;

        for (uint64_t n = 1; failed; n++) {
            struct scene scene;
            petal_check_options options = {.size = sizeof options};
            petal_check_counts counts;
            enum petal_status status;

            scene_over(&scene, memory_vfs_clone(base));
            options.env = &scene.env;
            memory_vfs_fail_at(scene.vfs, n, wants[i % 2], false);
            status = verifies ? petal_verify("db", &options, &counts, &scene.error)
                              : petal_salvage("db", "out", &options, &counts, &scene.error);
            failed = memory_vfs_failures(scene.vfs) > 0;
            memory_vfs_fail_at(scene.vfs, 0, 0, false);
            if (counts.faults > 0 || status == PETAL_CORRUPT)
                fail_msg("call %d: %s", (int)n, scene.error.text);
            if (status == PETAL_OK && !verifies)
                assert_shows(&scene, "out", "t:row1=flushed t:row2=logged ");
            memory_vfs_free(scene.vfs);
        }
    }
    memory_vfs_free(base);
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
    struct scene scene;
    struct open_watch watch = {.most = 0};
    petal_check_options options = {.size = sizeof options, .argument = &watch, .watch = watch_open};
    petal_check_counts counts;
    petal_table *table;

    scene_over(&scene, memory_vfs_new());
    open_database(&scene, "db");
    table = shape_table(&scene, NULL, "t", "f");
    for (unsigned i = 0; i < MANY_FILES; i++) {
        char row[16];

        (void)snprintf(row, sizeof row, "%u", i);
        put(&scene, table, row, "v");
        flush(&scene, table);
    }
    close_database(&scene);
    watch.vfs = scene.vfs;
    options.env = &scene.env;
    scene_must(&scene, petal_salvage("db", "out", &options, &counts, &scene.error));
    assert_int_equal(counts.store_files, MANY_FILES);
    assert_int_equal(counts.cells, MANY_FILES);
    assert_in_range(watch.most, 64, MOST_OPEN);
    memory_vfs_free(scene.vfs);
}

static void
assert_refused(struct scene *scene, const char *to, enum petal_status expected, const char *text)
{
    const petal_check_options options = {.size = sizeof options, .env = &scene->env};
    uint64_t before = memory_vfs_hash(scene->vfs);

    assert_int_equal(petal_salvage("db", to, &options, NULL, &scene->error), expected);
    assert_non_null(strstr(scene->error.text, text));
    assert_true(memory_vfs_hash(scene->vfs) == before);
}

/* Neither a new database within what is looked at, nor around it. */
TEST(the_source_is_not_written_into)
{
    static const char within[] = " lies in db, the directory that is salvaged";
    struct scene scene;

    scene_over(&scene, memory_vfs_new());
    assert_int_equal(vfs_make_directory(scene.env.vfs, "house"), 0);
    open_database(&scene, "db");
    put(&scene, shape_table(&scene, NULL, "t", "f"), "row", "v");
    die(&scene);
    assert_int_equal(vfs_make_directory(scene.env.vfs, "db/empty"), 0);
    assert_int_equal(vfs_make_directory(scene.env.vfs, "db/empty/deep"), 0);
    assert_refused(&scene, "db", PETAL_INVALID, within);
    assert_refused(&scene, "./db//", PETAL_INVALID, within);
    assert_refused(&scene, "db/new", PETAL_INVALID, within);
    assert_refused(&scene, "db/empty", PETAL_INVALID, within);
    assert_refused(&scene, "db/empty/deep/new", PETAL_INVALID, within);
    assert_refused(&scene, "/", PETAL_EXISTS, "is a directory that is not empty");
    assert_refused(&scene, "nowhere/new", PETAL_IO, "No such file");
    (void)salvage(&scene, "db", "db2");
    (void)salvage(&scene, "db", "house");
    memory_vfs_free(scene.vfs);
}

/* ---- what fails while it looks ---- */

/* What the manifest is like where salvage finds it; the store files and logs are the same ones. */
enum manifest_story { WHOLE, WITH_A_FILE_LOST, CUT, DAMAGED, LOST, STORIES };

struct found_file {
    char path[64];
};

static void
find_store_file(void *argument, const char *name)
{
    struct found_file *found = argument;

    if (found->path[0] == '\0' && strstr(name, ".sst") != NULL)
        (void)snprintf(found->path, sizeof found->path, "db/%s", name);
}

/* Two tables of one name, one after the other, a dropped family, a table snapshot, logs, a store
 * file that is not named any more, and one that nobody has named yet. */
static void
make_story(struct scene *scene, enum manifest_story story)
{
    struct found_file found = {.path = ""};
    petal_cursor *cursor;
    petal_table *table;
    uint8_t *bytes;
    size_t size;

    scene_over(scene, memory_vfs_new());
    open_database(scene, "db");
    table = shape_table(scene, NULL, "t", "fgh");
    put(scene, table, "row1", "one");
    flush(scene, table);
    scene_must(scene, petal_table_snapshot_create(table, slice_of("s"), NULL, &scene->error));
    put(scene, table, "row2", "two");
    flush(scene, table);
    scene_must(scene, petal_cursor_open(table, NULL, &cursor, &scene->error));
    scene_must(scene, petal_compact(table, NULL, &scene->error));
    (void)shape_table(scene, table, "t", "fg");
    put(scene, shape_table(scene, NULL, "u", "f"), "row1", "dropped");
    flush(scene, find_table(scene, "u"));
    scene_must(scene, petal_table_drop(find_table(scene, "u"), &scene->error));
    put(scene, shape_table(scene, NULL, "u", "f"), "row1", "later");
    put(scene, table, "row3", "in the log");
    {
        struct memory_vfs *left = memory_vfs_clone(scene->vfs);

        petal_cursor_close(cursor);
        close_database(scene);
        memory_vfs_free(scene->vfs);
        scene_over(scene, left);
    }
    assert_int_equal(memory_vfs_read_file(scene->vfs, "db/MANIFEST", &bytes, &size), 0);
    assert_int_equal(memory_vfs_list(scene->vfs, "db", find_store_file, &found), 0);
    if (story == LOST)
        remove_manifest(scene, "db");
    if (story == WITH_A_FILE_LOST)
        assert_int_equal(vfs_remove(scene->env.vfs, found.path), 0);
    if (story == DAMAGED)
        bytes[size / 2] ^= 1;
    if (story == CUT || story == DAMAGED)
        assert_int_equal(
            memory_vfs_write_file(scene->vfs, "db/MANIFEST", bytes, story == CUT ? size / 2 : size),
            0);
    free(bytes);
}

static void
note_failed_call(void *argument, const petal_fault *fault)
{
    bool *told = argument;

    *told = *told || fault->error->os_error == EIO;
}

/* Of a salvage, or of a verification where `to` is NULL. *told: of a file call that failed. */
static enum petal_status
look(struct scene *scene, const char *to, petal_check_counts *counts, bool *told)
{
    const petal_check_options options = {
        .size = sizeof options, .env = &scene->env, .argument = told, .fault = note_failed_call};

    scene->error = (petal_error){.status = PETAL_OK};
    return to != NULL ? petal_salvage("db", to, &options, counts, &scene->error)
                      : petal_verify("db", &options, counts, &scene->error);
}

/* Each allocation, or each file call, fails once: it is told, or nothing is missed for it. */
static uint64_t
fail_each(enum manifest_story story, bool salvages, bool memory)
{
    const char *to = salvages ? "out" : NULL;
    petal_check_counts expected = {0};
    enum petal_status whole = PETAL_OK;
    uint64_t failed, n = 0;
    struct scene made;

    make_story(&made, story);
    do {
        petal_check_counts counts = {0};
        struct test_allocator allocator;
        enum petal_status status;
        struct scene scene;
        uint64_t hash;
        bool told = false;

        scene_over(&scene, memory_vfs_clone(made.vfs));
        hash = memory_vfs_hash(scene.vfs);
        test_allocator_init(&allocator);
        scene.env.allocator = &allocator.table;
        if (memory)
            test_allocator_fail_at(&allocator, n, false);
        else
            memory_vfs_fail_at(scene.vfs, n, EIO, false);
        status = look(&scene, to, &counts, &told);
        failed = memory ? test_allocator_failures(&allocator) : memory_vfs_failures(scene.vfs);
        memory_vfs_fail_at(scene.vfs, 0, 0, false);
        assert_int_equal(test_allocator_live_blocks(&allocator), 0);
        assert_int_equal(memory_vfs_open_files(scene.vfs), 0);
        assert_true(salvages || memory_vfs_hash(scene.vfs) == hash);
        assert_true(status == PETAL_OK || scene.error.text[0] != '\0');
        if (n == 0) {
            expected = counts;
            whole = status;
            failed = 1; /* go on with the first */
        } else if (memory && status != whole) {
            assert_int_equal(status, PETAL_NO_MEMORY);
        } else if (failed > 0 && status == whole && !told && counts.faults <= expected.faults &&
                   counts.cells < expected.cells) {
            fail_msg("story %d, %s %u fails: %u of %u cells, and nobody is told", story,
                     memory ? "allocation" : "file call", (unsigned)n, (unsigned)counts.cells,
                     (unsigned)expected.cells);
        }
        memory_vfs_free(scene.vfs);
        n++;
    } while (failed > 0);
    memory_vfs_free(made.vfs);
    return n - 2;
}

TEST(what_fails_is_told)
{
    uint64_t allocations = 0, calls = 0;

    for (enum manifest_story story = 0; story < STORIES; story++) {
        for (unsigned salvages = 0; salvages < 2; salvages++) {
            allocations += fail_each(story, salvages != 0, true);
            calls += fail_each(story, salvages != 0, false);
        }
    }
    print_message("counted: check/salvage_test: %u allocations and %u file calls failed\n",
                  (unsigned)allocations, (unsigned)calls);
}

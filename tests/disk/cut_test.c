/*
 * cut_test.c -- the power cuts of the in-memory file layer: every crash test of the library rests
 * on what is checked here.  (Its other faults: tests/disk/disk_test.c.  That it works as a file
 * layer: tests/disk/vfs_contract_test.c.)
 */
#include "tests/disk/paths.h"
#include "tests/disk/vfs.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CREATE   (PETAL_FILE_WRITE | PETAL_FILE_CREATE)
#define SECTOR   MEMORY_SECTOR_BYTES
#define SEEDS    2000
#define NO_FILE  "(none)"
#define BIG_TEXT 64

/* Opened by set_up: the root, and "d" in it. */
static petal_directory *root, *inner;

static petal_directory *
directory_of(const char *path)
{
    return strncmp(path, "d/", 2) == 0 ? inner : root;
}

static const char *
name_of(const char *path)
{
    return strncmp(path, "d/", 2) == 0 ? path + 2 : path;
}

static int
set_up(void **state)
{
    struct memory_vfs *vfs = memory_vfs_new();
    const petal_vfs *table = memory_vfs_table(vfs);

    *state = vfs;
    return table->open_directory(vfs, "/", false, &root) != 0 ||
           table->open_directory(vfs, "d", true, &inner) != 0 ||
           table->sync_directory(vfs, root) != 0;
}

static int
tear_down(void **state)
{
    memory_vfs_free(*state);
    return 0;
}

/* Cut the power and open again what was open. */
static void
power_cut(struct memory_vfs *vfs, enum memory_cut cut, uint64_t seed)
{
    const petal_vfs *table = memory_vfs_table(vfs);

    memory_vfs_power_cut(vfs, cut, seed);
    table->close_directory(vfs, root);
    table->close_directory(vfs, inner);
    assert_int_equal(table->open_directory(vfs, "/", false, &root), 0);
    assert_int_equal(table->open_directory(vfs, "d", false, &inner), 0);
}

/* ---- Short forms; the context of the table is the memory_vfs itself ---- */

static petal_file *
open_file(struct memory_vfs *vfs, const char *path)
{
    petal_file *file;

    assert_int_equal(
        memory_vfs_table(vfs)->open(vfs, directory_of(path), name_of(path), CREATE, &file), 0);
    return file;
}

static int
try_open(struct memory_vfs *vfs, const char *path)
{
    petal_file *file;

    return memory_vfs_table(vfs)->open(vfs, directory_of(path), name_of(path), CREATE, &file);
}

static int
write_at(struct memory_vfs *vfs, petal_file *file, uint64_t offset, const void *bytes, size_t size)
{
    return memory_vfs_table(vfs)->write_at(vfs, file, offset, bytes, size);
}

static int
write_text(struct memory_vfs *vfs, petal_file *file, uint64_t offset, const char *text)
{
    return write_at(vfs, file, offset, text, strlen(text));
}

/* One byte value over `size` bytes. */
static int
write_fill(struct memory_vfs *vfs, petal_file *file, uint64_t offset, char fill, size_t size)
{
    char *bytes = memset(test_allocate(size), fill, size);
    int error = write_at(vfs, file, offset, bytes, size);

    free(bytes);
    return error;
}

static int
sync_file(struct memory_vfs *vfs, petal_file *file)
{
    return memory_vfs_table(vfs)->sync(vfs, file);
}

static int
close_file(struct memory_vfs *vfs, petal_file *file)
{
    return memory_vfs_table(vfs)->close(vfs, file);
}

static int
sync_directory(struct memory_vfs *vfs, const char *path)
{
    return memory_vfs_table(vfs)->sync_directory(vfs, strcmp(path, "d") == 0 ? inner : root);
}

static int
rename_file(struct memory_vfs *vfs, const char *from, const char *to)
{
    return memory_vfs_table(vfs)->rename(vfs, directory_of(from), name_of(from), name_of(to));
}

static int
remove_file(struct memory_vfs *vfs, const char *path)
{
    return memory_vfs_table(vfs)->remove(vfs, directory_of(path), name_of(path));
}

/* The content of a short text file, NO_FILE if there is none. */
static void
read_text(struct memory_vfs *vfs, const char *path, char *text)
{
    uint8_t *bytes;
    size_t size;

    strcpy(text, NO_FILE);
    if (memory_vfs_read_file(vfs, path, &bytes, &size) == 0) {
        assert_true(size < BIG_TEXT);
        memcpy(text, bytes, size);
        text[size] = '\0';
    }
    free(bytes);
}

static void
expect_text(struct memory_vfs *vfs, const char *path, const char *expected)
{
    char text[BIG_TEXT];

    read_text(vfs, path, text);
    assert_string_equal(text, expected);
}

static struct memory_vfs *
cut_clone(struct memory_vfs *vfs, enum memory_cut cut, uint64_t seed)
{
    struct memory_vfs *clone = memory_vfs_clone(vfs);

    memory_vfs_power_cut(clone, cut, seed);
    return clone;
}

/* What file `path` is after a cut of a clone. */
static void
expect_after_cut(struct memory_vfs *vfs, enum memory_cut cut, const char *path,
                 const char *expected)
{
    struct memory_vfs *clone = cut_clone(vfs, cut, 0);

    expect_text(clone, path, expected);
    memory_vfs_free(clone);
}

/* ---- Power cuts: all or nothing ---- */

TEST_WITH(only_what_was_synced_is_durable, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    petal_file *file = open_file(vfs, "d/a");

    assert_int_equal(sync_directory(vfs, "d"), 0);
    assert_int_equal(write_text(vfs, file, 0, "synced"), 0);
    assert_int_equal(sync_file(vfs, file), 0);
    assert_int_equal(write_text(vfs, file, 3, "not yet"), 0);
    expect_text(vfs, "d/a", "synnot yet");
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "synced");
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "d/a", "synnot yet");
    assert_int_equal(sync_file(vfs, file), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "synnot yet");
    expect_text(vfs, "d/a", "synnot yet");
}

TEST_WITH(a_synced_file_has_no_durable_name_before_its_directory, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    petal_file *file = open_file(vfs, "d/a");

    assert_int_equal(write_text(vfs, file, 0, "text"), 0);
    assert_int_equal(sync_file(vfs, file), 0);
    assert_int_equal(sync_directory(vfs, "/"), 0); /* another directory */
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", NO_FILE);
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "d/a", "text");
    assert_int_equal(sync_directory(vfs, "d"), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "text");
}

TEST_WITH(a_name_is_durable_without_the_data, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    petal_file *file = open_file(vfs, "d/a");

    assert_int_equal(write_text(vfs, file, 0, "text"), 0);
    assert_int_equal(sync_directory(vfs, "d"), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "");
}

TEST_WITH(rename_and_remove_wait_for_the_directory, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;

    assert_int_equal(memory_vfs_write_file(vfs, "d/old", "old", 3), 0);
    assert_int_equal(memory_vfs_write_file(vfs, "d/new", "new", 3), 0);
    assert_int_equal(memory_vfs_write_file(vfs, "d/gone", "gone", 4), 0);
    assert_int_equal(rename_file(vfs, "d/new", "d/old"), 0);
    assert_int_equal(remove_file(vfs, "d/gone"), 0);
    expect_text(vfs, "d/old", "new");
    expect_text(vfs, "d/gone", NO_FILE);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/old", "old");
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/new", "new");
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/gone", "gone");
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "d/old", "new");
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "d/new", NO_FILE);
    assert_int_equal(sync_directory(vfs, "d"), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/old", "new");
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/new", NO_FILE);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/gone", NO_FILE);
}

TEST_WITH(a_new_directory_vanishes_with_all_in_it, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;

    assert_int_equal(vfs_make_directory(memory_vfs_table(vfs), "d/e"), 0);
    assert_int_equal(memory_vfs_write_file(vfs, "d/e/a", "text", 4), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/e/a", NO_FILE);
    assert_int_equal(sync_directory(vfs, "d"), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/e/a", "text");
}

TEST_WITH(after_a_cut_files_are_dead_and_locks_are_free, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    const petal_vfs *table = memory_vfs_table(vfs);
    petal_file *dead = open_file(vfs, "d/a"), *file;
    char buffer[4];
    uint64_t calls, size;
    size_t got;

    assert_int_equal(sync_directory(vfs, "d"), 0);
    assert_int_equal(table->lock(vfs, dead, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    power_cut(vfs, MEMORY_CUT_LOSE_ALL, 0);
    calls = memory_vfs_calls(vfs);
    assert_int_equal(write_text(vfs, dead, 0, "text"), EIO);
    assert_int_equal(table->read_at(vfs, dead, 0, buffer, 4, &got), EIO);
    assert_int_equal(table->size(vfs, dead, &size), EIO);
    assert_int_equal(sync_file(vfs, dead), EIO);
    assert_int_equal(table->lock(vfs, dead, 0, 0, PETAL_LOCK_EXCLUSIVE), EIO);
    file = open_file(vfs, "d/a");
    assert_int_equal(table->lock(vfs, file, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    assert_int_equal(memory_vfs_calls(vfs), calls + 2); /* those of the dead do not count */
    expect_text(vfs, "d/a", "");
    assert_int_equal(memory_vfs_open_files(vfs), 2);
    assert_int_equal(close_file(vfs, dead), EIO);
    assert_int_equal(memory_vfs_open_files(vfs), 1);
}

/* ---- Power cuts: random survivors ---- */

/* What was seen of the outcomes that a test names by bits. */
struct seen {
    bool outcomes[64];
};

static void
expect_seen(const struct seen *seen, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!seen->outcomes[i])
            fail_msg("outcome %zu was never seen in %d cuts", i, SEEDS);
    }
}

/* Of one write over three sectors each subset survives in some cut, and never a part of a
 * sector. */
TEST_WITH(one_write_is_torn_at_any_sectors, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    char old[3 * SECTOR];
    struct seen seen = {{false}};
    uint64_t seed = test_seed();
    petal_file *file;

    memset(old, 'o', sizeof(old));
    assert_int_equal(memory_vfs_write_file(vfs, "d/a", old, sizeof(old)), 0);
    file = open_file(vfs, "d/a");
    assert_int_equal(write_fill(vfs, file, 0, 'n', sizeof(old)), 0);
    for (int i = 0; i < SEEDS; i++) {
        struct memory_vfs *clone = cut_clone(vfs, MEMORY_CUT_RANDOM, seed + (uint64_t)i);
        unsigned outcome = 0;
        uint8_t *bytes;
        size_t size;

        assert_int_equal(memory_vfs_read_file(clone, "d/a", &bytes, &size), 0);
        assert_int_equal(size, sizeof(old));
        for (unsigned s = 0; s < 3; s++) {
            const uint8_t *sector = bytes + s * SECTOR;

            assert_true(sector[0] == 'o' || sector[0] == 'n');
            assert_memory_equal(sector, sector + 1, SECTOR - 1); /* all bytes are the same */
            outcome |= sector[0] == 'n' ? 1u << s : 0;
        }
        seen.outcomes[outcome] = true;
        free(bytes);
        memory_vfs_free(clone);
    }
    expect_seen(&seen, 8);
}

/* Two writes to distinct sectors: the later may survive alone.  Two to one sector: it is as after
 * none, one or both. */
TEST_WITH(writes_are_reordered_but_a_sector_has_its_history, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    char old[2 * SECTOR];
    struct seen seen = {{false}};
    uint64_t seed = test_seed();
    petal_file *file;

    memset(old, 'o', sizeof(old));
    assert_int_equal(memory_vfs_write_file(vfs, "d/a", old, sizeof(old)), 0);
    file = open_file(vfs, "d/a");
    assert_int_equal(write_text(vfs, file, 0, "11"), 0);
    assert_int_equal(write_text(vfs, file, 1, "22"), 0);
    assert_int_equal(write_text(vfs, file, SECTOR, "3"), 0);
    for (int i = 0; i < SEEDS; i++) {
        struct memory_vfs *clone = cut_clone(vfs, MEMORY_CUT_RANDOM, seed + (uint64_t)i);
        unsigned outcome = 0;
        uint8_t *bytes;
        size_t size;

        assert_int_equal(memory_vfs_read_file(clone, "d/a", &bytes, &size), 0);
        if (memcmp(bytes, "11o", 3) == 0)
            outcome = 1;
        else if (memcmp(bytes, "122", 3) == 0)
            outcome = 2;
        else
            assert_memory_equal(bytes, "ooo", 3);
        outcome += bytes[SECTOR] == '3' ? 3 : 0;
        seen.outcomes[outcome] = true;
        free(bytes);
        memory_vfs_free(clone);
    }
    expect_seen(&seen, 6);
}

/* What of the bytes after the durable ones a cut has left. */
enum growth { GROWTH_NONE, GROWTH_WHOLE, GROWTH_PART, GROWTH_ZEROS, GROWTH_GARBAGE, GROWTH_COUNT };

static enum growth
classify_growth(const uint8_t *bytes, size_t size)
{
    static const uint8_t zeros[SECTOR];

    if (size == SECTOR)
        return GROWTH_NONE;
    if (bytes[SECTOR] != 'n')
        return memcmp(bytes + SECTOR, zeros, size < 2 * SECTOR ? size - SECTOR : SECTOR) == 0
                   ? GROWTH_ZEROS
                   : GROWTH_GARBAGE;
    return size == 5 * SECTOR ? GROWTH_WHOLE : GROWTH_PART;
}

TEST_WITH(a_file_grows_with_without_or_before_its_data, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    char old[SECTOR];
    struct seen seen = {{false}};
    uint64_t seed = test_seed();
    petal_file *file;

    memset(old, 'o', sizeof(old));
    assert_int_equal(memory_vfs_write_file(vfs, "d/a", old, sizeof(old)), 0);
    file = open_file(vfs, "d/a");
    assert_int_equal(write_fill(vfs, file, SECTOR, 'n', 2 * SECTOR), 0);
    assert_int_equal(write_fill(vfs, file, 3 * SECTOR, 'n', 2 * SECTOR), 0);
    for (int i = 0; i < SEEDS; i++) {
        struct memory_vfs *clone = cut_clone(vfs, MEMORY_CUT_RANDOM, seed + (uint64_t)i);
        uint8_t *bytes;
        size_t size;

        assert_int_equal(memory_vfs_read_file(clone, "d/a", &bytes, &size), 0);
        assert_in_range(size, SECTOR, 5 * SECTOR);
        assert_memory_equal(bytes, old, SECTOR); /* what was synced stays */
        seen.outcomes[classify_growth(bytes, size)] = true;
        seen.outcomes[GROWTH_COUNT - 1 + size / SECTOR] = true; /* also inside a write */
        free(bytes);
        memory_vfs_free(clone);
    }
    expect_seen(&seen, GROWTH_COUNT + 5);
}

/* The usual way to replace a file: its name is always there, with the old content or the new. */
TEST_WITH(a_replaced_file_is_old_or_new, set_up, tear_down)
{
    static const char *const states[][2] = {
        /* d/current, d/tmp */
        {"old", NO_FILE}, /* nothing happened */
        {"old", "new"},   /* tmp was made */
        {"new", NO_FILE}, /* and renamed */
        {"new", "newer"}, /* and another tmp made */
    };
    struct memory_vfs *vfs = *state;
    struct seen seen = {{false}};
    uint64_t seed = test_seed();
    petal_file *file;

    assert_int_equal(memory_vfs_write_file(vfs, "d/current", "old", 3), 0);
    file = open_file(vfs, "d/tmp");
    assert_int_equal(write_text(vfs, file, 0, "new"), 0);
    assert_int_equal(sync_file(vfs, file), 0);
    assert_int_equal(rename_file(vfs, "d/tmp", "d/current"), 0);
    file = open_file(vfs, "d/tmp");
    assert_int_equal(write_text(vfs, file, 0, "newer"), 0);
    assert_int_equal(sync_file(vfs, file), 0);
    for (int i = 0; i < SEEDS; i++) {
        struct memory_vfs *clone = cut_clone(vfs, MEMORY_CUT_RANDOM, seed + (uint64_t)i);
        char current[BIG_TEXT], tmp[BIG_TEXT];
        size_t s = 0;

        read_text(clone, "d/current", current);
        read_text(clone, "d/tmp", tmp);
        while (s < 4 && (strcmp(current, states[s][0]) != 0 || strcmp(tmp, states[s][1]) != 0))
            s++;
        if (s == 4)
            fail_msg("seed %llu: current is %s, tmp is %s",
                     (unsigned long long)(seed + (uint64_t)i), current, tmp);
        seen.outcomes[s] = true;
        memory_vfs_free(clone);
    }
    expect_seen(&seen, 4);
}

/* Changes of distinct names do not wait for each other. */
TEST_WITH(names_survive_independently, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    struct seen seen = {{false}};
    uint64_t seed = test_seed();

    assert_int_equal(memory_vfs_write_file(vfs, "d/removed", "", 0), 0);
    assert_int_equal(memory_vfs_write_file(vfs, "d/from", "", 0), 0);
    (void)open_file(vfs, "d/created");
    assert_int_equal(remove_file(vfs, "d/removed"), 0);
    assert_int_equal(rename_file(vfs, "d/from", "d/to"), 0);
    for (int i = 0; i < SEEDS; i++) {
        struct memory_vfs *clone = cut_clone(vfs, MEMORY_CUT_RANDOM, seed + (uint64_t)i);
        bool renamed = memory_vfs_exists(clone, "d/to");

        assert_int_equal(memory_vfs_exists(clone, "d/from"), !renamed);
        seen.outcomes[(memory_vfs_exists(clone, "d/created") ? 1 : 0) +
                      (memory_vfs_exists(clone, "d/removed") ? 2 : 0) + (renamed ? 4 : 0)] = true;
        memory_vfs_free(clone);
    }
    expect_seen(&seen, 8);
}

/* A random workload, cut at a random seed twice from equal clones: equal files; and what was synced
 * is there. */
TEST_WITH(equal_seeds_give_equal_states, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    struct test_random random;
    petal_file *file = open_file(vfs, "d/a");

    test_random_init(&random, test_seed());
    assert_int_equal(sync_directory(vfs, "d"), 0);
    for (int i = 0; i < 200; i++) {
        struct memory_vfs *one, *other;
        uint8_t *one_bytes, *other_bytes;
        size_t one_size, other_size;
        uint64_t seed = test_random_next(&random);

        assert_int_equal(write_fill(vfs, file, test_random_below(&random, 9000), 'x',
                                    test_random_below(&random, 3000) + 1),
                         0);
        if (test_random_chance(&random, 10))
            assert_int_equal(sync_file(vfs, file), 0);
        one = cut_clone(vfs, MEMORY_CUT_RANDOM, seed);
        other = cut_clone(vfs, MEMORY_CUT_RANDOM, seed);
        assert_int_equal(memory_vfs_read_file(one, "d/a", &one_bytes, &one_size), 0);
        assert_int_equal(memory_vfs_read_file(other, "d/a", &other_bytes, &other_size), 0);
        assert_int_equal(one_size, other_size);
        if (one_size > 0)
            assert_memory_equal(one_bytes, other_bytes, one_size);
        free(one_bytes);
        free(other_bytes);
        memory_vfs_free(one);
        memory_vfs_free(other);
    }
}

/* ---- Planned cuts ---- */

TEST_WITH(from_the_planned_cut_on_the_machine_is_off, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    petal_file *file = open_file(vfs, "d/a");
    uint64_t calls = memory_vfs_calls(vfs);

    assert_int_equal(sync_directory(vfs, "d"), 0);
    memory_vfs_cut_at(vfs, 2);
    assert_int_equal(write_text(vfs, file, 0, "one"), 0);
    assert_false(memory_vfs_is_off(vfs));
    assert_int_equal(write_text(vfs, file, 3, "two"), EIO); /* in flight: may survive */
    assert_true(memory_vfs_is_off(vfs));
    assert_int_equal(write_text(vfs, file, 6, "three"), EIO);
    assert_int_equal(try_open(vfs, "d/b"), EIO);
    assert_int_equal(close_file(vfs, file), EIO);
    assert_int_equal(memory_vfs_open_files(vfs), 0);
    assert_int_equal(memory_vfs_calls(vfs), calls + 6);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "");
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "d/a", "onetwo");
    power_cut(vfs, MEMORY_CUT_KEEP_ALL, 0);
    assert_false(memory_vfs_is_off(vfs));
    file = open_file(vfs, "d/b");
    assert_int_equal(write_text(vfs, file, 0, "again"), 0);
    expect_text(vfs, "d/b", "again");
}

TEST_WITH(a_sync_in_flight_has_not_happened, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    petal_file *file = open_file(vfs, "d/a");

    memory_vfs_cut_at(vfs, 1);
    assert_int_equal(sync_directory(vfs, "d"), EIO);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", NO_FILE);
    power_cut(vfs, MEMORY_CUT_KEEP_ALL, 0);
    file = open_file(vfs, "d/a");
    assert_int_equal(write_text(vfs, file, 0, "text"), 0);
    memory_vfs_cut_at(vfs, 1);
    assert_int_equal(sync_file(vfs, file), EIO);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "");
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "d/a", "text");
}

TEST_WITH(names_in_flight_may_survive, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;

    assert_int_equal(memory_vfs_write_file(vfs, "d/a", "a", 1), 0);
    memory_vfs_cut_at(vfs, 1);
    assert_int_equal(rename_file(vfs, "d/a", "d/b"), EIO);
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "d/b", "a");
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/b", NO_FILE);
    power_cut(vfs, MEMORY_CUT_LOSE_ALL, 0);
    memory_vfs_cut_at(vfs, 1);
    assert_int_equal(remove_file(vfs, "d/a"), EIO);
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "d/a", NO_FILE);
    power_cut(vfs, MEMORY_CUT_LOSE_ALL, 0);
    memory_vfs_cut_at(vfs, 1);
    assert_int_equal(try_open(vfs, "d/c"), EIO);
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "d/c", "");
    power_cut(vfs, MEMORY_CUT_LOSE_ALL, 0);
    expect_text(vfs, "d/c", NO_FILE);
}

/* ---- links: what is left of a file with several names ---- */

static int
link_names(struct memory_vfs *vfs, const char *from, const char *to)
{
    return memory_vfs_table(vfs)->link(vfs, directory_of(from), name_of(from), directory_of(to),
                                       name_of(to));
}

/* For tests of links: "d/a" is durable. */
static int
set_up_file(void **state)
{
    return set_up(state) != 0 || memory_vfs_write_file(*state, "d/a", "text", 4) != 0;
}

/* Each name is as durable as its own directory has made it. */
TEST_WITH(a_link_waits_for_its_directory, set_up_file, tear_down)
{
    struct memory_vfs *vfs = *state;

    assert_int_equal(link_names(vfs, "d/a", "b"), 0);
    assert_int_equal(link_names(vfs, "d/a", "d/c"), 0);
    assert_int_equal(sync_directory(vfs, "d"), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/c", "text");
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "b", NO_FILE);
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "b", "text");
    assert_int_equal(memory_vfs_table(vfs)->remove(vfs, inner, "a"), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "text");
    assert_int_equal(sync_directory(vfs, "d"), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", NO_FILE);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/c", "text");
}

TEST_WITH(the_bytes_are_those_of_one_file, set_up_file, tear_down)
{
    struct memory_vfs *vfs = *state;
    const petal_vfs *table = memory_vfs_table(vfs);
    petal_file *file;

    assert_int_equal(link_names(vfs, "d/a", "b"), 0);
    assert_int_equal(memory_vfs_used(vfs), 4);
    assert_int_equal(sync_directory(vfs, "/"), 0);
    assert_int_equal(table->open(vfs, root, "b", PETAL_FILE_WRITE, &file), 0);
    assert_int_equal(table->write_at(vfs, file, 4, "more", 4), 0);
    assert_int_equal(memory_vfs_used(vfs), 8);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "text");
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "d/a", "textmore");
    assert_int_equal(table->sync(vfs, file), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "textmore");
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "b", "textmore");
    assert_int_equal(table->close(vfs, file), 0);
}

TEST_WITH(a_link_in_flight_may_survive, set_up_file, tear_down)
{
    struct memory_vfs *vfs = *state;

    memory_vfs_cut_at(vfs, 1);
    assert_int_equal(link_names(vfs, "d/a", "b"), EIO);
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "b", "text");
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "b", NO_FILE);
}

/*
 * save_test.c -- saving a set over an older one while the power is cut, calls fail, the disk is
 * full or memory ends: the old file is there whole or the new one, what the save said is so, and
 * nothing else is left, at the latest after the next save.
 */
#include "bloom/file/set_file.h"

#include "tests/disk/vfs.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <string.h>

#define BODY_BYTES ((size_t)150000)
#define NAME       "set"
#define SEEDS      20

enum { NONE = -1, OLD = 0, NEW = 1, OTHER = 2 };

static uint8_t bodies[3][BODY_BYTES];

static int
fill_bodies(void **state)
{
    struct test_random random;

    (void)state;
    test_random_init(&random, test_seed());
    for (int i = 0; i < 3; i++) {
        test_random_bytes(&random, bodies[i], BODY_BYTES);
        memset(bodies[i] + 66000, 0, 70000); /* a hole */
    }
    return 0;
}

static petal_env
env_of(struct memory_vfs *vfs)
{
    return (petal_env){.size = sizeof(petal_env), .vfs = memory_vfs_table(vfs)};
}

static enum petal_status
begin(const petal_env *given, int which, struct set_file_writer **writer, petal_error *error)
{
    enum petal_status status;
    struct env env;

    env_init(&env, given);
    status = set_file_create(&env, NAME, writer, error);
    if (status == PETAL_OK)
        status = set_file_append(*writer, bodies[which], BODY_BYTES, error);
    if (status != PETAL_OK) {
        set_file_abandon(*writer);
        *writer = NULL;
    }
    return status;
}

static enum petal_status
save(const petal_env *given, int which, petal_error *error)
{
    const struct set_file_head head = {
        .type = PETAL_BLOOM_FILE_BITMAP, .layout = 1, .parameters = {(uint64_t)which}};
    struct set_file_writer *writer;
    enum petal_status status = begin(given, which, &writer, error);

    return status == PETAL_OK ? set_file_finish(writer, &head, error) : status;
}

/* Which of the bodies the file has, whole. */
static int
found(struct memory_vfs *vfs)
{
    const petal_env env = env_of(vfs);
    const petal_bloom_load_options options = {.env = &env};
    struct set_file file;
    petal_error error;
    enum petal_status status =
        set_file_open(NAME, &options, PETAL_BLOOM_FILE_BITMAP, &file, &error);
    int which;

    if (status != PETAL_OK) {
        assert_int_equal(status, PETAL_NOT_FOUND);
        return NONE;
    }
    which = (int)file.head.parameters[0];
    assert_in_range(which, OLD, OTHER);
    assert_int_equal(file.body_bytes, BODY_BYTES);
    assert_memory_equal(file.body, bodies[which], BODY_BYTES);
    set_file_close(&file);
    return which;
}

/* A disk with the old file, or none, and what two writers left that died. */
static struct memory_vfs *
disk_with(int which)
{
    struct memory_vfs *vfs = memory_vfs_new();
    struct set_file_writer *writers[2];
    petal_env env = env_of(vfs);

    if (which != NONE)
        assert_int_equal(save(&env, which, NULL), PETAL_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(begin(&env, OTHER, &writers[i], NULL), PETAL_OK);
    memory_vfs_process_death(vfs);
    for (int i = 0; i < 2; i++)
        set_file_abandon(writers[i]); /* memory alone: for the disk their process is no more */
    assert_int_equal(memory_vfs_count_files(vfs, "/"), (which != NONE) + 2);
    return vfs;
}

/* ---- power ---- */

static uint64_t
try_cuts(struct memory_vfs *vfs, int before, enum petal_status said)
{
    static const enum memory_cut cuts[] = {
        MEMORY_CUT_LOSE_ALL,   MEMORY_CUT_KEEP_ALL, MEMORY_CUT_LOSE_BYTES,
        MEMORY_CUT_LOSE_NAMES, MEMORY_CUT_TEAR,     MEMORY_CUT_TEAR_FIRST,
        MEMORY_CUT_ZEROS,      MEMORY_CUT_GARBAGE,  MEMORY_CUT_STALE};
    const uint64_t fixed = sizeof cuts / sizeof cuts[0];

    for (uint64_t i = 0; i < fixed + SEEDS; i++) {
        struct memory_vfs *clone = memory_vfs_clone(vfs);
        petal_env env = env_of(clone);
        int after;

        memory_vfs_power_cut(clone, i < fixed ? cuts[i] : MEMORY_CUT_RANDOM, i);
        after = found(clone);
        assert_true(after == NEW || (after == before && said != PETAL_OK));
        /* Work goes on, and what was left goes. */
        assert_int_equal(save(&env, OTHER, NULL), PETAL_OK);
        assert_int_equal(found(clone), OTHER);
        assert_int_equal(memory_vfs_count_files(clone, "/"), 1);
        memory_vfs_free(clone);
    }
    return fixed + SEEDS;
}

TEST(a_power_cut_leaves_the_old_file_or_the_new)
{
    uint64_t tried = 0;

    for (int before = NONE; before <= OLD; before++) {
        bool cut = true;

        for (uint64_t n = 1; cut; n++) {
            struct memory_vfs *vfs = disk_with(before);
            petal_env env = env_of(vfs);
            enum petal_status said;

            memory_vfs_cut_at(vfs, n);
            said = save(&env, NEW, NULL);
            cut = memory_vfs_is_off(vfs);
            assert_true(cut || said == PETAL_OK);
            tried += try_cuts(vfs, before, said);
            memory_vfs_free(vfs);
        }
    }
    test_counted("%llu power cuts of saves, the old file or the new one there behind each",
                 (unsigned long long)tried);
}

static void
check_failed(struct memory_vfs *vfs, const petal_error *error, bool for_good)
{
    bool of_name = strstr(error->text, "sync the directory of") != NULL;

    assert_true(error->status == PETAL_IO || error->status == PETAL_NO_SPACE);
    assert_true(error->os_error != 0);
    assert_int_equal(found(vfs), of_name ? NEW : OLD);
    if (!for_good)
        assert_true(memory_vfs_count_files(vfs, "/") <= 3); /* the file, and what others left */
}

/* Each call, with some errors, once and for good. */
TEST(a_failed_save_leaves_the_old_file_alone)
{
    static const int errors[] = {EIO, ENOSPC, EAGAIN, ENOMEM, EACCES};
    uint64_t tried = 0, failures = 1;

    for (uint64_t n = 1; failures > 0; n++) {
        for (size_t i = 0; i < 2 * sizeof errors / sizeof errors[0]; i++) {
            struct memory_vfs *vfs = disk_with(OLD);
            petal_env env = env_of(vfs);
            petal_error error;
            bool for_good = i % 2 == 1;
            enum petal_status said;

            memory_vfs_fail_at(vfs, n, errors[i / 2], for_good);
            said = save(&env, NEW, &error);
            failures = memory_vfs_failures(vfs);
            memory_vfs_fail_at(vfs, 0, 0, false);
            assert_int_equal(memory_vfs_open_files(vfs), 0);
            assert_int_equal(memory_vfs_open_directories(vfs), 0);
            if (said == PETAL_OK)
                assert_int_equal(found(vfs), NEW);
            else
                check_failed(vfs, &error, for_good);
            assert_int_equal(save(&env, OTHER, NULL), PETAL_OK);
            assert_int_equal(memory_vfs_count_files(vfs, "/"), 1);
            memory_vfs_free(vfs);
            tried++;
        }
    }
    test_counted("%llu saves of which calls failed, %llu calls each", (unsigned long long)tried,
                 (unsigned long long)tried / (2 * sizeof errors / sizeof errors[0]));
}

/* ---- failures ---- */

TEST(a_full_disk_is_told_and_left_as_it_was)
{
    unsigned refused = 0;

    for (uint64_t room = 0; room < BODY_BYTES + 20000; room += 4096) {
        struct memory_vfs *vfs = memory_vfs_new();
        petal_env env = env_of(vfs);
        uint64_t used;
        petal_error error;

        assert_int_equal(save(&env, OLD, NULL), PETAL_OK);
        used = memory_vfs_used(vfs);
        memory_vfs_set_capacity(vfs, used + room);
        if (save(&env, NEW, &error) != PETAL_OK) {
            assert_int_equal(error.status, PETAL_NO_SPACE);
            assert_int_equal(found(vfs), OLD);
            refused++;
        }
        assert_int_equal(memory_vfs_count_files(vfs, "/"), 1);
        assert_int_equal(memory_vfs_used(vfs), used);
        memory_vfs_free(vfs);
    }
    assert_in_range(refused, 30, 60);
}

/* ---- several writers ---- */

/* What is being written is no leftover; who comes last has the name. */
TEST(writers_of_one_name_do_not_disturb_each_other)
{
    const struct set_file_head head = {
        .type = PETAL_BLOOM_FILE_BITMAP, .layout = 1, .parameters = {NEW}};
    struct memory_vfs *vfs = disk_with(OLD);
    petal_env env = env_of(vfs);
    struct set_file_writer *writer;

    assert_int_equal(begin(&env, NEW, &writer, NULL), PETAL_OK);
    assert_int_equal(memory_vfs_count_files(vfs, "/"), 2);
    assert_int_equal(save(&env, OTHER, NULL), PETAL_OK);
    assert_int_equal(found(vfs), OTHER);
    assert_int_equal(memory_vfs_count_files(vfs, "/"), 2);
    assert_int_equal(set_file_finish(writer, &head, NULL), PETAL_OK);
    assert_int_equal(found(vfs), NEW);
    assert_int_equal(begin(&env, OTHER, &writer, NULL), PETAL_OK);
    set_file_abandon(writer);
    assert_int_equal(found(vfs), NEW);
    assert_int_equal(memory_vfs_count_files(vfs, "/"), 1);
    memory_vfs_free(vfs);
}

/* Names that only look like leftovers are other people's. */
TEST(other_files_are_left_alone)
{
    static const char *const names[] = {".set.saving-", ".set.saving-0123456789abcdeF",
                                        ".set.saving-0123456789abcdef0", "set.saving-",
                                        ".set2.saving-0123456789abcdef"};
    struct memory_vfs *vfs = memory_vfs_new();
    petal_env env = env_of(vfs);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(memory_vfs_write_file(vfs, names[i], "x", 1), 0);
    assert_int_equal(save(&env, NEW, NULL), PETAL_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_true(memory_vfs_exists(vfs, names[i]));
    memory_vfs_free(vfs);
}

/* A save that stands between making its file and locking it, while another one takes leftovers
 * away. */
struct meeting {
    struct memory_vfs *vfs;
    bool has_met;
};

static void
meet_at_lock(void *argument, const struct memory_vfs_call *call, const void *bytes)
{
    struct meeting *meeting = argument;
    petal_env env = env_of(meeting->vfs);

    (void)bytes;
    if (call->operation != MEMORY_VFS_LOCK || meeting->has_met)
        return;
    meeting->has_met = true;
    assert_int_equal(save(&env, OTHER, NULL), PETAL_OK);
}

TEST(a_file_that_was_taken_for_a_leftover_is_made_again)
{
    struct meeting meeting = {.vfs = memory_vfs_new()};
    petal_env env = env_of(meeting.vfs);

    memory_vfs_watch(meeting.vfs, meet_at_lock, &meeting);
    assert_int_equal(save(&env, NEW, NULL), PETAL_OK);
    assert_true(meeting.has_met);
    assert_int_equal(found(meeting.vfs), NEW);
    assert_int_equal(memory_vfs_count_files(meeting.vfs, "/"), 1);
    memory_vfs_free(meeting.vfs);
}

TEST_GROUP(fill_bodies, NULL);

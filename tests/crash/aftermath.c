/* aftermath.c -- see tests/crash/aftermath.h. */
#include "tests/crash/aftermath.h"

#include "tests/support/test.h"

#include <string.h>

void
aftermath_must(bool condition, const char *what, const petal_error *error)
{
    if (!condition)
        print_error("%s%s%s\n", what, error != NULL ? ": " : "", error != NULL ? error->text : "");
    assert_true(condition);
}

static bool
verify_table(void *argument, petal_table *table)
{
    petal_error *error = argument;

    return petal_table_verify(table, error) == PETAL_OK;
}

static void
verify(petal_db *db)
{
    petal_error error = {.status = PETAL_OK};

    aftermath_must(petal_table_list(db, verify_table, &error, NULL) == PETAL_OK, "list", NULL);
    aftermath_must(error.status == PETAL_OK, "verify", &error);
}

static void
read_world(petal_db *db, bool by_gets, struct world *world)
{
    petal_error error;
    bool wrong;
    enum petal_status status = world_read(db, by_gets, world, &wrong, &error);

    aftermath_must(status == PETAL_OK, "read", &error);
    aftermath_must(!wrong, "a value that no one wrote", NULL);
}

void
aftermath_expect(struct life *life, bool by_gets, const struct world *expected,
                 const char *otherwise)
{
    struct world world;

    read_world(life->fixture.db, by_gets, &world);
    world.tables[WORLD_LOOSE].shape = expected->tables[WORLD_LOOSE].shape;
    if (!world_equal(&world, expected) ||
        !world_table_equal(&world.tables[WORLD_LOOSE], &expected->tables[WORLD_LOOSE])) {
        world_print_differences(&world, expected);
        aftermath_must(false, otherwise, NULL);
    }
}

static bool
compact_table(void *argument, petal_table *table)
{
    petal_error *error = argument;

    return petal_compact(table, NULL, error) == PETAL_OK;
}

/* Nothing comes back when all is rewritten. */
static void
check_compacted(struct life *life)
{
    petal_error error = {.status = PETAL_OK};

    aftermath_must(petal_table_list(life->fixture.db, compact_table, &error, NULL) == PETAL_OK,
                   "list", NULL);
    aftermath_must(error.status == PETAL_OK, "compact", &error);
    aftermath_expect(life, false, &life->now, "after a compaction it holds something else");
    verify(life->fixture.db);
}

static void
check_opened_again(struct life *life)
{
    petal_error error;

    aftermath_must(petal_close(life->fixture.db, &error) == PETAL_OK, "close", &error);
    life->fixture.db = NULL;
    aftermath_must(life_open(life, LIFE_PLAIN, &error) == PETAL_OK, "open again", &error);
    aftermath_expect(life, true, &life->now, "opened again it holds something else");
}

/* Makes tables, so the life is not cut. */
static void
check_snapshots(struct life *life)
{
    life_end_moments(life);
    for (unsigned i = 0; i < WORLD_SNAPSHOTS; i++) {
        const struct world_snapshot *snapshot = &life->now.snapshots[i];
        struct world world = life->now, found = life->now;
        petal_error error;
        bool wrong;

        if (!snapshot->there)
            continue;
        aftermath_must(world_read_snapshot(life->fixture.db, i, &found.tables[0], &wrong, &error) ==
                           PETAL_OK,
                       "snapshot", &error);
        world.tables[0] = snapshot->content;
        if (wrong || !world_table_equal(&found.tables[0], &world.tables[0])) {
            world_print_differences(&found, &world);
            aftermath_must(false, "a table snapshot holds something else", NULL);
        }
    }
}

/* A checkpoint that was acknowledged holds what was there; another is that, or is refused. */
static void
check_checkpoint(const struct aftermath *aftermath, struct memory_vfs *files, uint32_t index)
{
    const struct act *act = &aftermath->oracle.acts[index];
    struct world expected = *aftermath->oracle.base, found;
    petal_options options = PETAL_DEFAULTS;
    petal_env env = PETAL_DEFAULTS;
    petal_error error;
    petal_db *db;
    enum petal_status status;

    env.vfs = memory_vfs_table(files);
    options.env = &env;
    options.no_compaction = true;
    options.cache_bytes = (size_t)64 << 10;
    status = petal_open(act->path, &options, &db, &error);
    if (status != PETAL_OK) {
        aftermath_must(act->failed || index + 1 == aftermath->oracle.progress.begun, "checkpoint",
                       &error);
        return;
    }
    for (uint32_t i = 0; i < index; i++) {
        if (!aftermath->oracle.acts[i].failed)
            act_apply(&aftermath->oracle.acts[i], &expected);
    }
    memset(&expected.snapshots[WORLD_BRIEF], 0, sizeof *expected.snapshots);
    read_world(db, false, &found);
    if (!world_equal(&found, &expected)) {
        world_print_differences(&found, &expected);
        aftermath_must(false, "a checkpoint holds something else", NULL);
    }
    aftermath_must(petal_close(db, &error) == PETAL_OK, "close the checkpoint", &error);
}

static void
check_checkpoints(const struct aftermath *aftermath, struct memory_vfs *files)
{
    for (uint32_t i = 0; i < aftermath->oracle.progress.begun; i++) {
        if (aftermath->oracle.acts[i].kind == ACT_CHECKPOINT)
            check_checkpoint(aftermath, files, i);
    }
}

/* What a reader is shown; it writes nothing.  False: there is no database yet. */
bool
aftermath_shows_readers(const struct aftermath *aftermath, struct world *world)
{
    uint64_t hash = memory_vfs_hash(aftermath->files);
    petal_options options = {.read_only = true, .cache_bytes = (size_t)64 << 10};
    petal_env env = {.vfs = memory_vfs_table(aftermath->files)};
    petal_error error;
    petal_db *db;
    enum petal_status status;

    options.env = &env;
    status = petal_open(FIXTURE_DIRECTORY, &options, &db, &error);
    if (status == PETAL_NOT_FOUND && aftermath->oracle.acts == NULL)
        return false;
    aftermath_must(status == PETAL_OK, "open to read", &error);
    read_world(db, false, world);
    aftermath_must(petal_close(db, &error) == PETAL_OK, "close what was read", &error);
    aftermath_must(memory_vfs_hash(aftermath->files) == hash, "a reader has written", NULL);
    return true;
}

/* ---- opening ---- */

void
aftermath_open(struct life *life, struct test_random *random)
{
    static const enum life_options options[] = {
        LIFE_PLAIN,           LIFE_PLAIN,  LIFE_PLAIN,        LIFE_PLAIN,
        LIFE_SMALL_MEMTABLES, LIFE_MAPPED, LIFE_WITHOUT_CACHE};
    petal_error error;
    size_t chosen = (size_t)test_random_below(random, sizeof options / sizeof *options);
    enum petal_status status = life_open(life, options[chosen], &error);

    aftermath_must(status == PETAL_OK, "open", &error);
    aftermath_must(fixture_directory_is_clean(&life->fixture), "files are left", NULL);
}

/* What replay finds no room for waits in memory, and its logs stay.  Where files are copied on
 * write an opening may find no room to make the manifest durable. */
void
aftermath_open_full(struct life *life, struct test_random *random)
{
    static const uint64_t rooms[] = {0, 100, 1000, 10000, 100000};
    uint64_t most = rooms[test_random_below(random, sizeof rooms / sizeof *rooms)];
    petal_error error;
    enum petal_status status;

    life_fill_disk(life, test_random_below(random, most + 1));
    status = life_open(life, LIFE_SMALL_MEMTABLES, &error);
    life_free_disk(life);
    if (status == PETAL_NO_SPACE && memory_vfs_copies_on_write(life->fixture.vfs))
        status = life_open(life, LIFE_SMALL_MEMTABLES, &error);
    aftermath_must(status == PETAL_OK, "open on a full disk", &error);
}

void
aftermath_check(const struct aftermath *aftermath, struct life *life, struct world *found)
{
    struct world matched;

    read_world(life->fixture.db, false, found);
    aftermath_must(
        oracle_accepts(&aftermath->oracle, aftermath->keeps_stored, found, &matched, false),
        "it does not hold what it should", NULL);
    verify(life->fixture.db);
    life_begins_with(life, &matched);
}

void
aftermath_check_more(const struct aftermath *aftermath, struct life *life,
                     struct test_random *random)
{
    uint64_t kind = test_random_below(random, 12);

    if (kind == 0)
        aftermath_expect(life, true, &life->now, "gets give something else");
    if (kind == 1)
        check_opened_again(life);
    if (kind == 2)
        check_compacted(life);
    if (kind == 3 || kind == 4)
        check_snapshots(life);
    if (kind >= 10)
        check_checkpoints(aftermath, life->fixture.vfs);
}

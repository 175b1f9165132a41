/* life.c -- see tests/crash/life.h. */
#include "tests/crash/life.h"

#include "engine/state/db.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_MEMTABLE_BYTES ((size_t)64 * 1024)

void
life_init(struct life *life, struct memory_vfs *files, int64_t now_ms, uint64_t number,
          uint64_t seed)
{
    memset(life, 0, sizeof *life);
    fixture_init_on(&life->fixture, files, seed);
    test_clock_set(&life->fixture.clock, now_ms);
    test_random_init(&life->random, seed * 3 + 1);
    test_random_init(&life->choice, seed * 5 + 2);
    life->acts = test_allocate(LIFE_MOST_ACTS * sizeof *life->acts);
    life->number = number;
}

static void
forget_moments(struct life *life)
{
    for (size_t i = 0; i < life->moment_count; i++)
        memory_vfs_free(life->moments[i].files);
    life->moment_count = 0;
}

void
life_fini(struct life *life)
{
    forget_moments(life);
    free(life->moments);
    free(life->acts);
    fixture_fini(&life->fixture);
}

/* ---- moments ---- */

/* The place for one more, which may be that of another; NULL: it is not to be kept. */
static struct moment *
place_for_moment(struct life *life)
{
    uint64_t seen = life->moments_seen++, chosen;

    if (life->most_moments == 0)
        return NULL;
    if (life->moment_count == life->most_moments) {
        chosen = test_random_below(&life->choice, seen + 1);
        if (chosen >= life->most_moments)
            return NULL;
        memory_vfs_free(life->moments[chosen].files);
        return &life->moments[chosen];
    }
    if (life->moment_count == life->moment_capacity) {
        life->moment_capacity = life->moment_capacity == 0 ? 16 : 2 * life->moment_capacity;
        life->moments =
            test_reallocate(life->moments, life->moment_capacity * sizeof *life->moments);
    }
    return &life->moments[life->moment_count++];
}

static void
keep_moment(struct life *life, enum memory_vfs_operation operation, const char *path)
{
    struct moment *moment = place_for_moment(life);

    if (moment == NULL)
        return;
    *moment = (struct moment){
        .files = memory_vfs_clone(life->fixture.vfs),
        .opened = life->opened,
        .now_ms = test_clock_ms(&life->fixture.clock),
        .operation = operation,
        .progress.loose = atomic_load(&life->progress.loose),
        .progress.changed = atomic_load(&life->progress.changed),
        .progress.synced = atomic_load(&life->progress.synced),
        .progress.stored = atomic_load(&life->progress.stored),
    };
    moment->progress.begun = atomic_load(&life->progress.begun);
    snprintf(moment->path, sizeof moment->path, "%.*s", (int)sizeof moment->path - 1, path);
}

bool
life_call_changes(struct life *life, const struct memory_vfs_call *call)
{
    switch (call->operation) {
    case MEMORY_VFS_WRITE:
    case MEMORY_VFS_LOG_STORE:
    case MEMORY_VFS_SYNC:
    case MEMORY_VFS_SYNC_DIRECTORY:
    case MEMORY_VFS_SYNC_PARENT:
    case MEMORY_VFS_RENAME:
    case MEMORY_VFS_LINK:
    case MEMORY_VFS_REMOVE:
        return true;
    case MEMORY_VFS_OPEN:
    case MEMORY_VFS_OPEN_DIRECTORY:
        return !memory_vfs_exists(life->fixture.vfs, call->path);
    default:
        return false;
    }
}

static void
watch_call(void *argument, const struct memory_vfs_call *call, const void *bytes)
{
    struct life *life = argument;

    if (life_call_changes(life, call))
        keep_moment(life, call->operation, call->path);
    if (life->watch != NULL)
        life->watch(life->watch_argument, call, bytes);
}

void
life_keep_moments(struct life *life, size_t most)
{
    life->keeps_moments = true;
    life->moments_seen = 0;
    life->most_moments = most;
    memory_vfs_watch(life->fixture.vfs, watch_call, life);
}

void
life_end_moments(struct life *life)
{
    memory_vfs_watch(life->fixture.vfs, NULL, NULL); /* before: threads keep moments, too */
    life->keeps_moments = false;
    forget_moments(life);
}

/* ---- opening and ending ---- */

enum petal_status
life_open(struct life *life, enum life_options options, petal_error *error)
{
    petal_options *given = &life->fixture.options;
    enum petal_status status;

    given->map_files = options == LIFE_MAPPED;
    given->cache_bytes = options == LIFE_WITHOUT_CACHE ? PETAL_NO_CACHE : (size_t)64 << 10;
    given->memtable_bytes = options == LIFE_SMALL_MEMTABLES ? SMALL_MEMTABLE_BYTES : 0;
    given->memory_bytes = (size_t)64 << 20; /* for what a replay finds no room for on the disk */
    given->no_compaction = options != LIFE_BACKGROUND;
    given->log_sync_interval_ms = options == LIFE_BACKGROUND ? 1 : PETAL_NEVER;
    status = fixture_open(&life->fixture, error);
    life->opened = life->opened || status == PETAL_OK;
    /* Compactions have several parts, and link. */
    if (status == PETAL_OK && (options == LIFE_MAPPED || options == LIFE_BACKGROUND)) {
        life->fixture.db->compact_file_bytes = 1000;
        life->fixture.db->linked_file_bytes = 0;
    }
    return status;
}

void
life_begins_with(struct life *life, const struct world *world)
{
    life->base = life->now = *world;
}

static void
promise_all(struct life *life)
{
    uint32_t begun = atomic_load(&life->progress.begun);

    atomic_store(&life->progress.stored, begun);
    atomic_store(&life->progress.synced, begun);
    atomic_store(&life->progress.loose, begun);
}

static enum petal_status
close_database(struct life *life, petal_error *error)
{
    petal_db *db = life->fixture.db;
    enum petal_status status = petal_close(db, error);

    life->fixture.db = NULL;
    if (status == PETAL_OK && db != NULL)
        promise_all(life);
    return status;
}

enum petal_status
life_end(struct life *life, bool closes, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (closes)
        status = close_database(life, error);
    memory_vfs_watch(life->fixture.vfs, NULL, NULL);
    if (life->keeps_moments) {
        life->most_moments = SIZE_MAX;
        keep_moment(life, MEMORY_VFS_CLOSE, "(the end)");
    }
    if (!closes) {
        memory_vfs_switch_off(life->fixture.vfs);
        petal_close(life->fixture.db, NULL);
        life->fixture.db = NULL;
    }
    return status;
}

/* ---- the disk ---- */

void
life_fill_disk(struct life *life, uint64_t bytes)
{
    life->is_full = true;
    life->space_behind = 0;
    memory_vfs_set_capacity(life->fixture.vfs, memory_vfs_used(life->fixture.vfs) + bytes);
}

void
life_free_disk(struct life *life)
{
    life->is_full = false;
    memory_vfs_set_capacity(life->fixture.vfs, UINT64_MAX);
}

/* ---- acts ---- */

/* How many acts there are up to the last write to the table, as far as it is the same one. */
static uint32_t
last_write_to(const struct life *life, unsigned table, uint32_t count)
{
    for (; count > 0; count--) {
        const struct act *act = &life->acts[count - 1];

        if (act_replaces(act, table))
            return 0;
        for (size_t i = 0; act_is_write(act) && i < act->cell_count; i++) {
            if (act->cells[i].table == table && !act->failed)
                return count;
        }
    }
    return 0;
}

static void
raise(_Atomic(uint32_t) *mark, uint32_t count)
{
    if (atomic_load(mark) < count)
        atomic_store(mark, count);
}

/* What follows from the act's success, `count` acts being done. */
static void
note_success(struct life *life, const struct act *act, uint32_t count)
{
    uint32_t written;

    if (act_is_write(act) && act->durability >= PETAL_SYNC_WAL)
        raise(&life->progress.stored, count);
    if (act_is_write(act) && act->durability == PETAL_FSYNC_WAL)
        raise(&life->progress.synced, count);
    if (act_is_change(act))
        raise(&life->progress.changed, count);
    if (act->kind != ACT_FLUSH && act->kind != ACT_SNAPSHOT)
        return;
    /* What is in store files survives, and with it all that was logged before. */
    written = act->table == WORLD_TABLES ? count : last_write_to(life, act->table, count);
    raise(&life->progress.stored, written);
    raise(&life->progress.synced, written);
    if (act->table == WORLD_TABLES || act->table == WORLD_LOOSE)
        raise(&life->progress.loose, count);
}

static void
do_act(struct life *life, const struct act *wanted, bool must)
{
    uint32_t count = atomic_load(&life->progress.begun);
    struct act *act = &life->acts[count];
    petal_error error;
    petal_stats stats;
    enum petal_status status;

    if (life->is_full && life->space_behind != 0 && count >= life->space_behind)
        life_free_disk(life);
    if (!act_fits(wanted, &life->now))
        return;
    assert_true(count < LIFE_MOST_ACTS);
    *act = *wanted;
    test_clock_advance(&life->fixture.clock, 10);
    atomic_store(&life->progress.begun, ++count);
    status = act_do(act, life->fixture.db, &life->now, &error);
    if (status == PETAL_OK) {
        act_apply(act, &life->now);
        note_success(life, act, count);
        return;
    }
    must = must && !life->is_full;
    if (must)
        print_error("act %u of kind %u: %s: %s\n", count, act->kind, petal_status_text(status),
                    error.text);
    assert_false(must);
    act->failed = true;
    act->refused = status == PETAL_NO_SPACE || status == PETAL_READ_ONLY;
    /* Of a bulk nothing is there unless its edit of the manifest failed, which ends all writing.
     * What became of it may not be told from what can be seen, if only a table snapshot has it. */
    petal_stats_get(life->fixture.db, &stats);
    act->refused |= act->kind == ACT_BULK && !stats.read_only;
}

/* ---- steps ---- */

static unsigned
below(struct life *life, unsigned limit)
{
    return (unsigned)test_random_below(&life->random, limit);
}

/* Tables that take logged writes. */
static struct act_cell
random_cell(struct life *life, bool increments)
{
    static const enum act_cell_kind kinds[] = {ACT_CELL_PUT, ACT_CELL_PUT,    ACT_CELL_PUT,
                                               ACT_CELL_PUT, ACT_CELL_DELETE, ACT_CELL_DELETE_ROW};
    struct act_cell cell = {.kind = kinds[below(life, sizeof kinds / sizeof *kinds)],
                            .table = below(life, WORLD_LOOSE),
                            .family = below(life, WORLD_FAMILIES),
                            .row = below(life, WORLD_ROWS),
                            .qualifier = below(life, WORLD_QUALIFIERS - 1)};

    if (increments && below(life, 4) == 0) {
        cell.kind = ACT_CELL_INCREMENT;
        cell.qualifier = WORLD_QUALIFIERS - 1;
    }
    return cell;
}

/* One that the world can take; a table and a family that are not there are tried anew. */
static bool
fitting_cell(struct life *life, bool increments, struct act_cell *cell)
{
    for (unsigned tries = 0; tries < 100; tries++) {
        struct act act = {.kind = ACT_PUT, .cell_count = 1};

        act.cells[0] = *cell = random_cell(life, increments);
        if (act_fits(&act, &life->now))
            return true;
    }
    return false;
}

/* Odd writes are of one cell, every fourth changes a row under a condition, the others are batches
 * over tables and families. */
static void
make_write(struct life *life, enum petal_durability durability, unsigned filler, struct act *act)
{
    static const enum petal_durability mixture[] = {PETAL_ASYNC_WAL, PETAL_SYNC_WAL,
                                                    PETAL_SYNC_WAL,  PETAL_FSYNC_WAL,
                                                    PETAL_ASYNC_WAL, PETAL_SYNC_WAL};
    size_t count;

    *act = (struct act){.number = life->number++, .filler = filler, .durability = durability};
    if (durability == PETAL_DURABILITY_DEFAULT)
        act->durability = mixture[below(life, sizeof mixture / sizeof *mixture)];
    act->kind = act->number % 2 == 1 ? ACT_PUT : act->number % 4 == 2 ? ACT_BATCH : ACT_MUTATE_ROW;
    count = act->kind == ACT_PUT ? 1 : 5;
    for (size_t i = 0; i < count; i++) {
        if (!fitting_cell(life, count == 1, &act->cells[i]))
            return;
        if (act->kind == ACT_MUTATE_ROW && i > 0) {
            act->cells[i].table = act->cells[0].table;
            act->cells[i].row = act->cells[0].row;
            if (!life->now.tables[act->cells[i].table].families[act->cells[i].family].there)
                act->cells[i].family = act->cells[0].family;
        }
        act->cell_count++;
    }
}

static void
write_some(struct life *life, const struct step *step, bool must)
{
    for (unsigned i = 0; i < step->a; i++) {
        struct act act;
        unsigned filler = step->kind == STEP_BIG ? 15000 + below(life, 60000)
                          : below(life, 8) == 0  ? 600
                                                 : 0;

        make_write(life, (enum petal_durability)step->b, filler, &act);
        do_act(life, &act, must);
    }
}

/* All columns of a table that are no sums. */
static void
write_wide(struct life *life, unsigned table, bool must)
{
    struct act act = {
        .kind = ACT_BATCH, .number = life->number++, .filler = 900, .durability = PETAL_SYNC_WAL};

    for (unsigned i = 0; i < ACT_MOST_CELLS; i++)
        act.cells[act.cell_count++] = (struct act_cell){.kind = ACT_CELL_PUT,
                                                        .table = table,
                                                        .family = i / 8,
                                                        .row = i % 8 / 2,
                                                        .qualifier = i % (WORLD_QUALIFIERS - 1)};
    do_act(life, &act, must);
}

/* Each of its columns once, in order. */
static void
load_bulks(struct life *life, const struct step *step, bool must)
{
    for (unsigned n = 0; n < step->a; n++) {
        struct act act = {.kind = ACT_BULK,
                          .number = life->number++,
                          .filler = below(life, 3) == 0 ? 3000 : 0,
                          .durability = PETAL_FSYNC_WAL};

        for (unsigned i = 0; i < WORLD_FAMILIES * WORLD_SLOTS; i++) {
            struct act_cell cell = {
                .kind = below(life, 4) == 0 ? ACT_CELL_DELETE : ACT_CELL_PUT,
                .table = step->b,
                .family = i / WORLD_SLOTS,
                .row = i % WORLD_SLOTS / WORLD_QUALIFIERS,
                .qualifier = i % WORLD_QUALIFIERS,
            };

            if (cell.qualifier < WORLD_QUALIFIERS - 1 && act.cell_count < ACT_MOST_CELLS &&
                life->now.tables[cell.table].families[cell.family].there && below(life, 2) == 0)
                act.cells[act.cell_count++] = cell;
        }
        do_act(life, &act, must);
    }
}

static void
write_loose(struct life *life, unsigned count, bool must)
{
    for (unsigned i = 0; i < count; i++) {
        struct act act = {.kind = ACT_PUT,
                          .number = life->number++,
                          .durability = PETAL_SKIP_WAL,
                          .cell_count = 1,
                          .cells[0] = {.kind = ACT_CELL_PUT,
                                       .table = WORLD_LOOSE,
                                       .family = below(life, 2),
                                       .row = below(life, WORLD_ROWS),
                                       .qualifier = below(life, WORLD_QUALIFIERS - 1)}};

        do_act(life, &act, must);
    }
}

/* One job may still tell of the time when there was no room. */
static void
wait_idle(struct life *life, bool must)
{
    petal_error error;
    enum petal_status status = petal_wait_idle(life->fixture.db, &error);

    for (unsigned i = 0; status == PETAL_NO_SPACE && !life->is_full && i < 10; i++)
        status = petal_wait_idle(life->fixture.db, &error);
    must = must && !life->is_full;
    if (must && status != PETAL_OK)
        print_error("wait: %s\n", error.text);
    assert_true(!must || status == PETAL_OK);
}

/* Each write is followed by the flush that it brings about, so that the calls come in one order. */
static void
fill_memory(struct life *life, unsigned memtables, bool must)
{
    petal_stats stats;

    do {
        struct act act;

        make_write(life, PETAL_DURABILITY_DEFAULT, 2500, &act);
        do_act(life, &act, must);
        wait_idle(life, must);
        petal_stats_get(life->fixture.db, &stats);
    } while (stats.flushes < memtables && !stats.read_only &&
             atomic_load(&life->progress.begun) < LIFE_MOST_ACTS - 50);
}

static void
do_given_act(struct life *life, const struct step *step, bool must)
{
    struct act act = {.kind = (enum act_kind)step->a, .table = step->b};

    if (act.kind == ACT_SNAPSHOT || act.kind == ACT_CLONE || act.kind == ACT_RESTORE ||
        act.kind == ACT_FORGET)
        act.snapshot = step->c;
    else if (act.kind == ACT_COMPACT_SOME || act.kind == ACT_SPLIT || act.kind == ACT_MERGE)
        act.first_run = step->c;
    else
        act.family = step->c;
    act.shape = step->d;
    act.run_count = step->d;
    snprintf(act.path, sizeof act.path, "/copy%" PRIu64, life->number++);
    do_act(life, &act, must);
}

static void
expire(struct life *life)
{
    test_clock_advance(&life->fixture.clock, 5000);
    memset(&life->now.snapshots[WORLD_BRIEF], 0, sizeof *life->now.snapshots);
}

static void
reopen(struct life *life, enum life_options options, bool must)
{
    petal_error error;
    enum petal_status status = close_database(life, &error);

    must = must && !life->is_full;
    if (status == PETAL_OK)
        status = life_open(life, options, &error);
    if (must && status != PETAL_OK)
        print_error("closing and opening: %s\n", error.text);
    assert_true(!must || status == PETAL_OK);
}

/* A table that is there, most times. */
static unsigned
random_table(struct life *life)
{
    unsigned table = below(life, WORLD_LOOSE);

    for (unsigned tries = 0; tries < 3 && !life->now.tables[table].there; tries++)
        table = below(life, WORLD_LOOSE);
    return table;
}

static struct step
random_step(struct life *life)
{
    static const struct {
        enum step_kind kind;
        unsigned a;
    } kinds[] = {
        {STEP_WRITE, 1},
        {STEP_WRITE, 2},
        {STEP_WRITE, 3},
        {STEP_WRITE, 1},
        {STEP_BIG, 1},
        {STEP_WIDE, 0},
        {STEP_LOOSE, 2},
        {STEP_BULK, 1},
        {STEP_ACT, ACT_CREATE},
        {STEP_ACT, ACT_DROP},
        {STEP_ACT, ACT_TRUNCATE},
        {STEP_ACT, ACT_ALTER_TABLE},
        {STEP_ACT, ACT_ALTER_FAMILY},
        {STEP_ACT, ACT_DROP_FAMILY},
        {STEP_ACT, ACT_SNAPSHOT},
        {STEP_ACT, ACT_CLONE},
        {STEP_ACT, ACT_RESTORE},
        {STEP_ACT, ACT_FORGET},
        {STEP_ACT, ACT_FLUSH},
        {STEP_ACT, ACT_FLUSH},
        {STEP_ACT, ACT_COMPACT},
        {STEP_ACT, ACT_COMPACT_SOME},
        {STEP_ACT, ACT_SPLIT},
        {STEP_ACT, ACT_MERGE},
        {STEP_ACT, ACT_ROTATE},
        {STEP_ACT, ACT_ROTATE},
        {STEP_ACT, ACT_SPARE},
        {STEP_ACT, ACT_CHECKPOINT},
        {STEP_REOPEN, LIFE_PLAIN},
    };
    size_t chosen = below(life, sizeof kinds / sizeof *kinds);
    struct step step = {.kind = kinds[chosen].kind, .a = kinds[chosen].a};

    if (step.kind == STEP_REOPEN) {
        step.a = below(life, LIFE_BACKGROUND);
    } else if (step.kind == STEP_WIDE) {
        step.a = random_table(life);
    } else if (step.kind == STEP_BULK) {
        step.b = random_table(life);
    } else if (step.kind == STEP_ACT) {
        step.b = random_table(life);
        step.c = below(life, WORLD_SNAPSHOTS);
        step.d = below(life, WORLD_SHAPES - 1);
        if (step.a == ACT_FLUSH && below(life, 3) == 0)
            step.b = WORLD_TABLES;
        if (step.a == ACT_SPLIT)
            step.c = below(life, WORLD_ROWS);
        if (step.a == ACT_COMPACT_SOME)
            step.d = 2;
    }
    return step;
}

static void
do_step(struct life *life, const struct step *step, bool must)
{
    switch (step->kind) {
    case STEP_WRITE:
    case STEP_BIG:
        write_some(life, step, must);
        break;
    case STEP_WIDE:
        write_wide(life, step->a, must);
        break;
    case STEP_LOOSE:
        write_loose(life, step->a, must);
        break;
    case STEP_BULK:
        load_bulks(life, step, must);
        break;
    case STEP_FILL:
        fill_memory(life, step->a, must);
        break;
    case STEP_ACT:
        do_given_act(life, step, must);
        break;
    case STEP_FULL:
        life_fill_disk(life, step->a);
        break;
    case STEP_SPACE:
        life_free_disk(life);
        break;
    case STEP_EXPIRE:
        expire(life);
        break;
    case STEP_WAIT:
        wait_idle(life, must);
        break;
    case STEP_REOPEN:
        reopen(life, (enum life_options)step->a, must);
        break;
    default:
        break;
    }
}

void
life_do(struct life *life, const struct step *steps, bool must)
{
    for (; steps->kind != STEP_END && life->fixture.db != NULL; steps++) {
        for (unsigned i = 0; steps->kind == STEP_RANDOM && i < steps->a; i++) {
            struct step step = random_step(life);

            if (life->fixture.db != NULL)
                do_step(life, &step, must);
        }
        do_step(life, steps, must);
    }
}

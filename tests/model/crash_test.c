/*
 * crash_test.c -- random calm lists of operations (tests/model/maker.h), in the middle of whose
 * operations the process dies or the power fails, at a file call that the list names, and at times
 * again while the database is opened; the list goes on with what was recovered.
 *
 * What is there after that must be the model's state after some prefix of the writes: with all that
 * was acknowledged before a death, and before a power cut with all that a sync, a flush or a
 * closing had promised; no half batch. Changes of tables are there when they were acknowledged. The
 * operation that was interrupted may have happened or not. A transaction that is open is gone.
 * Everything is read, and verified.
 *
 * At times the disk fills up, for some operations, or while the database is opened: what finds no
 * room must have changed nothing, also when the process dies then; an opening finds room enough.
 *
 * A list that fails is made smaller and printed. PETAL_SEED and PETAL_OPERATIONS are as for
 * tests/model/random_test.c.
 */

#include "tests/model/run.h"
#include "tests/model/shrink.h"
#include "tests/support/test.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OPERATIONS       300000
#define OPERATIONS_LONG  3000000
#define OPERATIONS_SHORT 20000
#define LENGTH           200
#define FEATURES         ((FEATURE_ALL & ~(unsigned)FEATURE_RAW) | FEATURE_CALM | FEATURE_CRASHES)
#define CUTS             (MEMORY_CUT_GARBAGE + 1)
#define KIB              1024u

static const struct run_settings settings[] = {
    {.name = "ROW, links", .bloom = PETAL_BLOOM_ROW, .cache_bytes = 64 * KIB, .links = true},
    {.name = "ROWCOL, other options at each opening",
     .bloom = PETAL_BLOOM_ROWCOL,
     .cache_bytes = 64 * KIB,
     .block_bytes = KIB,
     .change_options = true},
    {.name = "ROW, log windows",
     .bloom = PETAL_BLOOM_ROW,
     .cache_bytes = KIB * KIB,
     .log_windows = true},
    {.name = "ROW, background work, links",
     .bloom = PETAL_BLOOM_ROW,
     .cache_bytes = 64 * KIB,
     .links = true,
     .background = true},
};
#define SETTINGS (sizeof settings / sizeof *settings)

/* What was tried, in all lists. */
static struct {
    uint64_t lists, operations, deaths, cuts, cuts_of_openings, full_openings, refused, lost_writes,
        states;
} tried;

/* A list at work. */
struct history {
    const struct operation_list *list;
    struct run run;
    struct expectation expectation; /* after all that was acknowledged */
    /* What is durable, and how it came to what is expected: the operations since. */
    struct model_database base;
    const struct operation **since;
    size_t since_count, since_capacity;
    unsigned full_operations;              /* for so many the disk stays full; 0: it is not */
    struct model_text expected, got, told; /* `told`: what failed, with the operation's number */
};

/* ---- what is durable ---- */

static void
forget_since(struct history *history, const struct model_database *durable)
{
    struct model_database base;

    model_database_copy(&base, durable);
    model_database_free(&history->base);
    history->base = base;
    history->since_count = 0;
}

static void
note_since(struct history *history, const struct operation *operation)
{
    if (history->since_count == history->since_capacity) {
        history->since_capacity = 2 * history->since_capacity + 64;
        history->since =
            test_reallocate(history->since, history->since_capacity * sizeof *history->since);
    }
    history->since[history->since_count++] = operation;
}

/* The transaction that is open now is none where the writes since are made once more. */
static void
end_transaction(struct history *history)
{
    for (size_t i = history->since_count; i-- > 0;) {
        const struct operation **since = &history->since[i];
        enum operation_kind kind = (*since)->kind;

        if (kind == OPERATION_COMMIT || kind == OPERATION_ABORT || kind == OPERATION_CRASH)
            return;
        if (kind == OPERATION_BEGIN)
            memmove(since, since + 1, (--history->since_count - i) * sizeof *since);
    }
    model_transaction_abort(&history->base);
}

static bool
is_in_memory(const struct model_database *database, unsigned table)
{
    const struct model *content = &database->tables[table].content;

    for (size_t i = 0; i < content->count; i++) {
        if (content->cells[i].run == 0)
            return database->tables[table].exists;
    }
    return false;
}

/* The tables' durability counts where the write names none. */
static bool
is_synced(const struct model_database *database, const struct model_item *items, size_t count,
          enum petal_durability durability)
{
    bool synced = count > 0 && durability == PETAL_FSYNC_WAL;

    for (size_t i = 0; i < count; i++)
        synced = synced || (durability == PETAL_DURABILITY_DEFAULT &&
                            database->tables[items[i].table].durability == PETAL_FSYNC_WAL);
    return synced;
}

/* Whether the operation, once it is acknowledged, has made durable all that was written before;
 * asked before it. A flush syncs the logs, if it has anything to do. */
static bool
makes_durable(const struct history *history, const struct operation *operation)
{
    const struct model_database *database = &history->expectation.database;
    const struct model_transaction *t = &database->transaction;

    if (operation->in_transaction)
        return false;
    switch (operation->kind) {
    case OPERATION_WRITE:
        return operation->bulk ||
               is_synced(database, operation->items, operation->item_count, operation->durability);
    case OPERATION_COMMIT:
        return t->open && is_synced(database, t->items, t->count, t->durability);
    case OPERATION_PUT_VALUE:
        return database->tables[operation->items[0].table].durability == PETAL_FSYNC_WAL;
    case OPERATION_FLUSH:
        for (unsigned i = 0; i < MODEL_TABLES; i++) {
            if ((operation->whole_database || operation->table == i) && is_in_memory(database, i))
                return true;
        }
        return false;
    case OPERATION_TAKE_TABLE_SNAPSHOT:
        return !operation->skip_flush && is_in_memory(database, operation->table);
    case OPERATION_REOPEN:
    case OPERATION_CHECKPOINT:
        return true;
    default:
        return false;
    }
}

static bool
changes(const struct operation *operation)
{
    return operation->kind < OPERATION_CHECKPOINT || operation->in_transaction;
}

static bool
is_write(const struct operation *operation)
{
    return !operation->in_transaction &&
           (operation->kind == OPERATION_WRITE || operation->kind == OPERATION_PUT_VALUE ||
            operation->kind == OPERATION_DELETE_ROWS || operation->kind == OPERATION_COMMIT);
}

/* ---- what may be there ---- */

/* The base after the operations since: of the writes among them the first `writes`. `interrupted`,
 * may be NULL, comes after all. */
static void
make_state(const struct history *history, size_t writes, const struct operation *interrupted,
           struct model_database *state)
{
    struct expectation replay = {.answer = {0}};
    struct model_text text = {0};

    model_database_copy(&replay.database, &history->base);
    for (size_t i = 0; i <= history->since_count; i++) {
        const struct operation *operation =
            i < history->since_count ? history->since[i] : interrupted;

        if (operation == NULL || (is_write(operation) && writes == 0))
            continue;
        writes -= is_write(operation);
        model_text_clear(&text);
        (void)expect_operation(&replay, operation, &text);
    }
    model_text_free(&text);
    *state = replay.database;
    replay.database = (struct model_database){.now_ms = 0};
    expect_end(&replay);
}

static size_t
count_writes(const struct history *history)
{
    size_t count = 0;

    for (size_t i = 0; i < history->since_count; i++)
        count += is_write(history->since[i]);
    return count;
}

static bool
state_is(struct history *history, const struct model_database *state)
{
    struct model_text *expected = &history->expected;
    bool same;

    tried.states++;
    model_text_clear(expected);
    model_text_add(expected, "");
    expect_dump(state, DUMP_VERSIONS, expected);
    same = strcmp(expected->bytes, history->got.bytes) == 0;
    return same;
}

/* Look for the state that was read, the latest first; the one that is found is expected from here
 * on. `death`: no write may be lost. */
static bool
find_state(struct history *history, const struct operation *interrupted, bool death)
{
    size_t writes = count_writes(history), least = death ? writes : 0;
    int64_t now_ms = history->expectation.database.now_ms;
    bool in_transaction = history->expectation.database.transaction.open;

    if (interrupted != NULL && !changes(interrupted))
        interrupted = NULL;
    for (size_t lost = 0; lost <= writes - least; lost++) {
        for (unsigned happened = 0; happened < 1u + (interrupted != NULL); happened++) {
            bool write = interrupted != NULL && is_write(interrupted);
            struct model_database state;

            if (happened == 1 && write && lost > 0)
                continue; /* it would be after a hole */
            make_state(history, writes - lost + (happened == 1 && write),
                       happened == 1 ? interrupted : NULL, &state);
            model_database_set_time(&state, now_ms);
            if (!state_is(history, &state)) {
                model_database_free(&state);
                continue;
            }
            tried.lost_writes += lost;
            model_database_restart(&state);
            if (state.written_ms < history->expectation.database.written_ms)
                state.written_ms = history->expectation.database.written_ms;
            for (size_t i = 0; i < OPERATION_CURSORS; i++)
                model_cursor_close(&history->expectation.cursors[i]);
            model_database_free(&history->expectation.database);
            history->expectation.database = state;
            if (!death)
                forget_since(history, &state);
            else if (happened == 1)
                note_since(history, interrupted);
            if (in_transaction)
                end_transaction(history);
            return true;
        }
    }
    return false;
}

/* ---- crashes ---- */

static bool
fail_with(struct history *history, const char *what, enum petal_status status,
          const petal_error *error)
{
    struct model_text *told = &history->told;

    model_text_add(told, what);
    if (status != PETAL_OK) {
        model_text_add(told, ": ");
        model_text_add(told, petal_status_text(status));
        model_text_add(told, ": ");
        model_text_add(told, error->text);
    }
    model_text_add(told, "\n");
    return false;
}

/* The machine or the process comes back; the database is not open. */
static void
crash_files(struct history *history, const struct operation_crash *crash, unsigned turn)
{
    struct fixture *fixture = &history->run.fixture;
    struct memory_vfs *left = memory_vfs_clone(fixture->vfs);

    engine_detach(&history->run.engine);
    if (fixture->db != NULL)
        petal_close(fixture->db, NULL); /* releases memory; its files are not looked at any more */
    fixture->db = NULL;
    memory_vfs_free(fixture->vfs);
    fixture->vfs = left;
    fixture->env.vfs = memory_vfs_table(left);
    memory_vfs_use_log_windows(left, history->run.settings->log_windows);
    if (crash->dies)
        memory_vfs_process_death(left);
    else
        memory_vfs_power_cut(left, (enum memory_cut)((crash->cut + turn) % CUTS),
                             crash->seed + turn);
    if (crash->full_bytes > 0)
        memory_vfs_set_capacity(left, memory_vfs_used(left) + crash->full_bytes);
    tried.deaths += crash->dies;
    tried.cuts += !crash->dies;
}

/* Open what the crash left, with crashes of the same kind in the middle of the first openings. */
static bool
open_again(struct history *history, const struct operation_crash *crash, petal_error *error)
{
    struct memory_vfs *vfs;
    enum petal_status status;

    for (unsigned i = 0; i < OPERATION_RECOVERIES && crash->recovery_calls[i] > 0; i++) {
        vfs = history->run.fixture.vfs;
        memory_vfs_cut_at(vfs, crash->recovery_calls[i]);
        status = run_open(&history->run, error);
        memory_vfs_cut_at(vfs, 0); /* before the question: work in the background goes on */
        if (!memory_vfs_is_off(vfs))
            return status == PETAL_OK || fail_with(history, "opening", status, error);
        tried.cuts_of_openings++;
        crash_files(history, crash, i + 1);
    }
    status = run_open(&history->run, error);
    return status == PETAL_OK || fail_with(history, "opening", status, error);
}

/* What waited for room is written. */
static enum petal_status
make_room(struct history *history, const struct operation_crash *crash, petal_error *error)
{
    if (crash->full_bytes == 0)
        return PETAL_OK;
    tried.full_openings++;
    memory_vfs_set_capacity(history->run.fixture.vfs, UINT64_MAX);
    return petal_flush(history->run.engine.db, NULL, error);
}

/* After the crash: `interrupted` may have happened or not, NULL for none. */
static bool
recover(struct history *history, const struct operation_crash *crash,
        const struct operation *interrupted)
{
    petal_error error;
    enum petal_status status;

    crash_files(history, crash, 0);
    if (!open_again(history, crash, &error))
        return false;
    model_text_clear(&history->got);
    model_text_add(&history->got, "");
    status = engine_dump(history->run.engine.db, DUMP_VERSIONS, &history->got, &error);
    if (status == PETAL_OK)
        status = engine_verify(&history->run.engine, &error);
    if (status != PETAL_OK)
        return fail_with(history, "reading", status, &error);
    status = make_room(history, crash, &error);
    if (status != PETAL_OK)
        return fail_with(history, "flushing when there is room", status, &error);
    if (find_state(history, interrupted, crash->dies))
        return true;
    model_text_add(&history->told, "no prefix is:\n");
    model_text_add(&history->told, history->got.bytes);
    model_text_add(&history->told, "with all writes it is:\n");
    (void)state_is(history, &history->expectation.database);
    model_text_add(&history->told, history->expected.bytes);
    return false;
}

/* ---- lists ---- */

/* The model's answer is in history->expected. */
static void
expect(struct history *history, const struct operation *operation, bool *asked)
{
    model_text_clear(&history->expected);
    *asked = expect_operation(&history->expectation, operation, &history->expected);
}

/* It was neither refused, nor did its condition not hold. */
static bool
was_done(const struct model_text *answer)
{
    return strncmp(answer->bytes, "ok\n", 3) == 0 &&
           strstr(answer->bytes, "condition does not hold") == NULL;
}

static bool
found_no_room(const struct model_text *answer)
{
    const char *words = petal_status_text(PETAL_NO_SPACE);

    return strncmp(answer->bytes, words, strlen(words)) == 0;
}

/* The operation found the disk full and has changed nothing that can be seen, whatever was flushed.
 * A closing has left the logs for the next opening. */
static bool
go_on_without_room(struct history *history, const struct operation *operation,
                   struct model_database *before)
{
    static const struct operation_crash closed = {.dies = true};
    struct model_database *database = &history->expectation.database;

    tried.refused++;
    model_database_free(database);
    *database = *before;
    if (operation->kind == OPERATION_COMMIT) {
        end_transaction(history);
        model_transaction_abort(database);
    }
    model_database_set_time(database, operation->now_ms);
    model_database_flush(database, MODEL_TABLES);
    return history->run.fixture.db != NULL || recover(history, &closed, NULL);
}

/* One operation, in which the crash that is planned may come: then *crashed. */
static bool
do_operation(struct history *history, const struct operation *operation,
             const struct operation_crash *crash, bool *crashed)
{
    struct model_database before = {.now_ms = 0}; /* if a crash may come, or there is no room */
    bool durable = makes_durable(history, operation), asked, same, off;

    if (crash != NULL || history->full_operations > 0)
        model_database_copy(&before, &history->expectation.database);
    expect(history, operation, &asked);
    if (!asked) { /* time passes all the same */
        test_clock_set(&history->run.fixture.clock, operation->now_ms);
        model_database_free(&before);
        return true;
    }
    model_text_clear(&history->got);
    run_operation(&history->run, operation, &history->got);
    same = strcmp(history->got.bytes, history->expected.bytes) == 0;
    off = memory_vfs_is_off(history->run.fixture.vfs);
    *crashed = off;
    if (same) {
        if (durable && was_done(&history->got))
            forget_since(history, &history->expectation.database);
        else if (changes(operation))
            note_since(history, operation);
    } else if (off) { /* it is open whether it happened */
        assert(crash != NULL);
        model_database_free(&history->expectation.database);
        history->expectation.database = before;
        model_database_set_time(&history->expectation.database, operation->now_ms);
        return recover(history, crash, operation);
    } else if (history->full_operations > 0 && found_no_room(&history->got)) {
        return go_on_without_room(history, operation, &before);
    }
    model_database_free(&before);
    if (same)
        return !off || recover(history, crash, NULL);
    model_text_add(&history->told, "model:\n");
    model_text_add(&history->told, history->expected.bytes);
    model_text_add(&history->told, "engine:\n");
    model_text_add(&history->told, history->got.bytes);
    return false;
}

/* Before an operation: the disk fills up. */
static void
fill_disk(struct history *history, const struct operation *operation)
{
    struct memory_vfs *vfs = history->run.fixture.vfs;

    if (operation->full_operations == 0 || history->full_operations > 0)
        return;
    history->full_operations = operation->full_operations;
    memory_vfs_set_capacity(vfs, memory_vfs_used(vfs) + operation->full_bytes);
}

/* After it: there may be room again, and what waited for it is written. */
static bool
pass_time(struct history *history)
{
    petal_error error;
    enum petal_status status;

    if (history->full_operations == 0 || --history->full_operations > 0)
        return true;
    memory_vfs_set_capacity(history->run.fixture.vfs, UINT64_MAX);
    status = petal_flush(history->run.engine.db, NULL, &error);
    model_database_flush(&history->expectation.database, MODEL_TABLES);
    return status == PETAL_OK || memory_vfs_is_off(history->run.fixture.vfs) ||
           fail_with(history, "flushing when there is room", status, &error);
}

static bool
run_history(struct history *history, size_t *index)
{
    const struct operation_crash *planned = NULL;

    for (*index = 0; *index < history->list->count; ++*index) {
        const struct operation *operation = &history->list->operations[*index];
        bool crashed = false;

        fill_disk(history, operation);
        if (planned == NULL && operation->crash.calls > 0) {
            planned = &operation->crash;
            memory_vfs_cut_at(history->run.fixture.vfs, planned->calls);
        }
        if (operation->kind == OPERATION_CRASH && planned != NULL)
            continue; /* one at a time */
        if (!do_operation(history, operation, planned, &crashed) || !pass_time(history))
            return false;
        if (crashed)
            planned = NULL;
        tried.operations++;
    }
    return planned == NULL || recover(history, planned, NULL);
}

/* Whether it is as it must be; else what is not is in *told, to be released. */
static bool
try_list(const struct operation_list *list, const struct run_settings *setting,
         struct model_text *told)
{
    struct history history = {.list = list};
    petal_error error;
    enum petal_status status = run_begin(&history.run, list, setting, &error);
    size_t index = 0;
    bool same;

    expect_begin(&history.expectation, list);
    model_database_copy(&history.base, &history.expectation.database);
    same = status == PETAL_OK ? run_history(&history, &index)
                              : fail_with(&history, "the beginning", status, &error);
    if (!same) /* it may be off */
        crash_files(&history, &(struct operation_crash){.dies = true}, 0);
    memory_vfs_set_capacity(history.run.fixture.vfs, UINT64_MAX);
    run_end(&history.run);
    expect_end(&history.expectation);
    model_database_free(&history.base);
    free(history.since);
    model_text_free(&history.expected);
    model_text_free(&history.got);
    if (!same) {
        model_text_add(&history.told, "at operation ");
        model_text_add_number(&history.told, (int64_t)index + 1);
        model_text_add(&history.told, "\n");
    }
    *told = history.told;
    return same;
}

static bool
fails(const struct operation_list *list, const void *setting)
{
    struct model_text told;
    bool same = try_list(list, setting, &told);

    model_text_free(&told);
    return !same;
}

/* `first`: what the whole list's failure told; with background work it may not come again. */
static void
report(struct operation_list *list, const struct run_settings *setting, uint64_t seed,
       const struct model_text *first)
{
    struct model_text told;

    fprintf(stderr, "seed %" PRIu64 ", %s: it fails:\n%s", seed, setting->name, first->bytes);
    fprintf(stderr, "taking out operations\n");
    shrink_list(list, fails, setting);
    if (try_list(list, setting, &told))
        fprintf(stderr, "it does not fail again\n");
    else
        fprintf(stderr, "seed %" PRIu64 ", %s: %s", seed, setting->name, told.bytes);
    model_text_free(&told);
    operation_list_print(list, stderr);
}

static bool
run_seed(uint64_t seed)
{
    const struct run_settings *setting = &settings[seed % SETTINGS];
    /* Every second list leaves out some features at random. */
    unsigned some = seed % 2 == 0 ? FEATURE_ALL : (unsigned)(seed * 0x9E3779B97F4A7C15u >> 43);
    struct operation_list list;
    struct model_text told;
    bool same;

    operation_list_make(&list, seed, LENGTH, FEATURES & (some | FEATURE_CALM | FEATURE_CRASHES));
    same = try_list(&list, setting, &told);
    if (!same)
        report(&list, setting, seed, &told);
    model_text_free(&told);
    operation_list_free(&list);
    tried.lists++;
    return same;
}

TEST(test_histories_with_crashes)
{
    const char *text = getenv("PETAL_OPERATIONS");
    uint64_t wanted = text != NULL && *text != '\0' ? strtoull(text, NULL, 0)
                      : test_long()                 ? OPERATIONS_LONG
                      : test_short()                ? OPERATIONS_SHORT
                                                    : OPERATIONS;
    uint64_t seed = test_seed();
    double began = test_seconds_used();
    unsigned failures = 0;
    double seconds;

    for (; tried.operations < wanted && failures < 3; seed++)
        failures += !run_seed(seed);
    seconds = test_seconds_used() - began;
    test_counted("%" PRIu64 " operations in %" PRIu64 " histories, %.0f a second; %" PRIu64
                 " deaths, %" PRIu64 " power cuts, of them %" PRIu64 " while opening; %" PRIu64
                 " openings on a full disk, %" PRIu64 " operations refused by one; %" PRIu64
                 " writes lost, %" PRIu64 " states compared",
                 tried.operations, tried.lists, (double)tried.operations / seconds, tried.deaths,
                 tried.cuts, tried.cuts_of_openings, tried.full_openings, tried.refused,
                 tried.lost_writes, tried.states);
    assert_int_equal(failures, 0);
}

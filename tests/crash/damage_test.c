/*
 * damage_test.c -- files that are not as they were written: any byte flipped, cut at any length,
 * swapped, missing, of another database. Opening or reading gives the right answers or an error
 * that names the file, never a wrong or a missing cell; nothing crashes; and nothing is lost: with
 * the old bytes back, all is there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/disk/paths.h"

#include <inttypes.h>
#include <stdlib.h>

#define WRITES 30

/* A database that was made once, to be damaged many times. */
struct image {
    struct memory_vfs *vfs;
    uint64_t seed;
    size_t filler;   /* of the ledger */
    uint64_t writes; /* in it */
};

struct outcome {
    enum petal_status status; /* of the first step that failed: opening, reading, verifying */
    petal_error error;
    bool wrong;     /* an answer was not what it should be */
    uint64_t count; /* writes that were read, when reading succeeded */
};

static void
open_image(struct fixture *fixture, const struct image *image)
{
    fixture_init_on(fixture, memory_vfs_clone(image->vfs), image->seed + 1);
}

static void
free_image(struct image *image)
{
    memory_vfs_free(image->vfs);
}

/* Open, read, verify, close. */
static void
look(struct fixture *fixture, const struct image *image, struct outcome *outcome)
{
    struct ledger ledger = {.filler = image->filler};
    struct ledger_state state = {0};

    *outcome = (struct outcome){.status = PETAL_OK};
    outcome->status = fixture_open(fixture, &outcome->error);
    if (outcome->status == PETAL_OK)
        outcome->status = ledger_attach(&ledger, fixture->db, &outcome->error);
    if (outcome->status == PETAL_OK) {
        outcome->status = ledger_read(&ledger, &state, &outcome->error);
        outcome->wrong = state.wrong;
    }
    if (outcome->status == PETAL_OK) {
        outcome->count = ledger_last(&state);
        outcome->wrong = !ledger_is_after(&state, outcome->count);
        outcome->status = ledger_verify(&ledger, &outcome->error);
    }
    petal_close(fixture->db, NULL);
    fixture->db = NULL;
}

static bool
names_file(const struct outcome *outcome, const char *path)
{
    bool named = strcmp(outcome->error.file, path) == 0 &&
                 strstr(outcome->error.text, path) != NULL &&
                 outcome->error.status == outcome->status;

    if (!named)
        print_error("%s: status %d, file \"%s\", text \"%s\"\n", path, (int)outcome->status,
                    outcome->error.file, outcome->error.text);
    return named;
}

/* With `bytes` in place of the file: damage is refused by name. Returns whether it was noticed. */
static bool
try_bytes(const struct image *image, const char *path, const uint8_t *bytes, size_t size)
{
    struct fixture fixture;
    struct outcome outcome;

    open_image(&fixture, image);
    assert_int_equal(memory_vfs_write_file(fixture.vfs, path, bytes, size), 0);
    look(&fixture, image, &outcome);
    assert_false(outcome.wrong);
    if (outcome.status == PETAL_OK) {
        assert_int_equal(outcome.count, image->writes);
    } else {
        assert_true(outcome.status == PETAL_CORRUPT || outcome.status == PETAL_UNSUPPORTED);
        assert_true(names_file(&outcome, path));
    }
    fixture_fini(&fixture);
    return outcome.status != PETAL_OK;
}

static uint8_t *
read_image_file(const struct image *image, const char *path, size_t *size)
{
    uint8_t *bytes;

    assert_int_equal(memory_vfs_read_file(image->vfs, path, &bytes, size), 0);
    return bytes;
}

/* Flip each byte of a file whose every byte is covered; returns how many flips nobody noticed. */
static uint64_t
flip_every_byte(const struct image *image, const char *path)
{
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    uint64_t unnoticed = 0;
    size_t size;
    uint8_t *bytes = read_image_file(image, path, &size);

    for (size_t at = 0; at < size; at++) {
        uint8_t mask = masks[at % 3];

        for (size_t m = 0; m < (test_long() ? 3 : 1); m++, mask = masks[(at + m) % 3]) {
            bytes[at] ^= mask;
            unnoticed += !try_bytes(image, path, bytes, size);
            bytes[at] ^= mask;
        }
    }
    print_message("%s: %zu bytes flipped, %" PRIu64 " flips harmless\n", path, size, unnoticed);
    assert_false(try_bytes(image, path, bytes, size)); /* as it was: all is there */
    free(bytes);
    return unnoticed;
}

static void
truncate_everywhere(const struct image *image, const char *path)
{
    size_t size;
    uint8_t *bytes = read_image_file(image, path, &size);

    for (size_t length = 0; length < size; length++)
        assert_true(try_bytes(image, path, bytes, length));
    assert_false(try_bytes(image, path, bytes, size));
    free(bytes);
}

/* ---- store files ---- */

/* All in store files, one for each of the four families: each has another kind of filter. */
static void
make_flushed_image(struct image *image, uint64_t seed)
{
    struct fixture fixture;
    struct ledger ledger = {.filler = 60};
    petal_error error;

    *image = (struct image){.seed = seed, .filler = 60, .writes = WRITES};
    fixture_init(&fixture, seed);
    fixture_must_open(&fixture);
    must(ledger_create(&ledger, fixture.db, &error), &error);
    for (uint64_t number = 1; number <= WRITES; number++)
        must(ledger_write(&ledger, number, PETAL_SYNC_WAL, &error), &error);
    fixture_must_close(&fixture);
    image->vfs = memory_vfs_clone(fixture.vfs);
    fixture_fini(&fixture);
}

struct path_list {
    char *paths[16];
    size_t count;
};

static void
add_store_file(void *argument, const char *name)
{
    struct path_list *list = argument;

    if (strstr(name, ".sst") != NULL && list->count < 16)
        list->paths[list->count++] = test_path(FIXTURE_DIRECTORY, name);
}

static void
list_store_files(const struct image *image, struct path_list *list)
{
    *list = (struct path_list){.count = 0};
    memory_vfs_list(image->vfs, FIXTURE_DIRECTORY, add_store_file, list);
    assert_int_equal(list->count, LEDGER_STORES);
}

static void
free_list(struct path_list *list)
{
    while (list->count > 0)
        free(list->paths[--list->count]);
}

static void
test_store_file_bytes_flipped(void **state)
{
    struct path_list list;
    struct image image;

    (void)state;
    make_flushed_image(&image, 21);
    list_store_files(&image, &list);
    for (size_t i = 0; i < list.count; i++)
        assert_int_equal(flip_every_byte(&image, list.paths[i]), 0);
    free_list(&list);
    free_image(&image);
}

static void
test_store_file_truncated(void **state)
{
    struct path_list list;
    struct image image;

    (void)state;
    make_flushed_image(&image, 22);
    list_store_files(&image, &list);
    truncate_everywhere(&image, list.paths[0]);
    free_list(&list);
    free_image(&image);
}

static void
test_store_files_swapped(void **state)
{
    struct image image, other;
    struct path_list list;

    (void)state;
    make_flushed_image(&image, 23);
    make_flushed_image(&other, 24);
    list_store_files(&image, &list);
    for (size_t i = 0; i < list.count; i++) {
        for (size_t k = 0; k < list.count; k++) {
            size_t size;
            uint8_t *bytes = read_image_file(i == k ? &other : &image, list.paths[k], &size);

            assert_true(try_bytes(&image, list.paths[i], bytes, size));
            free(bytes);
        }
    }
    free_list(&list);
    free_image(&image);
    free_image(&other);
}

static void
test_store_file_missing_or_longer(void **state)
{
    struct path_list list;
    struct image image;
    size_t size;
    uint8_t *bytes;

    (void)state;
    make_flushed_image(&image, 25);
    list_store_files(&image, &list);
    for (size_t i = 0; i < list.count; i++) {
        struct fixture fixture;
        struct outcome outcome;

        open_image(&fixture, &image);
        bytes = read_image_file(&image, list.paths[i], &size);
        assert_int_equal(vfs_remove(fixture.env.vfs, list.paths[i]), 0);
        look(&fixture, &image, &outcome);
        assert_true(outcome.status == PETAL_CORRUPT || outcome.status == PETAL_IO);
        assert_true(names_file(&outcome, list.paths[i]));
        /* Back again, and nothing was cleaned away meanwhile. */
        assert_int_equal(memory_vfs_write_file(fixture.vfs, list.paths[i], bytes, size), 0);
        look(&fixture, &image, &outcome);
        assert_int_equal(outcome.status, PETAL_OK);
        assert_int_equal(outcome.count, WRITES);
        fixture_fini(&fixture);
        bytes = test_reallocate(bytes, size + 7);
        memset(bytes + size, 0, 7);
        assert_true(try_bytes(&image, list.paths[i], bytes, size + 7));
        free(bytes);
    }
    free_list(&list);
    free_image(&image);
}

/* ---- the manifest ---- */

#define MANIFEST FIXTURE_DIRECTORY "/MANIFEST"

static void
test_manifest_bytes_flipped(void **state)
{
    struct image image;

    (void)state;
    make_flushed_image(&image, 26);
    /* What follows the last edit is not covered: it says only that the edit was synced. */
    assert_in_range(flip_every_byte(&image, MANIFEST), 0, 24);
    free_image(&image);
}

static void
test_manifest_missing(void **state)
{
    struct image image;

    (void)state;
    make_flushed_image(&image, 27);
    for (int create = 0; create < 2; create++) {
        struct fixture fixture;
        struct outcome outcome;
        size_t size, before;
        uint8_t *bytes = read_image_file(&image, MANIFEST, &size);

        open_image(&fixture, &image);
        fixture.options.create = create == 1;
        before = fixture_count_files(&fixture, ".sst");
        assert_int_equal(vfs_remove(fixture.env.vfs, MANIFEST), 0);
        look(&fixture, &image, &outcome);
        assert_int_equal(outcome.status, PETAL_CORRUPT);
        assert_true(names_file(&outcome, MANIFEST));
        assert_int_equal(fixture_count_files(&fixture, ".sst"), before);
        assert_int_equal(memory_vfs_write_file(fixture.vfs, MANIFEST, bytes, size), 0);
        look(&fixture, &image, &outcome);
        assert_int_equal(outcome.status, PETAL_OK);
        assert_int_equal(outcome.count, WRITES);
        fixture_fini(&fixture);
        free(bytes);
    }
    free_image(&image);
}

/* ---- the log ---- */

struct log_image {
    struct image image;
    char *path;
    size_t synced_bytes; /* of the log when a sync had completed, which later records tell */
    uint64_t synced;     /* writes in them */
};

/* The process died. The log reaches over several frames; its first part was synced. */
static void
make_log_image(struct log_image *log, uint64_t seed)
{
    struct fixture fixture;
    struct ledger ledger = {.filler = 500};
    petal_error error;
    uint8_t *bytes;
    size_t size;

    *log = (struct log_image){.image = {.seed = seed, .filler = ledger.filler}, .synced = 4};
    fixture_init(&fixture, seed);
    fixture_must_open(&fixture);
    must(ledger_create(&ledger, fixture.db, &error), &error);
    for (uint64_t number = 1; number <= 50; number++) {
        must(ledger_write(&ledger, number, number == log->synced ? PETAL_FSYNC_WAL : PETAL_SYNC_WAL,
                          &error),
             &error);
        if (number != log->synced)
            continue;
        log->path = fixture_only_file(&fixture, ".log");
        assert_int_equal(memory_vfs_read_file(fixture.vfs, log->path, &bytes, &size), 0);
        log->synced_bytes = size;
        free(bytes);
    }
    log->image.writes = 50;
    log->image.vfs = memory_vfs_clone(fixture.vfs);
    fixture_fini(&fixture);
}

static void
free_log_image(struct log_image *log)
{
    free(log->path);
    free_image(&log->image);
}

/* Recovery from a log with these bytes: a prefix of the writes, or refused. */
static void
try_log(const struct log_image *log, const uint8_t *bytes, size_t size, struct outcome *outcome)
{
    struct fixture fixture;

    open_image(&fixture, &log->image);
    assert_int_equal(memory_vfs_write_file(fixture.vfs, log->path, bytes, size), 0);
    look(&fixture, &log->image, outcome);
    assert_false(outcome->wrong);
    if (outcome->status != PETAL_OK) {
        assert_true(outcome->status == PETAL_CORRUPT || outcome->status == PETAL_UNSUPPORTED);
        assert_true(names_file(outcome, log->path));
        /* Refusing changed nothing. */
        assert_true(memory_vfs_exists(fixture.vfs, log->path));
    }
    fixture_fini(&fixture);
}

static void
test_log_bytes_flipped(void **state)
{
    uint64_t refusals = 0, prefixes = 0, whole = 0;
    struct log_image log;
    struct outcome outcome;
    uint8_t *bytes;
    size_t size;

    (void)state;
    make_log_image(&log, 31);
    bytes = read_image_file(&log.image, log.path, &size);
    assert_true(size > 2 * 32768); /* frames behind the damage can tell of the sync */
    for (size_t at = 0; at < size;) {
        bytes[at] ^= (uint8_t)(1 + at % 255);
        try_log(&log, bytes, size, &outcome);
        bytes[at] ^= (uint8_t)(1 + at % 255);
        if (at < log.synced_bytes)
            assert_int_equal(outcome.status, PETAL_CORRUPT);
        if (outcome.status == PETAL_OK)
            assert_in_range(outcome.count, log.synced, log.image.writes);
        refusals += outcome.status != PETAL_OK;
        prefixes += outcome.status == PETAL_OK && outcome.count < log.image.writes;
        whole += outcome.status == PETAL_OK && outcome.count == log.image.writes;
        at += at < log.synced_bytes || test_long() ? 1 : 29;
    }
    try_log(&log, bytes, size, &outcome);
    assert_int_equal(outcome.status, PETAL_OK);
    assert_int_equal(outcome.count, log.image.writes);
    print_message("log of %zu bytes, %zu synced: %" PRIu64 " flips refused, %" PRIu64
                  " gave a prefix, %" PRIu64 " all\n",
                  size, log.synced_bytes, refusals, prefixes, whole);
    assert_true(refusals > 0 && prefixes > 0);
    free(bytes);
    free_log_image(&log);
}

/* A shorter log looks as after a power cut, so only what it still tells of syncs can be held
 * against it. */
static void
test_log_truncated(void **state)
{
    struct log_image log;
    struct outcome outcome;
    uint64_t last = 0;
    uint8_t *bytes;
    size_t size;

    (void)state;
    make_log_image(&log, 32);
    bytes = read_image_file(&log.image, log.path, &size);
    for (size_t length = 0; length < size; length += test_long() ? 1 : 61) {
        try_log(&log, bytes, length, &outcome);
        assert_int_equal(outcome.status, PETAL_OK);
        assert_true(outcome.count >= last);
        last = outcome.count;
    }
    free(bytes);
    free_log_image(&log);
}

static void
test_log_of_another_database(void **state)
{
    struct log_image log, other;
    struct outcome outcome;
    uint8_t *bytes;
    size_t size;

    (void)state;
    make_log_image(&log, 33);
    make_log_image(&other, 34);
    assert_string_equal(log.path, other.path);
    bytes = read_image_file(&other.image, other.path, &size);
    try_log(&log, bytes, size, &outcome);
    assert_int_equal(outcome.status, PETAL_CORRUPT);
    assert_non_null(strstr(outcome.error.text, "belongs to database"));
    free(bytes);
    free_log_image(&other);
    free_log_image(&log);
}

struct first_log {
    char *path;
};

static void
keep_least_log(void *argument, const char *name)
{
    struct first_log *first = argument;
    char *path;

    if (strstr(name, ".log") == NULL)
        return;
    path = test_path(FIXTURE_DIRECTORY, name);
    if (first->path == NULL || strcmp(path, first->path) < 0) {
        free(first->path);
        first->path = path;
    } else {
        free(path);
    }
}

/* One table was flushed, so the log was changed; the old one still holds the other table's
 * cells. */
static void
test_log_missing(void **state)
{
    struct image image = {.seed = 35};
    struct first_log first = {NULL};
    struct fixture fixture, after;
    struct ledger ledger = {0};
    struct outcome outcome;
    petal_error error;
    uint8_t *bytes;
    size_t size;

    (void)state;
    fixture_init(&fixture, image.seed);
    fixture_must_open(&fixture);
    must(ledger_create(&ledger, fixture.db, &error), &error);
    for (uint64_t number = 1; number <= 20; number++) {
        must(ledger_write(&ledger, number, PETAL_SYNC_WAL, &error), &error);
        if (number == 10)
            must(petal_flush(fixture.db, ledger.tables[0], &error), &error);
    }
    image.vfs = memory_vfs_clone(fixture.vfs);
    fixture_fini(&fixture);

    open_image(&after, &image);
    memory_vfs_list(after.vfs, FIXTURE_DIRECTORY, keep_least_log, &first);
    assert_int_equal(fixture_count_files(&after, ".log"), 2);
    assert_int_equal(memory_vfs_read_file(after.vfs, first.path, &bytes, &size), 0);
    assert_int_equal(vfs_remove(after.env.vfs, first.path), 0);
    look(&after, &image, &outcome);
    assert_int_equal(outcome.status, PETAL_CORRUPT);
    assert_true(names_file(&outcome, first.path));
    assert_int_equal(memory_vfs_write_file(after.vfs, first.path, bytes, size), 0);
    look(&after, &image, &outcome);
    assert_int_equal(outcome.status, PETAL_OK);
    assert_false(outcome.wrong);
    assert_int_equal(outcome.count, 20);
    fixture_fini(&after);
    free(bytes);
    free(first.path);
    free_image(&image);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store_file_bytes_flipped),
        cmocka_unit_test(test_store_file_truncated),
        cmocka_unit_test(test_store_files_swapped),
        cmocka_unit_test(test_store_file_missing_or_longer),
        cmocka_unit_test(test_manifest_bytes_flipped),
        cmocka_unit_test(test_manifest_missing),
        cmocka_unit_test(test_log_bytes_flipped),
        cmocka_unit_test(test_log_truncated),
        cmocka_unit_test(test_log_of_another_database),
        cmocka_unit_test(test_log_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

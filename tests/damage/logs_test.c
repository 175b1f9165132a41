/*
 * logs_test.c -- logs with any bit flipped, cut at any length, with sectors that are zeroed,
 * exchanged or older: what a sync promised is there or its loss is refused by name; of the rest
 * just the writes before the damage are there, and none after it.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/damage/sweep.h"
#include "tests/disk/paths.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdlib.h>

#define MOST_WRITES 64
#define MOST_LOGS   6
#define MOST_BYTES  ((uint64_t)64 << 20)

/* How the logs come about. */
struct layout {
    const char *name;
    uint64_t writes, synced; /* the write that is synced; 0: none */
    uint64_t closes[2];      /* after these a log is closed; 0: none */
    size_t filler;
    bool mapped;
    unsigned every; /* of so many bits of long records one is flipped; the long run: each */
};

static const struct layout layouts[] = {
    {"one log", 14, 5, {0, 0}, 0, false, 1},
    {"nothing synced", 8, 0, {0, 0}, 3, false, 1},
    {"three logs", 15, 7, {4, 10}, 0, false, 1},
    {"logs that no sync tells of", 12, 0, {4, 8}, 0, false, 3},
    {"mapped", 12, 5, {0, 0}, 2, true, 1},
    {"several frames", 48, 20, {0, 0}, 400, false, 61},
};

/* The end of what was written: in which log, and where. */
struct place {
    size_t log;
    uint64_t offset;
};

struct log_file {
    char *path;
    uint8_t *bytes, *older; /* older: when the last sync ended, as long as it is */
    size_t size, older_size;
};

struct image {
    const struct layout *layout;
    struct memory_vfs *vfs;
    uint64_t seed;
    struct log_file logs[MOST_LOGS];
    size_t log_count;
    struct place ends[MOST_WRITES + 1]; /* of each write; [0]: the beginning */
    struct place synced;                /* what lies before is promised */
};

struct counts {
    uint64_t offered, tried, refused, shorter, whole, lives;
};

/* ---- making logs ---- */

static bool
is_before(struct place a, struct place b)
{
    return a.log < b.log || (a.log == b.log && a.offset < b.offset);
}

/* The logs that have bytes, in their order. */
static void
take_logs(struct image *image, struct memory_vfs *vfs)
{
    struct gallery_files files = gallery_files_of(vfs, FIXTURE_DIRECTORY);

    for (size_t i = 0; i < files.count; i++) {
        struct log_file log = {.path = NULL};

        if (gallery_file_kind(files.paths[i]) != LOG_FILE)
            continue;
        assert_int_equal(memory_vfs_read_file(vfs, files.paths[i], &log.bytes, &log.size), 0);
        if (log.size == 0) {
            free(log.bytes);
            continue;
        }
        assert_true(image->log_count < MOST_LOGS);
        log.path = test_strdup(files.paths[i]);
        image->logs[image->log_count++] = log;
    }
    gallery_files_free(&files);
}

/* Where the records end: what is after are zeros, if anything. */
static uint64_t
end_of(const struct image *image, size_t log)
{
    const struct place *last = &image->ends[image->layout->writes];

    return log == last->log ? last->offset : image->logs[log].size;
}

static struct place
place_now(const struct fixture *fixture)
{
    struct image now = {.log_count = 0};
    struct place place;
    petal_stats stats;

    take_logs(&now, fixture->vfs);
    place.log = now.log_count - 1;
    place.offset = now.logs[place.log].size;
    petal_stats_get(fixture->db, &stats);
    assert_true(place.log > 0 || place.offset >= stats.log_bytes);
    if (place.log == 0) /* zeros may follow */
        place.offset = stats.log_bytes;
    for (size_t i = 0; i < now.log_count; i++) {
        free(now.logs[i].path);
        free(now.logs[i].bytes);
    }
    return place;
}

/* What `older` holds goes to the logs of the same name. */
static void
keep_older(struct image *image, struct image *older)
{
    for (size_t i = 0; i < older->log_count; i++) {
        assert_string_equal(older->logs[i].path, image->logs[i].path);
        image->logs[i].older = older->logs[i].bytes;
        image->logs[i].older_size = older->logs[i].size;
        free(older->logs[i].path);
    }
}

static void
make_image(struct image *image, const struct layout *layout, uint64_t seed)
{
    struct ledger ledger = {.filler = layout->filler};
    struct image older = {.log_count = 0};
    struct fixture fixture;
    petal_error error;

    *image = (struct image){.layout = layout, .seed = seed};
    fixture_init(&fixture, seed);
    memory_vfs_use_log_windows(fixture.vfs, layout->mapped);
    fixture_must_open(&fixture);
    must(ledger_create(&ledger, fixture.db, &error), &error);
    for (uint64_t number = 1; number <= layout->writes; number++) {
        bool sync = number == layout->synced;

        ledger_must_write(&ledger, number, sync ? PETAL_FSYNC_WAL : PETAL_SYNC_WAL);
        image->ends[number] = place_now(&fixture);
        if (sync) {
            image->synced = image->ends[number];
            take_logs(&older, fixture.vfs);
        }
        if (number == layout->closes[0] || number == layout->closes[1])
            must(fixture_close_log(&fixture), &error);
    }
    fixture_die(&fixture);
    memory_vfs_process_death(fixture.vfs);
    image->vfs = memory_vfs_clone(fixture.vfs);
    fixture_fini(&fixture);
    take_logs(image, image->vfs);
    keep_older(image, &older);
}

static void
free_image(struct image *image)
{
    for (size_t i = 0; i < image->log_count; i++) {
        free(image->logs[i].path);
        free(image->logs[i].bytes);
        free(image->logs[i].older);
    }
    memory_vfs_free(image->vfs);
}

/* ---- looking ---- */

/* Reads the database; *count is the write of which it is the state after. */
static enum petal_status
look(const struct image *image, struct memory_vfs *vfs, bool read_only, uint64_t *count,
     petal_error *error)
{
    struct ledger ledger = {.filler = image->layout->filler};
    struct ledger_state state;
    struct fixture fixture;
    enum petal_status status;

    fixture_init_on(&fixture, vfs, image->seed + 1);
    test_allocator_limit(&fixture.allocator, MOST_BYTES);
    fixture.options.read_only = read_only;
    fixture.options.create = false;
    status = fixture_open(&fixture, error);
    if (status == PETAL_OK) {
        must(ledger_attach(&ledger, fixture.db, error), error);
        must(ledger_read(&ledger, &state, error), error);
        *count = ledger_last(&state);
        assert_true(ledger_is_after(&state, *count));
        must(ledger_verify(&ledger, error), error);
        if (!read_only) /* what comes next is not lost with the damage */
            must(ledger_write(&ledger, *count + 1, PETAL_FSYNC_WAL, error), error);
        must(petal_close(fixture.db, error), error);
    }
    assert_int_equal(test_allocator_failures(&fixture.allocator), 0);
    assert_int_equal(test_allocator_live_blocks(&fixture.allocator), 0);
    return status;
}

/* Damage from `first` up to `end`, of one log. */
struct damage {
    const char *what;
    size_t log;
    uint64_t first, end;
    bool shorter; /* nothing follows */
};

/* How many writes end before the place. */
static uint64_t
writes_before(const struct image *image, struct place place)
{
    uint64_t count = 0;

    while (count < image->layout->writes && !is_before(place, image->ends[count + 1]))
        count++;
    return count;
}

/* Everything that tells of the sync is as it was: its fragment begins where the synced part ends,
 * and the first that begins in each later page tells it again. */
static bool
promise_is_told(const struct image *image, const struct damage *damage)
{
    uint64_t teller = writes_before(image, image->synced) + 1;

    if (image->layout->synced == 0)
        return false;
    return damage->log < image->ends[teller].log ||
           (damage->log == image->ends[teller].log && !damage->shorter &&
            (damage->end <= image->synced.offset || damage->first >= image->ends[teller].offset)) ||
           damage->log > image->ends[teller].log;
}

static void
fail_damage(const struct image *image, const struct damage *damage, enum petal_status status,
            const petal_error *error, uint64_t count, uint64_t expected)
{
    print_error("%s: %s: %s from %" PRIu64 " to %" PRIu64 ": status %d, %s %s; %" PRIu64
                " writes, %" PRIu64 " expected; synced to %" PRIu64 " of log %zu\n",
                image->layout->name, image->logs[damage->log].path, damage->what, damage->first,
                damage->end, (int)status, status == PETAL_OK ? "" : error->file,
                status == PETAL_OK ? "" : error->text, count, expected, image->synced.offset,
                image->synced.log);
    fail();
}

static bool
names_a_log(const struct image *image, const petal_error *error)
{
    bool named = false;

    for (size_t i = 0; i < image->log_count; i++)
        named = named || strcmp(error->file, image->logs[i].path) == 0;
    return named && error->status == PETAL_CORRUPT && strstr(error->text, error->file) != NULL;
}

/* With such bytes in the place of the log. */
static void
try_bytes(const struct image *image, struct damage damage, const uint8_t *bytes, size_t size,
          struct counts *counts)
{
    const struct log_file *log = &image->logs[damage.log];
    struct place first = {damage.log, damage.first};
    uint64_t count = 0, again = 0, expected = writes_before(image, first);
    bool promised = is_before(first, image->synced);
    bool closed = damage.log + 1 < image->log_count;
    petal_error error = {.status = PETAL_OK};
    enum petal_status status;

    assert_int_equal(memory_vfs_write_file(image->vfs, log->path, bytes, size), 0);
    status = look(image, image->vfs, true, &count, &error);
    counts->tried++;
    counts->refused += status != PETAL_OK;
    counts->whole += status == PETAL_OK && count == image->layout->writes;
    counts->shorter += status == PETAL_OK && count < image->layout->writes;
    /* A closed log may have been synced by the log's thread. */
    if (status != PETAL_OK ? !names_a_log(image, &error) || (!promised && !closed)
                           : count != expected || (promised && promise_is_told(image, &damage)))
        fail_damage(image, &damage, status, &error, count, expected);
    if (counts->tried % (test_long() ? 16 : 101) == 0) { /* who writes comes to the same end */
        struct memory_vfs *files = memory_vfs_clone(image->vfs);
        uint64_t before = memory_vfs_hash(files);

        counts->lives++;
        if (look(image, files, false, &again, &error) != status || again != count)
            fail_damage(image, &damage, status, &error, again, count);
        if (status != PETAL_OK) /* and changes nothing that it refuses */
            assert_true(memory_vfs_hash(files) == before);
        if (status == PETAL_OK) {
            assert_int_equal(look(image, files, true, &again, &error), PETAL_OK);
            assert_int_equal(again, count + 1);
        }
        memory_vfs_free(files);
    }
    assert_int_equal(memory_vfs_write_file(image->vfs, log->path, log->bytes, log->size), 0);
}

/* ---- damages ---- */

/* Of the zeros after the records every byte of the first 100, then some. */
static uint64_t
next_bit(const struct image *image, size_t log, uint64_t bit)
{
    uint64_t step = test_long() ? 1 : image->layout->every;

    if (bit / 8 >= end_of(image, log) + 100)
        step = 8 * 1021 + 1;
    return bit + (test_short() ? step * 41 : step);
}

static void
flip_bits(const struct image *image, struct counts *counts)
{
    for (size_t i = 0; i < image->log_count; i++) {
        const struct log_file *log = &image->logs[i];
        uint8_t *bytes = test_allocate(log->size);

        memcpy(bytes, log->bytes, log->size);
        for (uint64_t bit = 0; bit < 8 * log->size; bit = next_bit(image, i, bit)) {
            struct damage damage = {"bit flipped", i, bit / 8, bit / 8 + 1, false};

            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            try_bytes(image, damage, bytes, log->size, counts);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        free(bytes);
    }
}

static void
cut(const struct image *image, struct counts *counts)
{
    for (size_t i = 0; i < image->log_count; i++) {
        const struct log_file *log = &image->logs[i];
        uint64_t end = end_of(image, i), step = (image->layout->every + 7) / 8;

        for (uint64_t size = 0; size < end; size += test_short() ? 97 : step)
            try_bytes(image, (struct damage){"cut", i, size, log->size, true}, log->bytes, size,
                      counts);
    }
}

/* Where they differ from the log's. */
static void
try_if_other(const struct image *image, const char *what, size_t which, const uint8_t *bytes,
             struct counts *counts)
{
    const struct log_file *log = &image->logs[which];
    struct damage damage = {what, which, 0, log->size, false};

    if (counts->offered++ % (test_short() ? 41 : 1) != 0)
        return;

    while (damage.first < log->size && bytes[damage.first] == log->bytes[damage.first])
        damage.first++;
    while (damage.end > damage.first && bytes[damage.end - 1] == log->bytes[damage.end - 1])
        damage.end--;
    if (damage.first < damage.end)
        try_bytes(image, damage, bytes, log->size, counts);
}

static void
change_sectors(const struct image *image, size_t sector, struct counts *counts)
{
    for (size_t i = 0; i < image->log_count; i++) {
        const struct log_file *log = &image->logs[i];
        uint64_t end = end_of(image, i);
        uint8_t *bytes = test_allocate(log->size);

        for (uint64_t at = 0; at < end; at += sector) {
            size_t size = log->size - at < sector ? log->size - at : sector;

            memcpy(bytes, log->bytes, log->size);
            memset(bytes + at, 0, size);
            try_if_other(image, "sector zeroed", i, bytes, counts);
            for (uint64_t from = 0; from + size <= end; from += sector) {
                memcpy(bytes, log->bytes, log->size);
                memcpy(bytes + at, log->bytes + from, size);
                try_if_other(image, "sector of another place", i, bytes, counts);
                memcpy(bytes + from, log->bytes + at, size);
                try_if_other(image, "sectors exchanged", i, bytes, counts);
            }
            for (size_t k = 0; k < image->log_count; k++) {
                if (k == i || at + size > image->logs[k].size)
                    continue;
                memcpy(bytes, log->bytes, log->size);
                memcpy(bytes + at, image->logs[k].bytes + at, size);
                try_if_other(image, "sector of another log", i, bytes, counts);
            }
            memcpy(bytes, log->bytes, log->size);
            memset(bytes + at, 0, size);
            if (at < log->older_size)
                memcpy(bytes + at, log->older + at,
                       log->older_size - at < size ? log->older_size - at : size);
            try_if_other(image, "older sector", i, bytes, counts);
        }
        free(bytes);
    }
}

/* Names are durable before anything is stored under them: a log that another one names is there.
 * The last one may be missing when nothing tells of it. */
static void
miss_each(struct image *image, struct counts *counts)
{
    for (size_t i = 0; i < image->log_count; i++) {
        const struct log_file *log = &image->logs[i];
        struct place beginning = {i, 0};
        bool last = i + 1 == image->log_count;
        petal_error error = {.status = PETAL_OK};
        enum petal_status status;
        uint64_t count = 0;

        assert_int_equal(vfs_remove(memory_vfs_table(image->vfs), log->path), 0);
        status = look(image, image->vfs, true, &count, &error);
        if (status != PETAL_OK) {
            uint64_t before = memory_vfs_hash(image->vfs);

            assert_string_equal(error.file, log->path);
            assert_int_equal(look(image, image->vfs, false, &count, &error), status);
            assert_true(memory_vfs_hash(image->vfs) == before);
        } else
            assert_int_equal(count, writes_before(image, beginning));
        assert_true(last || status == PETAL_CORRUPT);
        assert_int_equal(memory_vfs_write_file(image->vfs, log->path, log->bytes, log->size), 0);
        counts->tried++;
    }
}

/* Somebody put it there: no torn tail, whatever is promised. */
static void
be_another_database(struct image *image, struct counts *counts)
{
    struct image other;

    make_image(&other, image->layout, image->seed + 1);
    for (size_t i = 0; i < image->log_count; i++) {
        const struct log_file *log = &image->logs[i];
        petal_error error = {.status = PETAL_OK};
        uint64_t count;

        assert_string_equal(log->path, other.logs[i].path);
        assert_int_equal(
            memory_vfs_write_file(image->vfs, log->path, other.logs[i].bytes, other.logs[i].size),
            0);
        assert_int_equal(look(image, image->vfs, true, &count, &error), PETAL_CORRUPT);
        assert_string_equal(error.file, log->path);
        assert_non_null(strstr(error.text, "belongs to database"));
        assert_int_equal(memory_vfs_write_file(image->vfs, log->path, log->bytes, log->size), 0);
        counts->tried++;
    }
    free_image(&other);
}

TEST(logs_are_whole_or_told_of)
{
    uint64_t seed = test_seed();

    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        double began = test_seconds_used();
        struct counts counts = {0};
        struct image image;

        make_image(&image, &layouts[i], seed);
        flip_bits(&image, &counts);
        cut(&image, &counts);
        change_sectors(&image, 512, &counts);
        change_sectors(&image, 4096, &counts);
        miss_each(&image, &counts);
        be_another_database(&image, &counts);
        free_image(&image);
        test_counted("%s: %" PRIu64 " mutants in %.1f s: %" PRIu64 " refused, %" PRIu64
                     " lost unpromised writes, %" PRIu64 " lost nothing; %" PRIu64
                     " were written to",
                     layouts[i].name, counts.tried, test_seconds_used() - began, counts.refused,
                     counts.shorter, counts.whole, counts.lives);
    }
}

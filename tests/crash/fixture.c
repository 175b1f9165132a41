/* fixture.c -- a database in memory, and the ledger as a test; see tests/crash/ledger.h. */
#include "tests/crash/ledger.h"

#include "base/slice.h"
#include "engine/manifest/names.h"
#include "engine/state/db.h"
#include "engine/wal/wal.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- a database in memory ---- */

void
fixture_init_on(struct fixture *fixture, struct memory_vfs *vfs, uint64_t seed)
{
    *fixture = (struct fixture){.vfs = vfs};
    test_allocator_init(&fixture->allocator);
    test_clock_set(&fixture->clock, 1000);
    test_random_init(&fixture->random, seed);
    fixture->env = (petal_env){.allocator = &fixture->allocator.table,
                               .vfs = memory_vfs_table(vfs),
                               .clock_context = &fixture->clock,
                               .clock_ms = test_clock_ms,
                               .random_context = &fixture->random,
                               .random = test_random_word};
    fixture->options = (petal_options){.create = true,
                                       .open_files = 8,
                                       .cache_bytes = (size_t)64 << 10,
                                       .no_compaction = true,
                                       .log_sync_interval_ms = PETAL_NEVER,
                                       .env = &fixture->env};
}

void
fixture_init(struct fixture *fixture, uint64_t seed)
{
    fixture_init_on(fixture, memory_vfs_new(), seed);
}

void
fixture_fini(struct fixture *fixture)
{
    if (fixture->db != NULL)
        fixture_must_close(fixture);
    assert_int_equal(test_allocator_live_blocks(&fixture->allocator), 0);
    assert_int_equal(memory_vfs_open_files(fixture->vfs), 0);
    memory_vfs_free(fixture->vfs);
    fixture->vfs = NULL;
}

enum petal_status
fixture_open(struct fixture *fixture, petal_error *error)
{
    return petal_open(FIXTURE_DIRECTORY, &fixture->options, &fixture->db, error);
}

void
fixture_must_open(struct fixture *fixture)
{
    petal_error error;

    must(fixture_open(fixture, &error), &error);
}

petal_db *
fixture_open_reader(const struct fixture *fixture, const char *directory)
{
    petal_options options = fixture->options;
    petal_error error;
    petal_db *reader;

    options.read_only = true;
    options.create = false;
    must(petal_open(directory, &options, &reader, &error), &error);
    return reader;
}

void
fixture_must_close(struct fixture *fixture)
{
    petal_db *db = fixture->db;
    petal_error error;

    fixture->db = NULL;
    must(petal_close(db, &error), &error);
}

enum petal_status
fixture_rotate_log(petal_db *db, petal_error *error)
{
    struct write_place place;
    enum petal_status status;

    write_lead_alone(&db->writers.queue, &place);
    status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = wal_rotate(db, error);
    write_lead_end(&db->writers.queue, &place);
    return status;
}

enum petal_status
fixture_close_log(struct fixture *fixture)
{
    return fixture_rotate_log(fixture->db, NULL);
}

void
fixture_die(struct fixture *fixture)
{
    struct memory_vfs *left = memory_vfs_clone(fixture->vfs);

    petal_close(fixture->db, NULL); /* releases memory; its files are not looked at any more */
    fixture->db = NULL;
    memory_vfs_free(fixture->vfs);
    fixture->vfs = left;
    fixture->env.vfs = memory_vfs_table(left);
}

/* ---- further lives ---- */

static bool
mark_table(void *argument, petal_table *table)
{
    petal_write_options sync = {.durability = PETAL_FSYNC_WAL};
    bool *marked = argument;

    for (size_t i = 0; *marked && i < petal_table_family_count(table); i++)
        *marked = petal_delete(petal_table_family_at(table, i), slice_from_text("no such row"),
                               slice_from_text("no such column"), PETAL_LATEST, PETAL_DELETE_COLUMN,
                               &sync, NULL) == PETAL_OK;
    return *marked;
}

/* One life, ended during its n-th file call, or, n 0, when it has done all. Gives the files with
 * what is pending in them. */
static struct memory_vfs *
live(struct memory_vfs *files, uint64_t n, uint64_t seed, bool *opened)
{
    struct fixture life;
    petal_error error;
    enum petal_status status;
    bool marked = true;

    memory_vfs_process_death(files);
    fixture_init_on(&life, memory_vfs_clone(files), seed);
    memory_vfs_free(files);
    memory_vfs_cut_at(life.vfs, n);
    status = petal_open(FIXTURE_DIRECTORY, &life.options, &life.db, &error);
    if (n == 0)
        must(status, &error);
    *opened = *opened || status == PETAL_OK;
    if (status == PETAL_OK)
        status = petal_table_list(life.db, mark_table, &marked, &error);
    if (n == 0)
        assert_true(status == PETAL_OK && marked);
    files = memory_vfs_clone(life.vfs);
    petal_close(life.db, NULL);
    life.db = NULL;
    fixture_fini(&life);
    return files;
}

struct memory_vfs *
fixture_further_state(struct memory_vfs *files, unsigned state, uint64_t seed, bool *opened)
{
    bool cut_short = state >= 2, dies_before = state % 2 == 1, any = false;
    struct test_random random;

    test_random_init(&random, seed + state);
    if (dies_before)
        files = live(files, 1 + test_random_below(&random, 50), seed, &any);
    files = live(files, cut_short ? 1 + test_random_below(&random, 50) : 0, seed, &any);
    memory_vfs_power_cut(files, dies_before ? MEMORY_CUT_RANDOM : MEMORY_CUT_LOSE_ALL,
                         seed + state);
    if (opened != NULL)
        *opened = any;
    return files;
}

/* ---- files ---- */

static bool
ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);

    return length >= tail && strcmp(name + length - tail, suffix) == 0;
}

struct file_search {
    const char *suffix;
    size_t count;
    char *path; /* of the last one found */
};

static void
search_name(void *argument, const char *name)
{
    struct file_search *search = argument;

    if (!ends_with(name, search->suffix))
        return;
    search->count++;
    free(search->path);
    search->path = test_path(FIXTURE_DIRECTORY, name);
}

char *
fixture_only_file(struct fixture *fixture, const char *suffix)
{
    struct file_search search = {.suffix = suffix};

    memory_vfs_list(fixture->vfs, FIXTURE_DIRECTORY, search_name, &search);
    if (search.count == 1)
        return search.path;
    free(search.path);
    return NULL;
}

size_t
fixture_count_files(struct fixture *fixture, const char *suffix)
{
    struct file_search search = {.suffix = suffix};

    memory_vfs_list(fixture->vfs, FIXTURE_DIRECTORY, search_name, &search);
    free(search.path);
    return search.count;
}

struct directory_check {
    const struct manifest *manifest;
    size_t logs, files;
    bool clean;
};

static void
check_name(void *argument, const char *name)
{
    struct directory_check *check = argument;
    uint64_t number = 0;
    bool known = false;

    switch (filename_parse(name, &number)) {
    case FILENAME_WAL:
        known = check->logs++ == 0;
        break;
    case FILENAME_STORE_FILE:
        known = manifest_names_file(check->manifest, number);
        check->files++;
        break;
    case FILENAME_MANIFEST:
    case FILENAME_LOCK:
    case FILENAME_READERS:
        known = true;
        break;
    default:
        break;
    }
    if (!known)
        print_error("left behind: %s\n", name);
    check->clean = check->clean && known;
}

/* Files of the store of a region, but for those of earlier regions, too. */
static size_t
count_own_files(const struct manifest *manifest, const struct manifest_family *family,
                size_t region)
{
    const struct manifest_store *store = &family->stores[region];
    size_t count = 0, place;

    for (size_t i = 0; i < store->file_count; i++) {
        bool own = true;

        for (size_t k = 0; own && k < region; k++)
            own = !manifest_find_file(manifest, &family->stores[k], store->files[i].number, &place);
        count += own;
    }
    return count;
}

static size_t
count_named_files(const struct manifest *manifest)
{
    size_t count = 0;

    for (size_t t = 0; t < manifest->table_count; t++) {
        const struct manifest_table *table = manifest->tables[t];

        for (size_t i = 0; i < table->family_count * table->region_count; i++)
            count += count_own_files(manifest, &table->families[i / table->region_count],
                                     i % table->region_count);
    }
    return count;
}

bool
fixture_directory_is_clean(struct fixture *fixture)
{
    struct directory_check check = {.manifest = fixture->db->manifest, .clean = true};

    mutex_lock(&fixture->db->manifest_mutex);
    memory_vfs_list(fixture->vfs, FIXTURE_DIRECTORY, check_name, &check);
    check.clean = check.clean && check.files == count_named_files(check.manifest);
    mutex_unlock(&fixture->db->manifest_mutex);
    return check.clean;
}

size_t
fixture_most_open(struct fixture *fixture)
{
    size_t open = 0, most = 0, count = memory_vfs_trace_count(fixture->vfs);

    for (size_t i = 0; i < count; i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(fixture->vfs, i);

        if (strstr(call.path, ".sst") == NULL || call.error != 0)
            continue;
        open += call.operation == MEMORY_VFS_OPEN;
        open -= call.operation == MEMORY_VFS_CLOSE;
        most = open > most ? open : most;
    }
    return most;
}

/* ---- the ledger as a test ---- */

void
ledger_must_write(const struct ledger *ledger, uint64_t number, enum petal_durability durability)
{
    petal_error error;

    must(ledger_write(ledger, number, durability, &error), &error);
}

uint64_t
ledger_must_be_prefix(const struct ledger *ledger)
{
    struct ledger_state state;
    petal_error error;
    uint64_t count;

    must(ledger_read(ledger, &state, &error), &error);
    count = ledger_last(&state);
    assert_true(ledger_is_after(&state, count));
    must(ledger_verify(ledger, &error), &error);
    return count;
}

uint64_t
ledger_must_find(struct ledger *ledger, petal_db *db)
{
    MUST(ledger_attach(ledger, db, WHY));
    return ledger_must_be_prefix(ledger);
}

void
ledger_start(struct ledger *ledger, struct fixture *fixture, uint64_t seed)
{
    fixture_init(fixture, seed);
    fixture_must_open(fixture);
    MUST(ledger_create(ledger, fixture->db, WHY));
}

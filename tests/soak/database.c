/* database.c -- see tests/soak/database.h. */
#include "tests/soak/database.h"

#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

petal_slice
soak_text(const char *text)
{
    return (petal_slice){text, strlen(text)};
}

int64_t
soak_clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void
soak_path(const struct soak_shared *shared, char *path, size_t bytes, const char *name)
{
    snprintf(path, bytes, "%s/%s", shared->root, name);
}

/* ---- the database ---- */

size_t
soak_family_options(petal_family_options families[SOAK_MOST_FAMILIES], uint64_t chance)
{
    static const char *const names[SOAK_MOST_FAMILIES] = {"a", "b", "c", "spare"};
    static const enum petal_bloom_type filters[] = {PETAL_BLOOM_ROW, PETAL_BLOOM_ROWCOL,
                                                    PETAL_BLOOM_ROW_ROWCOL, PETAL_BLOOM_NONE};

    for (size_t i = 0; i < SOAK_MOST_FAMILIES; i++, chance >>= 8)
        families[i] = (petal_family_options){.name = soak_text(names[i]),
                                             .versions = i == 1 ? SOAK_VERSIONS : 1,
                                             .block_bytes = 4096u << (chance & 3),
                                             .compression = chance & 4 ? PETAL_COMPRESSION_NONE
                                                                       : PETAL_COMPRESSION_LZ4,
                                             .bloom = filters[(i + (chance >> 3)) & 3],
                                             .in_memory = (chance & 0xc0) == 0};
    return chance & 1 ? SOAK_MOST_FAMILIES : SOAK_FAMILIES;
}

static void
log_to_file(void *context, enum petal_log_level level, const char *line)
{
    fprintf(context, "%" PRId64 " %d %s\n", soak_clock_ms(), (int)level, line);
}

/* One file for all processes: what the library tells, to be read when something was wrong. */
static const petal_env *
make_env(struct soak_shared *shared)
{
    static petal_env env;
    char path[1024];

    if (env.log_context == NULL) {
        soak_path(shared, path, sizeof path, "log");
        env.log_context = fopen(path, "a");
        if (env.log_context != NULL) {
            setvbuf(env.log_context, NULL, _IOLBF, BUFSIZ);
            env.log = log_to_file;
        }
    }
    return &env;
}

void
soak_attach(struct soak_database *database)
{
    static const char *const names[SOAK_TABLES] = {"first", "second"};
    static const char *const families[SOAK_FAMILIES] = {"a", "b", "c"};
    petal_family_options described[SOAK_MOST_FAMILIES];
    petal_table_options options = {.families = described};
    petal_error error;

    options.family_count = soak_family_options(described, 0);
    for (size_t i = 0; i < SOAK_TABLES; i++) {
        enum petal_status status =
            petal_table_open(database->db, soak_text(names[i]), &database->tables[i], &error);

        options.name = soak_text(names[i]);
        if (status == PETAL_NOT_FOUND)
            status = petal_table_create(database->db, &options, &database->tables[i], &error);
        soak_must(database->shared, status, &error, "open a table");
        for (size_t f = 0; f < SOAK_FAMILIES; f++)
            soak_must(database->shared,
                      petal_table_family(database->tables[i], soak_text(families[f]),
                                         &database->families[i][f], &error),
                      &error, "open a family");
    }
}

void
soak_open(struct soak_database *database, struct soak_shared *shared, const char *directory,
          bool read_only)
{
    petal_options options = {.create = !read_only,
                             .read_only = read_only,
                             .memory_bytes = SOAK_MEMORY_BYTES,
                             .memtable_bytes = (size_t)256 << 10,
                             .open_files = SOAK_OPEN_FILES,
                             .env = make_env(shared)};
    petal_error error;

    *database = (struct soak_database){.shared = shared};
    soak_must(shared, petal_open(directory, &options, &database->db, &error), &error,
              read_only ? "open to read only" : "open");
    soak_attach(database);
}

void
soak_close(struct soak_database *database)
{
    petal_error error;

    soak_must(database->shared, petal_close(database->db, &error), &error, "close");
}

void
soak_reader_init(struct soak_reader *reader, struct soak_database *database)
{
    petal_error error;

    reader->database = database;
    reader->cells = test_allocate(sizeof *reader->cells);
    for (size_t i = 0; i < SOAK_TABLES; i++)
        soak_must(database->shared, petal_result_new(database->db, &reader->results[i], &error),
                  &error, "make a result");
}

void
soak_reader_free(struct soak_reader *reader)
{
    for (size_t i = 0; i < SOAK_TABLES; i++)
        petal_result_free(reader->results[i]);
    free(reader->cells);
}

/* ---- looks at rows ---- */

static bool
slice_is(petal_slice slice, const void *bytes, size_t size)
{
    return slice.size == size && (size == 0 || memcmp(slice.data, bytes, size) == 0);
}

static bool
names_are_equal(const struct soak_cell *expected, const petal_cell *cell)
{
    return slice_is(cell->family, expected->family, strlen(expected->family)) &&
           slice_is(cell->qualifier, expected->qualifier, strlen(expected->qualifier));
}

const char *
soak_compare(const struct soak_cells *cells, const petal_result *result)
{
    size_t count = petal_result_count(result), at = 0;

    for (size_t i = 0; i < cells->count; i++) {
        const struct soak_cell *expected = &cells->cells[i];
        const petal_cell *cell = at < count ? petal_result_cell(result, at) : NULL;

        if (cell == NULL || !names_are_equal(expected, cell)) {
            if (!expected->may_be_there)
                return "a cell is missing";
            continue;
        }
        if (!slice_is(cell->value, expected->value, expected->value_size))
            return "a cell has another value";
        if (expected->time >= 0 && cell->timestamp != expected->time)
            return "a cell has another timestamp";
        at++;
    }
    return at == count ? "" : "there is a cell too many";
}

static void
get_row(struct soak_reader *reader, enum soak_table table, uint32_t slot, petal_snapshot *snapshot)
{
    struct soak_database *database = reader->database;
    petal_read_options options = {.snapshot = snapshot};
    char row[SOAK_ROW_BYTES + 1];
    petal_error error;

    soak_row(slot, row);
    soak_must(database->shared,
              petal_get(database->tables[table], soak_text(row), &options, reader->results[table],
                        &error),
              &error, "get");
    atomic_fetch_add(&database->shared->reads, 1);
}

/* The value of a:sum; size 0: not there. */
static petal_slice
find_sum(const petal_result *result)
{
    for (size_t i = 0; i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);

        if (slice_is(cell->family, "a", 1) && slice_is(cell->qualifier, "sum", 3))
            return cell->value;
    }
    return (petal_slice){NULL, 0};
}

/* The hash of the columns q0 .. q5 as they are. */
static uint64_t
hash_columns(const petal_result *result)
{
    uint64_t hash = 1;

    for (size_t i = 0; i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);
        const char *name = cell->qualifier.data;

        if (cell->qualifier.size == 2 && name[0] == 'q')
            hash = soak_hash(hash + (uint64_t)(name[1] - '0'), cell->value.data, cell->value.size);
    }
    return hash;
}

/* The row of "first" in its result: right in itself, or not there. Returns its generation. */
static uint64_t
judge_first(struct soak_reader *reader, uint32_t slot, const char *how)
{
    const petal_result *result = reader->results[SOAK_FIRST];
    petal_slice sum = find_sum(result);
    uint64_t generation, stored, computed = hash_columns(result);

    if (petal_result_count(result) == 0)
        return 0;
    if (sum.size != SOAK_SUM_BYTES)
        soak_fail(reader->database->shared, "%s: slot %u has %zu cells and no sum", how, slot,
                  petal_result_count(result));
    memcpy(&generation, sum.data, 8);
    memcpy(&stored, (const uint8_t *)sum.data + 8, 8);
    if (stored != computed)
        soak_fail(reader->database->shared,
                  "%s: the sum of slot %u, generation %" PRIu64
                  ", is not that of its columns: torn",
                  how, slot, generation);
    return generation;
}

uint64_t
soak_check_first(struct soak_reader *reader, uint32_t slot)
{
    get_row(reader, SOAK_FIRST, slot, NULL);
    return judge_first(reader, slot, "get");
}

uint64_t
soak_check_whole(struct soak_reader *reader, uint32_t slot, petal_snapshot *snapshot)
{
    struct soak_shared *shared = reader->database->shared;
    uint64_t generation, hash, first;
    petal_slice sum;

    get_row(reader, SOAK_FIRST, slot, snapshot);
    get_row(reader, SOAK_SECOND, slot, snapshot);
    first = judge_first(reader, slot, "both tables");
    sum = find_sum(reader->results[SOAK_SECOND]);
    if (sum.size != SOAK_SUM_BYTES) {
        if (petal_result_count(reader->results[SOAK_SECOND]) > 0 || first != 0)
            soak_fail(shared, "slot %u is in \"first\" and not in \"second\"", slot);
        return 0;
    }
    memcpy(&generation, sum.data, 8);
    memcpy(&hash, (const uint8_t *)sum.data + 8, 8);
    if (first == 0 ? hash != 0 : first != generation)
        soak_fail(shared,
                  "slot %u: generation %" PRIu64 " in \"first\", %" PRIu64
                  " in \"second\": half of a batch",
                  slot, first, generation);
    return generation;
}

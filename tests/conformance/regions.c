/* regions.c -- see tests/conformance/regions.h. */
#include "tests/conformance/regions.h"

#include <stdlib.h>
#include <string.h>

#define MANY_CHANGES   4  /* tried before the first operation, and before each flush */
#define CHANGE_PERCENT 40 /* the chance that one is tried before another operation */
#define MERGE_PERCENT  40

/* ---- rows ---- */

/* One that the operation names; empty: none. */
static petal_slice
row_of(const struct recorded_operation *operation, struct test_random *random)
{
    if (operation->mutation_count > 0)
        return operation->mutations[test_random_below(random, operation->mutation_count)].row;
    if (operation->kind != OPERATION_SCAN)
        return operation->row;
    return test_random_chance(random, 50) ? operation->read.stop : operation->read.start;
}

/* One that the case names, or, in `bytes`, the next one after it; empty: it names none. */
static petal_slice
pick_row(const struct recorded_case *recorded, struct test_random *random,
         uint8_t bytes[PETAL_MAX_ROW_BYTES])
{
    size_t first = (size_t)test_random_below(random, recorded->step_count);
    petal_slice row = {"", 0};

    for (size_t i = 0; row.size == 0 && i < recorded->step_count; i++)
        row = row_of(&recorded->steps[(first + i) % recorded->step_count].operation, random);
    if (row.size == 0 || row.size >= PETAL_MAX_ROW_BYTES || test_random_chance(random, 75))
        return row;
    memcpy(bytes, row.data, row.size);
    bytes[row.size] = 0;
    return (petal_slice){bytes, row.size + 1};
}

/* ---- which may be changed ---- */

static bool
is_flush(const struct recorded_step *step)
{
    return step->operation.kind == OPERATION_FLUSH || step->operation.kind == OPERATION_REOPEN;
}

/* Is it a compaction whose inputs must be those of a table of one region? */
static bool
needs_one_region(const struct recorded_case *recorded, const struct recorded_step *step)
{
    bool needs = step->operation.kind == OPERATION_MINOR;

    for (size_t i = 0; step->operation.kind == OPERATION_COMPACT && i < recorded->family_count; i++)
        needs = needs || recorded->families[i].keep_deleted_cells > PETAL_KEEP_DELETED_FALSE;
    return needs;
}

/* Does such a compaction come before there is another flush, with which regions could be merged? */
static bool
one_region_comes(const struct recorded_case *recorded, size_t index)
{
    for (size_t i = index; i < recorded->step_count; i++) {
        if (i > index && is_flush(&recorded->steps[i]))
            return false;
        if (needs_one_region(recorded, &recorded->steps[i]))
            return true;
    }
    return false;
}

/* ---- what there is ---- */

struct place {
    uint32_t id;
    bool in_memory; /* something of it is */
};

/* The regions in the order of their rows, and the place of the one that has `row`. */
struct look {
    petal_slice row;
    struct place *places;
    size_t count, of_row;
};

static bool
note_region(void *argument, const petal_region_info *info)
{
    struct look *look = argument;

    look->places = test_reallocate(look->places, (look->count + 1) * sizeof *look->places);
    look->places[look->count] = (struct place){info->id, info->memtable_bytes > 0};
    if (look->count == 0 || slice_compare(look->row, info->start) >= 0)
        look->of_row = look->count;
    look->count++;
    return true;
}

/* ---- changes ---- */

static enum petal_status
split(struct region_changes *changes, petal_table *table, petal_slice row, petal_error *error)
{
    enum petal_status status = petal_table_split(table, row, 0, error);

    if (status == PETAL_INVALID) /* a region begins there, or no row can be as long */
        return PETAL_OK;
    changes->splits += status == PETAL_OK;
    if (changes->tell) {
        printf("(a region is split before row ");
        answer_print_string(row, stdout);
        printf(")\n");
    }
    return status;
}

/* Two neighbours. */
static enum petal_status
merge(struct region_changes *changes, petal_table *table, const struct place *places,
      petal_error *error)
{
    changes->merges++;
    if (changes->tell)
        printf("(regions %u and %u are merged)\n", places[0].id, places[1].id);
    return petal_table_merge(table, places[0].id, places[1].id, error);
}

/* One change, if it may be: everything may when the case flushes next. */
static enum petal_status
change(struct region_changes *changes, petal_table *table, const struct recorded_case *recorded,
       bool flushes, petal_error *error)
{
    struct test_random *random = &changes->random;
    uint8_t bytes[PETAL_MAX_ROW_BYTES];
    struct look look = {.row = pick_row(recorded, random, bytes)};
    bool merges = test_random_chance(random, MERGE_PERCENT);
    enum petal_status status = petal_table_regions(table, note_region, &look, error);

    if (status == PETAL_OK && merges && look.count > 1) {
        const struct place *places = &look.places[test_random_below(random, look.count - 1)];

        if (flushes || (!places[0].in_memory && !places[1].in_memory))
            status = merge(changes, table, places, error);
    } else if (status == PETAL_OK && !merges && look.row.size > 0) {
        if (flushes || !look.places[look.of_row].in_memory)
            status = split(changes, table, look.row, error);
    }
    free(look.places);
    return status;
}

static enum petal_status
merge_all(struct region_changes *changes, petal_table *table, petal_error *error)
{
    struct look look = {.row = {"", 0}};
    enum petal_status status = petal_table_regions(table, note_region, &look, error);

    for (size_t i = look.count; status == PETAL_OK && i > 1; i--)
        status = merge(changes, table, &look.places[i - 2], error);
    free(look.places);
    return status;
}

static void
begin_case(struct region_changes *changes, const struct recorded_case *recorded)
{
    uint64_t seed = changes->seed;

    for (size_t i = 0; i < recorded->name.size; i++)
        seed = seed * 31 + ((const uint8_t *)recorded->name.data)[i];
    test_random_init(&changes->random, seed);
}

enum petal_status
region_changes_make(struct region_changes *changes, struct store *store,
                    const struct recorded_case *recorded, size_t index, petal_error *error)
{
    bool flushes = is_flush(&recorded->steps[index]), one = one_region_comes(recorded, index);
    size_t count = MANY_CHANGES;
    enum petal_status status = PETAL_OK;

    if (index == 0)
        begin_case(changes, recorded);
    else if (!flushes)
        count = test_random_chance(&changes->random, CHANGE_PERCENT);
    if (store->table == NULL || (one && !flushes))
        return PETAL_OK;
    for (size_t i = 0; status == PETAL_OK && i < count; i++)
        status = change(changes, store->table, recorded, flushes, error);
    return status == PETAL_OK && one ? merge_all(changes, store->table, error) : status;
}

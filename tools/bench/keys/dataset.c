/* dataset.c -- see tools/bench/keys/dataset.h. */
#include "tools/bench/keys/dataset.h"

#include "tools/bench/harness/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DATA_TABLE  "bench_cells"
#define NOTES_TABLE "bench_notes"
#define SIZES_ROW   "sizes"
#define BLOCK_BYTES 4096 /* as petal_kv_open has it */

/* ---- passes ---- */

uint64_t
bench_pass_number(const struct bench_pass *pass, uint64_t position)
{
    struct bench_permutation permutation;

    if (!pass->random_order)
        return pass->first + position;
    bench_permutation_init(&permutation, pass->range, pass->seed + pass->index);
    return pass->first + bench_permutation_at(&permutation, position);
}

static bool
pass_wrote(const struct bench_pass *pass, uint64_t number)
{
    struct bench_permutation permutation;

    if (number < pass->first || number - pass->first >= pass->range)
        return false;
    if (pass->cells == pass->range)
        return true;
    if (!pass->random_order)
        return number - pass->first < pass->cells;
    bench_permutation_init(&permutation, pass->range, pass->seed + pass->index);
    return bench_permutation_find(&permutation, number - pass->first) < pass->cells;
}

bool
bench_pass_deletes(const struct bench_pass *pass, uint64_t number)
{
    uint64_t chance = bench_scramble(bench_scramble(number) ^ ~(pass->seed + pass->index));

    return (double)(chance >> 11) * 0x1p-53 < pass->delete_share;
}

/* ---- what is written down ---- */

static void
put_note(struct bench_dataset *dataset, const char *row, const char *text)
{
    petal_error error;

    bench_check(petal_put(petal_table_family_at(dataset->notes, 0), bench_text(row),
                          (petal_slice){NULL, 0}, PETAL_LATEST, bench_text(text), NULL, &error),
                &error, "write down what is filled in");
}

/* False: there is no such note. */
static bool
get_note(struct bench_dataset *dataset, petal_db *db, const char *row, char *text, size_t bytes)
{
    petal_result *result;
    petal_error error;
    size_t size = 0;
    bool found;

    bench_check(petal_result_new(db, &result, &error), &error, "make a result");
    bench_check(petal_get(dataset->notes, bench_text(row), NULL, result, &error), &error,
                "read what was filled in");
    found = petal_result_count(result) == 1;
    if (found) {
        petal_slice value = petal_result_cell(result, 0)->value;

        size = value.size < bytes ? value.size : bytes - 1;
        memcpy(text, value.data, size);
    }
    text[size] = '\0';
    petal_result_free(result);
    return found;
}

static void
add_pass(struct bench_dataset *dataset, const struct bench_pass *pass)
{
    struct bench_pass *passes;

    if (pass->index == dataset->pass_count) {
        passes = realloc(dataset->passes, (dataset->pass_count + 1) * sizeof *passes);
        if (passes == NULL)
            bench_fail("go on", "out of memory");
        dataset->passes = passes;
        dataset->pass_count++;
    }
    dataset->passes[pass->index] = *pass;
    if (pass->first + pass->range > dataset->count)
        dataset->count = pass->first + pass->range;
}

void
bench_dataset_record(struct bench_dataset *dataset, const struct bench_pass *pass)
{
    char row[40], text[256];

    snprintf(row, sizeof row, "pass-%06" PRIu64, pass->index);
    snprintf(text, sizeof text,
             "first=%" PRIu64 " range=%" PRIu64 " cells=%" PRIu64 " seed=%" PRIu64
             " delete_share=%.17g random=%d overwrite=%d complete=%d",
             pass->first, pass->range, pass->cells, pass->seed, pass->delete_share,
             pass->random_order, pass->overwrite, pass->complete);
    put_note(dataset, row, text);
    add_pass(dataset, pass);
}

static void
load_passes(struct bench_dataset *dataset, petal_db *db)
{
    char row[40], text[256];
    struct bench_pass pass;
    int random_order, overwrite, complete;

    for (pass = (struct bench_pass){0};; pass.index++) {
        snprintf(row, sizeof row, "pass-%06" PRIu64, pass.index);
        if (!get_note(dataset, db, row, text, sizeof text))
            return;
        if (sscanf(text,
                   "first=%" SCNu64 " range=%" SCNu64 " cells=%" SCNu64 " seed=%" SCNu64
                   " delete_share=%lg random=%d overwrite=%d complete=%d",
                   &pass.first, &pass.range, &pass.cells, &pass.seed, &pass.delete_share,
                   &random_order, &overwrite, &complete) != 8 ||
            pass.range == 0 || pass.cells > pass.range)
            bench_fail("understand what was filled in", text);
        pass.random_order = random_order != 0;
        pass.overwrite = overwrite != 0;
        pass.complete = complete != 0;
        add_pass(dataset, &pass);
    }
}

/* ---- data sets ---- */

static bool
open_tables(struct bench_dataset *dataset, petal_db *db)
{
    petal_error error;
    enum petal_status status =
        petal_table_open(db, bench_text(NOTES_TABLE), &dataset->notes, &error);

    if (status == PETAL_NOT_FOUND)
        return false;
    bench_check(status, &error, "open the table of notes");
    bench_check(petal_table_open(db, bench_text(DATA_TABLE), &dataset->table, &error), &error,
                "open the table");
    return true;
}

/* The data first: where there are notes, there is data. */
static void
make_tables(struct bench_dataset *dataset, petal_db *db)
{
    petal_family_options families[BENCH_MOST_FAMILIES];
    char names[BENCH_MOST_FAMILIES][8], text[128];
    petal_table_options options = {.name = bench_text(DATA_TABLE), .families = families};
    petal_error error;

    options.family_count = dataset->family_count;
    for (size_t i = 0; i < dataset->family_count; i++) {
        snprintf(names[i], sizeof names[i], "v%zu", i);
        families[i] =
            (petal_family_options){.name = bench_text(names[i]), .block_bytes = BLOCK_BYTES};
    }
    if (petal_table_open(db, options.name, &dataset->table, NULL) != PETAL_OK)
        bench_check(petal_table_create(db, &options, &dataset->table, &error), &error,
                    "make the table");
    options = (petal_table_options){
        .name = bench_text(NOTES_TABLE), .families = families, .family_count = 1};
    bench_check(petal_table_create(db, &options, &dataset->notes, &error), &error,
                "make the table of notes");
    snprintf(text, sizeof text, "key_bytes=%zu value_bytes=%zu seed=%" PRIu64, dataset->key_bytes,
             dataset->value_bytes, dataset->seed);
    put_note(dataset, SIZES_ROW, text);
}

static void
load(struct bench_dataset *dataset, petal_db *db)
{
    char text[256];

    if (!get_note(dataset, db, SIZES_ROW, text, sizeof text) ||
        sscanf(text, "key_bytes=%zu value_bytes=%zu seed=%" SCNu64, &dataset->key_bytes,
               &dataset->value_bytes, &dataset->seed) != 3)
        bench_fail("understand what was filled in", text);
    load_passes(dataset, db);
}

static void
find_families(struct bench_dataset *dataset)
{
    dataset->family_count = petal_table_family_count(dataset->table);
    if (dataset->family_count > BENCH_MOST_FAMILIES)
        bench_fail("use the table", "it has too many families");
    /* By name; numbers of two digits do not sort as numbers, which does not matter: the order is
     * the same each time. */
    for (size_t i = 0; i < dataset->family_count; i++)
        dataset->families[i] = petal_table_family_at(dataset->table, i);
}

void
bench_dataset_load(struct bench_dataset *dataset, petal_db *db)
{
    *dataset = (struct bench_dataset){0};
    if (!open_tables(dataset, db))
        bench_fail("read", "no data set there; `kv-bench fill` makes one");
    load(dataset, db);
    find_families(dataset);
}

void
bench_dataset_load_or_make(struct bench_dataset *dataset, petal_db *db)
{
    if (open_tables(dataset, db))
        load(dataset, db);
    else
        make_tables(dataset, db);
    find_families(dataset);
}

void
bench_dataset_free(struct bench_dataset *dataset)
{
    free(dataset->passes);
    *dataset = (struct bench_dataset){0};
}

/* ---- cells ---- */

void
bench_dataset_key(const struct bench_dataset *dataset, uint64_t number, bool absent, char *key)
{
    bench_decimal_key(key, dataset->key_bytes, 2 * number + (absent ? 1 : 0));
}

petal_family *
bench_dataset_family(const struct bench_dataset *dataset, uint64_t number)
{
    return dataset->families[number % dataset->family_count];
}

void
bench_dataset_value(const struct bench_dataset *dataset, const struct bench_pass *pass,
                    uint64_t number, uint8_t *value)
{
    bench_value(value, dataset->value_bytes,
                bench_scramble(number ^ dataset->seed) + (pass->index << 32));
}

bool
bench_dataset_is_right(const struct bench_dataset *dataset, uint64_t number, bool found,
                       petal_slice value, uint8_t *scratch)
{
    for (size_t i = dataset->pass_count; i > 0; i--) {
        const struct bench_pass *pass = &dataset->passes[i - 1];
        bool deletes;

        if (!pass_wrote(pass, number))
            continue;
        deletes = bench_pass_deletes(pass, number);
        if (deletes && !found)
            return true;
        if (found && (!deletes || !pass->complete)) {
            bench_dataset_value(dataset, pass, number, scratch);
            if (value.size == dataset->value_bytes &&
                (value.size == 0 || memcmp(value.data, scratch, value.size) == 0))
                return true;
        }
        if (pass->complete)
            return false;
    }
    return !found;
}

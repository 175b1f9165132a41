/* world.c -- see tests/crash/world.h. */
#include "tests/crash/world.h"

#include "base/slice.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

petal_slice
world_table_name(unsigned table)
{
    static const char *const names[WORLD_TABLES] = {"left", "right", "third", "clone", "loose"};

    return slice_from_text(names[table]);
}

petal_slice
world_family_name(unsigned family)
{
    static const char *const names[WORLD_FAMILIES] = {"f", "g", "h"};

    return slice_from_text(names[family]);
}

petal_slice
world_row_name(unsigned row)
{
    static const char *const names[WORLD_ROWS] = {"row 0", "row 1", "row 2", "row 3"};

    return slice_from_text(names[row]);
}

petal_slice
world_qualifier_name(unsigned qualifier)
{
    static const char *const names[WORLD_QUALIFIERS] = {"a", "b", "sum"};

    return slice_from_text(names[qualifier]);
}

petal_slice
world_snapshot_name(unsigned snapshot)
{
    static const char *const names[WORLD_SNAPSHOTS] = {"one", "two", "brief"};

    return slice_from_text(names[snapshot]);
}

/* Which of `count` names it is; `count` if none. */
static unsigned
index_of(petal_slice (*name_at)(unsigned), unsigned count, petal_slice name)
{
    unsigned index = 0;

    while (index < count && !slice_equal(name_at(index), name))
        index++;
    return index;
}

/* ---- values ---- */

#define DIGITS 12 /* of the number, and as many of the size of the filler */

petal_slice
world_value(char *bytes, uint64_t number, unsigned family, unsigned slot, unsigned filler)
{
    int head = snprintf(bytes, 40, "%0*" PRIu64 "%0*u%u%02u", DIGITS, number, DIGITS, filler,
                        family, slot);
    uint64_t pattern = number * 0x9E3779B97F4A7C15u;

    /* Half of it can be compressed. */
    for (unsigned i = 0; i < filler; i++)
        bytes[head + (int)i] = (char)(i % 2 == 0 ? (uint64_t)'x' : pattern >> (i * 5 % 57));
    return slice_make(bytes, (size_t)head + filler);
}

static uint64_t
number_in(const char *digits)
{
    char text[DIGITS + 1] = {0};

    memcpy(text, digits, DIGITS);
    return strtoull(text, NULL, 10);
}

/* What a slot with this value holds; 0: no write can have put it there. */
static uint64_t
recognise(petal_slice value, unsigned family, unsigned slot)
{
    static _Thread_local char expected[WORLD_VALUE_BYTES];
    uint64_t number, filler;

    if (slot % WORLD_QUALIFIERS == WORLD_QUALIFIERS - 1) {
        const uint8_t *bytes = value.data;

        number = 0;
        for (size_t i = 0; value.size == 8 && i < 8; i++)
            number = number << 8 | bytes[i];
        return value.size == 8 ? WORLD_SUM | number : 0;
    }
    if (value.size < 2 * (size_t)DIGITS || value.size > WORLD_VALUE_BYTES)
        return 0;
    number = number_in(value.data);
    filler = number_in((const char *)value.data + DIGITS);
    if (filler > WORLD_MOST_FILLER ||
        !slice_equal(value, world_value(expected, number, family, slot, (unsigned)filler)))
        return 0;
    return number;
}

/* ---- reading ---- */

struct reading {
    petal_db *db;
    petal_result *result;
    bool by_gets, wrong;
    struct world *world;
    enum petal_status status;
    petal_error *error;
};

static void
note_cell(struct world_table *table, const petal_cell *cell, bool *wrong)
{
    unsigned family = index_of(world_family_name, WORLD_FAMILIES, cell->family);
    unsigned row = index_of(world_row_name, WORLD_ROWS, cell->row);
    unsigned qualifier = index_of(world_qualifier_name, WORLD_QUALIFIERS, cell->qualifier);
    unsigned slot = row * WORLD_QUALIFIERS + qualifier;
    uint64_t held = 0;

    if (family < WORLD_FAMILIES && row < WORLD_ROWS && qualifier < WORLD_QUALIFIERS)
        held = recognise(cell->value, family, slot);
    if (held == 0 || table->families[family].slots[slot] != 0) {
        print_error("a cell that no write put there, or twice: %.*s/%.*s:%.*s of %zu bytes\n",
                    (int)cell->row.size, (const char *)cell->row.data, (int)cell->family.size,
                    (const char *)cell->family.data, (int)cell->qualifier.size,
                    (const char *)cell->qualifier.data, cell->value.size);
        *wrong = true;
        return;
    }
    table->families[family].slots[slot] = held;
}

static uint64_t
mix(uint64_t hash, petal_slice bytes)
{
    const uint8_t *at = bytes.data;

    for (size_t i = 0; i < bytes.size; i++)
        hash = (hash ^ at[i]) * 0x100000001B3u;
    return (hash ^ bytes.size) * 0x9E3779B97F4A7C15u;
}

static uint64_t
hash_cell(uint64_t hash, const petal_cell *cell)
{
    hash = mix(mix(hash, cell->row), cell->family);
    hash = mix(mix(hash, cell->qualifier), cell->value);
    return hash * 31 + (uint64_t)cell->timestamp;
}

/* By a scan; of a foreign table, `content` NULL, into *hash. */
static enum petal_status
scan_table(petal_table *table, struct world_table *content, uint64_t *hash, bool *wrong,
           petal_error *error)
{
    const petal_cell *cells;
    petal_cursor *cursor;
    size_t count = 1;
    enum petal_status status = petal_cursor_open(table, NULL, &cursor, error);

    while (status == PETAL_OK && count > 0) {
        status = petal_cursor_next_many(cursor, SIZE_MAX, &cells, &count, error);
        for (size_t i = 0; status == PETAL_OK && i < count; i++) {
            if (content != NULL)
                note_cell(content, &cells[i], wrong);
            else
                *hash = hash_cell(*hash, &cells[i]);
        }
    }
    petal_cursor_close(cursor);
    return status;
}

static enum petal_status
get_table(struct reading *reading, petal_table *table, struct world_table *content)
{
    enum petal_status status = PETAL_OK;

    if (reading->result == NULL)
        status = petal_result_new(reading->db, &reading->result, reading->error);
    for (unsigned row = 0; status == PETAL_OK && row < WORLD_ROWS; row++) {
        status = petal_get(table, world_row_name(row), NULL, reading->result, reading->error);
        for (size_t i = 0; status == PETAL_OK && i < petal_result_count(reading->result); i++)
            note_cell(content, petal_result_cell(reading->result, i), &reading->wrong);
    }
    return status;
}

/* The digit of the metadata "shape", WORLD_SHAPES for none. */
static uint64_t
shape_of(const petal_attribute *attributes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const petal_attribute *attribute = &attributes[i];

        if (attribute->kind == PETAL_METADATA && attribute->value.size > 0 &&
            slice_equal(attribute->name, slice_from_text("shape")))
            return (uint64_t)(*(const char *)attribute->value.data - '0');
    }
    return WORLD_SHAPES;
}

static void
read_shapes(petal_table *table, struct world_table *content)
{
    petal_table_options options = PETAL_DEFAULTS;

    petal_table_describe(table, &options);
    content->there = 1;
    content->shape = shape_of(options.attributes, options.attribute_count);
    for (size_t i = 0; i < options.family_count; i++) {
        const petal_family_options *family = &options.families[i];
        unsigned index = index_of(world_family_name, WORLD_FAMILIES, family->name);

        if (index == WORLD_FAMILIES) {
            content->there = 2; /* differs from any that was made */
            continue;
        }
        content->families[index].there = 1;
        content->families[index].shape = shape_of(family->attributes, family->attribute_count);
    }
}

static bool
read_table(void *argument, petal_table *table)
{
    struct reading *reading = argument;
    petal_slice name = petal_table_name(table);
    unsigned index = index_of(world_table_name, WORLD_TABLES, name);
    uint64_t hash = mix(1, name);

    if (index == WORLD_TABLES) {
        reading->status = scan_table(table, NULL, &hash, &reading->wrong, reading->error);
        reading->world->foreign += hash;
    } else {
        struct world_table *content = &reading->world->tables[index];

        read_shapes(table, content);
        reading->status = reading->by_gets
                              ? get_table(reading, table, content)
                              : scan_table(table, content, NULL, &reading->wrong, reading->error);
    }
    return reading->status == PETAL_OK;
}

static bool
read_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    struct reading *reading = argument;
    unsigned index = index_of(world_snapshot_name, WORLD_SNAPSHOTS, info->name);

    if (index == WORLD_SNAPSHOTS) {
        reading->world->foreign = mix(reading->world->foreign, info->name);
        return true;
    }
    reading->world->snapshots[index].there = 1;
    reading->world->snapshots[index].table = index_of(world_table_name, WORLD_TABLES, info->table);
    return true;
}

enum petal_status
world_read(petal_db *db, bool by_gets, struct world *world, bool *wrong, petal_error *error)
{
    struct reading reading = {.db = db, .by_gets = by_gets, .world = world, .error = error};
    enum petal_status status;

    memset(world, 0, sizeof *world);
    status = petal_table_list(db, read_table, &reading, error);
    if (status == PETAL_OK)
        status = reading.status;
    if (status == PETAL_OK)
        status = petal_table_snapshot_list(db, read_snapshot, &reading, error);
    petal_result_free(reading.result);
    *wrong = reading.wrong;
    return status;
}

enum petal_status
world_read_snapshot(petal_db *db, unsigned snapshot, struct world_table *content, bool *wrong,
                    petal_error *error)
{
    petal_table *table;
    enum petal_status status = petal_table_snapshot_clone(db, world_snapshot_name(snapshot),
                                                          slice_from_text("probe"), &table, error);

    memset(content, 0, sizeof *content);
    *wrong = false;
    if (status != PETAL_OK)
        return status;
    read_shapes(table, content);
    status = scan_table(table, content, NULL, wrong, error);
    if (status == PETAL_OK)
        status = petal_table_drop(table, error);
    return status;
}

/* ---- comparing ---- */

bool
world_table_equal(const struct world_table *a, const struct world_table *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

bool
world_equal(const struct world *a, const struct world *b)
{
    if (a->foreign != b->foreign || a->tables[WORLD_LOOSE].there != b->tables[WORLD_LOOSE].there)
        return false;
    for (unsigned i = 0; i < WORLD_SNAPSHOTS; i++) {
        if (a->snapshots[i].there != b->snapshots[i].there ||
            (a->snapshots[i].there && a->snapshots[i].table != b->snapshots[i].table))
            return false;
    }
    return memcmp(a->tables, b->tables, WORLD_LOOSE * sizeof *a->tables) == 0;
}

static void
print_family_differences(unsigned table, unsigned family, const struct world_family *found,
                         const struct world_family *expected)
{
    if (found->there != expected->there || found->shape != expected->shape)
        print_error("table %u family %u: there %" PRIu64 ", not %" PRIu64 "; shape %" PRIu64
                    ", not %" PRIu64 "\n",
                    table, family, found->there, expected->there, found->shape, expected->shape);
    for (unsigned slot = 0; slot < WORLD_SLOTS; slot++) {
        if (found->slots[slot] != expected->slots[slot])
            print_error("table %u family %u slot %u holds %" PRIu64 ", not %" PRIu64 "\n", table,
                        family, slot, found->slots[slot], expected->slots[slot]);
    }
}

void
world_print_differences(const struct world *found, const struct world *expected)
{
    for (unsigned t = 0; t < WORLD_TABLES; t++) {
        const struct world_table *a = &found->tables[t], *b = &expected->tables[t];

        if (a->there != b->there || a->shape != b->shape)
            print_error("table %u: there %" PRIu64 ", not %" PRIu64 "; shape %" PRIu64
                        ", not %" PRIu64 "\n",
                        t, a->there, b->there, a->shape, b->shape);
        for (unsigned f = 0; t != WORLD_LOOSE && f < WORLD_FAMILIES; f++)
            print_family_differences(t, f, &a->families[f], &b->families[f]);
    }
    for (unsigned s = 0; s < WORLD_SNAPSHOTS; s++) {
        if (found->snapshots[s].there != expected->snapshots[s].there ||
            found->snapshots[s].table != expected->snapshots[s].table)
            print_error("snapshot %u: there %" PRIu64 ", not %" PRIu64 "\n", s,
                        found->snapshots[s].there, expected->snapshots[s].there);
    }
    if (found->foreign != expected->foreign)
        print_error("other tables differ\n");
}

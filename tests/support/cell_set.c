/* cell_set.c -- see cell_set.h. */
#include "tests/support/cell_set.h"

#include <stdio.h>
#include <stdlib.h>

void
cell_set_add(struct cell_set *set, petal_slice row, petal_slice qualifier, petal_slice value,
             int64_t timestamp, uint64_t sequence, enum petal_cell_type type)
{
    uint8_t *copy = test_allocate(row.size + qualifier.size + value.size);
    struct cell *cell;

    if (set->memory_count == set->capacity) {
        set->capacity = set->capacity * 2 + 16;
        set->cells = test_reallocate(set->cells, set->capacity * sizeof *set->cells);
        set->memory = test_reallocate(set->memory, set->capacity * sizeof *set->memory);
    }
    if (cell_is_family_marker(type))
        qualifier.size = 0;
    if (cell_is_marker(type))
        value.size = 0;
    memcpy(copy, row.data, row.size);
    if (qualifier.size > 0)
        memcpy(copy + row.size, qualifier.data, qualifier.size);
    if (value.size > 0)
        memcpy(copy + row.size + qualifier.size, value.data, value.size);
    set->memory[set->memory_count++] = copy;
    cell = &set->cells[set->count++];
    *cell = (struct cell){.row = slice_make(copy, row.size),
                          .qualifier = slice_make(copy + row.size, qualifier.size),
                          .value = slice_make(copy + row.size + qualifier.size, value.size),
                          .timestamp = timestamp,
                          .sequence = sequence,
                          .type = type};
}

void
cell_set_give_ttl(struct cell_set *set, int64_t ttl_ms)
{
    struct cell *cell = &set->cells[set->count - 1];

    cell->has_ttl = true;
    cell->ttl_ms = ttl_ms;
}

void
cell_set_add_text(struct cell_set *set, const char *row, const char *qualifier, const char *value,
                  int64_t timestamp, uint64_t sequence, enum petal_cell_type type)
{
    cell_set_add(set, slice_from_text(row), slice_from_text(qualifier), slice_from_text(value),
                 timestamp, sequence, type);
}

void
cell_set_free(struct cell_set *set)
{
    for (size_t i = 0; i < set->memory_count; i++)
        free(set->memory[i]);
    free(set->memory);
    free(set->cells);
    *set = (struct cell_set){0};
}

static int
compare_cells(const void *a, const void *b)
{
    return cell_compare(a, b);
}

void
cell_set_sort(struct cell_set *set)
{
    size_t kept = 0;

    qsort(set->cells, set->count, sizeof *set->cells, compare_cells);
    for (size_t i = 0; i < set->count; i++)
        if (kept == 0 || cell_compare(&set->cells[kept - 1], &set->cells[i]) != 0)
            set->cells[kept++] = set->cells[i];
    set->count = kept;
}

static const enum petal_cell_type all_types[] = {
    PETAL_PUT, PETAL_DELETE, PETAL_DELETE_FAMILY_VERSION, PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY};

static petal_slice
random_key(struct test_random *random, const struct cell_look *look, const char *prefix,
           unsigned number, unsigned bytes, uint8_t *buffer)
{
    static const uint8_t hostile[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    size_t size = strlen(prefix);
    struct test_random own;

    /* The same number gives the same key. */
    test_random_init(&own, number);
    memcpy(buffer, prefix, size);
    if (look->hostile_bytes) {
        size_t more = test_random_below(&own, bytes + 1);

        for (size_t i = 0; i < more; i++)
            buffer[size++] = hostile[test_random_below(&own, sizeof hostile)];
    } else if (bytes > 0) {
        size += (size_t)snprintf((char *)buffer + size, bytes + 1, "%0*u", (int)bytes, number);
    }
    if (test_random_chance(random, 1) && size > 1)
        size--;
    return slice_make(buffer, size);
}

void
cell_set_random(struct cell_set *set, struct test_random *random, const struct cell_look *look)
{
    static const int64_t extreme_times[] = {INT64_MIN, INT64_MIN + 1, -1,       0,
                                            1,         INT64_MAX - 1, INT64_MAX};
    static const int64_t ttls[] = {INT64_MIN, -1, 0, 1, 60000, INT64_MAX};
    static const uint64_t extreme_sequences[] = {0, 1, UINT64_MAX >> 1, (UINT64_MAX >> 1) + 1,
                                                 UINT64_MAX};
    uint8_t row[512], qualifier[512], value[512];

    *set = (struct cell_set){0};
    for (unsigned i = 0; i < look->cells; i++) {
        petal_slice r =
            random_key(random, look, look->row_prefix,
                       (unsigned)test_random_below(random, look->rows), look->row_bytes, row);
        petal_slice q = random_key(random, look, look->qualifier_prefix,
                                   (unsigned)test_random_below(random, look->qualifiers),
                                   look->qualifier_bytes, qualifier);
        int64_t timestamp =
            1700000000000 + (int64_t)test_random_below(random, look->equal_timestamps ? 2 : 70000);
        uint64_t sequence = 5000 + test_random_below(random, 1000);
        enum petal_cell_type type = PETAL_PUT;

        if (look->extreme_versions) {
            timestamp = extreme_times[test_random_below(random, 7)];
            sequence = extreme_sequences[test_random_below(random, 5)];
        }
        if (test_random_chance(random, look->markers))
            type = all_types[test_random_below(random, 5)];
        if (r.size == 0)
            r = slice_from_text("r");
        test_random_bytes(random, value, sizeof value);
        cell_set_add(set, r, q, slice_make(value, test_random_below(random, look->value_bytes + 1)),
                     timestamp, sequence, type);
        if (look->ttls > 0 && test_random_chance(random, look->ttls))
            cell_set_give_ttl(set, ttls[test_random_below(random, 6)]);
    }
    if (look->stranger)
        cell_set_add_text(set, "\x01", "\x01", "", 1, 1, PETAL_PUT);
    cell_set_sort(set);
}

#define LONG_PREFIX "sixty-four bytes of a prefix that all the keys of a block do share."

/* clang-format off */
const struct cell_look cell_looks[CELL_LOOKS] = {
    /* key and value */
    {.cells = 60, .rows = 100000, .qualifiers = 1, .row_bytes = 12, .value_bytes = 100,
     .row_prefix = "user", .qualifier_prefix = ""},
    /* one long qualifier */
    {.cells = 60, .rows = 100000, .qualifiers = 1, .row_bytes = 12, .value_bytes = 20,
     .row_prefix = "user", .qualifier_prefix = "the only qualifier there is"},
    /* a table */
    {.cells = 150, .rows = 20, .qualifiers = 10, .row_bytes = 6, .qualifier_bytes = 3,
     .value_bytes = 30, .row_prefix = "customer/", .qualifier_prefix = "column_"},
    /* a wide row */
    {.cells = 400, .rows = 1, .qualifiers = 300, .row_bytes = 6, .qualifier_bytes = 9,
     .value_bytes = 5, .row_prefix = "", .qualifier_prefix = "q"},
    /* wide rows */
    {.cells = 300, .rows = 5, .qualifiers = 200, .row_bytes = 9, .qualifier_bytes = 12,
     .value_bytes = 5, .row_prefix = "row", .qualifier_prefix = "", .markers = 20},
    /* equal row heads */
    {.cells = 200, .rows = 100000, .qualifiers = 1, .row_bytes = 9, .value_bytes = 5,
     .row_prefix = "user", .qualifier_prefix = "", .stranger = true},
    /* equal qualifier heads */
    {.cells = 300, .rows = 2, .qualifiers = 200, .row_bytes = 9, .qualifier_bytes = 9,
     .value_bytes = 5, .row_prefix = "user", .qualifier_prefix = "column", .stranger = true,
     .markers = 10},
    /* many versions */
    {.cells = 200, .rows = 2, .qualifiers = 2, .row_bytes = 3, .qualifier_bytes = 1,
     .value_bytes = 8, .row_prefix = "", .qualifier_prefix = "", .equal_timestamps = true},
    /* hostile bytes */
    {.cells = 200, .rows = 100, .qualifiers = 30, .row_bytes = 7, .qualifier_bytes = 7,
     .value_bytes = 8, .row_prefix = "", .qualifier_prefix = "", .hostile_bytes = true},
    /* hostile bytes, markers */
    {.cells = 200, .rows = 30, .qualifiers = 10, .row_bytes = 9, .qualifier_bytes = 6,
     .value_bytes = 8, .row_prefix = "\xff\xfe", .qualifier_prefix = "\x80", .hostile_bytes = true,
     .equal_timestamps = true, .markers = 50},
    /* extreme versions */
    {.cells = 100, .rows = 5, .qualifiers = 3, .row_bytes = 3, .qualifier_bytes = 2,
     .value_bytes = 8, .row_prefix = "r", .qualifier_prefix = "q", .extreme_versions = true,
     .markers = 30},
    /* markers only */
    {.cells = 50, .rows = 20, .qualifiers = 3, .row_bytes = 3, .qualifier_bytes = 2,
     .row_prefix = "r", .qualifier_prefix = "q", .markers = 100},
    /* lengths around 128 */
    {.cells = 100, .rows = 200, .qualifiers = 20, .row_bytes = 135, .qualifier_bytes = 135,
     .value_bytes = 8, .row_prefix = "", .qualifier_prefix = "", .hostile_bytes = true},
    /* key and value with markers */
    {.cells = 100, .rows = 50, .qualifiers = 1, .row_bytes = 4, .value_bytes = 9,
     .row_prefix = "user", .qualifier_prefix = "", .markers = 40},
    /* heads that are all FF */
    {.cells = 200, .rows = 1000, .qualifiers = 1000, .row_bytes = 4, .qualifier_bytes = 4,
     .row_prefix = "\xff\xff\xff\xff", .qualifier_prefix = "\xff\xff\xff\xff", .stranger = true},
    /* wide rows, heads that are all FF */
    {.cells = 200, .rows = 2, .qualifiers = 1000, .row_bytes = 1, .qualifier_bytes = 4,
     .row_prefix = "\xff\xff\xff\xff", .qualifier_prefix = "\xff\xff\xff\xff", .stranger = true},
    /* rests around 16 bytes */
    {.cells = 100, .rows = 90, .qualifiers = 20, .row_bytes = 20, .qualifier_bytes = 20,
     .row_prefix = "k", .qualifier_prefix = "c", .hostile_bytes = true},
    /* long prefixes and short rests */
    {.cells = 100, .rows = 90, .qualifiers = 20, .row_bytes = 3, .qualifier_bytes = 3,
     .row_prefix = LONG_PREFIX LONG_PREFIX, .qualifier_prefix = LONG_PREFIX, .hostile_bytes = true},
    /* one cell */
    {.cells = 1, .rows = 9, .qualifiers = 9, .row_bytes = 3, .qualifier_bytes = 3,
     .value_bytes = 9, .row_prefix = "r", .qualifier_prefix = "q"},
    /* two cells */
    {.cells = 2, .rows = 2, .qualifiers = 2, .row_bytes = 2, .qualifier_bytes = 2,
     .value_bytes = 3, .row_prefix = "", .qualifier_prefix = "", .hostile_bytes = true,
     .markers = 30},
    /* key and value with times to live */
    {.cells = 100, .rows = 100000, .qualifiers = 1, .row_bytes = 12, .value_bytes = 20,
     .row_prefix = "user", .qualifier_prefix = "", .ttls = 30},
    /* hostile bytes, markers, times to live */
    {.cells = 200, .rows = 30, .qualifiers = 10, .row_bytes = 9, .qualifier_bytes = 6,
     .value_bytes = 8, .row_prefix = "", .qualifier_prefix = "", .hostile_bytes = true,
     .markers = 50, .ttls = 50},
};
/* clang-format on */

struct cell_set
cell_set_small(unsigned which)
{
    struct cell_set set = {0};

    if (which == 0) {
        cell_set_add_text(&set, "user01", "", "one", 1000, 5, PETAL_PUT);
        cell_set_add_text(&set, "user02", "", "two", 1300, 4, PETAL_PUT);
        cell_set_add_text(&set, "user03", "", "", 1001, 9, PETAL_PUT);
    } else if (which == 1) {
        cell_set_add_text(&set, "a", "", "", 9, 3, PETAL_DELETE_FAMILY);
        cell_set_add_text(&set, "a", "qa", "x", 9, 4, PETAL_PUT);
        cell_set_add_text(&set, "a", "qb", "", 9, 8, PETAL_DELETE_COLUMN);
        cell_set_add_text(&set, "ab", "qbc", "yy", -9, 1, PETAL_PUT);
    } else if (which == 2) {
        for (unsigned i = 0; i < 12; i++) {
            char qualifier[8];

            snprintf(qualifier, sizeof qualifier, "q%03u", i * 7);
            cell_set_add_text(&set, "wide", qualifier, "v", 5, 100 + i,
                              i == 3 ? PETAL_DELETE : PETAL_PUT);
        }
    } else if (which == 3) {
        cell_set_add_text(&set, "r", "q", "v", INT64_MIN, UINT64_MAX, PETAL_PUT);
    } else if (which == 4) {
        cell_set_add_text(&set, "k", "", "", INT64_MAX, 3, PETAL_DELETE_FAMILY_VERSION);
        cell_set_add_text(&set, "k", "", "", INT64_MIN, 3, PETAL_DELETE_FAMILY);
        cell_set_add_text(&set, "k2", "", "", 0, 3, PETAL_DELETE_FAMILY);
    } else if (which == 5) { /* no record has bytes; the row reads as a type */
        cell_set_add_text(&set, "\x0e", "", "", 2, 3, PETAL_DELETE_FAMILY_VERSION);
        cell_set_add_text(&set, "\x0e", "", "", 1, 3, PETAL_DELETE_FAMILY);
    } else if (which == 6) {
        cell_set_add_text(&set, "versions", "q", "new", 7, 1, PETAL_PUT);
        cell_set_add_text(&set, "versions", "q", "old", 6, 3, PETAL_PUT);
        cell_set_add_text(&set, "versions", "q", "older", 5, 2, PETAL_PUT);
    } else if (which == 7) {
        cell_set_add_text(&set, LONG_PREFIX LONG_PREFIX, LONG_PREFIX "1", "v", 1, 1, PETAL_PUT);
        cell_set_add_text(&set, LONG_PREFIX LONG_PREFIX, LONG_PREFIX "23", "v", 1, 1, PETAL_PUT);
        cell_set_add_text(&set, LONG_PREFIX LONG_PREFIX LONG_PREFIX, LONG_PREFIX LONG_PREFIX, "v",
                          1, 1, PETAL_PUT);
    } else if (which == 8) {
        cell_set_add_text(&set, "user01", "", "one", 1000, 5, PETAL_PUT);
        cell_set_give_ttl(&set, 60000);
        cell_set_add_text(&set, "user02", "", "two", 1000, 4, PETAL_PUT);
        cell_set_add_text(&set, "user03", "", "", 1000, 9, PETAL_PUT);
        cell_set_give_ttl(&set, 0);
    } else {
        cell_set_add_text(&set, "a", "", "", 9, 3, PETAL_DELETE_FAMILY);
        cell_set_give_ttl(&set, -1);
        cell_set_add_text(&set, "a", "qa", "x", 9, 4, PETAL_PUT);
        cell_set_add_text(&set, "a", "qb", "", 9, 8, PETAL_DELETE_COLUMN);
        cell_set_give_ttl(&set, INT64_MAX);
        cell_set_add_text(&set, "ab", "qbc", "yy", 8, 1, PETAL_PUT);
        cell_set_give_ttl(&set, INT64_MIN);
    }
    cell_set_sort(&set);
    return set;
}

/*
 * read_test.c -- the cells of every golden file: scanned forward and backward, and sought, each
 * one, and places just before and after it, with what stands next to them.
 */
#include "tests/hfile/golden.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t files, refused, cells_read, seeks;

/* ---- what is expected: cells of a scan, copied ---- */

struct cells {
    petal_hfile_cell *cells;
    size_t count;
};

static petal_slice
copy(petal_slice bytes)
{
    uint8_t *copied = test_allocate(bytes.size);

    if (bytes.size > 0)
        memcpy(copied, bytes.data, bytes.size);
    return (petal_slice){copied, bytes.size};
}

static void
cells_add(struct cells *all, const petal_hfile_cell *cell)
{
    petal_hfile_cell *added;

    all->cells = test_reallocate(all->cells, (all->count + 1) * sizeof *all->cells);
    added = &all->cells[all->count++];
    *added = *cell;
    added->row = copy(cell->row);
    added->family = copy(cell->family);
    added->qualifier = copy(cell->qualifier);
    added->value = copy(cell->value);
    added->tags = copy(cell->tags);
}

static void
cells_free(struct cells *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free((void *)(uintptr_t)all->cells[i].row.data);
        free((void *)(uintptr_t)all->cells[i].family.data);
        free((void *)(uintptr_t)all->cells[i].qualifier.data);
        free((void *)(uintptr_t)all->cells[i].value.data);
        free((void *)(uintptr_t)all->cells[i].tags.data);
    }
    free(all->cells);
}

static bool
same_bytes(petal_slice a, petal_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static void
assert_cell(const petal_hfile_cell *cell, const struct cells *all, size_t number)
{
    const petal_hfile_cell *expected;

    if (number >= all->count) {
        assert_null(cell);
        return;
    }
    assert_non_null(cell);
    expected = &all->cells[number];
    assert_true(same_bytes(cell->row, expected->row));
    assert_true(same_bytes(cell->family, expected->family));
    assert_true(same_bytes(cell->qualifier, expected->qualifier));
    assert_true(same_bytes(cell->value, expected->value));
    assert_true(same_bytes(cell->tags, expected->tags));
    assert_int_equal(cell->timestamp, expected->timestamp);
    assert_int_equal(cell->type, expected->type);
    assert_int_equal(cell->sequence, expected->sequence);
}

/* The number of the first cell at or after the key. */
static size_t
place_of(const struct cells *all, const petal_hfile_cell *key)
{
    size_t number = 0;

    while (number < all->count && petal_hfile_compare(&all->cells[number], key) < 0)
        number++;
    return number;
}

/* ---- one file ---- */

static void
assert_line(const petal_hfile_cell *cell, const struct golden_line *line)
{
    char *text = golden_cell_line(cell), *at = text;

    for (size_t field = 0; field < line->count; field++) {
        size_t length = strcspn(at, "\t");

        if (length != strlen(line->fields[field]) || memcmp(at, line->fields[field], length) != 0) {
            print_error("field %zu of %s, not %s\n", field, text, line->fields[field]);
            fail();
        }
        at += length + (at[length] == '\t');
    }
    assert_int_equal(*at, '\0');
    free(text);
}

static struct cells
scan_forward(petal_hfile_scanner *scanner, const struct golden_text *text)
{
    struct cells all = {0};
    const petal_hfile_cell *cell;
    petal_error error;

    must(petal_hfile_scanner_first(scanner, &cell, &error), &error);
    while (cell != NULL) {
        assert_true(all.count < text->count);
        assert_line(cell, &text->lines[all.count]);
        cells_add(&all, cell);
        must(petal_hfile_scanner_next(scanner, &cell, &error), &error);
    }
    assert_int_equal(all.count, text->count);
    must(petal_hfile_scanner_next(scanner, &cell, &error), &error);
    assert_null(cell);
    return all;
}

static void
scan_backward(petal_hfile_scanner *scanner, const struct cells *all)
{
    const petal_hfile_cell *cell;
    size_t number = all->count;
    petal_error error;

    must(petal_hfile_scanner_last(scanner, &cell, &error), &error);
    while (cell != NULL) {
        assert_cell(cell, all, --number);
        must(petal_hfile_scanner_previous(scanner, &cell, &error), &error);
    }
    assert_int_equal(number, 0);
}

/* Sought, then two steps either way, over borders of blocks. */
static void
seek(petal_hfile_scanner *scanner, const struct cells *all, const petal_hfile_cell *key)
{
    size_t place = place_of(all, key);
    const petal_hfile_cell *cell;
    petal_error error;

    must(petal_hfile_scanner_seek(scanner, key, &cell, &error), &error);
    assert_cell(cell, all, place);
    seeks++;
    if (cell == NULL)
        return;
    must(petal_hfile_scanner_next(scanner, &cell, &error), &error);
    assert_cell(cell, all, place + 1);
    if (cell != NULL) {
        must(petal_hfile_scanner_previous(scanner, &cell, &error), &error);
        assert_cell(cell, all, place);
    } else {
        must(petal_hfile_scanner_seek(scanner, key, &cell, &error), &error);
    }
    must(petal_hfile_scanner_previous(scanner, &cell, &error), &error);
    assert_cell(cell, all, place == 0 ? all->count : place - 1);
    if (cell == NULL)
        return;
    must(petal_hfile_scanner_previous(scanner, &cell, &error), &error);
    assert_cell(cell, all, place == 1 ? all->count : place - 2);
}

/* Keys before and after one: in timestamp, type, qualifier, row. */
static void
seek_around(petal_hfile_scanner *scanner, const struct cells *all, const petal_hfile_cell *cell)
{
    petal_hfile_cell key = *cell;
    uint8_t *longer = test_allocate(cell->row.size + cell->qualifier.size + 1);

    seek(scanner, all, &key);
    key.type = cell->type + 1;
    seek(scanner, all, &key);
    key.type = cell->type - 1;
    seek(scanner, all, &key);
    key.type = cell->type;
    if (cell->timestamp < INT64_MAX) {
        key.timestamp = cell->timestamp + 1;
        seek(scanner, all, &key);
    }
    if (cell->timestamp > INT64_MIN) {
        key.timestamp = cell->timestamp - 1;
        seek(scanner, all, &key);
    }
    key.timestamp = cell->timestamp;
    if (cell->qualifier.size > 0)
        memcpy(longer, cell->qualifier.data, cell->qualifier.size);
    longer[cell->qualifier.size] = 0;
    key.qualifier = (petal_slice){longer, cell->qualifier.size + 1};
    seek(scanner, all, &key);
    key.qualifier = (petal_slice){NULL, 0};
    key.timestamp = INT64_MAX;
    key.type = PETAL_HFILE_TYPE_MAXIMUM;
    seek(scanner, all, &key);
    memcpy(longer, cell->row.data, cell->row.size);
    longer[cell->row.size] = 0;
    key.row = (petal_slice){longer, cell->row.size + 1};
    seek(scanner, all, &key);
    key.row.size -= 2;
    seek(scanner, all, &key);
    free(longer);
}

/* A key may lie in the cell where the scanner stands, though that goes with its block: beginnings
 * of the last cell's row, which other blocks have. */
static void
seek_by_own_cell(petal_hfile_scanner *scanner, const struct cells *all)
{
    const petal_hfile_cell *cell;
    petal_error error;

    for (size_t size = 0; all->count > 0 && size < 64; size++) {
        petal_hfile_cell key;
        size_t place;

        must(petal_hfile_scanner_last(scanner, &cell, &error), &error);
        if (size > cell->row.size)
            return;
        key = *cell;
        key.row.size = size;
        place = place_of(all, &key);
        must(petal_hfile_scanner_seek(scanner, &key, &cell, &error), &error);
        assert_cell(cell, all, place);
    }
}

static void
read_one(const char *name)
{
    struct golden_text text;
    petal_hfile_scanner *scanner;
    const petal_hfile_cell *cell;
    petal_hfile *file;
    petal_error error;
    struct cells all;
    char path[512];

    golden_path(name, path, sizeof path);
    if (golden_is_refused(name)) {
        refused++;
        return;
    }
    text = golden_text_read(name, "cells.txt");
    must(petal_hfile_open(path, NULL, &file, &error), &error);
    assert_int_equal(petal_hfile_info_get(file)->cells, text.count);
    must(petal_hfile_scanner_new(file, &scanner, &error), &error);
    must(petal_hfile_scanner_next(scanner, &cell, &error), &error);
    assert_null(cell);

    all = scan_forward(scanner, &text);
    scan_backward(scanner, &all);
    for (size_t i = 0; i < all.count; i++)
        seek_around(scanner, &all, &all.cells[i]);
    seek_by_own_cell(scanner, &all);
    must(petal_hfile_scanner_seek_row(scanner, (petal_slice){NULL, 0}, &cell, &error), &error);
    assert_cell(cell, &all, 0);
    files++;
    cells_read += all.count;
    cells_free(&all);
    petal_hfile_scanner_free(scanner);
    petal_hfile_close(file);
    golden_text_free(&text);
}

TEST(every_cell_is_read_and_found)
{
    golden_each(read_one);
    printf("counted: %zu files of HBase, %zu cells, %zu searches; %zu files are refused\n", files,
           cells_read, seeks, refused);
}

/* ---- what is refused ---- */

static void
assert_refused(const char *name, const char *word)
{
    const petal_hfile_read_options facts = {.facts_only = true};
    petal_hfile_scanner *scanner;
    petal_hfile *file;
    petal_error error;
    char path[512];

    golden_path(name, path, sizeof path);
    assert_int_equal(petal_hfile_open(path, NULL, &file, &error), PETAL_UNSUPPORTED);
    assert_null(file);
    assert_non_null(strstr(error.text, word));
    assert_non_null(strstr(error.text, name));
    must(petal_hfile_open(path, &facts, &file, &error), &error);
    assert_true(petal_hfile_info_get(file)->cells > 0);
    assert_int_equal(petal_hfile_scanner_new(file, &scanner, &error), PETAL_INVALID);
    petal_hfile_close(file);
}

TEST(what_cannot_be_read_is_named)
{
    assert_refused("refuse-index-prefix-tree", "PREFIX_TREE");
    assert_refused("refuse-meta-comparator", "MetaComparator");
}

TEST(names_say_what_files_are)
{
    static const struct {
        const char *path;
        enum petal_hfile_name_kind kind;
    } names[] = {{"a/cf/0123456789abcdef0123456789abcdef", PETAL_HFILE_NAME_STORE_FILE},
                 {"0123456789abcdef0123456789abcdef_SeqId_7_", PETAL_HFILE_NAME_STORE_FILE},
                 {"any.hfile", PETAL_HFILE_NAME_STORE_FILE},
                 {"cf/0123456789abcdef0123456789abcdef.00000000000000000000000000000001",
                  PETAL_HFILE_NAME_REFERENCE},
                 {"t=00000000000000000000000000000001-0123456789abcdef0123456789abcdef",
                  PETAL_HFILE_NAME_LINK},
                 {"t=00000000000000000000000000000001-0123456789abcdef0123456789abcdef."
                  "00000000000000000000000000000002",
                  PETAL_HFILE_NAME_LINK_REFERENCE},
                 {"d41d8cd98f00b204e9800998ecf8427e202611230123456789abcdef0123456789abcdef",
                  PETAL_HFILE_NAME_MOB},
                 {"", PETAL_HFILE_NAME_STORE_FILE}};
    petal_hfile *file;
    petal_error error;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(petal_hfile_name_kind_of(names[i].path), names[i].kind);
    assert_int_equal(petal_hfile_open(names[3].path, NULL, &file, &error), PETAL_UNSUPPORTED);
    assert_non_null(strstr(error.text, "reference"));
    assert_int_equal(petal_hfile_open(names[4].path, NULL, &file, &error), PETAL_UNSUPPORTED);
    assert_non_null(strstr(error.text, "link"));
    assert_int_equal(petal_hfile_open("there/is/none", NULL, &file, &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_hfile_open("tests", NULL, &file, &error), PETAL_INVALID);
}

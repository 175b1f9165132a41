/*
 * border_test.c -- before which row a region is split, by the rows and bytes of its files
 * (engine/region/border.h).
 */
#include "engine/region/border.h"

#include "base/slice.h"
#include "tests/support/test.h"

#include <stdio.h>

#define MOST 100

/* Files of one test; a row is a number. */
struct files {
    struct border_file files[MOST], ends[MOST];
    char rows[MOST][3][12];
    size_t count;
};

static petal_slice
row_of(char text[12], unsigned row)
{
    snprintf(text, 12, "%08u", row);
    return slice_from_text(text);
}

static void
add(struct files *files, unsigned first, unsigned last, uint64_t bytes)
{
    size_t i = files->count++;

    assert_true(i < MOST);
    files->files[i] =
        (struct border_file){.row_min = row_of(files->rows[i][0], first),
                             .row_max = row_of(files->rows[i][1], last),
                             .row_middle = row_of(files->rows[i][2], (first + last) / 2),
                             .bytes = bytes};
}

static void
assert_row(petal_slice found, unsigned row)
{
    char text[12];

    assert_true(slice_equal(found, row_of(text, row)));
}

static petal_slice
between_files(struct files *files)
{
    return border_between_files(files->files, files->count, files->ends);
}

static petal_slice
among_middles(struct files *files)
{
    return border_among_middles(files->files, files->count);
}

/* Keys in order: a border at a file's first row, the nearest to the middle. */
TEST(the_border_lies_between_files)
{
    struct files files = {0};

    for (unsigned i = 10; i-- > 0;)
        add(&files, 100 * i, 100 * i + 99, i < 5 ? 10 : 12);
    assert_row(between_files(&files), 500);
    add(&files, 1000, 1099, 30);
    assert_row(between_files(&files), 700);
}

/* What spans the region is shared wherever the border lies: then it lies where no other file is. */
TEST(as_few_bytes_as_possible_are_shared)
{
    struct files files = {0};

    for (unsigned i = 0; i < 5; i++)
        add(&files, 100 * i, 100 * i + 99, 20);
    for (unsigned i = 0; i < 5; i++)
        add(&files, 0, 499, 1);
    assert_row(between_files(&files), 200);
    files.count = 0;
    for (unsigned i = 0; i < 10; i++)
        add(&files, 100 * i, 100 * i + (i == 3 || i == 4 ? 120 : 99), 10);
    assert_row(between_files(&files), 600);
}

/* Less than three eighths on one side: no border for its file's sake. */
TEST(a_border_far_from_the_middle_is_none)
{
    struct files files = {0};

    add(&files, 0, 99, 36);
    add(&files, 100, 199, 64);
    assert_int_equal(between_files(&files).size, 0);
    add(&files, 0, 50, 4);
    assert_row(between_files(&files), 100);
    files.count = 0;
    for (unsigned i = 0; i < 20; i++)
        add(&files, i, 1000 - i, 10);
    assert_int_equal(between_files(&files).size, 0);
    files.count = 0;
    add(&files, 7, 7, 0);
    add(&files, 7, 7, 1);
    assert_int_equal(between_files(&files).size, 0);
    files.count = 0;
    assert_int_equal(between_files(&files).size, 0);
}

/* The middle of all bytes, not of the largest file. */
TEST(the_middle_is_that_of_all_files)
{
    struct files files = {0};

    add(&files, 0, 200, 21);
    for (unsigned i = 1; i < 5; i++)
        add(&files, 200 * i, 200 * i + 200, 20);
    assert_row(among_middles(&files), 500);
    for (unsigned i = 0; i < 30; i++)
        add(&files, 2 * i, 998 - 2 * i, 3);
    assert_row(among_middles(&files), 499);
}

/* Files that know no middle do not count. */
TEST(files_without_a_middle_have_no_say)
{
    struct files files = {0};

    add(&files, 0, 100, 1);
    add(&files, 100, 200, 1000);
    files.files[1].row_middle = (petal_slice){0};
    assert_row(among_middles(&files), 50);
    files.count = 0;
    assert_int_equal(among_middles(&files).size, 0);
}

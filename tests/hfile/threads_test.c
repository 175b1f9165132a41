/*
 * threads_test.c -- one file, used by several threads at once: each scans, seeks, asks the filters
 * and checks, and all get what one alone gets.
 */
#include "tests/hfile/golden.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define ROUNDS  3

struct work {
    petal_hfile *file;
    uint64_t cells, bytes;
    bool failed;
};

static bool
use_cell(struct work *work, petal_hfile_scanner *scanner, const petal_hfile_cell *cell)
{
    const petal_hfile_cell *found;
    bool answer;

    if (petal_hfile_may_contain(work->file, cell->row, &cell->qualifier, &answer, NULL) !=
            PETAL_OK ||
        !answer)
        return false;
    return petal_hfile_scanner_seek(scanner, cell, &found, NULL) == PETAL_OK && found != NULL &&
           petal_hfile_compare(found, cell) == 0;
}

static bool
scan(struct work *work, petal_hfile_scanner *scanner, petal_hfile_scanner *other)
{
    const petal_hfile_cell *cell;
    enum petal_status status = petal_hfile_scanner_first(scanner, &cell, NULL);

    while (status == PETAL_OK && cell != NULL) {
        work->cells++;
        work->bytes += cell->row.size + cell->value.size;
        if (work->cells % 7 == 0 && !use_cell(work, other, cell))
            return false;
        status = petal_hfile_scanner_next(scanner, &cell, NULL);
    }
    return status == PETAL_OK;
}

static void *
run(void *argument)
{
    struct work *work = argument;
    petal_hfile_scanner *scanner, *other;

    work->failed = petal_hfile_scanner_new(work->file, &scanner, NULL) != PETAL_OK ||
                   petal_hfile_scanner_new(work->file, &other, NULL) != PETAL_OK;
    for (int round = 0; round < ROUNDS && !work->failed; round++)
        work->failed = !scan(work, scanner, other) ||
                       petal_hfile_check(work->file, NULL, NULL, NULL, NULL) != PETAL_OK;
    petal_hfile_scanner_free(scanner);
    petal_hfile_scanner_free(other);
    return NULL;
}

TEST(threads_share_a_file)
{
    static const char *const names[] = {"grid-snappy-rowindexv1-rowcol-tags-mvcc", "index-3-levels",
                                        "bloom-chunks-row", "grid-gz-fastdiff-rowcol-tags"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct work works[THREADS] = {0};
        pthread_t threads[THREADS];
        petal_hfile *file;
        char path[512];

        golden_path(names[i], path, sizeof path);
        assert_int_equal(petal_hfile_open(path, NULL, &file, NULL), PETAL_OK);
        for (size_t k = 0; k < THREADS; k++) {
            works[k].file = file;
            assert_int_equal(pthread_create(&threads[k], NULL, run, &works[k]), 0);
        }
        for (size_t k = 0; k < THREADS; k++) {
            assert_int_equal(pthread_join(threads[k], NULL), 0);
            assert_false(works[k].failed);
            assert_int_equal(works[k].cells, ROUNDS * petal_hfile_info_get(file)->cells);
            assert_int_equal(works[k].bytes, works[0].bytes);
        }
        petal_hfile_close(file);
    }
}

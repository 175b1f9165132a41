/*
 * mem_test.c -- memory of the default allocator that is mapped: each block has its place and its
 * alignment to itself, and its addresses go back.
 */
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 24, MEBIBYTE = 1 << 20, BLOCK_BYTES = 3 * MEBIBYTE + 5, SLACK = 8 * MEBIBYTE };

/* Addresses that the process has taken. */
static int64_t
addresses(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pages), 1);
    (void)fclose(file);
    return (int64_t)pages * MEM_PAGE_BYTES;
}

static void
blocks_do_not_meet(size_t alignment)
{
    uint8_t *blocks[BLOCKS];
    int64_t before = addresses();

    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = mem_alloc_aligned(&mem_default_allocator, alignment, BLOCK_BYTES);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % alignment, 0);
        memset(blocks[i], i, BLOCK_BYTES);
    }
    assert_true(addresses() - before > BLOCKS * (int64_t)BLOCK_BYTES - SLACK);
    assert_true(addresses() - before < BLOCKS * (int64_t)BLOCK_BYTES + SLACK);
    /* Each second one goes first: the others stay whole. */
    for (int pass = 0; pass < 2; pass++)
        for (int i = pass; i < BLOCKS; i += 2) {
            for (size_t at = 0; at < BLOCK_BYTES; at += 1021)
                assert_int_equal(blocks[i][at], i);
            assert_int_equal(blocks[i][BLOCK_BYTES - 1], i);
            mem_free(&mem_default_allocator, blocks[i], BLOCK_BYTES);
        }
    assert_true(addresses() - before < SLACK);
}

static void
mapped_blocks_do_not_meet_and_go_back(void **state)
{
    (void)state;
    blocks_do_not_meet(sizeof(void *));
    blocks_do_not_meet(MEM_PAGE_BYTES);
    blocks_do_not_meet(2 * MEBIBYTE);
    blocks_do_not_meet(16 * MEBIBYTE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mapped_blocks_do_not_meet_and_go_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

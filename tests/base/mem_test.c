/*
 * mem_test.c -- memory of the default allocator that is mapped: each block has its place and its
 * alignment to itself, and its addresses go back; what is zeroed is not touched.
 */
#include "base/mem.h"
#include "tests/support/test.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 24, MEBIBYTE = 1 << 20, BLOCK_BYTES = 3 * MEBIBYTE + 5, SLACK = 8 * MEBIBYTE };

/* Addresses that the process has taken, and memory. */
static int64_t
usage(bool of_memory)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long addresses, resident;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &addresses, &resident), 2);
    (void)fclose(file);
    return (int64_t)(of_memory ? resident : addresses) * MEM_PAGE_BYTES;
}

static int64_t
addresses(void)
{
    return usage(false);
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

TEST(mapped_blocks_do_not_meet_and_go_back)
{
    blocks_do_not_meet(sizeof(void *));
    blocks_do_not_meet(MEM_PAGE_BYTES);
    blocks_do_not_meet(2 * MEBIBYTE);
    blocks_do_not_meet(16 * MEBIBYTE);
}

static void *
dirty_allocate(void *context, size_t alignment, size_t size)
{
    void *memory = mem_default_allocator.allocate(context, alignment, size);

    return memory == NULL ? NULL : memset(memory, 0xA5, size);
}

/* Of whichever allocator; and what is large takes no memory where nobody writes. */
TEST(zeroed_memory_is_zero_and_untouched)
{
    static const size_t sizes[] = {1, 64, 5000, 131071, 131072, BLOCK_BYTES};
    const petal_allocator dirty = {NULL, dirty_allocate, mem_default_allocator.release};
    const size_t large = (size_t)1 << 30;
    int64_t before;
    uint8_t *memory;

    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        const petal_allocator *allocator = i % 2 == 0 ? &dirty : &mem_default_allocator;
        size_t size = sizes[i / 2];

        memory = mem_zalloc_aligned(allocator, MEM_PAGE_BYTES, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % MEM_PAGE_BYTES, 0);
        for (size_t at = 0; at < size; at++)
            assert_int_equal(memory[at], 0);
        memset(memory, 1, size); /* what malloc gives again is not zero */
        mem_free(allocator, memory, size);
    }
    before = usage(true);
    memory = mem_zalloc_aligned(&mem_default_allocator, MEM_PAGE_BYTES, large);
    assert_non_null(memory);
    memory[large / 2] = 1;
    assert_true(usage(true) - before < SLACK);
    mem_free(&mem_default_allocator, memory, large);
}

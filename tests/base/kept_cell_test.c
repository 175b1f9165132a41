/* kept_cell_test.c -- what is kept of a cell stays when the cell's bytes change, and without memory
 * for the next one. */

#include "base/kept_cell.h"
#include "tests/support/test.h"

struct memory {
    size_t blocks;
    bool is_out;
};

static void *
allocate(void *context, size_t alignment, size_t size)
{
    struct memory *memory = context;

    if (memory->is_out)
        return NULL;
    memory->blocks++;
    return mem_default_allocator.allocate(mem_default_allocator.context, alignment, size);
}

static void
release(void *context, void *block, size_t size)
{
    struct memory *memory = context;

    memory->blocks -= block != NULL;
    mem_default_allocator.release(mem_default_allocator.context, block, size);
}

TEST(test_a_kept_cell_stays)
{
    struct memory memory = {0};
    const petal_allocator allocator = {&memory, allocate, release};
    char bytes[100] = "rowqualifier", value[] = "value";
    const struct cell cell = {.row = {bytes, 3},
                              .qualifier = {bytes + 3, 9},
                              .value = {value, 5},
                              .timestamp = -7,
                              .sequence = 9,
                              .type = PETAL_PUT};
    const struct cell longer = {.row = {bytes, sizeof bytes}};
    struct kept_cell kept = {.is_kept = false};

    assert_true(kept_cell_keep(&kept, &allocator, &cell));
    assert_true(kept.is_kept);
    memset(bytes, 'x', sizeof bytes);
    memory.is_out = true;
    assert_false(kept_cell_keep(&kept, &allocator, &longer));
    assert_true(slice_equal(kept.cell.row, slice_from_text("row")));
    assert_true(slice_equal(kept.cell.qualifier, slice_from_text("qualifier")));
    assert_int_equal(kept.cell.value.size, 0);
    assert_true(kept.cell.timestamp == -7 && kept.cell.sequence == 9);
    memory.is_out = false;
    assert_true(kept_cell_keep(&kept, &allocator, &longer));
    assert_true(slice_equal(kept.cell.row, longer.row));
    assert_int_equal(kept.cell.qualifier.size, 0);
    kept_cell_fini(&kept, &allocator);
    assert_false(kept.is_kept);
    assert_int_equal(memory.blocks, 0);
}

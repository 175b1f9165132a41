/*
 * target.h -- what fuzz targets share.
 *
 * A target is a C file of this folder with the one function below. libFuzzer links it as it is;
 * replay/ links all of them into one program, which runs what is kept of inputs with any compiler.
 * A target aborts where an answer is wrong; what touches bytes does so for the sanitizers.
 */
#ifndef PETAL_TESTS_FUZZ_TARGET_H
#define PETAL_TESTS_FUZZ_TARGET_H

#include "base/cell.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Returns 0. `bytes` may be NULL when there are none. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static inline void
fuzz_must(bool holds)
{
    if (!holds)
        abort();
}

static inline void
fuzz_touch(petal_slice bytes)
{
    static volatile uint64_t sink;
    uint64_t sum = 0;

    for (size_t i = 0; i < bytes.size; i++)
        sum += slice_bytes(bytes)[i];
    sink = sink + sum;
}

static inline void
fuzz_touch_cell(const struct cell *cell)
{
    fuzz_touch(cell->row);
    fuzz_touch(cell->qualifier);
    fuzz_touch(cell->value);
}

/* ---- taking an input apart: what is not there is zero ---- */

struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

static inline petal_slice
fuzz_take(struct fuzz_input *input, size_t size)
{
    petal_slice taken = slice_make(input->at, size < input->left ? size : input->left);

    input->at += taken.size;
    input->left -= taken.size;
    return taken;
}

static inline uint64_t
fuzz_number(struct fuzz_input *input, size_t bytes)
{
    petal_slice taken = fuzz_take(input, bytes);
    uint64_t number = 0;

    for (size_t i = taken.size; i > 0; i--)
        number = number << 8 | slice_bytes(taken)[i - 1];
    return number;
}

/* ---- memory that no length in the input may ask for ---- */

static inline void *
fuzz_allocate(void *most, size_t alignment, size_t size)
{
    fuzz_must(size <= *(const size_t *)most);
    return mem_default_allocator.allocate(mem_default_allocator.context, alignment, size);
}

static inline void
fuzz_release(void *most, void *memory, size_t size)
{
    (void)most;
    mem_default_allocator.release(mem_default_allocator.context, memory, size);
}

/* Aborts when more than *most bytes are asked for at once. */
static inline petal_allocator
fuzz_allocator(size_t *most)
{
    return (petal_allocator){most, fuzz_allocate, fuzz_release};
}

#endif

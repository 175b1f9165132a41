/* expect.h -- what several tests of HFiles ask for. */
#ifndef PETAL_TESTS_HFILE_EXPECT_H
#define PETAL_TESTS_HFILE_EXPECT_H

#include "tests/support/test.h"

#include <stdio.h>

static inline void
expect_slice(petal_slice is, petal_slice expected)
{
    assert_int_equal(is.size, expected.size);
    if (is.size > 0)
        assert_memory_equal(is.data, expected.data, is.size);
}

static inline void
put_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#endif

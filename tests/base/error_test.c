/*
 * error_test.c -- what an error says: the file once and in front, its end where the path is long,
 * the cause in words, foreign bytes as text; nothing where nobody asks.
 */
#include "base/error.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(the_file_stands_in_front_once)
{
    petal_error error;

    assert_int_equal(error_file(&error, PETAL_INVALID, "/d/f", "a block is %d bytes", 7),
                     PETAL_INVALID);
    assert_string_equal(error.text, "/d/f: a block is 7 bytes");
    assert_string_equal(error.file, "/d/f");
    assert_int_equal(error_corrupt(&error, "/d/f", 12, "%s is damaged", "/d/f"), PETAL_CORRUPT);
    assert_string_equal(error.text, "/d/f is damaged");
    assert_int_equal(error.offset, 12);
    error_corrupt(&error, "in", 0, "no count is in a filter of %d", 1);
    assert_string_equal(error.text, "in: no count is in a filter of 1");
    error_file(&error, PETAL_INVALID, "a", "it holds %.40s", "a count");
    assert_string_equal(error.text, "a: it holds a count");
    error_file(&error, PETAL_INVALID, "1", "version %u", 1);
    assert_string_equal(error.text, "1: version 1");
    assert_int_equal(error_set(&error, PETAL_BUSY, "wait"), PETAL_BUSY);
    assert_string_equal(error.text, "wait");
    assert_string_equal(error.file, "");
    assert_int_equal(error.offset, 0);
}

TEST(what_is_too_long_is_cut)
{
    petal_error error;
    char path[2 * sizeof error.file], text[2 * sizeof error.text];

    memset(path, 'p', sizeof path);
    memcpy(path + sizeof path - 5, "/end", 5);
    memset(text, 't', sizeof text);
    text[sizeof text - 1] = '\0';
    error_file(&error, PETAL_INVALID, path, "%s", text);
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
    assert_string_equal(error.file + strlen(error.file) - 4, "/end");
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_memory_equal(error.text, error.file, strlen(error.file));
    assert_memory_equal(error.text + strlen(error.file), ": t", 3);
}

TEST(causes_are_told_in_words)
{
    petal_error error;

    assert_int_equal(error_io(&error, "/d/f", EIO, "read"), PETAL_IO);
    assert_string_equal(error.text, "cannot read /d/f: Input/output error");
    assert_int_equal(error.os_error, EIO);
    assert_int_equal(error_io(&error, "/d/f", 54321, "read"), PETAL_IO);
    assert_non_null(strstr(error.text, "54321"));
    assert_int_equal(error_io(&error, "/d/f", ENOSPC, "write"), PETAL_NO_SPACE);
    assert_int_equal(error_io(&error, "/d/f", EDQUOT, "write"), PETAL_NO_SPACE);
    assert_int_equal(error_unknown(&error, "/d/f", EDQUOT, "sync"), PETAL_IO);
}

TEST(want_passes_and_damage_does_not)
{
    static const int passing[] = {EMFILE, ENFILE, ENOMEM, ENOSPC, EDQUOT};
    petal_error error;

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        error_io(&error, "f", passing[i], "open");
        assert_true(error_passes(&error));
    }
    error_no_memory(&error);
    assert_true(error_passes(&error));
    error_io(&error, "f", EIO, "open");
    assert_false(error_passes(&error));
    error_corrupt(&error, "f", 0, "no");
    assert_false(error_passes(&error));
}

TEST(nobody_need_ask)
{
    petal_error error, copy;

    assert_int_equal(error_io(NULL, "/d/f", EIO, "read"), PETAL_IO);
    assert_int_equal(error_corrupt(NULL, "/d/f", 1, "no"), PETAL_CORRUPT);
    error_clear(NULL);
    error_corrupt(&error, "/d/f", 9, "no");
    assert_int_equal(error_copy(NULL, &error), PETAL_CORRUPT);
    assert_int_equal(error_copy(&copy, &error), PETAL_CORRUPT);
    assert_string_equal(copy.text, error.text);
    assert_int_equal(copy.offset, 9);
}

TEST(foreign_bytes_become_text)
{
    char text[16];

    assert_string_equal(error_quote((petal_slice){"a b~", 4}, text, sizeof text), "a b~");
    assert_string_equal(error_quote((petal_slice){"\\\x7f\n", 3}, text, sizeof text),
                        "\\x5C\\x7F\\x0A");
    assert_string_equal(error_quote((petal_slice){"abcdefghijklmnop", 16}, text, sizeof text),
                        "abcdefghi...");
    assert_string_equal(error_quote((petal_slice){NULL, 0}, text, sizeof text), "");
}

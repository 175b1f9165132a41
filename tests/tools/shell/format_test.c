/*
 * format_test.c -- what the shell prints as JSON and CSV, read again by small readers of these, is
 * what was given.
 */
#include "tools/shell/print/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What one record of (text, 7, nothing, "z") is printed as; behind a second set of one column. */
static size_t
print_record(enum format_mode mode, petal_slice bytes, bool raw, char **printed)
{
    size_t size = 0;
    struct format format = {.mode = mode, .file = open_memstream(printed, &size)};

    assert_non_null(format.file);
    format_begin(&format, "last"); /* no record: the next takes its place */
    format_begin(&format, "text number nothing last");
    if (raw)
        format_text(&format, bytes);
    else
        format_bytes(&format, bytes);
    format_integer(&format, -7);
    format_null(&format);
    format_string(&format, "z");
    format_end(&format);
    format_free(&format);
    (void)fclose(format.file);
    return size;
}

/* ---- JSON
 * ------------------------------------------------------------------------------------------- */

static unsigned
hex(const char *digits, int count)
{
    unsigned value = 0;

    for (int i = 0; i < count; i++) {
        const char *all = "0123456789abcdef", *found = strchr(all, digits[i] | 0x20);

        assert_true(digits[i] != '\0' && found != NULL);
        value = value * 16 + (unsigned)(found - all);
    }
    return value;
}

/* Read a JSON string of the printable kind, *at behind its end. */
static size_t
read_string(const char **at, char *text)
{
    size_t size = 0;

    assert_int_equal(*(*at)++, '"');
    while (**at != '"') {
        unsigned char byte = (unsigned char)*(*at)++;

        assert_true(byte >= 0x20);
        if (byte == '\\') {
            byte = (unsigned char)*(*at)++;
            assert_non_null(strchr("\"\\u", byte));
            if (byte == 'u') {
                byte = (unsigned char)hex(*at, 4);
                *at += 4;
            }
        }
        text[size++] = (char)byte;
    }
    (*at)++;
    return size;
}

static void
pass_over(const char **at, const char *wanted)
{
    assert_int_equal(strncmp(*at, wanted, strlen(wanted)), 0);
    *at += strlen(wanted);
}

/* The first field of the one record that was printed. */
static size_t
read_json(const char *printed, char *text)
{
    const char *at = printed;
    size_t size;

    pass_over(&at, "{\"text\":");
    size = read_string(&at, text);
    pass_over(&at, ",\"number\":-7,\"nothing\":null,\"last\":\"z\"}\n");
    assert_int_equal(*at, '\0');
    return size;
}

/* What stands as \xHH becomes a byte. */
static size_t
take_back(char *text, size_t size)
{
    size_t to = 0;

    for (size_t from = 0; from < size;) {
        if (text[from] != '\\') {
            text[to++] = text[from++];
            continue;
        }
        assert_int_equal(text[from + 1], 'x');
        text[to++] = (char)hex(text + from + 2, 2);
        from += 4;
    }
    return to;
}

static void
test_every_byte_comes_back_from_json(void **state)
{
    char bytes[256], text[2048], *printed;
    size_t size;

    (void)state;
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    (void)print_record(FORMAT_JSON, (petal_slice){bytes, sizeof(bytes)}, false, &printed);
    size = take_back(text, read_json(printed, text));
    assert_int_equal(size, sizeof(bytes));
    assert_memory_equal(text, bytes, sizeof(bytes));
    free(printed);
}

/* Text that a formatter made: UTF-8 stays, what is none is escaped. */
static void
test_text_is_valid_json(void **state)
{
    static const char given[] = "a\tb\"c\xc3\xa4\xe2\x82\xac \xff\xc3(";
    char text[256], *printed;
    size_t size;

    (void)state;
    (void)print_record(FORMAT_JSON, (petal_slice){given, sizeof(given) - 1}, true, &printed);
    size = read_json(printed, text);
    text[size] = '\0';
    assert_string_equal(text, "a\tb\"c\xc3\xa4\xe2\x82\xac \\xFF\\xC3(");
    assert_null(strchr(printed, '\t'));
    free(printed);
}

/* ---- CSV, tables
 * ------------------------------------------------------------------------------------ */

static void
test_csv_is_quoted_where_needed(void **state)
{
    static const char given[] = "a,\"b\"\r\nc";
    char *printed;

    (void)state;
    (void)print_record(FORMAT_CSV, (petal_slice){given, sizeof(given) - 1}, true, &printed);
    assert_string_equal(printed, "text,number,nothing,last\r\n\"a,\"\"b\"\"\r\nc\",-7,,z\r\n");
    free(printed);
}

static void
test_a_set_without_records_has_names(void **state)
{
    char *printed;
    size_t size = 0;
    struct format format = {.mode = FORMAT_CSV, .file = open_memstream(&printed, &size)};

    (void)state;
    format_begin(&format, "text number");
    format_end(&format);
    format_begin(&format, "text");
    format_string(&format, "x");
    format_end(&format);
    format_end(&format); /* there is none */
    format_free(&format);
    (void)fclose(format.file);
    assert_string_equal(printed, "text,number\r\n\r\ntext\r\nx\r\n");
    free(printed);
}

/* More records than are held back for their widths; the wider one that comes late is not cut. */
static void
test_tables_are_aligned(void **state)
{
    char *printed;
    size_t size = 0, lines = 0;
    struct format format = {.mode = FORMAT_TABLE, .file = open_memstream(&printed, &size)};

    (void)state;
    format_begin(&format, "text number");
    for (unsigned i = 0; i < 1500; i++) {
        format_string(&format, i == 1400 ? "wider than the others" : "\xc3\xa4\n");
        format_number(&format, i);
    }
    format_end(&format);
    format_free(&format);
    (void)fclose(format.file);
    assert_int_equal(
        strncmp(printed, " text  | number\n-------+--------\n \xc3\xa4\\x0A |      0\n", 50), 0);
    assert_non_null(strstr(printed, "\n wider than the others |   1400\n"));
    for (size_t i = 0; i < size; i++)
        lines += printed[i] == '\n';
    assert_int_equal(lines, 1502);
    free(printed);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_byte_comes_back_from_json),
        cmocka_unit_test(test_text_is_valid_json),
        cmocka_unit_test(test_csv_is_quoted_where_needed),
        cmocka_unit_test(test_a_set_without_records_has_names),
        cmocka_unit_test(test_tables_are_aligned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

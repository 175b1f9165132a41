/*
 * format_test.c -- what the shell prints as JSON and CSV, read again by small readers of these, is
 * what was given.
 */
#include "tests/support/test.h"
#include "tools/shell/print/format.h"
#include "tools/shell/print/width.h"
#include "tools/shell/text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one record of (text, 7, nothing, "z") is printed as; after a second set of one column. */
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

/* Read a JSON string of the printable kind, *at after its end. */
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

/* Bytes that are no UTF-8 are base64, all others are the text that they are. */
TEST(test_every_byte_comes_back_from_json)
{
    char bytes[256], text[2048], *printed;
    size_t size;

    for (size_t begin = 0; begin <= 128; begin += 128) {
        for (size_t i = 0; i < 256; i++)
            bytes[i] = (char)(begin == 0 ? i % 128 : i);
        for (size_t length = 0; length <= 256; length++) {
            (void)print_record(FORMAT_JSON, (petal_slice){bytes, length}, length % 2 == 0,
                               &printed);
            if (begin > 0 && length > 128) {
                const char *at = printed;
                char *end;

                pass_over(&at, "{\"text\":{\"b64\":\"");
                end = strchr(at, '"');
                assert_non_null(end);
                assert_true(base64_read((petal_slice){at, (size_t)(end - at)}, text, &size));
                at = end;
                pass_over(&at, "\"},\"number\":-7,\"nothing\":null,\"last\":\"z\"}\n");
            } else {
                size = read_json(printed, text);
            }
            assert_int_equal(size, length);
            assert_memory_equal(text, bytes, length);
            free(printed);
        }
    }
}

TEST(test_utf8_stays_text)
{
    static const char given[] = "a\tb\"c\\ \x7f\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
    static const char *const others[] = {
        "\xff", "\xc3(", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "eight by\xc3"};
    char *printed;

    (void)print_record(FORMAT_JSON, slice_of_string(given), false, &printed);
    assert_string_equal(printed,
                        "{\"text\":\"a\\u0009b\\\"c\\\\ \x7f\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\","
                        "\"number\":-7,\"nothing\":null,\"last\":\"z\"}\n");
    free(printed);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        (void)print_record(FORMAT_JSON, slice_of_string(others[i]), false, &printed);
        assert_int_equal(strncmp(printed, "{\"text\":{\"b64\":\"", 16), 0);
        free(printed);
    }
}

TEST(test_what_is_no_base64)
{
    static const char *const wrong[] = {"A",    "AA",   "AAA",  "=",    "====",     "A===",
                                        "AB==", "AAB=", "A*==", "AA=A", "AAAA AAA", "AA==AA=="};
    char text[16];
    size_t size;

    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_false(base64_read(slice_of_string(wrong[i]), text, &size));
    assert_true(base64_read(slice_of_string(""), text, &size));
    assert_int_equal(size, 0);
    assert_true(base64_read(slice_of_string("/+8="), text, &size));
    assert_int_equal(size, 2);
    assert_memory_equal(text, "\xff\xef", 2);
}

/* ---- CSV, tables
 * ------------------------------------------------------------------------------------ */

TEST(test_csv_is_quoted_where_needed)
{
    static const char given[] = "a,\"b\"\r\nc";
    char *printed;

    (void)print_record(FORMAT_CSV, (petal_slice){given, sizeof(given) - 1}, true, &printed);
    assert_string_equal(printed, "text,number,nothing,last\r\n\"a,\"\"b\"\"\r\nc\",-7,,z\r\n");
    free(printed);
}

TEST(test_a_set_without_records_has_names)
{
    char *printed;
    size_t size = 0;
    struct format format = {.mode = FORMAT_CSV, .file = open_memstream(&printed, &size)};

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
TEST(test_tables_are_aligned)
{
    char *printed;
    size_t size = 0, lines = 0;
    struct format format = {.mode = FORMAT_TABLE, .file = open_memstream(&printed, &size)};

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

/* Of a terminal so many columns wide, which is told by a variable, since no file is one here. */
static char *
print_on_terminal(unsigned columns, size_t records, const char *const texts[])
{
    struct format format = {.mode = FORMAT_TABLE, .terminal = true};
    char number[16], *printed;
    size_t size = 0;

    (void)snprintf(number, sizeof(number), "%u", columns);
    assert_int_equal(setenv("COLUMNS", number, 1), 0);
    format.file = open_memstream(&printed, &size);
    assert_non_null(format.file);
    format_begin(&format, "row number value");
    for (size_t i = 0; i < records; i++) {
        format_string(&format, texts[2 * i]);
        format_number(&format, 1234567890123u);
        format_string(&format, texts[2 * i + 1]);
    }
    format_end(&format);
    format_free(&format);
    (void)fclose(format.file);
    assert_int_equal(unsetenv("COLUMNS"), 0);
    return printed;
}

TEST(test_tables_are_as_wide_as_the_terminal)
{
    static const char *const texts[] = {
        "r1", "a value that is too long for this terminal",
        "r2", "\xe6\x9d\xb1\xe4\xba\xac\xe9\x83\xbd\xe6\x98\xaf\xe5\xa4\xa7\xe5\x9f\x8e",
        "r3", "gr\xc3\xbc\xc3\x9f e\xcc\x81t\xcc\x81\xc2\x9b"};
    char *printed;

    /* Blanks and bars take 8 columns, the row 3, numbers 13: 9 are left. */
    printed = print_on_terminal(33, 3, texts);
    assert_string_equal(
        printed, " row | number        | value\n"
                 "-----+---------------+-----------\n"
                 " r1  | 1234567890123 | a value \xe2\x80\xa6\n"
                 " r2  | 1234567890123 | "
                 "\xe6\x9d\xb1\xe4\xba\xac\xe9\x83\xbd\xe6\x98\xaf\xe2\x80\xa6\n"
                 " r3  | 1234567890123 | gr\xc3\xbc\xc3\x9f e\xcc\x81t\xcc\x81\\\xe2\x80\xa6\n");
    free(printed);
    printed = print_on_terminal(28, 2, texts);
    assert_string_equal(
        printed,
        "-[ 1 ]----------------------\n"
        " row    | r1\n"
        " number | 1234567890123\n"
        " value  | a value that is t\xe2\x80\xa6\n"
        "-[ 2 ]----------------------\n"
        " row    | r2\n"
        " number | 1234567890123\n"
        " value  | \xe6\x9d\xb1\xe4\xba\xac\xe9\x83\xbd\xe6\x98\xaf\xe5\xa4\xa7\xe5\x9f\x8e\n");
    free(printed);
}

/* Whatever is printed: no line is wider than the terminal, no character is cut, numbers are
 * whole. */
TEST(test_no_line_is_too_wide)
{
    static const char *const pieces[] = {
        "a", "bc", "\xc3\xa9", "e\xcc\x81", "\xe6\x9d\xb1", "\xf0\x9f\x98\x80", "\t", "\\"};
    uint32_t random = 12345;

    for (unsigned columns = 26; columns < 120; columns++) {
        char texts[8][256], *printed;
        const char *given[8];
        size_t numbers = 0;

        for (size_t i = 0; i < 8; i++) {
            texts[i][0] = '\0';
            random = random * 1664525 + 1013904223;
            for (uint32_t k = random >> 16 & 31; k > 0; k--) {
                random = random * 1664525 + 1013904223;
                (void)strcat(texts[i], pieces[random >> 20 & 7]);
            }
            given[i] = texts[i];
        }
        printed = print_on_terminal(columns, 4, given);
        assert_true(text_is_utf8(slice_of_string(printed)));
        for (char *line = printed, *end; *line != '\0'; line = end + 1) {
            end = strchr(line, '\n');
            assert_non_null(end);
            assert_in_range(width_of((petal_slice){line, (size_t)(end - line)}), 1, columns);
        }
        for (const char *at = printed; (at = strstr(at, "1234567890123")) != NULL; at++)
            numbers++;
        assert_int_equal(numbers, 4);
        free(printed);
    }
}

TEST(test_widths_of_characters)
{
    size_t used;

    assert_int_equal(width_of(slice_of_string("abc")), 3);
    assert_int_equal(width_of(slice_of_string("\xe6\x9d\xb1\xe4\xba\xac")), 4);
    assert_int_equal(width_of(slice_of_string("e\xcc\x81")), 1);
    assert_int_equal(width_of(slice_of_string("\xff\xc3")), 2);
    assert_int_equal(width_cut(slice_of_string("a\xe6\x9d\xb1z"), 2, &used).size, 1);
    assert_int_equal(used, 1);
    /* What combines belongs to what it stands after. */
    assert_int_equal(width_cut(slice_of_string("e\xcc\x81z"), 1, &used).size, 3);
    assert_int_equal(used, 1);
}

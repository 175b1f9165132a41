/*
 * text_test.c -- what the shell asks of an input, values, layout and input formats, without a
 * database.
 */
#include "tests/support/test.h"
#include "tools/shell/files/record.h"
#include "tools/shell/print/output.h"
#include "tools/shell/print/wrap.h"
#include "tools/shell/ruby/source.h"
#include "tools/shell/session/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Inputs ------------------------------------------------------------------------------------
 */

/* What is parsed of an input, then its second string side by side and the depth of its brackets. */
static const char *
read_source(const char *input)
{
    static char shown[200];
    struct source source;

    source_read(&source, slice_of_string(input));
    assert_int_equal(source.text.size, strlen(input));
    (void)snprintf(shown, sizeof(shown), "%s|%.*s|%zu|%u", text_string(&source.text),
                   SLICE(source.joined), source.comma, source.depth);
    source_free(&source);
    return shown;
}

TEST(test_prefixes)
{
    assert_string_equal(read_source("explain get 't', 'r'"), "explain_get 't', 'r'||0|0");
    assert_string_equal(read_source("time   scan 't'"), "  time_scan 't'||0|0");
    assert_string_equal(read_source("x = [time explain\tget('t')"),
                        "x = [time_explain_get('t')||0|1");
    assert_string_equal(read_source("5.times { explain scan 't' }"),
                        "5.times { explain_scan 't' }||0|0");
    /* None of these is a prefix. */
    assert_string_equal(read_source("time = 5"), "time = 5||0|0");
    assert_string_equal(read_source("time if true"), "time if true||0|0");
    assert_string_equal(read_source("help 'get'"), "help 'get'||0|0");
    assert_string_equal(read_source("t.help get"), "t.help get||0|0");
    assert_string_equal(read_source("'time get' # time get"), "'time get' # time get||0|0");
    assert_string_equal(read_source("\"time get #{time get 't'} time get"),
                        "\"time get #{time_get 't'} time get||0|0");
    assert_string_equal(read_source("mytime get; time 5; time"), "mytime get; time 5; time||0|0");
}

TEST(test_strings_side_by_side)
{
    assert_string_equal(read_source("get 't' 'r'"), "get 't' 'r'|'t' 'r'|8|0");
    assert_string_equal(read_source("get 't',\n 'r' \"f:a\""),
                        "get 't',\n 'r' \"f:a\"|'r' \"f:a\"|14|0");
    assert_string_equal(read_source("get 't', 'r' \\\n'x'"), "get 't', 'r' \\\n'x'||0|0");
    assert_string_equal(read_source("'a' + 'b'; ['c', 'd']"), "'a' + 'b'; ['c', 'd']||0|0");
    assert_string_equal(read_source("'it\\'s' 'x'"), "'it\\'s' 'x'|'it\\'s' 'x'|8|0");
}

/* What lacks a comma before it. */
static const char *
apart(const char *input)
{
    static char shown[40];
    struct source source;

    source_read(&source, slice_of_string(input));
    (void)snprintf(shown, sizeof(shown), "%.*s", SLICE(source.apart));
    source_free(&source);
    return shown;
}

TEST(test_missing_commas)
{
    assert_string_equal(apart("create 'u' {NAME => 'f'}"), "{");
    assert_string_equal(apart("scan 't' LIMIT => 1"), "LIMIT");
    assert_string_equal(apart("count \"t\" 15, 'x' y"), "15");
    assert_string_equal(apart("puts 'a' if b; puts 'a', {}; f('a') { 'b' }"), "");
    assert_string_equal(apart("puts 'a'\nlist"), "");
    assert_string_equal(apart("case 'a' when 'b' then 'c' else 'd' end"), "");
}

TEST(test_open_brackets)
{
    char deep[1000];

    assert_string_equal(read_source("f([{"), "f([{||0|3");
    assert_string_equal(read_source("')' # ]\n("), "')' # ]\n(||0|1");
    assert_string_equal(read_source("]]}("), "]]}(||0|1");
    memset(deep, '[', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_non_null(strstr(read_source(deep), "[[["));
}

/* ---- Values ---- */

TEST(test_values)
{
    struct value items[] = {value_integer(-5),
                            {.kind = VALUE_FLOAT, .as.number = 1e20},
                            {.kind = VALUE_FLOAT, .as.number = 0.1},
                            {.kind = VALUE_FLOAT, .as.number = 1000},
                            value_string((petal_slice){"a\"#{\n\x00\xff\xc3\xa9", 9}),
                            {.kind = VALUE_SYMBOL, .as.bytes = slice_of_string("s")},
                            value_nil(),
                            value_boolean(true)};
    struct value_pair pair = {value_string(slice_of_string("k")), value_integer(1)};
    struct value list = {.kind = VALUE_ARRAY, .count = COUNT_OF(items), .as.items = items};
    struct value hash = {.kind = VALUE_HASH, .count = 1, .as.pairs = &pair};
    struct arena arena = {.chunks = NULL};
    struct text text = {0};
    int64_t integer;

    value_inspect(&text, &list);
    assert_string_equal(text_string(&text), "[-5, 1.0e+20, 0.1, 1000.0, "
                                            "\"a\\\"\\#{\\n\\u0000\\xFF\xc3\xa9\", :s, nil, true]");
    text_clear(&text);
    value_inspect(&text, &hash);
    assert_string_equal(text_string(&text), "{\"k\"=>1}");
    assert_string_equal(value_to_string(&arena, &items[5]), "s");
    assert_string_equal(value_to_string(&arena, &items[6]), "");
    assert_ptr_equal(value_hash_get(&hash, "k"), &pair.value);
    assert_null(value_hash_get(&hash, "K"));
    assert_null(value_hash_get(&list, "k"));
    assert_true(value_to_integer(&items[3], &integer) && integer == 1000);
    assert_false(value_to_integer(&items[1], &integer));
    arena_clear(&arena);
    text_free(&text);
}

/* ---- Texts
 * --------------------------------------------------------------------------------------- */

TEST(test_texts)
{
    struct text text = {0};

    assert_int_equal(setenv("TZ", "UTC", 1), 0);
    text_add_binary(&text, (petal_slice){"a\\ ~\x7f\x00\xff", 7});
    assert_string_equal(text_string(&text), "a\\x5C ~\\x7F\\x00\\xFF");

    text_clear(&text);
    text_add_time(&text, 0);
    text_add_string(&text, " ");
    text_add_time(&text, 1000);
    text_add_string(&text, " ");
    text_add_time(&text, 1500000000001);
    text_add_string(&text, " ");
    text_add_time(&text, 1500000060000);
    assert_string_equal(text_string(&text), "1970-01-01T00:00 1970-01-01T00:00:01 "
                                            "2017-07-14T02:40:00.001 2017-07-14T02:41");

    text_clear(&text);
    text_add_size(&text, 65536);
    text_add_string(&text, " ");
    text_add_size(&text, 1500);
    assert_string_equal(text_string(&text), "65536 B (64KB) 1500 B (1KB 476B)");
    text_free(&text);
}

/* ---- Layout
 * -------------------------------------------------------------------------------------- */

static const char *
written(FILE *file)
{
    static char bytes[4096];
    size_t size;

    rewind(file);
    size = fread(bytes, 1, sizeof(bytes) - 1, file);
    bytes[size] = '\0';
    return bytes;
}

TEST(test_plain_layout)
{
    FILE *file = tmpfile();
    struct output output;

    assert_non_null(file);
    output_init(&output, file, false);
    output_header(&output, "ROW", "COLUMN+CELL");
    output_columns(&output, slice_of_string("r1"), slice_of_string("column=f:a, value=v"));
    output_line(&output, slice_of_string("t"));
    assert_string_equal(written(file), "ROW  COLUMN+CELL\n r1 column=f:a, value=v\nt\n");
    output_free(&output);
    (void)fclose(file);
}

TEST(test_terminal_layout)
{
    FILE *file = tmpfile();
    struct output output;

    assert_non_null(file);
    output_init(&output, file, true); /* no terminal after it: 80 characters */
    output_header(&output, "ROW", "COLUMN+CELL");
    output_columns(&output, slice_of_string("u1"),
                   slice_of_string("column=info:mail, timestamp=2017-07-14T02:40:00.001, "
                                   "value=ada@example.org"));
    output_columns(&output, slice_of_string("a-row-key-that-is-longer-than-a-quarter"),
                   slice_of_string("\xc3\xa9"));
    assert_string_equal(
        written(file),
        "ROW                   COLUMN+CELL                                               \n"
        " u1                   column=info:mail, timestamp=2017-07-14T02:40:00.001, value\n"
        "                      =ada@example.org                                          \n"
        " a-row-key-that-is-lo \xc3\xa9                                                         \n"
        " nger-than-a-quarter                                                            \n");
    output_free(&output);
    (void)fclose(file);
}

static const char *
wrapped(const char *paragraph, unsigned width, unsigned indent)
{
    static struct text text;

    text_clear(&text);
    wrap_add(&text, slice_of_string(paragraph), width, indent);
    return text_string(&text);
}

static const char *
wrapped_example(const char *example, unsigned width)
{
    static struct text text;

    text_clear(&text);
    wrap_add_example(&text, slice_of_string(example), width);
    return text_string(&text);
}

TEST(test_wrapping)
{
    assert_string_equal(wrapped("", 10, 2), "");
    assert_string_equal(wrapped("one two three", 20, 2), "one two three");
    assert_string_equal(wrapped("one two three", 13, 2), "one two three");
    assert_string_equal(wrapped("one two three", 12, 2), "one two\n  three");
    assert_string_equal(wrapped("one two three four", 9, 2), "one two\n  three\n  four");
    assert_string_equal(wrapped("a word-that-is-long b", 6, 1), "a\n word-that-is-long\n b");
    assert_string_equal(wrapped("caf\xc3\xa9 caf\xc3\xa9", 9, 0), "caf\xc3\xa9 caf\xc3\xa9");
    assert_string_equal(wrapped("'1 DAY' | '2 DAYS'", 14, 0), "'1 DAY' |\n'2 DAYS'");
    assert_string_equal(wrapped("x, KEY => 'v', B => 1", 10, 0), "x,\nKEY => 'v',\nB => 1");
    assert_string_equal(wrapped("x, KEY => 'v', B => 1", 14, 0), "x, KEY => 'v',\nB => 1");

    /* Examples can be typed as they stand: what goes on ends with a comma. */
    assert_string_equal(wrapped_example("  list\n  scan 't'\n", 20), "  list\n  scan 't'\n");
    assert_string_equal(wrapped_example("  scan 't', LIMIT => 1\n", 20),
                        "  scan 't',\n    LIMIT => 1\n");
    assert_string_equal(wrapped_example("  put 't', 'a, b', \"c, d\"\n", 20),
                        "  put 't', 'a, b',\n    \"c, d\"\n");
    assert_string_equal(wrapped_example("  list        # all of them\n", 20),
                        "  # all of them\n  list\n");
    assert_string_equal(wrapped_example("#   scan 't', LIMIT => 1\n", 20),
                        "#   scan 't',\n#     LIMIT => 1\n");
    assert_string_equal(wrapped_example("  put '# no, comment'\n", 10), "  put '# no, comment'\n");
}

/* ---- Input files
 * --------------------------------------------------------------------------------- */

/* All records of an input: `row{column=value|..}` a line, mistakes as they are reported.  Of the
 * first line so many columns make the row, the last one first. */
static const char *
records(enum file_format format, const char *input, size_t row_columns)
{
    static const size_t columns[] = {2, 1, 0};
    static struct text text;
    FILE *file = fmemopen((void *)(uintptr_t)input, strlen(input), "r");
    struct record_reader reader;
    enum record_outcome outcome;

    assert_non_null(file);
    text_clear(&text);
    shell_record_reader_init(&reader, format, file);
    outcome = shell_record_header(&reader);
    if (outcome == RECORD_GOOD)
        shell_record_set_row(&reader, columns + 3 - row_columns, row_columns,
                             slice_of_string(" & "));
    else
        text_add_format(&text, "%s\n", reader.message);
    while (outcome != RECORD_FAILED && (outcome = shell_record_next(&reader)) != RECORD_END) {
        if (outcome == RECORD_GOOD) {
            text_add_slice(&text, reader.row);
            text_add_string(&text, "{");
            for (size_t i = 0; i < reader.field_count; i++) {
                text_add_format(&text, "%s%s=", i > 0 ? "|" : "",
                                text_string(&reader.columns[reader.fields[i].column].name));
                text_add_slice(&text, reader.fields[i].value);
            }
            text_add_string(&text, "}\n");
        } else {
            text_add_format(&text, "%s\n", reader.message);
        }
    }
    shell_record_reader_free(&reader);
    (void)fclose(file);
    return text_string(&text);
}

TEST(test_csv)
{
    assert_string_equal(records(FILE_CSV,
                                "id,f:a,f:b\nr1,1,2\r\n\"r,2\",\"say \"\"hi\"\"\",\n"
                                "r3,\"two\nlines\",\"\"\n\nr4,x\nr5,1,2,3\nr6,,9\n",
                                1),
                        "r1{f:a=1|f:b=2}\nr,2{f:a=say \"hi\"}\nr3{f:a=two\nlines|f:b=}\n"
                        "7: there are 2 values, but the first line has 3 columns\n"
                        "8: there are more values than the first line has columns (3)\n"
                        "r6{f:b=9}\n");
    assert_string_equal(records(FILE_CSV, "id,f:a\nr1,\"open\n", 1), "2: a quote is not closed\n");
    assert_string_equal(records(FILE_CSV, "id,a\nr1,1\n", 1), "r1{a=1}\n");
    assert_string_equal(records(FILE_CSV, "id,f:a,f:b,\"f:a\"\nr1,1,2,3\n", 1),
                        "1: two columns are called 'f:a'\n");
    assert_string_equal(records(FILE_CSV, "id,f:a\r\nr1,\"two\r\nlines\"\r\nr2,\"x\"y\n", 1),
                        "r1{f:a=two\r\nlines}\n"
                        "4: something else than a comma follows a closing quote\n");
}

TEST(test_tsv)
{
    assert_string_equal(records(FILE_TSV, "id\tf:a\tf:b\nr1\t\"1\"\t2\n\t1\t2\n", 1),
                        "r1{f:a=\"1\"|f:b=2}\n3: the row's column 'id' is empty\n");
}

TEST(test_rows)
{
    assert_string_equal(records(FILE_CSV, "a,b,c,d\n1,2,3,4\n5,\"\",,6\n5,6,\"7\",\n", 3),
                        "3 & 2 & 1{d=4}\n3: the row's column 'c' is empty\n7 & 6 & 5{}\n");
    assert_string_equal(records(FILE_CSV, "a,b\n1,\n\nx\n,2\n", 0),
                        "0000000001{a=1}\n4: there is 1 value, but the first line has 2 columns\n"
                        "0000000003{b=2}\n");
}

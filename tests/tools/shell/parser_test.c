/*
 * parser_test.c -- the shell's language, values, layout and input formats, without a database.
 */
#include "tools/shell/files/record.h"
#include "tools/shell/language/parser.h"
#include "tools/shell/language/variable.h"
#include "tools/shell/print/output.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Language
 * ------------------------------------------------------------------------------------ */

static void
dump_node(struct text *text, const struct node *node)
{
    const char *comma = "";

    switch (node->kind) {
    case NODE_LITERAL:
        value_inspect(text, &node->value);
        return;
    case NODE_CONSTANT:
        text_add_slice(text, node->name);
        return;
    case NODE_CALL:
        if (node->receiver != NULL) {
            dump_node(text, node->receiver);
            text_add_string(text, ".");
        }
        text_add_slice(text, node->name);
        text_add_string(text, "(");
        break;
    case NODE_ASSIGN:
        text_add_slice(text, node->name);
        text_add_string(text, "=(");
        break;
    case NODE_INDEX:
        dump_node(text, node->receiver);
        text_add_string(text, "[");
        break;
    case NODE_ARRAY:
        text_add_string(text, "[");
        break;
    case NODE_HASH:
        text_add_string(text, "{");
        break;
    case NODE_BLOCK:
        text_add_slice(text, node->name);
        text_add_string(text, "|[");
        break;
    }
    for (size_t i = 0; i < node->count; i++) {
        text_add_string(text, comma);
        dump_node(text, node->items[i]);
        comma = node->kind == NODE_HASH && i % 2 == 0 ? "=>" : ", ";
    }
    if (node->block != NULL)
        dump_node(text, node->block);
    text_add_string(text, node->kind == NODE_HASH                                ? "}"
                          : node->kind == NODE_CALL || node->kind == NODE_ASSIGN ? ")"
                                                                                 : "]");
}

/*
 * What becomes of an input, given with its lines: its trees parted by " ; ", "?" if it wants more
 * lines, or "POSITION: message".
 */
static const char *
parsed(const char *input)
{
    static struct text text;
    struct arena arena = {0};
    struct syntax_error error = {.position = 0};
    struct node **statements;
    struct lexer lexer;
    size_t count;

    text_clear(&text);
    lexer_init(&lexer, &arena);
    for (const char *line = input; line != NULL;) {
        size_t size = strcspn(line, "\n");

        lexer_add_line(&lexer, (petal_slice){line, size});
        line = line[size] == '\n' ? line + size + 1 : NULL;
        if (line != NULL)
            assert_true(lexer_wants_more(&lexer));
    }
    if (lexer_wants_more(&lexer)) {
        text_add_string(&text, "?");
    } else {
        lexer_finish(&lexer);
        error = lexer.error;
        if (error.message[0] == '\0' && parser_parse(&lexer, &arena, &statements, &count, &error)) {
            for (size_t i = 0; i < count; i++) {
                text_add_string(&text, i > 0 ? " ; " : "");
                dump_node(&text, statements[i]);
            }
        } else {
            text_add_format(&text, "%zu: %s", error.position, error.message);
        }
    }
    lexer_free(&lexer);
    arena_clear(&arena);
    return text_string(&text);
}

static void
test_commands(void **state)
{
    (void)state;
    assert_string_equal(parsed(""), "");
    assert_string_equal(parsed(";"), "");
    assert_string_equal(parsed("# a comment"), "");
    assert_string_equal(parsed("list"), "list()");
    assert_string_equal(parsed("get 't', 'r1'"), "get(\"t\", \"r1\")");
    assert_string_equal(parsed("  get   't' ,   'r1'  # behind"), "get(\"t\", \"r1\")");
    assert_string_equal(parsed("get('t', 'r1')"), "get(\"t\", \"r1\")");
    assert_string_equal(parsed("get('t', 'r1',)"), "get(\"t\", \"r1\")");
    assert_string_equal(parsed("put 't', 'r', 'f:a', 'a;b#c', -1; list;"),
                        "put(\"t\", \"r\", \"f:a\", \"a;b#c\", -1) ; list()");
    assert_string_equal(parsed("explain get 't', 'r', 'f:a'"),
                        "explain(get(\"t\", \"r\", \"f:a\"))");
    assert_string_equal(parsed("t.put 'r'"), "t().put(\"r\")");
    assert_string_equal(parsed("list ['t']"), "list([\"t\"])");
}

static void
test_variables(void **state)
{
    (void)state;
    assert_string_equal(parsed("t = get_table 't'"), "t=(get_table(\"t\"))");
    assert_string_equal(parsed("t=get_table('t')"), "t=(get_table(\"t\"))");
    assert_string_equal(parsed("A = b = 5"), "A=(b=(5))");
    assert_string_equal(parsed("t =\n5"), "t=(5)");
    assert_string_equal(parsed("t.put 'r', 'f:q'; t.scan"), "t().put(\"r\", \"f:q\") ; t().scan()");
    assert_string_equal(parsed("names[0]"), "names()[0]");
    assert_string_equal(parsed("put names[-1], [5]"), "put(names()[-1], [5])");
    assert_string_equal(parsed("names [0]"), "names([0])");
    assert_string_equal(parsed("list('t.*')[0].size"), "list(\"t.*\")[0].size()");
    assert_string_equal(parsed("{'a' => 1}['a']"), "{\"a\"=>1}[\"a\"]");
    assert_string_equal(parsed("tables.map { |t| disable t ; drop  t}"),
                        "tables().map(t|[disable(t()), drop(t())])");
    assert_string_equal(parsed("2.times{|i|}.map { |j|\n put j }"),
                        "2.times(i|[]).map(j|[put(j())])");
    assert_string_equal(parsed("t.scan {}"), "t().scan({})");
    assert_string_equal(parsed("t.map { |5| }"),
                        "9: unexpected number, expected a name for the block's item");
    assert_string_equal(parsed("t.map { |t } "), "11: unexpected '}', expected '|'");
    assert_string_equal(parsed("t.map { |t| list ] }"), "17: unexpected ']'");
    assert_string_equal(parsed("t.map { |t| list"), "?");
    assert_string_equal(parsed("= 5"), "0: unexpected '='");
    assert_string_equal(parsed("'t' = 5"), "4: unexpected '='");
    assert_string_equal(parsed("t = "), "?");
    assert_string_equal(parsed("t = ]"), "4: unexpected ']'");
    assert_string_equal(parsed("t[0, 1]"), "3: unexpected ',', expected ']'");
}

/* A variable keeps its value when the arena that it came from is gone, and when it is set to a part
 * of itself. */
static void
test_values_of_variables(void **state)
{
    struct variables variables = {0};
    struct arena arena = {0};
    struct text text = {0};
    struct value item = value_string((petal_slice){arena_copy(&arena, "row", 3), 3});
    struct value list = {.kind = VALUE_ARRAY, .count = 1, .as.items = &item};
    char name[] = "names";

    (void)state;
    variables_set(&variables, slice_of_string(name), &list);
    name[0] = 'x';
    memset((void *)(uintptr_t)item.as.bytes.data, '?', 3);
    arena_clear(&arena);
    assert_null(variables_get(&variables, slice_of_string("xames")));
    value_inspect(&text, variables_get(&variables, slice_of_string("names")));
    assert_string_equal(text_string(&text), "[\"row\"]");

    item = variables_get(&variables, slice_of_string("names"))->as.items[0];
    variables_set(&variables, slice_of_string("names"), &item);
    item = value_integer(5);
    variables_set(&variables, slice_of_string("number"), &item);
    text_clear(&text);
    value_inspect(&text, variables_get(&variables, slice_of_string("names")));
    value_inspect(&text, variables_get(&variables, slice_of_string("number")));
    assert_string_equal(text_string(&text), "\"row\"5");
    variables_free(&variables);
    text_free(&text);
}

static void
test_hashes(void **state)
{
    (void)state;
    assert_string_equal(parsed("scan 't', {LIMIT => 1, 'x' => [1, 'b',],}"),
                        "scan(\"t\", {LIMIT=>1, \"x\"=>[1, \"b\"]})");
    assert_string_equal(parsed("scan 't', LIMIT => 1, COLUMNS => 'f'"),
                        "scan(\"t\", {LIMIT=>1, COLUMNS=>\"f\"})");
    assert_string_equal(parsed("scan('t', LIMIT => 1)"), "scan(\"t\", {LIMIT=>1})");
    assert_string_equal(parsed("get 't' => 'r'"), "get({\"t\"=>\"r\"})");
    assert_string_equal(parsed("get 't', {COLUMN: 'f'}"), "get(\"t\", {:COLUMN=>\"f\"})");
    assert_string_equal(parsed("{}"), "{}");
    assert_string_equal(parsed("create 'a', {NAME => 'f'}, {NAME => 'g'}"),
                        "create(\"a\", {NAME=>\"f\"}, {NAME=>\"g\"})");
}

static void
test_strings(void **state)
{
    (void)state;
    assert_string_equal(parsed("'it\\'s' \"x\""), "\"it'sx\"");
    assert_string_equal(parsed("'a\\b\\\\c\\n'"), "\"a\\\\b\\\\c\\\\n\"");
    assert_string_equal(parsed("\"\\x41\\x4\\xFF\\101\\7\\0\""), "\"A\\u0004\\xFFA\\a\\u0000\"");
    assert_string_equal(parsed("\"tab\\tcr\\resc\\e \\q \\\" \\\\ \\s.\""),
                        "\"tab\\tcr\\resc\\e q \\\" \\\\  .\"");
    assert_string_equal(parsed("\"\\u00e9\\u{1F600 41}\""), "\"\xc3\xa9\xf0\x9f\x98\x80"
                                                            "A\"");
    assert_string_equal(parsed("'two\nlines'"), "\"two\\nlines\"");
    assert_string_equal(parsed("'#{1}'"), "\"\\#{1}\"");
    assert_string_equal(parsed("get 't' 'r'"), "get(\"tr\")");
}

static void
test_numbers(void **state)
{
    (void)state;
    assert_string_equal(parsed("[1_000, 0x1f, -7, 3.25, 1e3, 017, 0b101, -2.5e-1, 0]"),
                        "[1000, 31, -7, 3.25, 1000.0, 15, 5, -0.25, 0]");
    assert_string_equal(parsed("[1e20, 1.5e-7, 123456789.125]"),
                        "[1.0e+20, 1.5e-07, 123456789.125]");
    assert_string_equal(parsed("-9223372036854775808"), "-9223372036854775808");
    assert_string_equal(parsed("[nil, true, false, :sym, NAME]"), "[nil, true, false, :sym, NAME]");
}

static void
test_continued_lines(void **state)
{
    (void)state;
    assert_string_equal(parsed("get 't',"), "?");
    assert_string_equal(parsed("get 't',\n  'r',\n{COLUMN => 'f:a', # why\n VERSIONS =>\n1}"),
                        "get(\"t\", \"r\", {COLUMN=>\"f:a\", VERSIONS=>1})");
    assert_string_equal(parsed("put 't', \\\n'r'"), "put(\"t\", \"r\")");
    assert_string_equal(parsed("scan 't', {"), "?");
    assert_string_equal(parsed("put 'a"), "?");
    assert_string_equal(parsed("put 't' =>\n'x'"), "put({\"t\"=>\"x\"})");
}

static void
test_mistakes(void **state)
{
    (void)state;
    assert_string_equal(parsed("scan 't', }"), "10: unexpected '}'");
    assert_string_equal(parsed("get 't', , 'r'"), "9: unexpected ','");
    assert_string_equal(parsed("create 'u' {NAME => 'f'}"), "11: unexpected '{'");
    assert_string_equal(parsed("scan 't')"), "8: unexpected ')'");
    assert_string_equal(parsed("scan 't', {LIMIT = 1}"), "17: unexpected '=', expected '=>'");
    assert_string_equal(parsed(")"), "0: unexpected ')'");
    assert_string_equal(parsed("get 't' 5"), "8: unexpected number");
    assert_string_equal(parsed("put 99999999999999999999"),
                        "4: this number does not fit into 64 bits");
    assert_string_equal(parsed("get \"\\xg\""), "5: invalid hexadecimal escape");
    assert_string_equal(parsed("\"#{1}\""),
                        "1: #{..} in a string is not supported by this version");
    assert_string_equal(parsed("get 1x"), "4: this is no number");
    assert_string_equal(parsed("scan 't', A => 1, 'b'"),
                        "21: unexpected end of the command, expected '=>'");
}

static void
test_open_end(void **state)
{
    struct arena arena = {0};
    struct lexer lexer;

    (void)state;
    lexer_init(&lexer, &arena);
    lexer_add_line(&lexer, slice_of_string("put 't', 'r"));
    lexer_finish(&lexer);
    assert_string_equal(lexer.error.message, "this quote is not closed");
    assert_int_equal(lexer.error.position, 9);
    lexer_free(&lexer);
    arena_clear(&arena);
}

static void
test_deep_nesting(void **state)
{
    char deep[4001];

    (void)state;
    memset(deep, '[', 2000);
    memset(deep + 2000, ']', 2000);
    deep[4000] = '\0';
    assert_non_null(strstr(parsed(deep), "nested too deeply"));
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(deep + i, "a=", 2);
    deep[3999] = '5';
    assert_non_null(strstr(parsed(deep), "nested too deeply"));
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(deep + i, "a.", 2);
    deep[3999] = 'a';
    assert_non_null(strstr(parsed(deep), "nested too deeply"));
}

/* ---- Texts
 * --------------------------------------------------------------------------------------- */

static void
test_texts(void **state)
{
    struct text text = {0};

    (void)state;
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

static void
test_plain_layout(void **state)
{
    FILE *file = tmpfile();
    struct output output;

    (void)state;
    assert_non_null(file);
    output_init(&output, file, false);
    output_header(&output, "ROW", "COLUMN+CELL");
    output_columns(&output, slice_of_string("r1"), slice_of_string("column=f:a, value=v"));
    output_line(&output, slice_of_string("t"));
    assert_string_equal(written(file), "ROW  COLUMN+CELL\n r1 column=f:a, value=v\nt\n");
    output_free(&output);
    (void)fclose(file);
}

static void
test_terminal_layout(void **state)
{
    FILE *file = tmpfile();
    struct output output;

    (void)state;
    assert_non_null(file);
    output_init(&output, file, true); /* no terminal behind it: 80 characters */
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

/* ---- Input files
 * --------------------------------------------------------------------------------- */

/* All records of an input: `row{column=value|..}` a line, mistakes as they are reported. */
static const char *
records(enum file_format format, const char *input)
{
    static struct text text;
    FILE *file = fmemopen((void *)(uintptr_t)input, strlen(input), "r");
    struct record_reader reader;
    enum record_outcome outcome;

    assert_non_null(file);
    text_clear(&text);
    shell_record_reader_init(&reader, format, file);
    while ((outcome = shell_record_next(&reader)) != RECORD_END) {
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
        if (outcome == RECORD_FAILED)
            break;
    }
    shell_record_reader_free(&reader);
    (void)fclose(file);
    return text_string(&text);
}

static void
test_csv(void **state)
{
    (void)state;
    assert_string_equal(records(FILE_CSV, "id,f:a,f:b\nr1,1,2\r\n\"r,2\",\"say \"\"hi\"\"\",\n"
                                          "r3,\"two\nlines\",\"\"\n\nr4,x\nr5,1,2,3\nr6,,9\n"),
                        "r1{f:a=1|f:b=2}\nr,2{f:a=say \"hi\"}\nr3{f:a=two\nlines|f:b=}\n"
                        "line 7: 1 values, but the first line has 2 columns\n"
                        "line 8: more values than the first line has columns (2)\n"
                        "r6{f:b=9}\n");
    assert_string_equal(records(FILE_CSV, "id,f:a\nr1,\"open\n"),
                        "line 2: a quote is not closed\n");
    assert_string_equal(records(FILE_CSV, "id,a\nr1,1\n"),
                        "line 1: column 'a' is not of the form family:qualifier\n");
    assert_string_equal(records(FILE_CSV, "id,f:a,f:b,\"f:a\"\nr1,1,2,3\n"),
                        "line 1: column 'f:a' stands twice\n");
    assert_string_equal(records(FILE_CSV, "id,f:a\r\nr1,\"two\r\nlines\"\r\nr2,\"x\"y\n"),
                        "r1{f:a=two\r\nlines}\n"
                        "line 4: a quote is followed by something else than a comma\n");
}

static void
test_tsv(void **state)
{
    (void)state;
    assert_string_equal(records(FILE_TSV, "id\tf:a\tf:b\nr1\t\"1\"\t2\n\t1\t2\n"),
                        "r1{f:a=\"1\"|f:b=2}\nline 3: the row is empty or missing\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_values_of_variables),
        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_continued_lines),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_open_end),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_plain_layout),
        cmocka_unit_test(test_terminal_layout),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_tsv),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

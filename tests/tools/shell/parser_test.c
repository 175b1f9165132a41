/*
 * parser_test.c -- the shell's language, values, layout and input formats, without a database.
 */
#include "tools/shell/files/record.h"
#include "tools/shell/language/parser.h"
#include "tools/shell/language/variable.h"
#include "tools/shell/print/output.h"
#include "tools/shell/print/wrap.h"

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
        if (node->receiver != NULL)
            dump_node(text, node->receiver);
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
    case NODE_STRING:
        text_add_string(text, "<");
        break;
    case NODE_CLASS:
        text_add_string(text, "class ");
        text_add_slice(text, node->name);
        return;
    case NODE_SCOPE:
        dump_node(text, node->receiver);
        text_add_string(text, "::");
        text_add_slice(text, node->name);
        return;
    case NODE_OPERATOR:
    case NODE_JUMP:
        text_add_slice(text, node->name);
        text_add_string(text, "(");
        break;
    case NODE_IF:
        text_add_string(text, "if(");
        break;
    case NODE_WHILE:
        text_add_string(text, "while(");
        break;
    case NODE_FOR:
        text_add_string(text, "for(");
        break;
    case NODE_BLOCK:
        for (size_t i = 0; i < node->name_count; i++) {
            text_add_string(text, i > 0 ? "," : "");
            text_add_slice(text, node->names[i]);
        }
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
    text_add_string(text, node->kind == NODE_HASH     ? "}"
                          : node->kind == NODE_STRING ? ">"
                          : node->kind == NODE_INDEX || node->kind == NODE_ARRAY ||
                                  node->kind == NODE_BLOCK
                              ? "]"
                              : ")");
}

/*
 * What becomes of an input, given with its lines: its trees parted by " ; ", "?" if it wants more
 * lines, or "POSITION: message".
 */
static const char *
parsed_with(const struct variables *known, const char *input)
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
        if (error.message[0] == '\0' &&
            parser_parse(&lexer, known, &arena, &statements, &count, &error)) {
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

static const char *
parsed(const char *input)
{
    return parsed_with(NULL, input);
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
    assert_string_equal(parsed("t[0, 1]"), "t()[0, 1]");
    assert_string_equal(parsed("t[0, 1, 2]"), "6: unexpected ',', expected ']'");
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

    /* A block's variables hide those around it, until it ends. */
    item = value_integer(6);
    variables_push(&variables, slice_of_string("number"), &item);
    item = value_integer(7);
    variables_set(&variables, slice_of_string("number"), &item);
    variables_set(&variables, slice_of_string("own"), &item);
    text_clear(&text);
    value_inspect(&text, variables_get(&variables, slice_of_string("number")));
    variables_pop_to(&variables, 2);
    value_inspect(&text, variables_get(&variables, slice_of_string("number")));
    assert_string_equal(text_string(&text), "75");
    assert_null(variables_get(&variables, slice_of_string("own")));
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
    assert_string_equal(parsed("create 'u' {NAME => 'f'}"),
                        "11: unexpected '{'; is a comma missing before it?");
    assert_string_equal(parsed("scan 't')"), "8: unexpected ')'");
    assert_string_equal(parsed("scan 't', {LIMIT = 1}"), "17: unexpected '=', expected '=>'");
    assert_string_equal(parsed(")"), "0: unexpected ')'");
    assert_string_equal(parsed("get 't' 5"), "8: unexpected number; is a comma missing before it?");
    assert_string_equal(parsed("put 99999999999999999999"),
                        "4: this number does not fit into 64 bits");
    assert_string_equal(parsed("get \"\\xg\""), "5: invalid hexadecimal escape");
    assert_string_equal(parsed("get 1x"), "4: this is no number");
    assert_string_equal(parsed("scan 't', A => 1, 'b'"),
                        "21: unexpected end of the command, expected '=>'");
}

static void
test_interpolation(void **state)
{
    (void)state;
    assert_string_equal(parsed("\"a#{x}b#{1}\""), "<\"a\", |[x()], \"b\", |[1], \"\">");
    assert_string_equal(parsed("put \"#{}\" 'b'"), "put(<\"\", |[], \"b\">)");
    assert_string_equal(parsed("\"#{\"in #{'x'}\"}\""),
                        "<\"\", |[<\"in \", |[\"x\"], \"\">], \"\">");
    assert_string_equal(parsed("\"#{ {'}' => 1}['}'] }\""), "<\"\", |[{\"}\"=>1}[\"}\"]], \"\">");
    assert_string_equal(parsed("\"# {x} #\""), "\"# {x} #\"");
    assert_string_equal(parsed("\"#{x"), "?");
    assert_string_equal(parsed("\"#{)}\""), "3: unexpected ')'");
    assert_string_equal(parsed("\"#{[)}\""), "4: unexpected ')'");
    assert_string_equal(parsed("\"#{1 2}\""), "5: unexpected number");
    assert_string_equal(parsed("%w[a b] + %w()"), "+([\"a\", \"b\"], [])");
    assert_string_equal(parsed("%w[a"), "0: %w must be closed in its line, by ']'");
    assert_string_equal(parsed("5 %w"), "%(5, w())");
}

static void
test_operators(void **state)
{
    struct variables known = {0};
    struct value five = value_integer(5);

    (void)state;
    assert_string_equal(parsed("1 + 2 * 3 - -4"), "-(+(1, *(2, 3)), -4)");
    assert_string_equal(parsed("2 ** 3 ** 2"), "**(2, **(3, 2))");
    assert_string_equal(parsed("-x ** 2"), "-(**(x(), 2))");
    assert_string_equal(parsed("(1 + 2) * 3"), "*(+(1, 2), 3)");
    assert_string_equal(parsed("0..n - 1"), "..(0, -(n(), 1))");
    assert_string_equal(parsed("'a'...'c'"), "...(\"a\", \"c\")");
    assert_string_equal(parsed("1000+i*(9999-1000)/n"), "+(1000, /(*(i(), -(9999, 1000)), n()))");
    assert_string_equal(parsed("a == 1 && !b || c"), "||(&&(==(a(), 1), !(b())), c())");
    assert_string_equal(parsed("not a and b or c"), "||(&&(!(a()), b()), c())");
    assert_string_equal(parsed("a ? 'x' : 'y'"), "if(a(), |[\"x\"], |[\"y\"])");
    assert_string_equal(parsed("put 't', 'k' + 'l', i.to_s * 3"),
                        "put(\"t\", +(\"k\", \"l\"), *(i().to_s(), 3))");
    assert_string_equal(parsed("i += 1"), "i=(+(i(), 1))");
    assert_string_equal(parsed("x ||= 'v'"), "x=(||(x(), \"v\"))");
    assert_string_equal(parsed("h['a'] = 5"), "h()[\"a\"]=(5)");
    assert_string_equal(parsed("h['a'] += 5"), "h()[\"a\"]=(+(h()[\"a\"], 5))");
    assert_string_equal(parsed("a << 'x' << 'y'"), "<<(<<(a(), \"x\"), \"y\")");
    /* A name that is a variable takes no argument where an operator can stand. */
    assert_string_equal(parsed("puts -1"), "puts(-1)");
    assert_string_equal(parsed("n = 5; n -1"), "n=(5) ; +(n(), -1)");
    assert_string_equal(parsed("n = [5]; n [0]"), "n=([5]) ; n()[0]");
    variables_set(&known, slice_of_string("n"), &five);
    assert_string_equal(parsed_with(&known, "n -1"), "+(n(), -1)");
    assert_string_equal(parsed_with(&known, "n [0]"), "n()[0]");
    variables_free(&known);
    assert_string_equal(parsed("n -1"), "n(-1)");
    assert_string_equal(parsed("1 +"), "?");
    assert_string_equal(parsed("1 + ]"), "4: unexpected ']'");
    assert_string_equal(parsed("a ? 1"), "5: unexpected end of the command, expected ':'");
}

static void
test_loops(void **state)
{
    (void)state;
    assert_string_equal(parsed("(0..3).each { |i| put \"r#{i}\" }"),
                        "..(0, 3).each(i|[put(<\"r\", |[i()], \"\">)])");
    assert_string_equal(parsed("5.times { list }"), "5.times(|[list()])");
    assert_string_equal(parsed("1.upto(5) { list }"), "1.upto(5|[list()])");
    assert_string_equal(parsed("a.each do |k, v|\n drop k\n\n disable v\nend"),
                        "a().each(k,v|[drop(k()), disable(v())])");
    assert_string_equal(parsed("for i in 0..1 do put i end"), "for(..(0, 1), i|[put(i())])");
    assert_string_equal(parsed("for i in a.each do put i end; list"),
                        "for(a().each(), i|[put(i())]) ; list()");
    assert_string_equal(
        parsed("for i in 'a'..'z' do for j in 'a'..'z' do \\\nput i, \"#{j}\" end end"),
        "for(..(\"a\", \"z\"), i|[for(..(\"a\", \"z\"), j|[put(i(), <\"\", |[j()], \"\">)])])");
    assert_string_equal(parsed("while i < 2\n put i\n i += 1\nend"),
                        "while(<(i(), 2), |[put(i()), i=(+(i(), 1))])");
    assert_string_equal(parsed("until a do next if b; break end"),
                        "while(!(a()), |[if(b(), |[next()]), break()])");
    assert_string_equal(parsed("if a then 1 elsif b\n 2 else 3 end"),
                        "if(a(), |[1], |[if(b(), |[2], |[3])])");
    assert_string_equal(parsed("drop 't' if exists 't'"), "if(exists(\"t\"), |[drop(\"t\")])");
    assert_string_equal(parsed("drop 't' unless a"), "if(!(a()), |[drop(\"t\")])");
    assert_string_equal(parsed("loop { break }"), "loop(|[break()])");
    assert_string_equal(parsed("a.map(&:size)"), "a().map(item|[item().size()])");
    assert_string_equal(parsed("x.end"), "x().end()");
    assert_string_equal(parsed("a.each { |i|"), "?");
    assert_string_equal(parsed("a.each do |i|"), "?");
    assert_string_equal(parsed("for i in a"), "?");
    assert_string_equal(parsed("if a"), "?");
    assert_string_equal(parsed("list if a"), "if(a(), |[list()])");
    assert_string_equal(parsed("end"), "0: unexpected 'end'");
    assert_string_equal(parsed("break"), "0: unexpected 'break', which stands in a loop only");
    assert_string_equal(parsed("for i 1"), "?");
    assert_string_equal(parsed("for i 1 end"), "6: unexpected number, expected 'in'");
    assert_string_equal(parsed("a.each do |i| ) end"), "14: unexpected ')'");
    assert_string_equal(parsed("def f(x)"), "?");
    assert_string_equal(parsed("def f(x)\n x\nend"),
                        "0: 'def' is of Ruby, not of this shell; help 'loops' shows what there is");
    assert_string_equal(parsed("a.each { |i| return }"),
                        "13: 'return' is of Ruby, not of this shell; help 'loops' shows what there "
                        "is");
}

static void
test_classes(void **state)
{
    (void)state;
    assert_string_equal(parsed("import org.apache.hadoop.hbase.filter.PrefixFilter"),
                        "import(class org.apache.hadoop.hbase.filter.PrefixFilter)");
    assert_string_equal(parsed("java.util.Date.new(5).toString()"),
                        "class java.util.Date.new(5).toString()");
    assert_string_equal(parsed("CompareFilter::CompareOp.valueOf('EQUAL')"),
                        "CompareFilter::CompareOp.valueOf(\"EQUAL\")");
    assert_string_equal(parsed("scan FILTER => PageFilter.new 5"),
                        "scan({FILTER=>PageFilter.new(5)})");
    assert_string_equal(parsed("org.apache"),
                        "10: unexpected end of the command, expected '.' and a class of Java's");
    assert_string_equal(parsed("org = 't'; org.size"), "org=(\"t\") ; org().size()");
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
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(deep + i, "1+", 2);
    deep[3999] = '1';
    assert_non_null(strstr(parsed(deep), "nested too deeply"));
    memset(deep, '!', 3999);
    deep[3999] = 'a';
    assert_non_null(strstr(parsed(deep), "nested too deeply"));
    for (size_t i = 0; i < 4000; i += 4)
        memcpy(deep + i, "\"#{ ", 4);
    assert_non_null(strstr(parsed(deep), "nested too deeply"));
    for (size_t i = 0; i < 3995; i += 5)
        memcpy(deep + i, "if 1;", 5);
    memcpy(deep + 3995, "    ", 5);
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

static void
test_wrapping(void **state)
{
    (void)state;
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

static void
test_csv(void **state)
{
    (void)state;
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

static void
test_tsv(void **state)
{
    (void)state;
    assert_string_equal(records(FILE_TSV, "id\tf:a\tf:b\nr1\t\"1\"\t2\n\t1\t2\n", 1),
                        "r1{f:a=\"1\"|f:b=2}\n3: the row's column 'id' is empty\n");
}

static void
test_rows(void **state)
{
    (void)state;
    assert_string_equal(records(FILE_CSV, "a,b,c,d\n1,2,3,4\n5,\"\",,6\n5,6,\"7\",\n", 3),
                        "3 & 2 & 1{d=4}\n3: the row's column 'c' is empty\n7 & 6 & 5{}\n");
    assert_string_equal(records(FILE_CSV, "a,b\n1,\n\nx\n,2\n", 0),
                        "0000000001{a=1}\n4: there is 1 value, but the first line has 2 columns\n"
                        "0000000003{b=2}\n");
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
        cmocka_unit_test(test_interpolation),
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_open_end),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_plain_layout),
        cmocka_unit_test(test_terminal_layout),
        cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_tsv),
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

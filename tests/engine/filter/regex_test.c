/* regex_test.c -- regular expressions of filters: what matches, what is refused and where, and that nothing makes them slow. */
#include "base/slice.h"
#include "engine/filter/regex.h"
#include "tests/support/test_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool
found_in(const char *expression, bool ignore_case, petal_slice text)
{
    struct test_allocator allocator;
    struct regex_mistake mistake;
    struct regex *regex;
    bool found;

    test_allocator_init(&allocator);
    if (regex_new(&regex, &allocator.table, slice_from_text(expression), ignore_case, &mistake) !=
        PETAL_OK)
        fail_msg("%s: %s at %zu", expression, mistake.reason, mistake.position);
    found = regex_find(regex, text);
    regex_free(regex);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
    return found;
}

static void
check(const char *expression, const char *text, bool wanted)
{
    if (found_in(expression, false, slice_from_text(text)) != wanted)
        fail_msg("'%s' in '%s': wanted %s", expression, text, wanted ? "a match" : "none");
}

static void
test_literals_and_anchors(void **state)
{
    (void)state;
    check("", "", true);
    check("", "x", true);
    check("ell", "hello", true);
    check("ell", "elk", false);
    check("^h", "hello", true);
    check("^e", "hello", false);
    check("o$", "hello", true);
    check("l$", "hello", false);
    check("^$", "", true);
    check("^$", "x", false);
    check("o$", "hello\n", true);
    check("o$", "hello\r\n", true);
    check("o$", "hello\n\n", false);
    check("o\\z", "hello\n", false);
    check("\\Ahello\\Z", "hello\n", true);
    check("a.c", "a\nc", true);
    check("^.$", "ab", false);
    check("a\\.c", "abc", false);
    check("a\\.c", "a.c", true);
    check("\\Qa.c*\\E+", "a.c***", true);
    check("\\Qa.c\\E", "abc", false);
    check("\\x41\\u0042\\t\\x{43}\\0104", "AB\tCD", true);
}

static void
test_classes(void **state)
{
    (void)state;
    check("^[abc]$", "b", true);
    check("^[abc]$", "d", false);
    check("^[^abc]$", "d", true);
    check("^[^abc]$", "a", false);
    check("^[a-cx-z]+$", "abxz", true);
    check("^[a-cx-z]+$", "abdz", false);
    check("^[]a]$", "]", true);
    check("^[a-]$", "-", true);
    check("^[\\d_]+$", "12_", true);
    check("^[^\\d]+$", "1a", false);
    check("^[\\D]$", "a", true);
    check("^[\\D]$", "7", false);
    check("^\\w+\\s\\W$", "a_9 !", true);
    check("^\\S$", " ", false);
    check("\\bcat\\b", "a cat sat", true);
    check("\\bcat\\b", "concat it", false);
    check("\\Bcat\\b", "concat it", true);
}

static void
test_groups_and_repetition(void **state)
{
    (void)state;
    check("^(a|bc|d)*$", "abcda", true);
    check("^(a|bc|d)*$", "abda", false);
    check("^a|b$", "ac", true);
    check("^(?:a|b)$", "ac", false);
    check("^(|a)b$", "b", true);
    check("^ab*c+d?$", "acc", true);
    check("^ab*c+d?$", "abd", false);
    check("^a{3}$", "aaa", true);
    check("^a{3}$", "aa", false);
    check("^a{2,}$", "aaaaa", true);
    check("^a{2,}$", "a", false);
    check("^(ab){1,2}$", "ababab", false);
    check("^(ab){1,2}$", "abab", true);
    check("^a{0}b$", "b", true);
    check("^a{0,2}b$", "aaab", false);
    check("^a{0,2}b$", "aab", true);
    check("^a*?b+?c??$", "aabb", true);
    check("^(a{1,2}|b){2}$", "aab", true);
    check("^((a*)*)*$", "aaaa", true);
    check("x(a|(b|c){2}|d)y", "zxbcy", true);
    check("(((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3,3}"
          "(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?))(\\/[0-9]+)?",
          "at 192.168.17.255/24", true);
}

static void
test_case(void **state)
{
    (void)state;
    assert_true(found_in("^HELLO$", true, slice_from_text("hello")));
    assert_true(found_in("^[A-C]+$", true, slice_from_text("abC")));
    assert_false(found_in("^[^a]$", true, slice_from_text("A")));
    check("(?i)heLLo", "HELLO", true);
    check("h(?i)EL(?-i)lo", "hello", true);
    check("h(?i)EL(?-i)lo", "helLo", false);
    check("^(?i:a)b$", "Ab", true);
    check("^(?i:a)b$", "AB", false);
    check("^((?i)a)b$", "AB", false);
}

/* As Java decodes them: each longest part that could begin a character is one U+FFFD. */
static void
test_bytes_that_are_no_utf8(void **state)
{
    (void)state;
    check("^.$", "\xC3\xA9", true);
    check("^\xC3\xA9?$", "\xC3\xA9", true);
    check("^.$", "\xF0\x9F\x98\x80", true);
    check("^.$", "\xFF", true);
    check("^\\uFFFD$", "\xFF", true);
    check("^..$", "a\x80", true);
    check("^.$", "\xE2\x82", true);
    check("^..$", "\xE2\x82x", true);
    check("^..$", "\xC0\x80", true);
    check("^.$", "\xED\xA0\x80", true);
    check("^....$", "\xF5\x80\x80\x80", true);
    check("^[\xC3\xA0-\xC3\xBF]$", "\xC3\xA9", true);
}

static void
check_refused(const char *expression, size_t position, const char *reason)
{
    struct test_allocator allocator;
    struct regex_mistake mistake;
    struct regex *regex;

    test_allocator_init(&allocator);
    if (regex_new(&regex, &allocator.table, slice_from_text(expression), false, &mistake) !=
        PETAL_INVALID)
        fail_msg("'%s' is accepted", expression);
    assert_null(regex);
    if (mistake.position != position || strstr(mistake.reason, reason) == NULL)
        fail_msg("'%s': '%s' at %zu", expression, mistake.reason, mistake.position);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
}

static void
test_refused(void **state)
{
    (void)state;
    check_refused("*a", 0, "nothing to repeat");
    check_refused("a|*", 2, "nothing to repeat");
    check_refused("a**", 2, "follows a quantifier");
    check_refused("a++", 2, "possessive");
    check_refused("a{2,1}", 1, "braces");
    check_refused("a{x}", 1, "braces");
    check_refused("(a", 0, "not closed");
    check_refused("a)", 1, "no opening");
    check_refused("[a", 0, "not closed");
    check_refused("[z-a]", 1, "ends before");
    check_refused("[a[b]]", 2, "within classes");
    check_refused("[a&&b]", 2, "intersection");
    check_refused("(?=a)", 0, "look-ahead");
    check_refused("(?<!a)", 0, "look-behind");
    check_refused("(?>a)", 0, "not supported");
    check_refused("(?m)a", 0, "not supported");
    check_refused("(a)\\1", 3, "back references");
    check_refused("\\p{Alpha}", 0, "escape");
    check_refused("a\\", 1, "backslash");
    check_refused("\\x4", 0, "number of a character");
    check_refused("(a{1000}){1000}", 15, "too large");
    check_refused("a{99999}", 8, "too large");
}

static void
test_hostile_nesting(void **state)
{
    char deep[2 * 70 + 2];

    (void)state;
    memset(deep, '(', 70);
    deep[70] = 'a';
    memset(deep + 71, ')', 70);
    deep[141] = '\0';
    check_refused(deep, REGEX_MOST_DEPTH, "too deeply");
    deep[131] = '\0';
    check(deep + 10, "a", true);
}

/* What takes a backtracking matcher longer than anyone can wait. */
static void
test_time_is_linear(void **state)
{
    size_t size = 100000;
    char *text = test_allocate(size + 1);

    (void)state;
    memset(text, 'a', size);
    text[size] = '\0';
    check("^(a+)+$", text, true);
    check("(a*)*b", text, false);
    check("(a|aa)+$", text, true);
    check("a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?b", text, false);
    free(text);
}

static void
test_memory_failures(void **state)
{
    struct test_allocator allocator;
    struct regex_mistake mistake;
    struct regex *regex;

    (void)state;
    for (uint64_t n = 1;; n++) {
        enum petal_status status;

        test_allocator_init(&allocator);
        test_allocator_fail_at(&allocator, n, true);
        status = regex_new(&regex, &allocator.table, slice_from_text("([a-z]\\d{2,20}|x)*[^q]$"),
                           false, &mistake);
        if (status == PETAL_OK) {
            assert_true(n > 3);
            regex_free(regex);
            break;
        }
        assert_int_equal(status, PETAL_NO_MEMORY);
        assert_int_equal(test_allocator_live_blocks(&allocator), 0);
    }
}

/* A class of random members, as it is written and as what it must hold, for characters below 0x200.
 */
struct members {
    char text[1024];
    size_t size;
    bool held[0x200];
};

static void
add_character(struct members *members, unsigned c)
{
    members->size += (size_t)snprintf(members->text + members->size,
                                      sizeof members->text - members->size, "\\u%04X", c);
}

static void
add_members(struct members *members, struct test_random *random, bool ignore_case)
{
    unsigned low = (unsigned)test_random_below(random, 0x200), high = low;

    add_character(members, low);
    if (test_random_below(random, 2) == 0) {
        high = low + (unsigned)test_random_below(random, 0x20);
        if (high > 0x1FF)
            high = 0x1FF;
        members->text[members->size++] = '-';
        add_character(members, high);
    }
    for (unsigned c = low; c <= high; c++) {
        members->held[c] = true;
        if (ignore_case && ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c < 0x80)
            members->held[c ^ 0x20] = true;
    }
}

static void
test_classes_hold_their_members(void **state)
{
    struct test_random random;

    (void)state;
    test_random_init(&random, 18);
    for (int round = 0; round < 200; round++) {
        bool negated = test_random_below(&random, 2) == 0;
        bool ignore_case = test_random_below(&random, 2) == 0;
        struct members members = {.size = 0};
        size_t count = 1 + test_random_below(&random, 40);

        members.size =
            (size_t)snprintf(members.text, sizeof members.text, "^[%s", negated ? "^" : "");
        for (size_t i = 0; i < count; i++)
            add_members(&members, &random, ignore_case);
        snprintf(members.text + members.size, sizeof members.text - members.size, "]\\z");
        for (unsigned c = 0; c < 0x200; c++) {
            char text[2] = {(char)(c < 0x80 ? c : 0xC0 | c >> 6), (char)(0x80 | (c & 0x3F))};

            if (found_in(members.text, ignore_case, slice_make(text, c < 0x80 ? 1 : 2)) !=
                (members.held[c] != negated))
                fail_msg("%s %s: character %u", members.text, ignore_case ? "ignoring case" : "",
                         c);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals_and_anchors),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_groups_and_repetition),
        cmocka_unit_test(test_case),
        cmocka_unit_test(test_bytes_that_are_no_utf8),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_hostile_nesting),
        cmocka_unit_test(test_time_is_linear),
        cmocka_unit_test(test_memory_failures),
        cmocka_unit_test(test_classes_hold_their_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

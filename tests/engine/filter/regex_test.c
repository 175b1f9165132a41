/* regex_test.c -- regular expressions of filters: what matches, what is refused and where, and what
 * is given up. */
#include "base/mem.h"
#include "base/slice.h"
#include "engine/filter/regex.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the search in `text` says; *found if it is PETAL_OK. */
static enum petal_status
search(const char *expression, bool ignore_case, petal_slice text, bool *found, char *reason)
{
    struct test_allocator allocator;
    struct regex_mistake mistake;
    struct regex_search *search;
    struct regex *regex;
    enum petal_status status;

    test_allocator_init(&allocator);
    if (regex_new(&regex, &allocator.table, slice_from_text(expression), ignore_case, &mistake) !=
        PETAL_OK)
        fail_msg("%s: %s at %zu", expression, mistake.reason, mistake.position);
    assert_int_equal(regex_search_new(&search, &allocator.table, regex), PETAL_OK);
    status = regex_search_find(search, text, found);
    if (reason != NULL)
        strcpy(reason, status == PETAL_OK ? "" : regex_search_reason(search));
    regex_search_free(search);
    regex_free(regex);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
    return status;
}

static bool
found_in(const char *expression, bool ignore_case, petal_slice text)
{
    char reason[200];
    bool found;

    if (search(expression, ignore_case, text, &found, reason) != PETAL_OK)
        fail_msg("'%s': %s", expression, reason);
    return found;
}

static void
check(const char *expression, const char *text, bool wanted)
{
    if (found_in(expression, false, slice_from_text(text)) != wanted)
        fail_msg("'%s' in '%s': wanted %s", expression, text, wanted ? "a match" : "none");
}

TEST(test_literals_and_anchors)
{
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
    check("o$", "hello\r", true);
    check("o$", "hello\xC2\x85", true);
    check("o$", "hello\xE2\x80\xA8", true);
    check("o$", "hello\v", false);
    check("o$", "hello\f", false);
    check("\\r$", "hello\r\n", false);
    check("\\n$", "hello\r\n", true);
    check("^.$", "\r\n", false);
    check("o$|x", "hello\n\nx", true);
    check("\\sab", "\r\nab", true);
    check("o\\z", "hello\n", false);
    check("\\Ahello\\Z", "hello\n", true);
    check("a.c", "a\nc", true);
    check("^.$", "ab", false);
    check("a\\.c", "abc", false);
    check("a\\.c", "a.c", true);
    check("\\Qa.c*\\E+", "a.c***", true);
    check("\\Qa.c\\E", "abc", false);
    check("\\x41\\u0042\\t\\x{43}\\0104", "AB\tCD", true);
    check("^\\ca\\cA$", "!\001", true);
    check("^\\h\\v\\H\\V$", "\t\f\f\t", true);
}

TEST(test_classes)
{
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

TEST(test_groups_and_repetition)
{
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
    check("x^*\\b+\\A?y", "xy", false);
    check("x^*\\A?y", "xy", true);
    check("^((a*)*)*$", "aaaa", true);
    check("x(a|(b|c){2}|d)y", "zxbcy", true);
    check("(((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3,3}"
          "(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?))(\\/[0-9]+)?",
          "at 192.168.17.255/24", true);
}

TEST(test_looking_around)
{
    check("^(?!abc)", "abcd", false);
    check("^(?!abc)", "abd", true);
    check("a(?=b)", "ac ab", true);
    check("a(?=b)", "ac", false);
    check("(?<=a)b", "cb ab", true);
    check("(?<=a)b", "cb", false);
    check("(?<!a)b", "ab", false);
    check("(?<!a)b", "ab cb", true);
    check("^(?<name>a|b)(?i:C)$", "bc", true);
}

/* What PCRE2 means by it and Java does not is no way out of Java's language. */
TEST(test_nothing_of_pcre2_comes_through)
{
    check("^[a#b x]{3}$", "# x", true);
    check("a}b]", "a}b]", true);
    check("^\\Q[(\\w*\\E$", "[(\\w*", true);
    check("^\\Q(?i)", "(?i)", true);
    check("a-\\-\\#\\ \\<", "a--# <", true);
}

TEST(test_case)
{
    assert_true(found_in("^HELLO$", true, slice_from_text("hello")));
    assert_true(found_in("^[A-C]+$", true, slice_from_text("abC")));
    assert_false(found_in("^[^a]$", true, slice_from_text("A")));
    check("(?i)heLLo", "HELLO", true);
    check("h(?i)EL(?-i)lo", "hello", true);
    check("h(?i)EL(?-i)lo", "helLo", false);
    check("^(?i:a)b$", "Ab", true);
    check("^(?i:a)b$", "AB", false);
    check("^((?i)a)b$", "AB", false);
    check("^(?i)\\x61[\\u0062-\\u0063]$", "AC", true);
    check("(?i)^k$", "\xE2\x84\xAA", false);    /* the Kelvin sign */
    check("(?i)^\xC3\xA9$", "\xC3\x89", false); /* as Java without UNICODE_CASE */
    check("a(?i)b|c", "C", true);
}

/* As Java decodes them: each longest part that could begin a character is one U+FFFD. */
TEST(test_bytes_that_are_no_utf8)
{
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
    check("^aaaaaaaaa.b$",
          "aaaaaaaaa\xFF"
          "b",
          true);
    check("^\\x{FFFD}\\x{FFFD}x$", "\xEF\xBF\xBD\xFFx", true);
    assert_true(found_in("^a\\x00b$", false, slice_make("a\0b", 3)));
    assert_true(found_in("^a.b$", false, slice_make("a\0b", 3)));
    assert_true(found_in("^a$", false, slice_make("a\n", 2)));
    assert_false(found_in("^a$", false, slice_make("a\0", 2)));
    assert_true(found_in("", false, slice_make(NULL, 0)));
    assert_false(found_in(".", false, slice_make(NULL, 0)));
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

TEST(test_refused)
{
    check_refused("*a", 0, "repeatable");
    check_refused("a|*", 2, "repeatable");
    check_refused("a**", 2, "repeatable");
    check_refused("(*ACCEPT)a", 1, "repeatable");
    check_refused("a+++", 3, "repeatable");
    check_refused("a*?+", 3, "repeatable");
    check_refused("a{2,1}", 1, "out of order");
    check_refused("a{x}", 1, "braces");
    check_refused("a{,2}", 1, "braces");
    check_refused("(a", 1, "missing closing");
    check_refused("\xC3\xA9(a", 3, "missing closing");
    check_refused("a)", 1, "no opening");
    check_refused("[a", 0, "not closed");
    check_refused("[]", 0, "not closed");
    check_refused("[z-a]", 1, "ends before");
    check_refused("[a-\\d]", 1, "ends before");
    check_refused("[a[b]", 0, "not closed");
    check_refused("[a&&", 2, "not closed");
    check_refused("[a&&[b]", 2, "not closed");
    check_refused("[&&]", 1, "right side");
    check_refused("[a-c&&]", 4, "right side");
    check_refused("[a&&&&b]", 2, "right side");
    check_refused("(?<=a*)b", 0, "lookbehind");
    check_refused("(?<name", 0, "name");
    check_refused("(?<1>a)", 0, "name");
    check_refused("(?<n>a)(?<n>b)", 7, "another group");
    check_refused("\\k<n>(?<n>a)", 0, "no group of that name");
    check_refused("(?<n>a)\\k{n}", 7, "name");
    check_refused("(?|a)", 0, "not supported");
    check_refused("(?m)a", 0, "not supported");
    check_refused("(?R)", 0, "not supported");
    check_refused("(?", 0, "not supported");
    check_refused("(?i)(a)\\1", 7, "where case is ignored");
    check_refused("(?i)(a)(?-i:\\1)\\1", 15, "where case is ignored");
    check_refused("[\\1]", 1, "in classes");
    check_refused("(?<=(a)\\1)", 7, "look-behind");
    check_refused("\\p{InGreek}", 0, "blocks");
    check_refused("\\p{blk=Greek}", 0, "blocks");
    check_refused("\\p{alpha}", 0, "property");
    check_refused("\\p{Isnothing}", 0, "unknown property");
    check_refused("\\p{^L}", 0, "property");
    check_refused("\\p{L&}", 0, "property");
    check_refused("\\p{}", 0, "property");
    check_refused("\\p{L", 0, "not closed");
    check_refused("\\p", 0, "has to follow");
    check_refused("[a-\\p{L}]", 3, "escape");
    check_refused("\\X", 0, "escape");
    check_refused("\\N{SPACE}", 0, "escape");
    check_refused("\\b{g}", 0, "grapheme");
    check_refused("\\K", 0, "escape");
    check_refused("[\\b]", 1, "escape");
    check_refused("a\\", 1, "backslash");
    check_refused("\\x4", 0, "number of a character");
    check_refused("\\x{110000}", 0, "number of a character");
    check_refused("\\uD83D\\uDE00", 0, "surrogate");
    check_refused("a{99999}", 1, "too big");
    check_refused("(?:[ab][cd]){9999}", 12, "too large");
}

/* Letters are Unicode's, though \w is ASCII's; marks belong to the letter before them. */
TEST(test_ends_of_words)
{
    check("\\bb",
          "\xC3\xA9"
          "b",
          false);
    check("\\Bb",
          "\xC3\xA9"
          "b",
          true);
    check("\\w\\b", "b\xC3\xA9", false);
    check("\\b\xD7\x90\\b", "a \xD7\x90 b", true);
    check("\\b\xD9\xA0", "a\xD9\xA0", false); /* a digit */
    check("a\\b", "a\xCC\x81", false);
    check("a\xCC\x81\\b", "a\xCC\x81 ", true);
    check("a\xCC\x81\\Bb",
          "a\xCC\x81"
          "b",
          true);
    check(" \xCC\x81\\bb",
          " \xCC\x81"
          "b",
          true); /* a mark of no letter is none */
    check("^\xCC\x81\\bb",
          "\xCC\x81"
          "b",
          true);
    check("a(\xCC\x81){8}\\Bb",
          "a\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81"
          "b",
          true);
    check("_\\b-", "_-", true);
    check("^\\b*a", "a", true);
    check("^\\b{2}a", "a", true);
    check("^\\B{2}a", "a", false);
}

TEST(test_properties)
{
    check("^\\p{Lu}\\p{Ll}$", "\xC3\x89\xC3\xA9", true);
    check("^\\pL\\PL$", "a1", true);
    check("^\\p{Lower}$", "\xC3\xA9", false);
    check("^\\p{javaLowerCase}$", "\xC3\xA9", true);
    check("^\\p{IsLatin}\\p{IsGREEK}\\p{script=Hebrew}\\p{sc=arab}$", "a\xCE\xB1\xD7\x90\xD8\xA7",
          true);
    check("^[\\p{Alpha}\\p{Digit}]+$", "a1", true);
    check("^\\p{IsPrint}+$", "a\t", false);
    check("^\\P{javaWhitespace}+$", "a\xC2\xA0", true);
    assert_true(found_in("^\\p{Lu}\\p{Lower}$", true, slice_from_text("aB")));
    assert_false(found_in("^\\p{Lu}$", false, slice_from_text("a")));
}

TEST(test_classes_in_classes)
{
    check("^[a[bc]d]+$", "abcd", true);
    check("^[a-z&&[^aeiou]]+$", "bcd", true);
    check("^[a-z&&[^aeiou]]+$", "bed", false);
    check("^[a-z&&def]+$", "fed", true);
    check("^[a-z&&def]+$", "fad", false);
    check("^[a-e&&c-h&&[^d]]+$", "ce", true);
    check("^[a-e&&c-h&&[^d]]+$", "cd", false);
    check("^[^a-z&&b-y]$", "c", false);
    check("^[^a-z&&b-y]$", "a", true);
    check("^[^[^a]]$", "a", true);
    check("^[^[^a]]$", "b", false);
    check("^[ab&&[b]&x]+$", "a&bx", true); /* single characters count to the end of the class */
    check("^[&&b]$", "b", true);
    check("^[a&b]+$", "&ab", true);
    check("^[[]x]]$", "]", true);
    check("^[^\\W\\p{IsAlphabetic}]$", "\xCC\x88", false); /* of a slip of PCRE2's */
    check("^[\\v-a]$", "A", true);
    check("^[\\P{L}\\d]+$", "1.", true);
    check("^[\\P{Graph}\\d]+$", "1 ", true);
    assert_true(found_in("^[a-c[X]&&[^b]]+$", true, slice_from_text("ACx")));
    assert_false(found_in("^[a-c[X]&&[^b]]+$", true, slice_from_text("B")));
    check("(?<=[a[^b]])c", "xc", true);
    check("[A&&\\w].*A", "A", false);
    check("(?=A).*A", "A c", true); /* a slip of PCRE2's, too */
}

TEST(test_references)
{
    check("(.)\\1", "abba", true);
    check("(.)\\1", "abab", false);
    check("^(?<x>a|b)\\k<x>$", "bb", true);
    check("^(?<x>a|b)\\k<x>$", "ba", false);
    check("^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10$", "abcdefghijj", true);
    check("^(a)\\10$", "aa0", true); /* there is no group 10 */
    check("^\\1(a)", "aa", false);
    check("(a)\\2", "aa", false);
    check("(a)|b\\1", "b", false);
    check("^(?:(a)|b)*\\1$", "aba", true);
    check("^((?i)a)\\1$", "AA", true);
    check("^((?i)a)\\1$", "Aa", false);
}

TEST(test_giving_nothing_back)
{
    check("^a*+a", "aaa", false);
    check("^a?+a", "a", false);
    check("^a{1,2}+a", "aa", false);
    check("^a{1,2}+b", "aab", true);
    check("^(?>a|ab)c", "abc", false);
    check("^(?>ab|a)c", "abc", true);
    check("^(?:a|ab){2}+$", "aba", false); /* nor does one repeat for the next */
    check("^(?:ab|a){2}+$", "aba", true);
    check("^\\Qab\\E++c", "abbc", true);
    check("^\\R$", "\r\n", true);
    check("^\\R\\n$", "\r\n", true);
    check("^\\R{2}$", "\r\n", false);
    check("^\\R++\\n$", "\r\n", false);
    check("\\R", "\xE2\x80\xA8", true);
    check("\\Ga", "ba", false);
}

/* ---- what Java said ---- */

/* %xx is a byte; up to a blank. */
static petal_slice
read_written(char **at, char *bytes)
{
    size_t size = 0;

    for (; **at != ' ' && **at != '\n' && **at != '\0'; (*at)++) {
        char digits[3] = {0};

        bytes[size] = **at;
        if (**at == '%') {
            memcpy(digits, *at + 1, 2);
            bytes[size] = (char)strtol(digits, NULL, 16);
            *at += 2;
        }
        size++;
    }
    if (**at == ' ')
        (*at)++;
    return slice_make(bytes, size);
}

/* A line of what JavaAnswers.java wrote; the number of answers that were compared. Expressions that
 * Java takes may be refused here. */
static unsigned
compare_line(char *line)
{
    char expression[1024], text[1024], *at = line + 2;
    bool ignore_case = line[0] == '1', found;
    petal_slice written = read_written(&at, expression);
    struct regex_search *search;
    struct regex_mistake mistake;
    struct regex *regex;
    unsigned answers = 0;

    if (regex_new(&regex, &mem_default_allocator, written, ignore_case, &mistake) != PETAL_OK)
        return 0;
    if (strncmp(at, "refused", 7) == 0)
        fail_msg("Java refuses: %s", line);
    assert_int_equal(regex_search_new(&search, &mem_default_allocator, regex), PETAL_OK);
    while (*at == '0' || *at == '1') {
        bool wanted = *at == '1';

        at += 2;
        assert_int_equal(regex_search_find(search, read_written(&at, text), &found), PETAL_OK);
        if (found != wanted)
            fail_msg("answer %u is not Java's: %s", answers + 1, line);
        answers++;
    }
    regex_search_free(search);
    regex_free(regex);
    return answers;
}

/* JAVA_ANSWERS: another file of them. */
TEST(test_what_java_says)
{
    const char *path = getenv("JAVA_ANSWERS");
    FILE *file = fopen(path != NULL ? path : "tests/engine/filter/java_answers.txt", "r");
    unsigned lines = 0, answers = 0;
    char line[1024];

    assert_non_null(file);
    for (; fgets(line, sizeof line, file) != NULL; lines++)
        answers += compare_line(line);
    fclose(file);
    assert_true(answers >= 4 * lines); /* five each, but for the few that are refused */
}

TEST(test_hostile_nesting)
{
    char deep[2 * 70 + 2];

    memset(deep, '(', 70);
    deep[70] = 'a';
    memset(deep + 71, ')', 70);
    deep[141] = '\0';
    check_refused(deep, REGEX_MOST_DEPTH, "too deeply");
    deep[70 + REGEX_MOST_DEPTH + 1] = '\0';
    check(deep + 70 - REGEX_MOST_DEPTH, "a", true);
    memcpy(deep + 70 - REGEX_MOST_DEPTH, "(?i)(?:", 7); /* the outermost group's flag is kept */
    deep[70 + REGEX_MOST_DEPTH - 5] = '\0';
    check(deep + 70 - REGEX_MOST_DEPTH, "A", true);
}

/* ---- limits ---- */

static void
check_given_up(const char *expression, petal_slice text, const char *reason)
{
    char given[200];
    bool found;

    if (search(expression, false, text, &found, given) != PETAL_INVALID)
        fail_msg("'%s' is not given up", expression);
    if (strstr(given, reason) == NULL)
        fail_msg("'%s': %s", expression, given);
}

/* What takes a matcher that goes back longer than anyone can wait ends by its steps, which are
 * counted. */
TEST(test_catastrophes_are_given_up)
{
    char text[2000];

    memset(text, 'a', sizeof text);
    text[40] = 'b';
    check_given_up("^(a+)+$", slice_make(text, 41), "match limit");
    check_given_up("(a+)+$", slice_make(text, 41), "match limit");
    check_given_up("(a*)*c|d", slice_make(text, 41), "match limit");
    check_given_up("^(a|a)+$", slice_make(text, 41), "match limit");
    check_given_up("^(?!(a+)+$)", slice_make(text, 41), "match limit");
    check_given_up("(.*a){20}[bc]$", slice_make(text + 41, 200), "match limit");
    /* Each place by itself is below the limit, all together are not. */
    check_given_up("a*a*[cd]", slice_make(text + 41, 1900), "match limit");
    /* PCRE2 sees that there is no c. */
    check("(a*)*c", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false);
    check("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true);
}

/* Long texts are no reason to give up what is simple, wherever a match begins, and what goes deep
 * ends by its memory. */
TEST(test_long_texts)
{
    size_t size = 1000000;
    char *text = test_allocate(size);

    memset(text, 'a', size);
    assert_false(found_in("xyz", false, slice_make(text, size)));
    assert_false(found_in("x.*y", false, slice_make(text, size)));
    assert_false(found_in("[^a]|ab|ac", false, slice_make(text, size)));
    assert_true(found_in("^(a+)+$", false, slice_make(text, size)));
    assert_true(found_in("^[^x]*$", false, slice_make(text, size)));
    check_given_up("a*[bc]", slice_make(text, size), "match limit");
    check_given_up("^(?:a|aa)+$", slice_make(text, size), "heap limit");
    /* What back references compare counts, too: there are few steps, and each is long. */
    check_given_up("^(a*)\\1b", slice_make(text, 60000), "match limit");
    check_given_up("(a*)\\1[bc]", slice_make(text, 5000), "match limit");
    assert_false(found_in("^(a*)\\1b", false, slice_make(text, 10000)));
    assert_false(found_in("(a)\\1b", false, slice_make(text, size)));
    memcpy(text + size - 3, "foo", 3);
    assert_true(found_in("foo", false, slice_make(text, size)));
    assert_true(found_in("f.*o$", false, slice_make(text, size)));
    text[10] = 'f';
    assert_false(found_in("f.*[xy]", false, slice_make(text, size)));
    memset(text, 0xFF, size);
    assert_true(found_in("^\\uFFFD+$", false, slice_make(text, size)));
    free(text);
}

TEST(test_huge_repetition)
{
    char text[1000], class[REGEX_MOST_MEMBERS + 4];

    memset(class, 'a', sizeof class);
    class[0] = '[';
    memcpy(class + REGEX_MOST_MEMBERS + 1, "]", 2);
    check(class, "a", true);
    memcpy(class + REGEX_MOST_MEMBERS + 1, "a]", 3);
    check_refused(class, 0, "too many members");
    memset(text, 'a', sizeof text);
    assert_true(found_in("^a{1000}$", false, slice_make(text, sizeof text)));
    assert_false(found_in("^a{1001}$", false, slice_make(text, sizeof text)));
    assert_false(found_in("(a{1000}){1000}", false, slice_make(text, sizeof text)));
    assert_true(found_in("((a{0,1000}){0,1000}){0,1}$", false, slice_make(text, sizeof text)));
    check_refused("((a{1000}){1000}){1000}", 17, "too large");
}

/* A search works in what it has, and after one that was given up, or had too little memory, the
 * next is as good as any. */
TEST(test_searches_allocate_once)
{
    struct test_allocator allocator;
    struct regex_mistake mistake;
    struct regex_search *search;
    struct regex *regex;
    char hostile[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    bool found;

    test_allocator_init(&allocator);
    assert_int_equal(
        regex_new(&regex, &allocator.table, slice_from_text("^(a+)+$"), false, &mistake), PETAL_OK);
    assert_int_equal(regex_search_new(&search, &allocator.table, regex), PETAL_OK);
    test_allocator_fail_at(&allocator, 1, true);
    assert_int_equal(regex_search_find(search, slice_from_text("aaa"), &found), PETAL_NO_MEMORY);
    test_allocator_fail_at(&allocator, 0, false);
    assert_int_equal(regex_search_find(search, slice_from_text("\xFF"), &found), PETAL_OK);
    test_allocator_fail_at(&allocator, 1, true);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(regex_search_find(search, slice_from_text("aaa"), &found), PETAL_OK);
        assert_true(found);
        assert_int_equal(regex_search_find(search,
                                           slice_from_text("a\xFF"
                                                           "aa"),
                                           &found),
                         PETAL_OK);
        assert_false(found);
        assert_int_equal(regex_search_find(search, slice_from_text(hostile), &found),
                         PETAL_INVALID);
    }
    test_allocator_fail_at(&allocator, 0, false);
    regex_search_free(search);
    regex_free(regex);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
}

TEST(test_memory_failures)
{
    enum petal_status status = PETAL_NO_MEMORY;
    uint64_t n;

    for (n = 1; status == PETAL_NO_MEMORY; n++) {
        struct test_allocator allocator;
        struct regex_mistake mistake;
        struct regex_search *search = NULL;
        struct regex *regex = NULL;
        bool found;

        test_allocator_init(&allocator);
        test_allocator_fail_at(&allocator, n, true);
        status = regex_new(&regex, &allocator.table, slice_from_text("([a-z]\\d{2,20}|x)*[^q]$"),
                           false, &mistake);
        if (status == PETAL_OK)
            status = regex_search_new(&search, &allocator.table, regex);
        if (status == PETAL_OK)
            status = regex_search_find(search, slice_from_text("\xFF"), &found);
        regex_search_free(search);
        regex_free(regex);
        assert_int_equal(test_allocator_live_blocks(&allocator), 0);
    }
    assert_int_equal(status, PETAL_OK);
    assert_true(n > 8);
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

TEST(test_classes_hold_their_members)
{
    struct test_random random;

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

/* java_regex.c -- see java_regex.h. */
#include "engine/filter/java_regex.h"

#include "base/slice.h"
#include "engine/filter/utf8.h"

#include <assert.h>
#include <stdio.h>

#define NO_CHARACTER   UINT32_MAX
#define LAST_CHARACTER 0x10FFFFu

/* PCRE2's `$` knows other line ends than Java's, and stands between \r and \n, too. */
#define BEFORE_LAST_LINE_END                                                                       \
    "(?:\\z|(?=(?:\\r\\n|[\\n\\r\\x{85}\\x{2028}\\x{2029}])\\z)(?!(?<=\\r)\\n))"

static enum petal_status
refuse(struct java_regex *java, const uint8_t *at, const char *reason)
{
    java->mistake->position = (size_t)(at - java->start);
    snprintf(java->mistake->reason, sizeof java->mistake->reason, "%s", reason);
    return PETAL_INVALID;
}

/* ---- writing ---- */

static void
put_bytes(struct java_regex *java, const void *bytes, size_t size)
{
    if (!mem_grow(java->allocator, &java->written, &java->capacity, java->size, java->size + size,
                  1)) {
        java->no_memory = true;
        return;
    }
    if (size > 0)
        memcpy((char *)java->written + java->size, bytes, size);
    java->size += size;
}

void
java_regex_put(struct java_regex *java, const char *text)
{
    put_bytes(java, text, strlen(text));
}

/* Within a class: the characters from `low` to `high`, and their ASCII letters in the other case
 * if case is ignored. */
static void
put_range(struct java_regex *java, uint32_t low, uint32_t high)
{
    char text[40];

    assert(low <= high && high <= LAST_CHARACTER);
    snprintf(text, sizeof text, low < high ? "\\x{%x}-\\x{%x}" : "\\x{%x}", low, high);
    java_regex_put(java, text);
    for (uint32_t a = 'A'; (java->ignore_case & 1) != 0 && a <= 'a'; a += 'a' - 'A') {
        uint32_t from = low > a ? low : a, to = high < a + 25 ? high : a + 25;

        if (from <= to) {
            snprintf(text, sizeof text, "\\x{%x}-\\x{%x}", from ^ 0x20, to ^ 0x20);
            java_regex_put(java, text);
        }
    }
}

static void
put_character(struct java_regex *java, uint32_t c)
{
    bool in_class = (java->ignore_case & 1) != 0;

    assert(c <= LAST_CHARACTER);
    java_regex_put(java, in_class ? "[" : "");
    put_range(java, c, c);
    java_regex_put(java, in_class ? "]" : "");
}

/* ---- reading ---- */

static bool
next_is(const struct java_regex *java, char c)
{
    return java->at < java->limit && *java->at == (uint8_t)c;
}

static bool
accept(struct java_regex *java, const char *text)
{
    size_t size = strlen(text);

    if ((size_t)(java->limit - java->at) < size || memcmp(java->at, text, size) != 0)
        return false;
    java->at += size;
    return true;
}

/* From `least` to `most` digits. */
static bool
get_number(struct java_regex *java, uint32_t base, unsigned least, unsigned most, uint32_t *value)
{
    unsigned count = 0;

    *value = 0;
    for (; count < most && java->at < java->limit; count++) {
        uint32_t c = *java->at, digit = base;

        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            digit = (c | 0x20) - 'a' + 10;
        if (digit >= base)
            break;
        *value = *value * base + digit;
        java->at++;
    }
    return count >= least;
}

/* A place between characters. Java lets it be repeated, PCRE2 as a group only. */
static void
put_place(struct java_regex *java, const void *bytes, size_t size)
{
    bool repeated =
        next_is(java, '*') || next_is(java, '+') || next_is(java, '?') || next_is(java, '{');

    java_regex_put(java, repeated ? "(?:" : "");
    put_bytes(java, bytes, size);
    java_regex_put(java, repeated ? ")" : "");
}

/* What the backslash at `from` begins: a character; or, when it is not one, *character is
 * NO_CHARACTER and it has been written. */
static enum petal_status
translate_escape(struct java_regex *java, const uint8_t *from, bool in_class, uint32_t *character)
{
    static const char controls[] = "tnrfae", meant[] = "\t\n\r\f\a\033";
    const char *control;
    uint32_t letter;
    bool fine = true;

    if (java->at == java->limit)
        return refuse(java, from, "nothing follows the backslash");
    letter = utf8_next(&java->at, java->limit);
    *character = letter;
    if (letter >= '1' && letter <= '9')
        return refuse(java, from, "back references are not supported");
    if (letter != '0' && !((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z'))
        return PETAL_OK;
    control = strchr(controls, (int)letter);
    if (control != NULL) {
        *character = (uint8_t)meant[control - controls];
    } else if (strchr("dDwWsShHvV", (int)letter) != NULL) {
        put_bytes(java, from, 2);
        *character = NO_CHARACTER;
        return PETAL_OK;
    } else if (strchr("bBAz", (int)letter) != NULL && !in_class) {
        put_place(java, from, 2);
        *character = NO_CHARACTER;
        return PETAL_OK;
    } else if (letter == 'Z' && !in_class) {
        java_regex_put(java, BEFORE_LAST_LINE_END);
        *character = NO_CHARACTER;
        return PETAL_OK;
    } else if (letter == 'x' && accept(java, "{")) {
        fine = get_number(java, 16, 1, 6, character) && accept(java, "}");
    } else if (letter == 'x') {
        fine = get_number(java, 16, 2, 2, character);
    } else if (letter == 'u') {
        fine = get_number(java, 16, 4, 4, character);
    } else if (letter == '0') {
        bool high = java->at<java->limit && * java->at> '3';

        fine = get_number(java, 8, 1, high ? 2 : 3, character);
    } else if (letter == 'c') {
        fine = java->at < java->limit && *java->at < 0x80;
        if (fine)
            *character = *java->at++ ^ 0x40u;
    } else {
        return refuse(java, from, "this escape is not supported");
    }
    if (!fine || *character > LAST_CHARACTER)
        return refuse(java, from, "the number of a character is wrong");
    if (*character >= 0xD800 && *character < 0xE000)
        return refuse(java, from, "half of a surrogate pair is no character");
    return PETAL_OK;
}

/* A member of a class, as translate_escape has it. */
static enum petal_status
translate_member(struct java_regex *java, uint32_t *character)
{
    const uint8_t *from = java->at;

    if (next_is(java, '['))
        return refuse(java, from, "classes within classes are not supported");
    if (accept(java, "&&"))
        return refuse(java, from, "the intersection of classes is not supported");
    *character = utf8_next(&java->at, java->limit);
    return *character == '\\' ? translate_escape(java, from, true, character) : PETAL_OK;
}

/* [...] from behind the bracket at `from`. */
static enum petal_status
translate_class(struct java_regex *java, const uint8_t *from)
{
    unsigned count = 0;

    java_regex_put(java, accept(java, "^") ? "[^" : "[");
    /* A ] in the first place is itself. */
    do {
        const uint8_t *member = java->at;
        uint32_t low = NO_CHARACTER, high;
        enum petal_status status;

        if (java->at == java->limit)
            return refuse(java, from, "the class is not closed");
        if (++count > REGEX_MOST_MEMBERS)
            return refuse(java, from, "the class has too many members");
        status = translate_member(java, &low);
        high = low;
        if (status == PETAL_OK && low != NO_CHARACTER && next_is(java, '-') &&
            java->at + 1 < java->limit && java->at[1] != ']' && java->at[1] != '[') {
            java->at++;
            status = translate_member(java, &high);
            if (status == PETAL_OK && (high == NO_CHARACTER || high < low))
                return refuse(java, member, "the range ends before it begins");
        }
        if (status != PETAL_OK)
            return status;
        if (low != NO_CHARACTER)
            put_range(java, low, high);
    } while (!accept(java, "]"));
    java_regex_put(java, "]");
    return PETAL_OK;
}

/* What the `(` at `from` begins. Flags stand before `:`, or before `)`: then they hold to the
 * end of the group around. */
static enum petal_status
translate_group(struct java_regex *java, const uint8_t *from)
{
    static const char *const looks[] = {"?=", "?!", "?<=", "?<!"};
    uint64_t around = java->ignore_case;
    size_t look = 0;

    while (look < 4 && !accept(java, looks[look]))
        look++;
    java_regex_put(java, "(");
    java_regex_put(java, look < 4 ? looks[look] : "?:");
    if (look == 4 && accept(java, "?<")) {
        while (java->at < java->limit && *java->at != '>')
            java->at++;
        if (!accept(java, ">"))
            return refuse(java, from, "the name of the group is not closed");
    } else if (look == 4 && accept(java, "?")) {
        for (bool on = true; !accept(java, ":"); java->at++) {
            if (accept(java, ")")) {
                java_regex_put(java, ")");
                return PETAL_OK;
            }
            if (next_is(java, 'i'))
                java->ignore_case = on ? java->ignore_case | 1 : java->ignore_case & ~(uint64_t)1;
            else if (next_is(java, '-') && on)
                on = false;
            else if (!next_is(java, 's') || !on)
                return refuse(java, from, "this kind of group, or this flag, is not supported");
        }
    }
    if (++java->depth > REGEX_MOST_DEPTH)
        return refuse(java, from, "groups are nested too deeply");
    java->ignore_case = around << 1 | (java->ignore_case & 1);
    return PETAL_OK;
}

/* The quantifier at `from`, behind its first character. */
static enum petal_status
translate_quantifier(struct java_regex *java, const uint8_t *from)
{
    uint32_t count;

    assert(from < java->at);
    if (*from == '{') {
        bool fine = get_number(java, 10, 1, 6, &count);

        if (fine && accept(java, ",") && !next_is(java, '}'))
            fine = get_number(java, 10, 1, 6, &count);
        if (!fine || !accept(java, "}"))
            return refuse(java, from, "the repetition in braces is wrong");
    }
    (void)accept(java, "?");
    if (next_is(java, '+'))
        return refuse(java, java->at, "possessive quantifiers are not supported");
    put_bytes(java, from, (size_t)(java->at - from));
    return PETAL_OK;
}

enum petal_status
java_regex_translate(struct java_regex *java, petal_slice expression, bool ignore_case)
{
    enum petal_status status = PETAL_OK;

    java->start = expression.size > 0 ? expression.data : (const uint8_t *)"";
    java->at = java->start;
    java->limit = java->start + expression.size;
    java->ignore_case = ignore_case ? 1 : 0;
    java->depth = 0;
    while (status == PETAL_OK && java->at < java->limit) {
        const uint8_t *from = java->at;
        uint32_t c = utf8_next(&java->at, java->limit);

        if (java->size <= java->wanted)
            java->place = (size_t)(from - java->start);
        switch (c) {
        case '\\':
            if (accept(java, "Q")) {
                while (java->at < java->limit && !accept(java, "\\E"))
                    put_character(java, utf8_next(&java->at, java->limit));
                break;
            }
            status = translate_escape(java, from, false, &c);
            if (status == PETAL_OK && c != NO_CHARACTER)
                put_character(java, c);
            break;
        case '[':
            status = translate_class(java, from);
            break;
        case '(':
            status = translate_group(java, from);
            break;
        case ')':
            if (java->depth == 0)
                return refuse(java, from, "the closing parenthesis has no opening one");
            java->depth--;
            assert(java->depth < REGEX_MOST_DEPTH);
            java->ignore_case >>= 1;
            java_regex_put(java, ")");
            break;
        case '*':
        case '+':
        case '?':
        case '{':
            status = translate_quantifier(java, from);
            break;
        case '$':
            java_regex_put(java, BEFORE_LAST_LINE_END);
            break;
        case '^':
            put_place(java, from, 1);
            break;
        case '.':
        case '|':
            put_bytes(java, from, 1);
            break;
        default:
            put_character(java, c);
        }
    }
    return status == PETAL_OK && java->no_memory ? PETAL_NO_MEMORY : status;
}

/* java_regex.c -- see java_regex.h. */
#include "engine/filter/java_regex.h"

#include "base/slice.h"
#include "engine/filter/java_property.h"
#include "engine/filter/utf8.h"

#include <assert.h>
#include <stdio.h>

#define NO_CHARACTER   UINT32_MAX
#define LAST_CHARACTER 0x10FFFFu

/* PCRE2's `$` has other line ends than Java's, and also matches between \r and \n. */
#define BEFORE_LAST_LINE_END                                                                       \
    "(?:\\z|(?=(?:\\r\\n|[\\n\\r\\x{85}\\x{2028}\\x{2029}])\\z)(?!(?<=\\r)\\n))"

#define LINE_END "\\r\\n|[\\n\\x0b\\f\\r\\x{85}\\x{2028}\\x{2029}]"

/*
 * Java's \b uses Unicode letters, though \w uses only ASCII's, and marks that combine with a letter
 * or digit before them. PCRE2 looks back by fixed sizes: up to eight marks. Both have to be of 16
 * bits, because Java looks for them by halves of surrogate pairs.
 */
#define WORD        "[\\p{L}\\p{Nd}_]"
#define WIDE        "\\x{10000}-\\x{10ffff}"
#define MARK        "[^\\P{Mn}" WIDE "]"
#define BASE        "(?![" WIDE "])[\\p{L}\\p{Nd}]"
#define BASE_AND(n) "|" BASE MARK "{" #n "}"
#define BASED                                                                                      \
    "(?<=" BASE BASE_AND(1) BASE_AND(2) BASE_AND(3) BASE_AND(4) BASE_AND(5) BASE_AND(6)            \
        BASE_AND(7) BASE_AND(8) ")"
#define WORD_BEFORE  "(?<=" WORD ")|(?<=" MARK ")" BASED
#define WORD_AFTER   "(?=" WORD ")|(?=\\p{Mn})" BASED
#define BOUNDARY     "(?(?=" WORD_AFTER ")(?!" WORD_BEFORE ")|(?=" WORD_BEFORE "))"
#define NOT_BOUNDARY "(?(?=" WORD_AFTER ")(?=" WORD_BEFORE ")|(?!" WORD_BEFORE "))"

/* In Java's text. */
struct name {
    const uint8_t *at;
    size_t size;
    unsigned group;
};

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

/* Text before what stands at `at` in what was written. */
static void
insert(struct java_regex *java, size_t at, const char *text)
{
    size_t size = strlen(text), behind = java->no_memory ? 0 : java->size - at;

    java_regex_put(java, text);
    if (java->no_memory)
        return;
    assert(at + size <= java->size);
    memmove((char *)java->written + at + size, (char *)java->written + at, behind);
    memcpy((char *)java->written + at, text, size);
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

static bool
is_repeated(const struct java_regex *java)
{
    return next_is(java, '*') || next_is(java, '+') || next_is(java, '?') || next_is(java, '{');
}

/* An assertion. Java allows to repeat it, PCRE2 only as a group. */
static void
put_place(struct java_regex *java, const void *bytes, size_t size)
{
    bool repeated = is_repeated(java);

    java_regex_put(java, repeated ? "(?:" : "");
    put_bytes(java, bytes, size);
    java_regex_put(java, repeated ? ")" : "");
}

/* ---- groups and what refers to them ---- */

static bool
is_letter(uint32_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static const struct name *
find_name(const struct java_regex *java, petal_slice name)
{
    const struct name *names = java->names;

    for (size_t i = 0; i < java->name_count; i++) {
        if (names[i].size == name.size && memcmp(names[i].at, name.data, name.size) == 0)
            return &names[i];
    }
    return NULL;
}

/* name>, as groups have it. */
static enum petal_status
get_name(struct java_regex *java, const uint8_t *from, petal_slice *name)
{
    const uint8_t *begin = java->at;

    while (java->at < java->limit &&
           (is_letter(*java->at) || (java->at > begin && *java->at >= '0' && *java->at <= '9')))
        java->at++;
    *name = slice_make(begin, (size_t)(java->at - begin));
    if (java->at == begin || !accept(java, ">"))
        return refuse(java, from, "the name of the group is wrong, or not closed");
    return PETAL_OK;
}

/* The group that begins is called so. */
static enum petal_status
add_name(struct java_regex *java, const uint8_t *from)
{
    struct name *names;
    petal_slice name;
    enum petal_status status = get_name(java, from, &name);

    if (status != PETAL_OK)
        return status;
    if (find_name(java, name) != NULL)
        return refuse(java, from, "another group has that name");
    if (!mem_grow(java->allocator, &java->names, &java->names_capacity,
                  java->name_count * sizeof *names, (java->name_count + 1) * sizeof *names, 1))
        return PETAL_NO_MEMORY;
    names = java->names;
    names[java->name_count++] =
        (struct name){.at = name.data, .size = name.size, .group = java->groups};
    return PETAL_OK;
}

/* A back reference. One to a group that does not exist matches nothing. PCRE2 counts the comparison
 * as one step: the callout adds its size (engine/filter/regex.c). */
static enum petal_status
put_reference(struct java_regex *java, const uint8_t *from, unsigned number)
{
    char text[40];

    java->refers = true;
    if ((java->ignore_case & 1) != 0)
        return refuse(java, from, "back references are not supported where case is ignored");
    if (java->behind > 0) /* in Java it has no length that is known */
        return refuse(java, from, "back references are not supported in a look-behind");
    if (number > REGEX_MOST_REFERRED)
        return refuse(java, from, "back references to a group so far back are not supported");
    if (java->captures && number <= java->all_groups)
        snprintf(text, sizeof text, "(?:(?C%u)\\g{%u})", number, number);
    else
        snprintf(text, sizeof text, "(?!)");
    java_regex_put(java, text);
    return PETAL_OK;
}

/* After the first digit: as many more as form the number of a group that has begun. */
static enum petal_status
translate_reference(struct java_regex *java, const uint8_t *from)
{
    unsigned number = (unsigned)(java->at[-1] - '0');

    while (java->at < java->limit && *java->at >= '0' && *java->at <= '9' &&
           number * 10 + (unsigned)(*java->at - '0') <= java->groups)
        number = number * 10 + (unsigned)(*java->at++ - '0');
    return put_reference(java, from, number);
}

static enum petal_status
translate_named_reference(struct java_regex *java, const uint8_t *from)
{
    const struct name *found;
    petal_slice name;
    enum petal_status status;

    if (!accept(java, "<"))
        return refuse(java, from, "a name in < and > has to follow");
    status = get_name(java, from, &name);
    if (status != PETAL_OK)
        return status;
    found = find_name(java, name);
    if (found == NULL)
        return refuse(java, from, "there is no group of that name before");
    return put_reference(java, from, found->group);
}

/* ---- characters ---- */

/* \pL, \p{name}, after the letter p: the members of the class. */
static enum petal_status
get_property(struct java_regex *java, const uint8_t *from, bool negated,
             struct java_property *property)
{
    const uint8_t *begin = java->at, *end;
    const char *fault;

    if (accept(java, "{")) {
        begin = java->at;
        end = begin < java->limit ? memchr(begin, '}', (size_t)(java->limit - begin)) : NULL;
        if (end == NULL)
            return refuse(java, from, "the name of the property is not closed");
        java->at = end + 1;
    } else {
        if (begin == java->limit)
            return refuse(java, from, "a property has to follow");
        (void)utf8_next(&java->at, java->limit);
        end = java->at;
    }
    fault = java_property_find(slice_make(begin, (size_t)(end - begin)),
                               (java->ignore_case & 1) != 0, property);
    if (fault != NULL)
        return refuse(java, from, fault);
    property->outside = property->outside != negated;
    return PETAL_OK;
}

static void
put_property(struct java_regex *java, const struct java_property *property)
{
    java_regex_put(java, property->outside ? "[^" : "[");
    java_regex_put(java, property->members);
    java_regex_put(java, "]");
}

/* The character of an escape, of which the backslash at `from` and `letter` have been read. */
static enum petal_status
get_character(struct java_regex *java, const uint8_t *from, uint32_t letter, uint32_t *character)
{
    static const char controls[] = "tnrfae", meant[] = "\t\n\r\f\a\033";
    const char *control = strchr(controls, (int)letter);
    bool fine = true;

    if (control != NULL) {
        *character = (uint8_t)meant[control - controls];
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

/* The assertion of a backslash and `letter`. False: it is none. */
static bool
put_named_place(struct java_regex *java, uint32_t letter)
{
    switch (letter) {
    case 'A':
    case 'G': /* a search begins at the text's beginning */
        put_place(java, "\\A", 2);
        return true;
    case 'z':
        put_place(java, "\\z", 2);
        return true;
    case 'Z':
        java_regex_put(java, BEFORE_LAST_LINE_END);
        return true;
    case 'b':
        java_regex_put(java, BOUNDARY);
        return true;
    case 'B':
        java_regex_put(java, NOT_BOUNDARY);
        return true;
    default:
        return false;
    }
}

/* The escape at `from`, outside of classes: a character, or *character is NO_CHARACTER and the
 * translation has been written. */
static enum petal_status
translate_escape(struct java_regex *java, const uint8_t *from, uint32_t *character)
{
    struct java_property property;
    enum petal_status status;
    uint32_t letter;

    if (java->at == java->limit)
        return refuse(java, from, "nothing follows the backslash");
    letter = utf8_next(&java->at, java->limit);
    *character = NO_CHARACTER;
    if (letter >= '1' && letter <= '9')
        return translate_reference(java, from);
    if (letter != '0' && !is_letter(letter)) {
        *character = letter;
        return PETAL_OK;
    }
    if (letter == 'k')
        return translate_named_reference(java, from);
    if (letter == 'p' || letter == 'P') {
        status = get_property(java, from, letter == 'P', &property);
        if (status == PETAL_OK)
            put_property(java, &property);
        return status;
    }
    if (letter == 'R') {
        /* Alone it may backtrack before the \n of \r\n, repeated it does not. */
        java_regex_put(java, is_repeated(java) ? "(?>" LINE_END ")" : "(?:" LINE_END ")");
        return PETAL_OK;
    }
    if (strchr("dDwWsShHvV", (int)letter) != NULL) {
        put_bytes(java, from, 2);
        return PETAL_OK;
    }
    if (letter == 'b' && java->limit - java->at >= 2 && memcmp(java->at, "{g", 2) == 0)
        return refuse(java, from, "ends of grapheme clusters are not supported");
    if (put_named_place(java, letter))
        return PETAL_OK;
    return get_character(java, from, letter, character);
}

/* ---- classes ---- */

/*
 * A class, or a part of one, being written from `start` on: alternatives of one character each,
 * `[...]` or a group. The last one may still be open.
 *
 * Java keeps single characters below 256 apart: they count up to the end of the class, even after
 * an intersection.
 */
struct class
{
    size_t start;
    unsigned alternatives;
    bool is_open;        /* the last is [..., of members */
    bool has_singles;    /* that are not yet written */
    uint64_t singles[4]; /* a bit for each */
};

/* What follows is one more alternative, or the members of one. */
static void
begin_alternative(struct java_regex *java, struct class *class, bool opens)
{
    if (class->is_open && opens)
        return;
    if (class->is_open)
        java_regex_put(java, "]");
    if (class->alternatives++ > 0)
        java_regex_put(java, "|");
    if (opens)
        java_regex_put(java, "[");
    class->is_open = opens;
}

static void
add_single(struct java_regex *java, struct class *class, uint32_t c)
{
    class->singles[c / 64] |= (uint64_t)1 << c % 64;
    if ((java->ignore_case & 1) != 0 && is_letter(c))
        class->singles[c / 64] |= (uint64_t)1 << (c ^ 0x20) % 64;
    class->has_singles = true;
}

static void
put_singles(struct java_regex *java, struct class *class)
{
    char text[12];

    if (!class->has_singles)
        return;
    begin_alternative(java, class, true);
    for (unsigned c = 0; c < 256; c++) {
        if ((class->singles[c / 64] >> c % 64 & 1) == 0)
            continue;
        snprintf(text, sizeof text, "\\x{%x}", c);
        java_regex_put(java, text);
    }
    class->has_singles = false;
}

/* It becomes one piece, which matches one character. */
static void
close_class(struct java_regex *java, struct class *class)
{
    put_singles(java, class);
    assert(class->alternatives > 0);
    if (class->is_open)
        java_regex_put(java, "]");
    if (class->alternatives > 1) {
        insert(java, class->start, "(?:");
        java_regex_put(java, ")");
    }
    class->is_open = false;
    class->alternatives = 1;
}

static void
negate_class(struct java_regex *java, struct class *class)
{
    bool is_list = class->is_open && class->alternatives == 1;

    if (!is_list && class->alternatives == 0) {
        put_singles(java, class); /* there is nothing else */
        is_list = true;
    }
    close_class(java, class);
    if (is_list) {
        insert(java, class->start + 1, "^");
        return;
    }
    insert(java, class->start, "(?:(?!");
    java->looks_ahead = true;
    java_regex_put(java, ").)");
}

/* \d and the like, at `from`, as members. In [^...] with a property, PCRE2 10.42 forgets the
 * characters of \D, \S and \W outside of ASCII. */
static void
put_kind(struct java_regex *java, const uint8_t *from, uint32_t letter)
{
    if (letter == 'D')
        java_regex_put(java, "\\0-\\x2f\\x3a-\\x{10ffff}");
    else if (letter == 'S')
        java_regex_put(java, "\\0-\\x08\\x0e-\\x1f\\x21-\\x{10ffff}");
    else if (letter == 'W')
        java_regex_put(java, "\\0-\\x2f\\x3a-\\x40\\x5b-\\x5e\\x60\\x7b-\\x{10ffff}");
    else
        put_bytes(java, from, 2);
}

/* A character of a class, or *character is NO_CHARACTER and the member has been written. The end of
 * a range has to be a character. */
static enum petal_status
translate_member(struct java_regex *java, struct class *class, bool ends_range, uint32_t *character)
{
    const uint8_t *from = java->at;
    struct java_property property;
    enum petal_status status;
    uint32_t letter;

    letter = utf8_next(&java->at, java->limit);
    *character = letter;
    if (letter != '\\')
        return PETAL_OK;
    if (java->at == java->limit)
        return refuse(java, from, "nothing follows the backslash");
    letter = utf8_next(&java->at, java->limit);
    *character = letter;
    if (letter != '0' && !is_letter(letter)) {
        if (letter >= '1' && letter <= '9')
            return refuse(java, from, "back references are not supported in classes");
        return PETAL_OK;
    }
    if (letter == 'v' && (ends_range || next_is(java, '-'))) {
        *character = '\v';
        return PETAL_OK;
    }
    if ((letter == 'p' || letter == 'P') && !ends_range) {
        status = get_property(java, from, letter == 'P', &property);
        if (status != PETAL_OK)
            return status;
        begin_alternative(java, class, !property.outside);
        if (property.outside)
            put_property(java, &property);
        else
            java_regex_put(java, property.members);
        *character = NO_CHARACTER;
        return PETAL_OK;
    }
    if (strchr("dDwWsShHvV", (int)letter) != NULL) {
        *character = NO_CHARACTER;
        if (!ends_range) {
            begin_alternative(java, class, true);
            put_kind(java, from, letter);
        }
        return PETAL_OK;
    }
    return get_character(java, from, letter, character);
}

/* A character, a range, or what a backslash stands for. */
static enum petal_status
translate_members(struct java_regex *java, struct class *class)
{
    const uint8_t *member = java->at;
    uint32_t low, high;
    enum petal_status status = translate_member(java, class, false, &low);

    if (status != PETAL_OK || low == NO_CHARACTER)
        return status;
    high = low;
    if (next_is(java, '-') && java->at + 1 < java->limit && java->at[1] != ']' &&
        java->at[1] != '[') {
        java->at++;
        status = translate_member(java, class, true, &high);
        if (status != PETAL_OK)
            return status;
        if (high == NO_CHARACTER || high < low)
            return refuse(java, member, "the range ends before it begins");
        begin_alternative(java, class, true);
        put_range(java, low, high);
    } else if (low < 256) {
        add_single(java, class, low);
    } else {
        begin_alternative(java, class, true);
        put_range(java, low, high);
    }
    return PETAL_OK;
}

static enum petal_status translate_class(struct java_regex *java, const uint8_t *from,
                                         bool in_brackets);

/* The right side of &&: classes in brackets, then the rest up to the closing bracket. */
static enum petal_status
translate_intersection(struct java_regex *java, const uint8_t *from, struct class *left)
{
    struct class right;
    enum petal_status status = PETAL_OK;
    bool has_left = left->alternatives > 0 || left->has_singles;

    if (has_left) {
        close_class(java, left);
        insert(java, left->start, "(?:(?=");
        java->looks_ahead = true;
        java_regex_put(java, ")");
    }
    right = (struct class){.start = java->size};
    while (status == PETAL_OK && java->at < java->limit && !next_is(java, ']') &&
           !next_is(java, '&')) {
        const uint8_t *part = java->at;

        begin_alternative(java, &right, false);
        status = translate_class(java, part, accept(java, "["));
    }
    if (status != PETAL_OK)
        return status;
    if (java->at == java->limit)
        return refuse(java, from, "the class is not closed");
    if (right.alternatives == 0)
        return refuse(java, from, "the intersection of classes lacks its right side");
    close_class(java, &right);
    java_regex_put(java, has_left ? ")" : "");
    left->alternatives = 1;
    left->is_open = false;
    return PETAL_OK;
}

/* [...] after the bracket at `from`; without a bracket all up to that which closes the outer
 * class. */
static enum petal_status
translate_class(struct java_regex *java, const uint8_t *from, bool in_brackets)
{
    struct class class = {.start = java->size};
    bool negated = in_brackets && accept(java, "^");
    enum petal_status status = PETAL_OK;

    if (++java->depth > REGEX_MOST_DEPTH)
        return refuse(java, from, "classes are nested too deeply");
    /* A ] in the first place is itself. */
    while (!next_is(java, ']') || (class.alternatives == 0 && !class.has_singles)) {
        const uint8_t *member = java->at;

        if (java->at == java->limit)
            return refuse(java, from, "the class is not closed");
        if (++java->members > REGEX_MOST_MEMBERS)
            return refuse(java, from, "the class has too many members");
        if (accept(java, "[")) {
            begin_alternative(java, &class, false);
            status = translate_class(java, member, true);
        } else if (accept(java, "&&")) {
            status = translate_intersection(java, member, &class);
        } else {
            status = translate_members(java, &class);
        }
        if (status != PETAL_OK)
            return status;
    }
    if (in_brackets)
        java->at++;
    if (negated)
        negate_class(java, &class);
    else
        close_class(java, &class);
    java->depth--;
    return PETAL_OK;
}

/* ---- the rest ---- */

/* The group that the `(` at `from` begins. Flags before `:` hold in it, those before `)` to the end
 * of the enclosing group. */
static enum petal_status
translate_group(struct java_regex *java, const uint8_t *from)
{
    enum { LOOK_AHEAD, NO_LOOK_AHEAD, LOOK_BEHIND, NO_LOOK_BEHIND, ATOMIC, kind_count };
    static const char *const kinds[kind_count] = {[LOOK_AHEAD] = "?=",
                                                  [NO_LOOK_AHEAD] = "?!",
                                                  [LOOK_BEHIND] = "?<=",
                                                  [NO_LOOK_BEHIND] = "?<!",
                                                  [ATOMIC] = "?>"};
    uint64_t around = java->ignore_case;
    size_t kind = 0, start = java->size;
    enum petal_status status = PETAL_OK;

    while (kind < kind_count && !accept(java, kinds[kind]))
        kind++;
    java_regex_put(java, "(");
    if (kind < kind_count) {
        java_regex_put(java, kinds[kind]);
    } else if (accept(java, "?<")) {
        java->groups++;
        java_regex_put(java, java->captures ? "" : "?:");
        status = add_name(java, from);
        if (status != PETAL_OK)
            return status;
    } else if (accept(java, "?")) {
        java_regex_put(java, "?:");
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
    } else {
        java->groups++;
        java_regex_put(java, java->captures ? "" : "?:");
    }
    if (java->depth == REGEX_MOST_DEPTH)
        return refuse(java, from, "groups are nested too deeply");
    java->group_starts[java->depth++] = start;
    java->looks_ahead = java->looks_ahead || kind == LOOK_AHEAD || kind == NO_LOOK_AHEAD;
    if (java->behind == 0 && (kind == LOOK_BEHIND || kind == NO_LOOK_BEHIND))
        java->behind = java->depth;
    java->ignore_case = around << 1 | (java->ignore_case & 1);
    return PETAL_OK;
}

/* The quantifier at `from`, after its first character. */
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
    if (!accept(java, "?") && accept(java, "+")) {
        /* In Java the repeated piece does not backtrack even between its repeats. */
        insert(java, java->piece, "(?>");
        java_regex_put(java, ")");
    }
    put_bytes(java, from, (size_t)(java->at - from));
    return PETAL_OK;
}

/* Once over the whole. */
static enum petal_status
translate(struct java_regex *java)
{
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && java->at < java->limit) {
        const uint8_t *from = java->at;
        size_t piece = java->size;
        uint32_t c = utf8_next(&java->at, java->limit);

        if (java->size <= java->wanted)
            java->place = (size_t)(from - java->start);
        switch (c) {
        case '\\':
            if (accept(java, "Q")) {
                while (java->at < java->limit && !accept(java, "\\E")) {
                    piece = java->size;
                    put_character(java, utf8_next(&java->at, java->limit));
                }
                break;
            }
            status = translate_escape(java, from, &c);
            if (status == PETAL_OK && c != NO_CHARACTER)
                put_character(java, c);
            break;
        case '[':
            java->members = 0;
            status = translate_class(java, from, true);
            break;
        case '(':
            status = translate_group(java, from);
            break;
        case ')':
            if (java->depth == 0)
                return refuse(java, from, "the closing parenthesis has no opening one");
            if (java->behind == java->depth)
                java->behind = 0;
            piece = java->group_starts[--java->depth];
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
        java->piece = piece;
    }
    return status == PETAL_OK && java->no_memory ? PETAL_NO_MEMORY : status;
}

enum petal_status
java_regex_translate(struct java_regex *java, petal_slice expression, bool ignore_case)
{
    size_t before = java->size;
    enum petal_status status;

    java->start = expression.size > 0 ? expression.data : (const uint8_t *)"";
    java->limit = java->start + expression.size;
    java->refers = java->captures = java->looks_ahead = false;
    do {
        /* Once more if it has back references: then groups capture, and their number is known. */
        java->captures = java->refers;
        java->all_groups = java->groups;
        java->groups = 0;
        java->name_count = 0;
        java->at = java->start;
        java->ignore_case = ignore_case ? 1 : 0;
        java->depth = java->behind = 0;
        java->size = before;
        java->piece = before;
        status = translate(java);
    } while (status == PETAL_OK && java->refers && !java->captures);
    mem_free(java->allocator, java->names, java->names_capacity);
    java->names = NULL;
    java->names_capacity = 0;
    return status;
}

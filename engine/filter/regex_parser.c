/*
 * regex_parser.c -- a regular expression becomes a program, in one pass: what a piece of the expression means is a run of
 * steps with relative targets at the end of the program; a quantifier puts steps around the run or copies it.
 */
#include "base/slice.h"
#include "engine/filter/regex_program.h"
#include "engine/filter/utf8.h"

#include <stdlib.h>

#define NO_LIMIT UINT32_MAX

struct parser {
    struct regex *regex;
    const uint8_t *start, *at, *limit;
    bool ignore_case;
    bool quoted; /* within \Q...\E */
    unsigned depth;
    struct regex_mistake *mistake;
};

static enum petal_status parse_alternatives(struct parser *parser);

static enum petal_status
refuse(struct parser *parser, const uint8_t *at, const char *reason)
{
    *parser->mistake = (struct regex_mistake){(size_t)(at - parser->start), reason};
    return PETAL_INVALID;
}

static bool
next_is(const struct parser *parser, char c)
{
    return parser->at < parser->limit && *parser->at == (uint8_t)c;
}

static bool
accept(struct parser *parser, const char *text)
{
    size_t size = strlen(text);

    if ((size_t)(parser->limit - parser->at) < size || memcmp(parser->at, text, size) != 0)
        return false;
    parser->at += size;
    return true;
}

/* ---- steps ---- */

/* Make room for `count` steps at `place`; they are filled by the caller. */
static enum petal_status
open_steps(struct parser *parser, size_t place, size_t count)
{
    struct regex *regex = parser->regex;
    void *steps = regex->steps;

    if (count > REGEX_MOST_STEPS || regex->step_count + count > REGEX_MOST_STEPS)
        return refuse(parser, parser->at, "the regular expression is too large");
    if (!mem_grow(regex->allocator, &steps, &regex->step_capacity, regex->step_count,
                  regex->step_count + count, sizeof *regex->steps))
        return PETAL_NO_MEMORY;
    regex->steps = steps;
    memmove(&regex->steps[place + count], &regex->steps[place],
            (regex->step_count - place) * sizeof *regex->steps);
    regex->step_count += count;
    return PETAL_OK;
}

static enum petal_status
insert_step(struct parser *parser, size_t place, struct regex_step step)
{
    enum petal_status status = open_steps(parser, place, 1);

    if (status == PETAL_OK)
        parser->regex->steps[place] = step;
    return status;
}

static enum petal_status
add_step(struct parser *parser, enum regex_step_kind kind, uint32_t value)
{
    return insert_step(parser, parser->regex->step_count,
                       (struct regex_step){kind, parser->ignore_case, value, 0, 0});
}

static struct regex_step
fork_step(enum regex_step_kind kind, ptrdiff_t first, ptrdiff_t second)
{
    return (struct regex_step){kind, false, 0, (int32_t)first, (int32_t)second};
}

/* Into what follows, or over `size` steps. */
static struct regex_step
split(size_t size)
{
    return fork_step(REGEX_SPLIT, 1, (ptrdiff_t)size + 1);
}

/* ---- classes ---- */

static enum petal_status
add_range(struct parser *parser, uint32_t low, uint32_t high)
{
    struct regex *regex = parser->regex;
    void *ranges = regex->ranges;

    if (!mem_grow(regex->allocator, &ranges, &regex->range_capacity, regex->range_count,
                  regex->range_count + 1, sizeof *regex->ranges))
        return PETAL_NO_MEMORY;
    regex->ranges = ranges;
    regex->ranges[regex->range_count++] = (struct regex_range){low, high};
    return PETAL_OK;
}

/* The ranges of \d, \w or \s; of a capital letter those between them. */
static enum petal_status
add_named_ranges(struct parser *parser, uint8_t name)
{
    static const struct regex_range digits[] = {{'0', '9'}};
    static const struct regex_range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    static const struct regex_range spaces[] = {{'\t', '\r'}, {' ', ' '}};
    uint8_t small = name | 0x20;
    const struct regex_range *ranges = small == 'd' ? digits : small == 'w' ? words : spaces;
    size_t count = small == 'd' ? 1 : small == 'w' ? 4 : 2;
    enum petal_status status = PETAL_OK;
    uint32_t from = 0;

    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        if (name == small)
            status = add_range(parser, ranges[i].low, ranges[i].high);
        else
            status = add_range(parser, from, ranges[i].low - 1);
        from = ranges[i].high + 1;
    }
    if (status == PETAL_OK && name != small)
        status = add_range(parser, from, REGEX_LAST_CHARACTER);
    return status;
}

static bool
names_ranges(uint8_t c)
{
    return c == 'd' || c == 'D' || c == 'w' || c == 'W' || c == 's' || c == 'S';
}

/* The letters of the ranges from `first_range` on, in their other case, too. */
static enum petal_status
add_other_case(struct parser *parser, size_t first_range)
{
    size_t count = parser->regex->range_count;
    enum petal_status status = PETAL_OK;

    for (size_t i = first_range; status == PETAL_OK && i < count; i++) {
        for (uint32_t first = 'A'; status == PETAL_OK && first <= 'a'; first += 'a' - 'A') {
            struct regex_range range = parser->regex->ranges[i];
            uint32_t low = range.low > first ? range.low : first;
            uint32_t high = range.high < first + 25 ? range.high : first + 25;

            if (low <= high)
                status = add_range(parser, low ^ 0x20, high ^ 0x20);
        }
    }
    return status;
}

static int
compare_lows(const void *a, const void *b)
{
    const struct regex_range *first = a, *second = b;

    return first->low < second->low ? -1 : first->low > second->low;
}

/* Make the ranges from `first_range` on disjoint and ordered, with a gap between each two. */
static void
order_ranges(struct regex *regex, size_t first_range)
{
    struct regex_range *ranges = &regex->ranges[first_range];
    size_t count = regex->range_count - first_range, kept = 0;

    qsort(ranges, count, sizeof *ranges, compare_lows);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || ranges[i].low > ranges[kept - 1].high + 1)
            ranges[kept++] = ranges[i];
        else if (ranges[i].high > ranges[kept - 1].high)
            ranges[kept - 1].high = ranges[i].high;
    }
    regex->range_count = first_range + kept;
}

/* The ranges from `first_range` on, one at least, become a class, and a step that takes it. */
static enum petal_status
add_class(struct parser *parser, size_t first_range, bool negated)
{
    struct regex *regex = parser->regex;
    void *classes = regex->classes;

    if (parser->ignore_case && add_other_case(parser, first_range) != PETAL_OK)
        return PETAL_NO_MEMORY;
    order_ranges(regex, first_range);
    if (!mem_grow(regex->allocator, &classes, &regex->class_capacity, regex->class_count,
                  regex->class_count + 1, sizeof *regex->classes))
        return PETAL_NO_MEMORY;
    regex->classes = classes;
    regex->classes[regex->class_count++] =
        (struct regex_class){first_range, regex->range_count - first_range, negated};
    return add_step(parser, REGEX_CLASS, (uint32_t)(regex->class_count - 1));
}

/* ---- characters by number ---- */

static bool
is_letter(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int
digit_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
        return (c | 0x20) - 'a' + 10;
    return 16;
}

/* Up to `most` digits; false if there are fewer than `least`. */
static bool
get_number(struct parser *parser, unsigned base, unsigned least, unsigned most, uint32_t *value)
{
    unsigned count = 0;

    *value = 0;
    while (count < most && parser->at < parser->limit &&
           (unsigned)digit_value(*parser->at) < base) {
        *value = *value * base + (uint32_t)digit_value(*parser->at++);
        count++;
    }
    return count >= least;
}

/* The character of an escape whose letter has been read; one that means a character. */
static enum petal_status
parse_escaped(struct parser *parser, const uint8_t *from, uint32_t letter, uint32_t *character)
{
    static const char letters[] = "tnrfae", values[] = "\t\n\r\f\a\033";
    const char *found = letter < 0x80 && letter != 0 ? strchr(letters, (int)letter) : NULL;
    bool fine = true;

    *character = letter;
    if (found != NULL) {
        *character = (uint8_t)values[found - letters];
    } else if (letter == 'x' && accept(parser, "{")) {
        fine = get_number(parser, 16, 1, 6, character) && accept(parser, "}") &&
               *character <= REGEX_LAST_CHARACTER;
    } else if (letter == 'x') {
        fine = get_number(parser, 16, 2, 2, character);
    } else if (letter == 'u') {
        fine = get_number(parser, 16, 4, 4, character);
    } else if (letter == '0') {
        bool high = parser->at<parser->limit && * parser->at> '3';

        fine = get_number(parser, 8, 1, high ? 2 : 3, character);
    } else if (letter == 'c') {
        fine = parser->at < parser->limit && *parser->at < 0x80;
        if (fine)
            *character = *parser->at++ ^ 0x40u;
    } else if (letter >= '1' && letter <= '9') {
        return refuse(parser, from, "back references are not supported");
    } else if (is_letter(letter)) {
        return refuse(parser, from, "this escape is not supported");
    }
    return fine ? PETAL_OK : refuse(parser, from, "the number of a character is wrong");
}

/* ---- [...] ---- */

/* One member of a class: a character, or a named set (then *set). */
static enum petal_status
parse_member(struct parser *parser, uint32_t *character, bool *set)
{
    const uint8_t *from = parser->at;
    uint32_t letter;

    *set = false;
    if (next_is(parser, '['))
        return refuse(parser, from, "classes within classes are not supported");
    if (accept(parser, "&&"))
        return refuse(parser, from, "the intersection of classes is not supported");
    *character = utf8_next(&parser->at, parser->limit);
    if (*character != '\\')
        return PETAL_OK;
    if (parser->at == parser->limit)
        return refuse(parser, from, "nothing follows the backslash");
    letter = utf8_next(&parser->at, parser->limit);
    if (letter < 0x80 && names_ranges((uint8_t)letter)) {
        *set = true;
        return add_named_ranges(parser, (uint8_t)letter);
    }
    return parse_escaped(parser, from, letter, character);
}

static enum petal_status
parse_member_range(struct parser *parser)
{
    const uint8_t *from = parser->at;
    uint32_t low = 0, high = 0;
    bool set;
    enum petal_status status = parse_member(parser, &low, &set);

    if (status != PETAL_OK || set)
        return status;
    if (!next_is(parser, '-') || parser->at + 1 == parser->limit || parser->at[1] == ']' ||
        parser->at[1] == '[')
        return add_range(parser, low, low);
    parser->at++;
    status = parse_member(parser, &high, &set);
    if (status != PETAL_OK)
        return status;
    if (set || high < low)
        return refuse(parser, from, "the range ends before it begins");
    return add_range(parser, low, high);
}

static enum petal_status
parse_class(struct parser *parser, const uint8_t *from)
{
    size_t first_range = parser->regex->range_count;
    bool negated = accept(parser, "^");
    enum petal_status status = PETAL_OK;

    /* A ] in the first place is itself. */
    do {
        if (parser->at == parser->limit)
            return refuse(parser, from, "the class is not closed");
        status = parse_member_range(parser);
    } while (status == PETAL_OK && !accept(parser, "]"));
    if (status != PETAL_OK)
        return status;
    return add_class(parser, first_range, negated);
}

/* ---- escapes outside of classes ---- */

static enum petal_status
parse_escape(struct parser *parser, const uint8_t *from)
{
    size_t first_range = parser->regex->range_count;
    uint32_t letter, character;
    enum petal_status status;

    if (parser->at == parser->limit)
        return refuse(parser, from, "nothing follows the backslash");
    letter = utf8_next(&parser->at, parser->limit);
    switch (letter) {
    case 'b':
        return add_step(parser, REGEX_WORD_EDGE, 0);
    case 'B':
        return add_step(parser, REGEX_NO_WORD_EDGE, 0);
    case 'A':
        return add_step(parser, REGEX_BEGIN, 0);
    case 'z':
        return add_step(parser, REGEX_VERY_END, 0);
    case 'Z':
        return add_step(parser, REGEX_END, 0);
    default:
        break;
    }
    if (letter < 0x80 && names_ranges((uint8_t)letter)) {
        status = add_named_ranges(parser, (uint8_t)letter);
        return status == PETAL_OK ? add_class(parser, first_range, false) : status;
    }
    status = parse_escaped(parser, from, letter, &character);
    return status == PETAL_OK ? add_step(parser, REGEX_CHARACTER, character) : status;
}

/* ---- groups ---- */

/* Behind `(?`: flags, up to `)` (then *alone: they hold to the end of the group around) or `:`. */
static enum petal_status
parse_flags(struct parser *parser, const uint8_t *from, bool *alone)
{
    bool on = true;

    for (; parser->at < parser->limit; parser->at++) {
        uint8_t c = *parser->at;

        if (c == ':' || c == ')') {
            parser->at++;
            *alone = c == ')';
            return PETAL_OK;
        }
        if (c == '-' && on)
            on = false;
        else if (c == 'i')
            parser->ignore_case = on;
        else if (c != 's' || !on)
            break;
    }
    return refuse(parser, from, "this kind of group, or this flag, is not supported");
}

static enum petal_status
parse_group(struct parser *parser, const uint8_t *from)
{
    bool ignore_case = parser->ignore_case, alone = false;
    enum petal_status status = PETAL_OK;

    if (accept(parser, "?<")) {
        return refuse(parser, from, "look-behind and named groups are not supported");
    } else if (accept(parser, "?=") || accept(parser, "?!")) {
        return refuse(parser, from, "look-ahead is not supported");
    } else if (accept(parser, "?")) {
        status = parse_flags(parser, from, &alone);
    }
    if (status != PETAL_OK || alone)
        return status;
    if (++parser->depth > REGEX_MOST_DEPTH)
        return refuse(parser, from, "groups are nested too deeply");
    status = parse_alternatives(parser);
    if (status == PETAL_OK && !accept(parser, ")"))
        status = refuse(parser, from, "the group is not closed");
    parser->depth--;
    parser->ignore_case = ignore_case;
    return status;
}

/* ---- quantifiers ---- */

/* {m}, {m,} or {m,n} behind the brace. */
static enum petal_status
parse_counts(struct parser *parser, const uint8_t *from, uint32_t *least, uint32_t *most)
{
    bool fine = get_number(parser, 10, 1, 6, least);

    *most = *least;
    if (fine && accept(parser, ",")) {
        *most = NO_LIMIT;
        if (!next_is(parser, '}'))
            fine = get_number(parser, 10, 1, 6, most);
    }
    if (!fine || !accept(parser, "}") || *most < *least)
        return refuse(parser, from, "the repetition in braces is wrong");
    return PETAL_OK;
}

/* Add a copy of the run of `size` steps at `from`. */
static enum petal_status
copy_run(struct parser *parser, size_t from, size_t size)
{
    size_t to = parser->regex->step_count;
    enum petal_status status = open_steps(parser, to, size);

    if (status == PETAL_OK && size > 0)
        memcpy(&parser->regex->steps[to], &parser->regex->steps[from],
               size * sizeof *parser->regex->steps);
    return status;
}

/* The run from `from` to the end, zero times or more. */
static enum petal_status
repeat_any(struct parser *parser, size_t from)
{
    size_t size = parser->regex->step_count - from;
    enum petal_status status = insert_step(parser, from, split(size + 1));

    if (status == PETAL_OK)
        status = insert_step(parser, parser->regex->step_count,
                             fork_step(REGEX_JUMP, -(ptrdiff_t)size - 1, 0));
    return status;
}

/* Repeat the run from `from` to the end of the program. */
static enum petal_status
repeat(struct parser *parser, size_t from, uint32_t least, uint32_t most)
{
    struct regex *regex = parser->regex;
    size_t size = regex->step_count - from;
    enum petal_status status = PETAL_OK;

    if (least == 0 && most == NO_LIMIT)
        return repeat_any(parser, from);
    if (most == 0 || size == 0) {
        regex->step_count = from;
        return PETAL_OK;
    }
    if (least > REGEX_MOST_STEPS || (most != NO_LIMIT && most > REGEX_MOST_STEPS))
        return refuse(parser, parser->at, "the regular expression is too large");
    for (uint32_t i = 1; status == PETAL_OK && i < least; i++)
        status = copy_run(parser, from, size);
    if (status == PETAL_OK && most == NO_LIMIT)
        return insert_step(parser, regex->step_count, fork_step(REGEX_SPLIT, -(ptrdiff_t)size, 1));
    /* The first run is the pattern of copies that may be left out. */
    for (uint32_t i = least == 0 ? 1 : least; status == PETAL_OK && i < most; i++) {
        status = insert_step(parser, regex->step_count, split(size));
        if (status == PETAL_OK)
            status = copy_run(parser, from, size);
    }
    if (status == PETAL_OK && least == 0)
        status = insert_step(parser, from, split(size));
    return status;
}

/* Take the quantifier behind what has become the steps from `from` on, if there is one. */
static enum petal_status
parse_quantifier(struct parser *parser, size_t from)
{
    const uint8_t *at = parser->at;
    uint32_t least = 0, most = NO_LIMIT;
    enum petal_status status = PETAL_OK;

    if (accept(parser, "+"))
        least = 1;
    else if (accept(parser, "?"))
        most = 1;
    else if (accept(parser, "{"))
        status = parse_counts(parser, at, &least, &most);
    else if (!accept(parser, "*"))
        return PETAL_OK;
    if (status != PETAL_OK)
        return status;
    if (next_is(parser, '+'))
        return refuse(parser, parser->at, "possessive quantifiers are not supported");
    (void)accept(parser, "?");
    if (next_is(parser, '*') || next_is(parser, '+') || next_is(parser, '?') ||
        next_is(parser, '{'))
        return refuse(parser, parser->at, "a quantifier follows a quantifier");
    return repeat(parser, from, least, most);
}

/* ---- the expression ---- */

static enum petal_status
parse_atom(struct parser *parser)
{
    const uint8_t *from = parser->at;
    uint32_t c = utf8_next(&parser->at, parser->limit);

    switch (c) {
    case '.':
        return add_step(parser, REGEX_ANY, 0);
    case '^':
        return add_step(parser, REGEX_BEGIN, 0);
    case '$':
        return add_step(parser, REGEX_END, 0);
    case '[':
        return parse_class(parser, from);
    case '(':
        return parse_group(parser, from);
    case '\\':
        return parse_escape(parser, from);
    case '*':
    case '+':
    case '?':
    case '{':
        return refuse(parser, from, "there is nothing to repeat");
    default:
        return add_step(parser, REGEX_CHARACTER, c);
    }
}

static enum petal_status
parse_sequence(struct parser *parser)
{
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && parser->at < parser->limit) {
        size_t from = parser->regex->step_count;

        if (parser->quoted && accept(parser, "\\E")) {
            parser->quoted = false;
            continue;
        }
        if (!parser->quoted && accept(parser, "\\Q")) {
            parser->quoted = true;
            continue;
        }
        if (!parser->quoted && (next_is(parser, '|') || next_is(parser, ')')))
            break;
        if (parser->quoted) {
            status = add_step(parser, REGEX_CHARACTER, utf8_next(&parser->at, parser->limit));
            if (accept(parser, "\\E"))
                parser->quoted = false;
        } else {
            status = parse_atom(parser);
        }
        if (status == PETAL_OK && !parser->quoted)
            status = parse_quantifier(parser, from);
    }
    return status;
}

/* Sequences with | between them. Until the end is known, a jump to it holds the place of the jump before it, plus one. */
static enum petal_status
parse_alternatives(struct parser *parser)
{
    struct regex *regex = parser->regex;
    size_t last_jump = 0; /* its place plus one; 0: none */
    enum petal_status status;

    for (;;) {
        size_t from = regex->step_count;

        status = parse_sequence(parser);
        if (status != PETAL_OK || !accept(parser, "|"))
            break;
        status = insert_step(parser, from, split(regex->step_count - from + 1));
        if (status == PETAL_OK)
            status = add_step(parser, REGEX_JUMP, (uint32_t)last_jump);
        if (status != PETAL_OK)
            break;
        last_jump = regex->step_count;
    }
    while (status == PETAL_OK && last_jump != 0) {
        struct regex_step *jump = &regex->steps[last_jump - 1];

        jump->first = (int32_t)(regex->step_count - (last_jump - 1));
        last_jump = jump->value;
    }
    return status;
}

enum petal_status
regex_parse(struct regex *regex, petal_slice expression, bool ignore_case,
            struct regex_mistake *mistake)
{
    const uint8_t *start = expression.size > 0 ? expression.data : (const uint8_t *)"";
    struct parser parser = {
        .regex = regex,
        .start = start,
        .at = start,
        .limit = start + expression.size,
        .ignore_case = ignore_case,
        .mistake = mistake,
    };
    enum petal_status status = parse_alternatives(&parser);

    if (status == PETAL_OK && parser.at < parser.limit)
        status = refuse(&parser, parser.at, "the closing parenthesis has no opening one");
    return status == PETAL_OK ? add_step(&parser, REGEX_MATCH, 0) : status;
}

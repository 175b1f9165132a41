/* text_methods.c -- methods of strings and symbols; see tools/shell/eval/call.h. */
#include "tools/shell/eval/call.h"
#include "tools/shell/eval/operator.h"
#include "tools/shell/eval/successor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct arena *
arena_of(struct call *call)
{
    return &call->session->arena;
}

static petal_slice
received(const struct call *call)
{
    return call->receiver->as.bytes;
}

/* ---- Letters --------------------------------------------------------------------------------- */

/* The letters of ASCII; those of other alphabets stay. */
static void
turn_letters(char *letters, size_t size, bool up)
{
    for (size_t i = 0; i < size; i++)
        if (letters[i] >= (up ? 'a' : 'A') && letters[i] <= (up ? 'z' : 'Z'))
            letters[i] ^= 0x20;
}

static bool
run_case(struct call *call)
{
    size_t size = received(call).size, first;
    char *letters = arena_copy(arena_of(call), received(call).data, size);

    first = slice_is(call->name, "capitalize") ? (size > 0) : 0;
    turn_letters(letters, first, true);
    turn_letters(letters + first, size - first, slice_is(call->name, "upcase"));
    *call->value = value_string((petal_slice){letters, size});
    return true;
}

static bool
run_size(struct call *call)
{
    *call->value = value_integer((int64_t)(slice_is(call->name, "bytesize")
                                               ? received(call).size
                                               : text_characters(received(call))));
    return true;
}

static bool
run_reverse(struct call *call)
{
    petal_slice rest = received(call);
    char *letters = arena_allocate(arena_of(call), rest.size);
    size_t end = rest.size;

    *call->value = value_string((petal_slice){letters, rest.size});
    while (rest.size > 0) {
        petal_slice character = text_take_character(&rest);

        end -= character.size;
        memcpy(letters + end, character.data, character.size);
    }
    return true;
}

static bool
is_blank(char letter)
{
    return letter == '\0' || letter == ' ' || (letter >= '\t' && letter <= '\r');
}

static bool
run_strip(struct call *call)
{
    petal_slice bytes = received(call);
    const char *letters = bytes.data;
    bool left = !slice_is(call->name, "rstrip") && !slice_is(call->name, "chomp");
    size_t begin = 0, end = bytes.size;

    if (slice_is(call->name, "chomp")) {
        end -= end > 0 && letters[end - 1] == '\n';
        end -= end > 0 && letters[end - 1] == '\r';
    } else {
        while (left && begin < end && is_blank(letters[begin]))
            begin++;
        while (!slice_is(call->name, "lstrip") && begin < end && is_blank(letters[end - 1]))
            end--;
    }
    *call->value = value_string((petal_slice){letters + begin, end - begin});
    return true;
}

static bool
run_succ(struct call *call)
{
    struct text text = {0};

    text_add_slice(&text, received(call));
    text_succeed(&text);
    (void)call_gives_bytes(call, text.bytes, text.size);
    text_free(&text);
    return true;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static const char *
find(petal_slice bytes, petal_slice part)
{
    if (part.size == 0)
        return bytes.data;
    return bytes.size >= part.size ? memmem(bytes.data, bytes.size, part.data, part.size) : NULL;
}

static bool
run_include(struct call *call)
{
    return call_wants_text(call, 0) &&
           call_gives_boolean(call, find(received(call), call->arguments[0].as.bytes) != NULL ||
                                        call->arguments[0].as.bytes.size == 0);
}

static bool
run_start_with(struct call *call)
{
    petal_slice bytes = received(call), part;
    bool start = slice_is(call->name, "start_with?"), found = false;

    for (size_t i = 0; i < call->count; i++) {
        if (!call_wants_text(call, i))
            return false;
        part = call->arguments[i].as.bytes;
        found = found || part.size == 0 ||
                (part.size <= bytes.size &&
                 memcmp((const char *)bytes.data + (start ? 0 : bytes.size - part.size), part.data,
                        part.size) == 0);
    }
    return call_gives_boolean(call, found);
}

static bool
run_empty(struct call *call)
{
    return call_gives_boolean(call, received(call).size == 0);
}

/* Every place of a text, or only the first, with another in its stead. */
static bool
run_gsub(struct call *call)
{
    petal_slice rest = received(call), part;
    struct text text = {0};
    bool all = slice_is(call->name, "gsub");
    const char *found;

    if (!call_wants_text(call, 0) || !call_wants_text(call, 1))
        return false;
    part = call->arguments[0].as.bytes;
    if (part.size == 0)
        return call_wants(call, "a text that is not empty");
    while ((found = find(rest, part)) != NULL) {
        size_t before = (size_t)(found - (const char *)rest.data);

        if (text.size > MOST_BYTES) {
            text_free(&text);
            return call_wants(call, "less: the text grows beyond 64 MB");
        }
        text_add(&text, rest.data, before);
        text_add_slice(&text, call->arguments[1].as.bytes);
        rest = (petal_slice){found + part.size, rest.size - before - part.size};
        if (!all)
            break;
    }
    text_add_slice(&text, rest);
    (void)call_gives_bytes(call, text.bytes, text.size);
    text_free(&text);
    return true;
}

static void
add_item(struct call *call, size_t *capacity, petal_slice bytes)
{
    const struct value item = value_string(bytes);

    value_list_add(arena_of(call), call->value, capacity, &item);
}

/* At a text, or at blanks; empty parts at the end are left out, as in Ruby. */
static bool
run_split(struct call *call)
{
    petal_slice rest = received(call), part = {" ", 1};
    size_t capacity = 0;
    const char *found;
    bool blanks;

    if (call->count == 1 && !call_wants_text(call, 0))
        return false;
    if (call->count == 1)
        part = call->arguments[0].as.bytes;
    blanks = slice_is(part, " ");
    *call->value = (struct value){.kind = VALUE_ARRAY};
    if (part.size == 0) {
        while (rest.size > 0)
            add_item(call, &capacity, text_take_character(&rest));
        return true;
    }
    while ((found = find(rest, part)) != NULL) {
        size_t before = (size_t)(found - (const char *)rest.data);

        if (!blanks || before > 0)
            add_item(call, &capacity, (petal_slice){rest.data, before});
        rest = (petal_slice){found + part.size, rest.size - before - part.size};
    }
    add_item(call, &capacity, rest);
    while (call->value->count > 0 &&
           call->value->as.items[call->value->count - 1].as.bytes.size == 0)
        call->value->count--;
    return true;
}

static bool
run_chars(struct call *call)
{
    petal_slice rest = received(call);
    bool lines = slice_is(call->name, "lines");
    size_t capacity = 0;

    *call->value = (struct value){.kind = VALUE_ARRAY};
    while (rest.size > 0) {
        const char *end = lines ? memchr(rest.data, '\n', rest.size) : NULL;
        size_t size = end != NULL ? (size_t)(end + 1 - (const char *)rest.data) : rest.size;

        if (!lines) {
            add_item(call, &capacity, text_take_character(&rest));
            continue;
        }
        add_item(call, &capacity, (petal_slice){rest.data, size});
        rest = (petal_slice){(const char *)rest.data + size, rest.size - size};
    }
    return true;
}

/* So many characters of the filling, over and over. */
static void
add_filling(struct text *text, petal_slice filling, size_t characters)
{
    petal_slice rest = filling;

    for (; characters > 0; characters--) {
        if (rest.size == 0)
            rest = filling;
        text_add_slice(text, text_take_character(&rest));
    }
}

/* Up to a width, with blanks or another text before or behind. */
static bool
run_justify(struct call *call)
{
    petal_slice filling = {" ", 1};
    size_t characters = text_characters(received(call));
    bool right = slice_is(call->name, "rjust"), both = slice_is(call->name, "center");
    struct text text = {0};
    size_t missing, before;

    if (!call_wants_integer(call, 0) || (call->count == 2 && !call_wants_text(call, 1)))
        return false;
    if (call->count == 2)
        filling = call->arguments[1].as.bytes;
    if (filling.size == 0 || call->arguments[0].as.integer > MOST_BYTES / 64)
        return call_wants(call, "a text that is not empty and a width below a million");
    missing = call->arguments[0].as.integer > (int64_t)characters
                  ? (size_t)call->arguments[0].as.integer - characters
                  : 0;
    before = both ? missing / 2 : right ? missing : 0;
    add_filling(&text, filling, before);
    text_add_slice(&text, received(call));
    add_filling(&text, filling, missing - before);
    (void)call_gives_bytes(call, text.bytes, text.size);
    text_free(&text);
    return true;
}

/* ---- Numbers in texts ------------------------------------------------------------------------ */

static bool
run_to_i(struct call *call)
{
    char *digits = value_to_string(arena_of(call), call->receiver);
    long long number;
    unsigned base;

    if (!call_takes_base(call, &base))
        return false;
    errno = 0;
    number = strtoll(digits, NULL, slice_is(call->name, "hex") ? 16 : (int)base);
    if (errno == ERANGE)
        return complain(&call->complaint, "RangeError", "the number does not fit into 64 bits");
    *call->value = value_integer(number);
    return true;
}

static bool
run_to_f(struct call *call)
{
    *call->value =
        (struct value){.kind = VALUE_FLOAT,
                       .as.number = strtod(value_to_string(arena_of(call), call->receiver), NULL)};
    return true;
}

static bool
run_ord(struct call *call)
{
    petal_slice rest = received(call);

    if (rest.size == 0)
        return call_wants(call, "a text that is not empty");
    *call->value = value_integer(utf8_code(text_take_character(&rest)));
    return true;
}

/* ---- Others ---------------------------------------------------------------------------------- */

static bool
run_to_sym(struct call *call)
{
    *call->value = (struct value){.kind = VALUE_SYMBOL, .as.bytes = received(call)};
    return true;
}

/* Bytes are strings here. */
static bool
run_itself(struct call *call)
{
    *call->value = value_string(received(call));
    return true;
}

const struct method methods_of_texts[] = {
    {"bytesize", 0, 0, run_size},   {"capitalize", 0, 0, run_case},
    {"center", 1, 2, run_justify},  {"chars", 0, 0, run_chars},
    {"chomp", 0, 0, run_strip},     {"downcase", 0, 0, run_case},
    {"empty?", 0, 0, run_empty},    {"end_with?", 1, 9, run_start_with},
    {"getBytes", 0, 0, run_itself}, {"gsub", 2, 2, run_gsub},
    {"hex", 0, 0, run_to_i},        {"include?", 1, 1, run_include},
    {"length", 0, 0, run_size},     {"lines", 0, 0, run_chars},
    {"ljust", 1, 2, run_justify},   {"lstrip", 0, 0, run_strip},
    {"next", 0, 0, run_succ},       {"ord", 0, 0, run_ord},
    {"reverse", 0, 0, run_reverse}, {"rjust", 1, 2, run_justify},
    {"rstrip", 0, 0, run_strip},    {"size", 0, 0, run_size},
    {"split", 0, 1, run_split},     {"start_with?", 1, 9, run_start_with},
    {"strip", 0, 0, run_strip},     {"sub", 2, 2, run_gsub},
    {"succ", 0, 0, run_succ},       {"to_f", 0, 0, run_to_f},
    {"to_i", 0, 1, run_to_i},       {"to_java_bytes", 0, 0, run_itself},
    {"to_s", 0, 0, run_itself},     {"to_sym", 0, 0, run_to_sym},
    {"upcase", 0, 0, run_case},     {NULL, 0, 0, NULL},
};

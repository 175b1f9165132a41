/* java.c -- see tools/shell/eval/java.h. */
#include "tools/shell/eval/java.h"

#include "tools/shell/data/filter_object.h"
#include "tools/shell/eval/java_date.h"
#include "tools/shell/session/convert.h"
#include "tools/shell/session/near.h"
#include "tools/shell/text/clock.h"

#include <string.h>

#define HBASE  "org.apache.hadoop.hbase."
#define FILTER HBASE "filter."

/* Classes other than filters; `words` are what they know by name, each behind a blank. */
static const struct java_class {
    const char *name, *words;
} classes[] = {
    {FILTER "CompareFilter.CompareOp",
     " LESS LESS_OR_EQUAL EQUAL NOT_EQUAL GREATER_OR_EQUAL GREATER "},
    {HBASE "CompareOperator", " LESS LESS_OR_EQUAL EQUAL NOT_EQUAL GREATER_OR_EQUAL GREATER "},
    {FILTER "FilterList.Operator", " MUST_PASS_ALL MUST_PASS_ONE "},
    {FILTER "BitComparator.BitwiseOp", " AND OR XOR "},
    {FILTER "MultiRowRangeFilter.RowRange", NULL},
    {FILTER "CompareFilter", NULL},
    {HBASE "util.Bytes", NULL},
    {HBASE "util.Pair", NULL},
    {"java.util.Date", NULL},
    {"java.util.ArrayList", NULL},
    {"java.util.Arrays", NULL},
    {"java.text.SimpleDateFormat", NULL},
    {"java.text.ParsePosition", NULL},
    {"java.lang.System", NULL},
    {"java.util.regex.Pattern", " CASE_INSENSITIVE "},
    {"Time", NULL},
};

static bool
is_class(const struct value *value, const char *simple)
{
    const struct value *class = value->kind == VALUE_OBJECT ? &value->as.items[0] : value;

    return slice_is(class_simple_name(class->as.bytes), simple);
}

static const struct java_class *
find_class(petal_slice name)
{
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        if (slice_is(name, classes[i].name))
            return &classes[i];
    return NULL;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static bool
complain_of_class(petal_slice name, struct complaint *complaint)
{
    petal_slice simple = class_simple_name(name);
    const char *nearest = NULL;
    unsigned least = 0;

    for (size_t i = 0; filter_class_name(i) != NULL; i++)
        near_consider(simple, filter_class_name(i), &nearest, &least);
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        near_consider(simple, class_simple_name(slice_of_string(classes[i].name)).data, &nearest,
                      &least);
    if (nearest != NULL)
        return complain(complaint, "NameError", "there is no class %.*s; did you mean %s?",
                        SLICE_UP_TO(200, name), nearest);
    return complain(complaint, "NameError",
                    "there is no class %.*s here; of Java's there are HBase's filters and "
                    "comparators (help 'filters'), Bytes, Pair, Date and SimpleDateFormat",
                    SLICE_UP_TO(200, name));
}

static void
give_class(struct arena *arena, const char *package, const char *name, struct value *class)
{
    struct text text = {0};

    text_add_string(&text, package);
    text_add_string(&text, name);
    *class = (struct value){.kind = VALUE_CLASS,
                            .as.bytes = {arena_copy(arena, text.bytes, text.size), text.size}};
    text_free(&text);
}

/* Does the name given, with its package or without, mean that class? */
static bool
names(petal_slice name, const char *package, const char *class)
{
    size_t length = strlen(package);

    if (name.size >= length && memcmp(name.data, package, length) == 0)
        return slice_is((petal_slice){(const char *)name.data + length, name.size - length}, class);
    return slice_is(name, class);
}

bool
java_class(struct arena *arena, petal_slice name, struct value *class, struct complaint *complaint)
{
    for (size_t i = 0; filter_class_name(i) != NULL; i++) {
        if (names(name, FILTER, filter_class_name(i))) {
            give_class(arena, FILTER, filter_class_name(i), class);
            return true;
        }
    }
    for (size_t i = 0; i < COUNT_OF(classes); i++) {
        petal_slice full = slice_of_string(classes[i].name), simple = class_simple_name(full);

        if (slices_equal(name, full) || slices_equal(name, simple)) {
            give_class(arena, "", classes[i].name, class);
            return true;
        }
    }
    return complain_of_class(name, complaint);
}

/* The object of one of a class's words. */
static bool
give_word(struct arena *arena, const struct value *class, petal_slice word, struct value *value,
          struct complaint *complaint)
{
    const struct java_class *known = find_class(class->as.bytes);
    struct text text = {0};
    bool found;

    text_add_string(&text, " ");
    text_add_slice(&text, word);
    text_add_string(&text, " ");
    found =
        known != NULL && known->words != NULL && strstr(known->words, text_string(&text)) != NULL;
    text_free(&text);
    if (!found)
        return complain(complaint, "NameError", "%.*s has no %.*s%s%.*s",
                        SLICE(class_simple_name(class->as.bytes)), SLICE_UP_TO(80, word),
                        known != NULL && known->words != NULL ? "; there are" : "",
                        known != NULL && known->words != NULL ? (int)strlen(known->words) - 1 : 0,
                        known != NULL && known->words != NULL ? known->words : "");
    if (slice_is(word, "CASE_INSENSITIVE")) {
        *value = value_integer(2);
        return true;
    }
    *value = (struct value){.kind = VALUE_OBJECT, .count = 2};
    value->as.items = arena_allocate(arena, 2 * sizeof(struct value));
    value->as.items[0] = *class;
    value->as.items[1] = (struct value){.kind = VALUE_SYMBOL, .as.bytes = word};
    return true;
}

bool
java_constant(struct arena *arena, const struct value *class, petal_slice name, struct value *value,
              struct complaint *complaint)
{
    struct text text = {0};
    bool nested;

    if (class->kind != VALUE_CLASS)
        return complain(complaint, "TypeError", "%s is no class of Java's", value_class(class));
    text_add_slice(&text, class->as.bytes);
    text_add_string(&text, ".");
    text_add_slice(&text, name);
    nested = find_class(text_slice(&text)) != NULL;
    if (nested)
        give_class(arena, "", text_string(&text), value);
    text_free(&text);
    return nested || give_word(arena, class, name, value, complaint);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* A text is its bytes, a number the eight of a long. */
static bool
bytes_of(struct call *call)
{
    const struct value *value = &call->arguments[0];
    uint64_t bits;
    uint8_t bytes[8];

    if (value->kind == VALUE_STRING || value->kind == VALUE_SYMBOL)
        return call_gives_bytes(call, value->as.bytes.data, value->as.bytes.size);
    if (value->kind == VALUE_BOOLEAN)
        return call_gives_bytes(call, value->as.boolean ? "\xff" : "\0", 1);
    if (value->kind == VALUE_FLOAT)
        memcpy(&bits, &value->as.number, sizeof(bits));
    else if (value->kind == VALUE_INTEGER)
        bits = (uint64_t)value->as.integer;
    else
        return call_wants(call, "a text or a number");
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(bits >> (56 - 8 * i));
    return call_gives_bytes(call, bytes, sizeof(bytes));
}

/* "\\x00a" with the four letters of its first byte: that byte. */
static bool
bytes_of_binary(struct call *call)
{
    petal_slice shown = call->arguments[0].as.bytes;
    const char *letters = shown.data;
    struct text text = {0};

    if (!call_wants_text(call, 0))
        return false;
    for (size_t i = 0; i < shown.size; i++) {
        int byte = shown.size - i >= 4 && letters[i] == '\\' && letters[i + 1] == 'x'
                       ? text_hex_byte(letters + i + 2)
                       : -1;
        char meant = (char)(byte >= 0 ? byte : letters[i]);

        text_add(&text, &meant, 1);
        i += byte >= 0 ? 3 : 0;
    }
    (void)call_gives_bytes(call, text.bytes, text.size);
    text_free(&text);
    return true;
}

/* Bytes.toLong and the like, by the converters of columns. */
static bool
value_of_bytes(struct call *call)
{
    struct session *session = call->session;
    enum conversion conversion;
    struct text text = {0};
    bool good;

    if (!call_wants_text(call, 0))
        return false;
    good = convert_find(session, call->name, &conversion) == SHELL_FINE &&
           convert_add(session, &text, conversion, call->arguments[0].as.bytes) == SHELL_FINE;
    if (!good)
        (void)complain(&call->complaint, "ArgumentError", "%s", text_string(&session->message));
    else if (conversion == CONVERT_TO_STRING_BINARY || conversion == CONVERT_TO_STRING ||
             conversion == CONVERT_TO_HEX)
        (void)call_gives_bytes(call, text.bytes, text.size);
    else
        *call->value = convert_number(conversion, call->arguments[0].as.bytes);
    text_clear(&session->message);
    text_free(&text);
    return good;
}

static bool
call_bytes(struct call *call)
{
    if (call->count != 1)
        return call_wants(call, "one argument");
    if (slice_is(call->name, "toBytes"))
        return bytes_of(call);
    return slice_is(call->name, "toBytesBinary") ? bytes_of_binary(call) : value_of_bytes(call);
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* An object that only holds what it was given. */
static bool
give_object(struct call *call)
{
    size_t count = call->count + 1;
    struct value *items = arena_allocate(&call->session->arena, count * sizeof(*items));

    items[0] = *call->receiver;
    if (call->count > 0)
        memcpy(items + 1, call->arguments, call->count * sizeof(*items));
    *call->value = (struct value){.kind = VALUE_OBJECT, .count = count, .as.items = items};
    return true;
}

static bool
new_date(struct call *call)
{
    struct value now = value_integer(clock_now_ms());
    struct call inner = *call;

    if (call->count == 0) {
        inner.arguments = &now;
        inner.count = 1;
        return give_object(&inner);
    }
    if (call->count != 1 || call->arguments[0].kind != VALUE_INTEGER)
        return call_wants(call, "a number of milliseconds since 1970");
    return give_object(call);
}

/* Of seconds since 1970. */
static bool
time_at(struct call *call)
{
    struct value moment = value_nil();
    struct call inner = *call;

    moment.kind = VALUE_INTEGER;
    if (call->count != 1 || call->arguments[0].kind != VALUE_INTEGER ||
        __builtin_mul_overflow(call->arguments[0].as.integer, 1000, &moment.as.integer))
        return call_wants(call, "a number of seconds since 1970");
    inner.arguments = &moment;
    return give_object(&inner);
}

static bool
new_row_range(struct call *call)
{
    if (call->count != 4 || call->arguments[0].kind != VALUE_STRING ||
        call->arguments[1].kind != VALUE_BOOLEAN || call->arguments[2].kind != VALUE_STRING ||
        call->arguments[3].kind != VALUE_BOOLEAN)
        return call_wants(call, "('start', true, 'stop', false)");
    return give_object(call);
}

static bool
call_new(struct call *call)
{
    const struct value *class = call->receiver;

    if (is_class(class, "Date"))
        return new_date(call);
    if (is_class(class, "RowRange"))
        return new_row_range(call);
    if (is_class(class, "Pair"))
        return call->count == 2 ? give_object(call) : call_wants(call, "two values");
    if (is_class(class, "ParsePosition"))
        return give_object(call);
    if (is_class(class, "SimpleDateFormat"))
        return call->count == 1 && call->arguments[0].kind == VALUE_STRING
                   ? give_object(call)
                   : call_wants(call, "a pattern such as 'yyyy-MM-dd HH:mm:ss'");
    if (is_class(class, "ArrayList")) {
        *call->value = call->count == 1 && call->arguments[0].kind == VALUE_ARRAY
                           ? call->arguments[0]
                           : (struct value){.kind = VALUE_ARRAY};
        return true;
    }
    if (filter_object_new(call->session, class, call->arguments, call->count, call->value) ==
        SHELL_FINE)
        return true;
    (void)complain(&call->complaint, "ArgumentError", "%s", text_string(&call->session->message));
    text_clear(&call->session->message);
    return false;
}

static bool
complain_of_method(struct call *call)
{
    const struct value *class =
        call->receiver->kind == VALUE_OBJECT ? &call->receiver->as.items[0] : call->receiver;

    return complain(&call->complaint, "NameError", "%.*s has no method '%.*s' here",
                    SLICE(class_simple_name(class->as.bytes)), SLICE_UP_TO(80, call->name));
}

static bool
call_on_class(struct call *call)
{
    const struct value *class = call->receiver;

    if (slice_is(call->name, "new"))
        return call_new(call);
    if (is_class(class, "Bytes"))
        return call_bytes(call);
    if (slice_is(call->name, "valueOf") || slice_is(call->name, "value_of"))
        return call->count == 1 && call->arguments[0].kind == VALUE_STRING
                   ? give_word(&call->session->arena, class, call->arguments[0].as.bytes,
                               call->value, &call->complaint)
                   : call_wants(call, "a name in quotes");
    if (is_class(class, "System") && slice_is(call->name, "currentTimeMillis")) {
        *call->value = value_integer(clock_now_ms());
        return true;
    }
    if (is_class(class, "Time") && slice_is(call->name, "now")) {
        struct value now = value_integer(clock_now_ms());

        call->arguments = &now;
        call->count = 1;
        return give_object(call);
    }
    if (is_class(class, "Time") && slice_is(call->name, "at"))
        return time_at(call);
    if (is_class(class, "Arrays") && slice_is(call->name, "asList")) {
        *call->value = (struct value){.kind = VALUE_ARRAY, .count = call->count};
        call->value->as.items =
            arena_copy(&call->session->arena, call->arguments, call->count * sizeof(struct value));
        return true;
    }
    return complain_of_method(call);
}

static bool
call_on_date(struct call *call)
{
    int64_t milliseconds = call->receiver->as.items[1].as.integer;
    bool ruby = is_class(call->receiver, "Time");
    struct text text = {0};

    if (slice_is(call->name, "getTime") || slice_is(call->name, "time")) {
        *call->value = value_integer(milliseconds);
    } else if (ruby && slice_is(call->name, "to_i")) {
        *call->value = value_integer(milliseconds / 1000);
    } else if (ruby && slice_is(call->name, "to_f")) {
        *call->value = (struct value){.kind = VALUE_FLOAT, .as.number = (double)milliseconds / 1e3};
    } else if (slice_is(call->name, "toString") || slice_is(call->name, "to_s")) {
        value_to_text(&text, call->receiver);
        (void)call_gives_bytes(call, text.bytes, text.size);
        text_free(&text);
    } else {
        return complain_of_method(call);
    }
    return true;
}

/* What a pattern says of a text: a Date. */
static bool
parse_date(struct call *call)
{
    const struct value *pattern = &call->receiver->as.items[1];
    struct value date = value_nil();
    int64_t milliseconds;
    struct value class;

    if (call->count < 1 || call->count > 2 || !call_wants_text(call, 0))
        return call_wants(call, "a text");
    if (!java_date_parse(pattern->as.bytes, call->arguments[0].as.bytes, &milliseconds))
        return complain(&call->complaint, "ParseException", "\"%.*s\" is not as the pattern says",
                        SLICE_UP_TO(80, call->arguments[0].as.bytes));
    give_class(&call->session->arena, "", "java.util.Date", &class);
    date = value_integer(milliseconds);
    call->receiver = &class;
    call->arguments = &date;
    call->count = 1;
    return give_object(call);
}

static bool
call_on_object(struct call *call)
{
    struct session *session = call->session;

    if (is_class(call->receiver, "Date") || is_class(call->receiver, "Time"))
        return call_on_date(call);
    if (is_class(call->receiver, "SimpleDateFormat") && slice_is(call->name, "parse"))
        return parse_date(call);
    if (!filter_object_set(session, call->receiver, call->name, call->arguments, call->count))
        return complain_of_method(call);
    if (session->message.size > 0) {
        (void)complain(&call->complaint, "ArgumentError", "%s", text_string(&session->message));
        text_clear(&session->message);
        return false;
    }
    call->changed = true;
    return true;
}

bool
java_call(struct call *call)
{
    return call->receiver->kind == VALUE_CLASS ? call_on_class(call) : call_on_object(call);
}
